"""How figures, moments and sizes are written."""

import datetime as dt
import math

import pytest
from flask import Flask, g

from leaderboard.numbers import size
from leaderboard.web.formatting import (
    Scale,
    ago,
    aligned,
    date,
    decimals,
    figure,
    marked,
    moment,
    plain_figure,
    scale_of,
    sentence,
    when,
)  # fmt: skip

NOW = dt.datetime(2026, 11, 20, 14, 5, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.41296, "0.413"),
        (-0.41296, "−0.413"),
        (-0.0001, "0.000"),
        (12345.6789, "12,345.679"),
        (None, "–"),
        (math.nan, "–"),
        (-math.inf, "−∞"),
    ],
)
def test_a_figure_has_three_digits_and_a_real_minus(value: float | None, text: str) -> None:
    assert plain_figure(value) == text


def test_figures_of_a_column_stand_with_their_points_below_each_other() -> None:
    column, unit = [0.1, None, 0.000075], "false alarms"
    assert decimals(column, unit) == 6
    assert [figure(value, unit, 6).partition("</")[2] for value in column] == ["data>\u2007\u2007", "span>", "data>"]
    assert figure(3.0, "queries", 2).endswith("</data>\u2007\u2007\u2007")  # a whole number: for the point too


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3.0, "documents", "3"),
        (0.01125, "false alarms", "0.0112"),
        (0.0, "false alarms", "0.0000"),
        (None, "false alarms", "–"),
    ],
)
def test_the_unit_says_how_many_digits_a_figure_has(value: float | None, unit: str, text: str) -> None:
    assert plain_figure(value, unit) == text


def test_a_moment_is_in_utc_whatever_zone_it_came_in() -> None:
    there = NOW.astimezone(dt.timezone(dt.timedelta(hours=-5)))
    assert ">20 Nov 2026, 14:05 UTC</time>" in moment(there)
    assert ">20 Nov 2026</time>" in date(NOW)
    assert 'datetime="2026-11-20T14:05:00Z"' in date(there)
    assert moment(None) == date(None) == when(None) == "–"


@pytest.mark.parametrize(
    ("after", "text"),
    [
        (dt.timedelta(0), "just now"),
        (dt.timedelta(seconds=40), "in 40 s"),
        (-dt.timedelta(minutes=5), "5 min ago"),
        (-dt.timedelta(hours=47), "47 h ago"),
        (-dt.timedelta(days=3), "3 days ago"),
        (-dt.timedelta(days=400), "13 months ago"),
        (-dt.timedelta(days=2405), "6 years ago"),  # 6.6
    ],
)
def test_the_relative_time_is_in_its_largest_fitting_unit(app: Flask, after: dt.timedelta, text: str) -> None:
    with app.test_request_context():
        g.began = NOW
        assert ago(NOW + after) == text


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 bytes"), (1_234, "1.21 KiB"), (512 * 2**20, "512 MiB"), (4 * 2**40, "4 TiB")]
)
def test_a_size_has_three_digits(number: int, text: str) -> None:
    assert size(number) == text


def test_the_registry_s_text_gets_subscripts_powers_and_code_and_nothing_else() -> None:
    assert marked("P_miss, gain_i; N_total") == "P<sub>miss</sub>, gain<sub>i</sub>; N<sub>total</sub>"
    assert marked("2^g and 2^{−x}") == "2<sup>g</sup> and 2<sup>−x</sup>"
    assert marked("as `P_miss` is") == "as <code>P_miss</code> is"
    assert marked("trec_eval, ndcg_cut_10, pfa_only <b>") == "trec_eval, ndcg_cut_10, pfa_only &lt;b&gt;"


def test_a_column_of_scores_stands_on_the_point() -> None:
    assert aligned([12.5, 3.0, 0.125]) == ["12.500", "3.000", "0.125"]
    assert aligned([3.0, 2.0]) == ["3", "2"]
    assert aligned([1e-9, 2.0]) == ["1e−09", "2"]
    assert aligned([]) == []


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("give a title", "Give a title"),
        ("can't be read", "Can't be read"),
        ("there is no file manifest.toml in cov.tar", "There is no file manifest.toml in cov.tar"),
        ("noaddr: give a web address", "noaddr: give a web address"),
        ("2025/a.run: is empty", "2025/a.run: is empty"),
        ("alder was merged into another team.", "alder was merged into another team."),
    ],
)
def test_a_message_gets_a_capital_where_it_begins_with_a_word_of_ours_alone(message: str, shown: str) -> None:
    assert sentence(message) == shown


def test_a_scale_of_bars_holds_zero_every_value_and_no_very_low_one() -> None:
    assert [scale_of(values) for values in ([0.25, None, 0.5], [-0.5, -0.25], [])] == [
        Scale(0.0, 0.5), Scale(-0.5, 0.0), Scale(0.0, 0.0),
    ]  # fmt: skip
    scale = scale_of([-4.0, 0.25, 1.0])
    assert (scale, scale.at(0.0)) == (Scale(-1.0, 1.0), 50.0)
    assert [scale.at(value) for value in (-4.0, 0.0, 0.5, 1.0)] == [0.0, 50.0, 75.0, 100.0]
    assert scale_of([0.0]).at(0.0) == 0.0
