"""The definition's golden cases for sets and ranks; the figures are its own, computed by hand from the sources."""

import numpy as np
import pytest

from leaderboard.errors import BadInput
from leaderboard.metrics import Ranking, Setting, parse
from tests.metrics.rankings import Line, Query, of_grades, ranking_of, relevant_at


def mean(name: str, ranking: Ranking) -> float:
    return parse(name).evaluate(ranking).mean


def test_recall_and_precision_at_each_rank_and_average_precision():
    ranking = ranking_of(relevant_at([1, 3, 6, 9, 10], retrieved=10, relevant=5))
    recall = [mean(f"R@{k}", ranking) for k in range(1, 11)]
    assert recall == pytest.approx([0.2, 0.2, 0.4, 0.4, 0.4, 0.6, 0.6, 0.6, 0.8, 1])
    precision = [mean(f"P@{k}", ranking) for k in range(1, 11)]
    expected = [1, 0.5, 0.666667, 0.5, 0.4, 0.5, 0.428571, 0.375, 0.444444, 0.5]
    assert precision == pytest.approx(expected, abs=5e-7)
    assert mean("AP", ranking) == pytest.approx(0.622222, abs=5e-7)


def test_discounted_gain_with_both_gains():
    ranking = ranking_of(of_grades([3, 1, 1]), of_grades([1, 3, 1]))
    assert parse("DCG(gain=exp)").evaluate(ranking).values == pytest.approx([8.130930, 5.916508], abs=5e-7)
    assert parse("nDCG(gain=exp)").evaluate(ranking).values == pytest.approx([1, 0.727655], abs=5e-7)
    assert parse("nDCG").evaluate(ranking).values == pytest.approx([1, 0.821314], abs=5e-7)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("TP(rel=2)", 5),
        ("FP(rel=2)", 9),
        ("TN(rel=2)", 1799),
        ("FN(rel=2)", 1),
        ("FirstTier(rel=2)", 0.666667),
        ("SecondTier(rel=2)", 0.416667),
        ("SecondTier(rel=2, norm=class)", 0.833333),
        ("SetP(rel=2)", 0.357143),
        ("SetR(rel=2)", 0.833333),
        ("AP(rel=2, norm=hits)", 0.800909),
        ("AP(rel=2)", 0.667424),
        ("AP(rel=2)@5", 0.591667),
        ("AP(rel=2, norm=min)@5", 0.71),
        ("AP(rel=2, norm=hits)@5", 0.8875),
    ],
)
def test_two_relevance_classes(name, expected):
    query = relevant_at([1, 2, 4, 5, 11], retrieved=14, relevant=6, grade=2)
    ranking = ranking_of(query, setting=Setting(documents=1814))
    assert mean(name, ranking) == pytest.approx(expected, abs=5e-7)


def test_mean_average_precision_of_two_queries():
    first = relevant_at([1, 3, 4, 5, 6, 10], retrieved=10, relevant=6)
    second = relevant_at([2, 5, 6, 7, 9, 10], retrieved=10, relevant=6)
    evaluated = parse("AP").evaluate(ranking_of(first, second))
    assert evaluated.values == pytest.approx([0.775, 0.521164], abs=5e-7)
    assert evaluated.mean == pytest.approx(0.648082, abs=5e-7)


def test_f_weights_precision_by_alpha_and_recall_by_beta():
    # 9 of 10 returned documents are relevant, 9 of 90 relevant ones returned: P = .9, R = .1
    right = [Line(f"r{number}", 1.0) for number in range(9)]
    low_recall = Query([*right, Line("x", 0.5)], {f"r{number}": 1 for number in range(90)})
    ranking = ranking_of(low_recall)
    assert mean("SetF(alpha=0.25)", ranking) == pytest.approx(0.128571, abs=5e-7)
    assert mean("SetF(alpha=0.75)", ranking) == pytest.approx(0.3)
    assert mean("SetF(alpha=1)", ranking) == pytest.approx(0.9)
    assert mean("SetF(alpha=0)", ranking) == pytest.approx(0.1)

    half = ranking_of(Query([Line("a", 1.0), Line("b", 0.5)], {"a": 1}))
    assert mean("SetF(beta=2)", half) == pytest.approx(0.833333, abs=5e-7)
    assert mean("set_F.2", half) == pytest.approx(0.75)


