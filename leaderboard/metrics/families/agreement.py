"""Agreement between two rankings, of two runs on a query or of two leaderboards, with the name of each measure.

Each function takes two arrays of item ids in rank order. Where items may tie (systems with equal means), `scores` holds
the score of each item, in the same order, for both lists.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.measure import AGREEMENT, Parameter, fraction, measured
from leaderboard.metrics.segments import Bools, Floats, Ints

Items = NDArray[Any]
Scores = tuple[Floats, Floats]


class Agreed(NamedTuple):
    """value: the agreement, NaN when undefined. items: how many items it was computed over."""

    value: float
    items: int


def common(first: Items, second: Items, cutoff: int | None, scores: Scores | None) -> tuple[Floats, Floats]:
    """The places of the items in both lists, in the order of the first list; from scores, equal scores place equal."""
    first, second = np.asarray(first)[:cutoff], np.asarray(second)[:cutoff]
    _, here, there = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    order = np.argsort(here)
    here, there = here[order], there[order]
    if scores is None:
        return here.astype(np.float64), there.astype(np.float64)
    return -np.asarray(scores[0], dtype=np.float64)[here], -np.asarray(scores[1], dtype=np.float64)[there]


class Pairs(NamedTuple):
    """How many pairs of items two orders put in the same order, how many in the other, and how many tie in the first,
    in the second, and in both; a pair that is tied in either is neither concordant nor discordant."""

    concordant: int
    discordant: int
    tied_first: int
    tied_second: int
    tied_both: int


def pairs(x: Floats | Ints, y: Floats | Ints) -> Pairs:
    """Of the items with these places in two orders."""
    order = np.lexsort((y, x))  # of those that tie in x the lower y first, so that no such pair is out of order
    x, y = x[order], y[order]
    discordant, rises = int(larger_before(y).sum()), np.sort(y)
    changes = x[1:] != x[:-1]
    tied_x, tied_y = tied_pairs(changes), tied_pairs(rises[1:] != rises[:-1])
    tied_both = tied_pairs(changes | (y[1:] != y[:-1]))
    return Pairs(math.comb(len(x), 2) - tied_x - tied_y + tied_both - discordant, discordant, tied_x, tied_y, tied_both)


def tied_pairs(changes: Bools) -> int:
    """How many pairs are equal in a sorted list, given of each but the first whether it differs from the one before."""
    sizes = np.diff(np.flatnonzero(np.concatenate([[True], changes, [True]])))
    return int((sizes * (sizes - 1) // 2).sum())


def larger_before(values: Floats | Ints) -> Ints:
    """How many values before each one are larger than it.

    By the bits of their ranks, from the highest: values that have all higher bits in common stand together, in their
    order; where the next bit of one is 0, those before it in whose it is 1 are larger, and all others are settled
    before or after.

    >>> larger_before(np.array([3.0, 1.0, 2.0, 1.0])).tolist()
    [0, 1, 1, 2]
    """
    ranks = np.unique(values, return_inverse=True)[1]
    larger = np.zeros(len(ranks), dtype=np.int64)
    order = np.arange(len(ranks))
    for bit in reversed(range(int(ranks.max(initial=0)).bit_length())):
        together = ranks[order] >> (bit + 1)
        is_one = (ranks[order] >> bit) & 1
        before = np.cumsum(is_one) - is_one
        before -= before[np.searchsorted(together, together)]
        larger[order] += np.where(is_one, 0, before)
        order = order[np.argsort(2 * together + is_one, kind="stable")]
    return larger


DEPTH = Parameter("cutoff", "int", "only the first k ranks of either list count", low=1)


agreement = partial(measured, AGREEMENT)
correlation = partial(agreement, span=(-1.0, 1.0), unit="correlation")


@agreement("KendallDistance", "Kendall distance at k", direction="lower", cutoff=DEPTH)
def kendall_distance(first: Items, second: Items, cutoff: int | None = None) -> Agreed:
    """The share of the pairs of common items that the two lists put in different order.

    Formula: KendallDistance@k = D / (n · (n − 1) / 2)
    Symbols: n items are in both lists; C and D are the numbers of their pairs in the same and in the other order.
    Range: 0 to 1: 0 the same order, 1 reversed
    Ties: Items in rank order have none; equal scores, where scores are given, tie.
    No relevant document: Judgments play no part.
    Missing query: Undefined below two common items; their number is given beside it.
    Cutoff beyond the list: Only items in both top k lists count.
    Unjudged documents: Judgments play no part.
    trec_eval and ir_measures: Neither has it.
    Source: R. Fagin, R. Kumar, D. Sivakumar: Comparing top k lists, SIAM Journal on Discrete Mathematics 17, 2003

    Discordant pairs / all pairs of the items in both (top k) lists: 0 same order, 1 reversed.

    >>> first, second = np.array(["a", "b", "c", "d"]), np.array(["b", "a", "c", "e"])
    >>> agreed = kendall_distance(first, second)
    >>> round(agreed.value, 4), agreed.items
    (0.3333, 3)
    """
    x, y = common(first, second, cutoff, None)
    n = len(x)
    return Agreed(pairs(x, y).discordant / (n * (n - 1) / 2) if n > 1 else math.nan, n)


@agreement(
    "FaginKendall",
    "Kendall distance of top lists",
    fraction("p", 0.5, "what a pair counts that only one list holds"),
    cutoff=DEPTH,
    direction="lower",
)
def fagin_kendall(first: Items, second: Items, p: float = 0.5, cutoff: int | None = None) -> Agreed:
    """How far two top lists are apart, items in one of them only included, as a share of what is possible.

    Formula: FaginKendall@k = (D + A + |F| · |S| + p · (C(|F|) + C(|S|))) / (m · n + p · (C(m) + C(n)))
    Symbols: m and n are the lengths of the lists; F and S are the items in the first only and in the second only;
        C(x) = x · (x − 1) / 2 counts the pairs of x items. D pairs of common items stand in different order. A pairs
        stand in one list with the item first that the other list lacks. Pairs that only one list has count p.
    Range: 0 to 1: 0 the same list, 1 nothing in common
    Ties: Items in rank order have none.
    No relevant document: Judgments play no part.
    Missing query: Undefined for two empty lists.
    Cutoff beyond the list: Without one, whole lists count. A list shorter than k is taken as it is.
    Unjudged documents: Judgments play no part.
    trec_eval and ir_measures: Neither has it.
    Source: R. Fagin, R. Kumar, D. Sivakumar: Comparing top k lists, SIAM Journal on Discrete Mathematics 17, 2003

    (value in [0, 1], items in either list); NaN where no pair counts. p in [0, 1].

    >>> fagin_kendall(np.array(["a", "b"]), np.array(["c", "d"]))
    Agreed(value=1.0, items=4)
    """
    first, second = np.asarray(first)[:cutoff], np.asarray(second)[:cutoff]
    x, y = common(first, second, None, None)
    alone = [len(each) - len(x) for each in (first, second)]
    # Places are 0-based: an item at place i that is the j-th of the common ones has i − j others before it.
    ahead = sum(float(np.sum(np.sort(places) - np.arange(len(places)))) for places in (x, y))
    apart = pairs(x, y).discordant + ahead + alone[0] * alone[1] + p * sum(n * (n - 1) / 2 for n in alone)
    lengths = len(first), len(second)
    most = lengths[0] * lengths[1] + p * sum(n * (n - 1) / 2 for n in lengths)
    return Agreed(apart / most if most else math.nan, len(x) + sum(alone))


@correlation("KendallTau", "Kendall's τ-b")
def kendall_tau(first: Items, second: Items, scores: Scores | None = None) -> Agreed:
    """Pairs in the same order less pairs in the other, corrected for ties.

    Formula: KendallTau = (C − D) / sqrt((N − T_x) · (N − T_y))
    Symbols: n items are in both lists; C and D are the numbers of their pairs in the same and in the other order. N is
        the number of all pairs, T_x and T_y those that are tied in either list.
    Range: −1 to 1: 1 the same order, −1 reversed
    Ties: Items in rank order have none; equal scores, where scores are given, tie.
    No relevant document: Judgments play no part.
    Missing query: Undefined below two common items; their number is given beside it.
    Cutoff beyond the list: It takes no cutoff: all common items count.
    Unjudged documents: Judgments play no part.
    trec_eval and ir_measures: Neither has it.
    Source: M. G. Kendall: Rank Correlation Methods, 4th edition, Griffin, 1970

    tau-b of the items in both lists, in [−1, 1]; undefined below 2 items or where one list ties them all.

    >>> first, second = np.array(["a", "b", "c", "d"]), np.array(["b", "a", "c", "e"])
    >>> agreed = kendall_tau(first, second)
    >>> round(agreed.value, 4), agreed.items
    (0.3333, 3)
    """
    x, y = common(first, second, None, scores)
    return Agreed(tau_b(pairs(x, y)), len(x))


def tau_b(pairs: Pairs) -> float:
    """Kendall's τ of two orders with ties, given their `pairs`; NaN where it is undefined."""
    every = pairs.concordant + pairs.discordant + pairs.tied_first + pairs.tied_second - pairs.tied_both
    product = (every - pairs.tied_first) * (every - pairs.tied_second)
    return (pairs.concordant - pairs.discordant) / math.sqrt(product) if product else math.nan


