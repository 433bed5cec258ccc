"""Run, judgment and query files: read into columns, or every problem with its line number."""

from leaderboard.formats.judgments import Judgments, read_judgments
from leaderboard.formats.opening import GRADE_LIMIT, ByteSource, Limits, open_plain
from leaderboard.formats.queries import QueryRow, read_queries
from leaderboard.formats.runs import Run, RunFormat, read_run
from leaderboard.formats.texts import Ids, Keys, Texts, keys, pair_keys, rising_words

__all__ = [
    "GRADE_LIMIT",
    "ByteSource",
    "Ids",
    "Judgments",
    "Keys",
    "Limits",
    "QueryRow",
    "Run",
    "RunFormat",
    "Texts",
    "keys",
    "open_plain",
    "pair_keys",
    "read_judgments",
    "read_queries",
    "read_run",
    "rising_words",
]
