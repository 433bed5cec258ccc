import numpy as np
import pytest
from scipy import stats

from leaderboard.metrics.aggregation import GEOMETRIC_MEAN, VALUE_OF_MEANS, WHOLE_RUN
from leaderboard.statistics import compare

NAN = np.nan


def three_systems(queries=15):
    draw = np.random.default_rng(12)
    base = draw.random(queries)
    return {
        "good": (base + 0.1 + draw.normal(0, 0.1, queries),),
        "base": (base,),
        "bad": (base - 0.2 + draw.normal(0, 0.1, queries),),
    }


def test_a_row_has_what_scipy_says_of_the_pair():
    systems = three_systems()
    row = compare(systems, "base").rows[0]
    (good,), (base,) = systems["good"], systems["base"]
    randomised, t, ranked = (each.test for each in row.tests)
    exact = stats.permutation_test(
        (good, base),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert randomised.p == pytest.approx(exact.pvalue)
    assert t.p == pytest.approx(stats.ttest_rel(good, base).pvalue)
    assert ranked.p == pytest.approx(stats.wilcoxon(good, base, method="exact").pvalue)
    assert row.difference.estimate == pytest.approx((good - base).mean())
    assert row.difference.low < row.difference.estimate < row.difference.high
    assert row.effects.difference == pytest.approx(row.difference.estimate)


def test_each_test_is_corrected_over_the_rows():
    systems = three_systems(8)
    rows = compare(systems, "base").rows
    for place in range(3):
        first, second = (row.tests[place] for row in rows)
        smaller, larger = sorted((first, second), key=lambda each: each.test.p)
        assert smaller.holm == pytest.approx(2 * smaller.test.p)
        assert larger.holm == pytest.approx(max(larger.test.p, smaller.holm))
        assert smaller.benjamini_hochberg == pytest.approx(min(2 * smaller.test.p, larger.test.p))
        assert larger.benjamini_hochberg == pytest.approx(larger.test.p)


def test_a_query_undefined_for_either_is_left_out_of_that_row_only():
    systems = three_systems()
    systems["good"][0][:4] = NAN
    good, bad = compare(systems, "base", resamples=200).rows
    assert (good.effects.queries, good.effects.left_out, good.difference.queries) == (11, 4, 11)
    assert (bad.effects.queries, bad.effects.left_out) == (15, 0)


def test_under_pfa_only_the_tests_are_on_what_makes_up_aqwv():
    # The systems differ on queries without relevant documents only, where neither has a Value of its own.
    p_miss = np.array([0.5, 0.25, NAN, NAN])
    systems = {"base": (p_miss, np.array([0.1, 0.1, 0.5, 0.3])), "calm": (p_miss, np.full(4, 0.1))}
    (row,) = compare(systems, "base", VALUE_OF_MEANS).rows
    assert row.difference.estimate == pytest.approx(0.15)
    assert row.effects.difference == pytest.approx(0.15)
    assert (row.effects.better, row.effects.tied) == (2, 2)
    assert row.tests[0].test.p == 0.5


def test_under_a_geometric_mean_the_difference_is_of_the_figures_and_the_tests_of_logarithms():
    systems = {"base": (np.array([0.1, 0.4]),), "other": (np.array([0.4, 0.4]),)}
    (row,) = compare(systems, "base", GEOMETRIC_MEAN).rows
    assert row.difference.estimate == pytest.approx(0.4 - 0.2)
    assert row.effects.difference == pytest.approx(np.log(4) / 2)


def test_degenerate_rows_have_answers_or_reasons():
    column = np.array([0.5, 0.75, NAN])
    systems = {"base": (column,), "twin": (column.copy(),), "elsewhere": (np.array([NAN, NAN, 0.5]),)}
    twin, elsewhere = compare(systems, "base").rows
    assert [each.test.p for each in twin.tests] == [1.0, 1.0, 1.0]
    assert [each.holm for each in twin.tests] == [1.0, 1.0, 1.0]
    assert (twin.difference.estimate, twin.difference.low) == (0.0, None)
    assert twin.difference.reason == "an interval needs at least 5 queries; there are 2"
    assert [each.test.p for each in elsewhere.tests] == [None, None, None]
    assert [each.holm for each in elsewhere.tests] == [None, None, None]
    assert elsewhere.difference.reason == "no query has a value for both systems"


def test_a_measure_of_the_whole_run_says_why_it_has_no_rows():
    table = compare({"base": (), "other": ()}, "base", WHOLE_RUN)
    assert (table.rows, table.reason) == ((), WHOLE_RUN.name)
