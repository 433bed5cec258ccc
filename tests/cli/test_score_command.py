import csv
import io
import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import Called

QRELS = "q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 a 1\nq3 0 z 1\n"
RUN = "q1 Q0 a 1 9 mine\nq1 Q0 x 2 8 mine\nq1 Q0 c 3 7 mine\nq2 Q0 b 1 9 mine\nq2 Q0 a 2 8 mine\nq9 Q0 a 1 1 mine\n"
OTHER = "q1 Q0 c 1 9 other\nq2 Q0 a 2 8 other\nq3 Q0 z 1 1 other\n"


@pytest.fixture
def scored(offline: Called) -> Called:
    Path("qrels").write_text(QRELS)
    Path("run").write_text(RUN)
    Path("other").write_text(OTHER)
    return partial(offline, "score")


def test_how_many_queries_a_mean_is_over_is_said_where_some_have_no_value(scored: Called) -> None:
    Path("queries").write_text("q1\nq2\nq3\nq4\n")
    measures = ("--measures", "AP SetF NumRel")
    arguments = ("other", "--judgments", "qrels", "--queries", "queries", *measures)
    _, out, err = scored(*arguments, "--judging", "complete")
    # q4 has nothing relevant and nothing returned. AP and SetF: q1 1/2 and 2/3, q2 and q3 1.
    assert out == "run        AP    SetF  NumRel\nother  0.8333  0.8889       4\n"
    assert "other: 3 of 4 queries have a value (the others have no relevant document): AP, SetF\n" in err
    _, out, _ = scored(*arguments, "--judging", "complete", "--format", "json")
    counts = {name: each["queries"] for name, each in json.loads(out)["runs"][0]["measures"].items()}
    assert counts == {"AP": 3, "SetF": 3, "NumRel": 4}
    _, out, err = scored(*arguments, "--judging", "complete", "--format", "trec_eval")
    assert "map                   \tall\t0.6250\n" in out
    assert "have a value" not in err


def test_a_mean_that_rounds_to_zero_has_no_sign(scored: Called) -> None:
    # `run` has one false alarm on q1 and on q2, and misses q3: AQWV is 1 − 1/3 − β · (1/2999998 + 1/2999999) / 3.
    arguments = ["run", "other", "--judgments", "qrels", "--documents", "3000000"]
    beta = str(2 / 3 / (1 / 2999998 + 1 / 2999999) * 3 + 1)  # so that it is −2.2e-7
    _, out, _ = scored(*arguments, "--measures", "AQWV", "--beta", beta, "--format", "table")
    assert "-0.0000" not in out
    assert out.splitlines()[1].split() == ["run", "0.0000"]


def test_the_table_has_a_row_a_run(scored: Called) -> None:
    # q1: relevant at 1 and 3 of 2; q2: relevant at 2; q3 is missing. AP: (1 + 2/3)/2, 1/2, 0.
    status, out, err = scored(
        "run", "other", "--judgments", "qrels", "--measures", "AP NumRet MQWV", "--documents", "9"
    )
    assert (status, out) == (2, "")
    assert "MQWV needs --beta B" in err
    status, out, err = scored("run", "other", "--judgments", "qrels", "--measures", "AP NumRet")
    assert status == 0
    assert out == "run        AP  NumRet\nrun    0.4444       5\nother  0.8333       3\n"
    assert err == (
        "run: 1 query judged but not in the run, scored as an empty list: q3\n"
        "run: 1 query in the run but not judged, ignored: q9\n"
    )


def test_per_query_rows_come_before_the_mean(scored: Called) -> None:
    _, out, _ = scored("run", "--judgments", "qrels", "--measures", "AP", "-q")
    assert [line.split()[1:] for line in out.splitlines()[1:]] == [
        ["q1", "0.8333"], ["q2", "0.5000"], ["q3", "0.0000"], ["all", "0.4444"],
    ]  # fmt: skip


