"""Two systems on the same queries: the paired tests of their difference, and how large it is.

Sources: randomisation: R. A. Fisher, The Design of Experiments, 1935; M. D. Smucker, J. Allan and B. Carterette, A
Comparison of Statistical Significance Tests for Information Retrieval Evaluation, CIKM 2007; B. Phipson and G. K.
Smyth, Permutation p-values Should Never Be Zero, 2010. t: Student (W. S. Gosset), The Probable Error of a Mean,
Biometrika 6, 1908. Signed ranks: F. Wilcoxon, Individual Comparisons by Ranking Methods, Biometrics Bulletin 1, 1945;
W. J. Conover, Practical Nonparametric Statistics, 1999, for ties. Effect sizes: T. Sakai, Laboratory Experiments in
Information Retrieval, Springer 2018, chapter 5; N. Cliff, Dominance Statistics, Psychological Bulletin 114, 1993.

The randomised Tukey HSD test: all pairs of a board at once, held against the largest difference that chance makes.

Were all systems alike, each query's values could belong to any of them. So the values are permuted within every query,
again and again, and each time the difference between the best and the worst mean is kept; a pair that differs by more
than nearly all of those is told apart. At p <= .05 the chance of even one false finding on the whole board is then at
most .05, however many pairs it has.

Source: B. Carterette, Multiple Testing in Statistical Analysis of Systems-Based Information Retrieval Experiments,
ACM TOIS 30(1), 2012, algorithm 1; T. Sakai, Laboratory Experiments in Information Retrieval, Springer 2018, chapter 4.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from leaderboard.metrics.aggregation import mean
from leaderboard.metrics.segments import Floats
from leaderboard.statistics.samples import RESAMPLES, SEED, blocks, check_resamples

ROUNDING = 1e-12  # relative: values that differ by less were computed in another order, not worse
EXACT_RANDOMISATION = 20  # queries that differ: 2^19 arrangements, since each one's mirror image counts the same
EXACT_WILCOXON = 300  # queries that differ; above, the normal distribution is as good and far faster

NO_PAIRS = "no query has a value for both systems"
NO_SPREAD = "every query differs by the same amount: there is no spread"


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A two-sided paired test.

    name       "randomisation", "t" or "wilcoxon"
    p          in (0, 1]: how probable a difference at least this large is when the two systems are alike; None when
               that can't be said, and `reason` says why
    statistic  the mean difference, t, or the smaller sum of signed ranks
    queries    how many had a value for both systems; `left_out` how many had not
    exact      every arrangement was counted, rather than drawn or approximated
    resamples  arrangements drawn, from `seed`; None when none were
    """

    name: str
    p: float | None = None
    statistic: float | None = None
    queries: int = 0
    left_out: int = 0
    exact: bool = False
    resamples: int | None = None
    seed: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Effects:
    """How large the difference first − second is.

    difference     its mean over common queries; None without any
    d_z            that mean in standard deviations of the differences (paired Cohen's d); 0 when all queries tie, None
                   on a single query or when every query differs by the same amount
    dominance      (better − worse) / queries in [−1, 1], Cliff's delta within pairs; None without common queries
    better, worse, tied   queries on which the first system is better than, worse than, as good as the second
    left_out       queries where at least one of them has no value
    """

    difference: float | None
    d_z: float | None
    dominance: float | None
    better: int
    worse: int
    tied: int
    left_out: int
    reason: str | None = None

    @property
    def queries(self) -> int:
        """How many queries have a value for both systems."""
        return self.better + self.worse + self.tied


def randomisation_test(first: Floats, second: Floats, *, resamples: int = RESAMPLES, seed: int = SEED) -> PairedTest:
    """Tests the mean difference by exchanging the two systems on each query (flipping the difference's sign).

    first, second: float64[Q] in the same order of queries, NaN where undefined. Exact when at most 20 queries differ;
    else `resamples` arrangements are drawn, and the observed one counts as one more, so that p is never 0. p does not
    depend on the order of the queries or of the two systems. Raises BadInput for resamples below 1 and ValueError for
    arrays of unequal length.

    >>> import numpy as np
    >>> randomisation_test(np.array([0.5, 0.75, 1.0]), np.array([0.25, 0.5, 0.75])).p  # 2 of 8 arrangements
    0.25
    """
    check_resamples(resamples)
    difference, test = _test("randomisation", first, second)
    if not len(difference):
        return test(reason=NO_PAIRS)
    # A query that ties stays a tie, so only the sizes of the other differences matter. They are sorted so that the
    # order of the queries has no say in which arrangements a seed draws.
    sizes = np.sort(np.abs(difference[difference != 0]))
    reached = abs(float(difference.sum())) - ROUNDING * float(sizes.sum())
    test = partial(test, statistic=float(difference.mean()))
    if len(sizes) <= EXACT_RANDOMISATION:
        return test(p=_all_arrangements(sizes, reached), exact=True)
    p = (1 + _drawn_arrangements(sizes, reached, resamples, seed)) / (1 + resamples)
    return test(p=p, resamples=resamples, seed=seed)


