import numpy as np
import pytest

from leaderboard.statistics import effect_sizes


def test_effect_sizes_by_hand():
    # differences .5, .25, 0, −.25: mean .125, variance (.375² + .125² + .125² + .375²) / 3
    result = effect_sizes(np.array([1.0, 0.5, 0.5, 0.25]), np.array([0.5, 0.25, 0.5, 0.5]))
    assert result.difference == 0.125
    assert result.d_z == pytest.approx(0.125 / (0.3125 / 3) ** 0.5)
    assert (result.better, result.worse, result.tied, result.queries) == (2, 1, 1, 4)
    assert result.dominance == 0.25


def test_where_lower_is_better_a_smaller_value_wins_and_the_difference_keeps_its_sign():
    result = effect_sizes(np.array([0.1, 0.2]), np.array([0.4, 0.3]), lower_is_better=True)
    assert (result.better, result.worse, result.dominance) == (2, 0, 1.0)
    assert result.difference == pytest.approx(-0.2)
    assert result.d_z < 0


def test_values_that_differ_by_rounding_only_are_tied():
    result = effect_sizes(np.array([0.1 + 0.2]), np.array([0.3]))
    assert (result.better, result.tied, result.difference) == (0, 1, 0.0)


def test_degenerate_pairs_have_defined_answers():
    same = np.array([0.5, 0.25])
    assert (effect_sizes(same, same).d_z, effect_sizes(same, same).tied) == (0.0, 2)
    assert effect_sizes(same + 0.25, same).d_z is None  # by the same amount everywhere
    assert effect_sizes(np.array([0.5]), np.array([0.25])).d_z is None
    nothing = effect_sizes(np.array([np.nan, 0.5]), np.array([0.5, np.nan]))
    assert (nothing.difference, nothing.d_z, nothing.dominance) == (None, None, None)
    assert (nothing.queries, nothing.left_out, nothing.reason) == (0, 2, "no query has a value for both systems")
