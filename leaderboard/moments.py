"""Moments and days in words, always in UTC."""

import datetime as dt


def day_in_words(moment: dt.datetime) -> str:
    """`20 Nov 2026`: the day of a moment in UTC. Naive moments are refused with ValueError."""
    moment = _in_utc(moment)
    return f"{moment.day} {moment:%b %Y}"


def moment_in_words(moment: dt.datetime) -> str:
    """`20 Nov 2026, 14:05 UTC`. Naive moments are refused with ValueError."""
    return f"{day_in_words(moment)}, {_in_utc(moment):%H:%M} UTC"


def exact_moment_in_words(moment: dt.datetime) -> str:
    """`20 Nov 2026, 14:05:09 UTC`: to the second, rounded down. Naive moments are refused with ValueError."""
    return f"{day_in_words(moment)}, {_in_utc(moment):%H:%M:%S} UTC"


def _in_utc(moment: dt.datetime) -> dt.datetime:
    if moment.tzinfo is None:
        raise ValueError(f"a moment needs its time zone: {moment!r}")
    return moment.astimezone(dt.UTC)
