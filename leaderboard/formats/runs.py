"""Runs: what one system returned, as TREC's six columns or as decisions on single documents."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.file_rules import RunRules
from leaderboard.formats.ids import Ids, repeated_rows
from leaderboard.formats.metadata import Metadata
from leaderboard.formats.plain_text import LONGEST_TAG, ByteSource, Limits, harmless
from leaderboard.formats.rows import Schemas, Tags, read_rows
from leaderboard.formats.tables import DOCUMENT, QUERY, Column, Schema

RunFormat = Literal["auto", "trec", "trec_eval", "decisions"]

SCORE = Column("score", "score")
DECISION = Column("decision", "decision")

TREC = Schema((QUERY, Column("Q0"), DOCUMENT, Column("rank"), SCORE, Column("tag")))
TREC_EVAL = replace(TREC, open_end=True)
DECISIONS = Schema((QUERY, DOCUMENT, DECISION, SCORE))
SCORES = Schema((QUERY, DOCUMENT, SCORE))  # by name only: CSV and JSON lines
OF_ONE_QUERY = (Schema((DOCUMENT, DECISION, SCORE)), Schema((DOCUMENT, SCORE)))
BY_NAME = (DECISIONS, SCORES)
WITHOUT_COLUMNS: Schemas = {"csv": BY_NAME, "json": BY_NAME, "archive": OF_ONE_QUERY}
TAG = Column("tag", "tag")  # as it is read only where somebody asks
FORMATS: Mapping[RunFormat, Schemas] = {
    "auto": {**WITHOUT_COLUMNS, "columns": (DECISIONS, TREC)},
    "trec": {"columns": (TREC,)},
    "trec_eval": {**WITHOUT_COLUMNS, "columns": (TREC_EVAL,)},
    "decisions": {"columns": (DECISIONS,)},
}
# Those of "auto" in a sentence, for pages.
RUN_FORMATS = (
    "A TREC run (query Q0 document rank score tag); decisions (query document Y|N score); CSV or JSON lines with "
    "query, document, score and perhaps decision; or a .tgz with one file of decisions for each query. Plain or gzipped"
)


@dataclass(frozen=True)
class Run:
    """What one system returned, line by line in the order of the file.

    queries   ids in the order of their first appearance
    query     uint32[L], index into `queries`
    document  L ids; no query has one twice
    score     float64[L], finite
    decision  bool[L], returned or not; None when the file holds no decisions
    tag       the run's own name, from the last line (as trec_eval takes it); "" when the file holds none
    said      what the comment lines before its first row say of it
    """

    queries: tuple[str, ...]
    query: NDArray[np.uint32]
    document: Ids
    score: NDArray[np.float64]
    decision: NDArray[np.bool_] | None
    tag: str
    said: Metadata = field(default_factory=Metadata)

    def __len__(self) -> int:
        return len(self.query)


def read_run(
    source: Path | ByteSource,
    *,
    queries: Collection[str] | None = None,
    name: str | None = None,
    format: RunFormat = "auto",  # noqa: A002  # the word of the whole product
    limits: Limits | None = None,
    rules: RunRules | None = None,
    tags: Tags | None = None,
) -> Run:
    """Reads a run, plain or gzipped.

    TREC's columns or decisions, parted by any blanks (`#` starts a comment line); CSV with a header, or JSON lines,
    with the columns query, document, score and, if it likes, decision; a .tgz with one file of decisions a query.

    queries  the evaluation's query ids: any other is a problem; None: every id is welcome
    name     what messages call the file
    format   "auto" goes by the start of the file; "trec" and "decisions" are columns only; "trec_eval" is "auto", but
             columns are TREC's as trec_eval takes them: what follows the tag is ignored
    rules    what else is asked of the file: what breaks it is a problem too
    tags     is shown the run tags of all lines; those of the rules where they ask something of tags

    Raises FileRejected with the first problems by line and their full count. A document listed twice for one query
    is a problem; nothing is dropped or changed.

    >>> import io
    >>> run = read_run(io.BytesIO(b"q1 Q0 d7 1 2.5 mine\\nq1 Q0 d3 2 1.5 mine\\n"))
    >>> run.queries, run.document.to_list(), run.score.tolist(), run.tag
    (('q1',), ['d7', 'd3'], [2.5, 1.5], 'mine')
    """
    tags = tags or (rules.tags() if rules is not None else None)
    schemas = FORMATS[format] if tags is None else _with_tags(FORMATS[format])
    rows = read_rows(source, schemas, "run", queries=queries, name=name, limits=limits, tags=tags)
    decided = rows.schema is not None and DECISION in rows.schema.columns
    run = Run(
        queries=rows.queries,
        query=rows.column("query"),
        document=rows.document,
        score=rows.column("score"),
        decision=rows.column("decision") if decided else None,
        tag="" if decided else _tag(rows.end),
        said=rows.said,
    )
    rows.add_repeats(*repeated_rows(run.query, run.document), "is listed twice")
    if rules is not None:
        rules.check(rows)
    rows.problems.raise_if_any()
    return run


def _with_tags(schemas: Schemas) -> Schemas:
    """The same formats, with the run tags read."""

    def tagged(schema: Schema) -> Schema:
        return replace(schema, columns=tuple(TAG if column.name == "tag" else column for column in schema.columns))

    return {name: tuple(map(tagged, some)) for name, some in schemas.items()}


def _tag(line: bytes) -> str:
    """The run's own name, as the last line has it."""
    fields = [*line.split(maxsplit=TREC.width), *[b""] * TREC.width]
    return harmless(fields[TREC.width - 1].decode(errors="replace"), LONGEST_TAG)


class RunLine(NamedTuple):
    """One line of a run that is written. `score` is text: the writer decides how many digits it has."""

    query: str
    document: str
    rank: int
    score: str
    returned: bool
    tag: str


# By the format that `read_run` calls the same, what writes one line.
RUN_WRITERS: Mapping[str, Callable[[RunLine], str]] = {
    "trec": lambda line: f"{line.query} Q0 {line.document} {line.rank} {line.score} {line.tag}\n",
    "decisions": lambda line: f"{line.query}\t{line.document}\t{'Y' if line.returned else 'N'}\t{line.score}\n",
}
