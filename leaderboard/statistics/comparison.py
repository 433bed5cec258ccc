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

What a set of queries can tell: the smallest difference of two means that it finds, and the queries that one needs.

Both are of the two-sided paired t test, of a board with the critical value of its rank sets, through the noncentral t
distribution: with n queries and differences of mean δ and standard deviation σ between two systems, t has n − 1 degrees
of freedom and noncentrality √n · δ / σ. σ is taken from the differences at hand, as if it were known, and a mean of n
differences is taken to be normally distributed.

Sources: T. Sakai, Topic Set Size Design, Information Retrieval Journal 19, 2016; J. Cohen, Statistical Power Analysis
for the Behavioral Sciences, 1988.

How often two sets of queries disagree about the order of two systems: the swap rate, against the sets' size.

Two sets without a query in common are drawn again and again from the queries that are there. Each gives every pair of
systems a difference of means; where the two differences have opposite signs, the pair is swapped. Two sets of n queries
need 2n, so this tells what an evaluation with half as many queries or fewer would have been worth. Where the two sets
use up all queries, one has what the other lacks, and the rate is somewhat too high: it errs on the careful side.

Sources: E. M. Voorhees and C. Buckley, The Effect of Topic Set Size on Retrieval Experiment Error, SIGIR 2002;
T. Sakai, Evaluating Evaluation Metrics Based on the Bootstrap, SIGIR 2006.

Several systems against one baseline: differences with intervals, tests with their corrected p-values, effect sizes.

