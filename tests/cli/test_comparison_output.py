"""`leaderboard score --compare`: every figure from its definition or from scipy."""

import csv
import io
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.cli.conftest import Called

# Each query has one relevant document; a run's AP is 1 over the rank that it gives it.
RANKS = {"a": [1, 2, 3, 4, 5, 6, 7, 8], "b": [1, 1, 2, 2, 4, 9, 3, 5], "c": [2, 3, 4, 1, 1, 1, 2, 1]}
AP = {name: 1 / np.array(ranks) for name, ranks in RANKS.items()}
QRELS = "".join(f"q{query} 0 right 1\n" for query in range(8))


def run_of(ranks: list[int]) -> str:
    lines = []
    for query, wanted in enumerate(ranks):
        for rank in range(1, wanted + 1):
            document = "right" if rank == wanted else f"other{rank}"
            lines.append(f"q{query} Q0 {document} {rank} {100 - rank} run\n")
    return "".join(lines)


@pytest.fixture
def scored(offline: Called) -> Called:
    Path("qrels").write_text(QRELS)
    for name, ranks in RANKS.items():
        Path(name).write_text(run_of(ranks))
    return partial(offline, "score", "--judgments", "qrels")


def rows_of(out: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(out)))


def test_every_other_run_is_held_against_the_one_named(scored: Called) -> None:
    status, out, err = scored("a", "b", "c", "--measures", "AP P@1", "--compare", "a", "--format", "csv")
    assert (status, err) == (0, "")
    rows = rows_of(out)
    assert [(row["measure"], row["run"], row["baseline"]) for row in rows] == [
        ("AP", "b", "a"), ("AP", "c", "a"), ("P@1", "b", "a"), ("P@1", "c", "a"),
    ]  # fmt: skip
    for row in rows[:2]:
        difference = AP[row["run"]] - AP["a"]
        assert float(row["mean"]) == pytest.approx(AP[row["run"]].mean())
        assert float(row["baseline_mean"]) == pytest.approx(AP["a"].mean())
        assert float(row["difference"]) == pytest.approx(difference.mean())
        assert float(row["low"]) < difference.mean() < float(row["high"])
        assert float(row["d_z"]) == pytest.approx(difference.mean() / difference.std(ddof=1))
        counts = (np.sum(difference > 0), np.sum(difference < 0), np.sum(difference == 0))
        assert (int(row["better"]), int(row["worse"]), int(row["tied"])) == counts
        assert float(row["dominance"]) == pytest.approx((counts[0] - counts[1]) / 8)
        assert float(row["t_p"]) == pytest.approx(stats.ttest_rel(AP[row["run"]], AP["a"]).pvalue)
        assert float(row["wilcoxon_p"]) == pytest.approx(stats.wilcoxon(difference[difference != 0]).pvalue)
        assert (row["queries"], row["left_out"], row["seed"], row["confidence"]) == ("8", "0", "1", "0.95")


def test_the_table_shows_the_figures_and_where_the_draws_come_from(scored: Called) -> None:
    status, out, _ = scored("a", "b", "--measures", "P@1", "--compare", "a", "--seed", "42")
    # P@1 of a is 1 on the first query only, of b on the first two.
    assert status == 0
    head, *lines, last = out.splitlines()
    assert head == "P@1 against a"
    assert lines[0].split() == ["b"]
    shown = dict(line.split() for line in lines[1:])
    # One difference of 1 on 8 queries: d_z is 1/√8; statsmodels' solve_power gives .4087 and 64.7 for .8 at .05.
    expected = {
        "mean": "0.2500", "baseline_mean": "0.1250", "difference": "0.1250", "d_z": "0.3536", "dominance": "0.1250",
        "better": "1", "worse": "0", "tied": "7", "detectable": "0.4087", "queries_needed": "65",
        "tukey_p": "1.0000", "randomisation_p": "1.0000", "randomisation_holm": "1.0000", "randomisation_bh": "1.0000",
    }  # fmt: skip
    assert {name: shown[name] for name in expected} == expected
    assert last == "95 % intervals; 10,000 resamples, seed 42"


def test_the_seed_decides_the_interval(scored: Called) -> None:
    arguments = ("a", "b", "--measures", "AP", "--compare", "a", "--format", "csv")
    first, again, other = (scored(*arguments, *seed)[1] for seed in ((), ("--seed", "1"), ("--seed", "2")))
    assert first == again
    assert rows_of(first)[0]["low"] != rows_of(other)[0]["low"]
    assert rows_of(other)[0]["seed"] == "2"


def test_json_holds_every_test_with_its_statistic(scored: Called) -> None:
    _, out, _ = scored("a", "b", "--measures", "AP NumRet", "--compare", "a", "--format", "json")
    document = json.loads(out)
    assert document["baseline"] == "a"
    [row] = document["measures"]["AP"]["rows"]
    assert [each["test"]["name"] for each in row["tests"]] == ["randomisation", "t", "wilcoxon"]
    assert row["tests"][1]["test"]["statistic"] == pytest.approx(stats.ttest_rel(AP["b"], AP["a"]).statistic)
    assert document["measures"]["NumRet"]["means"] == {"a": sum(RANKS["a"]), "b": sum(RANKS["b"])}


def test_two_runs_that_are_alike_differ_by_nothing(scored: Called) -> None:
    Path("twin").write_text(run_of(RANKS["a"]))
    _, out, _ = scored("a", "twin", "--measures", "AP", "--compare", "a")
    shown = dict(line.split() for line in out.splitlines()[2:-2])
    assert (shown["difference"], shown["low"], shown["tied"], shown["detectable"]) == ("0.0000", "–", "8", "–")
    assert "twin: the two differ by the same amount on all queries" in out
    _, out, _ = scored("a", "twin", "--measures", "AP", "--compare", "a", "--format", "csv")
    assert rows_of(out)[0]["reason"] == "the two differ by the same amount on all queries"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a", "--compare", "a"], "needs two different runs or more"),
        (["a", "b", "--compare", "z"], "z is not among the runs: a, b"),
        (["a", "b", "--compare", "a", "--format", "trec_eval"], "leave out --per-query and --format trec_eval"),
    ],
)
def test_what_can_not_be_compared_is_said_on_stderr(scored: Called, arguments: list[str], said: str) -> None:
    status, out, err = scored(*arguments)
    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("measure", "options", "reason"),
    [
        ("NumRet", (), "neither a higher nor a lower value is better"),
        ("MQWV", ("--documents", "100", "--beta", "1"), "whole run"),
    ],
)
def test_a_measure_that_is_not_compared_keeps_its_row_and_says_why(
    scored: Called, measure: str, options: tuple[str, ...], reason: str
) -> None:
    _, out, _ = scored("a", "b", "--measures", measure, "--compare", "a", "--format", "csv", *options)
    [row] = rows_of(out)
    assert (row["measure"], row["run"], row["baseline"], row["difference"], row["randomisation_p"]) == (
        measure, "b", "a", "", "",
    )  # fmt: skip
    assert row["mean"] != ""
    assert reason in row["reason"]
    assert f"not compared: {row['reason']}" in scored("a", "b", "--measures", measure, "--compare", "a", *options)[1]
