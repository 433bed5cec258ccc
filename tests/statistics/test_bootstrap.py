import json
from itertools import product

import numpy as np
import pytest

from leaderboard.errors import BadInput
from leaderboard.metrics.aggregation import GEOMETRIC_MEAN, MEAN, SUM, VALUE_OF_MEANS, WHOLE_RUN
from leaderboard.statistics import difference_interval, intervals
from leaderboard.statistics.bootstrap import resampled

NAN = np.nan


def interval(columns, aggregation=MEAN, **options):
    return intervals([columns], aggregation, **options)[0]


def random_columns(count, queries, seed=0, undefined=0.2):
    draw = np.random.default_rng(seed)
    columns = [draw.random(queries) for _ in range(count)]
    return tuple(np.where(draw.random(queries) < undefined, NAN, column) for column in columns)


def test_two_queries_give_the_three_means_that_they_can_give():
    # 0 and 1 drawn twice with replacement: mean 0, .5 or 1 with chance ¼, ½ and ¼
    columns = (np.array([0.0, 1.0]),)
    at_95, at_40 = interval(columns), interval(columns, confidence=0.4)
    assert (at_95.estimate, at_95.low, at_95.high) == (0.5, 0.0, 1.0)
    assert (at_40.low, at_40.high) == (0.5, 0.5)
    assert (at_95.confidence, at_95.resamples, at_95.seed, at_95.queries) == (0.95, 10_000, 1, 2)


@pytest.mark.parametrize(
    ("aggregation", "columns"),
    [
        (MEAN, (np.array([0.1, NAN, 0.7, 0.4]),)),
        (SUM, (np.array([1.0, 4.0, 9.0]),)),
        (GEOMETRIC_MEAN, (np.array([0.25, 0.5, 0.0]),)),
        (VALUE_OF_MEANS, (np.array([0.5, 0.0, NAN]), np.array([0.3, 0.1, 0.2]))),
    ],
)
def test_the_resamples_spread_as_all_equally_likely_draws_do(aggregation, columns):
    queries = np.flatnonzero(~np.all(np.isnan(columns), axis=0))
    every = np.array(
        [
            aggregation.combine(tuple(column[list(drawn)] for column in columns), None)
            for drawn in product(queries, repeat=len(queries))
        ]
    )
    ours = resampled([columns], aggregation, resamples=20_000)[:, 0]
    assert np.mean(np.isnan(ours)) == pytest.approx(np.mean(np.isnan(every)), abs=0.01)
    for share in np.unique(every[~np.isnan(every)]):
        assert np.mean(np.isclose(ours, share)) == pytest.approx(np.mean(np.isclose(every, share)), abs=0.015)


@pytest.mark.parametrize(
    ("aggregation", "count"),
    [(MEAN, 1), (SUM, 1), (GEOMETRIC_MEAN, 1), (VALUE_OF_MEANS, 2)],
)
def test_a_weight_counts_a_query_as_often_as_it_says(aggregation, count):
    undefined = 0.0 if aggregation is SUM else 0.2
    systems = [random_columns(count, 9, seed, undefined) for seed in range(4)]
    weights = np.random.default_rng(7).integers(0, 3, (25, 9))
    weights[0] = 0
    weights[0, 0] = 1
    expected = [
        [aggregation.combine(tuple(np.repeat(column, row) for column in columns), None) for columns in systems]
        for row in weights
    ]
    together = tuple(np.stack(column, axis=1) for column in zip(*systems, strict=True))
    np.testing.assert_allclose(aggregation.combine(together, weights.astype(float)), expected, rtol=1e-12)


def test_a_system_has_the_same_interval_whoever_stands_beside_it():
    first, second = random_columns(1, 30, 1, 0), random_columns(1, 30, 2, 0)
    alone = resampled([first], MEAN, resamples=200)
    beside = resampled([second, first], MEAN, resamples=200)
    np.testing.assert_allclose(beside[:, 1], alone[:, 0], rtol=1e-12)


def test_intervals_of_several_systems_are_each_ones_own():
    systems = [(column,) for column in random_columns(3, 30, undefined=0.0)]
    for own, columns in zip(intervals(systems, resamples=300), systems, strict=True):
        alone = interval(columns, resamples=300)
        assert (own.estimate, own.queries) == (alone.estimate, 30)
        assert (own.low, own.high) == (pytest.approx(alone.low, rel=1e-12), pytest.approx(alone.high, rel=1e-12))
    assert intervals([], resamples=300) == ()


