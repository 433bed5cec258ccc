"""`leaderboard opinion`: what the values of any board can tell of its systems."""

import gzip
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from leaderboard.statistics import board_statistics
from tests.cli.conftest import Called

DRAW = np.random.default_rng(5)
EASE = DRAW.uniform(0.2, 0.8, 20)
MEANS = (("Cedar", -0.2), ("Alder", 0.0), ("Birch", 0.005))
VALUES = {name: EASE + mean + DRAW.normal(0, 0.02, 20) for name, mean in MEANS}
BEYOND = "is beyond ±1,000,000,000"
SIDEWAYS = "Is this table on its side? A row is a query, a column a system."
HEAD = "line 1: needs a column of queries, then two columns or more with names of different systems"


def csv_of(values: dict[str, np.ndarray], separator: str = ",") -> str:
    rows = zip(*(own.tolist() for own in values.values()), strict=True)
    lines = [["query", *values], *([f"q{number}", *map(repr, row)] for number, row in enumerate(rows, 1))]
    return "".join(f"{separator.join(line)}\n" for line in lines)


@pytest.fixture
def called(offline: Called) -> Called:
    Path("values.csv").write_text(csv_of(VALUES))
    return partial(offline, "opinion")


def test_the_table_says_who_may_be_the_best_and_the_sentences_what_the_queries_can_tell(called: Called) -> None:
    status, out, err = called("values.csv")
    assert (status, err) == (0, "")
    table, sentences = out.split("\n\n")
    rows = [line.split() for line in table.splitlines()]
    assert rows[0] == ["rank", "ranks", "best", "system", "mean", "low", "high"]
    assert [row[-4] for row in rows[1:]] == [
        *sorted(("Alder", "Birch"), key=lambda name: -VALUES[name].mean()),
        "Cedar",
    ]
    assert rows[3][:2] == ["3", "3-3"]
    assert sentences.startswith("At 95 % confidence the best system is one of 2: ")
    assert "\nWith 20 queries a difference of 0.0" in sentences


def test_json_has_what_a_board_says_of_the_same_values(called: Called) -> None:
    document = json.loads(called("values.csv", "--format", "json")[1])
    board = board_statistics({name: (own,) for name, own in VALUES.items()})
    assert {row["system"]: (row["rank"], row["low"], row["high"]) for row in document["rows"]} == board.rank_sets
    assert {row["system"] for row in document["rows"] if row["may_be_best"]} == set(board.best)
    assert {row["system"]: row["mean"]["low"] for row in document["rows"]} == {
        name: pytest.approx(own.low) for name, own in board.intervals.items()
    }
    assert document["leader"] == document["rows"][0]["system"]
    assert document["items"] == 20


