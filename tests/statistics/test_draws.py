from itertools import product

import numpy as np
import pytest

from leaderboard.errors import BadInput
from leaderboard.metrics.aggregation import GEOMETRIC_MEAN, MEAN, SUM, VALUE_OF_MEANS
from leaderboard.statistics.draws import draws, resampled

NAN = np.nan


def random_columns(count, queries, seed=0, undefined=0.2):
    draw = np.random.default_rng(seed)
    columns = [draw.random(queries) for _ in range(count)]
    return tuple(np.where(draw.random(queries) < undefined, NAN, column) for column in columns)


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


def test_a_system_has_the_same_draws_whoever_stands_beside_it():
    first, second = random_columns(1, 30, 1, 0), random_columns(1, 30, 2, 0)
    alone = resampled([first], MEAN, resamples=200)
    beside = resampled([second, first], MEAN, resamples=200)
    np.testing.assert_allclose(beside[:, 1], alone[:, 0], rtol=1e-12)


def test_a_query_that_one_system_has_a_value_for_is_drawn_for_all():
    whole, partly = (np.array([0.0, 1.0]),), (np.array([0.5, NAN]),)
    drawn = resampled([whole, partly], MEAN, resamples=1000)
    assert set(drawn[:, 0]) == {0.0, 0.5, 1.0}
    assert set(drawn[~np.isnan(drawn[:, 1]), 1]) == {0.5}
    np.testing.assert_array_equal(np.isnan(drawn[:, 1]), drawn[:, 0] == 1.0)  # only the second query, twice


def test_blocks_of_resamples_join_without_a_seam(monkeypatch):
    columns = random_columns(1, 10, 3, 0)
    whole = resampled([columns], MEAN, resamples=1000)
    monkeypatch.setattr("leaderboard.statistics.draws.CELLS", 70)
    np.testing.assert_allclose(resampled([columns], MEAN, resamples=1000), whole, rtol=1e-12)


def test_every_draw_has_as_many_queries_as_there_are():
    drawn = np.concatenate(list(draws(7, 50, seed=2)))
    assert drawn.shape == (50, 7)
    assert set(drawn.sum(axis=1)) == {7.0}


def test_fewer_than_one_resample_is_refused():
    with pytest.raises(BadInput, match="at least one resample"):
        resampled([(np.array([0.5]),)], MEAN, resamples=0)
