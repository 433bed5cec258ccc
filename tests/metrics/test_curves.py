import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.metrics import Setting, oracles, parse, sweep
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
    curves = value_curves(ranking, 1, 98.5)
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
    curves = value_curves(ranking, 1)
    assert curves["actual"][0] == 99.0
    at = curves["theta"].tolist().index(99.0)
    assert 1 - curves["p_miss"][at] - 2.0 * curves["p_fa"][at] == pytest.approx(curves["actual"][3])
    nothing = ranking_of(listed(1, 0, returned=0), setting=setting)
    assert value_curves(nothing, 1)["actual"].tolist() == [math.inf, 1, 0, 0]
    crossed = value_curves(ranking, 1, math.nan)["actual"]
    assert math.isnan(crossed[0])
    assert crossed[3] == parse("AQWV").evaluate(ranking).mean


def test_where_the_policy_leaves_no_query_there_are_no_curves() -> None:
    ranking = ranking_of(listed(None, 0, returned=1), setting=Setting(documents=50, beta=2.0))
    assert value_curves(ranking, 1) == {}


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


# The points that the unit test of F4DE's MetricTWV.pm expects, where all blocks have targets or those without are left
# out, and where they count in P_fa: θ, P_miss, P_fa and TWV there.
WITH_TARGETS = """
    0.1 0.500 0.611 -610.550, 0.2 0.500 0.556 -555.000, 0.3 0.500 0.500 -499.450, 0.4 0.583 0.500 -499.533,
    0.41 0.583 0.444 -443.983, 0.5 0.667 0.403 -402.404, 0.51 0.667 0.347 -346.854, 0.6 0.667 0.250 -249.642,
    0.61 0.667 0.194 -194.092, 0.7 0.667 0.097 -96.879, 0.8 0.833 0.056 -55.383, 0.9 0.833 0.000 0.167,
    1.0 0.917 0.000 0.083"""
ALL_BLOCKS = """
    0.1 0.500 0.447 -446.122, 0.2 0.500 0.413 -412.792, 0.3 0.500 0.380 -379.462, 0.4 0.583 0.380 -379.545,
    0.41 0.583 0.347 -346.215, 0.5 0.667 0.302 -301.303, 0.51 0.667 0.268 -267.973, 0.6 0.667 0.190 -189.648,
    0.61 0.667 0.157 -156.318, 0.7 0.667 0.078 -77.992, 0.8 0.833 0.033 -33.163, 0.9 0.833 0.000 0.167,
    1.0 0.917 0.000 0.083"""


@pytest.mark.parametrize(("policy", "expected"), [("exclude", WITH_TARGETS), ("pfa_only", ALL_BLOCKS)])
def test_the_sweep_gives_the_points_that_f4des_own_test_expects(policy: NoRelevant, expected: str) -> None:
    def block(scores: Mapping[float, int], omitted: int) -> Query:
        """A query: score -> whether its document is a target, and how many targets have no score."""
        lines = [Line(f"d{score}", score) for score in scores]
        judged = {f"d{score}": 1 for score, target in scores.items() if target}
        return Query(lines, judged | {f"o{number}": 1 for number in range(omitted)})

    targets = (0.3, 0.7, 0.9, 1.0)
    she = block({score / 10: score / 10 in targets for score in range(1, 11)}, 0)
    he = block({0.41: 1, 0.51: 0, 0.61: 0, 0.7: 1}, 2)
    alarms = dict.fromkeys((0.41, 0.51, 0.61, 0.7), 0)
    beta = (0.1 / 1) * (1 / 0.0001 - 1)
    setting = Setting(documents=10, beta=beta, no_relevant=policy)  # 20 seconds of half a trial each
    ranking = ranking_of(she, he, block(alarms, 2), block(alarms, 0), Query(), setting=setting)
    points = [[float(cell) for cell in point.split()] for point in expected.split(",")]
    given = np.array(sweep(ranking)).T[:0:-1]
    assert given[:, 0].tolist() == [point[0] for point in points]
    assert given[:, 1:3] == pytest.approx(np.array(points)[:, 1:3], abs=0.0005)
    assert given[:, 3] == pytest.approx(np.array(points)[:, 3], abs=0.0006)
