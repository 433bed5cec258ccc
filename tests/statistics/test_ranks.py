import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.errors import BadInput
from leaderboard.statistics import RankRange, competition_ranks, rank_ranges

NAN = np.nan


def test_equal_values_share_a_rank_and_the_next_is_skipped():
    assert competition_ranks(np.array([0.5, 0.9, 0.9, 0.1])).tolist() == [3, 1, 1, 4]


def test_undefined_values_share_the_last_rank():
    assert competition_ranks(np.array([NAN, -3.0, NAN, 0.0])).tolist() == [3, 2, 3, 1]
    assert competition_ranks(np.array([NAN, 3.0]), lower_is_better=True).tolist() == [2, 1]


def test_where_lower_is_better_the_smallest_is_first():
    assert competition_ranks(np.array([0.5, 0.25, 0.5]), lower_is_better=True).tolist() == [2, 1, 2]


def test_means_that_differ_by_rounding_only_share_a_rank():
    assert competition_ranks(np.array([0.1 + 0.2, 0.3, 0.29])).tolist() == [1, 1, 3]


def test_ranks_of_several_boards_are_taken_row_by_row():
    assert competition_ranks(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])).tolist() == [[2, 1], [1, 2], [1, 1]]


@given(st.lists(st.one_of(st.integers(-5, 5).map(float), st.just(NAN)), max_size=12))
def test_a_rank_is_one_more_than_the_number_of_better_systems(values):
    def better(a, b):
        return (a > b) if not np.isnan(b) else not np.isnan(a)

    expected = [1 + sum(better(other, value) for other in values) for value in values]
    assert competition_ranks(np.array(values)).tolist() == expected


@pytest.mark.parametrize("tiny", [5e-324, 1e-300])
def test_the_smallest_numbers_are_ranked_too(tiny):
    assert competition_ranks(np.array([0.0, tiny])).tolist() == [2, 1]


def test_the_range_leaves_out_at_most_half_of_the_rest_on_either_side():
    # of 40 resamples the second system wins once: 2.5 %, which a 95 % range may just leave out; of 39 it may not
    drawn = np.array([[1.0, 0.0]] * 39 + [[0.0, 1.0]])
    values = np.array([0.9, 0.1])
    assert rank_ranges(values, drawn) == (RankRange(1, 1, 1), RankRange(2, 1, 2))
    assert rank_ranges(values, drawn, level=0.9) == (RankRange(1, 1, 1), RankRange(2, 2, 2))
    assert rank_ranges(values, drawn, level=0.99) == (RankRange(1, 1, 2), RankRange(2, 1, 2))


def test_a_system_without_a_figure_comes_last_and_has_no_range():
    drawn = np.array([[0.5, NAN, 0.4]] * 20)
    assert rank_ranges(np.array([0.5, NAN, 0.4]), drawn) == (
        RankRange(1, 1, 1),
        RankRange(3, None, None),
        RankRange(2, 2, 2),
    )


def test_no_systems_have_no_ranges_and_an_impossible_level_is_refused():
    assert rank_ranges(np.array([]), np.empty((5, 0))) == ()
    with pytest.raises(BadInput, match="between 0 and 1"):
        rank_ranges(np.array([1.0]), np.ones((5, 1)), level=1.5)
