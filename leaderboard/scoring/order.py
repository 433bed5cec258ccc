"""The order of a run: score falling, equal scores by document id falling as bytes. The file's ranks are never used."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from leaderboard.formats import Run
from leaderboard.metrics import Ints

__all__ = ["Order", "order", "stretches"]

Scores = NDArray[np.float64] | NDArray[np.float32]

SIGN = np.uint32(1 << 31)
ALL_BITS = np.uint32(0xFFFFFFFF)


@dataclass(frozen=True)
class Order:
    """A run's lines sorted by query and falling score. Lines of equal score are settled only when asked for.

    rows      int64[L], the line of the file at each place; None: the file is in this order already
    score     float64[L] or float32[L] in this order: compatibility 9 holds scores as 32-bit numbers
    start     int64[run queries + 1], where each query's lines start
    document  String[L] in the order of the file
    """

    rows: Ints | None
    score: Scores
    start: Ints
    document: pl.Series

    @cached_property
    def _place(self) -> Ints | None:
        if self.rows is None:
            return None
        place = np.empty_like(self.rows)
        place[self.rows] = np.arange(len(place))
        return place

    def rank(self, query: Ints, lines: Ints) -> Ints:
        """int64[n]: the 1-based rank of some lines of the file, given the run's query of each."""
        place = lines if self._place is None else self._place[lines]
        start, end = self.start[query], self.start[query + 1]
        score = self.score[place]
        first = _search(self.score, score, start, end, after=False)
        last = _search(self.score, score, first, end, after=True)
        rank = first - start + 1
        tied = last - first > 1
        if tied.any():
            rank[tied] += self._places_in_ties(first[tied], last[tied], lines[tied])
        return rank

    def _places_in_ties(self, first: Ints, last: Ints, lines: Ints) -> Ints:
        """int64[n]: how many lines of the same score come before each of these lines; a tie is [first, last)."""
        firsts, which = np.unique(first, return_index=True)
        tie, place = stretches(firsts, last[which])
        settled = self._settled(tie, place)
        order = np.argsort(settled)
        at = order[np.searchsorted(settled, lines, sorter=order)]
        return place[at] - firsts[tie[at]]

    def _settled(self, tie: Ints, place: Ints) -> Ints:
        """The lines at these places, each tie's in order of falling document id. Ties don't mix."""
        lines = place if self.rows is None else self.rows[place]
        frame = pl.DataFrame({"tie": tie, "document": self.document.gather(lines), "line": lines})
        return frame.sort("tie", "document", descending=[False, True])["line"].to_numpy()

    def all_rows(self) -> Ints:
        """int64[L]: the line of the file at each place, every tie settled."""
        rows = np.arange(len(self.score)) if self.rows is None else self.rows.copy()
        equal = self.score[1:] == self.score[:-1]
        equal[self.start[1:-1][(self.start[1:-1] > 0) & (self.start[1:-1] < len(rows))] - 1] = False
        place = np.flatnonzero(np.append(equal, False) | np.append(False, equal)) if len(rows) else rows
        if len(place):
            tie = np.cumsum(~np.append(False, equal)[place])
            rows[place] = self._settled(tie, place)
        return rows


def order(run: Run, compat: Literal[9, 10] = 10) -> Order:
    """The order of a run's lines under trec_eval's version 10 (64-bit scores) or 9 (32-bit)."""
    score: Scores = run.score if compat == 10 else run.score.astype(np.float32)
    start = np.concatenate(([0], np.cumsum(np.bincount(run.query, minlength=len(run.queries)))))
    if _is_ordered(run.query, score):
        return Order(None, score, start, run.document)
    rows = _sorted_rows(run.query, score)
    return Order(rows, score[rows], start, run.document)


def _is_ordered(query: NDArray[np.uint32], score: Scores) -> bool:
    """Whether the lines come query by query (numbered as they first appear), scores falling."""
    if not (query[1:] >= query[:-1]).all():
        return False
    rises = np.flatnonzero(score[1:] > score[:-1])
    return bool((query[rises] != query[rises + 1]).all())


def _sorted_rows(query: NDArray[np.uint32], score: Scores) -> Ints:
    """int64[L]: the lines by query and falling score.

    One sort of 64-bit keys made of the query and the score as a 32-bit number; lines whose scores differ only in
    64 bits are then put right by themselves.
    """
    key = query.astype(np.uint64) << np.uint64(32) | _falling_bits(score.astype(np.float32))
    rows = np.argsort(key)
    if score.dtype == np.float32:
        return rows
    key, exact = key[rows], score[rows]
    same = key[1:] == key[:-1]
    wrong = same & (exact[1:] > exact[:-1])
    if wrong.any():
        block = np.cumsum(~np.append(False, same))
        unsettled = np.isin(block, block[1:][wrong])
        rows[unsettled] = rows[unsettled][np.lexsort((-exact[unsettled], block[unsettled]))]
    return rows


def _falling_bits(score: NDArray[np.float32]) -> NDArray[np.uint64]:
    """uint64[L] below 2^32 that sort the other way round than these numbers."""
    bits = (score + np.float32(0.0)).view(np.uint32)  # + 0.0 makes -0.0 equal 0.0
    rising = np.where(bits & SIGN, ~bits, bits | SIGN)
    return (ALL_BITS - rising).astype(np.uint64)


def _search(falling: Scores, value: Scores, low: Ints, high: Ints, *, after: bool) -> Ints:
    """int64[n]: in each falling stretch [low, high) the place of the first score that is not above `value`.

    after  the place of the first score that is below `value` instead
    """
    low, high = low.copy(), high.copy()
    while (open_ := low < high).any():
        middle = (low + high) // 2
        score = falling[np.minimum(middle, len(falling) - 1)]
        goes_right = open_ & ((score >= value) if after else (score > value))
        low = np.where(goes_right, middle + 1, low)
        high = np.where(open_ & ~goes_right, middle, high)
    return low


def stretches(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """(which stretch, place): every place of the stretches [first, last), one after the other."""
    length = last - first
    stretch = np.repeat(np.arange(len(first)), length)
    return stretch, np.arange(len(stretch)) - np.repeat(np.cumsum(length) - length, length) + first[stretch]
