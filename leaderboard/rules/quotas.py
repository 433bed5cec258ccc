"""How many runs a team, and a person over all of their teams, may still submit to an evaluation. Days are in UTC."""

import datetime as dt
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from leaderboard.rules.moments import moment_in_words

__all__ = ["DAILY_QUOTA", "REJECTED_A_DAY", "Limits", "Quota", "Use", "day_of", "quota_of", "retry_seconds", "start_of"]

DAILY_QUOTA = (
    5  # of a new evaluation whose organisers set no other: what each run's figures tell of the judgments adds up
)
REJECTED_A_DAY = 20  # files that a team, and a person, may have rejected in one evaluation on one day


class Limits(Protocol):
    """An evaluation, as far as its quotas go; None is no limit."""

    @property
    def daily_quota(self) -> int | None: ...
    @property
    def total_quota(self) -> int | None: ...


class Use(Protocol):
    """What a team or a person has used in an evaluation. `used_today` and `rejected_today` count the day `day`."""

    @property
    def day(self) -> dt.date: ...
    @property
    def used_today(self) -> int: ...
    @property
    def rejected_today(self) -> int: ...
    @property
    def used(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Quota:
    """How much of an evaluation's quotas one team has used, or one person over all of their teams.

    A limit of None is no limit. Files of today that nobody has checked yet count as if they might all be rejected, so
    that no more than REJECTED_A_DAY ever are. Files that are arriving count against every limit, so that no more are
    taken in than there is room for.
    """

    daily: int | None
    used_today: int
    total: int | None
    used: int
    rejected_today: int
    unchecked_today: int
    arriving: int
    resets_at: dt.datetime  # the next 00:00 UTC
    of_person: bool

    @property
    def left_today(self) -> int | None:
        return None if self.daily is None else max(0, self.daily - self.used_today - self.arriving)

    @property
    def left_in_all(self) -> int | None:
        return None if self.total is None else max(0, self.total - self.used - self.arriving)

    @property
    def rejections_left(self) -> int:
        """Files that may still be sent today before some of those that wait have been checked, or the day is over."""
        return max(0, REJECTED_A_DAY - self.rejected_today - self.unchecked_today - self.arriving)

    @property
    def left(self) -> int | None:
        """Submissions that are left right now; None when there is no limit."""
        limits = [limit for limit in (self.left_today, self.left_in_all) if limit is not None]
        if self.rejections_left == 0:
            return 0
        return min(limits, default=None)

    @property
    def is_spent_for_good(self) -> bool:
        """Whether no other day brings submissions again."""
        return self.total is not None and self.used >= self.total

    @property
    def spent(self) -> str | None:
        """Why nothing is left, in words; None when something is."""
        resets = f"The count starts again on {moment_in_words(self.resets_at)}."
        used, its = ("You have used", "your") if self.of_person else ("Your team has used", "its")
        among = ", over all of your teams" if self.of_person else ""
        files = "of your files" if self.of_person else "files of your team"
        if self.is_spent_for_good:
            return f"{used} {self.total} of {its} {self.total} submissions to this evaluation{among}."
        if self.daily is not None and self.used_today >= self.daily:
            return f"{used} {self.daily} of {its} {self.daily} submissions for today{among}. {resets}"
        if self.rejected_today >= REJECTED_A_DAY:
            return f"{self.rejected_today} {files} were rejected here today, and no more are taken. {resets}"
        if self.rejected_today + self.unchecked_today >= REJECTED_A_DAY:
            rejected = f" and {self.rejected_today} were rejected" if self.rejected_today else ""
            return (
                f"{self.unchecked_today} {files} that came today are not checked yet{rejected}; the most that may be "
                f"rejected in a day is {REJECTED_A_DAY}. Send the next one when some of them are checked, or after "
                f"{moment_in_words(self.resets_at)}."
            )
        if self.left == 0:
            return (
                f"What is left is held for {files} that are arriving just now ({self.arriving}). Send the next one "
                "when they have come."
            )
        return None


def retry_seconds(quotas: Iterable[Quota], now: dt.datetime) -> int:
    """In how many seconds to ask again when some are spent: 60 while files arrive or wait, else tomorrow."""
    if any(
        (quota.left == 0 and quota.arriving) or (quota.rejections_left == 0 and quota.unchecked_today)
        for quota in quotas
    ):
        return 60
    return math.ceil((start_of(day_of(now) + dt.timedelta(days=1)) - now).total_seconds())


def day_of(moment: dt.datetime) -> dt.date:
    """The day that a moment counts for: its date in UTC."""
    return moment.astimezone(dt.UTC).date()


def start_of(day: dt.date) -> dt.datetime:
    """The first moment of a day."""
    return dt.datetime.combine(day, dt.time(), dt.UTC)


def quota_of(
    limits: Limits, use: Use | None, now: dt.datetime, *, unchecked: int = 0, arriving: int = 0, of_person: bool = False
) -> Quota:
    """The quotas of a team, or of a person, at `now`.

    use        None before the first submission to the evaluation
    unchecked  files sent on the day of `now` that are neither scored, nor rejected, nor failed yet
    arriving   files whose bytes are being read
    """
    today = use if use is not None and use.day == day_of(now) else None
    return Quota(
        daily=limits.daily_quota,
        used_today=today.used_today if today is not None else 0,
        total=limits.total_quota,
        used=use.used if use is not None else 0,
        rejected_today=today.rejected_today if today is not None else 0,
        unchecked_today=unchecked,
        arriving=arriving,
        resets_at=start_of(day_of(now) + dt.timedelta(days=1)),
        of_person=of_person,
    )
