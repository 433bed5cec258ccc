"""Queries of an evaluation, one query, two runs beside each other, and what one run scored."""

from typing import Any

from flask import Response

from leaderboard.boards.api import EVALUATION, OF_BOARD
from leaderboard.boards.reads.board import BoardQuery
from leaderboard.results.reads import heat_map as heat_maps, left_out, queries, run as results
from leaderboard.web.context import read, store
from leaderboard.web.endpoints import get
from leaderboard.web.exports import evaluation_file


@get(f"{EVALUATION}/queries", asks=("measure", "tag", "sort"))
def list_queries(campaign: str, evaluation: str, **asked: Any) -> queries.QueryListPage:
    """All queries of an evaluation. Where single queries are open, with median, best and worst value of the systems."""
    return read(queries.query_list, campaign, evaluation, view=BoardQuery(**asked))


@get(f"{EVALUATION}/queries.tsv", file="text/plain")
def query_rows(campaign: str, evaluation: str) -> Response:
    """All queries that you may know of, as a file: id, text and tags, as `leaderboard score --queries` reads them."""
    page = read(queries.query_list, campaign, evaluation)
    return evaluation_file(page.as_file, campaign, evaluation, "queries")


@get(f"{EVALUATION}/queries/<path:query>", asks=("show", "sort"))
def query(campaign: str, evaluation: str, query: str, **asked: Any) -> queries.QueryPage:
    """One query across all systems."""
    return read(queries.query, campaign, evaluation, query, view=BoardQuery(**asked))


@get(f"{EVALUATION}/values", asks=OF_BOARD)
def board_values(campaign: str, evaluation: str, **asked: Any) -> queries.BoardValues:
    """The value of each run of the board on each query, by one measure, where single queries are open; takes what the
    board takes.
    """
    return read(queries.board_values, campaign, evaluation, view=BoardQuery(**asked))


@get(f"{EVALUATION}/heat-map", asks=("measure", "text"))
def heat_map(campaign: str, evaluation: str, **asked: Any) -> heat_maps.HeatMapPage:
    """The values of the first systems of the board on each query, the easiest query first; the queries that everybody
    misses, and those on which the systems are furthest apart. Where single queries are open.
    """
    return read(heat_maps.heat_map, campaign, evaluation, view=BoardQuery(**asked))


@get(f"{EVALUATION}/compare", asks=("measure", "sort"))
def compare(
    campaign: str, evaluation: str, *, a: int | None = None, b: int | None = None, **asked: Any
) -> queries.ComparePage:
    """Two runs beside each other, where single queries are open: their means by every measure, and by one of them both
    values on every query, the interval of their difference and a randomisation test. a, b: numbers of submissions on
    the board; without both, those to choose from. sort: position, a, b or difference, with "-" before it the other way
    round.
    """
    return read(queries.compare, campaign, evaluation, a=a, b=b, view=BoardQuery(**asked))


@get("/submissions/<int:submission>/results", asks=("measure", "sort"))
def submission_results(submission: int, **asked: Any) -> results.SubmissionResults:
    """A scored submission's means with their intervals, its rank, and its value on each query where these are open.
    measure: for the rank and the order.
    """
    return read(results.results, submission, **asked)


@get("/submissions/<int:submission>/receipt")
def submission_receipt(submission: int) -> results.Receipt:
    """A scored submission's receipt: the hashes of its file, judgments and settings, and the command that computes its
    figures again offline, as far as these are open.
    """
    return read(results.receipt, submission)


@get("/submissions/<int:submission>/queries/<path:query>")
def ranked_list(submission: int, query: str) -> queries.RankedListPage:
    """What a run lists for one query, with the grades, where single queries are open."""
    return read(queries.ranked_list, store(), submission, query)


@get(f"{EVALUATION}/leave-one-team-out")
def leave_one_team_out(campaign: str, evaluation: str) -> left_out.LeaveOneTeamOutPage:
    """What each team of a closed evaluation found alone (`unique`), and its best system's figure and rank without
    that, where single queries are open.
    """
    return read(left_out.leave_one_team_out, campaign, evaluation)
