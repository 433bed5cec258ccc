"""Time zones: what clocks show where, and a year later."""

import datetime as dt

import pytest

from leaderboard.moments import a_year_later, from_local, to_local, zone_names


def at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("local", "zone", "utc"),
    [
        ("2026-06-30T23:59", "AoE", "2026-07-01T11:59"),  # over when it is over everywhere
        ("2026-06-30T18:00", "UTC", "2026-06-30T18:00"),
        ("2026-06-30T18:00", "Europe/Berlin", "2026-06-30T16:00"),  # summer
        ("2026-12-30T18:00", "Europe/Berlin", "2026-12-30T17:00"),
        ("2026-10-25T03:00", "Europe/Berlin", "2026-10-25T02:00"),  # the first after those that are shown twice
        ("2026-06-30T18:00", "America/New_York", "2026-06-30T22:00"),
    ],
)
def test_a_local_time_is_the_moment_at_which_clocks_there_show_it(local: str, zone: str, utc: str) -> None:
    shown = dt.datetime.fromisoformat(local)
    assert from_local(shown, zone) == at(utc)
    assert to_local(at(utc), zone) == shown


def test_a_time_that_clocks_are_put_forward_past_is_refused() -> None:
    with pytest.raises(ValueError, match="never show 02:30"):
        from_local(dt.datetime.fromisoformat("2026-03-29T02:30"), "Europe/Berlin")


def test_a_time_that_clocks_show_twice_is_refused() -> None:
    for shown in ("2026-10-25T02:00", "2026-10-25T02:30"):
        with pytest.raises(ValueError, match=f"show {shown[-5:]} twice"):
            from_local(dt.datetime.fromisoformat(shown), "Europe/Berlin")


def test_a_year_later_is_the_same_time_by_the_clocks_of_the_zone() -> None:
    # The clocks of Berlin change on 29 March 2026 and on 28 March 2027.
    assert a_year_later(at("2026-03-28T17:00"), "Europe/Berlin") == at("2027-03-28T16:00")
    assert a_year_later(at("2028-02-29T12:00"), "UTC") == at("2029-02-28T12:00")
    assert a_year_later(at("2026-07-01T11:59"), "AoE") == at("2027-07-01T11:59")


def test_utc_and_aoe_come_first_and_the_tz_database_is_there() -> None:
    assert zone_names()[:2] == ("UTC", "AoE")
    assert {"Europe/Berlin", "Asia/Tokyo", "America/Los_Angeles"} <= set(zone_names())
