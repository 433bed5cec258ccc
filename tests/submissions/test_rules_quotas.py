import datetime as dt
from dataclasses import dataclass
from typing import Any

import pytest

from leaderboard.submissions.rules import REJECTED_A_DAY, day_of, quota_of, retry_seconds

NOON = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)
TODAY = NOON.date()
HALF_A_DAY = 12 * 3600


@dataclass
class Held:
    daily_quota: int | None = None
    total_quota: int | None = None


@dataclass
class Used:
    day: dt.date = TODAY
    used_today: int = 0
    rejected_today: int = 0
    used: int = 0


def test_the_smaller_of_what_is_left_today_and_in_all_counts() -> None:
    assert quota_of(Held(daily_quota=3, total_quota=10), Used(used_today=1, used=9), NOON).left == 1
    assert quota_of(Held(daily_quota=3, total_quota=10), Used(used_today=2, used=3), NOON).left == 1


def test_another_day_starts_the_daily_counts_again_and_not_the_total() -> None:
    yesterday = Used(day=TODAY - dt.timedelta(days=1), used_today=3, rejected_today=20, used=9)
    quota = quota_of(Held(daily_quota=3, total_quota=10), yesterday, NOON)
    assert (quota.used_today, quota.rejected_today, quota.used, quota.left) == (0, 0, 9, 1)


AGAIN = "The count starts again on 21 Nov 2026, 00:00 UTC."


@pytest.mark.parametrize(
    ("limits", "use", "more", "words", "seconds"),
    [
        (
            Held(2), Used(used_today=2, used=2), {},
            f"Your team has used 2 of its 2 submissions for today. {AGAIN}", HALF_A_DAY,
        ),
        (Held(2, 2), Used(TODAY, 2, 0, 2), {}, "Your team has used 2 of its 2 submissions to this", HALF_A_DAY),
        (
            Held(), Used(rejected_today=20), {},
            f"20 files of your team were rejected here today, and no more are taken. {AGAIN}", HALF_A_DAY,
        ),
        (
            Held(1), Used(used_today=3), {"of_person": True},  # lowered since
            f"You have used 3 of your 1 submissions for today, over all of your teams. {AGAIN}", HALF_A_DAY,
        ),
        (
            Held(100), Used(rejected_today=3, used_today=17), {"unchecked": 17},
            f"Send the next one when some of them are checked. {AGAIN}", 60,
        ),
        (
            Held(5), Used(used_today=2, used=2), {"arriving": 3},
            "The rest of the quota is reserved for files of your team in progress (3). Send the next one later.", 60,
        ),
    ],
)  # fmt: skip
def test_a_quota_says_why_nothing_is_left_and_when_to_ask_again(
    limits: Held, use: Used | None, more: dict[str, Any], words: str, seconds: int
) -> None:
    quota = quota_of(limits, use, NOON, **more)
    assert words in (quota.spent or "")
    assert (quota.left, retry_seconds([quota], NOON)) == (0, seconds)


def test_files_that_arrive_or_are_not_checked_yet_take_their_places_in_every_limit() -> None:
    quota = quota_of(Held(daily_quota=5, total_quota=9), Used(used_today=2, used=3, rejected_today=4), NOON, arriving=2)
    assert (quota.left_today, quota.left_in_all, quota.rejections_left, quota.spent) == (1, 4, 14, None)
    assert not quota_of(Held(total_quota=1), None, NOON, arriving=1).is_spent_for_good
    assert quota_of(Held(), Used(rejected_today=10), NOON, unchecked=5, arriving=5).left == 0
    assert quota_of(Held(), Used(rejected_today=3), NOON, unchecked=10).rejections_left == REJECTED_A_DAY - 13
    used = quota_of(Held(1), Used(used_today=1), NOON, arriving=1)
    assert retry_seconds([used], NOON) == 12 * 3600  # the place that is held brings nothing


def test_days_end_at_midnight_in_utc() -> None:
    new_york = dt.timezone(dt.timedelta(hours=-5))
    assert day_of(dt.datetime(2026, 11, 20, 18, 59, 59, tzinfo=new_york)) == TODAY
    assert day_of(dt.datetime(2026, 11, 20, 19, 0, tzinfo=new_york)) == TODAY + dt.timedelta(days=1)
