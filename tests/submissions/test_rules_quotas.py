import datetime as dt
from dataclasses import dataclass

from leaderboard.submissions.rules import REJECTED_A_DAY, day_of, quota_of, retry_seconds

NOON = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)
TODAY = NOON.date()


@dataclass(frozen=True)
class Held:
    daily_quota: int | None = None
    total_quota: int | None = None


@dataclass(frozen=True)
class Used:
    day: dt.date = TODAY
    used_today: int = 0
    rejected_today: int = 0
    used: int = 0


def test_without_limits_there_is_no_number_and_nothing_is_spent() -> None:
    quota = quota_of(Held(), Used(used_today=7, used=70), NOON)
    assert (quota.left, quota.left_today, quota.left_in_all, quota.spent) == (None, None, None, None)


def test_a_team_that_has_submitted_nothing_has_all_of_it() -> None:
    quota = quota_of(Held(daily_quota=2, total_quota=10), None, NOON)
    assert (quota.left, quota.left_today, quota.left_in_all, quota.rejections_left) == (2, 2, 10, REJECTED_A_DAY)


def test_the_smaller_of_what_is_left_today_and_in_all_counts() -> None:
    assert quota_of(Held(daily_quota=3, total_quota=10), Used(used_today=1, used=9), NOON).left == 1
    assert quota_of(Held(daily_quota=3, total_quota=10), Used(used_today=2, used=3), NOON).left == 1


def test_another_day_starts_the_daily_counts_again_and_not_the_total() -> None:
    yesterday = Used(day=TODAY - dt.timedelta(days=1), used_today=3, rejected_today=20, used=9)
    quota = quota_of(Held(daily_quota=3, total_quota=10), yesterday, NOON)
    assert (quota.used_today, quota.rejected_today, quota.used, quota.left) == (0, 0, 9, 1)


def test_a_quota_says_why_nothing_is_left_and_from_when_there_is() -> None:
    again = "The count starts again on 21 Nov 2026, 00:00 UTC."
    assert quota_of(Held(daily_quota=2), Used(used_today=2, used=2), NOON).spent == (
        f"Your team has used 2 of its 2 submissions for today. {again}"
    )
    assert quota_of(Held(daily_quota=2, total_quota=2), Used(used_today=2, used=2), NOON).spent == (
        "Your team has used 2 of its 2 submissions to this evaluation."
    )
    lowered = Held(daily_quota=1, total_quota=2)
    assert quota_of(lowered, Used(used_today=3, used=5), NOON).spent == (
        "Your team has used 5 submissions to this evaluation, more than the limit of 2."
    )
    assert quota_of(Held(daily_quota=1), Used(used_today=3, used=5), NOON, of_person=True).spent == (
        "You have used 3 submissions for today, over all of your teams, more than the limit of 1. " + again
    )
    assert quota_of(Held(), Used(rejected_today=REJECTED_A_DAY), NOON).spent == (
        f"20 files of your team were rejected here today, and no more are taken. {again}"
    )


def test_a_person_s_quota_says_that_it_is_over_all_teams() -> None:
    spent = quota_of(Held(daily_quota=5), Used(used_today=5, used=5), NOON, of_person=True).spent
    assert spent == (
        "You have used 5 of your 5 submissions for today, over all of your teams. "
        "The count starts again on 21 Nov 2026, 00:00 UTC."
    )
    spent = quota_of(Held(total_quota=5), Used(used=5), NOON, of_person=True).spent
    assert spent == "You have used 5 of your 5 submissions to this evaluation, over all of your teams."


def test_files_that_wait_to_be_checked_count_as_if_they_might_all_be_rejected() -> None:
    assert quota_of(Held(), Used(rejected_today=3), NOON, unchecked=10).rejections_left == REJECTED_A_DAY - 13
    quota = quota_of(Held(daily_quota=100), Used(rejected_today=3, used_today=17), NOON, unchecked=17)
    assert quota.left == 0
    assert quota.spent == (
        "17 files of your team that came today are not checked yet and 3 were rejected; the most that may be rejected "
        "in a day is 20. Send the next one when some of them are checked, or after 21 Nov 2026, 00:00 UTC."
    )


def test_files_that_arrive_take_their_places_in_every_limit() -> None:
    quota = quota_of(Held(daily_quota=5, total_quota=9), Used(used_today=2, used=3, rejected_today=4), NOON, arriving=2)
    assert (quota.left_today, quota.left_in_all, quota.rejections_left, quota.spent) == (1, 4, 14, None)
    quota = quota_of(Held(daily_quota=5), Used(used_today=2, used=2), NOON, arriving=3)
    assert quota.left == 0
    assert quota.spent == (
        "What is left is held for files of your team that are arriving just now (3). Send the next one when they have "
        "come."
    )
    assert retry_seconds([quota], NOON) == 60
    assert not quota_of(Held(total_quota=1), None, NOON, arriving=1).is_spent_for_good
    assert quota_of(Held(), Used(rejected_today=10), NOON, unchecked=5, arriving=5).left == 0


def test_a_place_that_a_person_holds_by_not_answering_is_said_to_be_so_with_its_end() -> None:
    until = NOON + dt.timedelta(minutes=20)
    quota = quota_of(Held(daily_quota=1), None, NOON, arriving=1, waiting=1, waits_until=until)
    assert quota.spent == (
        "What is left is held for files of your team that wait for their sender's yes in the browser (1). Send the "
        "next one when somebody has said yes or no; the first to wait is given up by 20 Nov 2026, 12:20 UTC."
    )
    assert retry_seconds([quota], NOON) == 20 * 60
    both = quota_of(Held(daily_quota=2), None, NOON, arriving=2, waiting=1, waits_until=until)
    assert "are arriving just now (1) or wait for their sender's yes in the browser (1). Send" in (both.spent or "")
    assert retry_seconds([both], NOON) == 60
    used = quota_of(Held(daily_quota=1), Used(used_today=1), NOON, arriving=1, waiting=1, waits_until=until)
    assert retry_seconds([used], NOON) == 12 * 3600  # the place that is held brings nothing


def test_a_limit_that_was_lowered_below_what_is_used_leaves_nothing() -> None:
    assert quota_of(Held(daily_quota=2), Used(used_today=5, used=5), NOON).left == 0


def test_days_end_at_midnight_in_utc() -> None:
    new_york = dt.timezone(dt.timedelta(hours=-5))
    assert day_of(dt.datetime(2026, 11, 20, 18, 59, 59, tzinfo=new_york)) == TODAY
    assert day_of(dt.datetime(2026, 11, 20, 19, 0, tzinfo=new_york)) == TODAY + dt.timedelta(days=1)