def test_a_query_that_nobody_has_a_value_for_is_never_drawn():
    with_gap = (np.array([0.25, NAN, 0.75, 0.5]),)
    without = (np.array([0.25, 0.75, 0.5]),)
    assert interval(with_gap) == interval(without)
    assert interval(with_gap).queries == 3


def test_a_query_that_one_system_has_a_value_for_is_drawn_for_all():
    whole, partly = (np.array([0.0, 1.0]),), (np.array([0.5, NAN]),)
    drawn = resampled([whole, partly], MEAN, resamples=1000)
    assert set(drawn[:, 0]) == {0.0, 0.5, 1.0}
    assert set(drawn[~np.isnan(drawn[:, 1]), 1]) == {0.5}
    np.testing.assert_array_equal(np.isnan(drawn[:, 1]), drawn[:, 0] == 1.0)  # only the second query, twice


def test_blocks_of_resamples_join_without_a_seam(monkeypatch):
    columns = random_columns(1, 10, 3, 0)
    whole = resampled([columns], MEAN, resamples=1000)
    monkeypatch.setattr("leaderboard.statistics.bootstrap.CELLS", 70)
    np.testing.assert_allclose(resampled([columns], MEAN, resamples=1000), whole, rtol=1e-12)


def test_the_seed_decides_the_draws():
    columns = random_columns(1, 30, 5, 0)
    assert interval(columns, seed=3) == interval(columns, seed=3)
    assert interval(columns, seed=3).low != interval(columns, seed=4).low


@pytest.mark.parametrize("values", [[0.3], [1 / 3] * 7, [0.0, 0.0], [0.1, NAN]])
def test_one_query_or_equal_values_leave_no_doubt(values):
    result = interval((np.array(values),))
    assert result.low == result.estimate == result.high
    assert result.estimate == pytest.approx(values[0])


def test_a_higher_level_gives_a_wider_interval_around_the_value():
    columns = random_columns(1, 40, 6)
    narrow, wide = interval(columns, confidence=0.5), interval(columns, confidence=0.99)
    assert wide.low < narrow.low < narrow.estimate < narrow.high < wide.high


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says():
    draw = np.random.default_rng(11)
    covered = 0
    for seed in range(200):
        found = interval((draw.beta(1, 2, 50),), confidence=0.9, resamples=400, seed=seed)
        covered += found.low <= 1 / 3 <= found.high
    # 200 intervals at 90 %: within 4 standard errors, less one point that percentile intervals lack at 50 queries
    assert 0.80 <= covered / 200 <= 0.98


def test_without_a_value_there_is_no_interval_but_a_reason():
    result = interval((np.array([NAN, NAN]),))
    assert (result.estimate, result.low, result.high, result.queries) == (None, None, None, 0)
    assert result.reason == "no query has a value"
    assert interval((np.array([]),)).reason == "no query has a value"


def test_a_measure_of_the_whole_run_has_no_interval_and_says_why():
    result = interval((), WHOLE_RUN)
    assert (result.estimate, result.low, result.reason) == (None, None, WHOLE_RUN.name)
    assert difference_interval((), (), WHOLE_RUN).reason == WHOLE_RUN.name


def test_the_difference_is_of_common_queries_and_of_the_same_draws():
    first = (np.array([0.5, 0.7, 0.9, NAN]),)
    second = (np.array([0.25, 0.45, 0.65, 0.1]),)
    result = difference_interval(first, second)
    assert result.queries == 3
    assert result.estimate == pytest.approx(0.25)
    assert result.low == result.estimate == result.high  # every draw of queries differs by the same


def test_the_difference_of_two_aqwv_under_pfa_only_is_the_difference_of_the_figures():
    first = (np.array([0.5, 0.0, NAN]), np.array([0.03, 0.03, 0.03]))
    second = (np.array([0.5, 0.5, NAN]), np.array([0.03, 0.03, 0.33]))
    result = difference_interval(first, second, VALUE_OF_MEANS)
    assert result.estimate == pytest.approx(0.25 + 0.1)
    assert result.queries == 3


def test_a_difference_without_common_queries_has_a_reason():
    result = difference_interval((np.array([0.5, NAN]),), (np.array([NAN, 0.5]),))
    assert (result.estimate, result.reason) == (None, "no query has a value for both systems")
    json.dumps(result.estimate, allow_nan=False)


def test_an_impossible_level_is_refused():
    for level in (0, 1, 95):
        with pytest.raises(BadInput, match="between 0 and 1"):
            interval((np.array([0.5]),), confidence=level)
