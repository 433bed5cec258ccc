"""What a set of queries can tell: the smallest difference of two means that it finds, and the queries that one needs.

Both are of the two-sided paired t test, through the noncentral t distribution: with n queries and differences of mean δ
and standard deviation σ between two systems, t has n − 1 degrees of freedom and noncentrality √n · δ / σ. σ is taken
from the differences at hand, as if it were known, and a mean of n differences is taken to be normally distributed.

Sources: T. Sakai, Topic Set Size Design, Information Retrieval Journal 19, 2016; J. Cohen, Statistical Power Analysis
for the Behavioral Sciences, 1988.
"""

import math
from dataclasses import dataclass

import numpy as np

from leaderboard.errors import BadInput
from leaderboard.metrics.segments import Bools, Floats
from leaderboard.statistics.defaults import LEAST_QUERIES

POWER = 0.8  # the field's convention (Cohen): a difference that is there is missed one time in five
SIGNIFICANCE = 0.05
MOST_QUERIES = 1_000_000  # no campaign has more: beyond them the answer is "none"
NO_DIFFERENCE = 1e-6  # standard deviations of a pair's values: below that their differences are rounding

TOO_FEW = f"fewer than {LEAST_QUERIES} queries"
ALL_EQUAL = "the systems differ on no query, or by the same amount on all"


@dataclass(frozen=True, slots=True)
class Detectable:
    """What a set of queries can tell of two systems.

    queries     in the set
    deviation   standard deviation of the difference of two systems from query to query, in the measure's unit; the
                median where `pairs` is more than 1
    pairs       of systems that it is taken from
    difference  of two means that a paired t test finds with probability POWER at SIGNIFICANCE; None where that can't be
                said, and `reason` says why
    smaller     half of it, to one significant digit: an example of what takes more queries
    queries_for_smaller   how many find that one; None for more than MOST_QUERIES
    """

    queries: int
    deviation: float | None
    pairs: int
    difference: float | None
    smaller: float | None
    queries_for_smaller: int | None
    reason: str | None = None


def power(effect: float, queries: int, *, significance: float = SIGNIFICANCE) -> float:
    """The probability that the two-sided paired t test finds a difference of `effect` standard deviations, in [0, 1].

    effect: the mean of the differences over their standard deviation, either sign; queries: at least 2. Raises BadInput
    for fewer, and for a significance level outside (0, 1).

    >>> round(power(0.5, 34), 3)  # Cohen's tables: 34 queries find half a standard deviation with .8
    0.808
    """
    if queries < 2:
        raise BadInput(f"a t test needs at least 2 queries; this asks for {queries}")
    if not 0 < significance < 1:
        raise BadInput(f"a significance level lies between 0 and 1, like 0.05; this one is {significance}")
    from scipy import special  # here, because importing it takes longer than most commands run

    freedom, noncentrality = queries - 1, math.sqrt(queries) * abs(effect)
    critical = -special.stdtrit(freedom, significance / 2)
    missed, wrong_side = special.nctdtr(freedom, noncentrality, (critical, -critical))
    # Where such a probability is below some 1e-15, because the effect is large, scipy gives NaN for it.
    missed, wrong_side = (0.0 if math.isnan(share) else float(share) for share in (missed, wrong_side))
    return min(1.0, max(0.0, 1.0 - missed + wrong_side))


def queries_needed(effect: float, *, wanted: float = POWER, significance: float = SIGNIFICANCE) -> int | None:
    """The fewest queries that find a difference of `effect` standard deviations with probability `wanted`, at least 2.

    None when more than MOST_QUERIES would be needed, as for an effect of 0. Raises BadInput for a probability outside
    (significance, 1), and as `power` does.

    >>> [queries_needed(effect) for effect in (0.2, 0.5, 0.8)]
    [199, 34, 15]
    """
    _check_wanted(wanted, significance)
    if power(effect, MOST_QUERIES, significance=significance) < wanted:
        return None
    low, high = 1, 2  # `low` are too few; `high` will be enough
    while power(effect, high, significance=significance) < wanted:
        low, high = high, min(2 * high, MOST_QUERIES)
    while high - low > 1:
        middle = (low + high) // 2
        if power(effect, middle, significance=significance) < wanted:
            low = middle
        else:
            high = middle
    return high


def smallest_effect(queries: int, *, wanted: float = POWER, significance: float = SIGNIFICANCE) -> float:
    """The smallest mean difference, in standard deviations of the differences, found with probability `wanted`.

    queries: at least 2. Raises BadInput as `power` and `queries_needed` do.

    >>> round(smallest_effect(50), 4)
    0.4042
    """
    _check_wanted(wanted, significance)
    high = 1.0
    while power(high, queries, significance=significance) < wanted:
        high *= 2
    from scipy import optimize  # here, because importing it takes longer than most commands run

    return float(optimize.brentq(lambda effect: power(effect, queries, significance=significance) - wanted, 0.0, high))


