import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.statistics import benjamini_hochberg, holm

P_VALUES = st.lists(st.floats(1e-12, 1), min_size=1, max_size=12)


def test_holm_by_hand():
    # sorted .005 .01 .03 .04, times 4 3 2 1: .02 .03 .06 .04, and the last may not fall below the one before
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


def test_benjamini_hochberg_by_hand():
    # sorted .005 .01 .03 .04, times 4/1 4/2 4/3 4/4: .02 .02 .04 .04
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.02, 0.04, 0.04, 0.02))


@given(P_VALUES)
def test_benjamini_hochberg_agrees_with_scipy(p):
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p))


@given(P_VALUES)
def test_corrected_values_are_never_smaller_and_keep_the_order(p):
    raw = np.array(p)
    for corrected in (np.array(holm(p)), np.array(benjamini_hochberg(p))):
        assert np.all(corrected >= raw * (1 - 1e-12))
        assert np.all(corrected <= 1)
        assert np.all(np.diff(corrected[np.argsort(raw, kind="stable")]) >= 0)
    assert np.all(np.array(holm(p)) >= np.array(benjamini_hochberg(p)) * (1 - 1e-12))


@pytest.mark.parametrize("correct", [holm, benjamini_hochberg])
def test_one_test_needs_no_correction(correct):
    assert correct([0.04]) == (0.04,)


@pytest.mark.parametrize("correct", [holm, benjamini_hochberg])
def test_what_has_no_p_stays_so_and_does_not_count(correct):
    assert correct([None, 0.04, None]) == (None, 0.04, None)
    assert correct([None]) == (None,)
    assert correct([]) == ()
