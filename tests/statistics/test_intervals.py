"""Expected values come from scipy, from a slow and literal bootstrap-t, and from populations whose mean is known."""

import math

import numpy as np
import pytest
from scipy import stats

from leaderboard.metrics.aggregation import GEOMETRIC_MEAN, MEAN, VALUE_OF_MEANS, WHOLE_RUN
from leaderboard.statistics import difference_interval, intervals
from leaderboard.statistics.intervals import EQUAL

NAN = np.nan
SKEWED = np.array([0.02, 0.1, 0.05, 0.3, 0.04, 0.08, 0.7, 0.01, 0.12, 0.2, 0.06, 0.4])
EVEN = np.array([0.21, 0.34, 0.55, 0.4, 0.62, 0.13, 0.77, 0.48, 0.29, 0.51, 0.44, 0.7])


def interval(columns, aggregation=MEAN, **options):
    return intervals([columns], aggregation, **options)[0]


def literal_bootstrap_t(values, resamples, seed, alpha=0.05):
    """Half the width of the symmetric bootstrap-t as the books have it: one resample after the other, and no bound."""
    generator = np.random.default_rng(seed)
    distances = []
    for _ in range(resamples):
        drawn = values[generator.integers(0, len(values), len(values))]
        error = drawn.std(ddof=1) / math.sqrt(len(drawn))
        distances.append(abs(drawn.mean() - values.mean()) / error if error else math.inf)
    return np.quantile(distances, 1 - alpha, method="higher") * stats.sem(values)


def students_t(values):
    """Half the width of Student's interval."""
    return stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)


@pytest.mark.parametrize("values", [EVEN, np.concatenate((SKEWED, EVEN))])
def test_the_interval_is_the_symmetric_bootstrap_t_done_literally(values):
    found = interval((values,), resamples=10_000)
    half = literal_bootstrap_t(values, 10_000, seed=99)
    assert students_t(values) < half < 1.2 * students_t(values)
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.05 * half)


def test_skewed_values_of_which_none_is_frequent_have_the_whole_bootstrap_t():
    values = np.array([0.02, 0.1, 0.05, 0.03, 0.04, 0.08, 0.7, 0.01, 0.12, 0.06])
    half, found = literal_bootstrap_t(values, 10_000, seed=99), interval((values,))
    assert half > 1.4 * students_t(values)
    assert found.high - found.estimate == pytest.approx(min(half, 2.5 * students_t(values)), rel=0.05)


def test_it_is_at_most_a_fifth_wider_than_students_where_most_values_are_equal_and_detection_two_and_a_half_times():
    values = np.array([1.0] * 11 + [0.5])  # most draws of such values have no spread, or hardly any
    mean, detection = interval((values,)), interval((1 - values, np.zeros(12)), VALUE_OF_MEANS)
    assert mean.high - mean.estimate == pytest.approx(1.2 * students_t(values))
    assert detection.high - detection.estimate == pytest.approx(2.5 * students_t(values))


def skewed(generator, size):
    return generator.beta(0.5, 4.5, size)  # mean .1: most near 0, a few far above


def reciprocal_ranks(generator, size):
    return generator.choice([1.0, 0.5, 0.2, 0.0], size, p=[0.4, 0.2, 0.1, 0.3])  # mean .52


POPULATIONS = [(skewed, 0.1), (reciprocal_ranks, 0.52)]


@pytest.mark.parametrize(("population", "truth"), POPULATIONS)
@pytest.mark.parametrize("queries", [10, 25])
def test_it_covers_the_true_mean_as_often_as_it_says(population, truth, queries):
    campaigns = population(np.random.default_rng(11), (queries, 1500))
    found = intervals([(values,) for values in campaigns.T], resamples=500)
    covered = np.mean([each.low <= truth <= each.high for each in found if each.low is not None])
    assert 0.92 <= covered <= 0.98
    drawn = np.random.default_rng(1).integers(0, queries, (500, queries))
    low, high = np.quantile(campaigns[:, :300][drawn].mean(axis=1), [0.025, 0.975], axis=0)
    percentiles = np.mean((low <= truth) & (truth <= high))
    assert percentiles < 0.92 or queries == 25  # these bounds can be missed


def test_it_covers_the_value_of_means_where_half_of_the_queries_have_nothing_relevant():
    draw = np.random.default_rng(8)
    systems = []
    for _ in range(1000):
        p_miss = np.where(draw.random(24) < 0.5, draw.beta(2, 2, 24), NAN)  # mean .5
        systems.append((p_miss, draw.exponential(0.1, 24)))
    found = intervals(systems, VALUE_OF_MEANS, resamples=500)
    covered = [each.low <= 1 - 0.5 - 0.1 <= each.high for each in found if each.low is not None]
    assert len(covered) > 990  # in the others fewer than five queries have relevant documents
    assert 0.92 <= np.mean(covered) <= 0.98


def test_it_covers_the_geometric_mean():
    draw = np.random.default_rng(9)
    campaigns = np.exp(draw.normal(-2, 1, (15, 1000)))
    found = intervals([(values,) for values in campaigns.T], GEOMETRIC_MEAN, resamples=500)
    assert 0.92 <= np.mean([each.low <= math.exp(-2) <= each.high for each in found]) <= 0.98


