"""The board of an evaluation."""

from dataclasses import replace
from typing import Any

from leaderboard.boards.reads import board as boards
from leaderboard.boards.reads.board import BoardQuery
from leaderboard.web.context import read
from leaderboard.web.endpoints import get

EVALUATION = "/campaigns/<campaign>/evaluations/<evaluation>"


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


def asked_board(campaign: str, evaluation: str, **asked: Any) -> boards.BoardPage:
    """The board with the rows that pass its filter by answers, as its page lists them."""
    page = read(boards.board, campaign, evaluation, view=board_query(**asked))
    return replace(page, rows=page.listed)


def board_query(**asked: Any) -> BoardQuery:
    """What the arguments of an address say of a board, or of a page behind it; None: what it shows by itself."""
    return BoardQuery(**{name: value for name, value in asked.items() if value is not None})
