"""The order of a run: score falling, equal scores by document id falling as bytes. The file's ranks are never used. And
what counts as returned: the one rule for the scorer and for the page that shows a ranked list.

Few documents of a long run are judged, so only their ranks are worked out. Most files come sorted: there a rank is
found by bisection in the scores. For other files only keys of 64 bits are sorted, one a line, not the lines.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from leaderboard.errors import BadInput
from leaderboard.formats import Run, Texts, rising_words
from leaderboard.formats.ids import ODD, SLOT_BITS, slots
from leaderboard.frozen import frozen
from leaderboard.metrics import Bools, Floats, Ints

Scores = NDArray[np.float64] | NDArray[np.float32]
Keys = NDArray[np.uint64]

SIGN = np.uint32(1 << 31)
ALL_BITS = np.uint32(0xFFFFFFFF)
ROWS_AT_ONCE = 1 << 16  # what stays within the processor's cache


class Order(ABC):
    """The order of a run's L lines: by query, then by rank.

    query  uint32[L], the run's query of each line
    score  float64[L] or float32[L] in the order of the file: compatibility 9 holds scores as 32-bit numbers
    start  int64[run queries + 1], where each query's lines start in this order
    """

    def __init__(self, run: Run, score: Scores) -> None:
        self.query = run.query
        self.score = score
        self.start = self._starts(len(run.queries))
        self._document = run.document

    def _starts(self, queries: int) -> Ints:
        return np.concatenate(([0], np.cumsum(np.bincount(self.query, minlength=queries))))

    def rank(self, lines: Ints) -> Ints:
        """int64[n]: the 1-based rank of some lines of the file."""
        first, last = self._equal(lines)
        rank: Ints = first - self.start[self.query[lines]] + 1
        tied = last - first > 1
        if tied.any():
            _, which = np.unique(first[tied], return_index=True)
            tie, others = self._ties(first[tied][which], last[tied][which], lines[tied][which])
            others = self._settled(tie, others)
            tie = np.sort(tie)
            before = np.arange(len(tie)) - np.searchsorted(tie, tie)  # how many lines of its tie come before each
            by_line = np.argsort(others)
            rank[tied] += before[by_line[np.searchsorted(others, lines[tied], sorter=by_line)]]
        return rank

    def ranks(self) -> Ints:
        """int64[L]: the rank at each place."""
        before: Ints = np.repeat(self.start[:-1], np.diff(self.start))
        return np.arange(1, len(self.query) + 1) - before

    @abstractmethod
    def _equal(self, lines: Ints) -> tuple[Ints, Ints]:
        """(first, last), int64[n] each: the places [first, last) where lines of the same query and score as each stand,
        or of a score that is very near.
        """

    @abstractmethod
    def _ties(self, first: Ints, last: Ints, lines: Ints) -> tuple[Ints, Ints]:
        """(tie, line), int64[n] each: every line at the places [first, last), tie by tie; lines: any line of each."""

    @cached_property
    @abstractmethod
    def sorted_lines(self) -> Ints:
        """int64[L]: the line of the file at each place of the order; lines of equal score in any order."""

    @cached_property
    def falling(self) -> Scores:
        """float[L]: the score at each place."""
        return self.score[self.sorted_lines]

    def all_lines(self) -> Ints:
        """int64[L]: the line of the file at each place, ties settled."""
        lines, score = self.sorted_lines.copy(), self.falling
        equal = score[1:] == score[:-1]
        borders = self.start[1:-1]
        equal[borders[(borders > 0) & (borders < len(lines))] - 1] = False
        tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal)) if len(lines) else lines
        lines[tied] = self._settled(np.cumsum(~np.append(False, equal)[tied]), lines[tied])
        return lines

    def _settled(self, tie: Ints, lines: Ints) -> Ints:
        """These lines tie by tie, those of one tie by score and then by document id, both falling."""
        falling = [~word for word in rising_words(self._document.take(lines))]
        return lines[np.lexsort((*reversed(falling), -self.score[lines], tie))]


class InOrder(Order):
    """The file has each query's lines together, scores falling."""

    def _starts(self, queries: int) -> Ints:
        return np.searchsorted(self.query, np.arange(queries + 1, dtype=self.query.dtype))

    def _equal(self, lines: Ints) -> tuple[Ints, Ints]:
        start, end = self.start[self.query[lines]], self.start[self.query[lines] + 1]
        score = self.score[lines]
        first = first_where(lambda row, which: self.score[row] <= score[which], start, end)
        return first, first_where(lambda row, which: self.score[row] < score[which], first, end)

    def _ties(self, first: Ints, last: Ints, lines: Ints) -> tuple[Ints, Ints]:  # noqa: ARG002  # the other order needs it
        return places_in(first, last)

    @cached_property
    def sorted_lines(self) -> Ints:
        return np.arange(len(self.score))

    @cached_property
    def falling(self) -> Scores:
        return self.score


