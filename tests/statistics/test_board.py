import json

import numpy as np
import pytest

from leaderboard.errors import BadInput
from leaderboard.metrics import parse
from leaderboard.metrics.aggregation import MEAN, VALUE_OF_MEANS
from leaderboard.statistics import SEED, VERSION, board_figures, interval

NAN = np.nan
SOME = {"resamples": 500}


def field(systems=6, queries=40, seed=0):
    """A board on which each system is a little worse than the one before."""
    draw = np.random.default_rng(seed)
    difficulty = draw.random(queries) / 2
    return {f"s{place}": (difficulty + 0.4 - 0.05 * place + draw.normal(0, 0.1, queries),) for place in range(systems)}


def test_a_board_has_value_interval_rank_range_and_letters_of_every_system():
    systems = field()
    board = board_figures(systems, MEAN, **SOME)
    assert [standing.name for standing in board.standings] == list(systems)
    assert [standing.ranks.rank for standing in board.standings] == [1, 2, 3, 4, 5, 6]
    for standing, (column,) in zip(board.standings, systems.values(), strict=True):
        assert standing.interval.value == pytest.approx(column.mean())
        assert standing.interval.low < standing.interval.value < standing.interval.high
        assert 1 <= standing.ranks.low <= standing.ranks.rank <= standing.ranks.high <= 6
        assert standing.letters
    assert board.leaders[0] == "s0"
    assert "s5" not in board.leaders
    assert all("a" in standing.letters.split() for standing in board.standings if standing.name in board.leaders)


def test_the_interval_on_the_board_is_the_systems_own():
    systems = field()
    board = board_figures(systems, **SOME)
    alone = interval(systems["s3"], **SOME)
    assert board.standings[3].interval.low == pytest.approx(alone.low, rel=1e-12)
    assert board.standings[3].interval.high == pytest.approx(alone.high, rel=1e-12)


def test_without_groups_intervals_and_ranges_are_the_same_and_nobody_is_compared():
    whole, part = board_figures(field(), **SOME), board_figures(field(), **SOME, groups=False)
    assert [(each.interval, each.ranks) for each in part.standings] == [
        (each.interval, each.ranks) for each in whole.standings
    ]
    assert (part.leaders, part.tukey, {each.letters for each in part.standings}) == ((), None, {""})


def test_what_is_stored_is_plain_json_without_nan():
    systems = field(3) | {"empty": (np.full(40, NAN),)}
    stored = board_figures(systems, **SOME).as_json()
    assert json.loads(json.dumps(stored, allow_nan=False)) == stored
    assert (stored["version"], stored["seed"], stored["resamples"], stored["level"]) == (VERSION, SEED, 500, 0.95)
    assert stored["tukey"] == {"queries": 40, "left_out": 0, "resamples": 500, "reason": None}
    assert stored["systems"]["empty"] == {
        "value": None,
        "low": None,
        "high": None,
        "queries": 0,
        "rank": 4,
        "rank_low": None,
        "rank_high": None,
        "letters": "",
        "reason": "no query has a value",
    }
    assert set(stored["systems"]["s0"]) == set(stored["systems"]["empty"])


def test_identical_systems_share_rank_range_and_group():
    column = np.random.default_rng(3).random(30)
    worse = column - 2
    board = board_figures({"a": (column,), "b": (worse,), "c": (column.copy(),)}, **SOME)
    assert [(s.ranks.rank, s.ranks.low, s.ranks.high) for s in board.standings] == [(1, 1, 1), (3, 3, 3), (1, 1, 1)]
    assert board.leaders == ("a", "c")
    assert [s.letters for s in board.standings] == ["a", "b", "a"]


def test_where_lower_is_better_the_smallest_leads():
    board = board_figures(field(4, 60), direction="lower", **SOME)
    assert [standing.ranks.rank for standing in board.standings] == [4, 3, 2, 1]
    assert board.leaders[0] == "s3"
    assert "a" in board.standings[3].letters


def test_a_measure_without_direction_has_intervals_but_no_ranks():
    board = board_figures(field(2), direction="none", **SOME)
    assert [(s.ranks, s.letters) for s in board.standings] == [(None, ""), (None, "")]
    assert board.standings[0].interval.low is not None
    assert (board.leaders, board.tukey) == ((), None)
    assert "no ranks" in board.reason
    json.dumps(board.as_json(), allow_nan=False)


def test_aqwv_under_pfa_only_is_ranked_by_its_own_figure():
    # On the queries with relevant documents "a" is as good as "b"; its false alarms on the third cost it the lead.
    p_miss = np.array([0.5, 0.0, NAN])
    systems = {"a": (p_miss, np.array([0.0, 0.0, 0.9])), "b": (p_miss, np.zeros(3))}
    board = board_figures(systems, VALUE_OF_MEANS, **SOME)
    assert [standing.interval.value for standing in board.standings] == pytest.approx([0.45, 0.75])
    assert [standing.ranks.rank for standing in board.standings] == [2, 1]
    assert board.tukey.queries == 3


def test_a_measure_of_the_whole_run_has_nothing_but_the_reason():
    measure = parse("MQWV")
    stored = board_figures({"a": (), "b": ()}, measure.family.aggregation).as_json()
    assert (stored["systems"], stored["leaders"], stored["tukey"]) == ({}, [], None)
    assert stored["reason"] == "defined on the whole run, not on its queries"


def test_small_boards_have_defined_figures():
    assert board_figures({}).as_json()["systems"] == {}
    alone = board_figures({"only": (np.array([0.25, 0.75]),)}, **SOME)
    assert alone.leaders == ("only",)
    assert alone.standings[0].ranks.rank == alone.standings[0].ranks.low == alone.standings[0].ranks.high == 1
    assert alone.tukey.reason == "fewer than two systems have values"
    undefined = board_figures({"a": (np.array([NAN]),), "b": (np.array([NAN]),)}, **SOME)
    assert undefined.leaders == ()
    one_query = board_figures({"a": (np.array([0.9]),), "b": (np.array([0.1]),)}, **SOME)
    assert one_query.leaders == ("a", "b")


def test_the_same_seed_gives_the_same_board():
    systems = field()
    assert board_figures(systems, seed=5, **SOME).as_json() == board_figures(systems, seed=5, **SOME).as_json()
    assert board_figures(systems, seed=5, **SOME).as_json() != board_figures(systems, seed=6, **SOME).as_json()


def test_impossible_settings_are_refused():
    with pytest.raises(BadInput, match="between 0 and 1"):
        board_figures(field(), level=95)
    with pytest.raises(BadInput, match="at least one resample"):
        board_figures(field(), resamples=0)
