"""`leaderboard campaign`: campaigns, and what stays fixed over their years."""

from typing import Any

import click
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.cli.database import reading, writing
from leaderboard.cli.offline import COMPAT
from leaderboard.cli.options import RATIO, OneOf, OrNone, given, require_yes, together
from leaderboard.cli.rescoring import AGREED, changed_after_yes
from leaderboard.cli.tables import print_table
from leaderboard.errors import BadInput
from leaderboard.lookup import find_campaign, find_team, removal_refusal
from leaderboard.metrics import parse_all
from leaderboard.models import Campaign
from leaderboard.reads import listings
from leaderboard.reads.organising.settings import what_goes
from leaderboard.rules.settings import NoRelevant
from leaderboard.rules.standings import RunChoice
from leaderboard.rules.visibility import Visibility
from leaderboard.services import campaigns, people, removing

__all__ = ["campaign"]


class _Link(click.ParamType[tuple[str, str]]):
    name = "title=address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        title, found, address = value.partition("=")
        if not found:
            self.fail(f"expected 'Title=https://…', found {value!r}", param, ctx)
        return title, address


LINK = _Link()
NUMBER = OrNone(RATIO)
SETTINGS = together(  # what `add` and `change` have in common
    click.option("--description", default="", help="A description for its page."),
    click.option("--contact", default="", help="Whom to ask: an e-mail address, a name."),
    click.option(
        "--link", "links", type=LINK, multiple=True, help="A link for its page, as 'Title=https://…'; may be repeated."
    ),
    click.option("--guidelines", type=click.File(encoding="utf-8"), help="A file of guidelines in Markdown."),
    click.option(
        "--visibility",
        type=OneOf(Visibility),
        default=Visibility.PUBLIC.value,
        show_default=True,
        help="Who may know of it: everybody; organisers and teams that are let in; organisers only.",
    ),
    click.option("--cost", type=NUMBER, help="C, what a false alarm costs."),
    click.option("--value", type=NUMBER, help="V, what a correct detection is worth."),
    click.option("--prior", type=NUMBER, help="The a-priori share of relevant documents, such as 1/600."),
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
            session, CONSOLE, slug, measures=names, primary_measure=primary_measure or names[0], **_read(settings)
        )
    click.echo(f"made the campaign {made.slug}{_said(made)}")


@campaign.command()
@click.argument("slug")
@click.option("--title", help="Its name on every page.")
@click.option("--measures", help="The measures that boards show.")
@click.option("--primary", "primary_measure", help="The one that boards rank by.")
@SETTINGS
@click.option("--shut-out", is_flag=True, help="Made private, don't let the teams in that have runs in it.")
@AGREED
@click.pass_context
def change(context: click.Context, /, slug: str, yes: bool, **_: Any) -> None:
    """Change the settings that are given; the others stay. Asks first where runs are scored again by that.

    A public campaign that is made private lets the teams in that have runs in it; it asks first, and names them.

    β, cost, value, prior and the policy for queries without relevant documents are fixed by the first recorded score.

    \b
    leaderboard campaign change harbour --measures 'AQWV MQWV AP' --run-choice best
    """
    changes = _read(given(context))
    if "measures" in changes:
        changes["measures"] = _split(changes["measures"])
    changed = changed_after_yes(
        yes,
        slug,
        lambda session: campaigns.change_campaign(session, CONSOLE, find_campaign(session, CONSOLE, slug), **changes),
    )
    click.echo(f"changed the campaign {changed.slug}{_said(changed)}")


@campaign.command()
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Don't ask first.")
def remove(slug: str, yes: bool) -> None:
    """Remove a campaign that was made by mistake, with its evaluations, queries and judgments; asks first.

    A campaign to which anything was submitted is refused: that stays on record.

    \b
    leaderboard campaign remove harbor
    """
    with reading() as session:
        found = find_campaign(session, CONSOLE, slug)
        refused, goes = removal_refusal(session, found), what_goes(session, found)
    if refused is None:  # else it is refused, whatever the answer
        require_yes(yes, f"Remove {found.title} ({slug}) for good, with {goes}?")
    with writing() as session:
        removing.remove_campaign(session, CONSOLE, find_campaign(session, CONSOLE, slug))
    click.echo(f"removed the campaign {slug}")


@campaign.command()
@click.argument("slug")
@click.option("--undo", is_flag=True, help="Take it out of the archive again.")
def archive(slug: str, undo: bool) -> None:
    """Archive a campaign: it can be read, stands apart from the others, and takes no runs and no evaluations.

    What is wrong in it can still be corrected: new judgments and settings score its runs again.

    \b
    leaderboard campaign archive harbour
    """
    with writing() as session:
        found = find_campaign(session, CONSOLE, slug)
        campaigns.archive_campaign(session, CONSOLE, found, archived=not undo)
    click.echo(f"{found.title} is {'out of the archive' if undo else 'archived'}")


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
        let_in = listings.teams_let_into(session, found)
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
        "contact": found.contact or "–",
        "visible to": found.visibility,
        "archived": f"since {found.archived_at:%Y-%m-%d}" if found.archived_at else "no",
        "teams let in": ", ".join(let_in) or "–",
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


@organiser.command("remove")
@click.argument("campaign")
@click.argument("user")
def remove_organiser(campaign: str, user: str) -> None:
    """Let an account organise a campaign no longer.

    \b
    leaderboard campaign organiser remove harbour ada
    """
    with writing() as session:
        found, who = find_campaign(session, CONSOLE, campaign), people.find_user(session, user)
        campaigns.remove_organiser(session, CONSOLE, found, who)
    click.echo(f"{who.name} no longer organises {found.title}")


@campaign.group()
def team() -> None:
    """Which teams are let into a private campaign."""


@team.command("add")
@click.argument("campaign")
@click.argument("team")
def add_team(campaign: str, team: str) -> None:
    """Let a team's members know of a private campaign.

    \b
    leaderboard campaign team add harbour north-shore
    """
    with writing() as session:
        found, who = find_campaign(session, CONSOLE, campaign), find_team(session, team)
        campaigns.let_team_in(session, CONSOLE, found, who)
    click.echo(f"{who.name} is let into {found.title}")


@team.command("remove")
@click.argument("campaign")
@click.argument("team")
@AGREED
def remove_team(campaign: str, team: str, yes: bool) -> None:
    """Let a team into a private campaign no longer. Where it has runs there, asks first.

    \b
    leaderboard campaign team remove harbour north-shore
    """

    def let_out(session: Session) -> str:
        found, who = find_campaign(session, CONSOLE, campaign), find_team(session, team)
        campaigns.let_team_out(session, CONSOLE, found, who)
        return f"{who.name} is no longer let into {found.title}"

    click.echo(changed_after_yes(yes, campaign, let_out))


def _read(settings: dict[str, Any]) -> dict[str, Any]:
    """With the text of the file of guidelines."""
    if "guidelines" not in settings:
        return settings
    file = settings["guidelines"]
    try:
        return {**settings, "guidelines": file.read() if file else ""}
    except UnicodeDecodeError as error:
        raise BadInput(f"{file.name}: this is no text in UTF-8") from error


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
