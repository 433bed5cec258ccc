"""Judgments: TREC's four columns, query, iteration, document, grade; with a subtopic in the place of the iteration."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.ids import Ids, Places, repeated_rows
from leaderboard.formats.plain_text import ByteSource, Limits
from leaderboard.formats.rows import Rows, Schemas, read_rows
from leaderboard.formats.tables import DOCUMENT, QUERY, Column, Schema
from leaderboard.frozen import frozen

GRADE = Column("grade", "grade")

QRELS = Schema((QUERY, Column("iteration"), DOCUMENT, GRADE))
BY_NAME = (Schema((QUERY, DOCUMENT, GRADE)),)
FORMATS: Schemas = {"columns": (QRELS,), "csv": BY_NAME, "json": BY_NAME}

OF_SUBTOPICS = (Schema((QUERY, Column("subtopic", "id"), DOCUMENT, GRADE)),)
SUBTOPIC_FORMATS: Schemas = {"columns": OF_SUBTOPICS, "csv": OF_SUBTOPICS, "json": OF_SUBTOPICS}


@frozen
class Judgments:
    """Judged documents, in the order of the file.

    queries   ids in the order of their first appearance
    query     uint32[J], index into `queries`
    document  J ids; no query has one twice
    grade     int64[J]: 0 judged not relevant, >= 1 relevant, < 0 counts as unjudged where a measure says so
    repeated  lines left out because they say again what an earlier one says
    """

    queries: tuple[str, ...]
    query: NDArray[np.uint32]
    document: Ids
    grade: NDArray[np.int64]
    repeated: int = 0

    def __len__(self) -> int:
        return len(self.query)


def read_judgments(source: Path | ByteSource, *, name: str | None = None, limits: Limits | None = None) -> Judgments:
    """Reads judgments, plain or gzipped.

    They are TREC's columns, separated by any blanks (`#` starts a comment line), or CSV with a header or JSON lines,
    with the columns query, document and grade.

    name  what messages call the file

    Raises FileRejected with the first problems by line and their full count. Two lines that judge one document for
    one query differently are a problem; a line that repeats another one is counted and left out.

    >>> import io
    >>> judged = read_judgments(io.BytesIO(b"q1 0 d7 1\\nq1 0 d3 0\\nq1 0 d7 1\\n"))
    >>> judged.document.to_list(), judged.grade.tolist(), judged.repeated
    (['d7', 'd3'], [1, 0], 1)
    """
    rows = read_rows(source, FORMATS, "judgments", name=name, limits=limits)
    return _sound(rows, rows.column("query"), "is judged again with another grade")[0]


def _sound(rows: Rows, about: NDArray[np.uint32], again: str) -> tuple[Judgments, Places]:
    """The judgments when none says again what another one says, and the rows that they are; `about` numbers what a
    document is judged for. Raises FileRejected for any problem, and in the words `again` for grades that differ.
    """
    later, first = repeated_rows(about, rows.document)
    grade = rows.column("grade")
    other = grade[later] != grade[first]
    rows.add_repeats(later[other], first[other], again)
    rows.problems.raise_if_any()
    remaining = np.delete(np.arange(len(rows)), later)
    document = Ids([rows.document.take(remaining)]) if len(later) else rows.document
    query = rows.column("query")[remaining]
    return Judgments(rows.queries, query, document, grade[remaining], len(later)), remaining


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtopicJudgments(Judgments):
    """Documents judged for one aspect of a query each, in the order of the file.

    subtopics  ids in the order of their first appearance
    subtopic   uint32[J], index into `subtopics`
    document   J ids; no query has one twice for the same subtopic
    grade      int64[J]: >= 1 relevant to the subtopic
    """

    subtopics: tuple[str, ...]
    subtopic: NDArray[np.uint32]


def read_subtopic_judgments(
    source: Path | ByteSource, *, name: str | None = None, limits: Limits | None = None
) -> SubtopicJudgments:
    """Reads judgments of subtopics, plain or gzipped, as `read_judgments` reads others.

    They are the columns of TREC's diversity tasks (query subtopic document grade), or CSV with a header or JSON lines
    with the columns query, subtopic, document and grade. Raises FileRejected likewise.

    >>> import io
    >>> judged = read_subtopic_judgments(io.BytesIO(b"q1 1 d7 1\\nq1 2 d7 0\\n"))
    >>> judged.subtopics, judged.document.to_list(), judged.grade.tolist()
    (('1', '2'), ['d7', 'd7'], [1, 0])
    """
    rows = read_rows(source, SUBTOPIC_FORMATS, "judgments", name=name, limits=limits)
    subtopic = rows.column("subtopic")
    _, aspect = np.unique(np.stack((rows.column("query"), subtopic)), axis=1, return_inverse=True)
    again = "is judged again for the same subtopic with another grade"
    of, remaining = _sound(rows, aspect.astype(np.uint32), again)
    return SubtopicJudgments(
        of.queries, of.query, of.document, of.grade, of.repeated, subtopics=rows.subtopics, subtopic=subtopic[remaining]
    )


def of_any_subtopic(judged: SubtopicJudgments) -> Judgments:
    """Judgments of whole queries that follow from those of subtopics: each document has its highest grade.

    >>> import io
    >>> judged = of_any_subtopic(read_subtopic_judgments(io.BytesIO(b"q1 1 d7 1\\nq1 2 d7 2\\nq1 1 d3 0\\n")))
    >>> judged.document.to_list(), judged.grade.tolist()
    (['d7', 'd3'], [2, 0])
    """
    later, first = repeated_rows(judged.query, judged.document)
    grade = judged.grade.copy()
    np.maximum.at(grade, first, grade[later])
    remaining = np.delete(np.arange(len(judged)), later)
    document = Ids([judged.document.take(remaining)])
    return Judgments(judged.queries, judged.query[remaining], document, grade[remaining])
