"""A change between years, split: exact cases by hand, the same fit by another road, and coverage with known truth."""

import doctest

import numpy as np
import pytest
from scipy import stats

from leaderboard.metrics.aggregation import MEAN
from leaderboard.statistics import linked_years
from leaderboard.statistics.linked_years import Cells, Part, change, linked
from trials.linked_years import DESIGNS, coverage
from trials.populations import Population

NAN = np.nan


def cells(period, *versions):
    return Cells(np.array(versions), period)


def test_examples_give_what_they_show():
    assert doctest.testmod(linked_years).failed == 0


def test_of_two_years_and_three_links_the_intervals_are_students_as_worked_out_by_hand():
    # The links change by .02, .05 and .08: mean .05, standard deviation .03; t with 2 degrees of freedom is 4.302653.
    means = np.array([[0.30, 0.32], [0.30, 0.35], [0.40, 0.48], [0.35, NAN], [NAN, 0.55]])
    split = change(means, cells(0, 3), cells(1, 4))
    assert split.last - split.first == pytest.approx(0.20)
    years, versions = split.of_periods, split.of_versions
    assert years.estimate == pytest.approx(0.05)
    assert years.high - years.estimate == pytest.approx(4.302653 * 0.03 / np.sqrt(3))
    assert years.estimate - years.low == pytest.approx(4.302653 * 0.03 / np.sqrt(3))
    assert versions.estimate == pytest.approx(0.15)
    assert versions.high - versions.estimate == pytest.approx(1.06 * 4.302653 * 0.03 * np.sqrt(1 + 1 / 3))
    assert (split.runs, split.links, split.reason) == ((1, 1), 3, None)


def test_the_rest_of_versions_that_ran_once_is_not_said_to_be_0():
    means = np.array([[0.30, 0.32], [0.30, 0.35], [0.35, NAN], [NAN, 0.55]])
    assert change(means, cells(0, 2), cells(1, 3)).rest is None
    assert change(means, cells(0, 2), cells(1, 0)).rest == pytest.approx(-0.015 / 2)  # half of .02 less the mean .035


def test_the_rest_is_said_only_where_some_mean_is_left_to_tell_it():
    one = np.array([[0.30, 0.32], [0.35, NAN]])
    assert change(one, cells(0, 0), cells(1, 0)).rest is None
    assert change(one, cells(0, 1), cells(1, 0)).rest is None
    chain = np.array([[0.30, 0.32, NAN], [0.30, 0.35, NAN], [0.40, 0.48, NAN], [NAN, 0.40, 0.45]])
    assert change(chain, cells(1, 3), cells(2, 3)).rest is None  # one link alone leads to the third period
    assert change(chain, cells(0, 0), cells(1, 1)).rest == pytest.approx(
        0.0 - 0.015
    )  # .30 less its level .31, .025 below it as links are


@pytest.mark.parametrize(("links", "has_interval"), [(1, False), (2, False), (3, True)])
def test_one_link_or_two_give_estimates_without_an_interval_and_say_why(links, has_interval):
    means = np.array([*[[0.30, 0.32], [0.30, 0.35], [0.40, 0.48]][:links], [0.35, NAN], [NAN, 0.55]])
    split = change(means, cells(0, links), cells(1, links + 1))
    assert split.of_versions.estimate + split.of_periods.estimate == pytest.approx(0.20)
    for part in (split.of_versions, split.of_periods):
        assert (part.low is not None, part.high is not None) == (has_interval, has_interval)
    assert (split.reason is None) == has_interval


def test_links_that_all_change_alike_tell_nothing_of_how_others_would():
    means = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.35, NAN], [NAN, 0.55]])
    split = change(means, cells(0, 3), cells(1, 4))
    assert split.of_versions == Part(pytest.approx(0.10), None, None)
    assert split.reason == linked_years.ALL_ALIKE


def test_a_version_compared_with_itself_is_no_better_system():
    means = np.array([[0.30, 0.32], [0.30, 0.35], [0.40, 0.48]])
    split = change(means, cells(0, 0), cells(1, 0))
    assert split.of_versions == Part(0.0)
    assert split.rest == pytest.approx(0.02 - 0.05)


