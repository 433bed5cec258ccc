import numpy as np
import pytest

from leaderboard.errors import BadInput
from leaderboard.scoring import by_one_threshold, join, prepare
from tests.scoring.obvious import Line, judgments_of, run_of

SCORES = np.array([0.9, 0.3, 0.3 - 1e-9])
YES_NO = np.array([False, True, True])


@pytest.mark.parametrize("threshold", [float("nan"), float("inf")])
def test_a_threshold_that_is_no_finite_number_is_refused(threshold: float) -> None:
    with pytest.raises(BadInput, match="finite number"):
        join(run_of([Line("q", "a", 1.0)]), prepare(judgments_of({("q", "a"): 1})), threshold=threshold)


def test_decisions_are_of_one_threshold_when_no_score_that_is_left_out_reaches_one_that_is_returned() -> None:
    score = np.array([0.9, 0.5, 0.5, 0.1])
    assert by_one_threshold(score, None)
    for decision, expected in (("YYYN", True), ("YYYY", True), ("NNNN", True), ("YYNN", False), ("NYYN", False)):
        assert by_one_threshold(score, np.array([each == "Y" for each in decision])) is expected


def test_version_9_takes_scores_that_are_one_32_bit_number_for_one() -> None:
    score, decision = np.array([0.3 + 1e-9, 0.3]), np.array([True, False])
    assert (by_one_threshold(score, decision), by_one_threshold(score, decision, compat=9)) == (True, False)