def test_csv_has_every_digit(scored: Called) -> None:
    _, out, _ = scored("run", "--judgments", "qrels", "--measures", "AP Pmiss", "-q", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["query"] for row in rows] == ["q1", "q2", "q3", "all"]
    assert float(rows[-1]["AP"]) == pytest.approx((5 / 6 + 1 / 2) / 3, rel=1e-15)


def test_json_says_what_was_left_out(scored: Called) -> None:
    _, out, _ = scored("run", "--judgments", "qrels", "--measures", "AP", "-q", "--format", "json")
    [run] = json.loads(out)["runs"]
    assert (run["run"], run["tag"], run["missing"], run["ignored"]) == ("run", "mine", ["q3"], ["q9"])
    assert run["per_query"]["q2"] == {"AP": 0.5}


def test_an_undefined_value_is_a_dash_an_empty_cell_and_null(scored: Called) -> None:
    Path("queries").write_text("q1\nq4\n")
    arguments = ["run", "--judgments", "qrels", "--queries", "queries", "--judging", "complete", "--measures", "Pmiss"]
    assert scored(*arguments, "-q")[1].splitlines()[2].split() == ["run", "q4", "–"]
    assert "run,q4,\n" in scored(*arguments, "-q", "--format", "csv")[1]
    [run] = json.loads(scored(*arguments, "-q", "--format", "json")[1])["runs"]
    assert run["per_query"]["q4"] == {"Pmiss": None}
    assert run["measures"]["Pmiss"] == {"mean": 0.0, "queries": 1}


@pytest.mark.parametrize(
    ("measures", "names"),
    [
        ("runid P@10 P_5 AP num_ret RBP(p=0.7)", ["num_ret", "map", "P_5", "P_10", "RBP(p=0.7)"]),
        ("P(judged_only=True)@5 SetP(relative=True)", ["set_relative_P", "P(judged_only=True)@5"]),
        ("ERR@10 nDCG@10 P@5 relstring.3", ["P_5", "relstring_3", "ndcg_cut_10", "ERR@10"]),
        ("Rprec Rprec_mult.1 P_5 P.10 P.5", ["Rprec", "P_5", "P_10", "Rprec_mult_1.00"]),
    ],
)
def test_trec_evals_form_prints_each_measure_once_under_its_name_and_in_its_order(
    scored: Called, measures: str, names: list[str]
) -> None:
    arguments = ["run", "--judgments", "qrels", "--format", "trec_eval", "-q", "--measures", measures]
    lines = [line.split("\t") for line in scored(*arguments)[1].splitlines()]
    assert [name.rstrip() for name, query, _ in lines if query == "q1"] == names


@pytest.mark.parametrize(("level", "names"), [("1", ["P_5", "P(rel=2)@5"]), ("2", ["P_5"])])
def test_no_two_measures_of_trec_evals_form_have_one_name(scored: Called, level: str, names: list[str]) -> None:
    arguments = ["run", "--judgments", "qrels", "--format", "trec_eval", "--measures", "P@5 P(rel=2)@5", "-l", level]
    assert [line.split("\t")[0].rstrip() for line in scored(*arguments)[1].splitlines()] == names


def test_the_documents_known_to_the_user_come_from_a_file(scored: Called) -> None:
    # q1 finds the known a, and c that is new: 1/1 and 1/2. q2 finds the known a alone: 1/1 and 0/1.
    Path("known").write_text("q1 0 a 1\nq2 0 a 1\n")
    arguments = ["run", "--judgments", "qrels", "--measures", "Coverage Novelty"]
    status, out, err = scored(*arguments)
    assert (status, out, err) == (2, "", "Coverage needs --known FILE\n")
    status, out, _ = scored(*arguments, "--known", "known", "-q", "--format", "csv")
    assert status == 0
    assert out.splitlines()[1:3] == ["run,q1,1,0.5", "run,q2,1,0"]


