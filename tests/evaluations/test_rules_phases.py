import datetime as dt
from dataclasses import dataclass

import pytest

from leaderboard.evaluations.rules import Opening, Phase, is_late, is_public, phase_of, refusal, teams_may_change

OPENS = dt.datetime(2026, 6, 1, 12, 0, tzinfo=dt.UTC)
CLOSES = dt.datetime(2026, 6, 30, 12, 0, tzinfo=dt.UTC)
INSTANT = dt.timedelta(microseconds=1)
SECOND = dt.timedelta(seconds=1)
OVER = CLOSES + 60 * SECOND  # the end of the grace


@dataclass(frozen=True)
class Held:
    title: str = "News 2026"
    opens_at: dt.datetime | None = OPENS
    closes_at: dt.datetime | None = CLOSES
    grace_seconds: int = 60
    late_allowed: bool = False


def test_an_evaluation_is_open_until_closing_and_closed_when_its_grace_is_over() -> None:
    moments = OPENS - INSTANT, OPENS, CLOSES - INSTANT, CLOSES, OVER - INSTANT, OVER
    phases = Phase.UPCOMING, Phase.OPEN, Phase.OPEN, Phase.GRACE, Phase.GRACE, Phase.CLOSED
    assert tuple(phase_of(Held(), moment) for moment in moments) == phases
    assert phase_of(Held(grace_seconds=0), CLOSES) is Phase.CLOSED
    assert phase_of(Held(opens_at=None, closes_at=None), OPENS) is Phase.OPEN
    assert phase_of(Held(opens_at=None), OPENS - INSTANT) is Phase.OPEN


def test_a_run_is_refused_before_opening_and_after_closing_unless_late_ones_are_taken() -> None:
    early, last = OPENS - INSTANT, CLOSES - INSTANT
    assert refusal(Held(), early, OPENS) == "News 2026 takes runs from 1 Jun 2026, 12:00 UTC on."
    assert refusal(Held(), OPENS, OPENS) is refusal(Held(), last, last) is None
    assert refusal(Held(), CLOSES, CLOSES) == (
        "News 2026 closed on 30 Jun 2026, 12:00 UTC, and 60 s later for files on their way; it takes no late runs."
    )
    assert refusal(Held(late_allowed=True), CLOSES, CLOSES) is None
    assert refusal(Held(late_allowed=True), early, early) is not None


def test_a_run_whose_last_byte_comes_after_the_grace_is_refused() -> None:
    assert refusal(Held(), CLOSES - SECOND, OVER - INSTANT) is None
    assert refusal(Held(), CLOSES - SECOND, CLOSES + 75 * SECOND) is not None
    assert refusal(Held(late_allowed=True), CLOSES - SECOND, CLOSES + 75 * SECOND) is None


@pytest.mark.parametrize(
    ("grace", "begun", "received", "late"),
    [
        (60, OPENS, CLOSES - INSTANT, False),
        (60, CLOSES - INSTANT, OVER - INSTANT, False),
        (60, CLOSES - INSTANT, OVER, True),
        (60, CLOSES, CLOSES + SECOND, True),  # begun in the grace
        (0, CLOSES - INSTANT, CLOSES - INSTANT, False),
        (0, CLOSES - INSTANT, CLOSES, True),
        (90, CLOSES - INSTANT, CLOSES + 75 * SECOND, False),
    ],
)
def test_a_run_is_on_time_before_closing_or_within_the_grace_of_a_request_begun_before(
    grace: int, begun: dt.datetime, received: dt.datetime, late: bool
) -> None:
    assert is_late(Held(grace_seconds=grace), begun, received) is late


def test_what_a_team_does_changes_its_standing_until_closing_and_not_in_the_grace() -> None:
    assert teams_may_change(Held(), CLOSES - INSTANT)
    assert not teams_may_change(Held(), CLOSES)
    assert teams_may_change(Held(closes_at=None), CLOSES)


@pytest.mark.parametrize(
    ("opening", "public"),
    [
        (Opening.ALWAYS, [True, True, True, True]),
        (Opening.OPENED, [False, True, True, True]),
        (Opening.CLOSED, [False, False, False, True]),
        (Opening.NEVER, [False, False, False, False]),
    ],
)
def test_what_opens_when_the_evaluation_closes_is_public_once_the_grace_is_over(
    opening: Opening, public: list[bool]
) -> None:
    moments = OPENS - INSTANT, OPENS, OVER - INSTANT, OVER
    assert [is_public(opening, Held(), moment) for moment in moments] == public
    assert not is_public(Opening.CLOSED, Held(closes_at=None), CLOSES)
