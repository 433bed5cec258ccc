"""Judgments: TREC's four columns, query, iteration, document, grade; with a subtopic in the place of the iteration."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.ids import Ids, repeated_rows
from leaderboard.formats.plain_text import ByteSource, Limits
from leaderboard.formats.rows import Schemas, read_rows
from leaderboard.formats.tables import DOCUMENT, QUERY, Column, Schema

GRADE = Column("grade", "grade")

QRELS = Schema((QUERY, Column("iteration"), DOCUMENT, GRADE))
BY_NAME = (Schema((QUERY, DOCUMENT, GRADE)),)
FORMATS: Schemas = {"columns": (QRELS,), "csv": BY_NAME, "json": BY_NAME}

OF_SUBTOPICS = (Schema((QUERY, Column("subtopic", "id"), DOCUMENT, GRADE)),)
SUBTOPIC_FORMATS: Schemas = {"columns": OF_SUBTOPICS, "csv": OF_SUBTOPICS, "json": OF_SUBTOPICS}


@dataclass(frozen=True, slots=True)
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


def read_judgments(
    source: Path | ByteSource,
    *,
    queries: Collection[str] | None = None,
    name: str | None = None,
    limits: Limits | None = None,
) -> Judgments:
    """Reads judgments, plain or gzipped.

    They are TREC's columns, separated by any blanks (`#` starts a comment line), or CSV with a header or JSON lines,
    with the columns query, document and grade.

    queries  the evaluation's query ids: any other is a problem; None: every id is welcome
    name     what messages call the file

    Raises FileRejected with the first problems by line and their full count. Two lines that judge one document for
    one query differently are a problem; a line that repeats another one is counted and left out.

    >>> import io
    >>> judged = read_judgments(io.BytesIO(b"q1 0 d7 1\\nq1 0 d3 0\\nq1 0 d7 1\\n"))
    >>> judged.document.to_list(), judged.grade.tolist(), judged.repeated
    (['d7', 'd3'], [1, 0], 1)
    """
    rows = read_rows(source, FORMATS, "judgments", queries=queries, name=name, limits=limits)
    query, grade = rows.column("query"), rows.column("grade")
    later, first = rows.repeats()
    other = grade[later] != grade[first]
    rows.add_repeats(later[other], first[other], "is judged again with another grade")
    rows.problems.raise_if_any()
    if not len(later):
        return Judgments(rows.queries, query, rows.document, grade)
    remaining = np.delete(np.arange(len(rows)), later)
    return Judgments(rows.queries, query[remaining], Ids([rows.document.take(remaining)]), grade[remaining], len(later))


@dataclass(frozen=True, slots=True)
class SubtopicJudgments:
    """Documents judged for one aspect of a query each, in the order of the file.

    queries, subtopics  ids in the order of their first appearance
    query, subtopic     uint32[J], index into these
    document            J ids; no query has one twice for the same subtopic
    grade               int64[J]: >= 1 relevant to the subtopic
    repeated            lines left out because they say again what an earlier one says
    """

    queries: tuple[str, ...]
    subtopics: tuple[str, ...]
    query: NDArray[np.uint32]
    subtopic: NDArray[np.uint32]
    document: Ids
    grade: NDArray[np.int64]
    repeated: int = 0

    def __len__(self) -> int:
        return len(self.query)


def read_subtopic_judgments(
    source: Path | ByteSource,
    *,
    queries: Collection[str] | None = None,
    name: str | None = None,
    limits: Limits | None = None,
) -> SubtopicJudgments:
    """Reads judgments of subtopics, plain or gzipped, as `read_judgments` reads others.

    They are the columns of TREC's diversity tasks (query subtopic document grade), or CSV with a header or JSON lines
    with the columns query, subtopic, document and grade. Raises FileRejected likewise.

    >>> import io
    >>> judged = read_subtopic_judgments(io.BytesIO(b"q1 1 d7 1\\nq1 2 d7 0\\n"))
    >>> judged.subtopics, judged.document.to_list(), judged.grade.tolist()
    (('1', '2'), ['d7', 'd7'], [1, 0])
    """
    rows = read_rows(source, SUBTOPIC_FORMATS, "judgments", queries=queries, name=name, limits=limits)
    query, subtopic, grade = rows.column("query"), rows.column("subtopic"), rows.column("grade")
    _, aspect = np.unique(np.stack((query, subtopic)), axis=1, return_inverse=True)
    later, first = repeated_rows(aspect.astype(np.uint32), rows.document)
    other = grade[later] != grade[first]
    rows.add_repeats(later[other], first[other], "is judged again for the same subtopic with another grade")
    rows.problems.raise_if_any()
    remaining = np.delete(np.arange(len(rows)), later)
    document = Ids([rows.document.take(remaining)])
    return SubtopicJudgments(
        rows.queries, rows.subtopics, query[remaining], subtopic[remaining], document, grade[remaining], len(later)
    )


def of_any_subtopic(judged: SubtopicJudgments) -> Judgments:
    """Judgments of whole queries that follow from those of subtopics: each document has its highest grade.

    >>> import io
    >>> judged = of_any_subtopic(read_subtopic_judgments(io.BytesIO(b"q1 1 d7 1\\nq1 2 d7 2\\nq1 1 d3 0\\n")))
    >>> judged.document.to_list(), judged.grade.tolist()
    (['d7', 'd3'], [2, 0])
    """
    highest: dict[tuple[int, str], int] = {}
    for query, document, grade in zip(
        judged.query.tolist(), judged.document.to_list(), judged.grade.tolist(), strict=True
    ):
        highest[query, document] = max(grade, highest.get((query, document), grade))
    return Judgments(
        queries=judged.queries,
        query=np.array([query for query, _ in highest], np.uint32),
        document=Ids.of([document for _, document in highest]),
        grade=np.array(list(highest.values()), np.int64),
    )
