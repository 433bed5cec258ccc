import math
from dataclasses import replace

import pytest

from leaderboard.metrics import Setting, oracles, parse
from leaderboard.metrics.families.binary import over_rank, over_recall
from tests.metrics.rankings import Line, Query, ranking_of, relevant_at


def test_precision_over_recall_is_the_mean_of_interpolated_precision():
    ranking = ranking_of(
        relevant_at([1, 3], retrieved=5, relevant=2), relevant_at([2], retrieved=5, relevant=1), Query(judged={"a": 1})
    )
    curve = over_recall(ranking)
    assert curve["recall"].tolist() == pytest.approx([step / 10 for step in range(11)])
    expected = [parse(f"IPrec@{step / 10}").evaluate(ranking).mean for step in range(11)]
    assert curve["precision"] == pytest.approx(expected)
    assert curve["precision"][0] == pytest.approx((1 + 0.5) / 3)


def test_precision_and_recall_over_rank_are_those_at_each_cutoff():
    ranking = ranking_of(
        relevant_at([1, 3], retrieved=4, relevant=3), relevant_at([2], retrieved=2, relevant=1), Query([Line("x", 1)])
    )
    curve = over_rank(ranking)
    assert curve["rank"].tolist() == [1, 2, 3, 4]
    assert curve["precision"] == pytest.approx([parse(f"P@{k}").evaluate(ranking).mean for k in curve["rank"]])
    assert curve["recall"] == pytest.approx([parse(f"R@{k}").evaluate(ranking).mean for k in curve["rank"]])
    assert over_rank(ranking, depth=2)["recall"] == pytest.approx(curve["recall"][:2])


def test_under_complete_judgments_a_query_with_nothing_relevant_is_in_no_curve():
    alone = relevant_at([1, 3], retrieved=4, relevant=3)
    both = replace(ranking_of(alone, Query([Line("x", 1)])), undefined_without_relevant=True)
    curve = over_rank(both)
    assert curve["precision"] == pytest.approx(over_rank(ranking_of(alone))["precision"])
    assert curve["recall"] == pytest.approx([parse(f"R@{k}").evaluate(both).mean for k in curve["rank"]])
    assert over_recall(both)["precision"] == pytest.approx(over_recall(ranking_of(alone))["precision"])


def test_the_oracle_names_the_threshold_of_each_query():
    good = Query([Line("a", 0.9), Line("b", 0.9), Line("x", 0.5)], {"a": 1, "b": 1})
    hopeless = Query([Line(f"w{number}", 0.8) for number in range(9)] + [Line("c", 0.1)], {"c": 1})
    without = Query([Line("u", 0.5)])
    setting = Setting(documents=11, beta=20.0)
    best = oracles(ranking_of(good, hopeless, without, setting=setting))
    assert best["theta"][:2].tolist() == [0.9, math.inf]
    assert math.isnan(best["theta"][2])
    assert best["value"][:2].tolist() == [1.0, 0.0]
    assert math.isnan(best["value"][2])