def test_the_fit_is_least_squares_on_the_means_and_its_errors_are_those_of_the_textbook():
    # By another road: a row a mean, columns of zeros and ones, numpy's solver, the covariance from the inverse.
    draw = np.random.default_rng(2)
    means = draw.random((6, 4))
    means[draw.random(means.shape) < 0.4] = NAN
    rows = np.argwhere(~np.isnan(means))
    design, values = np.hstack((np.eye(6)[rows[:, 0]], np.eye(4)[rows[:, 1]])), means[~np.isnan(means)]
    inverse = np.linalg.pinv(design.T @ design)
    effects = inverse @ design.T @ values
    freedom = len(values) - np.linalg.matrix_rank(design)
    spread = np.sqrt(((values - design @ effects) ** 2).sum() / freedom)
    (first, p), (second, q) = rows[0], next(row for row in rows if row[0] != rows[0][0] and row[1] != rows[0][1])
    split = change(means, cells(p, first), cells(q, second))
    by_version, by_period = np.eye(10)[second] - np.eye(10)[first], np.eye(10)[6 + q] - np.eye(10)[6 + p]
    critical = stats.t.ppf(0.975, freedom)
    for part, row, wider in ((split.of_versions, by_version, 1.06), (split.of_periods, by_period, 1.0)):
        assert part.estimate == pytest.approx(row @ effects)
        assert part.high - part.estimate == pytest.approx(wider * critical * spread * np.sqrt(row @ inverse @ row))


def test_the_mean_of_several_systems_changes_by_the_mean_of_their_effects():
    means = np.array([[0.30, 0.32], [0.30, 0.35], [0.40, 0.48], [0.35, NAN], [0.45, NAN], [NAN, 0.55], [NAN, 0.65]])
    split = change(means, cells(0, 3, 4), cells(1, 5, 6))
    assert (split.last - split.first, split.of_versions.estimate) == (pytest.approx(0.20), pytest.approx(0.15))
    half = 1.06 * 4.302653 * 0.03 * np.sqrt(1 / 2 + 1 / 3)  # two versions at each end, so half of their variance
    assert split.of_versions.high - split.of_versions.estimate == pytest.approx(half)


def test_a_chain_of_versions_links_periods_that_have_no_version_in_common():
    means = np.array([[0.5, 0.4, NAN, NAN], [NAN, 0.6, 0.7, NAN], [NAN, NAN, NAN, 0.9]])
    split = change(means, cells(0, 0), cells(2, 1))
    assert split.of_periods.estimate == pytest.approx(0.0)
    assert split.of_versions.estimate == pytest.approx(0.2)
    assert linked(~np.isnan(means)).sum(axis=1).tolist() == [3, 3, 3, 1]


def test_nothing_is_said_of_periods_without_a_link():
    means = np.array([[0.5, 0.4, NAN], [0.4, 0.5, NAN], [NAN, NAN, 0.9]])
    assert change(means, cells(0, 0), cells(2, 2)) is None


@pytest.mark.parametrize("name", ["1 link", "2 links", "3 links", "5 links", "3 links, 4 years"])
@pytest.mark.parametrize("planted", [0.0, 0.05])
def test_the_intervals_that_are_shown_hold_the_truth_in_93_to_97_of_100_campaigns(name, planted):
    """Skewed values, queries that are hard for all, versions that react to a year unlike others where it is planted."""
    draw = np.random.default_rng(4)
    values = 0.1 * draw.normal(size=60) - 0.3 * draw.exponential(size=(400, 1)) + 0.1 * draw.exponential(size=(400, 60))
    population = Population("made up", (values,), MEAN)
    found = coverage(population, DESIGNS[name], 25, planted, 1000, seed=1)
    if name in ("1 link", "2 links"):
        assert found.shown == 0
    else:
        assert found.shown == 1000
        assert (found.held >= 0.93).all()
        assert (found.held <= 0.97).all()
