"""What a board's page and files say of intervals, rank ranges and significant differences."""

import csv
import io
import json
import re
from html import unescape
from typing import Any

import pytest
from flask import Flask

from leaderboard.db import Database
from leaderboard.rules.standings import SystemKind
from leaderboard.services import boards
from tests.support.field import Field

HALF = [1.0, 0.0] * 10
BOARD = "/campaigns/news/2026"


@pytest.fixture
def field(database: Database) -> Field:
    made = Field(database)
    made.campaign()
    made.evaluation(tags=[("law",)] * 20)
    return made


def refresh(field: Field) -> None:
    with field.database.read() as session:
        found = boards.due(session)
    for one in found:
        assert boards.refresh(field.database, one)


def seen(app: Flask, address: str = BOARD) -> str:
    """What a reader sees, blanks collapsed."""
    answer = app.test_client().get(address)
    assert answer.status_code == 200
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def drawn(app: Flask) -> list[Any]:
    return re.findall(r'<line class="bar-interval" x1="([\d.]+)" x2="([\d.]+)"', app.test_client().get(BOARD).text)


def test_the_first_that_can_not_be_told_apart_are_named_and_shaded(app: Flask, field: Field) -> None:
    field.run("Alder", {"AP": HALF})
    field.run("Birch", {"AP": HALF[::-1]})
    field.run("Cedar", {"AP": [-1.0] * 20})
    refresh(field)
    page = seen(app)
    assert (
        "Alder and Birch share the highest AP, 0.500 over 20 queries. They differ significantly from all others" in page
    )
    assert re.search(r"1 1–2 Alder .* 1 1–2 Birch .* 3 Cedar", page)
    assert app.test_client().get(BOARD).text.count('<tr class="group ') == 2
    assert "Shaded: not significantly different from the first" in page
    assert "10,000 resamples of the queries (seed 1)" in page


def test_a_first_that_can_be_told_apart_from_all_is_said_to_be(app: Flask, field: Field) -> None:
    field.run("Alder", {"AP": [0.9] * 20})
    field.run("Birch", {"AP": [0.1] * 20})
    refresh(field)
    page = seen(app)
    assert "Alder has the highest AP, 0.900 over 20 queries; Birch is next with 0.100." in page
    assert "It differs significantly from all others at 95 % confidence." in page
    assert "haded" not in page


def test_long_groups_are_counted_and_not_named(app: Flask, field: Field) -> None:
    for number in range(12):
        field.run(f"System {number:02}", {"AP": [1.0 if query == number else 0.5 for query in range(20)]})
    field.run("Ahead", {"AP": [1.0, 1.0, *[0.5] * 18]})
    refresh(field)
    assert "12 others, shaded too, are not significantly different from it at 95 % confidence." in seen(app)


def test_systems_that_all_share_the_highest_value_differ_from_nobody(app: Flask, field: Field) -> None:
    for number in range(5):
        field.run(f"System {number}", {"AP": [1.0 if query == number else 0.5 for query in range(20)]})
    refresh(field)
    page = seen(app)
    assert "System 0, System 1 and 3 others share the highest AP, 0.525 over 20 queries." in page
    assert "significantly" not in page.split("Rank System")[0]


def test_a_board_over_one_query_claims_nothing_beyond_it(app: Flask, database: Database) -> None:
    field = Field(database)
    field.campaign()
    field.evaluation(tags=[()], qrels="q1 0 d 1\n")
    field.run("Alder", {"AP": [0.75]})
    field.run("Birch", {"AP": [0.5]})
    refresh(field)
    page = seen(app)
    assert "Alder has the highest AP, 0.750 over 1 query; Birch is next with 0.500." in page
    assert "One query says nothing of other queries: another one may turn this order round." in page
    assert "significant" not in page
    assert "leads" not in page
    assert drawn(app) == []
    assert "Thin line" not in page


def test_below_five_queries_a_board_says_why_it_has_no_intervals(app: Flask, database: Database) -> None:
    field = Field(database)
    field.campaign()
    field.evaluation()  # four queries
    field.run("Alder", {"AP": [0.75, 0.5, 0.25, 1.0]})
    refresh(field)
    assert drawn(app) == []
    assert "No confidence intervals: fewer than 5 queries say next to nothing of how others vary." in seen(app)


