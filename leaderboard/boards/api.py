"""The board of an evaluation, old boards as they stood, what moved between two of them, and boards by several sources
of judgments."""

from dataclasses import replace
from typing import Any

from leaderboard.boards.reads import board as boards, breakdown, history
from leaderboard.web.context import read
from leaderboard.web.endpoints import get

EVALUATION = "/campaigns/<campaign>/evaluations/<evaluation>"
OF_BOARD = ("measure", "tag", "show", "sort", "answer")


@get(f"{EVALUATION}/board", asks=OF_BOARD)
def board(campaign: str, evaluation: str, **asked: Any) -> boards.BoardPage:
    """The board of an evaluation. measure: to rank by; tag: only queries with it; show: primary, best, latest or all
    runs of each system; sort: system, kind, date or that measure, with - before it the other way round; answer: only
    runs with this answer to a field of the form, as KEY:ANSWER, with the ranks that they have among all.
    """
    return _listed(campaign, evaluation, boards.BoardQuery(**asked))


def _listed(campaign: str, evaluation: str, view: boards.BoardQuery) -> boards.BoardPage:
    """The board with the rows that pass its filter by answers, as its page lists them."""
    page = read(boards.board, campaign, evaluation, view=view)
    return replace(page, rows=page.listed)


@get(f"{EVALUATION}/boards")
def list_boards(campaign: str, evaluation: str) -> history.BoardVersionsPage:
    """The boards that an evaluation has had and that you may see, the newest first, and why each was made."""
    return read(history.board_versions, campaign, evaluation)


@get(f"{EVALUATION}/boards/<int:scoring_set>", asks=OF_BOARD)
def old_board(campaign: str, evaluation: str, scoring_set: int, **asked: Any) -> boards.BoardPage:
    """A board as it stood, or one by another source of judgments; takes what the board takes."""
    return _listed(campaign, evaluation, boards.BoardQuery(set_id=scoring_set, **asked))


@get(f"{EVALUATION}/boards/<int:before>/to/<int:after>", asks=("measure",))
def what_moved(campaign: str, evaluation: str, before: int, after: int, **asked: Any) -> history.BoardDifference:
    """What moved from one board to another: ranks and means, and by each measure how the orders agree, of the systems
    that both boards rank by the same run. `apart` says in sentences which others there are, and why.
    """
    return read(history.board_difference, campaign, evaluation, before, after, **asked)


@get(f"{EVALUATION}/sources", asks=("measure",))
def list_sources(campaign: str, evaluation: str, **asked: Any) -> breakdown.SourcesPage:
    """The boards by every source of judgments side by side, and how each agrees with the official one, where single
    queries are open.
    """
    return read(breakdown.sources, campaign, evaluation, **asked)


@get(f"{EVALUATION}/tags", asks=("measure",))
def figures_by_tag(campaign: str, evaluation: str, **asked: Any) -> breakdown.TagsPage:
    """Every system's figure over the queries with each tag, by one measure, where single queries are open."""
    return read(breakdown.tags, campaign, evaluation, **asked)
