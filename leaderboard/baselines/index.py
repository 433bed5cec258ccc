"""What a term is worth in a document: BM25 and tf-idf.

Both add up, over the terms of the query, (weight in the query) · (idf) · (what the document's count makes of it).

An inverted index of the terms that the queries have, and the scores of documents by it.

Terms that no query has change no score but through the lengths of documents, and are counted in those only. So the
index of a large collection is small, and one pass over the documents is enough.
"""

import math
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import ClassVar, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from leaderboard.baselines.documents import Document
from leaderboard.baselines.languages import Analyser
from leaderboard.baselines.runs import RankedList, best_first
from leaderboard.errors import BadInput, NotFound
from leaderboard.formats import Ids, Texts
from leaderboard.formats.ids import as_texts, repeated_rows
from leaderboard.formats.plain_text import shown
from leaderboard.frozen import frozen
from leaderboard.metrics import Floats, Ints

Idf = Literal["lucene", "robertson"]
Number = TypeVar("Number", float, NDArray[np.float64])


@frozen
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

    name: ClassVar[str] = "BM25"

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


@frozen
class TfIdf:
    """tf-idf: tf = n / |D|, the share of a document's terms that are this one; idf = log2(N / df).

    A document's score is the sum over the query's terms, each as often as the query has it.
    """

    name: ClassVar[str] = "tf-idf"
    parameters: ClassVar[str] = ""

    def idf(self, df: int, documents: int) -> float:
        return math.log2(documents / df)

    def length_part(self, length: Number, mean: float) -> Number:  # noqa: ARG002  # as BM25
        return 1.0 / length

    def tf_part(self, tf: Number, length: Number, mean: float) -> Number:  # noqa: ARG002  # as BM25
        return tf / length

    def in_query(self, qf: int) -> float:
        return float(qf)


# How a term of the query adds to a document's score. Numbers are those of one document (float) or of many at once
# (float64[n]): `tf`, how often the term stands in it, and `length`, how many terms it has; `mean` is the mean length
# over the collection, `df` in how many documents the term stands (1 at least), `qf` how often in the query.
Weighting = BM25 | TfIdf


Numbers = NDArray[np.int32]

WORDS_AT_ONCE = 1 << 20  # that become postings together
MOST_WORDS = 1 << 21  # that a vocabulary remembers: a few hundred megabytes


class _Vocabulary(dict[str, int]):
    """Word -> the number of its term; `others` of a term that no query has, `others` + 1 of a stop word.

    It is filled as words are asked for, so that each is looked up and stemmed once.
    """

    def __init__(self, analyser: Analyser, terms: dict[str, int]) -> None:
        super().__init__()
        self._term, self._numbers, self.others = analyser.term, terms, len(terms)

    def __missing__(self, word: str) -> int:
        term = self._term(word)
        number = self.others + 1 if term is None else self._numbers.get(term, self.others)
        if len(self) >= MOST_WORDS:
            self.clear()
        self[word] = number
        return number


@dataclass(frozen=True, eq=False)
class Index:
    """Where the terms of the queries stand, in a collection of N documents.

    analyser  what made terms of text
    terms     term -> its number, T of them
    ids       N document ids, in the order in which they were read
    length    int32[N], how many terms each document has: all of its words but stop words
    start     int64[T + 1]: term t's postings are start[t] .. start[t + 1] − 1
    document  int32[P], numbers of documents, rising within a term
    tf        int32[P], how often the term stands there
    """

    analyser: Analyser
    terms: dict[str, int]
    ids: Ids
    length: Numbers
    start: Ints
    document: Numbers
    tf: Numbers

    @property
    def documents(self) -> int:
        return len(self.length)

    @cached_property
    def mean_length(self) -> float:
        """avgdl, the mean number of terms of a document."""
        return int(self.length.sum(dtype=np.int64)) / self.documents

    def postings_of(self, term: int) -> slice:
        return slice(int(self.start[term]), int(self.start[term + 1]))

    def number_of(self, document: str) -> int:
        """The number of a document. Raises NotFound."""
        try:
            return self.ids.to_list().index(document)
        except ValueError:
            raise NotFound(f"there is no document {document!r} in the collection") from None


