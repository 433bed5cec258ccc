"""Old boards as they stood, what moved between two of them, and boards by several sources of judgments."""

from leaderboard.boards.api import EVALUATION, asked_board
from leaderboard.boards.reads import board as boards
from leaderboard.history import reads
from leaderboard.web.context import read
from leaderboard.web.endpoints import get


@get(f"{EVALUATION}/boards")
def list_boards(campaign: str, evaluation: str) -> reads.BoardVersionsPage:
    """The boards that an evaluation has had and that you may see, the newest first, and why each was made."""
    return read(reads.board_versions, campaign, evaluation)


@get(f"{EVALUATION}/boards/<int:scoring_set>")
def old_board(
    campaign: str,
    evaluation: str,
    scoring_set: int,
    *,
    measure: str | None = None,
    tag: str | None = None,
    show: str | None = None,
    sort: str | None = None,
    answer: str | None = None,
) -> boards.BoardPage:
    """A board as it stood, or one by another source of judgments; takes what the board takes."""
    asked = {"measure": measure, "tag": tag, "show": show, "sort": sort, "answer": answer, "set_id": scoring_set}
    return asked_board(campaign, evaluation, **asked)


@get(f"{EVALUATION}/boards/<int:before>/to/<int:after>")
def what_moved(
    campaign: str, evaluation: str, before: int, after: int, *, measure: str | None = None
) -> reads.BoardDifference:
    """What moved from one board to another: ranks and means, and by each measure how the orders agree, of the systems
    that both boards rank by the same run. `apart` says in sentences which others there are, and why.
    """
    return read(reads.board_difference, campaign, evaluation, before, after, measure=measure)


@get(f"{EVALUATION}/sources")
def list_sources(campaign: str, evaluation: str, *, measure: str | None = None) -> reads.SourcesPage:
    """The boards by every source of judgments side by side, and how each agrees with the official one, where single
    queries are open.
    """
    return read(reads.sources, campaign, evaluation, measure=measure)