def paired_t(first: Floats, second: Floats) -> PairedTest:
    """The t test of the mean difference, with n − 1 degrees of freedom.

    first, second: float64[Q] in the same order of queries, NaN where undefined. p is 1 when all queries tie, None on
    a single query or when every query differs by the same amount (there is no spread to hold the mean against). Raises
    ValueError for arrays of unequal length.

    >>> import numpy as np
    >>> found = paired_t(np.array([1.0, 2.0, 3.0]), np.zeros(3))  # t = 2√3
    >>> round(found.statistic, 6), round(found.p, 6)
    (3.464102, 0.07418)
    """
    difference, test = _test("t", first, second)
    if not len(difference):
        return test(reason=NO_PAIRS)
    if not difference.any():
        return test(p=1.0, statistic=0.0)
    if _deviation(difference) == 0:
        return test(reason=NO_SPREAD if len(difference) > 1 else "one query has no spread")

    from scipy import stats  # here, because importing it takes longer than most commands run

    result = stats.ttest_1samp(difference, 0.0)
    return test(p=_above_zero(result.pvalue), statistic=float(result.statistic))


def wilcoxon(first: Floats, second: Floats) -> PairedTest:
    """Wilcoxon's signed rank test: differences count by the rank of their size; queries that tie are left out of it.

    first, second: float64[Q] in the same order of queries, NaN where undefined. Sizes that are equal share the mean of
    their ranks. p is exact, with shared ranks too, when at most 300 queries differ, else from the normal distribution
    without continuity correction; 1 when all queries tie. Raises ValueError for arrays of unequal length.

    >>> import numpy as np
    >>> found = wilcoxon(np.array([0.5, 0.75, 1.0, 0.5]), np.array([0.25, 0.5, 0.5, 0.75]))
    >>> found.statistic, found.p  # ranks 2, 2, 4 and −2
    (2.0, 0.5)
    """
    difference, test = _test("wilcoxon", first, second)
    if not len(difference):
        return test(reason=NO_PAIRS)
    difference = difference[difference != 0]
    exact = len(difference) <= EXACT_WILCOXON
    if not len(difference):
        return test(p=1.0, statistic=0.0, exact=exact)

    from scipy import stats  # here, because importing it takes longer than most commands run

    sizes = np.abs(difference)
    ranks = stats.rankdata(np.round(sizes / sizes.max(), 12))  # sizes that are equal but for rounding share a rank
    result = stats.wilcoxon(np.sign(difference) * ranks, correction=False, method="asymptotic")
    p = _all_signs(ranks, result.statistic) if exact else result.pvalue
    return test(p=_above_zero(p), statistic=float(result.statistic), exact=exact)


def effect_sizes(first: Floats, second: Floats, *, lower_is_better: bool = False) -> Effects:
    """Effect sizes of first over second.

    first, second: float64[Q] in the same order of queries, NaN where undefined. `difference` and `d_z` keep the sign of
    first − second; better, worse and `dominance` follow the measure's direction. Raises ValueError for arrays of
    unequal length.

    >>> import numpy as np
    >>> found = effect_sizes(np.array([1.0, 0.5, 0.5, 0.25]), np.array([0.5, 0.25, 0.5, 0.5]))
    >>> found.difference, found.dominance, found.better, found.worse, found.tied
    (0.125, 0.25, 2, 1, 1)
    """
    difference, left_out = _differences(first, second)
    queries = len(difference)
    if queries == 0:
        return Effects(None, None, None, 0, 0, 0, left_out, NO_PAIRS)
    above, below = int(np.count_nonzero(difference > 0)), int(np.count_nonzero(difference < 0))
    better, worse = (below, above) if lower_is_better else (above, below)
    average, deviation = mean(difference), _deviation(difference)
    return Effects(
        difference=average,
        d_z=0.0 if not difference.any() else average / deviation if deviation else None,
        dominance=(better - worse) / queries,
        better=better,
        worse=worse,
        tied=queries - better - worse,
        left_out=left_out,
    )


def _differences(first: Floats, second: Floats) -> tuple[Floats, int]:
    """(float64[n], first − second on the queries where both have a value, exactly 0 for a tie; how many others)."""
    if first.shape != second.shape:
        raise ValueError(f"paired values need the same queries; these are {first.shape} and {second.shape}")
    both = ~(np.isnan(first) | np.isnan(second))
    mine, theirs = first[both], second[both]
    difference = mine - theirs
    noise = ROUNDING * np.maximum(np.abs(mine), np.abs(theirs))
    return np.where(np.abs(difference) <= noise, 0.0, difference), int(np.count_nonzero(~both))


