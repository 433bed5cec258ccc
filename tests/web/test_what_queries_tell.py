"""What a board says of its queries: which differences they find, how few the lead rests on, how often sets disagree."""

import datetime as dt
import json
import re

import pytest
from flask import Flask

from leaderboard.evaluations.rules import Opening
from tests.support.field import NOW, Field
from tests.support.pages import seen
from tests.web.conftest import BOTH

BOARD = "/campaigns/news/2026"
OF_PROGRAMS = "/api/v1/campaigns/news/evaluations/2026"
NAMES = ("Alder", "Birch")
HALF = [0.5] * 20
# Ahead by .5 on three queries, behind by .025 on all others: without the three, and no fewer, Birch is ahead.
AHEAD = [0.5 + (0.5 if number in (2, 3, 7) else -0.025) for number in range(1, 21)]
FINDS = (
    # statsmodels: TTestPower().solve_power(nobs=20, power=.8) * .1923 = .1270; at .06 / .1923 it takes 82.6 queries.
    "With these 20 queries a difference of 0.13 in AP between two systems is found with probability 0.8; "
    "to find one of 0.06 takes about 83."
)
RESTS = "The lead of Alder rests on 3 of 20 queries: without q2, q3 and q7 Birch would be first."


@pytest.fixture
def field(twenty_queries: Field) -> Field:
    twenty_queries.run("Alder", {"AP": AHEAD})
    twenty_queries.run("Birch", {"AP": HALF})
    return twenty_queries


@BOTH
def test_the_smallest_difference_and_the_queries_that_the_lead_rests_on_are_said(app: Flask, field: Field) -> None:
    field.refresh()
    page = seen(app, BOARD)
    assert FINDS in page
    assert RESTS in page
    assert "a standard deviation of 0.192: the median over 1 pair of ranked systems" in page
    assert "drawn 200 times from these queries (seed 1)" in page
    document = json.loads(app.test_client().get(f"{BOARD}.json").text)
    program = json.loads(app.test_client().get(f"{OF_PROGRAMS}/board").text)["statistics"]["told"]
    told = document["queries_tell"]
    assert program == told
    assert (told["lead"]["removed"], told["lead"]["named"]) == (3, ["q2", "q3", "q7"])
    assert told["detectable"]["difference"] == pytest.approx(0.127, abs=0.0005)
    assert [rate["size"] for rate in told["swaps"]] == [5, 10]
    assert re.search(r"Queries Swapped Difference with at most 5 % swapped 5 \d+ % \S+ 10 \d+ % 0\.0\d\d ", page)


def test_while_details_are_closed_nothing_of_it_is_on_the_page(app: Flask, field: Field) -> None:
    field.refresh()
    for closed in (
        {"details": Opening.NEVER},
        {"details": Opening.CLOSED, "closes_at": NOW + dt.timedelta(days=10_000)},
    ):
        field.change(details=Opening.ALWAYS)
        assert RESTS in seen(app, BOARD)
        field.change(**closed)
        page = seen(app, BOARD)
        assert "Alder has the highest AP" in page
        never = closed["details"] is Opening.NEVER
        says = "is shown to organisers only" if never else "appears when per-query results are published"
        assert f"Statistical analysis {says}." in page
        for told in ("How this was worked out", "rests on", "is found with probability", "Swapped"):
            assert told not in page
        assert json.loads(app.test_client().get(f"{BOARD}.json").text)["queries_tell"] is None
        assert json.loads(app.test_client().get(f"{OF_PROGRAMS}/board").text)["statistics"]["told"] is None