Sources: S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979;
Y. Benjamini and Y. Hochberg, Controlling the False Discovery Rate, Journal of the Royal Statistical Society B 57, 1995.
"""

import bisect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from leaderboard.errors import BadInput
from leaderboard.frozen import frozen
from leaderboard.metrics.aggregation import GEOMETRIC_MEAN, MEAN, Aggregation, Columns, mean
from leaderboard.metrics.measure import Direction
from leaderboard.metrics.segments import Bools, Floats, Ints
from leaderboard.statistics import samples
from leaderboard.statistics.intervals import NO_PAIRS, Interval, difference_interval
from leaderboard.statistics.ranks import TIE

ROUNDING = 1e-12  # relative: values that differ by less were computed in another order, not worse
EXACT_RANDOMISATION = 20  # queries that differ: 2^19 arrangements, since each one's mirror image counts the same
EXACT_WILCOXON = 300  # queries that differ; above, the normal distribution is as good and far faster

NO_SPREAD = "every query differs by the same amount: there is no spread"


@frozen
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


@frozen
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


def randomisation_test(
    first: Floats, second: Floats, *, resamples: int = samples.RESAMPLES, seed: int = samples.SEED
) -> PairedTest:
    """Tests the mean difference by exchanging the two systems on each query (flipping the difference's sign).

    first, second: float64[Q] in the same order of queries, NaN where undefined. Exact when at most 20 queries differ;
    else `resamples` arrangements are drawn, and the observed one counts as one more, so that p is never 0. p does not
    depend on the order of the queries or of the two systems. Raises BadInput for resamples below 1 and ValueError for
    arrays of unequal length.

    >>> import numpy as np
    >>> randomisation_test(np.array([0.5, 0.75, 1.0]), np.array([0.25, 0.5, 0.75])).p  # 2 of 8 arrangements
    0.25
    """
    samples.check_resamples(resamples)
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
    average, deviation = float(mean(difference)), _deviation(difference)
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
    for size in samples.blocks(resamples, len(sizes)):
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


def tukey_hsd(values: Floats, *, permutations: int = samples.RESAMPLES, seed: int = samples.SEED) -> Floats:
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
    samples.check_resamples(permutations)
    p = np.full((values.shape[1], values.shape[1]), np.nan)
    compared = np.flatnonzero(~np.all(np.isnan(values), axis=0))
    block = values[:, compared]
    block = block[~np.any(np.isnan(block), axis=1)]
    if len(compared) > 1 and len(block):
        drawn = min(permutations, max(LEAST_PERMUTATIONS, VALUES_PERMUTED // block.size))
        means = block.mean(axis=0)
        apart = np.abs(means[:, np.newaxis] - means) - ROUNDING * np.abs(block).max()
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


POWER = 0.8  # the field's convention (Cohen): a difference that is there is missed one time in five
SIGNIFICANCE = 0.05
MOST_QUERIES = 1_000_000  # no campaign has more: beyond them the answer is "none"
NO_DIFFERENCE = 1e-6  # standard deviations of a pair's values: below that their differences are rounding

TOO_FEW = f"fewer than {samples.LEAST_QUERIES} queries"
NOT_COMPARED = "this board compares no two systems"
ALL_EQUAL = "the systems differ on no query, or by the same amount on all"


@frozen
class Detectable:
    """What a set of queries can tell of two systems.

    queries     in the set
    deviation   standard deviation of the difference of two systems from query to query, in the measure's unit; of a
                board that of its rank sets, else the median
    pairs       of systems that it is taken from
    critical    what |t| has to exceed: of a board that of its rank sets, of a pair that of the t test at SIGNIFICANCE
    difference  of two means that is found with probability POWER; None where that can't be said, and `reason` says why
    smaller     half of it, to one significant digit: an example of what takes more queries
    queries_for_smaller   how many find that one; None for more than MOST_QUERIES
    """

    queries: int
    deviation: float | None
    pairs: int
    critical: float | None = None
    difference: float | None = None
    smaller: float | None = None
    queries_for_smaller: int | None = None
    reason: str | None = None


def power(effect: float, queries: int, significance: float = SIGNIFICANCE) -> float:
    """The probability that the two-sided paired t test finds a difference of `effect` standard deviations, in [0, 1].

    effect: the mean of the differences over their standard deviation, either sign; queries: at least 2, else BadInput;
    significance: the level, in (0, 1).

    >>> round(power(0.5, 34), 3)  # Cohen's tables: 34 queries find half a standard deviation with .8
    0.808
    """
    if queries < 2:
        raise BadInput(f"a t test needs at least 2 queries; this asks for {queries}")
    from scipy import special  # here, because importing it takes longer than most commands run

    critical = -special.stdtrit(queries - 1, significance / 2)
    missed, wrong_side = special.nctdtr(queries - 1, math.sqrt(queries) * abs(effect), (critical, -critical))
    # Where such a probability is below some 1e-15, because the effect is large, scipy gives NaN for it.
    return float(np.clip(1.0 - np.nan_to_num(missed) + np.nan_to_num(wrong_side), 0.0, 1.0))


def queries_needed(effect: float, significance: float = SIGNIFICANCE) -> int | None:
    """The fewest queries that find a difference of `effect` standard deviations with probability POWER, at least 2.

    None when more than MOST_QUERIES would be needed, as for an effect of 0.

    >>> [queries_needed(effect) for effect in (0.2, 0.5, 0.8)]
    [199, 34, 15]
    """
    if power(effect, MOST_QUERIES, significance) < POWER:
        return None
    return bisect.bisect_left(
        range(MOST_QUERIES), POWER, lo=2, key=lambda queries: power(effect, queries, significance)
    )


def smallest_effect(queries: int, significance: float = SIGNIFICANCE) -> float:
    """The smallest mean difference, in standard deviations of the differences, found with probability POWER.

    queries: at least 2, else BadInput.

    >>> round(smallest_effect(50), 4)
    0.4042
    """
    high = 1.0
    while power(high, queries, significance) < POWER:
        high *= 2
    from scipy import optimize  # here, because importing it takes longer than most commands run

    return float(optimize.brentq(lambda effect: power(effect, queries, significance) - POWER, 0.0, high))


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


def detectable_by_pairs(values: Floats, critical: float | None = None, board_deviation: float = 0.0) -> Detectable:
    """What the queries can tell of two systems of a board.

    values: float64[Q, S], each system's `contributions`, best system first, NaN where a query has no value. critical,
    board_deviation: those of the board's rank sets, 0 where nothing is compared. Without the first it is that of the t
    test of one pair, without the second the median over the pairs that are hard to tell apart. For another number of
    queries the critical value is taken as Student's at the same level.

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
    usable = upper & (counts >= samples.LEAST_QUERIES) & (deviations > 0)
    chosen = usable & ~_found_by_t(counts, means, deviations)
    if not chosen.any():
        chosen = usable & np.eye(systems, k=1, dtype=bool)
    pairs = int(np.count_nonzero(chosen))
    if not pairs:
        return _detectable(int(counts[upper].max(initial=0)), 0.0, int(np.count_nonzero(upper)))
    deviation = board_deviation or float(np.median(deviations[chosen]))
    return _detectable(int(np.median(counts[chosen])), deviation, pairs, critical)


def _detectable(queries: int, deviation: float, pairs: int, critical: float | None = None) -> Detectable:
    if queries < samples.LEAST_QUERIES:
        return Detectable(queries, None, pairs, reason=TOO_FEW)
    if deviation == 0:
        return Detectable(queries, 0.0, pairs, reason=ALL_EQUAL)
    from scipy import special  # here, because importing it takes longer than most commands run

    of_one_pair = float(-special.stdtrit(queries - 1, SIGNIFICANCE / 2))
    critical = of_one_pair if critical is None else critical and max(critical, of_one_pair)
    significance = float(2 * special.stdtr(queries - 1, -critical))
    if not 0 < significance < 1:
        return Detectable(queries, deviation, pairs, reason=NOT_COMPARED)
    difference = smallest_effect(queries, significance) * deviation
    smaller = float(f"{difference / 2:.0e}")
    needed = queries_needed(smaller / deviation, significance)
    return Detectable(queries, deviation, pairs, critical, difference, smaller, needed)


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
    return np.asarray(np.abs(means) * np.sqrt(counts) > critical * deviations)


DRAWS = 200  # of two sets, for every size
SIZES = (5, 10, 20, 50, 100, 200, 500, 1000, 2000)  # of each set, as far as two of them fit
AT_MOST = 0.05  # the swap rate of a difference that can be relied on, as in the sources
BINS = 40  # of differences, each a tenth of a standard error wide: the last one is open
PER_ERROR = 10
LEAST_IN_BIN = 50  # pairs and draws: a share of fewer is chance


@frozen
class SwapRate:
    """What two sets of `size` queries each disagree on.

    rate        the share of pairs and draws in which the two systems change order, in [0, 1]; a tie is no swap
    difference  of means on one set from which on at most 5 % of pairs are in the other order on the other set (the
                lower end of the first bin after which no bin has more); None where there is no such bin
    draws, seed  as drawn
    """

    size: int
    rate: float
    difference: float | None
    draws: int
    seed: int


def swap_rates(
    values: Floats, deviation: float, *, sizes: Sequence[int] = SIZES, draws: int = DRAWS, seed: int = samples.SEED
) -> tuple[SwapRate, ...]:
    """The swap rate for each size of which two sets fit into the queries.

    values: float64[Q, S], each system's `contributions`, NaN where a query has no value (a pair of which a set has no
    value is left out of that draw). deviation: standard deviation of a difference of two systems from query to query
    (`Detectable.deviation`), which sets the width of the bins. Empty for fewer than two systems, and for a deviation of
    0. Raises BadInput for draws below 1.

    >>> import numpy as np
    >>> better, worse = np.array([0.5, 0.9] * 10), np.array([0.4, 0.7] * 10)
    >>> [(found.size, found.rate) for found in swap_rates(np.stack([better, worse], axis=1), 0.05)]
    [(5, 0.0), (10, 0.0)]
    """
    samples.check_resamples(draws)
    if values.shape[1] < 2 or deviation <= 0:
        return ()
    values = values[~np.isnan(values).all(axis=1)]
    return tuple(_of_size(values, size, deviation, draws, seed) for size in sizes if 2 * size <= len(values))


def _of_size(values: Floats, size: int, deviation: float, draws: int, seed: int) -> SwapRate:
    generator = np.random.default_rng(seed)  # the draws of a size depend on seed and queries, not on the systems
    queries, systems = values.shape
    better, worse = np.triu_indices(systems, 1)
    width = deviation / np.sqrt(size) / PER_ERROR
    total = 0
    pairs, swapped = np.zeros((2, BINS), dtype=np.int64)
    for number in samples.blocks(draws, max(len(better), queries)):
        order = generator.permuted(np.tile(np.arange(queries), (number, 1)), axis=1)
        means = (_means(values, part) for part in (order[:, :size], order[:, size : 2 * size]))
        difference, again = (own[:, better] - own[:, worse] for own in means)
        counted = ~np.isnan(difference + again)
        total += int(np.count_nonzero(counted))
        counted &= np.abs(difference) > TIE  # a tie has no order to be swapped, and would make small ones look safe
        bins = np.minimum(np.abs(difference[counted]) / width, BINS - 1).astype(np.int64)
        turned = (difference * again < 0) & (np.abs(again) > TIE)
        pairs += np.bincount(bins, minlength=BINS)
        swapped += np.bincount(bins[turned[counted]], minlength=BINS)
    relied_on = _first_reliable(pairs, swapped)
    rate = float(swapped.sum() / total) if total else 0.0
    return SwapRate(size, rate, None if relied_on is None else float(relied_on * width), draws, seed)


def _means(values: Floats, chosen: Ints) -> Floats:
    """float64[B, S]: the means over the chosen queries, int64[B, n]; NaN where a system has no value on any."""
    weights = np.zeros((len(chosen), len(values)))
    np.put_along_axis(weights, chosen, 1.0, axis=1)
    return np.asarray(mean(values, weights))


def _first_reliable(pairs: Ints, swapped: Ints) -> int | None:
    """The first bin that has pairs enough and follows the last one with more than the share AT_MOST swapped. The open
    bin does not count: systems that are apart by far fill it, and would tell of a difference that no other pair has."""
    enough = (pairs >= LEAST_IN_BIN)[:-1]
    too_often = np.flatnonzero(enough & (swapped > AT_MOST * pairs)[:-1])
    return next((number for number in np.flatnonzero(enough).tolist() if number > too_often.max(initial=-1)), None)


@frozen
class CorrectedTest:
    """A test of one comparison, and its p corrected by each method for the number of comparisons; None where it has no
    p."""

    test: PairedTest
    holm: float | None
    benjamini_hochberg: float | None


@frozen
class Comparison:
    """One system against the baseline, on the queries where both have a value.

    difference  of their means, system − baseline, with its interval
    tests       randomisation, t and Wilcoxon, in this order
    effects     d_z, dominance, and queries better, worse and tied
    detectable  the smallest difference that these queries find of this pair; None under a geometric mean, where the
                tests are on logarithms
    needed      queries that find a difference as large as the one seen, to plan with: it says nothing of whether this
                one is there; None for a difference of 0, and where it would be more than a million
    tukey       p of this pair by the randomised Tukey HSD test over all pairs of systems at once (`tukey_hsd`), which
                needs no correction; None where it could not be made
    """

    name: str
    difference: Interval
    tests: tuple[CorrectedTest, ...]
    effects: Effects
    detectable: Detectable | None
    needed: int | None
    tukey: float | None


@frozen
class ComparisonTable:
    """rows: one for each system other than the baseline, in the order given; none for a measure of the whole run, and
    `reason` says so. swaps: how often smaller sets of queries would order two of all the systems differently, empty
    under a geometric mean. Everything drawn was drawn from `seed`."""

    baseline: str
    rows: tuple[Comparison, ...]
    confidence: float
    resamples: int
    seed: int
    reason: str | None = None
    swaps: tuple[SwapRate, ...] = ()


def compare(
    systems: Mapping[str, Columns],
    baseline: str,
    aggregation: Aggregation = MEAN,
    *,
    direction: Direction = "higher",
    least: int = samples.LEAST_QUERIES,
    resamples: int = samples.RESAMPLES,
    seed: int = samples.SEED,
) -> ComparisonTable:
    """Compares every other system with `baseline`, two-sided.

    systems: name -> columns, float64[Q] each and all over the same queries in the same order, NaN where a query has no
    value; aggregation and direction are the measure's own (without a direction, better means more), least as
    `intervals` takes it. Tests and effect sizes are on what each query adds to the mean (`contributions`). Holm and
    Benjamini–Hochberg correct each test for the number of rows. Raises BadInput when the baseline is not among the
    systems, or for resamples below 1.

    >>> import numpy as np
    >>> systems = {"ours": (np.array([0.5, 0.75, 1.0]),), "bm25": (np.array([0.25, 0.5, 0.75]),)}
    >>> (row,) = compare(systems, "bm25").rows
    >>> row.name, row.difference.estimate, [(each.test.name, each.test.p) for each in row.tests]
    ('ours', 0.25, [('randomisation', 0.25), ('t', None), ('wilcoxon', 0.25)])
    """
    if baseline not in systems:
        raise BadInput(f"{baseline!r} is not among the systems compared: {', '.join(systems)}")
    if not aggregation.has_interval:
        return ComparisonTable(baseline, (), samples.CONFIDENCE, resamples, seed, aggregation.name)
    says_differences = aggregation is not GEOMETRIC_MEAN
    values = np.stack([samples.contributions(columns, aggregation) for columns in systems.values()], axis=1)
    tukey = tukey_hsd(values, permutations=resamples, seed=seed)[list(systems).index(baseline)].tolist()
    tests: list[tuple[PairedTest, ...]] = []
    rows = []
    for (name, columns), p in zip(systems.items(), tukey, strict=True):
        if name == baseline:
            continue
        pair = samples.common(columns, systems[baseline])
        own, other = (samples.contributions(each, aggregation) for each in pair)
        drawn = randomisation_test(own, other, resamples=resamples, seed=seed)
        tests.append((drawn, paired_t(own, other), wilcoxon(own, other)))
        effects = effect_sizes(own, other, lower_is_better=direction == "lower")
        rows.append(
            Comparison(
                name=name,
                difference=difference_interval(*pair, aggregation, least=least, resamples=resamples, seed=seed),
                tests=(),
                effects=effects,
                detectable=detectable(own - other) if says_differences else None,
                needed=queries_needed(effects.d_z) if effects.d_z else None,
                tukey=None if math.isnan(p) else p,
            )
        )
    corrected = zip(*map(_corrected, zip(*tests, strict=True)), strict=True)
    rows = [replace(row, tests=own) for row, own in zip(rows, corrected, strict=True)]
    deviation = detectable_by_pairs(values).deviation if says_differences else None
    swaps = swap_rates(values, deviation, seed=seed) if deviation else ()
    return ComparisonTable(baseline, tuple(rows), samples.CONFIDENCE, resamples, seed, swaps=swaps)


def holm(p: Sequence[float | None]) -> tuple[float | None, ...]:
    """Corrected p-values in the order given: below α, the chance of even one false finding is at most α.

    The i-th smallest of m is multiplied by m − i + 1, never falls below the one before, and is at most 1. None (no
    test) stays None and is not counted in m.

    >>> [round(each, 6) for each in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    return _each_corrected(p, _step_down)


def _step_down(values: Floats) -> Floats:
    order = np.argsort(values, kind="stable")
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)))
    return corrected


def benjamini_hochberg(p: Sequence[float | None]) -> tuple[float | None, ...]:
    """Corrected p-values in the order given: of the findings below α, a share of at most α is expected to be false.

    The i-th smallest of m is multiplied by m / i and never exceeds the one after. None (no test) stays None and is not
    counted in m.

    >>> [round(each, 6) for each in benjamini_hochberg([0.01, 0.04, 0.03, 0.005])]
    [0.02, 0.04, 0.04, 0.02]
    """
    from scipy import stats  # here, because importing it takes longer than most commands run

    return _each_corrected(p, stats.false_discovery_control)


def _each_corrected(p: Sequence[float | None], correct: Callable[[Floats], Floats]) -> tuple[float | None, ...]:
    """None where there is none."""
    values = np.array(p, dtype=np.float64)
    defined = ~np.isnan(values)
    values[defined] = correct(values[defined]) if defined.any() else ()
    return tuple(None if math.isnan(value) else value for value in values.tolist())


def _corrected(same_test: tuple[PairedTest, ...]) -> tuple[CorrectedTest, ...]:
    """The same test on every row, corrected for their number."""
    p = [test.p for test in same_test]
    return tuple(map(CorrectedTest, same_test, holm(p), benjamini_hochberg(p)))
