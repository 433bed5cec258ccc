import math

import numpy as np
import pytest

from leaderboard.errors import BadInput
from leaderboard.metrics import Ranking, Setting, oracles, parse, sweep
from tests.metrics.rankings import Line, Query, ranking_of


def golden(policy: str = "exclude") -> Ranking:
    """The three queries of the definition's golden case: 601 documents, β 20, complete judgments."""
    first = Query(
        [Line("a", 0.9), Line("x", 0.8), Line("b", 0.4, returned=False), Line("y", 0.3, returned=False)],
        {"a": 1, "b": 1},
    )
    second = Query([Line("z", 0.7), Line("c", 0.6), Line("w", 0.6, returned=False)], {"c": 1})
    third = Query([Line("u", 0.5)])
    setting = Setting(documents=601, beta=20.0, no_relevant=policy)
    return ranking_of(first, second, third, setting=setting)


@pytest.mark.parametrize(
    ("policy", "actual", "best", "oracle"),
    [
        ("exclude", 0.716639, 0.949972, 0.949972),
        ("pfa_only", 0.716667, 0.955555, 0.966648),
        ("pmiss_zero", 0.800000, 0.955555, 0.966648),
    ],
)
def test_values_at_the_decisions_and_at_the_best_thresholds_follow_the_policy(policy, actual, best, oracle):
    evaluated = [parse(name).evaluate(golden(policy)) for name in ("AQWV", "MQWV", "OQWV")]
    assert [each.mean for each in evaluated] == pytest.approx([actual, best, oracle], abs=6e-7)
    assert evaluated[1].theta == 0.4


def test_a_query_without_relevant_documents_has_a_false_alarm_rate_but_no_value():
    ranking = golden("pfa_only")
    value, miss, alarm = (parse(name).evaluate(ranking) for name in ("Value", "Pmiss", "Pfa"))
    assert value.values[:2] == pytest.approx([1 - 0.5 - 20 / 599, 1 - 20 / 600])
    assert math.isnan(value.values[2])
    assert math.isnan(miss.values[2])
    assert alarm.values[2] == pytest.approx(1 / 601)
    assert (value.count, miss.count, alarm.count) == (2, 2, 3)


def test_the_false_alarms_of_all_queries_have_a_mean_of_their_own():
    """Under exclude the third query, without relevant documents, counts in Pfa(queries=all) only."""
    counted, of_all = (parse(name).evaluate(golden()) for name in ("Pfa", "Pfa(queries=all)"))
    assert math.isnan(counted.values[2])
    assert counted.mean == pytest.approx((1 / 599 + 1 / 600) / 2)
    assert of_all.mean == pytest.approx((1 / 599 + 1 / 600 + 1 / 601) / 3)


def test_a_threshold_that_gains_nothing_is_not_the_best_one():
    """R 7, N 14, β 1, three relevant and three others at .5: 1 − 4/7 − 3/7 is 0, which returning nothing has too."""
    lines = [Line(name, 0.5) for name in ("a", "b", "c", "x", "y", "z")]
    ranking = ranking_of(Query(lines, dict.fromkeys("abcdefg", 1)), setting=Setting(documents=14, beta=1.0))
    best = parse("MQWV").evaluate(ranking)
    assert (best.mean, best.theta) == (0.0, math.inf)
    assert parse("OQWV").evaluate(ranking).mean == 0.0
    assert oracles(ranking)["theta"].tolist() == [math.inf]


def test_everything_right_is_worth_one_and_everything_returned_one_less_beta():
    setting = Setting(documents=4, beta=20.0)
    perfect = Query([Line("a", 1.0), Line("b", 0.5, returned=False)], {"a": 1})
    everything = Query([Line(name, 1.0) for name in "abcd"], {"a": 1})
    wrong = Query([Line(name, 1.0) for name in "bcd"], {"a": 1})
    values = parse("Value").evaluate(ranking_of(perfect, everything, wrong, setting=setting)).values
    assert values == pytest.approx([1, 1 - 20, -20])
    assert parse("Value").range(setting) == (-20.0, 1.0)


def test_without_any_relevant_document_the_figure_is_undefined():
    setting = Setting(documents=10, beta=20.0)
    ranking = ranking_of(Query([Line("a", 1.0)]), setting=setting)
    for name in ("AQWV", "MQWV", "OQWV", "Value"):
        evaluated = parse(name).evaluate(ranking)
        assert math.isnan(evaluated.mean)
        assert evaluated.count == 0


def test_the_interval_of_an_aggregate_reweights_queries():
    evaluated = parse("AQWV").evaluate(golden("pfa_only"))
    again = parse("AQWV").family.aggregation.combine(evaluated.columns, np.array([2.0, 0.0, 1.0]))
    assert again == pytest.approx(1 - 0.5 - 20 * (2 / 599 + 1 / 601) / 3)
    assert not parse("MQWV").has_interval


def test_what_an_evaluation_lacks_is_named():
    ranking = ranking_of(Query([Line("a", 1.0)], {"a": 1}))
    with pytest.raises(BadInput, match="AQWV needs the number of documents in the collection and β"):
        parse("AQWV").evaluate(ranking)


def test_the_sweep_visits_every_distinct_score_and_begins_with_nothing_returned():
    curve = sweep(golden())
    assert curve.theta.tolist() == [math.inf, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3]
    assert curve.p_miss == pytest.approx([1, 0.75, 0.75, 0.75, 0.25, 0.25, 0, 0])
    one, two = 0.5 / 599, 0.5 / 600
    assert curve.p_fa == pytest.approx(
        [0, 0, one, one + two, one + 2 * two, one + 2 * two, one + 2 * two, 2 * one + 2 * two]
    )
    assert curve.qwv == pytest.approx(1 - curve.p_miss - 20 * curve.p_fa)