def detectable(differences: Floats) -> Detectable:
    """What the queries can tell of one pair of systems.

    differences: float64[Q], first − second (their `contributions`), NaN where one has no value.

    >>> import numpy as np
    >>> found = detectable(np.array([0.1, -0.1] * 25))
    >>> round(found.difference, 4), found.smaller, found.queries_for_smaller
    (0.0408, 0.02, 203)
    """
    own = differences[~np.isnan(differences)]
    scale = float(np.abs(own).max(initial=0.0))
    deviation = float(np.std(own, ddof=1)) if len(own) > 1 else 0.0
    return _detectable(len(own), deviation if deviation > NO_DIFFERENCE * scale else 0.0, 1)


def detectable_by_pairs(values: Floats) -> Detectable:
    """What the queries can tell of two systems of a board: the median over the pairs that are hard to tell apart.

    values: float64[Q, S], each system's `contributions`, best system first, NaN where a query has no value.

    A pair is hard to tell apart when a t test of its own, uncorrected, does not find it at SIGNIFICANCE; where the test
    finds every pair, neighbours on the board stand for them. Pairs that are far apart don't count, because nobody asks
    how many queries it takes to tell them apart, and because one disastrous run, whose values differ from everybody's
    by far, is then without a say. Nor do pairs without a difference, such as a run submitted twice.

    >>> import numpy as np
    >>> close, far = np.tile([0.5, 0.6], 25), np.full(50, 0.01)
    >>> found = detectable_by_pairs(np.stack([close, close[::-1], far], axis=1))
    >>> found.pairs, round(found.deviation, 3), round(found.difference, 3)
    (1, 0.101, 0.041)
    """
    systems = values.shape[1]
    counts, means, deviations = _of_pairs(values)
    upper = np.triu(np.ones((systems, systems), dtype=bool), 1)
    usable = upper & (counts >= LEAST_QUERIES) & (deviations > 0)
    chosen = usable & ~_found_by_t(counts, means, deviations)
    if not chosen.any():
        chosen = usable & np.eye(systems, k=1, dtype=bool)
    if not chosen.any():
        most = int(counts[upper].max(initial=0))
        return _detectable(most, 0.0, int(np.count_nonzero(upper)))
    queries = int(np.median(counts[chosen]))
    return _detectable(queries, float(np.median(deviations[chosen])), int(np.count_nonzero(chosen)))


def _detectable(queries: int, deviation: float, pairs: int) -> Detectable:
    if queries < LEAST_QUERIES:
        return Detectable(queries, None, pairs, None, None, None, TOO_FEW)
    if deviation == 0:
        return Detectable(queries, 0.0, pairs, None, None, None, ALL_EQUAL)
    difference = smallest_effect(queries) * deviation
    smaller = float(f"{difference / 2:.0e}")
    return Detectable(queries, deviation, pairs, difference, smaller, queries_needed(smaller / deviation))


def _of_pairs(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Of every pair, float64[S, S] each: queries with a value for both, mean and standard deviation of the difference.

    By matrix products, because a board of 500 systems has 125,000 pairs. A deviation that is only rounding is 0.
    """
    defined = ~np.isnan(values)
    there = defined.astype(np.float64)
    centre = np.where(defined, values, 0.0).sum(axis=0) / np.maximum(1.0, there.sum(axis=0))
    centred = np.where(defined, values - centre, 0.0)
    counts = there.T @ there
    sums, squares = centred.T @ there, (centred**2).T @ there
    size = np.maximum(1.0, counts)
    centred_means = (sums - sums.T) / size
    spread = squares + squares.T
    variances = (spread - 2 * centred.T @ centred - counts * centred_means**2) / np.maximum(1.0, counts - 1)
    deviations = np.sqrt(np.maximum(0.0, variances))
    is_rounding = deviations <= NO_DIFFERENCE * np.sqrt(spread / size)
    return counts, centred_means + centre[:, np.newaxis] - centre, np.where(is_rounding, 0.0, deviations)


def _found_by_t(counts: Floats, means: Floats, deviations: Floats) -> Bools:
    """bool[S, S]: whether a paired t test finds the pair at SIGNIFICANCE."""
    from scipy import special  # here, because importing it takes longer than most commands run

    critical = -special.stdtrit(np.maximum(1.0, counts - 1), SIGNIFICANCE / 2)
    significant: Bools = np.abs(means) * np.sqrt(counts) > critical * deviations
    return significant


def _check_wanted(wanted: float, significance: float) -> None:
    if not significance < wanted < 1:
        raise BadInput(
            f"a probability of finding a difference lies between the significance level, {significance}, and 1; "
            f"this one is {wanted}"
        )
