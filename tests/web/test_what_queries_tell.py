"""What a board says of its queries: which differences they find, how few the lead rests on, how often sets disagree."""

import datetime as dt
import json
import re

import numpy as np
import pytest
from flask import Flask
from scipy import stats

from leaderboard.evaluations.rules import Opening
from tests.support.field import NOW, Field
from tests.support.pages import seen
from tests.web.conftest import BOTH

BOARD = "/campaigns/news/2026"
OF_PROGRAMS = "/api/v1/campaigns/news/evaluations/2026"
NAMES = ("Alder", "Birch")
HALF = [0.5] * 20
# Ahead by .4 on three queries, by .2 on eight, behind by .2 on nine: without the three, and no fewer, Birch is ahead.
AHEAD = [0.5 + (0.4 if number in (2, 3, 7) else 0.2 if number % 2 else -0.2) for number in range(1, 21)]
FINDS = (
    "With these 20 queries this board finds a difference of 0.16 in AP between two systems with a probability of "
    "about 0.8; to find one of 0.08 takes about 76."
)
RESTS = "The lead of Alder rests on 3 of 20 queries: without queries q2, q3 and q7, Birch would be first."


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
    assert "tells two apart where t exceeds 2.14, the critical value of its rank sets" in page
    assert "vary from query to query with a standard deviation of at most 0.242." in page
    assert "drawn 200 times from these queries (seed 1)" in page
    document = json.loads(app.test_client().get(f"{BOARD}.json").text)
    program = json.loads(app.test_client().get(f"{OF_PROGRAMS}/board").text)["statistics"]["told"]
    told = document["queries_tell"]
    assert program == told
    assert (told["lead"]["removed"], told["lead"]["named"]) == (3, ["q2", "q3", "q7"])
    # of two systems the deviation is that of their differences, and t is noncentral
    known, deviation = told["detectable"], np.std(np.subtract(AHEAD, HALF), ddof=1)
    assert known["deviation"] == pytest.approx(deviation)
    shift = known["difference"] / deviation * 20**0.5
    assert stats.nct.sf(known["critical"], 19, shift) == pytest.approx(0.8, abs=1e-6)
    assert [rate["size"] for rate in told["swaps"]] == [5, 10]
    assert re.search(r"Queries Swapped 5 \d+ % 10 \d+ %", page)


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
        for told in ("How this was worked out", "rests on", "with probability", "Swapped"):
            assert told not in page
        assert json.loads(app.test_client().get(f"{BOARD}.json").text)["queries_tell"] is None
        assert json.loads(app.test_client().get(f"{OF_PROGRAMS}/board").text)["statistics"]["told"] is None
