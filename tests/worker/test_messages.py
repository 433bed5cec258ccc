"""What the worker and its scoring process write to each other comes back as it was."""

import math
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.errors import Problem
from leaderboard.evaluations.rules.scoring_settings import Subset
from leaderboard.worker.child_process import (
    Entered,
    Exceeded,
    Failed,
    Job,
    Rejected,
    Reply,
    Settings,
    Stage,
    read_reply,
    write_reply,
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
    line = write_reply(SCORES)
    assert "\n" not in line
    read = read_reply(line)
    assert isinstance(read, RunScores)
    assert [each.values.tobytes() for each in read.measures] == [each.values.tobytes() for each in SCORES.measures]
    alike = [replace(each, values=own.values) for each, own in zip(read.measures, SCORES.measures, strict=True)]
    assert replace(read, measures=tuple(alike)) == SCORES


@pytest.mark.parametrize(
    "reply",
    [
        Rejected((Problem(3, "two\nlines and ä"), Problem(None, "the file as a whole")), 1_000_000),
        Failed("an error while scoring: TypeError"),
        Exceeded("this file needs more memory"),
        Entered(Stage.RUN),
    ],
    ids=lambda reply: type(reply).__name__,
)
def test_any_other_reply_is_one_line_and_is_read_as_it_was_written(reply: Reply | Entered) -> None:
    line = write_reply(reply)
    assert "\n" not in line
    assert read_reply(line) == reply


def test_settings_and_jobs_are_one_line_and_are_read_as_they_were_written() -> None:
    settings = Settings("postgresql://user:päss@host/name", "/a/folder", 1, 2**40)
    assert Settings.read(settings.line()) == settings
    assert Job.read(Job(7, 8).line()) == Job(7, 8)
    assert "\n" not in settings.line() + Job(7, 8).line()


def test_a_reply_of_no_known_kind_is_an_error() -> None:
    with pytest.raises(ValueError, match="Guess"):
        read_reply('{"kind": "Guess"}')
