"""What the worker and its scoring process write to each other comes back as it was."""

import math
from dataclasses import replace

import msgspec
import numpy as np

from leaderboard.evaluations.rules import Subset
from leaderboard.worker.messages import MeasureScore, RunScores, read_message, write_message

VALUES = np.array([0.1, math.nan, -20.0, 5e-324])
SCORES = RunScores(
    measures=(
        MeasureScore("AP", Subset.ALL, 0.1 + 0.2, 3, VALUES),
        MeasureScore("MQWV", Subset.SHOWN, None, 0, np.zeros(0)),
    ),
    missing=("q1", "a query: ä"),
    unjudged=(),
    seconds=0.25,
    facts={"lines": 3, "tag": "a run", "theta": {"MQWV": None}},
)


def test_scores_are_one_line_and_are_read_to_the_last_bit() -> None:
    line = write_message(SCORES)
    assert "\n" not in line
    read = read_message(line)
    assert isinstance(read, RunScores)
    assert [each.values.tobytes() for each in read.measures] == [each.values.tobytes() for each in SCORES.measures]
    alike = [replace(each, values=own.values) for each, own in zip(read.measures, SCORES.measures, strict=True)]
    assert msgspec.structs.replace(read, measures=tuple(alike)) == SCORES
