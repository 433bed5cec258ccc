import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.metrics import Setting, oracles, parse
from leaderboard.metrics.curves import OF_QUERIES, STEPS, thinned, value_curves
from leaderboard.metrics.families.binary import over_rank, over_recall
from leaderboard.metrics.families.detection import Sweep
from leaderboard.metrics.ranking import NoRelevant
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


def listed(*grades: int | None, returned: int, missed: Sequence[int] = (), step: float = 1.0) -> Query:
    """A list whose scores fall by `step` from 100 on, with documents judged that it lacks."""
    lines = [Line(f"d{rank:03}", 100 - step * rank, rank < returned) for rank in range(len(grades))]
    judged = {f"d{rank:03}": grade for rank, grade in enumerate(grades) if grade is not None}
    return Query(lines, judged | {f"n{number}": grade for number, grade in enumerate(missed)})


@pytest.mark.parametrize("policy", ["exclude", "pfa_only", "pmiss_zero"])
def test_what_is_marked_on_a_runs_curves_are_aqwv_mqwv_and_oqwv_to_the_last_digit(policy: NoRelevant) -> None:
    setting = Setting(documents=97, beta=13.7, no_relevant=policy)
    ranking = ranking_of(
        listed(1, None, 0, 2, None, returned=3, missed=[1]),
        listed(None, 1, None, 1, returned=3, step=0.5),
        listed(None, 0, None, returned=1, step=0.25),
        setting=setting,
    )
    curves = value_curves(ranking, 1, one_threshold=True, threshold=98.5)
    for mark, name in (("actual", "AQWV"), ("maximum", "MQWV"), ("optimum", "OQWV")):
        _, p_miss, p_fa, qwv = curves[mark].tolist()
        assert qwv == parse(name).evaluate(ranking).mean
        assert qwv == pytest.approx(1 - p_miss - setting.beta * p_fa)
    assert curves["actual"][0] == 98.5
    assert curves["maximum"][0] == parse("MQWV").evaluate(ranking).theta
    p_miss, p_fa = (curves[name] for name in OF_QUERIES)
    assert p_miss.tolist() == pytest.approx([2 / 3, 0.5, 0.0 if policy == "pmiss_zero" else math.nan], nan_ok=True)
    assert p_fa.tolist() == pytest.approx([2 / 94, 2 / 95, 1 / 97])


def test_without_a_theta_of_its_own_the_actual_point_lies_at_the_lowest_score_that_is_returned() -> None:
    setting = Setting(documents=50, beta=2.0)
    ranking = ranking_of(listed(1, 0, returned=2), listed(1, 0, 1, returned=2), setting=setting)
    curves = value_curves(ranking, 1, one_threshold=True, threshold=None)
    assert curves["actual"][0] == 99.0
    at = curves["theta"].tolist().index(99.0)
    assert 1 - curves["p_miss"][at] - 2.0 * curves["p_fa"][at] == pytest.approx(curves["actual"][3])
    nothing = ranking_of(listed(1, 0, returned=0), setting=setting)
    assert value_curves(nothing, 1, one_threshold=True, threshold=None)["actual"].tolist() == [math.inf, 1, 0, 0]
    crossed = value_curves(ranking, 1, one_threshold=False, threshold=None)["actual"]
    assert math.isnan(crossed[0])
    assert crossed[3] == parse("AQWV").evaluate(ranking).mean


def test_where_the_policy_leaves_no_query_there_are_no_curves() -> None:
    ranking = ranking_of(listed(None, 0, returned=1), setting=Setting(documents=50, beta=2.0))
    assert value_curves(ranking, 1, one_threshold=True, threshold=None) == {}


def test_a_long_sweep_is_thinned_and_keeps_its_shape_its_ends_and_what_is_marked() -> None:
    random = np.random.default_rng(5)
    hits = np.sort(random.exponential(size=3_000))[::-1].cumsum()
    alarms = (random.random(3_000) ** 6).cumsum()
    p_miss, p_fa = 1 - 0.9 * np.append(0, hits / hits[-1]), 0.3 * np.append(0, alarms / alarms[-1])
    p_miss[1_700:] -= 0.05  # a step
    whole = Sweep(np.append(np.inf, np.linspace(9, -9, 3_000) ** 3), p_miss, p_fa, 1 - p_miss - 20 * p_fa)
    few = thinned(whole, 1_234, whole.best)
    assert len(few.theta) < 450
    assert {0, 1, 1_234, whole.best, 1_699, 1_700, 3_000} <= {*np.searchsorted(-whole.theta, -few.theta).tolist()}
    for column, kept in zip(whole[1:3], few[1:3], strict=True):
        span = column.max() - column.min()
        assert (
            np.abs(np.interp(np.arange(3_001), np.searchsorted(-whole.theta, -few.theta), kept) - column).max()
            < span / STEPS
        )
    short = Sweep(*(column[:9] for column in whole))
    assert thinned(short) is short
