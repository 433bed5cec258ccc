from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import Called

# Two queries by hand. q1: grades at ranks 1..4 are 2, unjudged, 0, -1 (judged to be left alone); c of grade 1 is lost.
QRELS = "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq1 0 d -1\nq2 0 a 1\n"
RUN = "q1 Q0 a 1 9 mine\nq1 Q0 x 2 8 mine\nq1 Q0 b 3 7 mine\nq1 Q0 d 4 6 mine\n"


@pytest.fixture
def called(offline: Called) -> Called:
    Path("qrels").write_text(QRELS)
    Path("run").write_text(RUN)
    return partial(offline, "trec_eval")


def test_only_queries_of_both_files_count_unless_all_are_asked_for(called: Called) -> None:
    assert called("-mmap", "qrels", "run") == (0, "map                   \tall\t0.5000\n", "")
    assert called("-c", "-mmap", "qrels", "run") == (0, "map                   \tall\t0.2500\n", "")


def test_version_9_prints_no_lines_for_a_missing_query(called: Called) -> None:
    everywhere = called("-qcmnum_ret", "qrels", "run")[1].split()
    assert everywhere == ["num_ret", "q1", "4", "num_ret", "q2", "0", "num_ret", "all", "4"]
    in_nine = called("-qcmnum_ret", "--compat=9", "qrels", "run")[1].split()
    assert in_nine == ["num_ret", "q1", "4", "num_ret", "all", "4"]


def test_the_grades_of_the_first_documents_are_a_string(called: Called) -> None:
    _, out, _ = called(
        "-q", "-n", "-m", "relstring", "-m", "relstring.3", "-m", "recall.5", "-m", "P.5", "qrels", "run"
    )
    assert out == (
        "P_5                   \tq1\t0.2000\nrelstring_3           \tq1\t'2-0'\nrecall_5              \tq1\t0.5000\n"
    )
    assert called("-qn", "-mrelstring", "qrels", "run")[1] == "relstring             \tq1\t'2-0.'\n"


def test_the_official_set_is_the_default(called: Called) -> None:
    names = [line.split()[0] for line in called("qrels", "run")[1].splitlines()]
    assert names[:6] == ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map"]
    assert names[-1] == "P_1000"


def test_version_9_lacks_the_measures_that_10_brought(called: Called) -> None:
    assert "rbp" in called("-mall_trec", "qrels", "run")[1]
    assert "rbp" not in called("-mall_trec", "--compat", "9", "qrels", "run")[1]


def test_depth_and_judged_only(called: Called) -> None:
    assert called("-M3", "-mnum_ret", "qrels", "run")[1].split()[-1] == "3"
    assert called("-M3", "-J", "-mnum_ret", "qrels", "run")[1].split()[-1] == "2"


def test_a_run_without_any_judged_query_is_refused(called: Called) -> None:
    Path("other").write_text("q7 Q0 a 1 9 mine\n")
    status, out, err = called("qrels", "other")
    assert (status, out) == (2, "")
    assert err == "other: no query of this run has judgments in qrels\n"
