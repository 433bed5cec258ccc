"""What a board's page and files say of intervals, rank sets and who may be the best."""

import datetime as dt
import json
import re
from typing import Any

import pytest
from flask import Flask

from leaderboard.db import Database
from leaderboard.evaluations.rules import Opening
from tests.support.field import NOW, Field, about
from tests.support.pages import seen, table_of

HALF = [1.0, 0.0] * 10
BOARD = "/campaigns/news/2026"


@pytest.fixture
def field(twenty_queries: Field) -> Field:
    return twenty_queries


def shaded(app: Flask, address: str = BOARD) -> int:
    return len(re.findall(r'<tr [^>]*class="group ', app.test_client().get(address).text))


def drawn(app: Flask) -> list[Any]:
    return re.findall(r'<line class="bar-interval" x1="([\d.]+)" x2="([\d.]+)"', app.test_client().get(BOARD).text)


def test_those_who_may_be_the_best_are_named_and_shaded(app: Flask, field: Field) -> None:
    field.run("Alder", {"AP": HALF})
    field.run("Birch", {"AP": HALF[::-1]})
    field.run("Cedar", {"AP": about(-3.0)})
    field.refresh()
    page = seen(app, BOARD)
    assert (
        "Alder and Birch share the highest AP, 0.500 over 20 queries. "
        "At 95 % confidence the best system is one of 2, shaded: Alder and Birch."
    ) in page
    assert re.search(r"1 1–2 Alder .* 1 1–2 Birch .* 3 Cedar", page)
    assert shaded(app) == 2
    assert "compared over 20 queries, with 10,000 resamples of the queries (seed 1)." in page


def test_where_systems_have_several_runs_the_reason_and_their_number_are_said(app: Flask, field: Field) -> None:
    field.run("Alder", {"AP": HALF}, label="first")
    field.run("Alder", {"AP": about(0.6)}, label="second")
    field.run("Birch", {"AP": about(-3.0)})
    field.refresh()
    every = seen(app, f"{BOARD}?show=all")
    assert "Which runs may be the best is said only where each system has one run." in every
    assert "over all queries, by measures" not in every
    # Before team and label, of which a phone cuts the end.
    assert re.search(r"Alder best of 2 · Team Alder · second", seen(app, f"{BOARD}?show=best"))


def test_systems_that_share_a_name_are_told_by_their_teams_unless_names_are_hidden(app: Flask, field: Field) -> None:
    field.run("Sysone", {"AP": HALF}, team="Elm")
    field.run("sysone", {"AP": HALF[::-1]}, team="Oak")
    field.run("Cedar", {"AP": about(-3.0)})
    field.refresh()
    page = seen(app, BOARD)
    assert "Sysone of Elm and sysone of Oak share the highest AP, 0.500 over 20 queries." in page
    assert "one of 2, shaded: Sysone of Elm and sysone of Oak." in page
    assert "(20 queries): Sysone of Elm and 1 other" in seen(app, "/")
    assert "Sysone of Elm" in seen(app, f"{BOARD}/queries")
    field.run("Sysone", {"AP": about(0.9)}, team="Elm", label="deep")
    assert "Sysone of Elm (deep) has the highest AP" in seen(app, f"{BOARD}?show=all")
    field.change(anonymous_until=NOW + dt.timedelta(days=10_000))
    hidden = seen(app, BOARD)
    assert "share the highest AP" in hidden
    assert not re.search("elm|oak|sysone", hidden, re.IGNORECASE)


def test_intervals_are_drawn_on_one_scale_from_zero(app: Flask, field: Field) -> None:
    """HALF's interval is .28 to .72 (see tests/services/test_boards.py), the whole scale 0 to 1."""
    field.run("Alder", {"AP": [1.0] * 20})  # equal values have none
    field.run("Birch", {"AP": HALF})
    field.refresh()
    assert drawn(app) == [("28.18", "71.82")]