class IndexBuilder:
    """Takes documents one by one and makes an Index of them."""

    def __init__(self, analyser: Analyser, queries: Iterable[str]) -> None:
        """queries: the texts whose terms are indexed."""
        terms = dict.fromkeys(term for query in queries for term in analyser.terms(query))
        self._analyser = analyser
        self._terms = {term: number for number, term in enumerate(terms)}
        self._vocabulary = _Vocabulary(analyser, self._terms)
        self._ids: list[str] = []  # of the documents gathered
        self._finished = 0  # documents before them
        self._numbers = array("i")  # of the words gathered, document after document
        self._counts = array("q")  # how many words each document has
        self._known: list[Texts] = []
        self._lengths: list[Numbers] = []
        # Postings by term and document: numbers of both, and how often the one stands in the other, int32[n] each.
        self._blocks: list[tuple[Numbers, Numbers, Numbers]] = []

    def add_all(self, documents: Iterable[Document]) -> None:
        """Takes the documents of one file."""
        for document in documents:
            words = self._analyser.words(document.text)
            self._numbers.extend(map(self._vocabulary.__getitem__, words))
            self._counts.append(len(words))
            self._ids.append(document.id)
            if len(self._numbers) > WORDS_AT_ONCE:
                self._finish_block()

    def _finish_block(self) -> None:
        """Makes postings of the words gathered."""
        if not self._ids:
            return
        number = np.array(self._numbers, np.int32)
        documents = len(self._counts)
        document = np.repeat(np.arange(documents), np.frombuffer(self._counts, np.int64))
        others = self._vocabulary.others
        self._lengths.append(np.bincount(document[number <= others], minlength=documents).astype(np.int32))
        wanted = number < others
        pair, tf = np.unique(number[wanted].astype(np.int64) * documents + document[wanted], return_counts=True)
        term, position = np.divmod(pair, documents)
        position += self._finished
        self._blocks.append((term.astype(np.int32), position.astype(np.int32), tf.astype(np.int32)))
        self._finished += documents
        self._known.append(as_texts(self._ids))
        self._numbers, self._counts, self._ids = array("i"), array("q"), []

    def index(self) -> Index:
        """The index of all documents taken.

        Raises BadInput where two have one id, and where none has a term.
        """
        self._finish_block()
        ids = Ids(self._known)
        if len(again := repeated_rows(np.zeros(len(ids), np.uint32), ids)[0]):
            more = f", as are {len(again) - 1:,} more" if len(again) > 1 else ""
            raise BadInput(f"document {shown(ids.take(again[:1])[0].decode())} is there twice{more}")
        length = np.concatenate([np.empty(0, np.int32), *self._lengths])
        if not length.any():
            raise BadInput("no document has a single word that is no stop word; is it text of another kind?")
        start = np.zeros(len(self._terms) + 1, np.int64)
        for term, _, _ in self._blocks:
            start[1:] += np.bincount(term, minlength=len(self._terms))
        np.cumsum(start, out=start)
        document, tf = np.empty(start[-1], np.int32), np.empty(start[-1], np.int32)
        free = start[:-1].copy()
        self._blocks.reverse()
        while self._blocks:  # each is given up as soon as it is in its place
            term, documents, counts = self._blocks.pop()
            count = np.bincount(term, minlength=len(self._terms))
            slot = np.repeat(free - np.cumsum(count) + count, count) + np.arange(len(term))
            document[slot], tf[slot] = documents, counts
            free += count
        return Index(self._analyser, self._terms, ids, length, start, document, tf)


class Share(NamedTuple):
    """What one term of a query adds to a document's score: share = weight · idf · tf_part.

    qf, tf   how often the query and the document have it
    df       how many documents have it
    weight   what its occurrences in the query count
    tf_part  what its occurrences in the document count, the document's length taken into account
    """

    term: str
    qf: int
    tf: int
    df: int
    weight: float
    idf: float
    tf_part: float
    share: float


@frozen
class Explained:
    """A document's score for a query, term by term.

    score        the sum of the shares, in their order; None where the document has no term of the query: then it is in
                 no list
    length       how many terms the document has
    length_part  what that does to every count
    """

    shares: tuple[Share, ...]
    score: float | None
    length: int
    length_part: float


class Weights:
    """An index with every posting weighted: idf · tf_part.

    weight  float64[P], beside the index's postings
    """

    def __init__(self, index: Index, weighting: Weighting) -> None:
        self.index = index
        self.weighting = weighting
        self.df = np.diff(index.start)
        self.idf = [weighting.idf(df, index.documents) if df else 0.0 for df in self.df.tolist()]
        self.weight = np.empty(len(index.document))
        mean = index.mean_length
        for term, idf in enumerate(self.idf):
            at = index.postings_of(term)
            length = index.length[index.document[at]].astype(np.float64)
            self.weight[at] = idf * weighting.tf_part(index.tf[at].astype(np.float64), length, mean)

    def scores(self, query: str) -> tuple[Ints, Floats]:
        """(int64[n], float64[n]): the documents with at least one term of the query, by number, and their scores.

        Shares are added up term by term as the query has them first, so that a score has the same digits everywhere.
        """
        index = self.index
        wanted = [(index.terms[term], qf) for term, qf in Counter(index.analyser.terms(query)).items()]
        postings = [(index.postings_of(term), self.weighting.in_query(qf)) for term, qf in wanted if self.df[term]]
        if not postings:
            return np.empty(0, np.int64), np.empty(0)
        documents = np.concatenate([index.document[at] for at, _ in postings])
        shares = np.concatenate([weight * self.weight[at] for at, weight in postings])
        total = np.bincount(documents, shares, index.documents).astype(np.float64, copy=False)
        is_found = np.zeros(index.documents, np.bool_)
        is_found[documents] = True
        which = np.flatnonzero(is_found)
        return which, total[which]

    def answer(self, query: str, text: str, depth: int) -> RankedList:
        """The `depth` best documents for a query, given its id and text."""
        documents, score = self.scores(text)
        return best_first(query, score, lambda places: self.index.ids.take(documents[places]), depth)

    def explain(self, query: str, document: str) -> Explained:
        """What each term of the query adds to the document's score. Raises NotFound for a document that is not there.

        A term that no document has comes with zeros.
        """
        index, number = self.index, self.index.number_of(document)
        length = int(index.length[number])
        shares = []
        for term, qf in Counter(index.analyser.terms(query)).items():
            of_term = index.terms[term]
            at = index.postings_of(of_term)
            at_document = at.start + int(np.searchsorted(index.document[at], number))
            is_there = at_document < at.stop and index.document[at_document] == number
            tf = int(index.tf[at_document]) if is_there else 0
            weight, idf = self.weighting.in_query(qf), self.idf[of_term]
            part = self.weighting.tf_part(float(tf), float(length), index.mean_length) if tf else 0.0
            share = weight * float(self.weight[at_document]) if tf else 0.0
            shares.append(Share(term, qf, tf, int(self.df[of_term]), weight, idf, part, share))
        score = reduce(add, (each.share for each in shares if each.tf), 0.0)
        length_part = self.weighting.length_part(float(length), index.mean_length) if length else 0.0
        return Explained(tuple(shares), score if any(each.tf for each in shares) else None, length, length_part)