def _test(name: str, first: Floats, second: Floats) -> tuple[Floats, Callable[..., PairedTest]]:
    """(what `_differences` gives; what makes the test of it, given its figures)."""
    difference, left_out = _differences(first, second)
    return difference, partial(PairedTest, name, queries=len(difference), left_out=left_out)


def _deviation(difference: Floats) -> float:
    """The standard deviation (n − 1) of float64[n]; 0 for one query or where all are equal but for rounding."""
    if len(difference) == 1:
        return 0.0
    deviation = float(np.std(difference, ddof=1))
    return 0.0 if deviation <= ROUNDING * abs(float(difference.mean())) else deviation


def _above_zero(p: float) -> float:
    """p as a float in (0, 1]: a probability too small for float64 is the smallest there is."""
    return min(1.0, max(float(p), sys.float_info.min))


def _all_arrangements(sizes: Floats, reached: float) -> float:
    """The share of all arrangements of signs whose sum is at least `reached` away from 0."""
    sums = sizes[:1] if len(sizes) else np.zeros(1)  # the first sign stands: its mirror image has the same distance
    for size in sizes[1:]:
        sums = np.concatenate((sums + size, sums - size))
    return float(np.count_nonzero(np.abs(sums) >= reached) / len(sums))


def _drawn_arrangements(sizes: Floats, reached: float, resamples: int, seed: int) -> int:
    """How many of `resamples` drawn arrangements have a sum at least `reached` away from 0."""
    generator = np.random.default_rng(seed)
    width = -(-len(sizes) // 8)  # bytes that hold one sign a query
    total = float(sizes.sum())
    count = 0
    for size in blocks(resamples, len(sizes)):
        drawn = np.frombuffer(generator.bytes(size * width), dtype=np.uint8).reshape(size, width)
        positive = np.unpackbits(drawn, axis=1, count=len(sizes)).astype(np.float64)
        sums = 2.0 * (positive @ sizes) - total
        count += int(np.count_nonzero(np.abs(sums) >= reached))
    return count


def _all_signs(ranks: Floats, smaller: float) -> float:
    """The probability of a sum of positive ranks as far from half of all as `smaller` is, when each sign is a coin."""
    doubled = np.rint(2 * ranks).astype(np.int64)  # whole numbers for shared ranks as well
    total = int(doubled.sum())
    chance = np.zeros(total + 1)  # chance[s]: that the ranks so far give the sum s
    chance[0] = 1.0
    for rank in doubled:
        chance[rank:] = (chance[rank:] + chance[: total + 1 - rank]) / 2
        chance[:rank] /= 2
    away = abs(total - round(4 * smaller))
    return float(chance[np.abs(2 * np.arange(total + 1) - total) >= away].sum())


VALUES_PERMUTED = 100_000_000  # at most, about a second: a larger board gets fewer permutations, never below LEAST
LEAST_PERMUTATIONS = 1_000
TUKEY_ROUNDING = 1e-12  # of the largest value


def tukey_hsd(values: Floats, *, permutations: int = RESAMPLES, seed: int = SEED) -> Floats:
    """Compares all systems with one another: p, float64[S, S], symmetric, in (0, 1]; NaN where two are not compared.

    values: float64[Q, S], NaN where a query has no value. A system without any value is not compared; a query that is
    undefined for one of the others is left out. p does not depend on the order of the systems. Raises BadInput for
    permutations below 1.

    >>> import numpy as np
    >>> two_systems = np.array([[0.5, 0.25], [0.75, 0.5], [1.0, 0.75]])
    >>> p = tukey_hsd(two_systems)  # with two systems the randomisation test, whose exact p is .25
    >>> p.shape, bool(abs(p[0, 1] - 0.25) < 0.02)
    ((2, 2), True)
    """
    check_resamples(permutations)
    p = np.full((values.shape[1], values.shape[1]), np.nan)
    compared = np.flatnonzero(~np.all(np.isnan(values), axis=0))
    block = values[:, compared]
    block = block[~np.any(np.isnan(block), axis=1)]
    if len(compared) > 1 and len(block):
        drawn = min(permutations, max(LEAST_PERMUTATIONS, VALUES_PERMUTED // block.size))
        means = block.mean(axis=0)
        apart = np.abs(means[:, np.newaxis] - means) - TUKEY_ROUNDING * np.abs(block).max()
        reached = np.searchsorted(_largest_differences(block, drawn, seed), apart)
        p[np.ix_(compared, compared)] = (1 + drawn - reached) / (1 + drawn)
        p[compared, compared] = 1.0
    return p


def _largest_differences(block: Floats, permutations: int, seed: int) -> Floats:
    """float64[permutations], rising: best less worst mean, each time with the values permuted within every query."""
    generator = np.random.default_rng(seed)
    sums = np.zeros((permutations, block.shape[1]))
    for row in np.sort(block, axis=1):  # sorted: the order of the systems has no say in what a seed draws
        sums += generator.permuted(np.broadcast_to(row, sums.shape), axis=1)
    return np.sort(np.ptp(sums, axis=1) / len(block))
