import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leaderboard.metrics.aggregation import VALUE_OF_MEANS
from leaderboard.statistics import contributions

NAN = np.nan

# AQWV under pfa_only, the three queries of the worked example: N_total 601, β 20, q3 without relevant documents.
P_MISS = np.array([0.5, 0.0, NAN])
WEIGHTED_P_FA = 20 * np.array([1 / 599, 1 / 600, 1 / 601])


def test_the_mean_of_the_contributions_is_the_published_aqwv():
    added = contributions((P_MISS, WEIGHTED_P_FA), VALUE_OF_MEANS)
    assert added.mean() == pytest.approx(0.716667, abs=5e-7)
    assert added[2] == pytest.approx(1 - 20 / 601)


@given(st.integers(0, 2**32), st.integers(2, 12))
@settings(max_examples=50, deadline=None)
def test_swapping_two_systems_on_some_queries_changes_aqwv_as_it_changes_the_mean_contribution(seed, queries):
    draw = np.random.default_rng(seed)
    none_relevant = draw.random(queries) < 0.3
    none_relevant[0] = False
    first, second = (
        (np.where(none_relevant, NAN, draw.random(queries)), 20 * draw.random(queries) / 600) for _ in range(2)
    )
    swapped = draw.random(queries) < 0.5
    mixed = tuple(np.where(swapped, theirs, mine) for mine, theirs in zip(first, second, strict=True))
    expected = VALUE_OF_MEANS.combine(mixed, None)
    added = np.where(swapped, contributions(second, VALUE_OF_MEANS), contributions(first, VALUE_OF_MEANS))
    assert added.mean() == pytest.approx(expected)
