import datetime as dt

from leaderboard.submissions.rules import Ruling, State, shown_state

NOON = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)


def test_a_submission_shows_the_state_of_its_scoring_and_before_it_what_was_decided_about_it() -> None:
    assert [shown_state(state, None, None) for state in State] == ["queued", "scoring", "scored", "rejected", "failed"]
    assert shown_state(None, None, None) == "queued"
    assert {shown_state(state, NOON, ruling) for state in (None, *State) for ruling in (None, *Ruling)} == {"withdrawn"}
    assert {shown_state(state, None, Ruling.HIDDEN) for state in (None, *State)} == {"hidden"}
    assert {shown_state(state, None, Ruling.DISQUALIFIED) for state in (None, *State)} == {"disqualified"}
