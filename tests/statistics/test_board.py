import numpy as np
import pytest

from leaderboard.errors import BadInput
from leaderboard.metrics import parse
from leaderboard.metrics.aggregation import MEAN, VALUE_OF_MEANS
from leaderboard.statistics import board_statistics, intervals

NAN = np.nan
SOME = {"resamples": 500}


def field(systems=6, queries=40, seed=0):
    """A board on which each system is a little worse than the one before."""
    draw = np.random.default_rng(seed)
    difficulty = draw.random(queries) / 2
    return {f"s{place}": (difficulty + 0.4 - 0.05 * place + draw.normal(0, 0.1, queries),) for place in range(systems)}


def ranks(board):
    return [each.rank_range.rank for each in board.systems.values()]


def test_a_board_has_an_interval_and_a_rank_range_of_every_system():
    systems = field()
    board = board_statistics(systems, MEAN, **SOME)
    assert list(board.systems) == list(systems)
    assert ranks(board) == [1, 2, 3, 4, 5, 6]
    for each, (column,) in zip(board.systems.values(), systems.values(), strict=True):
        assert each.interval.estimate == pytest.approx(column.mean())
        assert each.interval.low < each.interval.estimate < each.interval.high
        assert 1 <= each.rank_range.low <= each.rank_range.rank <= each.rank_range.high <= 6
    assert board.leaders[0] == "s0"
    assert "s5" not in board.leaders


def test_the_interval_on_the_board_is_the_systems_own():
    systems = field()
    board = board_statistics(systems, **SOME)
    (alone,) = intervals([systems["s3"]], **SOME)
    assert board.systems["s3"].interval.low == pytest.approx(alone.low, rel=1e-12)
    assert board.systems["s3"].interval.high == pytest.approx(alone.high, rel=1e-12)


def test_without_the_test_of_pairs_intervals_and_ranges_are_the_same_and_nobody_is_compared():
    whole, part = board_statistics(field(), **SOME), board_statistics(field(), **SOME, compare_pairs=False)
    assert part.systems == whole.systems
    assert (part.leaders, part.tukey) == ((), None)


def test_a_system_without_a_value_has_neither_interval_nor_range_and_is_no_leader():
    board = board_statistics(field(3) | {"empty": (np.full(40, NAN),)}, **SOME)
    empty = board.systems["empty"]
    assert (empty.interval.estimate, empty.interval.low, empty.interval.high) == (None, None, None)
    assert (empty.interval.queries, empty.interval.reason) == (0, "no query has a value")
    assert (empty.rank_range.rank, empty.rank_range.low, empty.rank_range.high) == (4, None, None)
    assert "empty" not in board.leaders
    assert (board.tukey.queries, board.tukey.left_out, board.tukey.permutations) == (40, 0, 500)


def test_identical_systems_share_rank_range_and_lead():
    column = np.random.default_rng(3).random(30)
    worse = column - 2
    board = board_statistics({"a": (column,), "b": (worse,), "c": (column.copy(),)}, **SOME)
    ranges = [each.rank_range for each in board.systems.values()]
    assert [(each.rank, each.low, each.high) for each in ranges] == [(1, 1, 1), (3, 3, 3), (1, 1, 1)]
    assert board.leaders == ("a", "c")


def test_equal_values_in_another_order_of_queries_share_a_rank_although_their_sums_differ():
    values = np.array([0.1, 0.2, 0.3])
    assert values.sum() != values[::-1].sum()
    board = board_statistics({"a": (values,), "b": (values[::-1].copy(),)}, **SOME)
    assert ranks(board) == [1, 1]


def test_where_lower_is_better_the_smallest_leads():
    board = board_statistics(field(4, 60), direction="lower", **SOME)
    assert ranks(board) == [4, 3, 2, 1]
    assert board.leaders[0] == "s3"


def test_a_measure_without_direction_has_intervals_but_no_ranks():
    board = board_statistics(field(2), direction="none", **SOME)
    assert [each.rank_range for each in board.systems.values()] == [None, None]
    assert board.systems["s0"].interval.low is not None
    assert (board.leaders, board.tukey) == ((), None)


def test_aqwv_under_pfa_only_is_ranked_by_its_own_mean():
    # On the queries with relevant documents "a" is as good as "b"; its false alarms on the third cost it the lead.
    p_miss = np.array([0.5, 0.0, NAN])
    systems = {"a": (p_miss, np.array([0.0, 0.0, 0.9])), "b": (p_miss, np.zeros(3))}
    board = board_statistics(systems, VALUE_OF_MEANS, **SOME)
    assert [each.interval.estimate for each in board.systems.values()] == pytest.approx([0.45, 0.75])
    assert ranks(board) == [2, 1]
    assert board.tukey.queries == 3


def test_a_measure_of_the_whole_run_has_nothing():
    board = board_statistics({"a": (), "b": ()}, parse("MQWV").family.aggregation)
    assert (board.systems, board.leaders, board.tukey) == ({}, (), None)


def test_small_boards_have_defined_statistics():
    assert board_statistics({}).systems == {}
    alone = board_statistics({"only": (np.array([0.25, 0.75]),)}, **SOME)
    assert alone.leaders == ("only",)
    assert alone.systems["only"].rank_range.low == alone.systems["only"].rank_range.high == 1
    assert alone.tukey.reason == "fewer than two systems have values"
    undefined = board_statistics({"a": (np.array([NAN]),), "b": (np.array([NAN]),)}, **SOME)
    assert undefined.leaders == ()
    one_query = board_statistics({"a": (np.array([0.9]),), "b": (np.array([0.1]),)}, **SOME)
    assert one_query.leaders == ("a", "b")


def test_the_same_seed_gives_the_same_board():
    systems = field()
    first, again, other = (board_statistics(systems, seed=seed, **SOME) for seed in (5, 5, 6))
    assert first.systems == again.systems
    assert first.systems != other.systems


def test_impossible_settings_are_refused():
    with pytest.raises(BadInput, match="between 0 and 1"):
        board_statistics(field(), confidence=95)
    with pytest.raises(BadInput, match="at least one resample"):
        board_statistics(field(), resamples=0)
