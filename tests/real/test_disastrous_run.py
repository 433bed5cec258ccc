"""A run that returned everything or nothing, or a near copy, beside real runs: what is said of these stays the same."""

from pathlib import Path

import numpy as np

from leaderboard.statistics import rank_sets
from trials.disastrous_run import changed, real_boards

SOME = 1_000  # resamples
BORDERLINE = 0.1  # of the pairs of a board, as another seed changes


def test_a_disastrous_run_changes_nothing_that_is_said_of_real_runs(shared_data: Path) -> None:
    told_apart = 0
    for board in real_boards(shared_data):
        systems = board.values.shape[1]
        alone = rank_sets(board.values, "higher", width=board.width, resamples=SOME)
        for name, odd in board.odd.items():
            with_it = np.column_stack([board.values, odd])
            beside = rank_sets(with_it, "higher", width=board.width, resamples=SOME)
            found = changed(alone, beside)
            if beside.better[:systems, systems].all():
                told_apart += 1
                assert (found.pairs, found.best) == (0, False), (board.name, name)
            else:  # one more competitor of the weakest: the critical value rises a little for all
                assert found.pairs <= BORDERLINE * systems * (systems - 1) / 2, (board.name, name)
    assert told_apart >= 25
