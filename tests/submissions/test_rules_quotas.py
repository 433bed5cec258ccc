import datetime as dt
from typing import Any

import pytest

from leaderboard.submissions.rules import REJECTED_A_DAY, Quota, day_of, retry_seconds

NOON = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)
TODAY = NOON.date()
MIDNIGHT = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
HALF_A_DAY = 12 * 3600


def a_quota(daily: int | None = None, total: int | None = None, **used: Any) -> Quota:
    none = dict.fromkeys(("used_today", "used", "rejected_today", "unchecked_today", "arriving"), 0)
    return Quota(daily=daily, total=total, **{**none, "of_person": False, "resets_at": MIDNIGHT, **used})


def test_the_smaller_of_what_is_left_today_and_in_all_counts() -> None:
    assert a_quota(3, 10, used_today=1, used=9).left == 1
    assert a_quota(3, 10, used_today=2, used=3).left == 1


AGAIN = "The count starts again on 21 Nov 2026, 00:00 UTC."


@pytest.mark.parametrize(
    ("quota", "words", "seconds"),
    [
        (a_quota(2, used_today=2, used=2), f"Your team has used 2 of its 2 submissions for today. {AGAIN}", HALF_A_DAY),
        (a_quota(2, 2, used_today=2, used=2), "Your team has used 2 of its 2 submissions to this", HALF_A_DAY),
        (a_quota(rejected_today=20), "20 files rejected or left unused here today, and no more are taken.", HALF_A_DAY),
        # lowered since
        (a_quota(1, used_today=3, of_person=True), "You have used 3 of your 1 submissions for today, over", HALF_A_DAY),
        (a_quota(100, rejected_today=3, used_today=17, unchecked_today=17), "17 files on the way or not checked", 60),
        (a_quota(5, used_today=2, used=2, arriving=3), "Your team has 3 files on the way or not checked yet", 60),
        # the place that is held brings nothing
        (a_quota(1, used_today=1, arriving=1), "used 1 of its 1 submissions for today", HALF_A_DAY),
    ],
)
def test_a_quota_says_why_nothing_is_left_and_when_to_ask_again(quota: Quota, words: str, seconds: int) -> None:
    assert words in (quota.spent or "")
    assert (quota.left, retry_seconds([quota], NOON)) == (0, seconds)


def test_files_that_arrive_or_are_not_checked_yet_take_their_places_in_every_limit() -> None:
    quota = a_quota(5, 9, used_today=2, used=3, rejected_today=4, arriving=2)
    assert (quota.left_today, quota.left_in_all, quota.rejections_left, quota.spent) == (1, 4, 14, None)
    assert not a_quota(total=1, arriving=1).is_spent_for_good
    assert a_quota(rejected_today=10, unchecked_today=5, arriving=5).left == 0
    assert a_quota(rejected_today=3, unchecked_today=10).rejections_left == REJECTED_A_DAY - 13


def test_days_end_at_midnight_in_utc() -> None:
    new_york = dt.timezone(dt.timedelta(hours=-5))
    assert day_of(dt.datetime(2026, 11, 20, 18, 59, 59, tzinfo=new_york)) == TODAY
    assert day_of(dt.datetime(2026, 11, 20, 19, 0, tzinfo=new_york)) == TODAY + dt.timedelta(days=1)
