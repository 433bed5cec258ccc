"""A run that returned everything or nothing beside real runs: what is said of these stays the same. A near copy of one
of them that lost a query changes borderline pairs only.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from leaderboard.statistics.ranks import RankSets, rank_sets
from trials.disastrous_run import DISASTROUS, Board, changed, real_boards

SOME = 1_000  # resamples
BORDERLINE = 0.1  # of the pairs of a board


@cache
def alone(data: Path) -> list[tuple[Board, RankSets]]:
    return [(one, rank_sets(one.values, "higher", width=one.width, resamples=SOME)) for one in real_boards(data)]


def with_odd_runs(data: Path, *, disastrous: bool) -> Iterator[tuple[str, int, RankSets, RankSets]]:
    """(name, how many systems, the board without the odd run, with it behind the others)"""
    for board, without in alone(data):
        for name, odd in board.odd.items():
            if (name in DISASTROUS) is disastrous:
                values = np.column_stack([board.values, odd])
                beside = rank_sets(values, "higher", width=board.width, resamples=SOME)
                yield f"{board.name}, {name}", board.values.shape[1], without, beside


def test_a_run_that_returned_everything_or_nothing_changes_nothing_that_is_said_of_runs_it_is_worse_than(
    shared_data: Path,
) -> None:
    told_apart = 0
    for name, systems, without, beside in with_odd_runs(shared_data, disastrous=True):
        found = changed(without, beside)
        if beside.better[:systems, systems].all():
            told_apart += 1
            assert (found.pairs, found.best) == (0, False), name
        else:  # one more competitor of the weakest: the critical value rises a little for all
            assert found.pairs <= BORDERLINE * systems * (systems - 1) / 2, name
    assert told_apart >= 25


def test_a_near_copy_that_lost_a_query_changes_borderline_pairs_only(shared_data: Path) -> None:
    for name, systems, without, beside in with_odd_runs(shared_data, disastrous=False):
        assert changed(without, beside).pairs <= BORDERLINE * systems * (systems - 1) / 2, name