def test_measures_of_subtopics_take_a_file_of_them_with_other_judgments_or_alone(scored: Called) -> None:
    # Of the subtopics of q1, a is about 1, and c, at rank 3, about 2 and 3; of those of q2, a, at rank 2, about 1.
    Path("aspects").write_text("q1 1 a 1\nq1 2 c 2\nq1 3 c 1\nq1 1 b 0\nq2 1 a 1\nq2 2 z 1\n")
    arguments = ["run", "--measures", "StRecall@2 StRecall@3 R@3", "--format", "csv", "-q"]
    status, out, err = scored(*arguments, "--judgments", "qrels")
    assert (status, out, err) == (2, "", "StRecall@2 needs --subtopics FILE\n")
    status, out, _ = scored(*arguments, "--judgments", "qrels", "--subtopics", "aspects")
    assert out.splitlines()[1:4] == [f"run,q1,{1 / 3},1,1", "run,q2,0.5,0.5,1", "run,q3,,,0"]
    _, out, _ = scored(*arguments, "--subtopics", "aspects")
    assert out.splitlines()[1:3] == [f"run,q1,{1 / 3},1,1", "run,q2,0.5,0.5,0.5"]
    assert "missing; name the file of judgments" in scored(*arguments)[2]


def test_the_relevance_level_goes_into_every_measure(scored: Called) -> None:
    _, out, _ = scored("run", "--judgments", "qrels", "--measures", "RR NumRel", "-l", "2")
    assert out.splitlines() == ["run  RR(rel=2)  NumRel(rel=2)", "run     0.1111              1"]


def test_beta_comes_from_cost_value_and_prior(scored: Called) -> None:
    arguments = ["run", "--judgments", "qrels", "--documents", "1000", "--format", "json"]
    document = json.loads(scored(*arguments, "--cost", "0.0333", "--value", "1", "--prior", str(1 / 600))[1])
    assert document["setting"]["beta"] == pytest.approx(19.9467)
    assert "AQWV" in document["runs"][0]["measures"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no run is named; give one run file or more"),
        (["run"], "--judgments is missing; name the file of judgments"),
        (["run", "--judgments", "qrels", "--measures", "FaginKendall"], "FaginKendall compares two runs without judgm"),
        (["run", "--judgments", "qrels", "--measures", "AQWV", "--beta", "2"], "AQWV needs --documents N"),
        (["run", "--judgments", "qrels", "--beta", "2", "--prior", "0.1"], "give cost, value and prior (C, V and P)"),
        (["run", "--judgments", "qrels", "--judging", "complete"], "--judging complete needs --queries FILE"),
        (["run", "--judgments", "qrels", "--documents", "1", "--measures", "Pfa"], "query q1 has 3 judged documents"),
        (["run", "--judgments", "qrels", "--threshold", "nan"], "'--threshold': 'nan' is no finite number"),
        (["run", "--judgments", "qrels", "--beta", "-3"], "'--beta': give a number from 0 to inf, not -3"),
    ],
)
def test_bad_input_is_told_on_stderr_with_status_2(scored: Called, arguments: list[str], message: str) -> None:
    status, out, err = scored(*arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_nothing_is_printed_when_one_of_many_runs_is_wrong(scored: Called) -> None:
    Path("bad").write_text("q1 Q0 a 1 nan t\n")
    status, out, err = scored("run", "bad", "--judgments", "qrels")
    assert (status, out) == (2, "")
    assert err.endswith("bad: line 1: score nan is no finite number\n")


def test_a_query_that_is_excluded_is_called_strange_only_where_nobody_knows_it(scored: Called) -> None:
    # As a receipt's command runs with the judgments that a site publishes: those have nothing on what it excludes.
    _, _, err = scored("run", "--judgments", "qrels", "--exclude=q9", "--exclude=q2", "--measures", "AP")
    assert err == "run: 1 query judged but not in the run, scored as an empty list: q3\n"
    _, _, err = scored("run", "--judgments", "qrels", "--exclude=q11", "--exclude=q10", "--measures", "AP")
    assert err.splitlines()[0] == "--exclude: neither judged nor in a run: q10, q11"
