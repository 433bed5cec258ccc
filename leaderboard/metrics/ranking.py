"""A run joined with its judgments, over all queries at once: what every measure is computed from."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Concatenate, Literal, ParamSpec, TypeVar, cast

import numpy as np

from leaderboard.errors import BadInput
from leaderboard.metrics.segments import Bools, Floats, Ints, count, starts

T = TypeVar("T")
P = ParamSpec("P")

MOST_DOCUMENTS = 2**53  # whole numbers beyond are not exact as float64

NoRelevant = Literal["exclude", "pfa_only", "pmiss_zero"]


def kept(make: Callable[Concatenate["Ranking", P], T]) -> Callable[Concatenate["Ranking", P], T]:
    """A function that is called once for a ranking and each choice of further arguments: measures of one run ask for
    the same intermediate many times."""

    @wraps(make)
    def made_once(ranking: "Ranking", /, *arguments: P.args, **named: P.kwargs) -> T:
        return ranking.keep((make, *arguments, *named.values()), lambda: make(ranking, *arguments, **named))

    return made_once


@dataclass(frozen=True, slots=True)
class Setting:
    """What an evaluation fixes for every run, beside its judgments. Raises BadInput for figures that can't be.

    documents      N_total, documents in the collection; None when unknown (then detection measures can't be computed)
    beta           β of Value = 1 − (P_miss + β · P_fa); None when the campaign states none
    no_relevant    what becomes of a query without relevant documents in the detection measures
    compat         trec_eval's version whose conventions hold: 10 or 9
    highest_grade  the evaluation's highest grade, which ERR asks for; None: the highest judged one
    """

    documents: int | None = None
    beta: float | None = None
    no_relevant: NoRelevant = "exclude"
    compat: Literal[9, 10] = 10
    highest_grade: int | None = None

    def __post_init__(self) -> None:
        if self.documents is not None and not 1 <= self.documents <= MOST_DOCUMENTS:
            raise BadInput(f"the collection can't have {self.documents:,} documents; expected 1 to {MOST_DOCUMENTS:,}")
        if self.beta is not None and not (math.isfinite(self.beta) and self.beta >= 0):
            raise BadInput(f"β can't be {self.beta}; expected a number of at least 0")


@dataclass(frozen=True, eq=False)
class Relevant:
    """The hits with at least one grade, and what binary measures ask of them again and again.

    query   int64[n]    0 .. Q-1, never falling
    rank    int64[n]    1-based, rising within a query
    nth     int64[n]    1 for a query's first relevant hit, 2 for its second ...
    start   int64[Q+1]  query q's relevant hits are start[q] .. start[q + 1] - 1
    judged  int64[Q]    judged relevant documents, retrieved or not: R
    """

    query: Ints
    rank: Ints
    nth: Ints
    start: Ints
    judged: Ints

    @property
    def found(self) -> Ints:
        """int64[Q]: relevant documents retrieved."""
        return np.diff(self.start)

    @cached_property
    def precision(self) -> Floats:
        """float64[n]: precision at the rank of each relevant hit."""
        return self.nth / self.rank

    @cached_property
    def _span(self) -> int:
        """More than any rank, so that query · span + rank sorts as (query, rank) does."""
        return int(self.rank.max(initial=0)) + 1

    @cached_property
    def _place(self) -> Ints:
        return self.query * self._span + self.rank

    def at(self, query: Ints, rank: Ints) -> Ints:
        """int64, for each pair: relevant documents of that query in its top `rank`."""
        last = query * self._span + np.minimum(rank, self._span - 1)
        return np.searchsorted(self._place, last, side="right") - self.start[query]

    def within(self, k: int | Ints) -> Ints:
        """int64[Q]: relevant documents in the top k; k is one number or one for every query."""
        queries = len(self.judged)
        return self.at(np.arange(queries), np.broadcast_to(k, (queries,)))


@dataclass(frozen=True, eq=False)
class Subtopics:
    """The evaluation's judgments of subtopics, T of them: which documents are relevant to which aspect of a query.

    query     int64[T]  0 .. Q-1, never falling
    subtopic  int64[T]  a number of its own for each subtopic of a query
    document  int64[T]  numbered by falling id within a query, never falling, no two queries' documents alike
    grade     int64[T]  as judged
    """

    query: Ints
    subtopic: Ints
    document: Ints
    grade: Ints
    _kept: dict[object, Ints] = field(default_factory=dict, init=False, repr=False)

    def ideal_rank(self, rel: int, alpha: float, depth: int | None) -> Ints:
        """int64[T]: the rank of each judgment's document in the order that gains most at each rank, 0 below `depth`.

        A document gains (1 − alpha)^n for each subtopic that it is relevant to, where n documents before it are too.
        The best order is hard to find, so the document that gains most comes next, the highest id first (as in ndeval).
        """
        key = rel, alpha, depth
        if key not in self._kept:
            ranks = np.zeros(len(self.query), np.int64)
            bounds = np.flatnonzero(np.diff(self.query, prepend=-1, append=-1))
            for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
                ranks[start:end] = self._ideal_rank_of(slice(start, end), rel, alpha, depth)
            self._kept[key] = ranks
        return self._kept[key]

    def _ideal_rank_of(self, rows: slice, rel: int, alpha: float, depth: int | None) -> Ints:
        relevant = self.grade[rows] >= rel
        _, document = np.unique(self.document[rows], return_inverse=True)
        _, subtopic = np.unique(self.subtopic[rows], return_inverse=True)
        about = np.zeros((document.max() + 1, subtopic.max() + 1), np.bool_)
        about[document[relevant], subtopic[relevant]] = True
        gain = np.ones(about.shape[1])
        rank = np.zeros(len(about), np.int64)
        for rank_in_ideal in range(1, min(len(about), depth or len(about)) + 1):
            offered = np.where(rank > 0, -1.0, np.where(about, gain, 0.0).sum(axis=1))
            best = int(np.argmax(offered))  # the first of the best has the highest id
            rank[best] = rank_in_ideal
            gain[about[best]] *= 1.0 - alpha
        return rank[document]


@dataclass(frozen=True, eq=False)
class Ranking:
    """One run's judged documents in rank order, and per query what else the measures ask for.

    Q queries, H hits (retrieved documents that have a judgment), J judgments, L lines of the run on these queries.
    Ranks of unjudged documents are never materialised: a rank between two hits holds
    an unjudged document.

    retrieved     int64[Q]    documents the run lists (0 for a missing query)
    returned      int64[Q]    those that count as returned: decision Y, else score >= θ, else all
    query         int64[H]    0 .. Q-1, never falling
    rank          int64[H]    1-based, rising within a query
    grade         int64[H]    as judged; negative grades are kept (measures decide)
    is_returned   bool[H]
    judged_start  int64[Q+1]  query q's judgments are judged_grade[judged_start[q]:judged_start[q + 1]]
    judged_grade  int64[J]    falling within a query: the ideal order
    setting       what the evaluation fixes
    load_scores   gives float64[L], every line's score in rank order, query after query (query q's lines start at
                  line_start[q]); asked for by sweeps only
    judged_known  bool[J]     this judgment is of a document known to the user; None where the evaluation lists none
    is_known      bool[H]     this hit is known to the user; None likewise
    undefined_without_relevant   ranked and set measures have no value for a query without relevant documents (complete
                  judgments), instead of 0 (pooled ones, as in trec_eval)

    subtopics     the evaluation's T judgments of subtopics, None when it has none
    subtopic_rank int64[T]    the rank of each one's document, 0 where the list lacks it

    """

    retrieved: Ints
    returned: Ints
    query: Ints
    rank: Ints
    grade: Ints
    is_returned: Bools
    judged_start: Ints
    judged_grade: Ints
    load_scores: Callable[[], Floats]
    setting: Setting = field(default_factory=Setting)
    judged_known: Bools | None = None
    is_known: Bools | None = None
    undefined_without_relevant: bool = False
    subtopics: Subtopics | None = None
    subtopic_rank: Ints | None = None
    _kept: dict[object, object] = field(default_factory=dict, init=False, repr=False)

    @property
    def queries(self) -> int:
        return len(self.retrieved)

    @cached_property
    def line_start(self) -> Ints:
        """int64[Q+1]: where each query's lines start among all scores."""
        return np.concatenate(([0], np.cumsum(self.retrieved)))

    @cached_property
    def scores(self) -> Floats:
        """float64[L], every line's score in rank order."""
        return self.load_scores()

    @cached_property
    def highest_grade(self) -> int:
        """The evaluation's highest grade: as its setting has it, else the highest judged; 0 without judgments."""
        stated = self.setting.highest_grade
        return int(self.judged_grade.max(initial=0)) if stated is None else stated

    @cached_property
    def hit_start(self) -> Ints:
        """int64[Q+1]: where each query's hits start."""
        return starts(self.query, self.queries)

    @cached_property
    def judged_query(self) -> Ints:
        """int64[J]: the query of each judgment."""
        return np.repeat(np.arange(self.queries), np.diff(self.judged_start))

    @cached_property
    def judged_place(self) -> Ints:
        """int64[J]: 1 for a query's highest judgment, 2 for the next: the ranks of the ideal order."""
        return np.arange(len(self.judged_grade)) - self.judged_start[self.judged_query] + 1

    def keep(self, key: object, make: Callable[[], T]) -> T:
        """What `make` gives, made once for each key."""
        if key not in self._kept:
            self._kept[key] = make()
        return cast("T", self._kept[key])

    @kept
    def judged_only(self) -> "Ranking":
        """The ranking of the run that is left when all documents without a grade of 0 or more are taken out of its
        lists (trec_eval's -J), made once. For measures of subtopics those without such a grade for a subtopic are.
        """
        hits = np.flatnonzero(self.grade >= 0)
        query = self.query[hits]
        line = self.line_start[query] + self.rank[hits] - 1
        return replace(
            self,
            retrieved=count(query, self.queries),
            returned=count(query[self.is_returned[hits]], self.queries),
            query=query,
            rank=np.arange(1, len(query) + 1) - np.searchsorted(query, query),
            grade=self.grade[hits],
            is_returned=self.is_returned[hits],
            is_known=None if self.is_known is None else self.is_known[hits],
            load_scores=lambda: self.scores[line],
            subtopic_rank=self._rank_among_subtopics(),
        )

    def _rank_among_subtopics(self) -> Ints | None:
        if self.subtopics is None or self.subtopic_rank is None:
            return None
        ranks = np.zeros_like(self.subtopic_rank)
        listed = np.flatnonzero((self.subtopic_rank > 0) & (self.subtopics.grade >= 0))
        query, rank = self.subtopics.query[listed], self.subtopic_rank[listed]
        pairs, each = np.unique(np.stack((query, rank)), axis=1, return_inverse=True)
        ranks[listed] = (np.arange(1, pairs.shape[1] + 1) - np.searchsorted(pairs[0], pairs[0]))[each]
        return ranks

    @kept
    def relevant(self, rel: int = 1) -> Relevant:
        """The hits with grade >= rel, made once for each `rel`."""
        hits = np.flatnonzero(self.grade >= rel)
        query = self.query[hits]
        start = starts(query, self.queries)
        return Relevant(
            query=query,
            rank=self.rank[hits],
            nth=np.arange(len(hits)) - start[query] + 1,
            start=start,
            judged=count(self.judged_query[self.judged_grade >= rel], self.queries),
        )


