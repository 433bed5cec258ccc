"""`leaderboard agreement`: two runs against each other."""

import csv
import io
import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import Called

# q1: b, a, c against a, b, c, d: one of three pairs is turned round. q2: only z is in both. q3, q4: in one run only.
FIRST = "q1 Q0 b 1 9 one\nq1 Q0 a 2 8 one\nq1 Q0 c 3 7 one\nq2 Q0 z 1 9 one\nq2 Q0 y 2 1 one\nq3 Q0 a 1 1 one\n"
SECOND = "q2 Q0 z 1 9 two\nq1 Q0 d 4 1 two\nq1 Q0 a 1 9 two\nq1 Q0 b 2 8 two\nq1 Q0 c 3 7 two\nq4 Q0 a 1 1 two\n"


@pytest.fixture
def called(offline: Called) -> Called:
    Path("a.txt").write_text(FIRST)
    Path("b.txt").write_text(SECOND)
    return partial(offline, "agreement")


def test_each_shared_query_has_its_agreement_and_the_number_of_shared_documents(called: Called) -> None:
    status, out, err = called("a.txt", "b.txt", "--measures", "KendallTau KendallDistance@2")
    assert status == 0
    assert [line.split() for line in out.splitlines()] == [
        ["query", "KendallTau", "n", "KendallDistance@2", "n"],
        ["q1", "0.3333", "3", "1.0000", "2"],
        ["q2", "–", "1", "–", "1"],
        ["all", "0.3333", "1", "1.0000", "1"],
    ]
    assert err == (
        "a.txt: 1 query not in the other run, left out: q3\nb.txt: 1 query not in the other run, left out: q4\n"
    )


def test_depth_cuts_both_lists_first(called: Called) -> None:
    _, out, _ = called("a.txt", "b.txt", "--depth", "2", "--measures", "KendallTau", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["query"], row["KendallTau"], row["n of KendallTau"]) for row in rows] == [
        ("q1", "-1.0", "2"),
        ("q2", "", "1"),
        ("all", "-1.0", "1"),
    ]


def test_json_has_every_digit_and_null_where_it_is_undefined(called: Called) -> None:
    document = json.loads(called("a.txt", "b.txt", "--format", "json")[1])
    assert list(document["mean"]) == ["KendallTau", "KendallDistance", "SpearmanRho", "RBO", "TauAP"]
    assert document["mean"]["KendallDistance"] == {"value": pytest.approx(1 / 3), "queries": 1}
    assert document["per_query"]["q2"]["SpearmanRho"] == {"value": None, "documents": 1}
    # Of the second list's three documents b is below a, wrongly, and c below both, rightly: 2 (0 / 1 + 2 / 2) / 2 − 1.
    assert document["per_query"]["q1"]["TauAP"] == {"value": 0.0, "documents": 3}


def test_what_can_not_be_asked_is_said(called: Called) -> None:
    status, out, err = called("a.txt", "b.txt", "--measures", "Tau")
    assert (status, out) == (2, "")
    assert err.startswith("no agreement is called 'Tau'; there are KendallDistance")
    Path("c.txt").write_text("q9 Q0 a 1 1 c\n")
    assert called("a.txt", "c.txt") == (2, "", "a.txt and c.txt have no query in common\n")
