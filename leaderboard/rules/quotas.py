"""How many runs a team may still submit to an evaluation. Days are counted in UTC."""

import datetime as dt
from dataclasses import dataclass
from typing import Protocol

from leaderboard.rules.moments import moment_in_words

__all__ = ["DAILY_QUOTA", "REJECTED_A_DAY", "Limits", "Quota", "Use", "day_of", "quota_of"]

DAILY_QUOTA = (
    5  # of a new evaluation whose organisers set no other: what each run's figures tell of the judgments adds up
)
REJECTED_A_DAY = 20  # files that a team may have rejected in one evaluation on one day


class Limits(Protocol):
    """An evaluation, as far as its quotas go; None is no limit."""

    @property
    def daily_quota(self) -> int | None: ...
    @property
    def total_quota(self) -> int | None: ...


class Use(Protocol):
    """What a team has used in an evaluation. `used_today` and `rejected_today` count the day `day`."""

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
    """How much of an evaluation's quotas one team has used. A limit of None is no limit."""

    daily: int | None
    used_today: int
    total: int | None
    used: int
    rejected_today: int
    resets_at: dt.datetime  # the next 00:00 UTC

    @property
    def left_today(self) -> int | None:
        return None if self.daily is None else max(0, self.daily - self.used_today)

    @property
    def left_in_all(self) -> int | None:
        return None if self.total is None else max(0, self.total - self.used)

    @property
    def rejections_left(self) -> int:
        """Files that may still be rejected today before the team has to wait."""
        return max(0, REJECTED_A_DAY - self.rejected_today)

    @property
    def left(self) -> int | None:
        """Submissions that are left right now; None when there is no limit."""
        limits = [limit for limit in (self.left_today, self.left_in_all) if limit is not None]
        if self.rejections_left == 0:
            return 0
        return min(limits, default=None)

    @property
    def spent(self) -> str | None:
        """Why nothing is left, in words; None when something is."""
        resets = f"The count starts again on {moment_in_words(self.resets_at)}."
        if self.left_in_all == 0:
            return f"Your team has used {self.total} of its {self.total} submissions to this evaluation."
        if self.left_today == 0:
            return f"Your team has used {self.daily} of its {self.daily} submissions for today. {resets}"
        if self.rejections_left == 0:
            return f"{self.rejected_today} files of your team were rejected here today, and no more are taken. {resets}"
        return None


def day_of(moment: dt.datetime) -> dt.date:
    """The day that a moment counts for: its date in UTC."""
    return moment.astimezone(dt.UTC).date()


def quota_of(limits: Limits, use: Use | None, now: dt.datetime) -> Quota:
    """A team's quotas at `now`; `use` is None before its first submission to the evaluation."""
    today = use if use is not None and use.day == day_of(now) else None
    return Quota(
        daily=limits.daily_quota,
        used_today=today.used_today if today is not None else 0,
        total=limits.total_quota,
        used=use.used if use is not None else 0,
        rejected_today=today.rejected_today if today is not None else 0,
        resets_at=dt.datetime.combine(day_of(now) + dt.timedelta(days=1), dt.time(), dt.UTC),
    )
