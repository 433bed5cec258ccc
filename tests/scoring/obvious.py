"""Scoring the obvious way: one query after the other, plain Python. What the columnar code must agree with."""

import io
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from leaderboard.formats import Judgments, Run, SubtopicJudgments, read_judgments, read_run, read_subtopic_judgments


class Line(NamedTuple):
    """One line of a run; decision None: the run holds none."""

    query: str
    document: str
    score: float
    decision: bool | None = None


IDS = ["a", "b", "B", "aa", "ä", "z9", "10", "9"]
QUERIES = ["q1", "q2", "q10"]
SCORES = [-1.5, 0.0, -0.0, 1.0, 1.0 + 1e-9, 1.0 + 1e-12, 2.0, 1e30]  # some are equal as 32-bit numbers only

pairs = st.tuples(st.sampled_from(QUERIES), st.sampled_from(IDS))
lists = st.lists(pairs, min_size=1, max_size=24, unique=True).flatmap(
    lambda places: st.tuples(
        *[
            st.builds(Line, st.just(query), st.just(document), st.sampled_from(SCORES), st.none())
            for query, document in places
        ]
    )
)


def run_of(lines: Sequence[Line]) -> Run:
    """The run that a file of these lines gives."""
    if lines[0].decision is None:
        texts = [f"{line.query} Q0 {line.document} 0 {line.score!r} t" for line in lines]
    else:
        texts = [f"{line.query}\t{line.document}\t{'Y' if line.decision else 'N'}\t{line.score!r}" for line in lines]
    return read_run(io.BytesIO("\n".join(texts).encode()))


def judgments_of(grades: Mapping[tuple[str, str], int]) -> Judgments:
    """The judgments that a file of (query, document) -> grade gives."""
    texts = [f"{query} 0 {document} {grade}" for (query, document), grade in grades.items()]
    return read_judgments(io.BytesIO("\n".join(texts).encode()))


def subtopics_of(grades: Mapping[tuple[str, str, str], int]) -> SubtopicJudgments:
    """The judgments of subtopics that a file of (query, subtopic, document) -> grade gives."""
    texts = [f"{query} {subtopic} {document} {grade}" for (query, subtopic, document), grade in grades.items()]
    return read_subtopic_judgments(io.BytesIO("\n".join(texts).encode()))


def ranked(lines: Sequence[Line], query: str, compat: int = 10) -> list[Line]:
    """A query's lines: score falling, equal scores by document id falling as bytes."""
    held = np.float32 if compat == 9 else np.float64
    own = [line for line in lines if line.query == query]
    own.sort(key=lambda line: line.document.encode(), reverse=True)
    own.sort(key=lambda line: float(held(line.score)), reverse=True)
    return own