def test_the_geometric_means_interval_is_that_of_the_mean_logarithm_and_reaches_further_down_where_values_near_0_lack():
    found, logarithms = interval((EVEN,), GEOMETRIC_MEAN), interval((np.log(EVEN),))
    assert found.estimate == pytest.approx(stats.gmean(EVEN))
    assert found.high == pytest.approx(math.exp(logarithms.high))
    draw, own, distances = np.random.default_rng(99), np.log(EVEN), []
    for _ in range(10_000):
        drawn = own[draw.integers(0, len(own), len(own))]
        distances.append((drawn.mean() - own.mean()) / (drawn.std(ddof=1) / math.sqrt(len(drawn))))
    lower = np.quantile(distances, 0.975) * stats.sem(own)
    assert lower > logarithms.high - own.mean()
    assert math.log(found.low) == pytest.approx(own.mean() - lower, abs=0.05 * lower)


def test_the_standard_error_under_pfa_only_counts_each_mean_with_its_own_queries():
    """Where P_miss and P_fa have nothing to do with each other, the variances of the two means add up."""
    draw = np.random.default_rng(3)
    p_miss = np.where(np.arange(400) < 100, draw.random(400), NAN)
    p_fa = draw.random(400)
    own = p_miss[:100]
    p_fa[:100] = 0.5  # no covariance
    found = interval((p_miss, p_fa), VALUE_OF_MEANS)
    error = math.sqrt(own.var(ddof=1) / 100 + p_fa.var(ddof=1) / 400)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.05)


def test_a_system_has_the_same_interval_whoever_stands_beside_it():
    draw = np.random.default_rng(2)
    systems = [(draw.random(30),) for _ in range(3)]
    for own, columns in zip(intervals(systems, resamples=300), systems, strict=True):
        alone = interval(columns, resamples=300)
        assert (own.estimate, own.queries) == (alone.estimate, 30)
        assert (own.low, own.high) == pytest.approx((alone.low, alone.high), rel=1e-12)
    assert intervals([], resamples=300) == ()


@pytest.mark.parametrize("queries", [1, 2, 4])
def test_below_five_queries_there_is_none_and_it_says_so(queries):
    found = interval((SKEWED[:queries],))
    assert found.estimate == pytest.approx(SKEWED[:queries].mean())
    assert (found.low, found.high) == (None, None)
    assert found.reason == f"an interval needs at least 5 queries; there are {queries}"
    assert interval((SKEWED[:5],)).low is not None


@pytest.mark.parametrize("value", [0.0, 1 / 3, 1.0])
def test_equal_values_on_all_queries_have_no_interval_of_width_zero(value):
    found = interval((np.full(7, value),))
    assert found.estimate == pytest.approx(value)
    assert (found.low, found.high, found.reason) == (None, None, EQUAL)


def test_a_system_without_a_value_has_no_interval_and_says_so():
    empty = intervals([(EVEN,), (np.full(12, NAN),)])[1]
    assert (empty.estimate, empty.low, empty.queries, empty.reason) == (None, None, 0, "no query has a value")


def test_a_measure_of_the_whole_run_has_no_interval_and_says_why():
    result = interval((), WHOLE_RUN)
    assert (result.estimate, result.low, result.reason) == (None, None, WHOLE_RUN.name)
    assert difference_interval((), (), WHOLE_RUN).reason == WHOLE_RUN.name


def test_the_difference_of_means_is_the_mean_difference_on_common_queries():
    other = np.random.default_rng(6).permutation(SKEWED)
    first, second = np.append(SKEWED, [NAN, 0.4]), np.append(other, [0.5, NAN])
    result, of_differences = difference_interval((first,), (second,)), interval((SKEWED - other,))
    assert result.queries == 12
    assert result.estimate == pytest.approx(0.0, abs=1e-15)
    assert (result.low, result.high) == pytest.approx((of_differences.low, of_differences.high))


def test_the_difference_of_two_aqwv_under_pfa_only_is_the_difference_of_the_figures():
    first = (np.array([0.5, 0.0, NAN]), np.array([0.03, 0.03, 0.03]))
    second = (np.array([0.5, 0.5, NAN]), np.array([0.03, 0.03, 0.33]))
    result = difference_interval(first, second, VALUE_OF_MEANS)
    assert result.estimate == pytest.approx(0.25 + 0.1)
    assert result.queries == 3


@pytest.mark.parametrize(
    ("queries", "reason"), [(24, "an interval needs at least 25 queries; there are 24"), (25, None)]
)
def test_a_measure_may_need_more_queries(queries, reason):
    values = np.linspace(0.1, 0.9, queries)
    (found,) = intervals([(values,)], least=25, resamples=200)
    assert (found.reason, found.low is None) == (reason, reason is not None)
    difference = difference_interval((values,), (values**2,), least=25, resamples=200)
    assert (difference.reason, difference.low is None) == (reason, reason is not None)
