import datetime as dt

from leaderboard.moments import day_in_words, moment_in_words


def test_a_moment_is_told_in_utc() -> None:
    assert moment_in_words(dt.datetime(2026, 11, 3, 14, 5, tzinfo=dt.UTC)) == "3 Nov 2026, 14:05 UTC"
    new_york = dt.timezone(dt.timedelta(hours=-5))
    assert moment_in_words(dt.datetime(2026, 12, 31, 20, 0, tzinfo=new_york)) == "1 Jan 2027, 01:00 UTC"
    assert day_in_words(dt.datetime(2026, 12, 31, 20, 0, tzinfo=new_york)) == "1 Jan 2027"
