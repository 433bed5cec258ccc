"""How many runs a team, and a person over all of their teams, may still submit to an evaluation. Days are in UTC."""

import datetime as dt
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from leaderboard.moments import moment_in_words

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
    taken in than there is room for, and so do those that came and wait for their sender's yes.

    arriving  both of these; waiting, waits_until: how many of them wait, and until when the first does at most
    """

    daily: int | None
    used_today: int
    total: int | None
    used: int
    rejected_today: int
    unchecked_today: int
    arriving: int
    waiting: int
    waits_until: dt.datetime | None
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
        if self.total is not None and self.used >= self.total:
            return f"{used} {_of_limit(self.used, self.total, its, f'to this evaluation{among}')}."
        if self.daily is not None and self.used_today >= self.daily:
            return f"{used} {_of_limit(self.used_today, self.daily, its, f'for today{among}')}. {resets}"
        if self.rejected_today >= REJECTED_A_DAY:
            return f"{self.rejected_today} {files} were rejected here today, and no more are taken. {resets}"
        if self.rejected_today + self.unchecked_today >= REJECTED_A_DAY:
            rejected = f" and {self.rejected_today} were rejected" if self.rejected_today else ""
            return (
                f"{self.unchecked_today} {files} that came today are not checked yet{rejected}; the most that may be "
                f"rejected in a day is {REJECTED_A_DAY}. Send the next one when some of them are checked, or after "
                f"{moment_in_words(self.resets_at)}."
            )
        return self._held(files) if self.left == 0 else None

    @property
    def is_held(self) -> bool:
        """Whether what is left is held for files that arrive or wait, and may be free again before tomorrow."""
        used = self.is_spent_for_good or (self.daily is not None and self.used_today >= self.daily)
        return self.left == 0 and not used and self.rejected_today + self.unchecked_today < REJECTED_A_DAY

    def _held(self, files: str) -> str:
        if self.waits_until is None:
            held, come = f"arriving just now ({self.arriving})", "when they have come"
            return f"What is left is held for {files} that are {held}. Send the next one {come}."
        waiting = f"wait for their sender's yes in the browser ({self.waiting})"
        held, come = waiting, "when somebody has said yes or no"
        if (coming := self.arriving - self.waiting) > 0:
            held, come = f"are arriving just now ({coming}) or {waiting}", "when they have come"
        until = f"the first to wait is given up by {moment_in_words(self.waits_until)}"
        return f"What is left is held for {files} that {held}. Send the next one {come}; {until}."


def _of_limit(used: int, limit: int, its: str, what: str) -> str:
    """More than the limit are used where organisers have lowered it since."""
    if used > limit:
        return f"{used} submissions {what}, more than the limit of {limit}"
    return f"{used} of {its} {limit} submissions {what}"


def retry_seconds(quotas: Iterable[Quota], now: dt.datetime) -> int:
    """In how many seconds to ask again when some are spent: 60 while files arrive or are not checked yet; when a file
    that waits for a yes is given up at the latest; else tomorrow.
    """
    spent = [quota for quota in quotas if quota.left == 0]
    held = [quota for quota in spent if quota.is_held]
    unchecked = any(quota.rejections_left == 0 and quota.unchecked_today for quota in spent)
    if unchecked or any(quota.arriving > quota.waiting for quota in held):
        return 60
    ends = [quota.waits_until for quota in held if quota.waits_until is not None]
    return math.ceil((min(ends, default=start_of(day_of(now) + dt.timedelta(days=1))) - now).total_seconds())


def day_of(moment: dt.datetime) -> dt.date:
    """The day that a moment counts for: its date in UTC."""
    return moment.astimezone(dt.UTC).date()


def start_of(day: dt.date) -> dt.datetime:
    """The first moment of a day."""
    return dt.datetime.combine(day, dt.time(), dt.UTC)


def quota_of(
    limits: Limits,
    use: Use | None,
    now: dt.datetime,
    *,
    unchecked: int = 0,
    arriving: int = 0,
    waiting: int = 0,
    waits_until: dt.datetime | None = None,
    of_person: bool = False,
) -> Quota:
    """The quotas of a team, or of a person, at `now`.

    use        None before the first submission to the evaluation
    unchecked  files sent on the day of `now` that are neither scored, nor rejected, nor failed yet
    arriving, waiting, waits_until  as of a Quota
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
        waiting=waiting,
        waits_until=waits_until,
        resets_at=start_of(day_of(now) + dt.timedelta(days=1)),
        of_person=of_person,
    )