@correlation("SpearmanRho", "Spearman's ρ", cutoff=DEPTH)
def spearman_rho(first: Items, second: Items, cutoff: int | None = None, scores: Scores | None = None) -> Agreed:
    """The correlation of the ranks that the common items have among themselves.

    Formula: SpearmanRho = cov(x, y) / (σ_x · σ_y)
    Symbols: x and y are the ranks of the common items in the two lists, tied ones at their average rank.
    Range: −1 to 1: 1 the same order, −1 reversed
    Ties: Items in rank order have none; equal scores, where scores are given, tie.
    No relevant document: Judgments play no part.
    Missing query: Undefined below two common items; their number is given beside it.
    Cutoff beyond the list: With a cutoff only items in both top k lists count.
    Unjudged documents: Judgments play no part.
    trec_eval and ir_measures: Neither has it.
    Source: C. Spearman: The proof and measurement of association between two things, 1904

    Pearson correlation of the ranks among the items in both lists, tied ones at their average rank; in [−1, 1].

    >>> first, second = np.array(["a", "b", "c", "d"]), np.array(["b", "a", "c", "e"])
    >>> agreed = spearman_rho(first, second)
    >>> round(agreed.value, 4), agreed.items
    (0.5, 3)
    """
    x, y = (average_ranks(each) for each in common(first, second, cutoff, scores))
    dx, dy = x - x.mean() if len(x) else x, y - y.mean() if len(y) else y
    spread = math.sqrt(float(dx @ dx) * float(dy @ dy))
    return Agreed(float(dx @ dy) / spread if spread else math.nan, len(x))


