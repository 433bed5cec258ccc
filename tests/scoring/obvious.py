"""Scoring the obvious way: one query after the other, plain Python. What the columnar code must agree with."""

import io
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leaderboard.formats import Judgments, Run, read_judgments, read_run

__all__ = ["Line", "judgments_of", "ranked", "run_of"]


class Line(NamedTuple):
    """One line of a run; decision None: the run holds none."""

    query: str
    document: str
    score: float
    decision: bool | None = None


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


def ranked(lines: Sequence[Line], query: str, compat: int = 10) -> list[Line]:
    """A query's lines: score falling, equal scores by document id falling as bytes."""
    held = np.float32 if compat == 9 else np.float64
    own = [line for line in lines if line.query == query]
    own.sort(key=lambda line: line.document.encode(), reverse=True)
    own.sort(key=lambda line: float(held(line.score)), reverse=True)
    return own
