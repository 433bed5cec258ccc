"""Confidence intervals of a system's mean, and of the difference between two systems' means.

The interval is the symmetric bootstrap-t: estimate ± c · (standard error). Student's t would take its factor c from a
table that is right for normal values; here queries are drawn again with replacement, and c is what the distance between
the mean of the draw and the mean of the sample, divided by the standard error *of the draw*, exceeds in one draw of
twenty. Where values are skewed (most are 0 and a few are not, or a few are far below the others) c is larger than
Student's, and the interval covers the truth about as often as it says, which percentiles of resampled means do not at
10 to 25 queries. Where values are nearly all equal, or of two kinds only, many draws have hardly any spread and c has
no bound: so it is at most 2.5 times Student's, and 1.2 times for a plain mean of values of which more than half are one
and the same. docs/statistics.md has the simulations that these choices rest on.

Of a geometric mean it is the few values near 0 that a sample lacks, so the truth lies more often below than above. Its
lower end is therefore as far away as the larger of that distance and the equal-tailed bootstrap-t's.

A figure is written as a sum of means (of P_miss and of β · P_fa for AQWV), each over the queries that have a term of
that kind, so that its standard error counts each mean with its own number of queries. The geometric mean's interval is
that of the mean logarithm, taken to the exponent.

Sources: P. Hall, On Symmetric Bootstrap Confidence Intervals, JRSS B 50(1), 1988; B. Efron and R. J. Tibshirani, An
Introduction to the Bootstrap, 1993, chapter 12; B. L. Welch, The Generalization of "Student's" Problem When Several
Different Population Variances Are Involved, Biometrika 34, 1947 (degrees of freedom of a sum of means).

Intervals of MQWV and of MQWV − AQWV: the best threshold is found anew in every draw of the queries.

The threshold that is best on these queries is not the one that is best on all queries like these, and how far off it
is belongs in the interval. So each draw gets its own best threshold; the figure at it, less the figure of the sample,
is divided by its own standard error at that threshold, as in the symmetric bootstrap-t of `intervals`. The standard
error is that of the value at the threshold found: to first order a best threshold that moves a little changes nothing,
since the value is flat where it is highest. But MQWV − AQWV may be made of little else than that movement, where the
decisions are nearly the best ones. So half of the width is never less than how far the figure itself moves in 19 of 20
draws, made wider by as much as Student's t is wider than the normal distribution.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from leaderboard.frozen import frozen
from leaderboard.metrics.aggregation import GEOMETRIC_MEAN, MEAN, VALUE_OF_MEANS, Aggregation, Columns
from leaderboard.metrics.families.detection import AQWV, losses_at, promising_thresholds
from leaderboard.metrics.ranking import Ranking
from leaderboard.metrics.segments import Bools, Floats, Ints
from leaderboard.statistics import samples

WIDEST, WIDEST_NEARLY_EQUAL = 2.5, 1.2  # times Student's t: more makes intervals wider and covers hardly more
ROUNDING = 1e-12
NO_LIMITS = (-math.inf, math.inf)
NO_VALUE = "no query has a value"
NO_PAIRS = "no query has a value for both systems"
ALWAYS_THE_SAME = "the two differ by the same amount on all queries"
EQUAL = "all queries have the same value, which says nothing of how others vary"


@frozen
class Interval:
    """A mean, or a difference of two means, with its confidence interval.

    estimate         None when undefined
    low, high        None where there is no interval; `reason` then says why
    confidence       0.95 for a 95 % interval
    queries          that the estimate is over
    resamples, seed  as drawn
    """

    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float = samples.CONFIDENCE
    queries: int = 0
    resamples: int = samples.RESAMPLES
    seed: int = samples.SEED
    reason: str | None = None


def intervals(
    systems: Sequence[Columns],
    aggregation: Aggregation = MEAN,
    *,
    limits: tuple[float, float] = NO_LIMITS,
    least: int = samples.LEAST_QUERIES,
    resamples: int = samples.RESAMPLES,
    seed: int = samples.SEED,
) -> tuple[Interval, ...]:
    """The confidence interval of each system's mean, in their order, all from the same draws of queries.

    systems: each one's columns, float64[Q] with NaN where undefined, as `Evaluated.columns` has them, all over the same
    queries in the same order; aggregation: the measure's own (`measure.family.aggregation`); limits: the lowest and the
    highest mean possible, beyond which no interval reaches; least: how many queries there must be (`least_queries`).
    There is none for a measure of the whole run, for fewer queries in any of the means that make up the figure, and
    where all queries have the same value. Raises BadInput for resamples below 1.

    >>> import numpy as np
    >>> ours, bm25 = np.array([0.0, 0.25, 0.5, 0.5, 1.0]), np.array([0.5, 0.25, 0.5, np.nan, np.nan])
    >>> found, none = intervals([(ours,), (bm25,)], limits=(0.0, 1.0))
    >>> found.estimate, round(found.low, 2), round(found.high, 2)
    (0.45, 0.0, 0.92)
    >>> none.low, none.reason
    (None, 'an interval needs at least 5 queries; there are 3')
    """
    empty = [Interval(queries=_queries(columns), resamples=resamples, seed=seed) for columns in systems]
    if not aggregation.has_interval:
        return tuple(replace(interval, reason=aggregation.name) for interval in empty)
    if not systems:
        return ()
    stacked = _stacked([samples.terms(columns, aggregation) for columns in systems])
    made = []
    for interval, columns, half in zip(
        empty, systems, _half_widths(stacked, aggregation, least, resamples, seed), strict=True
    ):
        mean = float(aggregation.combine(columns, None))
        low, high = mean - half.below, mean + half.above
        if aggregation is GEOMETRIC_MEAN:
            low, high = mean * math.exp(-half.below), mean * math.exp(half.above)
        low, high = max(low, min(limits[0], mean)), min(high, max(limits[1], mean))
        made.append(_ended(interval, mean, low, high, half.reason))
    return tuple(made)


def difference_interval(
    first: Columns,
    second: Columns,
    aggregation: Aggregation = MEAN,
    *,
    least: int = samples.LEAST_QUERIES,
    resamples: int = samples.RESAMPLES,
    seed: int = samples.SEED,
) -> Interval:
    """The confidence interval of first − second over their common queries: of the mean difference, where means differ
    by that. For geometric means the delta method gives what each query adds to the difference.

    first, second: columns as `intervals` takes them. Raises as it does, and has no interval where it has none.

    >>> import numpy as np
    >>> ours, bm25 = (np.array([0.5, 0.75, 1.0, 0.5, 0.75, 0.5]),), (np.array([0.25, 0.5, 0.5, 0.5, 0.5, np.nan]),)
    >>> found = difference_interval(ours, bm25)
    >>> round(found.estimate, 2), round(found.low, 2), round(found.high, 2), found.queries
    (0.25, -0.01, 0.51, 5)
    """
    if not aggregation.has_interval:
        return Interval(resamples=resamples, seed=seed, reason=aggregation.name)
    pair = samples.common(first, second)
    mine, theirs = (float(aggregation.combine(columns, None)) for columns in pair)
    own, other = (samples.terms(columns, aggregation) for columns in pair)
    if aggregation is GEOMETRIC_MEAN:  # the difference moves with each mean logarithm as the mean itself is large
        own, other = (mine * own[0],), (theirs * other[0],)
    stacked = _stacked([tuple(map(np.subtract, own, other))])
    (half,) = _half_widths(stacked, aggregation, least, resamples, seed)
    empty, difference = Interval(queries=_queries(pair[0]), resamples=resamples, seed=seed), mine - theirs
    made = _ended(empty, difference, difference - half.below, difference + half.above, half.reason)
    of_two = {NO_VALUE: NO_PAIRS, EQUAL: ALWAYS_THE_SAME}
    return replace(made, reason=of_two.get(made.reason or "", made.reason))


def _ended(empty: Interval, estimate: float, low: float, high: float, reason: str | None) -> Interval:
    """The interval, given it without its figures."""
    if math.isnan(estimate):
        return replace(empty, reason=NO_VALUE)
    return replace(empty, estimate=estimate, **({"reason": reason} if reason else {"low": low, "high": high}))


def _queries(columns: Columns) -> int:
    """How many queries have a value."""
    return int(samples.has_value(columns).sum()) if columns else 0


def _stacked(systems: Sequence[tuple[Floats, ...]]) -> tuple[Floats, ...]:
    """The terms of S systems, float64[Q, S] each, without the queries on which no system has any.

    Terms that every query has both of, or neither, are one term.
    """
    stacked = np.array(systems).transpose(1, 2, 0)
    stacked = np.compress(~np.isnan(stacked).all(axis=(0, 2)), stacked, axis=1)
    if len(stacked) == 2 and (np.isnan(stacked[0]) == np.isnan(stacked[1])).all():
        return (stacked[0] + stacked[1],)
    return tuple(stacked)


class _Half(NamedTuple):
    """How far an interval reaches above and below the figure; NaN where there is none, and why."""

    above: float
    below: float
    reason: str | None


def _half_widths(
    terms: tuple[Floats, ...], aggregation: Aggregation, least: int, resamples: int, seed: int
) -> list[_Half]:
    """How far each system's interval reaches, from its terms, float64[Q, S] each."""
    samples.check_resamples(resamples)
    defined = ~np.isnan(terms)
    fewest = defined.sum(axis=1).min(axis=0)
    scale = np.max(np.abs(terms), axis=(0, 1), initial=0.0, where=defined)
    error, freedom = standard_errors(terms)
    usable = (fewest >= least) & (error > ROUNDING * scale)
    above, below = np.full((2, len(fewest)), np.nan)
    if usable.any():
        own = tuple(term[:, usable] for term in terms)
        nearly_equal = 2 * samples.most_frequent(own[0]) > fewest[usable]
        nearly_equal &= aggregation not in (VALUE_OF_MEANS, GEOMETRIC_MEAN)
        most = np.where(nearly_equal, WIDEST_NEARLY_EQUAL, WIDEST) * students_t(freedom[usable], samples.ALPHA)
        factor = _bootstrap_t(own, samples.ALPHA, resamples, seed)
        above[usable] = below[usable] = np.minimum(factor, most) * error[usable]
        if aggregation is GEOMETRIC_MEAN:
            lower = _bootstrap_t(own, samples.ALPHA / 2, resamples, seed, only_above=True)
            below[usable] = np.minimum(np.maximum(factor, lower), most) * error[usable]
    return [
        _Half(up, down, None if up > 0 else EQUAL if queries >= least else too_few(queries, least))
        for up, down, queries in zip(above.tolist(), below.tolist(), fewest.tolist(), strict=True)
    ]