def test_a_board_of_all_runs_counts_runs_and_names_which(app: Flask, field: Field) -> None:
    field.run("Alder", {"AP": HALF}, label="first")
    field.run("Alder", {"AP": [0.75] * 20}, label="second")
    field.run("Baseline", {"AP": [0.1] * 20}, kind=SystemKind.BASELINE)
    refresh(field)
    page = seen(app, f"{BOARD}?show=all")
    assert "Alder (second) has the highest AP, 0.750 over 20 queries; Alder (first) is next with 0.500." in page
    assert "Whether the differences between these runs are significant has not been worked out." in page
    assert "All 2 runs have a higher AP than the best baseline." in page


def test_sentences_above_a_part_of_the_queries_stand_apart_and_claim_no_significance(app: Flask, field: Field) -> None:
    field.run("Alder", {"AP": [0.9] * 20})
    field.run("Birch", {"AP": [0.1] * 20})
    field.run("Baseline", {"AP": [0.5] * 20}, kind=SystemKind.BASELINE)
    refresh(field)
    assert (
        "Alder has the highest AP, 0.900 over 20 queries; Birch is next with 0.100. "
        "Whether the differences are significant is worked out over all queries only. "
        "1 of 2 systems has a higher AP than the best baseline. "
        "All figures are over the 20 queries with the tag law only"
    ) in seen(app, f"{BOARD}?tag=law")


def test_intervals_are_drawn_on_one_scale_from_zero(app: Flask, field: Field) -> None:
    """HALF's interval is .28 to .72 (see tests/services/test_boards.py), the whole scale 0 to 1."""
    field.run("Alder", {"AP": [1.0] * 20})  # equal values have none
    field.run("Birch", {"AP": HALF})
    refresh(field)
    assert drawn(app) == [("28.18", "71.82")]


def test_before_the_worker_came_to_it_nothing_is_said_of_chance(app: Flask, field: Field) -> None:
    field.run("Alder", {"AP": [0.9] * 20})
    field.run("Birch", {"AP": [0.1] * 20})
    page = seen(app)
    assert "Alder has the highest AP, 0.900 over 20 queries; Birch is next with 0.100." in page
    assert "Whether the differences between these systems are significant has not been worked out." in page
    assert "seed" not in page
    assert drawn(app) == []


@pytest.mark.parametrize("asked", ["?show=all", "?tag=law"])
def test_other_views_than_the_one_worked_out_show_no_ranges(app: Flask, field: Field, asked: str) -> None:
    field.run("Alder", {"AP": HALF})
    field.run("Alder", {"AP": HALF})
    field.run("Birch", {"AP": HALF[::-1]})
    refresh(field)
    assert "1–2" in seen(app)
    assert "1–2" not in seen(app, BOARD + asked)
    assert "significantly" not in seen(app, BOARD + asked)
    assert "interval" not in seen(app, f"{BOARD}?tag=law")


def test_files_hold_ranges_and_where_the_draws_come_from(app: Flask, field: Field) -> None:
    field.run("Alder", {"AP": HALF})
    field.run("Birch", {"AP": HALF[::-1]})
    field.run("Cedar", {"AP": [-1.0] * 20})
    client = app.test_client()
    rows = list(csv.DictReader(io.StringIO(client.get(f"{BOARD}.csv").text)))
    assert [(row["rank_low"], row["rank_high"], row["leads"], row["AP low"]) for row in rows] == [("", "", "", "")] * 3
    refresh(field)
    rows = list(csv.DictReader(io.StringIO(client.get(f"{BOARD}.csv").text)))
    assert [(row["rank"], row["rank_low"], row["rank_high"]) for row in rows] == [
        ("1", "1", "2"), ("1", "1", "2"), ("3", "3", "3"),
    ]  # fmt: skip
    assert float(rows[0]["AP low"]) == pytest.approx(0.2818, abs=1e-4)
    document = json.loads(client.get(f"{BOARD}.json").text)
    assert document["statistics"] == {"confidence": 0.95, "resamples": 10_000, "seed": 1}
    assert [row["leads"] for row in document["rows"]] == [True, True, False]


def test_a_board_of_one_system_does_not_explain_ranges_that_it_does_not_show(app: Flask, field: Field) -> None:
    field.run("Alder", {"AP": HALF}, intervals={"AP": (0.25, 0.75)})
    refresh(field)
    assert "Range under a rank" not in seen(app)
    field.run("Birch", {"AP": HALF[::-1]}, intervals={"AP": (0.25, 0.75)})
    refresh(field)
    assert "Range under a rank" in seen(app)
