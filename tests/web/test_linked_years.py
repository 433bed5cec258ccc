"""The page that splits a change between two years: its sentence, its charts and its files."""

import csv
import io
import json
import re

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient

from leaderboard.db import Database
from leaderboard.submissions.rules import SystemKind
from tests.support.field import Field

ADDRESS = "/campaigns/news/progress/years"
QUERIES = np.array([-0.1, -0.05, 0.0, 0.05, 0.1, 0.0])


@pytest.fixture
def field(database: Database) -> Field:
    made = Field(database).campaign()
    for year in (2024, 2026):
        made.evaluation(str(year), period_key=year, tags=[()] * len(QUERIES))
    return made


def run(field: Field, system: str, year: int, mean: float, **given: object) -> int:
    return field.run(system, {"AP": list(QUERIES + mean)}, evaluation=str(year), **given)


def link(field: Field, *changes: float) -> None:
    for number, gain in enumerate(changes):
        for year, mean in ((2024, 0.2), (2026, 0.2 + gain)):
            run(field, f"Baseline {number}", year, mean, version="1", kind=SystemKind.BASELINE)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


def findings(client: FlaskClient, query: str = "") -> list[str]:
    page = client.get(ADDRESS + query).text
    return [" ".join(text.split()) for text in re.findall(r'<p class="finding">(.*?)</p>', page, re.S)]


def test_one_sentence_says_how_much_is_a_better_system_and_how_much_the_year(client: FlaskClient, field: Field) -> None:
    link(field, 0.02, 0.05, 0.08)
    run(field, "Alder", 2024, 0.40)
    run(field, "Comet", 2026, 0.70)
    pair, of_field = findings(client)
    assert pair == (
        "AP rises by 0.300 from Alder in 2024 (0.400) to Comet in 2026 (0.700). "
        "Of this, +0.250 (95 % interval +0.092 to +0.408) is a better system and +0.050 (−0.025 to +0.125: "
        "perhaps nothing) an easier year."
    )
    assert of_field.startswith(
        "The mean AP of all systems rises by 0.300, from 0.400 over 1 system in 2024 to 0.700 over 1 system in 2026."
    )


def test_a_harder_year_and_a_fall_are_called_so(client: FlaskClient, field: Field) -> None:
    link(field, -0.12, -0.15, -0.11)
    run(field, "Alder", 2024, 0.60)
    run(field, "Comet", 2026, 0.55)
    pair, _ = findings(client)
    assert pair.startswith("AP falls by 0.050 from Alder in 2024 (0.600) to Comet in 2026 (0.550). Of this, +0.077 (")
    assert pair.endswith(" a harder year.")


def test_a_version_compared_with_itself_is_said_to_be_the_same_and_what_is_left_is_named(
    client: FlaskClient, field: Field
) -> None:
    link(field, 0.09, 0.12, 0.15)
    first, last = (run(field, "Alder", year, mean, version="1") for year, mean in ((2024, 0.40), (2026, 0.521)))
    pair, _ = findings(client, f"?first={first}&last={last}")
    assert pair.startswith(
        "AP rises by 0.121 from Alder, version 1 in 2024 (0.400) to Alder, version 1 in 2026 (0.521). "
        "Both are the same version: +0.120 (95 % interval +0.081 to +0.159) is an easier year. "
        "The remaining +0.001 is how far"  # .121 less .12025
    )
    bars = list(csv.DictReader(io.StringIO(client.get(f"{ADDRESS}/charts/change.csv?first={first}&last={last}").text)))
    assert {bar["part"] for bar in bars} == {"2024", "the system", "an easier year", "off its level", "2026"}


def test_two_links_have_estimates_and_the_page_says_why_no_interval(client: FlaskClient, field: Field) -> None:
    link(field, 0.02, 0.06)
    run(field, "Alder", 2024, 0.40)
    run(field, "Comet", 2026, 0.70)
    pair, _ = findings(client)
    assert pair.endswith(
        "Of this, about +0.260 is a better system and about +0.040 an easier year, without an interval (2 versions "
        "that ran unchanged can&#39;t show how far others would change)."
    )


def test_a_difference_is_rounded_by_itself(client: FlaskClient, field: Field) -> None:
    link(field, 0.02, 0.05, 0.08)
    run(field, "Alder", 2024, 0.4066)
    run(field, "Comet", 2026, 0.7853)
    pair, _ = findings(client)
    assert pair.startswith("AP rises by 0.379 from Alder in 2024 (0.407) to Comet in 2026 (0.785).")  # .3787


def test_what_remains_is_explained(client: FlaskClient, field: Field) -> None:
    link(field, 0.02, 0.05, 0.08)
    run(field, "Comet", 2026, 0.70)
    number = run(field, "Alder", 2024, 0.40, version="1")
    run(field, "Alder", 2026, 0.55, version="1")
    pair, of_field = findings(client, f"?first={number}")
    assert of_field.endswith(" is how far the two means are from their levels.")  # what a level is was said
    assert pair.endswith(
        "is how far the two means are from their levels; a version&#39;s level is its average over all years that it "
        "ran in."
    )


def test_where_no_version_links_the_years_nothing_is_claimed(client: FlaskClient, field: Field) -> None:
    run(field, "Alder", 2024, 0.40)
    run(field, "Comet", 2026, 0.70)
    assert findings(client) == [
        "No version ran unchanged in both 2024 and 2026, and no chain of versions links them. So nothing can be said."
    ]
    assert client.get(f"{ADDRESS}/charts/change.csv").status_code == 404
    assert "Split this change" not in client.get(ADDRESS).text  # no other runs would say more


def test_the_chart_and_the_table_are_files(client: FlaskClient, field: Field) -> None:
    link(field, 0.02, 0.05, 0.08)
    run(field, "Alder", 2024, 0.40)
    run(field, "Comet", 2026, 0.70)
    bars = list(csv.DictReader(io.StringIO(client.get(f"{ADDRESS}/charts/change.csv").text)))
    assert [bar["part"] for bar in bars] == ["2024", "a better system", "an easier year", "2026"]
    assert [float(bar["to"]) for bar in bars] == pytest.approx([0.40, 0.65, 0.70, 0.70])
    rows = list(csv.DictReader(io.StringIO(client.get(f"{ADDRESS}.csv").text)))
    assert [(row["version"], row["period"], row["system"]) for row in rows[:2]] == [
        ("1", "2024", "Baseline 0"), ("1", "2026", "Baseline 0"),
    ]  # fmt: skip
    pair, _ = json.loads(client.get(f"{ADDRESS}.json").text)["changes"]
    assert pair["of_versions"]["estimate"] == pytest.approx(0.25)
    answer = client.get(f"/api/v1{ADDRESS}").json
    assert answer is not None
    assert answer["pair"]["of_periods"]["estimate"] == pytest.approx(0.05)


def test_a_run_that_is_not_on_the_page_is_refused(client: FlaskClient, field: Field) -> None:
    assert client.get(f"{ADDRESS}?first=x").status_code == 400


def test_progress_leads_there(client: FlaskClient, field: Field) -> None:
    run(field, "Alder", 2024, 0.40)
    run(field, "Comet", 2026, 0.70)
    assert f'href="{ADDRESS}?condition=&amp;measure=AP"' in client.get("/campaigns/news/progress").text
