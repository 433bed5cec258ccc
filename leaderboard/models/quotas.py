"""What a team may still submit to an evaluation: read by the form's page, enforced where a submission is inserted."""

import datetime as dt
from dataclasses import dataclass

from leaderboard.models.evaluations import Evaluation
from leaderboard.models.submissions import Participation

__all__ = ["REJECTED_A_DAY", "Quota", "next_day", "quota_of"]

REJECTED_A_DAY = 20  # files a team may have rejected in one evaluation and day before it has to wait for the next


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
        if self.left_in_all == 0:
            return f"All {self.total} submissions of your team to this evaluation are used."
        if self.left_today == 0:
            return f"All {self.daily} submissions of your team for today are used. {self._resets}"
        if self.rejections_left == 0:
            return f"{self.rejected_today} files of your team were rejected here today, which is enough. {self._resets}"
        return None

    @property
    def _resets(self) -> str:
        return f"The count starts again at {self.resets_at:%H:%M} UTC on {self.resets_at.day} {self.resets_at:%b %Y}."


def next_day(now: dt.datetime) -> dt.datetime:
    """The first moment of the day after `now`, in UTC."""
    today = now.astimezone(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today + dt.timedelta(days=1)


def quota_of(evaluation: Evaluation, participation: Participation | None, now: dt.datetime) -> Quota:
    """The state of a team's quotas at `now`; `participation` is None before its first submission."""
    today = participation if participation is not None and participation.day == now.astimezone(dt.UTC).date() else None
    return Quota(
        daily=evaluation.daily_quota,
        used_today=today.used_today if today is not None else 0,
        total=evaluation.total_quota,
        used=participation.used if participation is not None else 0,
        rejected_today=today.rejected_today if today is not None else 0,
        resets_at=next_day(now),
    )
