"""What the page of two compared runs says, and what its files and the API give."""

import re

import numpy as np
import pytest
from flask import Flask

from leaderboard.db import Database
from leaderboard.statistics import difference_interval, randomisation_test
from leaderboard.web.formatting import signed
from tests.support.field import Field
from tests.support.latex import table_in
from tests.support.pages import seen, table_of

ADDRESS = "/campaigns/news/2026/compare"
QUERIES = 30


@pytest.fixture
def field(database: Database) -> Field:
    return Field(database, measures=("AP", "MQWV")).campaign(beta=20.0).evaluation(tags=[()] * QUERIES)


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
    page = seen(app, f"{ADDRESS}?a={better}&b={other}")
    assert (
        f"AP of Alder minus that of Birch is {signed(interval.estimate)} over 30 queries. The 95 % interval, "
        f"{signed(interval.low)} to {signed(interval.high)}, does not include 0. "
        "The randomisation test gives p < 0.001. This is about one pair"
    ) in page
    assert "includes 0: these queries can't tell the two apart." in seen(app, f"{ADDRESS}?a={again}&b={other}")
    assert "Compare two runs" in seen(app, ADDRESS)
    links = re.findall(rf'href="({ADDRESS}[^"]*)"', app.test_client().get(f"{ADDRESS}?a={better}&b={other}").text)
    assert f"{ADDRESS}.csv?a={better}&amp;b={other}" in links
    assert all(f"a={better}&amp;b={other}" in link for link in links)  # of other measures and orders as well
    rows = table_of(app.test_client().get(f"{ADDRESS}.csv?a={better}&b={other}"))
    assert [(row["query"], float(row["a"]), float(row["b"])) for row in rows] == [
        (f"q{n + 1}", values[0][n], values[1][n]) for n in range(QUERIES)
    ]
    head, *_ = table_in(app.test_client().get(f"{ADDRESS}.tex?a={better}&b={other}").text)
    assert head == ["Query", "Alder", "Birch", "Difference"]  # a reader of a paper knows no a and b


def test_a_run_beside_itself_differs_by_nothing(app: Flask, field: Field) -> None:
    run = field.run("Alder", {"AP": np.linspace(0.1, 0.9, QUERIES).tolist()})
    assert "is 0.000 over 30 queries" in seen(app, f"{ADDRESS}?a={run}&b={run}")
