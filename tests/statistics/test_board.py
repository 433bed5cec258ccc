import numpy as np
import pytest

from leaderboard.metrics import Setting, parse
from leaderboard.metrics.aggregation import MEAN, VALUE_OF_MEANS
from leaderboard.statistics import board_statistics, least_queries

NAN = np.nan
SOME = {"resamples": 499}


def field(systems=6, queries=40, seed=0, step=0.05):
    """A board on which each system is a little worse than the one before."""
    draw = np.random.default_rng(seed)
    difficulty = draw.random(queries) / 2
    return {f"s{place}": (difficulty + 0.4 - step * place + draw.normal(0, 0.1, queries),) for place in range(systems)}


def sets_of(board):
    return [(each.rank, each.low, each.high) for each in board.rank_sets.values()]


def test_a_board_has_an_interval_and_a_rank_set_of_every_system():
    systems = field()
    board = board_statistics(systems, MEAN, **SOME)
    assert list(board.intervals) == list(systems)
    assert [rank for rank, _, _ in sets_of(board)] == [1, 2, 3, 4, 5, 6]
    for name, (column,) in systems.items():
        interval, ranks = board.intervals[name], board.rank_sets[name]
        assert interval.estimate == pytest.approx(column.mean())
        assert interval.low < interval.estimate < interval.high
        assert 1 <= ranks.low <= ranks.rank <= ranks.high <= 6
    assert (board.ranks.queries, board.ranks.resamples) == (40, 499)
    assert board.best == ("s0",)


def test_without_comparing_pairs_intervals_are_the_same_and_nothing_is_said_of_ranks():
    whole, part = board_statistics(field(), **SOME), board_statistics(field(), **SOME, compare_pairs=False)
    assert part.intervals == whole.intervals
    assert (part.rank_sets, part.best, part.ranks) == ({}, (), None)


def test_aqwv_under_pfa_only_is_compared_by_its_own_mean():
    # On the queries with relevant documents "a" is as good as "b"; its false alarms on the others cost it the lead.
    p_miss = np.where(np.arange(24) < 8, np.linspace(0, 0.5, 24), NAN)
    false_alarms = np.where(np.arange(24) < 8, 0.0, np.linspace(0.3, 0.9, 24))
    systems = {"a": (p_miss, false_alarms), "b": (p_miss, np.zeros(24))}
    board = board_statistics(systems, VALUE_OF_MEANS, **SOME)
    assert sets_of(board) == [(2, 2, 2), (1, 1, 1)]
    assert board.ranks.queries == 24


def test_baselines_are_compared_push_no_rank_and_show_who_is_above_all_of_them():
    systems = field(4, 60, step=0.3)
    board = board_statistics(systems, baselines={"s1", "s2"}, **SOME)
    assert sets_of(board) == [(1, 1, 1), (None, 2, 2), (None, 2, 2), (2, 2, 2)]
    assert board.above == ("s0",)
    assert board_statistics(systems, baselines={"s0"}, **SOME).above == ()
    assert board_statistics(systems, **SOME).above == ()


@pytest.mark.parametrize(("queries", "beta", "said"), [(149, 999.9, False), (150, 999.9, True), (149, 20.0, True)])
def test_where_one_query_can_cost_more_than_all_others_ranks_need_150_queries(queries, beta, said):
    steady = np.tile([0.5, 0.52, 0.54], 50)[:queries]
    systems = {"a": (steady,), "b": (steady[::-1] - 0.3,)}
    board = board_statistics(systems, least=least_queries(parse("AQWV"), Setting(beta=beta)), **SOME)
    assert board.ranks is not None
    assert bool(board.rank_sets) is said
    assert (board.ranks.reason is None) is said
    if not said:
        assert board.ranks.reason == "149 queries are too few: ranks of other queries like these are said from 150 on"


@pytest.mark.parametrize(("runs", "false_at_most", "false_at_least"), [(1, 0.06, 0.0), (20, 1.0, 0.1)])
def test_the_best_of_several_runs_taken_for_a_fixed_one_would_be_called_better_too_often(
    runs: int, false_at_most: float, false_at_least: float
) -> None:
    """Why boards say nothing of ranks there: eight equal systems, of which four have so many runs."""
    generator, campaigns, false = np.random.default_rng(1), 100, 0
    for _ in range(campaigns):
        query, systems = generator.normal(0.4, 0.2, 50), {}
        for number in range(8):
            own = query + generator.normal(0, 0.15, (runs if number < 4 else 1, 50))
            systems[str(number)] = (own[np.argmax(own.mean(axis=1))],)
        sets = board_statistics(systems, resamples=999).rank_sets.values()
        false += any((own.low, own.high) != (1, 8) for own in sets)
    assert false_at_least <= false / campaigns <= false_at_most
