"""What the dates of an evaluation mean: its phase, which runs it takes, which are late, and what is public when."""

import datetime as dt
from enum import StrEnum
from typing import Protocol

from leaderboard.rules.moments import moment_in_words

__all__ = ["Dates", "Opening", "Phase", "is_closed", "is_late", "is_public", "phase_of", "refusal"]


class Phase(StrEnum):
    UPCOMING = "upcoming"
    OPEN = "open"
    CLOSED = "closed"


class Opening(StrEnum):
    """From when the public may see something of an evaluation."""

    ALWAYS = "always"
    CLOSED = "closed"  # once the evaluation has closed
    NEVER = "never"  # organisers only


class Dates(Protocol):
    """An evaluation, as far as its dates go. None: it has always been open, or never closes."""

    @property
    def title(self) -> str: ...
    @property
    def opens_at(self) -> dt.datetime | None: ...
    @property
    def closes_at(self) -> dt.datetime | None: ...
    @property
    def late_allowed(self) -> bool: ...


def phase_of(evaluation: Dates, now: dt.datetime) -> Phase:
    """It opens at `opens_at` and is closed from `closes_at` on, both moments included."""
    if evaluation.closes_at is not None and evaluation.closes_at <= now:
        return Phase.CLOSED
    if evaluation.opens_at is not None and now < evaluation.opens_at:
        return Phase.UPCOMING
    return Phase.OPEN


def is_closed(evaluation: Dates, now: dt.datetime) -> bool:
    """Whether the evaluation has closed at the moment `now`."""
    return phase_of(evaluation, now) is Phase.CLOSED


def is_late(evaluation: Dates, received_at: dt.datetime) -> bool:
    """Whether a run received then is late: late runs are shown, where they are taken at all, and never ranked."""
    return is_closed(evaluation, received_at)


def refusal(evaluation: Dates, received_at: dt.datetime) -> str | None:
    """Why a run received then is not taken, in words; None when it is taken."""
    phase = phase_of(evaluation, received_at)
    if phase is Phase.UPCOMING and evaluation.opens_at is not None:
        return f"{evaluation.title} takes runs from {moment_in_words(evaluation.opens_at)} on."
    if phase is Phase.CLOSED and evaluation.closes_at is not None and not evaluation.late_allowed:
        return f"{evaluation.title} closed on {moment_in_words(evaluation.closes_at)}; it takes no late runs."
    return None


def is_public(opening: Opening, evaluation: Dates, now: dt.datetime) -> bool:
    """Whether something that opens to the public by this rule is open to it now."""
    match opening:
        case Opening.ALWAYS:
            return True
        case Opening.CLOSED:
            return is_closed(evaluation, now)
        case Opening.NEVER:
            return False
