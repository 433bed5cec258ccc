import datetime as dt

from leaderboard.submissions.rules import UNFINISHED, Ruling, State, shown_state

NOON = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)


def test_a_submission_shows_the_state_of_its_scoring() -> None:
    assert [shown_state(state, None, None) for state in State] == ["queued", "scoring", "scored", "rejected", "failed"]


def test_a_submission_without_judgments_to_score_it_by_is_queued() -> None:
    assert shown_state(None, None, None) == "queued"


def test_a_withdrawn_submission_is_withdrawn_whatever_became_of_its_scoring() -> None:
    assert {shown_state(state, NOON, ruling) for state in (None, *State) for ruling in (None, *Ruling)} == {"withdrawn"}


def test_a_submission_that_organisers_took_off_the_boards_says_so() -> None:
    assert {shown_state(state, None, Ruling.HIDDEN) for state in (None, *State)} == {"hidden"}
    assert {shown_state(state, None, Ruling.DISQUALIFIED) for state in (None, *State)} == {"disqualified"}


def test_a_scoring_is_unfinished_until_it_is_scored_rejected_or_failed() -> None:
    assert set(State) - set(UNFINISHED) == {State.SCORED, State.REJECTED, State.FAILED}
