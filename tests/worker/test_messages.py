"""What the worker and its scoring process write to each other comes back as it was."""

import math
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from leaderboard.errors import Problem
from leaderboard.evaluations.rules import Subset
from leaderboard.worker.child_process import (
    Entered,
    Failed,
    Job,
    Message,
    Rejected,
    Settings,
    Stage,
    read_message,
    write_message,
)
from leaderboard.worker.queue import MeasureScore, RunScores

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


@pytest.mark.parametrize(
    "message",
    [
        Rejected((Problem(3, "two\nlines and ä"), Problem(None, "the file as a whole")), 1_000_000),
        Failed("an error while scoring: TypeError"),
        Entered(Stage.RUN),
        Settings("postgresql://user:päss@host/name", "/a/folder", 1, 2**40),
        Job(7, 8),
    ],
    ids=lambda message: type(message).__name__,
)
def test_any_other_message_is_one_line_and_is_read_as_it_was_written(message: Message) -> None:
    line = write_message(message)
    assert "\n" not in line
    assert read_message(line) == message
