import numpy as np
import pytest
from scipy import stats

from leaderboard.metrics.aggregation import GEOMETRIC_MEAN, MEAN, SUM, VALUE_OF_MEANS
from leaderboard.statistics.intervals import Part, means_and_variances
from leaderboard.statistics.samples import draws, terms

NAN = np.nan


def random_columns(count, queries, seed=0, undefined=0.2):
    draw = np.random.default_rng(seed)
    columns = [draw.random(queries) for _ in range(count)]
    return tuple(np.where(draw.random(queries) < undefined, NAN, column) for column in columns)


def test_every_draw_has_as_many_queries_as_there_are_each_as_often_as_chance_has_it():
    drawn = np.concatenate(list(draws(5, 20_000, seed=3)))
    assert drawn.shape == (20_000, 5)
    assert set(drawn.sum(axis=1)) == {5.0}
    for times in range(4):
        assert np.mean(drawn == times) == pytest.approx(stats.binom.pmf(times, 5, 0.2), abs=0.005)


def test_blocks_of_draws_join_without_a_seam(monkeypatch):
    whole = np.concatenate(list(draws(10, 1000, seed=1)))
    monkeypatch.setattr("leaderboard.statistics.samples.CELLS", 70)
    np.testing.assert_array_equal(np.concatenate(list(draws(10, 1000, seed=1, width=20))), whole)


@pytest.mark.parametrize(("aggregation", "count"), [(MEAN, 1), (SUM, 1), (GEOMETRIC_MEAN, 1), (VALUE_OF_MEANS, 2)])
def test_what_an_interval_makes_of_a_draw_is_what_the_measures_own_aggregation_makes_of_the_drawn_queries(
    aggregation, count
):
    undefined = 0.0 if aggregation is SUM else 0.2
    columns = random_columns(count, 9, 3, undefined)
    weights = np.concatenate(list(draws(9, 25, seed=1)))
    drawn = [tuple(np.repeat(column, row.astype(int)) for column in columns) for row in weights]
    expected = np.array([aggregation.combine(each, None) for each in drawn])
    np.testing.assert_allclose(aggregation.combine(tuple(c[:, None] for c in columns), weights)[:, 0], expected)
    away, _ = means_and_variances([Part.of(term[:, None]) for term in terms(columns, aggregation)], weights)
    whole = aggregation.combine(columns, None)
    ours = whole * np.exp(away[:, 0]) if aggregation is GEOMETRIC_MEAN else whole + away[:, 0]
    np.testing.assert_allclose(ours, expected)