def test_coverage_and_novelty_count_what_the_user_knew():
    # Relevant: a–e. Known: a, b, z. Returned: a, c, d, x; b is listed but rejected.
    lines = [Line("a", 5), Line("c", 4), Line("x", 3), Line("d", 2), Line("b", 1, returned=False)]
    query = Query(lines, dict.fromkeys("abcde", 1) | {"z": 0}, known=["a", "b", "z"])
    ranking = ranking_of(query, Query(), setting=Setting())
    assert parse("Coverage").evaluate(ranking).values == pytest.approx([1 / 2, 0])
    assert parse("Novelty").evaluate(ranking).values == pytest.approx([2 / 3, 0])


def test_expected_reciprocal_rank_multiplies_the_chances_to_go_on():
    # gmax 2: R = 3/4 for grade 2, 1/4 for grade 1
    ranking = ranking_of(of_grades([1, 0, 2]))
    assert mean("ERR(gmax=2)", ranking) == pytest.approx(1 / 4 + (3 / 4) * (3 / 4) / 3)
    assert mean("ERR(max=data)@1", ranking) == pytest.approx(1 / 4)
    three = ranking_of(of_grades([1, 0, 2]), setting=Setting(highest_grade=3))
    assert mean("ERR(max=data)@1", three) == pytest.approx(1 / 8)


def test_a_grade_above_the_highest_is_refused_by_name():
    ranking = ranking_of(of_grades([1, 0, 2]), of_grades([None], [5]))
    with pytest.raises(BadInput, match="ERR@20 takes grades up to 4, and grade 5 was judged: write gmax=5, or max=dat"):
        parse("ERR@20").evaluate(ranking)
    assert parse("ERR@20").problem(Setting(highest_grade=4)) is None
    assert mean("ERR(gmax=5)@20", ranking) == mean("ERR(max=data)@20", ranking) > 0


@pytest.mark.parametrize(("policy", "published"), [("pmiss_zero", 0.5557185), ("pfa_only", 0.246838)])
def test_the_aggregate_of_a_published_material_result(policy, published):
    """300 queries, 150 with relevant documents; mean P_miss (0 where none is relevant) and mean P_fa as published."""
    p_miss, p_fa, beta = 0.308880406667, 0.00677005333, 20.0
    none = 0.0 if policy == "pmiss_zero" else np.nan
    columns = np.concatenate((np.full(150, 2 * p_miss), np.full(150, none))), np.full(300, beta * p_fa)
    assert parse("AQWV").aggregate(columns) == pytest.approx(published, abs=5e-7)


def test_recall_points_round_as_the_compatibility_rule_says():
    # R = 5: recall 0.1 stands for 0.5 documents: 1 in both. Recall 0.25 for 1.25: 1 to the nearest, 2 by version 9.
    query = relevant_at([1, 4], retrieved=4, relevant=5)
    assert mean("IPrec@0.25", ranking_of(query, setting=Setting(compat=10))) == 1
    assert mean("IPrec@0.25", ranking_of(query, setting=Setting(compat=9))) == pytest.approx(0.5)


def test_geometric_means_raise_a_zero_to_their_floor():
    ranking = ranking_of(relevant_at([1], retrieved=1, relevant=1), Query(judged={"a": 1}))
    assert mean("GMAP", ranking) == pytest.approx((1 * 1e-5) ** 0.5)
    assert mean("GMBpref", ranking) == pytest.approx((1 * 1e-5) ** 0.5)


def test_utility_with_a_worth_for_the_rest_needs_the_collection():
    query = relevant_at([1], retrieved=3, relevant=2)
    assert mean("Utility(a=2, b=-1, c=-3)", ranking_of(query)) == 2 - 2 - 3
    assert mean("Utility(d=0.5)", ranking_of(query, setting=Setting(documents=10))) == 1 - 2 + 0.5 * 6
    with pytest.raises(BadInput, match="collection"):
        mean("Utility(d=0.5)", ranking_of(query))
