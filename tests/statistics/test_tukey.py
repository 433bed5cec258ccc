from itertools import permutations, product

import numpy as np

from leaderboard.statistics.comparison import tukey_hsd

NAN = np.nan


def by_definition(values):
    """p of every pair from all (S!)^Q ways to permute the values within the queries."""
    means = values.mean(axis=0)
    apart = np.abs(means[:, np.newaxis] - means)
    largest = np.array([np.ptp(np.mean(rows, axis=0)) for rows in product(*map(permutations, values.tolist()))])
    return np.mean(largest[:, np.newaxis, np.newaxis] >= apart - 1e-12, axis=0)


def test_it_comes_close_to_the_exact_distribution_of_a_small_board():
    values = np.array([[0.9, 0.5, 0.1], [0.8, 0.7, 0.2], [0.6, 0.5, 0.5], [1.0, 0.3, 0.2]])
    np.testing.assert_allclose(tukey_hsd(values, permutations=20_000), by_definition(values), atol=0.015)


def test_the_order_of_the_systems_does_not_change_p():
    values = np.random.default_rng(2).random((12, 5))
    order = np.array([3, 1, 4, 0, 2])
    p = tukey_hsd(values, permutations=300)
    np.testing.assert_allclose(tukey_hsd(values[:, order], permutations=300), p[np.ix_(order, order)])


def test_a_system_without_any_value_does_not_empty_the_board():
    values = np.random.default_rng(4).random((10, 3))
    values[:, 1] = NAN
    p = tukey_hsd(values, permutations=200)
    assert np.isnan(p[1]).all()
    assert np.isnan(p[:, 1]).all()
    assert p[0, 2] == tukey_hsd(values[:, [0, 2]], permutations=200)[0, 1]


def test_a_very_large_board_gets_fewer_resamples(monkeypatch):
    values = np.random.default_rng(0).random((10, 4))
    monkeypatch.setattr("leaderboard.statistics.comparison.VALUES_PERMUTED", 40 * 1500)
    np.testing.assert_array_equal(tukey_hsd(values, permutations=5000), tukey_hsd(values, permutations=1500))
    monkeypatch.setattr("leaderboard.statistics.comparison.VALUES_PERMUTED", 1)
    np.testing.assert_array_equal(tukey_hsd(values, permutations=5000), tukey_hsd(values, permutations=1000))
