"""Smallest detectable differences and queries needed, against published tables, statsmodels' figures and simulation."""

import numpy as np
import pytest

from leaderboard.statistics import detectable_by_pairs
from leaderboard.statistics.comparison import (
    ALL_EQUAL,
    NOT_COMPARED,
    TOO_FEW,
    detectable,
    power,
    queries_needed,
    smallest_effect,
)
from leaderboard.statistics.ranks import rank_sets

NAN = np.nan


# statsmodels 0.14, TTestPower().power(effect, queries, significance)
@pytest.mark.parametrize(
    ("queries", "effect", "expected"),
    [
        (5, 1.0, 0.4013899173717948),
        (10, 0.5, 0.2931756065140767),
        (25, 0.3, 0.3019530752112933),
        (50, 0.4, 0.7917871892678123),
        (50, 0.1, 0.10662906419444304),
        (200, 0.2, 0.8036666605857853),
    ],
)
def test_the_power_of_the_paired_t_test_is_that_of_statsmodels(queries, effect, expected):
    assert power(effect, queries) == pytest.approx(expected, rel=1e-9)
    assert power(-effect, queries) == pytest.approx(expected, rel=1e-9)


# statsmodels 0.14, TTestPower().solve_power(nobs=queries, alpha=.05, power=.8), which stops a few 1e-5 short of .8
@pytest.mark.parametrize(
    ("queries", "expected"),
    [(5, 1.6819970833), (10, 0.9960019108), (25, 0.5840261396), (50, 0.4041829997), (200, 0.1990646595),
     (7000, 0.0334891411)],
)  # fmt: skip
def test_the_smallest_effect_that_is_found_is_that_of_statsmodels(queries, expected):
    assert smallest_effect(queries) == pytest.approx(expected, rel=5e-5)
    assert power(smallest_effect(queries), queries) == pytest.approx(0.8, abs=1e-10)


# statsmodels 0.14, TTestPower().solve_power(effect_size=effect, alpha=.05, power=.8), rounded up: 786.8, 198.2, 33.4 …
@pytest.mark.parametrize(("effect", "expected"), [(0.1, 787), (0.2, 199), (0.5, 34), (0.8, 15), (1.5, 6)])
def test_the_queries_needed_are_those_of_cohens_tables(effect, expected):
    assert queries_needed(effect) == queries_needed(-effect) == expected


def test_a_pairs_figures_follow_from_the_deviation_of_its_differences():
    differences = np.array([0.02, -0.01, 0.0, NAN, 0.05, 0.03, -0.02])
    found = detectable(differences)
    deviation = np.std([0.02, -0.01, 0.0, 0.05, 0.03, -0.02], ddof=1)
    assert (found.queries, found.pairs, found.reason) == (6, 1, None)
    assert found.deviation == pytest.approx(deviation)
    assert found.difference == pytest.approx(smallest_effect(6) * deviation)
    assert found.smaller == 0.02  # half of .0367, to one digit
    assert found.queries_for_smaller == queries_needed(0.02 / deviation)


def test_too_few_queries_or_no_difference_at_all_say_nothing_and_why():
    assert detectable(np.array([0.1, -0.1, 0.2, 0.3])).reason == TOO_FEW
    assert detectable(np.zeros(10)).reason == ALL_EQUAL
    assert detectable(np.full(10, 0.1)).reason == ALL_EQUAL
    assert detectable_by_pairs(np.full((10, 3), 0.5)).reason == ALL_EQUAL
    assert detectable_by_pairs(np.random.default_rng(1).random((4, 3))).reason == TOO_FEW
    assert detectable_by_pairs(np.full((10, 1), 0.5)).difference is None


def test_a_board_says_what_its_rank_sets_find_with_that_probability():
    """Eight systems, one of them worse by what the boards say. The upper quartile of deviations makes it a little more
    than .8; `python -m trials smallest_difference` tries it with real runs."""
    draw, said = np.random.default_rng(1), []

    def drawn(below):
        values = draw.random((50, 1)) + draw.normal(0, 0.2, (50, 8)) - below * (np.arange(8) == 7)
        return values, rank_sets(values, "higher", resamples=499)

    for _ in range(30):
        values, ranks = drawn(0.0)
        said.append(detectable_by_pairs(values, ranks.critical, ranks.deviation).difference)
    found = [drawn(np.mean(said))[1].better[:7, 7].mean() for _ in range(100)]
    assert 0.75 <= np.mean(found) <= 0.9


def test_a_board_that_compares_no_systems_says_no_difference():
    found = detectable_by_pairs(board(), 0.0, 0.0)
    assert (found.difference, found.reason, found.deviation) == (
        None,
        NOT_COMPARED,
        detectable_by_pairs(board()).deviation,
    )


@pytest.mark.parametrize("critical", [0.05, 0.3, 1.9])
def test_a_boards_difference_is_no_smaller_than_that_of_one_pair(critical):
    """The last step of a board may compare a pair that its heavy tail makes easy to tell apart."""
    values = board()
    assert detectable_by_pairs(values, critical, 0.1).difference == detectable_by_pairs(values, None, 0.1).difference


def board(queries=50, systems=8, seed=1):
    draw = np.random.default_rng(seed)
    values = draw.random((queries, 1)) + 0.1 * draw.normal(size=(queries, systems))
    return values[:, np.argsort(-values.mean(axis=0))]


def test_a_board_takes_the_median_over_the_pairs_that_a_t_test_does_not_find():
    from scipy import stats

    values = board()
    values[3, 2] = NAN
    deviations = []
    for first in range(8):
        for second in range(first + 1, 8):
            difference = values[:, first] - values[:, second]
            difference = difference[~np.isnan(difference)]
            if stats.ttest_1samp(difference, 0.0).pvalue >= 0.05:
                deviations.append(difference.std(ddof=1))
    found = detectable_by_pairs(values)
    assert 5 < len(deviations) < 28
    assert found.pairs == len(deviations)
    assert found.deviation == pytest.approx(np.median(deviations))


def test_a_run_that_stands_there_twice_does_not_make_the_smallest_difference_smaller():
    values = board(systems=2)
    twice = np.stack([values[:, 0], values[:, 1], values[:, 1]], axis=1)
    assert detectable_by_pairs(twice).deviation == pytest.approx(detectable_by_pairs(values).deviation)


def test_where_every_pair_is_found_neighbours_on_the_board_say_how_values_differ():
    draw = np.random.default_rng(1)
    values = np.array([0.9, 0.5, 0.1]) + 0.01 * draw.normal(size=(50, 3))
    expected = np.median([np.std(values[:, 0] - values[:, 1], ddof=1), np.std(values[:, 1] - values[:, 2], ddof=1)])
    found = detectable_by_pairs(values)
    assert (found.pairs, found.deviation) == (2, pytest.approx(expected))
