"""Run, judgment and query files: read into columns, or every problem with its line number.

words   harmless (what may be told of a file's text)
bytes   plain_text (decompression, limits), pieces (whole lines, several pieces at once)
fields  fields (where they stand), decimals (numbers), ids, checks (of single values)
table   tables (some rows), readers (one for each format, and their one table), rows (of a whole file)
files   runs, judgments, queries; problems and guessing say what is wrong with one
"""

from leaderboard.formats.checks import GRADE_LIMIT
from leaderboard.formats.ids import Ids, Keys, Texts, keys, pair_keys, rising_words
from leaderboard.formats.judgments import (
    Judgments,
    SubtopicJudgments,
    of_any_subtopic,
    read_judgments,
    read_subtopic_judgments,
)
from leaderboard.formats.plain_text import ByteSource, Limits, open_plain
from leaderboard.formats.queries import QueryRow, read_queries
from leaderboard.formats.runs import RUN_FORMATS, RUN_WRITERS, Run, RunFormat, RunLine, read_run

__all__ = [
    "GRADE_LIMIT",
    "RUN_FORMATS",
    "RUN_WRITERS",
    "ByteSource",
    "Ids",
    "Judgments",
    "Keys",
    "Limits",
    "QueryRow",
    "Run",
    "RunFormat",
    "RunLine",
    "SubtopicJudgments",
    "Texts",
    "keys",
    "of_any_subtopic",
    "open_plain",
    "pair_keys",
    "read_judgments",
    "read_queries",
    "read_run",
    "read_subtopic_judgments",
    "rising_words",
]
