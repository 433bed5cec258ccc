"""Queries for which nothing is relevant: undefined where judgments are complete, 0 where they are pooled."""

import math

import pytest

from leaderboard.cli.trec_eval import read_request, trec_lines
from leaderboard.metrics import GROUPS, Measure, Setting, parse, parse_all
from leaderboard.scoring import Judging, Scored, prepare, score
from tests.scoring.obvious import Line, judgments_of, run_of, subtopics_of

SETTING = Setting(documents=100, beta=20.0)
RIGHT = [Line("q1", "a", 2.0), Line("q1", "b", 1.0)]  # everything relevant of q1, and nothing for q2
GRADES = {("q1", "a"): 2, ("q1", "b"): 1, ("q2", "c"): 0}
DEFINED = {"Fallout", "Utility", "Judged", "Unjudged", "RBPResidual"}  # nothing relevant is as good a case as any
EXAMPLE = {"IPrec": 0.5}


def scored(*names: str, judging: Judging = "complete", lines: list[Line] = RIGHT, **options: bool) -> Scored:
    also = {"known": judgments_of(GRADES), "subtopics": subtopics_of({(q, "s", d): g for (q, d), g in GRADES.items()})}
    judged = prepare(judgments_of(GRADES), ["q1", "q2"], judging=judging, **also, **options)
    return score(run_of(lines), judged, parse_all(" ".join(names)), SETTING)


def means(result: Scored) -> dict[str, tuple[float, int]]:
    return {str(measure): (each.mean, each.count) for measure, each in result.results.items()}


def measures_of(headings: tuple[str, ...]) -> list[Measure]:
    return [
        family(cutoff=EXAMPLE.get(family.name, 5) if family.cutoff and family.cutoff.required else None)
        for heading, families in GROUPS.items()
        if heading.startswith(headings)
        for family in families
    ]


def test_the_right_empty_answer_costs_nothing_under_complete_judgments() -> None:
    assert means(scored("AP", "nDCG", "RR", "SetF", "R@5")) == dict.fromkeys(
        ("AP", "nDCG", "RR", "SetF", "R@5"), (1.0, 1)
    )


def test_under_pooled_judgments_the_query_counts_with_0_as_in_trec_eval() -> None:
    assert means(scored("AP", "nDCG", "SetF", judging="pooled")) == dict.fromkeys(("AP", "nDCG", "SetF"), (0.5, 2))


@pytest.mark.parametrize("measure", measures_of(("Ranks", "Sets")), ids=str)
def test_every_ranked_and_set_measure_leaves_the_query_out_unless_it_asks_nothing_of_relevance(
    measure: Measure,
) -> None:
    mixed = [*RIGHT, Line("q1", "x", 1.5)]
    for lines in (mixed, [*mixed, Line("q2", "c", 1.0)]):
        result = scored(str(measure), lines=lines).results[measure]
        assert math.isnan(result.values[0]) is False
        assert math.isnan(result.values[1]) is (measure.family.name not in DEFINED)
        assert result.count == (2 if measure.family.name in DEFINED else 1)


def test_detection_measures_follow_their_policy_whatever_the_judging() -> None:
    names = ("AQWV", "Pmiss", "Pfa", "Value", "OQWV", "MQWV")
    lines = [*RIGHT, Line("q2", "x", 1.0)]
    assert means(scored(*names, lines=lines)) == means(scored(*names, lines=lines, judging="pooled"))


def test_each_measure_asks_its_own_relevance_level() -> None:
    judged = prepare(judgments_of({("q1", "a"): 2, ("q2", "a"): 1}), judging="complete")
    both = [Line("q1", "a", 1.0), Line("q2", "a", 1.0)]
    result = score(run_of(both), judged, parse_all("P@1 P(rel=2)@1 nDCG nDCG(gains={1:0}) RBP(rel=2, gain=scaled)"))
    assert [each.count for each in result.results.values()] == [2, 1, 2, 1, 2]
    assert result.results[parse("P(rel=2)@1")].mean == 1.0


def test_where_no_query_has_a_relevant_document_the_mean_is_undefined() -> None:
    judged = prepare(judgments_of({("q1", "a"): 0}), judging="complete")
    result = score(run_of([Line("q1", "a", 1.0)]), judged, parse_all("AP GMAP"))
    assert [(math.isnan(each.mean), each.count) for each in result.results.values()] == [(True, 0), (True, 0)]


def test_what_is_printed_as_trec_eval_prints_it_keeps_trec_evals_zeros() -> None:
    result = scored("AP", "P@5", zero_without_relevant=True)
    assert means(result) == {"AP": (0.5, 2), "P@5": (0.2, 2)}
    lines = trec_lines(result, "t", read_request(["map"], 10), level=1, compat=10, per_query=True)
    assert [line.split() for line in "".join(lines).splitlines()] == [
        ["map", "q1", "1.0000"],
        ["map", "q2", "0.0000"],
        ["map", "all", "0.5000"],
    ]
