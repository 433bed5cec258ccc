"""What a term is worth in a document: BM25 and tf-idf.

Both add up, over the terms of the query, (weight in the query) · (idf) · (what the document's count makes of it).
"""

import math
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Idf = Literal["lucene", "robertson"]
Number = TypeVar("Number", float, NDArray[np.float64])


class Weighting(Protocol):
    """How a term of the query adds to a document's score.

    Numbers are those of one document (float) or of many at once (float64[n]): `tf`, how often the term stands in it,
    and `length`, how many terms it has; `mean` is the mean length over the collection.
    """

    @property
    def name(self) -> str:
        """What the field calls it."""
        ...

    @property
    def parameters(self) -> str:
        """What its figures depend on, as a person reads it; "" where that is nothing."""
        ...

    def idf(self, df: int, documents: int) -> float:
        """What the term is worth by itself, given in how many of the documents it stands (1 at least)."""
        ...

    def length_part(self, length: Number, mean: float) -> Number:
        """What the document's length does to the count."""
        ...

    def tf_part(self, tf: Number, length: Number, mean: float) -> Number:
        """What the document's count makes of the term."""
        ...

    def in_query(self, qf: int) -> float:
        """What the term weighs that the query has `qf` times."""
        ...


@dataclass(frozen=True, slots=True)
class BM25:
    """BM25: idf · f (k1 + 1) / (f + k1 (1 − b + b · |D| / avgdl)), added up over the query's terms.

    k1       at least 0: how slowly further occurrences lose weight; 0: only whether the term is there counts
    b        0 to 1: how much a document's length counts
    k3       at least 0: a term that the query has qf times weighs (k3 + 1) qf / (k3 + qf); None: it weighs qf
    inverse  which idf of a term that n of N documents have. "robertson": ln((N − n + 0.5) / (n + 0.5)), negative for
             one that more than half of them have, and left so; "lucene": ln(1 + (N − n + 0.5) / (n + 0.5)), never
             negative

    Source: S. E. Robertson, S. Walker and others: Okapi at TREC-3, 1994.
    """

    k1: float = 1.2
    b: float = 0.75
    k3: float | None = None
    inverse: Idf = "lucene"

    @property
    def name(self) -> str:
        return "BM25"

    @property
    def parameters(self) -> str:
        k3 = "" if self.k3 is None else f"k3 = {self.k3:g}, "
        return f"k1 = {self.k1:g}, b = {self.b:g}, {k3}idf = {self.inverse}"

    def idf(self, df: int, documents: int) -> float:
        odds = (documents - df + 0.5) / (df + 0.5)
        return math.log(odds if self.inverse == "robertson" else 1.0 + odds)

    def length_part(self, length: Number, mean: float) -> Number:
        return 1.0 - self.b + self.b * length / mean

    def tf_part(self, tf: Number, length: Number, mean: float) -> Number:
        return tf * (self.k1 + 1.0) / (tf + self.k1 * self.length_part(length, mean))

    def in_query(self, qf: int) -> float:
        return float(qf) if self.k3 is None else (self.k3 + 1.0) * qf / (self.k3 + qf)


@dataclass(frozen=True, slots=True)
class TfIdf:
    """tf-idf: tf = n / |D|, the share of a document's terms that are this one; idf = log2(N / df).

    A document's score is the sum over the query's terms, each as often as the query has it.
    """

    @property
    def name(self) -> str:
        return "tf-idf"

    @property
    def parameters(self) -> str:
        return ""

    def idf(self, df: int, documents: int) -> float:
        return math.log2(documents / df)

    def length_part(self, length: Number, mean: float) -> Number:  # noqa: ARG002  # as Weighting
        return 1.0 / length

    def tf_part(self, tf: Number, length: Number, mean: float) -> Number:  # noqa: ARG002  # as Weighting
        return tf / length

    def in_query(self, qf: int) -> float:
        return float(qf)
