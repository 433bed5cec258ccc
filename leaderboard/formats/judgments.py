"""Judgments: TREC's four columns, query, iteration, document, grade."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.ids import Ids
from leaderboard.formats.plain_text import ByteSource, Limits
from leaderboard.formats.rows import Schemas, read_rows, repeated_rows
from leaderboard.formats.tables import DOCUMENT, QUERY, Column, Schema

__all__ = ["Judgments", "read_judgments"]

GRADE = Column("grade", "grade")

QRELS = Schema((QUERY, Column("iteration"), DOCUMENT, GRADE))
BY_NAME = (Schema((QUERY, DOCUMENT, GRADE)),)
FORMATS: Schemas = {"columns": (QRELS,), "csv": BY_NAME, "json": BY_NAME}


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
    later, first = repeated_rows(query, rows.column("key"), rows.document)
    other = grade[later] != grade[first]
    rows.add_repeats(later[other], first[other], "is judged again with another grade")
    rows.problems.raise_if_any()
    if not len(later):
        return Judgments(rows.queries, query, rows.document, grade)
    kept = np.delete(np.arange(len(rows)), later)
    return Judgments(rows.queries, query[kept], Ids([rows.document.take(kept)]), grade[kept], len(later))
