"""Run, judgment and query files: read into columns, or every problem with its line number."""

from leaderboard.formats.judgments import Judgments, read_judgments
from leaderboard.formats.limits import GRADE_LIMIT, Limits
from leaderboard.formats.plain import open_plain
from leaderboard.formats.queries import QueryRow, read_queries
from leaderboard.formats.runs import Run, RunFormat, read_run

__all__ = [
    "GRADE_LIMIT",
    "Judgments",
    "Limits",
    "QueryRow",
    "Run",
    "RunFormat",
    "open_plain",
    "read_judgments",
    "read_queries",
    "read_run",
]
