"""Run, judgment and query files: read into columns, or every problem with its line number.

words   harmless (what may be told of a file's text)
bytes   plain_text (decompression, limits), members (files of an archive), pieces (whole lines, several at once)
fields  fields (where they stand), decimals (numbers), ids, checks (of single values)
table   tables (some rows), readers (one for each format, and their one table), rows (of a whole file)
files   runs, judgments, queries; problems and guessing say what is wrong with one
asked   file_rules (what an organiser asks of runs), patterns (of ids and tags); metadata (what a run says of itself)
"""

from leaderboard.formats.checks import GRADE_LIMIT
from leaderboard.formats.file_rules import (
    NO_RULES,
    DocumentList,
    FileRules,
    RunRules,
    document_list,
    read_document_list,
)
from leaderboard.formats.ids import Ids, Keys, Texts, keys, pair_keys, rising_words
from leaderboard.formats.judgments import (
    Judgments,
    SubtopicJudgments,
    of_any_subtopic,
    read_judgments,
    read_subtopic_judgments,
)
from leaderboard.formats.members import Member, first_files, is_archive_file, members
from leaderboard.formats.metadata import HEADER_BYTES, Metadata, run_metadata, side_metadata
from leaderboard.formats.patterns import Pattern
from leaderboard.formats.plain_text import ByteSource, Limits, beginning, open_plain, whole_lines
from leaderboard.formats.queries import QUERY_FORMATS, QueryRow, read_queries
from leaderboard.formats.runs import RUN_FORMATS, RUN_WRITERS, Run, RunFormat, RunLine, read_run
