"""What a run's page and its JSON say of MQWV − AQWV, and with how many digits to whom."""

import json
import re
from html import unescape
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from leaderboard.db import Database
from leaderboard.evaluations.rules import Opening
from leaderboard.worker.models import Score, Scoring
from tests.support.field import Field

NAN = float("nan")


@pytest.fixture
def field(database: Database) -> Field:
    made = Field(database, measures=("AQWV", "MQWV"))
    made.campaign(beta=20.0)
    made.evaluation(tags=[()] * 30, details=Opening.ALWAYS)
    return made


def scored(field: Field, *, lost: tuple[float | None, float | None], best: float, one_threshold: bool = True) -> int:
    """A run with AQWV .4125 and this MQWV."""
    run = field.run("Alder", {"AQWV": [0.4125] * 30, "MQWV": [NAN] * 30}, means={"MQWV": best})
    with field.database.write() as session:
        low, high = lost
        session.execute(sa.update(Score).where(Score.measure == "MQWV").values(lost_low=low, lost_high=high, count=30))
        session.execute(sa.update(Scoring).values(facts={"one_threshold": one_threshold}))
    return run


def seen(app: Flask, run: int) -> str:
    text = re.sub(r"<[^>]+>", "", app.test_client().get(f"/submissions/{run}").text)
    return " ".join(unescape(text).split())


def told(app: Flask, run: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(app.test_client().get(f"/submissions/{run}.json").text)["threshold_costs"]
    return found


def test_what_the_choice_of_threshold_cost_stands_below_the_means_with_its_interval(app: Flask, field: Field) -> None:
    run = scored(field, lost=(0.0114, 0.0903), best=0.4549)
    assert "MQWV − AQWV 0.042 (0.011 to 0.090): what the choice of threshold cost. " in seen(app, run)
    assert told(app, run) == [
        {
            "figure": "MQWV − AQWV",
            "one_threshold": True,
            "mean": pytest.approx(0.0424),
            "low": 0.0114,
            "high": 0.0903,
        }
    ]


def test_nothing_is_given_where_no_single_threshold_gives_the_decisions(app: Flask, field: Field) -> None:
    run = scored(field, lost=(None, None), best=0.3, one_threshold=False)
    assert (
        "MQWV − AQWV is not given: no single threshold returns what this run's decisions return. They may be better "
        "than any single threshold, and the difference negative."
    ) in seen(app, run)
    (cost,) = told(app, run)
    assert (cost["one_threshold"], cost["mean"], cost["low"]) == (False, None, None)


def test_whoever_may_not_see_single_queries_gets_it_rounded_and_its_interval_outward(app: Flask, field: Field) -> None:
    run = scored(field, lost=(0.0114, 0.0903), best=0.4549)
    field.change(details=Opening.NEVER)
    assert "MQWV − AQWV 0.04 (0.01 to 0.10): what the choice of threshold cost. " in seen(app, run)
    (cost,) = told(app, run)
    assert (cost["mean"], cost["low"], cost["high"]) == (0.04, 0.01, 0.1)
