import numpy as np
import pytest
from hypothesis import given, strategies as st

from leaderboard.statistics import competition_ranks

NAN = np.nan


@given(st.lists(st.one_of(st.integers(-5, 5).map(float), st.just(NAN)), max_size=12))
def test_a_rank_is_one_more_than_the_number_of_better_systems(values):
    def better(a, b):
        return (a > b) if not np.isnan(b) else not np.isnan(a)

    expected = [1 + sum(better(other, value) for other in values) for value in values]
    assert competition_ranks(np.array(values), "higher").tolist() == expected


# At most 1e-12 apart is a tie, of the larger one where it is above 1: equal to twelve digits, but not below 1e-12.
@pytest.mark.parametrize(
    ("means", "ranks"),
    [
        ([0.25, 0.25 + 2e-12], [2, 1]),
        ([0.25, 0.25 + 5e-13], [1, 1]),
        ([2000.0, 2000.0 + 4e-9], [2, 1]),
        ([2000.0, 2000.0 + 1e-9], [1, 1]),
        ([-999.0, -999.0 - 1e-10], [1, 1]),
        ([1.0 - 0.7 - 0.3, 0.0], [1, 1]),  # AQWV of P_miss .7 and β · P_fa .3 is 5.6e-17 in float64
        ([1e-9, 2e-9], [2, 1]),
    ],
)
def test_means_equal_to_twelve_digits_tie_and_others_do_not(means, ranks):
    assert competition_ranks(np.array(means), "higher").tolist() == ranks
    assert competition_ranks(-np.array(means), "lower").tolist() == ranks