@pytest.mark.parametrize(
    ("measure", "own", "needed"),
    [
        ("AP", HALF[:4], "5 values, not all alike."),
        ("Pfa", [0.1], "25 values, not all alike. A single one can cost more than all others together."),
    ],
)
@pytest.mark.parametrize("engine_name", ["sqlite"])  # words
def test_a_board_without_intervals_says_how_many_queries_its_measure_needs_or_else_why(
    app: Flask, database: Database, measure: str, own: list[float], needed: str
) -> None:
    field = Field(database, measures=(measure,)).campaign()
    qrels = "".join(f"q{number} 0 d1 {int(number <= 10)}\n" for number in range(1, len(own) + 1))
    field.evaluation(tags=[()] * len(own), qrels=qrels)
    field.run("Alder", {measure: own})
    assert "No confidence intervals" not in seen(app, BOARD)  # until a worker has looked for them
    field.refresh()
    assert f"No confidence intervals of {measure}: they take at least {needed}" in seen(app, BOARD)


@pytest.mark.parametrize("asked", ["?show=all", "?tag=law"])
def test_other_views_than_the_one_worked_out_show_no_rank_sets(app: Flask, field: Field, asked: str) -> None:
    field.run("Alder", {"AP": HALF})
    field.run("Alder", {"AP": HALF})
    field.run("Birch", {"AP": HALF[::-1]})
    field.refresh()
    assert "1–2" in seen(app, BOARD)
    assert "1–2" not in seen(app, BOARD + asked)
    assert "confidence the best" not in seen(app, BOARD + asked)
    assert shaded(app, BOARD + asked) == 0
    assert "bar-interval" not in app.test_client().get(f"{BOARD}?tag=law").text


def test_files_hold_rank_sets_and_where_the_draws_come_from(app: Flask, field: Field) -> None:
    field.run("Alder", {"AP": HALF})
    field.run("Birch", {"AP": HALF[::-1]})
    field.run("Cedar", {"AP": about(-3.0)})
    client = app.test_client()
    rows = table_of(client.get(f"{BOARD}.csv"))
    assert [(row["rank_low"], row["rank_high"], row["may_be_best"], row["AP low"]) for row in rows] == [
        ("", "", "", "")
    ] * 3
    field.refresh()
    rows = table_of(client.get(f"{BOARD}.csv"))
    assert [(row["rank"], row["rank_low"], row["rank_high"]) for row in rows] == [
        ("1", "1", "2"), ("1", "1", "2"), ("3", "3", "3"),
    ]  # fmt: skip
    assert float(rows[0]["AP low"]) == pytest.approx(0.2818, abs=1e-4)
    document = json.loads(client.get(f"{BOARD}.json").text)
    assert document["statistics"] == {
        "confidence": 0.95, "resamples": 10_000, "rank_resamples": 10_000, "rank_queries": 20, "seed": 1,
    }  # fmt: skip
    assert [row["may_be_best"] for row in document["rows"]] == [True, True, False]


def test_over_how_many_queries_pairs_were_compared_is_not_told_while_details_are_closed(
    app: Flask, database: Database
) -> None:
    # 18 of 20 queries have relevant documents: that the judgments alone say.
    field = Field(database).campaign().evaluation(tags=[()] * 20)
    field.run("Alder", {"AP": [*HALF[:18], float("nan"), float("nan")]})
    field.run("Birch", {"AP": [*HALF[1:19], float("nan"), float("nan")]})
    field.refresh()
    assert "compared over 18 queries, with 10,000 resamples" in seen(app, BOARD)
    field.change(details=Opening.NEVER)
    page = app.test_client().get(BOARD).text
    assert "compared over at most 20 queries, with at most 10,000 resamples" in page
    assert not re.search(r"\b18\b", seen(app, BOARD))
    document = json.loads(app.test_client().get(f"{BOARD}.json").text)
    assert document["statistics"] == {
        "confidence": 0.95, "resamples": 10_000, "rank_resamples": None, "rank_queries": 20, "seed": 1,
    }  # fmt: skip
