"""What the page of two compared runs says, and what its files and the API give."""

import csv
import io
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from flask import Flask

from leaderboard.access import VISITOR
from leaderboard.db import Database
from leaderboard.results.reads.compare import compare
from leaderboard.statistics import difference_interval, randomisation_test
from leaderboard.web.formatting import signed
from leaderboard.web.sentences import comparison_finding
from tests.support.field import NOW, Field

ADDRESS = "/campaigns/news/2026/compare"
QUERIES = 30


@pytest.fixture
def field(database: Database) -> Field:
    made = Field(database, measures=("AP", "MQWV"))
    made.campaign(beta=20.0)
    made.evaluation(tags=[()] * QUERIES)
    return made


def text_of(app: Flask, address: str) -> str:
    answer = app.test_client().get(address)
    assert answer.status_code == 200, answer.text
    return " ".join(unescape(re.sub(r"<[^>]+>", "", answer.text)).split())


def test_the_sentences_say_how_far_apart_two_runs_are_and_of_what_that_is(app: Flask, field: Field) -> None:
    values = np.random.default_rng(3).random((2, QUERIES)).round(3) * 0.3
    values[0] += 0.4
    better, other = (
        field.run(name, {"AP": own.tolist()}) for name, own in zip(("Alder", "Birch"), values, strict=True)
    )
    again = field.run("Cedar", {"AP": (values[1] + np.resize([0.01, -0.01], QUERIES)).tolist()})
    order = sorted(range(QUERIES), key=lambda n: f"q{n + 1}")
    interval = difference_interval((values[0][order],), (values[1][order],))
    assert randomisation_test(*values).p < 0.001
    page = text_of(app, f"{ADDRESS}?a={better}&b={other}")
    assert (
        f"AP of Alder less that of Birch is {signed(interval.estimate)} over 30 queries. Its 95 % interval, "
        f"{signed(interval.low)} to {signed(interval.high)}, does not include 0. "
        "The randomisation test gives p < 0.001. This is of one pair alone"
    ) in page
    assert "includes 0: by these queries the two can't be told apart." in text_of(app, f"{ADDRESS}?a={again}&b={other}")
    assert "Compare two runs" in text_of(app, ADDRESS)
    rows = list(csv.DictReader(io.StringIO(app.test_client().get(f"{ADDRESS}.csv?a={better}&b={other}").text)))
    assert [(row["query"], float(row["a"]), float(row["b"])) for row in rows] == [
        (f"q{n + 1}", values[0][n], values[1][n]) for n in range(QUERIES)
    ]


def test_of_few_queries_there_is_no_interval_and_of_a_measure_of_the_whole_run_no_choice(
    app: Flask, database: Database
) -> None:
    field = Field(database, measures=("AP", "MQWV"))
    field.campaign(beta=20.0)
    field.evaluation()
    first, second = (field.run(name, {"AP": [0.1, 0.2, 0.3, 0.4]}) for name in ("Alder", "Birch"))
    page = text_of(app, f"{ADDRESS}?a={first}&b={second}")
    assert "AP of Alder less that of Birch is 0.000 over 4 queries. There is no interval: " in page
    answer = app.test_client().get(f"{ADDRESS}?a={first}&b={second}&measure=MQWV")
    assert answer.status_code == 400
    assert "MQWV isn" in unescape(answer.text)
    api = app.test_client().get(f"/api/v1/campaigns/news/evaluations/2026/compare?a={first}&b={second}").json
    assert api is not None
    assert [one["column"]["name"] for one in api["compared"]["measures"]] == ["AP", "MQWV"]


def test_what_interval_and_test_say_is_never_at_odds_with_their_figures(database: Database, field: Field) -> None:
    first, second = (field.run(name, {"AP": [mean] * QUERIES}) for name, mean in (("Alder", 0.5), ("Birch", 0.4)))
    with database.read() as session:
        asked = {"a": str(first), "b": str(second)}
        compared = compare(session, VISITOR, "news", "2026", NOW, **asked).compared
    assert compared is not None
    interval, test = compared.interval, compared.test
    assert interval is not None
    assert test is not None

    def said(low: float | None, high: float | None, p: float) -> str:
        own = replace(interval, low=low, high=high, reason="too few queries")
        return " ".join(comparison_finding(replace(compared, interval=own, test=replace(test, p=p)))[1:])

    apart = said(0.0002, 0.136, 0.0204)
    assert apart.startswith(
        "Its 95 % interval, just above 0 to +0.136, does not include 0. The randomisation test gives p = 0.0204. "
        "This is of one pair alone"
    )
    assert said(-0.136, -0.0002, 0.0204).startswith("Its 95 % interval, \N{MINUS SIGN}0.136 to just below 0, does not")
    assert said(0.0, 0.136, 0.2).startswith(
        "Its 95 % interval, 0.000 to +0.136, includes 0: by these queries the two can't be told apart. The randomis"
    )
    assert "includes 0. The randomisation test gives p = 0.049." in said(-0.01, 0.136, 0.049)
    assert "does not include 0. The randomisation test gives p = 0.061." in said(0.01, 0.136, 0.061)
    assert "gives p = 0.0498." in said(0.01, 0.136, 0.0498)
    assert said(None, None, 1.0) == (
        "There is no interval: too few queries. The randomisation test gives p = 1. This is of one pair alone: of "
        "many pairs that are looked at, some seem apart by chance."
    )


def test_who_chooses_one_run_twice_gets_the_form_again_with_what_is_wrong_beside_it(app: Flask, field: Field) -> None:
    first, second = (field.run(name, {"AP": [mean] * QUERIES}) for name, mean in (("Alder", 0.5), ("Birch", 0.4)))
    answer = app.test_client().get(f"{ADDRESS}?a={first}&b={first}&measure=AP")
    assert answer.status_code == 400
    assert "The same run twice: choose another one" in answer.text
    assert re.search(r'name="b" aria-invalid="true" aria-describedby="b-error"', answer.text)
    assert f'<option value="{first}" selected>Alder</option>' in answer.text
    assert f'<option value="{second}">Birch</option>' in answer.text
    assert '<input type="hidden" name="measure" value="AP">' in answer.text
    refused = app.test_client().get(f"/api/v1/campaigns/news/evaluations/2026/compare?a={first}&b={first}")
    assert refused.status_code == 400
    assert refused.json is not None
    assert refused.json["fields"] == {"b": ["the same run twice: choose another one"]}
