import numpy as np
import pytest
from scipy import stats

from leaderboard.statistics import paired_t


@pytest.mark.parametrize("queries", [2, 3, 10, 250])
def test_it_agrees_with_scipy(queries):
    draw = np.random.default_rng(queries)
    first, second = draw.random(queries), draw.random(queries)
    theirs = stats.ttest_rel(first, second)
    ours = paired_t(first, second)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p == pytest.approx(theirs.pvalue)
    assert ours.queries == queries


def test_differences_of_one_two_and_three_by_hand():
    # mean 2, standard deviation 1, n 3: t = 2√3; with two degrees of freedom p = 1 − t / √(t² + 2) = 1 − √(12/14)
    result = paired_t(np.array([1.0, 2.0, 3.0]), np.zeros(3))
    assert result.statistic == pytest.approx(2 * 3**0.5)
    assert result.p == pytest.approx(1 - (12 / 14) ** 0.5)


def test_all_queries_tied_gives_p_one():
    same = np.array([0.1, 0.7, 0.7])
    assert (paired_t(same, same).p, paired_t(same, same).statistic) == (1.0, 0.0)


def test_what_has_no_spread_has_no_p_but_a_reason():
    one = paired_t(np.array([0.5]), np.array([0.25]))
    same_amount = paired_t(np.array([0.3, 0.4, 0.9]), np.array([0.2, 0.3, 0.8]))  # 0.1 each, but for rounding
    neither = paired_t(np.array([np.nan]), np.array([0.25]))
    assert [result.p for result in (one, same_amount, neither)] == [None, None, None]
    assert one.reason == "one query has no spread"
    assert same_amount.reason == "every query differs by the same amount: there is no spread"
    assert neither.reason == "no query has a value for both systems"


def test_p_stays_above_zero_however_clear_the_difference():
    draw = np.random.default_rng(0)
    first = 1000 + draw.random(7000)
    assert 0 < paired_t(first, np.zeros(7000)).p < 1e-300


def test_undefined_queries_are_left_out_and_counted():
    first = np.array([0.1, np.nan, 0.5, 0.9])
    second = np.array([0.2, 0.3, 0.1, np.nan])
    result = paired_t(first, second)
    assert (result.queries, result.left_out) == (2, 2)
    assert result.p == pytest.approx(stats.ttest_rel([0.1, 0.5], [0.2, 0.1]).pvalue)