def test_lower_is_better_turns_the_order_round(called: Called) -> None:
    document = json.loads(called("values.csv", "--lower-is-better", "--format", "json")[1])
    assert document["rows"][0]["system"] == "Cedar"
    assert document["finding"][0] == "At 95 % confidence the best system is Cedar."


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_and_gzip_are_read(called: Called, separator: str) -> None:
    Path("other.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + csv_of(VALUES, separator).encode()))
    assert called("other.gz") == called("values.csv")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", [HEAD]),
        ("query,A\nq1,1\n", [HEAD]),
        ("query,A,A\n", [HEAD]),
        ("query,A,B\nq1,1,2\nq2,1,2\n", ["has 2 systems on 2 rows; at least 5 rows are needed"]),
        (
            "system,q1,q2,q3\nA,1,2,3\nB,1,2,3\n",
            [f"has 3 systems on 2 rows; at least 5 rows are needed. {SIDEWAYS}"],
        ),
        ("query;A;B\nq1;0,246;1\nq2;0,5;0,25\n", ["line 2: write 0.246, not 0,246"]),
        (
            "query,A,B\nq1,1,\n\nq1,x,nan\nq3,1\n",
            [
                "line 2: B: the value is missing",
                "line 4: B: nan is no finite number",
                "line 4: q1 is on line 2 already",
                "line 4: A: x is no finite number",
                "line 5: expected 3 columns, found 2 (query, A, B)",
            ],
        ),
        ("query,A,B\nq1,\"1\"x,2\n", ["line 2: is no CSV: ',' expected after '\"'; reading ended here"]),
        ("query,A,B\nq1,1e308,2\nq2,1,-2e9\n", [f"line 2: A: 1e308 {BEYOND}", f"line 3: B: -2e9 {BEYOND}"]),
        ("PK\x03\x04", ["is a zip archive or an office document; give plain text or gzip"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(called: Called, text: str, says: list[str]) -> None:
    Path("bad.csv").write_text(text)
    assert called("bad.csv") == (2, "", "".join(f"bad.csv: {line}\n" for line in says))


def test_a_table_on_its_side_is_asked_about_and_no_difference_is_found_that_its_values_cannot_have(
    called: Called,
) -> None:
    values = np.random.default_rng(1).uniform(0, 1, (30, 8))
    Path("side.csv").write_text(csv_of({f"item {number}": own for number, own in enumerate(values)}))
    status, out, _ = called("side.csv", "--format", "json")
    document = json.loads(out)
    assert status == 0
    assert document["finding"][0] == SIDEWAYS
    assert document["detectable"]["difference"] > 1  # which no two means of such values can be apart
    assert document["finding"][2] == (
        "With 8 queries no difference within the range of these values is found with a probability of about 0.8."
    )


def test_what_many_lines_have_in_common_comes_first(called: Called) -> None:
    Path("bad.csv").write_text("query,A,B\n" + "".join(f"q{number},1,\n" for number in range(11)))
    first, second, *_ = called("bad.csv")[2].splitlines()
    assert (first, second) == ("bad.csv: 11 of 11 lines: B: no value", "bad.csv: line 2: B: the value is missing")


def test_a_query_without_a_value_for_any_system_is_left_out_as_a_boards_file_has_it(called: Called) -> None:
    head, *rows = csv_of(VALUES).splitlines(True)
    Path("gaps.csv").write_text("".join([head, *rows[:3], "q0,,,\n", *rows[3:]]))
    assert called("gaps.csv") == called("values.csv")


def test_equal_values_are_no_evidence_of_anything(called: Called) -> None:
    Path("equal.csv").write_text(csv_of({"A": np.full(9, 0.5), "B": np.full(9, 0.5)}))
    status, out, _ = called("equal.csv")
    assert status == 0
    assert "the best system is one of 2: A and B." in out
    assert "The lead" not in out


def test_the_range_of_values_is_evidence_only_where_it_is_that_of_most_measures(called: Called) -> None:
    ones = {"A": np.ones(20), "B": np.zeros(20)}  # without spread only a known range tells them apart
    for name, values in (("within", ones), ("beyond", {system: 2 * own for system, own in ones.items()})):
        Path(f"{name}.csv").write_text(csv_of(values))
    within, beyond = (json.loads(called(f"{name}.csv", "--format", "json")[1]) for name in ("within", "beyond"))
    assert [(row["low"], row["high"]) for row in within["rows"]] == [(1, 1), (2, 2)]
    assert [(row["low"], row["high"]) for row in beyond["rows"]] == [(1, 2), (1, 2)]


@pytest.mark.parametrize(
    ("others", "says"),
    [
        (0.8, "rests on 3 of 6 queries: without queries q1, q2 and q3, B would be first."),
        (0.5, "rests on 3 of 6 queries: without queries q1, q2 and q3, it would share the first place with B."),
    ],
)  # fmt: skip
def test_what_the_lead_rests_on_is_said_as_on_a_board(called: Called, others: float, says: str) -> None:
    Path("lead.csv").write_text(csv_of({"A": np.array([1.0] * 3 + [0.5] * 3), "B": np.array([0.0] * 3 + [others] * 3)}))
    assert says in called("lead.csv")[1]
