"""`leaderboard evaluation`: one period and condition of a campaign."""

import datetime as dt
from typing import Any

import click

from leaderboard.access import CONSOLE
from leaderboard.cli.database import reading, writing
from leaderboard.cli.options import (
    ANY_WHOLE,
    MOMENT,
    PLACE,
    OneOf,
    OrNone,
    Place,
    given,
    given_on_line,
    require_yes,
    together,
)
from leaderboard.cli.rescoring import AGREED, changed_after_yes
from leaderboard.cli.tables import print_table
from leaderboard.lookup import find_campaign, find_evaluation, removal_refusal
from leaderboard.reads import listings
from leaderboard.reads.organising.readiness import Urgency, readiness
from leaderboard.reads.organising.settings import what_goes
from leaderboard.rules.phases import Opening
from leaderboard.rules.quotas import DAILY_QUOTA
from leaderboard.rules.settings import Judging
from leaderboard.services import cloning, evaluations, removing
from leaderboard.services.events import present

__all__ = ["evaluation"]

DATE = OrNone(MOMENT)
COUNT = OrNone(ANY_WHOLE)
UNREADY = 1  # exit status
WHEN = "always, once it has closed, or never (to organisers only)"
SETTINGS = together(  # what `add` and `change` have in common
    click.option("--period-key", type=ANY_WHOLE, help="A number to sort periods by (default: the year in --period)."),
    click.option("--description", default="", help="A description for its page."),
    click.option("--condition", default="", help="Its language, task, …, where a period has several evaluations."),
    click.option("--collection", default="", help="The collection's name."),
    click.option("--documents", type=COUNT, help="Documents in the collection; detection measures need it."),
    click.option(
        "--relevance-level", type=ANY_WHOLE, default=1, show_default=True, help="Lowest grade that is relevant."
    ),
    click.option(
        "--judging",
        type=OneOf(Judging),
        default=Judging.POOLED.value,
        show_default=True,
        help="pooled: a query without judgments is left out; complete: it has no relevant document.",
    ),
    click.option("--opens", "opens_at", type=DATE, help="When it starts to take runs (UTC)."),
    click.option("--closes", "closes_at", type=DATE, help="When it stops taking runs (UTC)."),
    click.option(
        "--grace",
        "grace_seconds",
        type=ANY_WHOLE,
        default=60,
        show_default=True,
        help="Seconds after closing in which uploads that began before may end; boards open only then.",
    ),
    click.option("--late/--no-late", "late_allowed", default=False, help="Take late runs too; they are not ranked."),
    click.option(
        "--results",
        type=OneOf(Opening),
        default=Opening.ALWAYS.value,
        show_default=True,
        help=f"When the board is public: {WHEN}.",
    ),
    click.option(
        "--details",
        type=OneOf(Opening),
        default=Opening.CLOSED.value,
        show_default=True,
        help=f"When results by query are public, which reveal judgments: {WHEN}.",
    ),
    click.option(
        "--texts",
        type=OneOf(Opening),
        default=Opening.OPENED.value,
        show_default=True,
        help="When the queries' texts and tags are public: always, once it has opened, once it has closed, never.",
    ),
    click.option(
        "--hidden-queries",
        type=OneOf(Opening),
        default=Opening.CLOSED.value,
        show_default=True,
        help=f"When hidden queries are shown and counted as all others: {WHEN}.",
    ),
    click.option("--own-results/--no-own-results", default=True, help="Show a team its own means before others."),
    click.option(
        "--publish-judgments/--keep-judgments",
        "judgments_published",
        default=False,
        help="Let all read them once it has closed.",
    ),
    click.option("--anonymous-until", type=DATE, help="Until when names of teams and systems are hidden (UTC)."),
    click.option(
        "--daily-quota",
        type=COUNT,
        default=DAILY_QUOTA,
        show_default=True,
        help="Submissions that a team has in a day; none for no limit. Each one's figures tell something of judgments.",
    ),
    click.option("--time-zone", default="UTC", show_default=True, help="In which organisers think of its dates."),
    click.option("--draft/--public", default=False, help="A draft is absent for everybody but organisers."),
    click.option("--total-quota", type=COUNT, help="Submissions that a team has in all; none for no limit."),
)


@click.group()
def evaluation() -> None:
    """Evaluations: dates, collection, what is visible."""


@evaluation.command()
@PLACE
@click.option("--title", required=True, help="Its name on every page.")
@click.option("--period", required=True, help="Its year or round, like '2026' or '2026 round 1'.")
@SETTINGS
def add(evaluation: Place, title: str, period: str, **settings: Any) -> None:
    """Make an evaluation of a campaign.

    \b
    leaderboard evaluation add harbour/2026-text --title 'Text 2026' --period 2026 \\
        --condition Text --documents 1800 --judging complete --closes 2026-09-30T18:00
    """
    with writing() as session:
        found = find_campaign(session, CONSOLE, evaluation.campaign)
        evaluations.create_evaluation(session, CONSOLE, found, evaluation.evaluation, title, period, **settings)
    click.echo(f"made the evaluation {evaluation}; next: leaderboard queries import {evaluation} FILE")


