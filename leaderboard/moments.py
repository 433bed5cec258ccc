"""Moments and days in words, always in UTC.

Time zones that organisers think in: those of the tz database by their names, and AoE, anywhere on Earth.
"""

import datetime as dt
from functools import cache
from zoneinfo import ZoneInfo, available_timezones


def day_in_words(moment: dt.datetime) -> str:
    """`20 Nov 2026`: the day of a moment in UTC."""
    return f"{moment.astimezone(dt.UTC):%-d %b %Y}"


def moment_in_words(moment: dt.datetime) -> str:
    """`20 Nov 2026, 14:05 UTC`."""
    return f"{moment.astimezone(dt.UTC):%-d %b %Y, %H:%M} UTC"


def exact_moment_in_words(moment: dt.datetime) -> str:
    """`20 Nov 2026, 14:05:09 UTC`: to the second, rounded down."""
    return f"{moment.astimezone(dt.UTC):%-d %b %Y, %H:%M:%S} UTC"


UTC = "UTC"
AOE = "AoE"  # a day is over when it is over everywhere: twelve hours behind UTC


@cache
def zone_names() -> tuple[str, ...]:
    """UTC and AoE, then all others in their order."""
    return (UTC, AOE, *sorted(available_timezones() - {UTC, "localtime", "Factory"}))


def from_local(local: dt.datetime, zone: str) -> dt.datetime:
    """The moment, in UTC, at which clocks of the zone show `local`.

    Raises ValueError where they never do, because they are put forward past it, and where they do twice, because they
    are put back: nobody could tell which of the two is meant.
    """
    moment, again = (local.replace(tzinfo=_zone(zone), fold=fold).astimezone(dt.UTC) for fold in (0, 1))
    if to_local(moment, zone) != local:
        raise ValueError(f"clocks in {zone} never show {local:%H:%M} on that day: they are put forward past it")
    if again != moment:
        raise ValueError(
            f"clocks in {zone} show {local:%H:%M} twice on that day, when they are put back: give another time, or the "
            "dates in UTC"
        )
    return moment


def to_local(moment: dt.datetime, zone: str) -> dt.datetime:
    """What clocks of the zone show at a moment; without a zone of its own."""
    return moment.astimezone(_zone(zone)).replace(tzinfo=None, fold=0)


def a_year_later(moment: dt.datetime, zone: str) -> dt.datetime:
    """The same day and time of the next year by clocks of the zone; of 29 February the 28th.

    A time that is left out that day, because clocks are put forward, is an hour later.
    """
    local = to_local(moment, zone)
    day = 28 if (local.month, local.day) == (2, 29) else local.day
    return local.replace(year=local.year + 1, day=day, tzinfo=_zone(zone)).astimezone(dt.UTC)


def _zone(name: str) -> dt.tzinfo:
    return dt.timezone(dt.timedelta(hours=-12)) if name == AOE else ZoneInfo(name)
