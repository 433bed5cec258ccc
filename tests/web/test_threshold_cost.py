"""What a run's page and its JSON say of MQWV − AQWV, and with how many digits to whom."""

import pytest
import sqlalchemy as sa
from flask import Flask

from leaderboard.db import Database
from leaderboard.evaluations.rules import Opening
from leaderboard.worker.models import Score, Scoring
from tests.support.field import Field
from tests.support.pages import seen

NAN = float("nan")


@pytest.fixture
def field(database: Database) -> Field:
    return (
        Field(database, measures=("AQWV", "MQWV"))
        .campaign(beta=20.0)
        .evaluation(tags=[()] * 30, details=Opening.ALWAYS)
    )


def test_what_the_choice_of_threshold_cost_stands_below_the_means_rounded_where_single_queries_are_closed(
    app: Flask, field: Field
) -> None:
    run = field.run("Alder", {"AQWV": [0.4125] * 30, "MQWV": [NAN] * 30}, means={"MQWV": 0.4549})
    with field.database.write() as session:
        lost = {"lost_low": 0.0114, "lost_high": 0.0903, "count": 30}
        session.execute(sa.update(Score).where(Score.measure == "MQWV").values(lost))
        session.execute(sa.update(Scoring).values(facts={"one_threshold": True}))
    for details, words, figures in (
        (Opening.ALWAYS, "0.042 (0.011 to 0.090)", (0.0424, 0.0114, 0.0903)),
        (Opening.NEVER, "0.04 (0.01 to 0.10)", (0.04, 0.01, 0.1)),
    ):
        field.change(details=details)
        assert words in seen(app, f"/submissions/{run}").partition("MQWV − AQWV")[2][:40]
        [cost] = app.test_client().get(f"/submissions/{run}.json").json["threshold_costs"]
        assert (cost["figure"], cost["one_threshold"]) == ("MQWV − AQWV", True)
        assert (cost["mean"], cost["low"], cost["high"]) == pytest.approx(figures)
