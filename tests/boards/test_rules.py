import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leaderboard.boards.rules import Rounding, decimals_for
from leaderboard.statistics import LEAST_QUERIES


@given(st.integers(1, 10**7))
def test_the_last_place_is_the_largest_power_of_ten_not_above_the_largest_standard_error(queries: int) -> None:
    largest = 0.5 / math.sqrt(queries)  # of a mean of values between 0 and 1: half are 0, half are 1
    decimals = decimals_for(queries)
    assert 10.0**-decimals <= largest * (1 + 1e-12)
    assert decimals == 1 or 10.0 ** (1 - decimals) > largest * (1 - 1e-12)


@pytest.mark.parametrize(
    ("value", "unit", "written"),
    [
        (0.41349, "share", "0.41"),
        (0.00004, "false alarms", "0.00"),
        (-0.666, "correlation", "-0.67"),
        (1234.0, "documents", "1200"),
        (7.0, "queries", "7.00"),
        (-3.274, "value", "-3.3"),
        (0.01234, "value", "0.01"),  # two significant digits would be finer than the queries support
        (0.0123, "gain", "0.01"),
        (99.6, "utility", "100"),
        (-0.001, "share", "0.00"),
    ],
)
def test_a_mean_over_fifty_queries_is_rounded_by_its_unit(value: float, unit: str, written: str) -> None:
    found = Rounding(50).mean(value, unit)
    assert found is not None
    assert float(found) == float(written)
    assert math.copysign(1.0, found) == (-1.0 if float(written) < 0 else 1.0)


ENDS = st.integers(-20_000_000, 20_000_000)  # millionths


@given(ENDS, ENDS, st.integers(LEAST_QUERIES, 10**4))
def test_an_interval_is_rounded_outward(one: int, other: int, queries: int) -> None:
    low, high = min(one, other) / 1e6, max(one, other) / 1e6
    lower, upper = Rounding(queries).interval(low, high, "share")
    assert lower is not None
    assert upper is not None
    step = 10.0 ** -decimals_for(queries)
    assert low - step < lower + 1e-9
    assert lower <= low <= high <= upper
    assert upper - 1e-9 < high + step


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 10**4))
def test_what_reads_alike_is_alike(one: float, other: float, queries: int) -> None:
    rounding = Rounding(queries)
    first, second = rounding.mean(one, "share"), rounding.mean(other, "share")
    assert first is not None
    assert second is not None
    assert (f"{first:.{first.decimals}f}" == f"{second:.{second.decimals}f}") == (first == second)


@pytest.mark.parametrize("unit", ["share", "value"])
@given(st.lists(st.one_of(st.floats(-2, 2), st.integers(-2000, 2000).map(lambda n: n / 1000))), st.integers(1, 9000))
def test_an_array_of_means_is_rounded_as_each_of_them(unit: str, values: list[float], queries: int) -> None:
    rounding = Rounding(queries)
    assert rounding.means(np.array(values), unit).tolist() == [rounding.mean(value, unit) for value in values]
    assert np.isnan(rounding.means(np.array([*values, np.nan]), unit)[-1])
