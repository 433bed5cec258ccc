from itertools import permutations, product

import numpy as np

from leaderboard.statistics import tukey_hsd

NAN = np.nan


def by_definition(values):
    """p of every pair from all (S!)^Q ways to permute the values within the queries."""
    means = values.mean(axis=0)
    apart = np.abs(means[:, np.newaxis] - means)
    largest = np.array([np.ptp(np.mean(rows, axis=0)) for rows in product(*map(permutations, values.tolist()))])
    return np.mean(largest[:, np.newaxis, np.newaxis] >= apart - 1e-12, axis=0)


def test_it_comes_close_to_the_exact_distribution_of_a_small_board():
    values = np.array([[0.9, 0.5, 0.1], [0.8, 0.7, 0.2], [0.6, 0.5, 0.5], [1.0, 0.3, 0.2]])
    result = tukey_hsd(values, permutations=20_000)
    np.testing.assert_allclose(result.p, by_definition(values), atol=0.015)
    assert (result.queries, result.left_out, result.permutations, result.seed) == (4, 0, 20_000, 1)


def test_the_order_of_the_systems_does_not_change_p():
    values = np.random.default_rng(2).random((12, 5))
    order = np.array([3, 1, 4, 0, 2])
    p = tukey_hsd(values, permutations=300).p
    np.testing.assert_allclose(tukey_hsd(values[:, order], permutations=300).p, p[np.ix_(order, order)])


def test_a_system_without_any_value_does_not_empty_the_board():
    values = np.random.default_rng(4).random((10, 3))
    values[:, 1] = NAN
    result = tukey_hsd(values, permutations=200)
    assert result.queries == 10
    assert np.isnan(result.p[1]).all()
    assert np.isnan(result.p[:, 1]).all()
    assert result.p[0, 2] == tukey_hsd(values[:, [0, 2]], permutations=200).p[0, 1]


def test_a_very_large_board_gets_fewer_resamples_and_says_so(monkeypatch):
    values = np.random.default_rng(0).random((10, 4))
    monkeypatch.setattr("leaderboard.statistics.paired.VALUES_PERMUTED", 40 * 1500)
    assert tukey_hsd(values, permutations=5000).permutations == 1500
    monkeypatch.setattr("leaderboard.statistics.paired.VALUES_PERMUTED", 1)
    assert tukey_hsd(values, permutations=5000).permutations == 1000
    assert tukey_hsd(values, permutations=20).permutations == 20
