"""What the dates of an evaluation mean: its phase, which runs it takes, which are late, and what is public when.

Closing has two moments. From `closes_at` on no request to submit may begin; one that began before may go on sending
until `closed_from`, the end of the grace. What closing makes public opens only then, so that nobody who is still
sending can look at it first.
"""

import datetime as dt
from enum import StrEnum
from typing import Protocol

from leaderboard.moments import exact_moment_in_words, moment_in_words

LONGEST_GRACE = 24 * 3600  # seconds; migration 0001 has it too


class Phase(StrEnum):
    UPCOMING = "upcoming"
    OPEN = "open"
    GRACE = "closing"  # closed to new requests; uploads that began in time are still taken
    CLOSED = "closed"


class Opening(StrEnum):
    """From when the public may see something of an evaluation."""

    ALWAYS = "always"
    OPENED = "opened"  # once the evaluation has opened
    CLOSED = "closed"  # once the evaluation has closed and its grace is over
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
    def grace_seconds(self) -> int: ...
    @property
    def late_allowed(self) -> bool: ...


def closed_from(evaluation: Dates) -> dt.datetime | None:
    """The end of the grace, from which on the evaluation is closed to everything; None when it never closes."""
    if evaluation.closes_at is None:
        return None
    return evaluation.closes_at + dt.timedelta(seconds=evaluation.grace_seconds)


def phase_of(evaluation: Dates, now: dt.datetime) -> Phase:
    """It is open from `opens_at`, in its grace from `closes_at` and closed from `closed_from` on, each included."""
    end = closed_from(evaluation)
    if end is not None and end <= now:
        return Phase.CLOSED
    if evaluation.closes_at is not None and evaluation.closes_at <= now:
        return Phase.GRACE
    if evaluation.opens_at is not None and now < evaluation.opens_at:
        return Phase.UPCOMING
    return Phase.OPEN


def is_closed(evaluation: Dates, now: dt.datetime) -> bool:
    """Whether the evaluation has closed at the moment `now` and its grace is over."""
    return phase_of(evaluation, now) is Phase.CLOSED


def is_late(evaluation: Dates, begun_at: dt.datetime, received_at: dt.datetime) -> bool:
    """Whether a run is late, by the start of its request and its last byte: shown, where it is taken, and never ranked.

    It is on time when its last byte came before closing, or before the grace ended of a request begun before closing.
    """
    in_time = Phase.UPCOMING, Phase.OPEN
    return phase_of(evaluation, begun_at) not in in_time or is_closed(evaluation, received_at)


def refusal(evaluation: Dates, begun_at: dt.datetime, received_at: dt.datetime) -> str | None:
    """Why a run of a request begun then, whose last byte came then, is not taken, in words; None when it is taken."""
    if phase_of(evaluation, begun_at) is Phase.UPCOMING and evaluation.opens_at is not None:
        return f"{evaluation.title} takes runs from {moment_in_words(evaluation.opens_at)} on."
    if evaluation.closes_at is None or evaluation.late_allowed or not is_late(evaluation, begun_at, received_at):
        return None
    closed = f"{evaluation.title} closed on {moment_in_words(evaluation.closes_at)}"
    if begun_at < evaluation.closes_at:
        return (
            f"{closed} and waited {evaluation.grace_seconds} s for files that were on their way. The last byte of this "
            f"one came on {exact_moment_in_words(received_at)}; late runs are not taken."
        )
    return f"{closed}; it takes no late runs."


def teams_may_change(evaluation: Dates, now: dt.datetime) -> bool:
    """Whether what a team does now may still change which of its runs stand: until closing, without any grace."""
    return evaluation.closes_at is None or now < evaluation.closes_at


def is_public(opening: Opening, evaluation: Dates, now: dt.datetime) -> bool:
    """Whether something that opens to the public by this rule is open to it now."""
    match opening:
        case Opening.ALWAYS:
            return True
        case Opening.OPENED:
            return phase_of(evaluation, now) is not Phase.UPCOMING
        case Opening.CLOSED:
            return is_closed(evaluation, now)
        case Opening.NEVER:
            return False