def graded_lists(
    *lists: Sequence[int | None],
    missed: Sequence[int] = (),
    returned: int | None = None,
    about: Sequence[str] = (),
    setting: Setting | None = None,
) -> Ranking:
    """A small ranking for an example: one list for each query, the grade at each rank, None for an unjudged document.

    missed: grades of further judged documents of every query, which no list has; returned: how many documents at the
    top of each list count as returned (None: all); about: the subtopics, a letter each, that the document at each rank
    of the first list is relevant to. Scores fall by 1 from rank to rank, down to 1.

    >>> ranking = graded_lists([1, None, 0, 2], missed=[1])
    >>> ranking.relevant(1).rank, ranking.relevant(1).judged
    (array([1, 4]), array([3]))
    """
    lengths = np.array([*map(len, lists)], np.int64)
    counted = lengths if returned is None else np.minimum(lengths, returned)
    hits = [(q, rank, g) for q, each in enumerate(lists) for rank, g in enumerate(each, 1) if g is not None]
    query, rank, grade = np.array(hits, np.int64).reshape(-1, 3).T
    judged = [sorted([*(g for g in each if g is not None), *missed], reverse=True) for each in lists]
    aspects = [(rank, ord(letter)) for rank, each in enumerate(about, 1) for letter in each]
    subtopic_rank, subtopic = np.array(aspects, np.int64).reshape(-1, 2).T
    zeros = np.zeros_like(subtopic)
    return Ranking(
        retrieved=lengths,
        returned=counted,
        query=query,
        rank=rank,
        grade=grade,
        is_returned=rank <= counted[query],
        judged_start=np.cumsum([0, *map(len, judged)]),
        judged_grade=np.array([g for each in judged for g in each], np.int64),
        setting=setting or Setting(),
        load_scores=lambda: np.concatenate([np.arange(n, 0, -1, dtype=np.float64) for n in lengths]),
        subtopics=Subtopics(zeros, subtopic, subtopic_rank, zeros + 1) if about else None,
        subtopic_rank=subtopic_rank if about else None,
    )