class OutOfOrder(Order):
    """The lines come in any order.

    A line's key is its query and, below that, its score as a 32-bit number, upside down: keys rise where queries rise
    and scores fall. Scores that only differ in 64 bits have one key, and are told apart as ties are.
    """

    @cached_property
    def _key(self) -> Keys:
        """uint64[L]."""
        key = np.empty(len(self.query), np.uint64)
        for start in range(0, len(key), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            key[rows] = self.query[rows]
            key[rows] <<= np.uint64(32)
            key[rows] |= _falling_bits(_in_32_bits(self.score[rows]))
        return key

    def _equal(self, lines: Ints) -> tuple[Ints, Ints]:
        key = self._key[lines]
        rising = np.sort(self._key)
        return np.searchsorted(rising, key, side="left"), np.searchsorted(rising, key, side="right")

    def _ties(self, first: Ints, last: Ints, lines: Ints) -> tuple[Ints, Ints]:  # noqa: ARG002  # the other order needs it
        keys = self._key[lines]  # rising, as `first` does
        taken = np.zeros(1 << SLOT_BITS, np.bool_)  # a small table of hashes passes over most of the other lines
        taken[slots(keys * ODD)] = True
        others = np.flatnonzero(taken[slots(self._key * ODD)])
        others = others[np.isin(self._key[others], keys)]
        return np.searchsorted(keys, self._key[others]), others

    @cached_property
    def sorted_lines(self) -> Ints:
        lines = np.argsort(self._key)
        if self.score.dtype == np.float32:
            return lines
        key, score = self._key[lines], self.score[lines]
        same = key[1:] == key[:-1]
        wrong = same & (score[1:] > score[:-1])
        if wrong.any():
            block = np.cumsum(~np.append(False, same))
            unsettled = np.isin(block, block[1:][wrong])
            lines[unsettled] = lines[unsettled][np.lexsort((-score[unsettled], block[unsettled]))]
        return lines


def order(run: Run, compat: Literal[9, 10] = 10) -> Order:
    """The order of a run's lines under trec_eval's version 10 (64-bit scores) or 9 (32-bit)."""
    query, score = run.query, compared_scores(run.score, compat)
    # Whether the lines come query by query (numbered as they first appear), scores falling.
    if not (query[1:] >= query[:-1]).all():
        return OutOfOrder(run, score)
    rises = np.flatnonzero(score[1:] > score[:-1])
    return InOrder(run, score) if (query[rises] != query[rises + 1]).all() else OutOfOrder(run, score)


def compared_scores(score: Scores, compat: Literal[9, 10]) -> Scores:
    """Scores as trec_eval's version compares them: 10 as 64-bit numbers, 9 as 32-bit ones, float[n]."""
    return score if compat == 10 else _in_32_bits(score)


def _in_32_bits(score: Scores) -> NDArray[np.float32]:
    """float32[n]; a number too large for 32 bits becomes infinite, as in trec_eval 9."""
    with np.errstate(over="ignore"):
        return score.astype(np.float32, copy=False)


def _falling_bits(score: NDArray[np.float32]) -> Keys:
    """uint64[L] below 2^32: the smaller, the larger the score."""
    bits = (score + np.float32(0.0)).view(np.uint32)  # + 0.0 makes -0.0 equal 0.0
    rising = np.where(bits & SIGN, ~bits, bits | SIGN)
    return (ALL_BITS - rising).astype(np.uint64)


@frozen
class RankedLines:
    """A run of L lines as a page shows it: by query and rank.

    start     int64[run queries + 1], where each query's lines start; queries in the order of the run
    query     uint32[L], index into the run's queries
    rank      uint32[L], 1-based
    document  S[L], ids
    score     float64[L], as the file has it
    decision  bool[L]; None where the run holds none
    """

    start: Ints
    query: NDArray[np.uint32]
    rank: NDArray[np.uint32]
    document: Texts
    score: Floats
    decision: Bools | None


def ranked_lines(run: Run, compat: Literal[9, 10] = 10) -> RankedLines:
    """The run's lines by query and rank, ordered as trec_eval's version 10 (64-bit scores) or 9 (32-bit) does.

    Examples
    --------
    >>> import io
    >>> from leaderboard.formats import read_run
    >>> listed = ranked_lines(read_run(io.BytesIO(b"q1 Q0 a 1 0.5 tag\\nq1 Q0 b 2 0.9 tag\\nq1 Q0 c 3 0.5 tag\\n")))
    >>> listed.document.tolist(), listed.rank.tolist()
    ([b'b', b'c', b'a'], [1, 2, 3])
    """
    places = order(run, compat)
    rows = places.all_lines()
    return RankedLines(
        start=places.start,
        query=run.query[rows],
        rank=places.ranks().astype(np.uint32),
        document=run.document.take(rows),
        score=run.score[rows],
        decision=None if run.decision is None else run.decision[rows],
    )


def first_where(holds: Callable[[Ints, Ints], Bools], first: Ints, last: Ints) -> Ints:
    """int64[n]: the first place of each range [first, last) at which `holds` is true; its end where it nowhere is.

    All ranges are searched at once, each by bisection.

    holds  (places, which range each lies in) -> bool[n]; within a range false up to some place and true after it
    """
    low, high = first.copy(), last.copy()
    open_ = np.flatnonzero(low < high)
    while len(open_):
        middle = (low[open_] + high[open_]) // 2
        true = holds(middle, open_)
        high[open_[true]] = middle[true]
        low[open_[~true]] = middle[~true] + 1
        open_ = open_[low[open_] < high[open_]]
    return low


def places_in(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """(range, place), int64[n] each: every place of the ranges [first, last), range after range."""
    length = last - first
    which = np.repeat(np.arange(len(first)), length)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(length) - length, length) + first[which]


ReturnedBy = Literal["decisions", "threshold", "all"]


def returned_by(decision: Bools | None, threshold: float | None) -> ReturnedBy:
    """What decides which documents of a run count as returned: its decisions, else its θ, else all of them do.

    decision: bool[n], True for Y; None for a run without decisions. threshold: θ, None without one.

    >>> returned_by(None, 0.5)
    'threshold'
    >>> returned_by(None, None)
    'all'
    """
    if decision is not None:
        return "decisions"
    return "all" if threshold is None else "threshold"


def returned(
    score: Scores, decision: Bools | None, threshold: float | None = None, compat: Literal[9, 10] = 10
) -> Bools:
    """Which lines of a run count as returned.

    Parameters
    ----------
    score: float64[n], as the file has them.
    decision: bool[n], True for Y; None for a run without decisions.
    threshold: θ; lines with score >= θ are returned. It plays no part where there are decisions.
    compat: trec_eval's version. Under 9 scores and θ are compared as 32-bit numbers.

    Returns
    -------
    bool[n].

    Examples
    --------
    >>> import numpy as np
    >>> returned(np.array([0.9, 0.3]), None, threshold=0.5)
    array([ True, False])
    >>> returned(np.array([0.9, 0.3]), np.array([False, True]), threshold=0.5)
    array([False,  True])
    >>> returned(np.array([0.9, 0.3]), None, threshold=0.3 + 1e-9, compat=9)
    array([ True,  True])
    """
    if decision is not None:
        return decision
    if threshold is None:
        return np.ones(len(score), np.bool_)
    at_least = compared_scores(np.array(threshold, np.float64), compat)
    return np.asarray(compared_scores(score, compat) >= at_least)


def by_one_threshold(score: Scores, decision: Bools | None, compat: Literal[9, 10] = 10) -> bool:
    """Whether a single θ for all queries returns what the run returns: True without decisions of its own.

    score, decision, compat: as `returned` takes them.

    >>> score = np.array([0.9, 0.3, 0.8])
    >>> by_one_threshold(score, np.array([True, False, True])), by_one_threshold(score, np.array([True, True, False]))
    (True, False)
    """
    if decision is None or decision.all() or not decision.any():
        return True
    compared = compared_scores(score, compat)
    return bool(compared[decision].min() > compared[~decision].max())


def require_threshold(threshold: float | None) -> None:
    """Raises BadInput for a θ that is no finite number."""
    if threshold is not None and not math.isfinite(threshold):
        raise BadInput(f"the threshold θ can't be {threshold}; expected a finite number")