def average_ranks(x: Floats) -> Floats:
    """1 for the smallest; equal values share the mean of their ranks."""
    _, group, sizes = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    return np.asarray((last - (sizes - 1) / 2.0)[group], dtype=np.float64)


@agreement(
    "RBO",
    "Rank-biased overlap",
    Parameter("p", "float", "the probability of looking one rank deeper", 0.9, low=0.01, high=0.9999),
)
def rank_biased_overlap(first: Items, second: Items, p: float = 0.9) -> Agreed:
    """How much the two lists share at each depth, the top weighted most; extrapolated beyond what is seen.

    Formula: RBO = ((1 − p) / p) · sum_{d=1}^{∞} (X_d / d) · p^d
    Symbols: X_d is the number of items in both lists down to depth d; p (default 0.9) says how deep one looks.
    Range: 0 to 1: 1 the same list, 0 nothing in common
    Ties: Items in rank order have none; equal scores, where scores are given, tie.
    No relevant document: Judgments play no part.
    Missing query: Undefined for two empty lists; 0 where one is empty.
    Cutoff beyond the list: It takes no cutoff: overlap beyond the lists is taken to go on as at their end.
    Unjudged documents: Judgments play no part.
    trec_eval and ir_measures: Neither has it.
    Source: W. Webber, A. Moffat, J. Zobel: A Similarity Measure for Indefinite Rankings, ACM TOIS 28 (4), 2010

    RBO, extrapolated from lists that may differ in length, in [0, 1]; undefined for two empty lists.

    >>> first, second = np.array(["a", "b", "c", "d"]), np.array(["b", "a", "c", "e"])
    >>> agreed = rank_biased_overlap(first, second)
    >>> round(agreed.value, 4), agreed.items
    (0.7177, 3)
    """
    short, long = sorted((np.asarray(first), np.asarray(second)), key=len)
    s, n = len(short), len(long)
    if not n:
        return Agreed(math.nan, 0)
    _, here, there = np.intersect1d(short, long, assume_unique=True, return_indices=True)
    if not s:
        return Agreed(0.0, 0)
    depth = np.arange(1, n + 1)
    # An item is in both lists from the deeper of its two places on.
    overlap = np.cumsum(np.bincount(np.maximum(here, there), minlength=n))
    weight = p**depth
    beyond = depth[s:]
    agreement = float(np.sum(overlap / depth * weight))
    unseen = float(np.sum(overlap[s - 1] * (beyond - s) / (s * beyond) * weight[s:]))
    tail = (overlap[-1] - overlap[s - 1]) / n + overlap[s - 1] / s
    return Agreed(float((1 - p) / p * (agreement + unseen) + tail * p**n), len(here))


@correlation("TauAP", "AP correlation")
def tau_ap(first: Items, second: Items) -> Agreed:
    """Like Kendall's τ, but errors near the top of the second list cost most; the first list is the reference.

    Formula: TauAP = (2 / (n − 1)) · sum_{i=2}^{n} (C_i / (i − 1)) − 1
    Symbols: C_i of the items above rank i of the second list stand above that item in the first list too.
    Range: −1 to 1: 1 the same order, −1 reversed
    Ties: Items in rank order have none.
    No relevant document: Judgments play no part.
    Missing query: Undefined below two common items; their number is given beside it.
    Cutoff beyond the list: It takes no cutoff: all common items count.
    Unjudged documents: Judgments play no part.
    trec_eval and ir_measures: Neither has it.
    Source: E. Yilmaz, J. A. Aslam, S. Robertson: A New Rank Correlation Coefficient for IR, SIGIR 2008

    AP correlation of the second list with the first, the reference, over the items in both; in [−1, 1].

    Errors near the top of the second list cost most.

    >>> first, second = np.array(["a", "b", "c", "d"]), np.array(["b", "a", "c", "e"])
    >>> agreed = tau_ap(first, second)
    >>> round(agreed.value, 4), agreed.items
    (0.0, 3)
    """
    reference, order = common(first, second, None, None)
    return Agreed(tau_ap_of(reference[np.argsort(order)]), len(order))


def tau_ap_of(places: Floats | Ints) -> float:
    """The same of all items, given their places in the first list, none of which is another's, in the order of the
    second."""
    n = len(places)
    if n < 2:
        return math.nan
    above = (np.arange(n) - larger_before(places))[1:]
    return float(2.0 * np.mean(above / np.arange(1, n)) - 1.0)
