"""`leaderboard campaign`: campaigns, and what stays fixed over their years."""

import sys
from typing import Any

import click

from leaderboard.access import CONSOLE
from leaderboard.cli.database import reading, writing
from leaderboard.cli.offline import COMPAT
from leaderboard.cli.options import ANY_NUMBER, OneOf, OrNone, given, together
from leaderboard.cli.tables import print_table
from leaderboard.errors import BadInput
from leaderboard.lookup import find_campaign
from leaderboard.metrics import parse_all
from leaderboard.models import Campaign
from leaderboard.reads import listings
from leaderboard.rules.settings import NoRelevant
from leaderboard.rules.standings import RunChoice
from leaderboard.services import campaigns, people

__all__ = ["campaign"]

NUMBER = OrNone(ANY_NUMBER)
SETTINGS = together(  # what `add` and `change` have in common
    click.option("--description", default="", help="A description for its page."),
    click.option("--cost", type=NUMBER, help="C, what a false alarm costs."),
    click.option("--value", type=NUMBER, help="V, what a correct detection is worth."),
    click.option("--prior", type=NUMBER, help="The a-priori share of relevant documents."),
    click.option("--beta", type=NUMBER, help="β itself, instead of cost, value and prior."),
    click.option(
        "--no-relevant",
        type=OneOf(NoRelevant),
        default=NoRelevant.EXCLUDE.value,
        show_default=True,
        help="How detection measures treat a query without relevant documents.",
    ),
    COMPAT,
    click.option(
        "--run-choice",
        type=OneOf(RunChoice),
        default=RunChoice.PRIMARY.value,
        show_default=True,
        help="Which run stands for a system on a board.",
    ),
)


@click.group()
def campaign() -> None:
    """Campaigns: measures, prior and β, organisers."""


@campaign.command()
@click.argument("slug")
@click.option("--title", required=True, help="Its name on every page.")
@click.option("--measures", required=True, help="The measures that boards show, like 'AQWV AP nDCG@10'.")
@click.option("--primary", "primary_measure", help="The one that boards rank by (default: the first).")
@SETTINGS
def add(slug: str, measures: str, primary_measure: str | None, **settings: Any) -> None:
    """Make a campaign.

    \b
    leaderboard campaign add harbour --title 'Harbour track' \\
        --measures 'AQWV AP nDCG@10' --cost 0.0333 --value 1 --prior 0.00166667
    """
    names = _split(measures)
    with writing() as session:
        made = campaigns.create_campaign(
            session, CONSOLE, slug, measures=names, primary_measure=primary_measure or names[0], **settings
        )
    click.echo(f"made the campaign {made.slug}{_said(made)}")


@campaign.command()
@click.argument("slug")
@click.option("--title", help="Its name on every page.")
@click.option("--measures", help="The measures that boards show.")
@click.option("--primary", "primary_measure", help="The one that boards rank by.")
@SETTINGS
@click.pass_context
def change(context: click.Context, /, slug: str, **_: Any) -> None:
    """Change the settings that are given; the others stay. Runs are scored anew where that changes their figures.

    β, cost, value, prior and the policy for queries without relevant documents are fixed by the first recorded score.

    \b
    leaderboard campaign change harbour --measures 'AQWV MQWV AP' --run-choice best
    """
    changes = given(context)
    if "measures" in changes:
        changes["measures"] = _split(changes["measures"])
    with writing() as session:
        changed = campaigns.change_campaign(session, CONSOLE, find_campaign(session, CONSOLE, slug), **changes)
    click.echo(f"changed the campaign {changed.slug}{_said(changed)}")


@campaign.command()
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Don't ask first.")
def remove(slug: str, yes: bool) -> None:
    """Remove a campaign that was made by mistake, with its evaluations and queries; asks first.

    A campaign that has judgments, or to which anything was submitted, is refused: these stay on record.

    \b
    leaderboard campaign remove harbor
    """
    with reading() as session:
        found = find_campaign(session, CONSOLE, slug)
        evaluations = listings.list_evaluations(session, found)
        refused = campaigns.removal_refusal(session, found)
    if not yes and refused is None:  # else it is refused, whatever the answer
        if not sys.stdin.isatty():
            raise BadInput("there is nobody to ask here; give --yes to remove the campaign without a question")
        queries = sum(count for _, count, _ in evaluations)
        click.confirm(
            f"Remove {found.title} ({slug}) for good? Evaluations: {len(evaluations)}, with queries: {queries:,}.",
            abort=True,
            err=True,
        )
    with writing() as session:
        campaigns.remove_campaign(session, CONSOLE, find_campaign(session, CONSOLE, slug))
    click.echo(f"removed the campaign {slug}")


@campaign.command()
@click.argument("slug")
def show(slug: str) -> None:
    """Show a campaign's settings, organisers and evaluations.

    \b
    leaderboard campaign show harbour
    """
    with reading() as session:
        found = find_campaign(session, CONSOLE, slug)
        organisers = listings.organisers_of(session, found)
        evaluations = [one.slug for one, _, _ in listings.list_evaluations(session, found)]
    lines = {
        "title": found.title,
        "description": found.description or "–",
        "measures": " ".join([found.primary_measure, *(m for m in found.measures if m != found.primary_measure)]),
        "β": _number(found.beta),
        "cost": _number(found.cost),
        "value": _number(found.value),
        "prior": _number(found.prior),
        "no relevant": found.no_relevant,
        "compatibility": f"trec_eval {found.compat}",
        "run on a board": found.run_choice,
        "prior locked": f"since {found.locked_at:%Y-%m-%d}, with the first result" if found.locked_at else "not yet",
        "organisers": ", ".join(organisers) or "–",
        "evaluations": ", ".join(evaluations) or "–",
    }
    for name, text in lines.items():
        click.echo(f"{name:16}{text}")


@campaign.command("list")
def list_campaigns() -> None:
    """List the campaigns.

    \b
    leaderboard campaign list
    """
    with reading() as session:
        rows = [
            (one.slug, one.title, evaluations, one.primary_measure, _number(one.beta))
            for one, evaluations in listings.list_campaigns(session)
        ]
    head = ("campaign", "title", "evaluations", "primary measure", "β")
    print_table(head, rows, "no campaign yet; make one: leaderboard campaign add")


@campaign.group()
def organiser() -> None:
    """Who organises a campaign."""


@organiser.command("add")
@click.argument("campaign")
@click.argument("user")
def add_organiser(campaign: str, user: str) -> None:
    """Let an account organise a campaign.

    \b
    leaderboard campaign organiser add harbour ada
    """
    with writing() as session:
        found, who = find_campaign(session, CONSOLE, campaign), people.find_user(session, user)
        campaigns.add_organiser(session, CONSOLE, found, who)
    click.echo(f"{who.name} organises {found.title}")


def _split(measures: str) -> list[str]:
    """In canonical names. Raises UnknownMeasure with the nearest ones, BadParameter when there is none."""
    names = [str(measure) for measure in parse_all(measures)]
    if not names:
        raise click.BadParameter("name at least one measure", param_hint="--measures")
    return names


def _said(campaign: Campaign) -> str:
    return f"; β = {_number(campaign.beta)}" if campaign.beta is not None else ""


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g}"
