"""Run, judgment and query files: read into columns, or every problem with its line number.

text    plain_text (decompression, limits, whole lines, what may be told of a file's text)
values  columns (fields parted by blanks, and their numbers), records (CSV, JSON lines), archives, tables (some rows)
file    rows (of a whole file, in any format; its tags), ids (and their patterns); problems says what is wrong with it
kinds   runs, judgments, queries
asked   file_rules (what an organiser asks of runs); metadata (what a run says of itself)
"""

from leaderboard.formats.archives import first_files, is_archive_file, members
from leaderboard.formats.file_rules import NO_RULES, DocumentList, FileRules, RunRules, document_list
from leaderboard.formats.ids import Ids, Pattern, Texts, keys, pair_keys, rising_words
from leaderboard.formats.judgments import (
    Judgments,
    SubtopicJudgments,
    of_any_subtopic,
    read_judgments,
    read_subtopic_judgments,
)
from leaderboard.formats.metadata import SIDE_BYTES, Metadata, side_metadata
from leaderboard.formats.plain_text import ByteSource, Limits, open_plain, whole_lines
from leaderboard.formats.queries import QUERY_FORMATS, QueryRow, read_queries
from leaderboard.formats.runs import RUN_FORMATS, RUN_WRITERS, Run, RunLine, read_run