@evaluation.command()
@PLACE
@click.option("--title", help="Its name on every page.")
@click.option("--period", help="Its year or round.")
@SETTINGS
@AGREED
@click.pass_context
def change(context: click.Context, /, evaluation: Place, yes: bool, **_: Any) -> None:
    """Change the settings that are given; the others stay. The word none removes a date or a quota.

    Asks first where runs are scored again by it, or where it opens or closes something at once.

    \b
    leaderboard evaluation change harbour/2026-text --closes 2026-10-15 --daily-quota none
    """
    changes = given(context)
    changed_after_yes(
        yes,
        evaluation.campaign,
        lambda session: evaluations.change_evaluation(
            session, CONSOLE, find_evaluation(session, CONSOLE, *evaluation), **changes
        ),
    )
    click.echo(f"changed the evaluation {evaluation}")


@evaluation.command()
@PLACE
@click.argument("slug")
@click.option("--title", help="Its name on every page (default: this one's, with the next year in it).")
@click.option("--period", help="Its year or round (default: the next year).")
@click.option("--with-queries", is_flag=True, help="Copy the queries too.")
@SETTINGS
@click.pass_context
def clone(context: click.Context, /, evaluation: Place, slug: str, with_queries: bool, **_: Any) -> None:
    """Make next year's evaluation of this one: its settings, form and file rules, with dates a year later; a draft.

    Options that are given replace what would be copied. Judgments and runs are never copied.

    \b
    leaderboard evaluation clone harbour/2026-text 2027-text --closes 2027-10-01 --with-queries
    """
    changes = given_on_line(context)
    changes.pop("with_queries", None)
    with writing() as session:
        found = find_evaluation(session, CONSOLE, *evaluation)
        proposed = cloning.next_year(session, found)
        named = {name: changes.pop(name, None) or proposed[name] for name in ("title", "period")}
        made = cloning.clone_evaluation(session, CONSOLE, found, slug, **named, with_queries=with_queries, **changes)
    click.echo(
        f"made {evaluation.campaign}/{made.slug} as a {'draft' if made.draft else 'public'} copy of {evaluation}"
    )


@evaluation.command()
@PLACE
@click.option("--yes", is_flag=True, help="Don't ask first.")
def remove(evaluation: Place, yes: bool) -> None:
    """Remove an evaluation that was made by mistake, with its queries and judgments; asks first.

    One to which anything was submitted is refused: that stays on record.

    \b
    leaderboard evaluation remove harbour/2026-txt
    """
    with reading() as session:
        found = find_evaluation(session, CONSOLE, *evaluation)
        refused, goes = removal_refusal(session, found), what_goes(session, found)
    if refused is None:  # else it is refused, whatever the answer
        require_yes(yes, f"Remove {found.title} ({evaluation}) for good, with {goes}?")
    with writing() as session:
        removing.remove_evaluation(session, CONSOLE, find_evaluation(session, CONSOLE, *evaluation))
    click.echo(f"removed the evaluation {evaluation}")


@evaluation.command()
@PLACE
def ready(evaluation: Place) -> int:
    """List what an evaluation still lacks; exit status 1 while something is left to do.

    \b
    leaderboard evaluation ready harbour/2026-text
    """
    with reading() as session:
        points = readiness(session, CONSOLE, *evaluation, present())
    rows = [(one.urgency.value, one.about, one.words) for one in points]
    print_table(("state", "about", "what"), rows, "")
    return UNREADY if any(one.urgency is Urgency.TO_DO for one in points) else 0


@evaluation.command("list")
@click.argument("campaign", required=False)
def list_evaluations(campaign: str | None) -> None:
    """List the evaluations of a campaign, or all.

    \b
    leaderboard evaluation list harbour
    """
    with reading() as session:
        chosen = None if campaign is None else find_campaign(session, CONSOLE, campaign)
        rows = [
            (
                f"{one.campaign.slug}/{one.slug}",
                one.title,
                one.period,
                one.condition or "–",
                queries,
                runs,
                _moment(one.opens_at),
                _moment(one.closes_at),
            )
            for one, queries, runs in listings.list_evaluations(session, chosen)
        ]
    head = ("evaluation", "title", "period", "condition", "queries", "runs", "opens", "closes")
    print_table(head, rows, "no evaluation yet; make one: leaderboard evaluation add")


def _moment(value: dt.datetime | None) -> str:
    return "–" if value is None else f"{value:%Y-%m-%d %H:%M}"
