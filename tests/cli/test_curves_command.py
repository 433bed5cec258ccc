"""`leaderboard curves`: curves as columns. The evaluation is the golden one of three queries, β 20, 601 documents."""

import csv
import io
import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import Called

QRELS = "q1 0 a 1\nq1 0 b 1\nq2 0 c 1\n"
RUN = "q1 a Y .9\nq1 x Y .8\nq1 b N .4\nq1 y N .3\nq2 z Y .7\nq2 c Y .6\nq2 w N .6\nq3 u Y .5\n".replace(" ", "\t")
COLLECTION = ("--documents", "601", "--beta", "20", "--queries", "queries", "--judging", "complete")


@pytest.fixture
def called(offline: Called) -> Called:
    Path("qrels").write_text(QRELS)
    Path("run").write_text(RUN)
    Path("queries").write_text("q1\nq2\nq3\n")
    return partial(offline, "curves", "run", "--judgments", "qrels")


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_sweep_has_a_row_for_every_distinct_score_and_one_for_nothing(called: Called) -> None:
    status, out, err = called("--curve", "sweep", *COLLECTION)
    assert (status, err) == (0, "")
    points = rows(out)
    assert [float(row["theta"]) for row in points] == [float("inf"), 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]
    assert float(points[0]["qwv"]) == 0
    best = max(points, key=lambda row: float(row["qwv"]))
    # MQWV .949972 at θ .4
    assert (float(best["theta"]), round(float(best["qwv"]), 6)) == (0.4, 0.949972)


def test_the_oracle_has_a_row_for_every_query(called: Called) -> None:
    points = rows(called("--curve", "oracle", *COLLECTION)[1])
    assert [row["query"] for row in points] == ["q1", "q2", "q3"]
    # q1: one false alarm of 599 others at θ .4; q2: two of 600 at θ .6.
    assert [float(row["value"]) for row in points[:2]] == pytest.approx([1 - 20 / 599, 1 - 40 / 600])
    assert [float(row["theta"]) for row in points[:2]] == [0.4, 0.6]
    assert (points[2]["theta"], points[2]["value"]) == ("", "")


def test_precision_and_recall_over_rank(called: Called) -> None:
    # q1: relevant at 1 and 3 of 2. q2: equal scores by document id, falling: w before c, so that c is third.
    points = rows(called("--curve", "rank", "--depth", "3")[1])
    assert [row["rank"] for row in points] == ["1", "2", "3"]
    assert [float(row["precision"]) for row in points] == pytest.approx([1 / 2, 1 / 4, (2 / 3 + 1 / 3) / 2])
    assert [float(row["recall"]) for row in points] == pytest.approx([1 / 4, 1 / 4, 1])
    assert len(rows(called("--curve", "rank")[1])) == 4


def test_precision_over_recall_of_one_query(called: Called) -> None:
    document = json.loads(called("--curve", "recall", "--query", "q1", "--format", "json")[1])
    assert (document["curve"], document["query"]) == ("recall", "q1")
    assert document["points"]["recall"] == pytest.approx([step / 10 for step in range(11)])
    # A recall of .7 is 1.4 of two relevant documents, to the nearest 1; from .8 on it takes both.
    assert document["points"]["precision"] == pytest.approx([1] * 8 + [2 / 3] * 3)


def test_json_writes_null_where_nothing_is_returned_or_defined(called: Called) -> None:
    document = json.loads(called("--curve", "sweep", *COLLECTION, "--format", "json")[1])
    assert document["points"]["theta"] == [None, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]
    assert document["setting"] == {"documents": 601, "beta": 20.0, "no_relevant": "exclude", "compat": 10}
    nothing = json.loads(called("--curve", "oracle", *COLLECTION, "--query", "q3", "--format", "json")[1])
    assert nothing["points"]["value"] == [None]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--curve", "sweep"], "leaderboard curves: --curve sweep needs --documents N and --beta B"),
        (["--curve", "recall", "--depth", "3"], "leaderboard curves: --depth goes with --curve rank"),
        (["--curve", "rank", "--query", "q9"], "qrels: none of the queries that count has judgments"),
    ],
)
def test_what_can_not_be_asked_is_said(called: Called, arguments: list[str], message: str) -> None:
    status, out, err = called(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith(message)
