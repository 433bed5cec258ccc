"""Version and period effects: exact cases by hand, statsmodels' way to the same fit, and coverage with known truth."""

import doctest

import numpy as np
import pytest

from trials import linked_years_model
from trials.linked_years_model import TOO_ALIKE, TOO_FEW, change, linked_parts

NAN = np.nan
FEW = {"resamples": 200}


def around(mean, queries=5):
    """Values of this mean that differ from query to query."""
    return mean + 0.1 * (np.arange(queries) - (queries - 1) / 2)


def estimates(effects):
    return {name: pytest.approx(effect.estimate) for name, effect in effects.items()}


def test_examples_give_what_they_show():
    assert doctest.testmod(linked_years_model).failed == 0


def test_one_version_that_ran_in_both_periods_tells_how_much_harder_the_queries_are():
    cells = {
        ("bm25", "2025"): around(0.4), ("ours 1", "2025"): around(0.5),
        ("bm25", "2026"): around(0.3, 8), ("ours 2", "2026"): around(0.55, 8),
    }  # fmt: skip
    (part,) = linked_parts(cells, **FEW)
    assert estimates(part.periods) == {"2025": 0.0, "2026": -0.1}
    assert estimates(part.versions) == {"bm25": 0.4, "ours 1": 0.5, "ours 2": 0.65}
    assert part.links == ("bm25",)
    found = change(cells, ("ours 1", "2025"), ("ours 2", "2026"), **FEW)
    shares = [each.estimate for each in (found.total, found.of_version, found.of_periods, found.rest)]
    assert shares == pytest.approx([0.05, 0.15, -0.1, 0.0])


def test_the_parts_of_a_change_add_up_and_what_no_effect_explains_is_the_rest():
    draw = np.random.default_rng(1)
    cells = {
        (v, p): draw.random(n) for p, n in (("1", 10), ("2", 25), ("3", 6)) for v in "abcd" if (v, p) != ("d", "1")
    }
    found = change(cells, ("a", "1"), ("d", "3"), **FEW)
    total = cells["d", "3"].mean() - cells["a", "1"].mean()
    assert found.total.estimate == pytest.approx(total)
    assert found.of_version.estimate + found.of_periods.estimate + found.rest.estimate == pytest.approx(total)
    assert abs(found.rest.estimate) > 0.001
    same = change(cells, ("a", "1"), ("a", "3"), **FEW)
    assert (same.of_version.estimate, same.of_version.low, same.of_version.high) == (0.0, 0.0, 0.0)


def test_the_fit_is_least_squares_on_the_values_of_single_queries():
    # The same by another road: a row a query and version, columns of zeros and ones, numpy's solver.
    draw = np.random.default_rng(2)
    cells = {(v, p): draw.random(n) for p, n in (("1", 5), ("2", 40)) for v in "abc" if (v, p) != ("b", "1")}
    rows, values = [], []
    for (version, period), own in cells.items():
        for value in own:
            rows.append([version == "a", version == "b", version == "c", period == "2"])
            values.append(value)
    expected = np.linalg.lstsq(np.array(rows, dtype=float), np.array(values), rcond=None)[0]
    (part,) = linked_parts(cells, **FEW)
    assert estimates(part.versions) == dict(zip("abc", expected[:3], strict=True))
    assert estimates(part.periods) == {"1": 0.0, "2": expected[3]}


def test_a_chain_of_versions_links_periods_that_have_no_version_in_common():
    cells = {("a", "1"): around(0.5), ("a", "2"): around(0.4), ("b", "2"): around(0.6), ("b", "3"): around(0.7)}
    (part,) = linked_parts(cells, **FEW)
    assert estimates(part.periods) == {"1": 0.0, "2": -0.1, "3": 0.0}
    assert part.links == ("a", "b")
    assert change(cells, ("a", "1"), ("b", "3"), **FEW).of_version.estimate == pytest.approx(0.2)


def test_periods_without_a_link_are_refused_and_stay_apart():
    cells = {("a", "1"): around(0.5), ("b", "2"): around(0.6), ("b", "3"): around(0.7), ("c", "1"): around(0.1)}
    assert [tuple(part.periods) for part in linked_parts(cells, **FEW)] == [("1",), ("2", "3")]
    found = change(cells, ("a", "1"), ("b", "3"))
    assert found.reason == "no chain of versions that ran unchanged in two periods links 1 and 3"
    assert found.total is found.of_version is found.of_periods is found.rest is None


def test_queries_that_are_hard_for_all_widen_no_interval_of_a_systems_own_change():
    # Both versions go up and down together from query to query, so what a period's queries share cancels.
    hard = np.random.default_rng(3).random(30)
    cells = {("a", "1"): hard[:15], ("b", "1"): hard[:15] + 0.1, ("a", "2"): hard[15:], ("b", "2"): hard[15:] + 0.1}
    found = change(cells, ("a", "1"), ("b", "2"), **FEW)
    assert (found.of_version.low, found.of_version.high) == pytest.approx((0.1, 0.1))
    assert found.of_periods.high - found.of_periods.low > 0.2


def test_too_few_queries_and_values_too_alike_have_no_interval_and_say_why():
    cells = {("a", "1"): around(0.4, 4), ("a", "2"): around(0.3, 30)}
    found = change(cells, ("a", "1"), ("a", "2"), **FEW)
    assert (found.total.low, found.total.high, found.total.reason) == (None, None, TOO_FEW)
    one_found = np.array([1.0, 0, 0, 0, 0, 0])
    cells = {("a", "1"): np.zeros(6), ("a", "2"): one_found}
    assert change(cells, ("a", "1"), ("a", "2"), **FEW).total.reason == TOO_ALIKE


def test_intervals_hold_the_truth_in_about_95_of_100_campaigns():
    """Skewed values, two links of three versions, periods of 25 queries; the true parts of a change are known."""
    draw = np.random.default_rng(4)
    campaigns, held = 300, np.zeros(3)
    versions, periods = {"a": 0.0, "b": 0.05, "c": 0.15}, {"1": 0.0, "2": -0.1}
    ran = [("a", "1"), ("b", "1"), ("a", "2"), ("b", "2"), ("c", "2")]
    for _ in range(campaigns):
        hard = {period: 0.3 * draw.exponential(size=25) for period in periods}
        cells = {(v, p): 0.6 + versions[v] + periods[p] - hard[p] + 0.1 * draw.exponential(size=25) for v, p in ran}
        found = change(cells, ("a", "1"), ("c", "2"), resamples=400)
        for place, (each, truth) in enumerate(
            ((found.total, 0.05), (found.of_version, 0.15), (found.of_periods, -0.1))
        ):
            held[place] += each.low <= truth <= each.high
    # The standard error of a share of 300 is .013 at .95; docs/statistics.md has 2,000 campaigns a cell.
    assert (held / campaigns >= 0.92).all()
    assert (held / campaigns <= 0.99).all()
