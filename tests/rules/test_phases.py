import datetime as dt
from dataclasses import dataclass

import pytest

from leaderboard.rules.phases import Opening, Phase, is_late, is_public, phase_of, refusal

OPENS = dt.datetime(2026, 6, 1, 12, 0, tzinfo=dt.UTC)
CLOSES = dt.datetime(2026, 6, 30, 12, 0, tzinfo=dt.UTC)
INSTANT = dt.timedelta(microseconds=1)


@dataclass(frozen=True)
class Held:
    title: str = "News 2026"
    opens_at: dt.datetime | None = OPENS
    closes_at: dt.datetime | None = CLOSES
    late_allowed: bool = False


@pytest.mark.parametrize(
    ("moment", "phase"),
    [
        (OPENS - INSTANT, Phase.UPCOMING),
        (OPENS, Phase.OPEN),
        (CLOSES - INSTANT, Phase.OPEN),
        (CLOSES, Phase.CLOSED),
    ],
)
def test_an_evaluation_is_open_from_its_first_moment_and_closed_at_its_last(moment: dt.datetime, phase: Phase) -> None:
    assert phase_of(Held(), moment) is phase


def test_without_dates_an_evaluation_is_always_open() -> None:
    assert phase_of(Held(opens_at=None, closes_at=None), OPENS) is Phase.OPEN
    assert phase_of(Held(opens_at=None), OPENS - INSTANT) is Phase.OPEN


def test_a_run_is_refused_before_opening_and_after_closing_unless_late_ones_are_taken() -> None:
    assert refusal(Held(), OPENS - INSTANT) == "News 2026 takes runs from 1 Jun 2026, 12:00 UTC on."
    assert refusal(Held(), OPENS) is None
    assert refusal(Held(), CLOSES - INSTANT) is None
    assert refusal(Held(), CLOSES) == "News 2026 closed on 30 Jun 2026, 12:00 UTC; it takes no late runs."
    assert refusal(Held(late_allowed=True), CLOSES) is None
    assert refusal(Held(late_allowed=True), OPENS - INSTANT) is not None


def test_a_run_is_late_from_closing_on() -> None:
    assert [is_late(Held(), moment) for moment in (OPENS, CLOSES - INSTANT, CLOSES)] == [False, False, True]


@pytest.mark.parametrize(
    ("opening", "before", "after"),
    [(Opening.ALWAYS, True, True), (Opening.CLOSED, False, True), (Opening.NEVER, False, False)],
)
def test_what_opens_when_the_evaluation_closes_is_public_from_then_on(
    opening: Opening, before: bool, after: bool
) -> None:
    assert is_public(opening, Held(), CLOSES - INSTANT) is before
    assert is_public(opening, Held(), CLOSES) is after


def test_what_opens_at_closing_stays_shut_where_nothing_ever_closes() -> None:
    assert not is_public(Opening.CLOSED, Held(closes_at=None), CLOSES)
