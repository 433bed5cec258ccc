"""Swap rates, against counting every way to draw two sets."""

from itertools import combinations

import numpy as np
import pytest

from leaderboard.errors import BadInput
from leaderboard.statistics import swap_rates

NAN = np.nan


def board(queries, systems=4, seed=1, apart=0.05):
    draw = np.random.default_rng(seed)
    return draw.random((queries, systems)) - apart * np.arange(systems)


def by_counting(values, size):
    """The share of pairs that change order, over every two sets of `size` queries without one in common."""
    queries, systems = values.shape
    swapped = total = 0
    for first in combinations(range(queries), size):
        for second in combinations(sorted(set(range(queries)) - set(first)), size):
            one, other = (np.nanmean(values[list(chosen)], axis=0) for chosen in (first, second))
            for better, worse in combinations(range(systems), 2):
                total += 1
                swapped += (one[better] - one[worse]) * (other[better] - other[worse]) < 0
    return swapped / total


@pytest.mark.parametrize(("queries", "size"), [(7, 2), (6, 3)])
def test_the_rate_is_the_share_over_all_ways_to_draw_two_sets(queries, size):
    values = board(queries)
    (found,) = swap_rates(values, 0.3, sizes=(size,), draws=20_000)
    # 20,000 draws of six pairs each: their standard error is below .003.
    assert found.rate == pytest.approx(by_counting(values, size), abs=0.01)


def test_larger_sets_swap_less_and_smaller_differences_can_be_relied_on():
    found = swap_rates(board(200, systems=10, apart=0.03), 0.4)
    assert [each.size for each in found] == [5, 10, 20, 50, 100]
    rates = [each.rate for each in found]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > 2 * rates[-1]
    relied_on = [each.difference for each in found if each.difference is not None]
    assert len(relied_on) >= 2
    assert relied_on == sorted(relied_on, reverse=True)


def test_of_the_differences_that_can_be_relied_on_few_are_in_the_other_order_on_other_queries():
    values = board(2_000, systems=10, apart=0.03)
    (found,) = swap_rates(values[:100], 0.4, sizes=(25,))
    draw = np.random.default_rng(2)
    relied_on = turned = 0
    for _ in range(300):
        chosen = draw.permutation(2_000)
        one, other = values[chosen[:25]].mean(axis=0), values[chosen[25:50]].mean(axis=0)
        for better, worse in combinations(range(10), 2):
            if abs(one[better] - one[worse]) >= found.difference:
                relied_on += 1
                turned += (one[better] - one[worse]) * (other[better] - other[worse]) < 0
    assert relied_on > 1_000
    assert turned / relied_on < 0.05


def test_a_query_without_values_is_never_drawn_and_one_systems_gap_leaves_out_its_pairs():
    values = board(12)
    with_gap = np.vstack([values, np.full((3, 4), NAN)])
    assert swap_rates(with_gap, 0.3) == swap_rates(values, 0.3)
    values[1:, 3] = NAN  # a system with one value: it is never in both sets
    assert swap_rates(values, 0.3)[0].rate == swap_rates(values[:, :3], 0.3)[0].rate


def test_nothing_to_draw_gives_nothing():
    assert swap_rates(board(9), 0.3) == ()
    assert swap_rates(board(20, systems=1), 0.3) == ()
    assert swap_rates(board(20), 0.0) == ()
    with pytest.raises(BadInput, match="at least one resample"):
        swap_rates(board(20), 0.3, draws=0)
