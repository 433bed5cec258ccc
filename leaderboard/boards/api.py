"""What pages show, for programs: each endpoint is one read, by the same rule of who sees what."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from flask import Response

from leaderboard.accounts import reads as accounts
from leaderboard.accounts.rules import Scope
from leaderboard.boards.reads import board as boards
from leaderboard.boards.reads.board import BoardQuery
from leaderboard.campaigns import reads as campaigns
from leaderboard.errors import NotFound, UnknownMeasure
from leaderboard.metrics import families, parse
from leaderboard.metrics.measure import Direction, Family
from leaderboard.progress import reads as progress
from leaderboard.results.reads import compare as two_runs
from leaderboard.results.reads import queries
from leaderboard.results.reads import run as results
from leaderboard.submissions.reads import form as submitting
from leaderboard.submissions.reads import status as submissions
from leaderboard.teams.reads import teams
from leaderboard.web.context import read, store
from leaderboard.web.endpoints import get

EVALUATION = "/campaigns/<campaign>/evaluations/<evaluation>"


@dataclass(frozen=True, slots=True)
class MeasureEntry:
    """A measure as the registry lists it, before parameters and cutoff are filled in.

    sections  its reference: formula, ties, what a missing query is worth, source and so on, by their headings
    """

    name: str
    title: str
    summary: str
    unit: str
    direction: Direction
    sections: Mapping[str, str]


@get("/campaigns")
def list_campaigns() -> tuple[campaigns.CampaignSummary, ...]:
    """All campaigns, those with an open evaluation first."""
    return read(campaigns.campaigns)


@get("/campaigns/<campaign>")
def campaign(campaign: str) -> campaigns.CampaignPage:
    """A campaign with its evaluations."""
    return read(campaigns.campaign, campaign)


@get("/campaigns/<campaign>/progress")
def campaign_progress(
    campaign: str, *, condition: str | None = None, measure: str | None = None
) -> progress.ProgressPage:
    """A campaign over its periods: every system's mean in each, under one measure and condition."""
    return read(progress.progress, campaign, condition=condition, measure=measure)


@get(f"{EVALUATION}/board")
def board(
    campaign: str,
    evaluation: str,
    *,
    measure: str | None = None,
    tag: str | None = None,
    show: str | None = None,
    sort: str | None = None,
    answer: str | None = None,
) -> boards.BoardPage:
    """The board of an evaluation. measure: to rank by; tag: only queries with it; show: primary, best, latest or all
    runs of each system; sort: a column, with - before it the other way round; answer: only runs with this answer to a
    field of the form, as KEY:ANSWER, with the ranks that they have among all.
    """
    return asked_board(campaign, evaluation, measure=measure, tag=tag, show=show, sort=sort, answer=answer)


def asked_board(campaign: str, evaluation: str, set_id: int | None = None, **asked: str | None) -> boards.BoardPage:
    """The board with the rows that pass its filter by answers, as its page lists them."""
    page = read(boards.board, campaign, evaluation, view=_view(**asked, set_id=set_id))
    return replace(page, rows=page.listed)


def _view(**asked: Any) -> BoardQuery:
    return BoardQuery(**{name: value for name, value in asked.items() if value is not None})


@get(f"{EVALUATION}/queries")
def list_queries(
    campaign: str, evaluation: str, *, measure: str | None = None, tag: str | None = None, sort: str | None = None
) -> queries.QueryListPage:
    """All queries of an evaluation. Where single queries are open, with median, best and worst value of the systems."""
    return read(queries.query_list, campaign, evaluation, view=_view(measure=measure, tag=tag, sort=sort))


@get(f"{EVALUATION}/queries.tsv", file="text/plain")
def query_rows(campaign: str, evaluation: str) -> Response:
    """All queries that you may know of, as a file: id, text and tags, as `leaderboard score --queries` reads them."""
    page = read(queries.query_list, campaign, evaluation)
    return Response(page.as_file, content_type="text/plain; charset=utf-8")


@get(f"{EVALUATION}/queries/<path:query>")
def query(
    campaign: str, evaluation: str, query: str, *, show: str | None = None, sort: str | None = None
) -> queries.QueryPage:
    """One query across all systems."""
    return read(queries.query, campaign, evaluation, query, view=_view(show=show, sort=sort))


@get(f"{EVALUATION}/compare")
def compare(
    campaign: str,
    evaluation: str,
    *,
    a: str | None = None,
    b: str | None = None,
    measure: str | None = None,
    sort: str | None = None,
) -> two_runs.ComparePage:
    """Two runs beside each other, where single queries are open: their means by every measure, and by one of them both
    values on every query, the interval of their difference and a randomisation test. a, b: numbers of submissions on
    the board; without both, those to choose from. sort: position, a, b or difference, with "-" before it the other way
    round.
    """
    return read(two_runs.compare, campaign, evaluation, a=a, b=b, view=_view(measure=measure, sort=sort))


@get(f"{EVALUATION}/submitting", Scope.READ)
def may_submit(campaign: str, evaluation: str) -> submitting.Submitting:
    """What an evaluation asks of a run (fields, agreements, rules of the file), and what your teams may still submit to
    it: their systems and what is left of the quotas.
    """
    return read(submitting.submitting, campaign, evaluation)


@get("/submissions/<int:submission>")
def submission(submission: int) -> submissions.SubmissionStatus:
    """A submission: its state, its receipt, and for its team what is wrong with a rejected file. Ask again
    until `state` is neither queued nor scoring.
    """
    return read(submissions.status, submission)


@get("/submissions/<int:submission>/results")
def submission_results(
    submission: int, *, measure: str | None = None, sort: str | None = None
) -> results.SubmissionResults:
    """A scored submission's means with their intervals, its rank, and its value on each query where these are open.
    measure: for the rank and the order.
    """
    return read(results.results, submission, measure=measure, sort=sort)


@get("/submissions/<int:submission>/receipt")
def submission_receipt(submission: int) -> results.Receipt:
    """A scored submission's receipt: the hashes of its file, judgments and settings, and the command that computes its
    figures again offline, as far as these are open.
    """
    return read(results.receipt, submission)


@get("/submissions/<int:submission>/queries/<path:query>")
def ranked_list(submission: int, query: str) -> queries.RankedListPage:
    """What a run lists for one query, with the grades, where single queries are open."""
    return read(queries.ranked_list, store(), submission, query, page=None)


@get("/teams/<team>")
def team(team: str) -> teams.TeamPage:
    """A team with its systems and their places; for its members its runs, too."""
    return read(teams.team_page, team)


@get("/teams/<team>/systems/<system>")
def system(team: str, system: str) -> teams.SystemPage:
    """One system over its years."""
    return read(teams.system, team, system)


@get("/measures")
def list_measures() -> tuple[MeasureEntry, ...]:
    """Every measure of this installation."""
    return tuple(map(_entry, families()))


@get("/measures/<name>")
def measure(name: str) -> MeasureEntry:
    """One measure, by its name or that of trec_eval, with or without parameters."""
    try:
        return _entry(parse(name).family)
    except UnknownMeasure as error:
        raise NotFound(error.message) from None


@get("/account", Scope.READ)
def account() -> accounts.Account:
    """The token's account: its teams and their latest runs."""
    return read(accounts.account)


def _entry(family: Family) -> MeasureEntry:
    sections = family.reference.sections
    return MeasureEntry(family.name, family.title, family.summary, family.unit, family.direction, sections)
