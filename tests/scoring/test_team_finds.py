"""Leaving one team out: what only its runs found, and its figures without that, on lists small enough to do by hand."""

import io
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from leaderboard.formats import Run, read_judgments, read_run, read_subtopic_judgments
from leaderboard.metrics import Measure, Setting, parse_all
from leaderboard.scoring import JudgedQueries, prepare, score, team_finds as module
from leaderboard.scoring.judged_queries import without
from leaderboard.scoring.team_finds import TeamRun, team_finds

QRELS = "q1 0 a 1\nq1 0 b 1\nq1 0 c 0\nq1 0 d 2\nq2 0 a 1\nq2 0 e 0\nq3 0 z 0\n"
# Team 1 alone lists b of q1; team 2 alone a of q2. Both list d.
RUNS = {
    11: "q1 Q0 d 1 9 t\nq1 Q0 b 2 8 t\n",
    12: "q1 Q0 b 1 9 t\n",
    21: "q1 Q0 d 1 9 t\nq1 Q0 c 2 8 t\nq2 Q0 e 1 9 t\nq2 Q0 a 2 8 t\n",
}
TEAM_RUNS = (TeamRun(1, 11, 111, None, 2), TeamRun(1, 12, 112, None, 1), TeamRun(2, 21, 121, None, 4))
(AP,) = parse_all("AP")


def run_of(submission: int) -> Run:
    return read_run(io.BytesIO(RUNS[submission].encode()))


def judged_by(text: str = QRELS) -> JudgedQueries:
    return prepare(read_judgments(io.BytesIO(text.encode())))


def finds_of(runs: Sequence[TeamRun] = TEAM_RUNS, measure: Measure = AP, level: int = 1) -> Any:
    return team_finds(runs, run_of, {"all": judged_by()}, measure, Setting(), level)


def test_what_one_team_alone_found_and_what_its_figure_is_without() -> None:
    finds = finds_of()
    assert (finds["lines"], finds["depth"]) == (7, 100)
    first, second = finds["subsets"]["all"]["teams"]
    assert finds["subsets"]["all"]["relevant"] == 4
    assert (first["team"], first["runs"], first["unique"]) == (1, 2, 1)
    assert (second["team"], second["runs"], second["unique"]) == (2, 1, 1)
    # Without b, q1 has a and d: precision 1 at d, of two relevant; q2 and q3 are 0. The second run lists b alone.
    assert first["without"] == {"111": pytest.approx((1 / 2) / 3), "112": 0.0}
    # Without a of q2, that has nothing relevant and counts as 0; q1 has three: 1 of 3.
    assert second["without"] == {"121": pytest.approx((1 / 3) / 3)}


def test_baselines_are_one_team_and_a_document_of_two_teams_is_nobodys_own() -> None:
    together = (TEAM_RUNS[0]._replace(team=0), TEAM_RUNS[2]._replace(team=0))
    (only,) = finds_of(together)["subsets"]["all"]["teams"]
    assert (only["team"], only["runs"], only["unique"]) == (0, 2, 3)
    twice = (*TEAM_RUNS, TeamRun(3, 12, 131, None, 1))  # b is found by teams 1 and 3
    assert [team["unique"] for team in finds_of(twice)["subsets"]["all"]["teams"]] == [0, 1, 0]


def test_what_is_relevant_is_by_the_level_and_found_within_the_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    assert finds_of(level=2)["subsets"]["all"]["relevant"] == 1
    monkeypatch.setattr(module, "DEPTH", 1)
    # d is the first of both; b only of the second run of team 1; a of q2 of none.
    assert [team["unique"] for team in finds_of()["subsets"]["all"]["teams"]] == [1, 0]


def test_too_many_lines_are_said_and_nothing_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LINES", 6)
    assert finds_of() == {"lines": 7}


def _values(judged: JudgedQueries, names: str) -> Iterator[np.ndarray[Any, Any]]:
    measures = parse_all(names)
    for submission in RUNS:
        results = score(run_of(submission), judged, measures, Setting()).results
        yield from (results[measure].values for measure in measures)


def test_judgments_taken_back_are_as_if_nobody_had_made_them() -> None:
    judged = judged_by()
    order = [*zip(*judged.index.judgments, strict=True)]
    for gone in (0, 2, len(order) - 1):
        number, document = order[gone]
        line = next(
            line
            for line in QRELS.splitlines(True)
            if line.startswith(f"{judged.queries[number]} 0 {document.decode()} ")
        )
        names = "AP nDCG@10 P@5 RR bpref Judged@5 R@3"
        left = QRELS.replace(line, "" if line.startswith("q1") else line.replace(line[-2], "0"))
        for mine, right in zip(
            _values(without(judged, np.array([gone])), names), _values(judged_by(left), names), strict=True
        ):
            if line.startswith("q1"):  # of the others nothing judged is left, or nothing relevant
                np.testing.assert_array_equal(mine, right)


def test_subtopics_lose_the_document_too() -> None:
    about = read_subtopic_judgments(io.BytesIO(b"q1 1 a 1\nq1 2 b 1\nq1 1 d 1\nq2 1 a 1\n"))
    judged = prepare(read_judgments(io.BytesIO(QRELS.encode())), subtopics=about)
    (recall,) = parse_all("StRecall@2")
    before = score(run_of(21), judged, [recall], Setting()).results[recall].values[0]
    number, document = judged.index.judgments
    gone = np.flatnonzero((number == 0) & (document == b"b"))
    after = score(run_of(21), without(judged, gone), [recall], Setting()).results[recall].values[0]
    assert (before, after) == (0.5, 1.0)  # d is about the first of two subtopics, b alone about the second