def too_few(queries: int, least: int) -> str:
    """Why there is no interval over so few queries, in words."""
    return f"an interval needs at least {least} queries; there are {queries}" if queries else NO_VALUE


def standard_errors(terms: tuple[Floats, ...]) -> tuple[Floats, Floats]:
    """(standard error of the sum of the terms' means, its degrees of freedom), float64[S] both.

    Terms of one query go together, so the variance of the sum has their covariance in it. The degrees of freedom are
    Welch's: those of each mean, weighed by its share of the variance.
    """
    parts = [Part.of(term) for term in terms]
    one_each = np.ones((1, len(terms[0])))
    variance = means_and_variances(parts, one_each)[1][0]
    own = [means_and_variances([part], one_each)[1][0] for part in parts]
    below = sum((each**2 / np.maximum(part.queries - 1, 1) for each, part in zip(own, parts, strict=True)), start=0.0)
    most = np.maximum(samples.has_value(terms).sum(axis=0) - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = sum(own, start=0.0) ** 2 / below
    return np.sqrt(variance), np.where(np.isfinite(freedom), np.clip(freedom, 1, most), most)


def students_t(freedom: Floats, alpha: float) -> Floats:
    """The two-sided critical value of Student's t."""
    from scipy.special import stdtrit  # here, because most commands start without scipy

    return np.asarray(stdtrit(freedom, 1.0 - alpha / 2))


def _bootstrap_t(
    terms: tuple[Floats, ...], alpha: float, resamples: int, seed: int, *, only_above: bool = False
) -> Floats:
    """float64[S]: what |mean of the draw − mean| / standard error of the draw exceeds with probability alpha.

    +inf where so many draws have no spread. only_above: without the bars, so what draws with a higher mean exceed.
    """
    parts = [Part.of(term) for term in terms]
    distance = np.empty((terms[0].shape[1], resamples))
    start = 0
    for weights in samples.draws(len(terms[0]), resamples, seed, terms[0].shape[1]):
        away, variance = means_and_variances(parts, weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            distance[:, start : start + len(weights)] = ((away if only_above else np.abs(away)) / np.sqrt(variance)).T
        start += len(weights)
    return _exceeded(distance, alpha)


def _exceeded(distance: Floats, alpha: float) -> Floats:
    """float64[S] of float64[S, B]: what a draw exceeds with probability alpha. NaN counts as infinite: no spread, or a
    mean over one query at most."""
    distance[np.isnan(distance)] = np.inf
    resamples = distance.shape[1]
    at = min(math.ceil((1.0 - alpha) * (resamples + 1)), resamples) - 1
    return np.asarray(np.partition(distance, at, axis=1)[:, at])


class Part(NamedTuple):
    """One of the terms of S systems.

    values   float64[Q, S], less their mean; 0 where there is none
    squares  of them
    defined  bool[Q, S], or bool[Q, 1] where it is the same for all
    queries  int64[S] or int64[1]: how many are defined
    """

    values: Floats
    squares: Floats
    defined: Floats
    queries: Floats

    @classmethod
    def of(cls, term: Floats) -> "Part":
        there: Bools = ~np.isnan(term)
        if (there == there[:, :1]).all():
            there = there[:, :1]
        count = np.count_nonzero(there, axis=0)
        filled = np.where(there, term, 0.0)
        values = np.where(there, filled - filled.sum(axis=0) / np.maximum(count, 1), 0.0)
        return cls(values, values**2, there.astype(np.float64), count.astype(np.float64))


def means_and_variances(parts: Sequence[Part], weights: Floats) -> tuple[Floats, Floats]:
    """(sum of the parts' means less what it is over the sample, its squared standard error), float64[B, S] both, when
    query q is there weights[b, q] times. NaN where a mean is over no query, or an error over fewer than two."""
    away: Floats = np.zeros((1, 1))
    variance: Floats = np.zeros((1, 1))
    counts = [weights @ part.defined for part in parts]
    with np.errstate(divide="ignore", invalid="ignore"):
        means = [weights @ part.values / count for part, count in zip(parts, counts, strict=True)]
        for part, mean, count in zip(parts, means, counts, strict=True):
            away = away + mean
            variance = variance + np.maximum(weights @ part.squares / count - mean**2, 0.0) / (count - 1)
        if len(parts) == 2:
            (first, other), (mean, other_mean), (count, counted) = parts, means, counts
            together = (
                weights @ (first.values * other.values)
                - mean * (weights @ (other.values * first.defined))
                - other_mean * (weights @ (first.values * other.defined))
                + mean * other_mean * (weights @ (first.defined * other.defined))
            )
            variance = variance + 2 * together / np.sqrt(count * (count - 1) * counted * (counted - 1))
    return away, np.maximum(variance, 0.0)


MOST_CELLS = 2**22  # thresholds × queries: with 300 queries 14,000 thresholds, with 7,000 the best 600
WORK = 4_000_000_000  # thresholds × queries × draws, less than a second
LEAST_RESAMPLES = 500
AT_ONCE = 256  # thresholds
ROWS_AT_ONCE = 512  # draws: with as many thresholds a megabyte, which stays near the processor


def threshold_intervals(
    ranking: Ranking,
    rel: int = 1,
    *,
    one_threshold: bool = False,
    resamples: int = samples.RESAMPLES,
    seed: int = samples.SEED,
) -> tuple[Interval, Interval]:
    """The intervals of one run's MQWV, and of MQWV − AQWV: what a better threshold would have brought.

    Needs scores, documents and β, as these measures do.

    one_threshold: whether a single θ gives the run's decisions, so that MQWV − AQWV is never below 0. Other decisions
    may be better than any single θ.

    Fewer resamples are drawn where thresholds × queries are many; how many stands in the result. None where `intervals`
    has none. Raises BadInput for resamples below 1.

    >>> from leaderboard.metrics.ranking import Setting, graded_lists
    >>> ranking = graded_lists([1, 0], missed=[1], setting=Setting(documents=102, beta=20.0))
    >>> maximum, lost = threshold_intervals(ranking)
    >>> maximum.low, maximum.queries  # one query
    (None, 1)
    """
    samples.check_resamples(resamples)
    actual = AQWV(rel=rel).evaluate(ranking).columns
    counts = samples.has_value(actual)
    queries = int(counts.sum())
    actual = tuple(column[counts] for column in actual)
    thetas = promising_thresholds(ranking, rel, most=MOST_CELLS // max(1, ranking.queries))
    resamples = min(resamples, max(LEAST_RESAMPLES, WORK // max(1, len(thetas) * queries)))
    empty = Interval(queries=queries, resamples=resamples, seed=seed)
    fewest = int((~np.isnan(actual)).sum(axis=1).min())
    least = samples.least_queries(AQWV(rel=rel), ranking.setting).for_interval
    if fewest < least:
        none = replace(empty, reason=too_few(fewest, least))
        return none, none
    weights = _weights(queries, resamples, seed)
    places, best = np.unique(_best(ranking, rel, thetas, counts, weights), return_inverse=True)
    at_best = _at(ranking, rel, thetas[places], counts)
    made = []
    nothing = tuple(map(np.zeros_like, actual))
    # A value is 1 less what is lost.
    for taken_off, plus, lowest, highest, without_spread in (
        (nothing, 1.0, 0.0, 1.0, EQUAL),
        (actual, 0.0, 0.0 if one_threshold else -math.inf, math.inf, ALWAYS_THE_SAME),
    ):
        estimate, half = _at_thresholds(at_best, best, taken_off, weights)
        estimate += plus
        low, high = max(estimate - half, lowest), min(estimate + half, highest)
        made.append(_ended(empty, estimate, low, high, without_spread if math.isnan(half) else None))
    return made[0], made[1]


def _at_thresholds(at_best: Columns, best: Ints, taken_off: Columns, weights: Floats) -> tuple[float, float]:
    """(the losses `taken_off` less those at the best threshold of each draw, how far its interval reaches: NaN where
    every query says the same).

    at_best  the losses at the thresholds that are best in some draw, float64[Q, T] each
    best     int64[B + 1], of the sample and of each draw which of them
    """
    values, errors, freedom = np.empty(len(best)), np.empty(len(best)), np.empty(0)
    for number in range(at_best[0].shape[1]):
        rows = np.flatnonzero(best == number)
        own = tuple(-column[:, [number]] + off[:, None] for column, off in zip(at_best, taken_off, strict=True))
        away, variance = means_and_variances([Part.of(term) for term in own], weights[rows])
        values[rows] = away[:, 0] + sum(float(np.nanmean(term)) for term in own)
        errors[rows] = np.sqrt(variance[:, 0])
        if number == best[0]:
            freedom = standard_errors(own)[1]
    if not errors[0] > ROUNDING:
        return float(values[0]), math.nan
    moved = np.abs(values[1:] - values[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = moved / errors[1:]
    students, normal = float(students_t(freedom, samples.ALPHA)[0]), NormalDist().inv_cdf(1 - samples.ALPHA / 2)
    factor = min(float(_exceeded(distance[np.newaxis], samples.ALPHA)[0]), WIDEST * students)
    reach, queries = float(np.quantile(moved, 1 - samples.ALPHA)), weights.shape[1]
    half = max(factor * float(errors[0]), reach * students / normal * math.sqrt(queries / (queries - 1)))
    return float(values[0]), half


@lru_cache(maxsize=1)  # the runs of an evaluation, which are scored one after the other, have the same
def _weights(queries: int, resamples: int, seed: int) -> Floats:
    """float64[resamples + 1, Q], not to be written to: the sample itself, then the draws."""
    weights: Floats = np.concatenate([np.ones((1, queries)), *samples.draws(queries, resamples, seed)])
    weights.setflags(write=False)
    return weights


def _at(ranking: Ranking, rel: int, thetas: Floats, counts: Bools) -> Columns:
    return tuple(column[counts] for column in losses_at(ranking, thetas, rel))


def _best(ranking: Ranking, rel: int, thetas: Floats, counts: Bools, weights: Floats) -> Ints:
    """int64[B]: the place of the best threshold for each row of weights; the strictest where several are."""
    best, highest = np.zeros(len(weights), dtype=np.int64), np.full(len(weights), -np.inf)
    for start in range(0, len(thetas), AT_ONCE):
        columns = _at(ranking, rel, thetas[start : start + AT_ONCE], counts)
        left_out, *others = (np.isnan(column[:, 0]) for column in columns)
        if all(np.array_equal(left_out, other) for other in others):
            columns = (np.sum(columns, axis=0),)  # means over the same queries: the mean of the sum, half of the work
        for first in range(0, len(weights), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            values = _values(columns, weights[rows])
            # The first of those that tie, whatever rounding makes of the tie: another machine adds up in another order.
            threshold = np.argmax(values >= values.max(axis=1, keepdims=True) - ROUNDING, axis=1)
            own = values[np.arange(len(threshold)), threshold]
            better = own > highest[rows] + ROUNDING
            best[rows][better] = start + threshold[better]
            highest[rows][better] = own[better]
    return best


def _values(columns: Columns, weights: Floats) -> Floats:
    """float64[B, T]: what `VALUE_OF_MEANS` gives, faster: a query counts at all thresholds or at none."""
    values: Floats = np.ones((len(weights), columns[0].shape[1]))
    undefined = np.zeros(len(weights), dtype=np.bool_)
    for column in columns:
        there = ~np.isnan(column[:, 0])
        drawn = weights[:, there]
        sums = drawn.sum(axis=1, keepdims=True)
        undefined |= sums[:, 0] == 0
        means = drawn @ column[there]
        means /= np.where(sums == 0, 1.0, sums)
        values -= means
    values[undefined] = -np.inf
    return values
