"""What must hold for every registered measure on any input; a measure that opts out says why."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leaderboard.metrics import RUN_MEASURES, Measure, Ranking, Setting, parse, parse_all
from tests.metrics.obvious import (
    OBVIOUS,
    UNDEFINED_WHERE_NOTHING_IS_FOUND,
    best_threshold_for_all,
    best_threshold_for_each,
)
from tests.metrics.rankings import Line, Query, of_grades, ranking_of
from tests.support.examples import examples

quick = settings(deadline=None, max_examples=examples(15))

MEASURES = parse_all(
    """
    AQWV MQWV OQWV Value Pmiss Pfa Pfa(queries=all) AQWV(rel=2) MQWV(rel=2) OQWV(rel=2)
    AP AP(rel=2) AP@3 AP(norm=hits)@3 AP(norm=hits) AP(norm=min)@3 GMAP RR RR(rel=2)@2 P@1 P@3 P(rel=2)@20 R@2 R@20
    Success@1 Success@4 Accuracy Accuracy(rel=2)
    Rprec Rprec(mult=0.4) Rprec(mult=2) IPrec@0 IPrec@0.3 IPrec@1 IPrec11 IPrec11(at={0.2,0.5,0.8}) RelP@2 RelP@10
    FirstTier SecondTier FirstTier(norm=class) SecondTier(rel=2, norm=class)
    RBP RBP(p=0.5)@2 RBP(p=0.9, gain=scaled) RBPResidual RBPResidual(p=0.5)
    nDCG nDCG@2 nDCG(gain=exp) nDCG(discount=jk)@3 DCG DCG(gain=exp)@3 IDCG IDCG(gain=exp, discount=jk)@2
    NCG NCG(gain=exp)@2 CG CG@2
    ERR(gmax=3) ERR@2 ERR(max=data) ADR ADR(rel=2) nDCGRel RnDCG RnDCG(rel=2) G binG binG(rel=2)
    SDCG@3 SDCG(min_rel=1, max_rel=2)@20 BPM@3 BPM(T=0.5, max_rel=2)@20 INSQ(T=0.5, min_rel=1) INST(T=2, max_rel=2)
    NERR8@3 NERR8(min_rel=1)@20 NERR9@3 NERR9(max_rel=2)@20 NERR10(p=0.5, max_rel=2) NERR11(T=3, min_rel=1)
    alpha_nDCG@3 alpha_nDCG(rel=2, alpha=0.3)@20 alpha_DCG@3 alpha_DCG(alpha=0.8)@20 ERR_IA@3 ERR_IA(rel=2)@20 nERR_IA@3
    nERR_IA@20 NRBP NRBP(alpha=0.2, beta=0.8) nNRBP nNRBP(rel=2, alpha=0.2, beta=0.8) AP_IA AP_IA(rel=2) P_IA@3 P_IA@20
    StRecall@1 StRecall(rel=2)@20 alpha_nDCG(judged_only=True)@3 AP_IA(judged_only=True) P_IA(judged_only=True)@3
    Compat Compat(p=0.5) Compat(normalize=False)
    AP(judged_only=True) P(judged_only=True)@3 R(rel=2, judged_only=True)@2 RR(judged_only=True)
    Success(judged_only=True)@1 Rprec(judged_only=True) IPrec(judged_only=True)@0.3 nDCG(judged_only=True)@2
    SetP(judged_only=True) SetF(beta=2, judged_only=True) SetAP(judged_only=True) SetRelP(judged_only=True)
    Bpref Bpref(rel=2) GMBpref infAP infAP(rel=2) Judged@1 Judged@5 Unjudged@1 Unjudged@5
    SetP SetR SetF SetF(alpha=0.25) SetF(beta=2) SetF(alpha=0) SetF(alpha=1) SetAP SetRelP(rel=2) Fallout
    Utility Utility(a=2, b=-0.5, c=-1, d=0.25) Coverage Novelty
    TP FP TN FN NumQ NumRet NumRel(rel=2) NumRelRet NumNonrelJudgedRet NumNonrelJudgedRet(rel=2)
    """
)
WHOLE_RUN = {"MQWV"}
DOCUMENTS = [f"d{number:02}" for number in range(14)]
SETTINGS = [
    Setting(documents=40, beta=beta, no_relevant=policy, compat=compat, highest_grade=3)
    for policy in ("exclude", "pfa_only", "pmiss_zero")
    for beta in (2.5, 20.0)
    for compat in (9, 10)
]


@st.composite
def some_query(draw: st.DrawFn, least: int = 0) -> Query:
    listed = draw(st.lists(st.sampled_from(DOCUMENTS), min_size=least, max_size=12, unique=True))
    scores = st.sampled_from([0.1, 0.25, 0.5, 0.5000001, 0.75, 1.0, 2.0])
    lines = [Line(document, draw(scores), draw(st.booleans())) for document in listed]
    judged = draw(st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([-1, 0, 0, 1, 2, 3]), max_size=12))
    return Query(lines, judged, known=draw(st.lists(st.sampled_from(DOCUMENTS), max_size=4, unique=True)))


some_queries = st.lists(some_query(), min_size=1, max_size=4)
some_setting = st.sampled_from(SETTINGS)


def same(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


def test_every_family_is_tried_and_has_an_obvious_twin():
    names = {family.name for family in RUN_MEASURES}
    assert {measure.family.name for measure in MEASURES} == names
    assert set(OBVIOUS) | WHOLE_RUN | {"OQWV"} == names


def judged_alone(query: Query) -> Query:
    """Its list without the documents that have no grade of 0 or more."""
    return replace(query, lines=[line for line in query.lines if query.judged.get(line.document, -1) >= 0])


@quick
@given(some_queries, some_setting)
def test_values_equal_the_obvious_computation_of_each_query(queries, setting):
    ranking = ranking_of(*queries, setting=setting)
    for measure in MEASURES:
        if measure.family.name not in OBVIOUS:
            continue
        values = measure.evaluate(ranking).values
        assert len(values) == len(queries)
        arguments = measure.arguments
        judged_only = arguments.pop("judged_only", None) == "True"
        for query, value in zip(map(judged_alone, queries) if judged_only else queries, values, strict=True):
            expected = OBVIOUS[measure.family.name](query, setting, **arguments)
            assert same(value, expected), (str(measure), value, expected)


@quick
@given(some_queries, some_setting)
def test_sweeps_equal_trying_every_threshold(queries, setting):
    ranking = ranking_of(*queries, setting=setting)
    for rel in (1, 2):
        best = parse("MQWV").at_relevance(rel).evaluate(ranking).mean
        each = parse("OQWV").at_relevance(rel).evaluate(ranking).mean
        undefined = setting.no_relevant != "pmiss_zero" and not ranking.relevant(rel).judged.any()
        if undefined:
            assert math.isnan(best)
            assert math.isnan(each)
            continue
        assert same(best, best_threshold_for_all(queries, setting, rel))
        assert same(each, best_threshold_for_each(queries, setting, rel))
        assert each >= best - 1e-12
        assert best >= -1e-12


@quick
@given(some_queries, some_setting)
def test_values_and_figures_are_in_range(queries, setting):
    ranking = ranking_of(*queries, setting=setting)
    for measure in MEASURES:
        low, high = measure.range(setting)
        evaluated = measure.evaluate(ranking)
        defined = evaluated.values[~np.isnan(evaluated.values)]
        assert ((defined >= low - 1e-9) & (defined <= high + 1e-9)).all(), str(measure)
        if not math.isnan(evaluated.mean) and not measure.family.aggregation.name.startswith("sum"):
            assert low - 1e-9 <= evaluated.mean <= high + 1e-9, str(measure)


def goodness(measure: Measure, ranking: Ranking) -> float:
    """The figure, turned so that higher is better."""
    mean = measure.evaluate(ranking).mean
    return -mean if measure.direction == "lower" else mean


def ordered(query: Query) -> Query:
    """The same documents and the same scores, the highest score for the highest grade, unjudged ones last."""
    lines = sorted(query.lines, key=lambda line: -max(query.judged.get(line.document, -1), -1))
    scores = sorted((line.score for line in query.lines), reverse=True)
    return replace(query, lines=[replace(line, score=score) for line, score in zip(lines, scores, strict=True)])


def untied(query: Query) -> Query:
    """The same order without equal scores, so that an order can be had whatever the document ids."""
    return replace(query, lines=[replace(line, score=-float(place)) for place, line in enumerate(query.ranked)])


@quick
@given(some_query(least=2), some_setting)
def test_a_perfect_order_is_best(query, setting):
    plain = untied(query)
    ideal, given = (ranking_of(each, setting=setting) for each in (ordered(plain), plain))
    for measure in MEASURES:
        best, found = goodness(measure, ideal), goodness(measure, given)
        assert math.isnan(found) or best >= found - 1e-9, str(measure)


# A better document moved up may lower these, by their definition.
NOT_MONOTONE = {
    "G": "its discount is the lag behind the ideal list; with gains far above 1, two of them in order can lag more",
    "AP(norm=hits)@3": "it divides by the hits down to the cutoff, so one more of them at a low rank lowers it",
    "infAP": "a pooled but unjudged document (negative grade) above a relevant one raises its expected precision",
}


@quick
@given(some_query(least=2), some_setting, st.data())
def test_a_better_document_moved_up_never_lowers_it(query, setting, data):
    plain = untied(query)
    place = data.draw(st.integers(0, len(plain.lines) - 2))
    lines = plain.ranked
    upper, lower = (max(plain.judged.get(line.document, -1), -1) for line in lines[place : place + 2])
    if lower <= upper:
        return
    first, second = lines[place], lines[place + 1]
    lines[place : place + 2] = [replace(second, score=first.score), replace(first, score=second.score)]
    given, better = (ranking_of(each, setting=setting) for each in (plain, replace(plain, lines=lines)))
    for measure in MEASURES:
        if not {measure.family.name, str(measure)} & set(NOT_MONOTONE):
            before, after = goodness(measure, given), goodness(measure, better)
            assert math.isnan(before) or after >= before - 1e-9, str(measure)


def test_the_measures_that_opt_out_have_cause_to():
    found, swapped = ranking_of(of_grades([None, 10, 11])), ranking_of(of_grades([None, 11, 10]))
    assert parse("G").evaluate(swapped).mean < parse("G").evaluate(found).mean
    found, moved = ranking_of(of_grades([1, None, None, 1])), ranking_of(of_grades([1, None, 1, None]))
    assert parse("AP(norm=hits)@3").evaluate(moved).mean < parse("AP(norm=hits)@3").evaluate(found).mean
    found, swapped = ranking_of(of_grades([None, None, -1, 1])), ranking_of(of_grades([None, None, 1, -1]))
    assert parse("infAP").evaluate(swapped).mean < parse("infAP").evaluate(found).mean


@quick
@given(some_queries, some_setting)
def test_only_the_order_of_scores_matters(queries, setting):
    grown = [
        replace(query, lines=[replace(line, score=math.exp(3 * line.score) - 7) for line in query.lines])
        for query in queries
    ]
    one, other = ranking_of(*queries, setting=setting), ranking_of(*grown, setting=setting)
    for measure in MEASURES:
        before, after = measure.evaluate(one), measure.evaluate(other)
        np.testing.assert_array_equal(before.values, after.values)
        assert same(before.mean, after.mean)


@quick
@given(some_queries, some_setting, st.randoms())
def test_the_order_of_lines_and_queries_does_not_matter(queries, setting, chance):
    shuffled = [replace(query, lines=chance.sample(query.lines, len(query.lines))) for query in queries]
    order = chance.sample(range(len(queries)), len(queries))
    one = ranking_of(*queries, setting=setting)
    other = ranking_of(*(shuffled[number] for number in order), setting=setting)
    for measure in MEASURES:
        before, after = measure.evaluate(one), measure.evaluate(other)
        np.testing.assert_array_equal(before.values[order], after.values)
        assert same(before.mean, after.mean)


# OQWV's thresholds under pfa_only depend on how many queries have relevant documents; resampling keeps them as chosen.
CHOSEN_ON_ALL = {"OQWV"}


@quick
@given(st.lists(st.tuples(some_query(), st.integers(0, 3)), min_size=1, max_size=4), some_setting)
def test_weights_count_a_query_as_often_as_they_say(weighted, setting):
    if not any(weight for _, weight in weighted):
        return
    queries = [query for query, _ in weighted]
    weights = np.array([float(weight) for _, weight in weighted])
    repeated = [query for query, weight in weighted for _ in range(weight)]
    one, other = ranking_of(*queries, setting=setting), ranking_of(*repeated, setting=setting)
    for measure in MEASURES:
        if measure.has_interval and measure.family.name not in CHOSEN_ON_ALL:
            columns = measure.evaluate(one).columns
            combine = measure.family.aggregation.combine
            assert same(combine(columns, weights), measure.evaluate(other).mean), str(measure)
            assert same(combine(columns, np.ones(len(queries))), measure.aggregate(columns)), str(measure)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_a_run_without_a_single_line_or_query_is_scored_too(measure):
    setting = Setting(documents=40, beta=20.0)
    empty = measure.evaluate(ranking_of(Query(judged={"a": 2}, known=["a"]), setting=setting))
    assert len(empty.values) == 1
    assert math.isnan(empty.mean) == (measure.family.name in UNDEFINED_WHERE_NOTHING_IS_FOUND)


def test_measures_that_count_what_was_returned_say_so_and_no_others() -> None:
    """So that θ is asked for only where it changes a figure."""

    listed = of_grades([1, None, 0, 2, 3, -1], [1, 2, 3, 1])

    def value(measure: Measure, returned: int) -> bytes:
        lines = [replace(line, returned=place < returned) for place, line in enumerate(listed.lines)]
        query = replace(listed, lines=lines, known=["d0000", "d0003"])
        return measure.evaluate(ranking_of(query, setting=SETTINGS[0])).values.tobytes()

    changed = {measure.family.name for measure in MEASURES if value(measure, 1) != value(measure, 5)}
    assert changed == {measure.family.name for measure in MEASURES if measure.family.of_returned}
