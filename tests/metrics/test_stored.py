"""A measure's columns from per-query values: aggregated, they give the run's figure."""

import numpy as np
import pytest

from leaderboard.metrics import parse
from leaderboard.metrics.families.detection import columns_from_values, measures_beside

NAN = float("nan")


@pytest.mark.parametrize("name", ["AP", "nDCG@10", "NumRel", "GMAP", "Pmiss"])
def test_most_measures_aggregate_their_values(name: str) -> None:
    measure = parse(name)
    values = np.array([0.5, NAN, 0.25])
    (column,) = columns_from_values(measure, {name: values}, no_relevant="pfa_only", beta=20.0)
    np.testing.assert_array_equal(column, values)


@pytest.mark.parametrize("policy", ["exclude", "pmiss_zero"])
def test_aqwv_is_the_mean_of_its_values_where_every_query_counts_with_both_parts(policy: str) -> None:
    columns = columns_from_values(parse("AQWV"), {"AQWV": np.array([0.5, NAN, -1.5])}, no_relevant=policy, beta=20.0)
    assert measures_beside(parse("AQWV"), policy) == ()
    assert parse("AQWV").aggregate(columns) == pytest.approx(-0.5, abs=1e-15)


def test_under_pfa_only_aqwv_comes_from_its_parts() -> None:
    """1 − mean(.5, .1) − 20 · mean(.01, .02, .005)."""
    values = {
        "AQWV": np.array([0.3, NAN, 0.8]),
        "Pmiss": np.array([0.5, NAN, 0.1]),
        "Pfa": np.array([0.01, 0.02, 0.005]),
    }
    columns = columns_from_values(parse("AQWV"), values, no_relevant="pfa_only", beta=20.0)
    assert parse("AQWV").aggregate(columns) == pytest.approx(1 - 0.3 - 20 * 0.035 / 3, abs=1e-15)


def test_the_parts_have_the_measures_relevance_level() -> None:
    assert list(map(str, measures_beside(parse("AQWV(rel=2)"), "pfa_only"))) == ["Pmiss(rel=2)", "Pfa(rel=2)"]


def test_what_the_values_do_not_say_is_none() -> None:
    value, part = np.array([0.5]), np.array([0.1])
    only_its_own = {"AQWV": value, "OQWV": value, "MQWV": np.array([NAN])}
    assert columns_from_values(parse("AQWV"), only_its_own, no_relevant="pfa_only", beta=20.0) is None
    assert columns_from_values(parse("MQWV"), only_its_own, no_relevant="exclude", beta=20.0) is None
    assert columns_from_values(parse("AP"), only_its_own, no_relevant="exclude", beta=20.0) is None
    # OQWV's P_miss and P_fa are at thresholds of its own.
    with_parts = only_its_own | {"Pmiss": part, "Pfa": part}
    assert columns_from_values(parse("OQWV"), with_parts, no_relevant="pfa_only", beta=20.0) is None
    assert columns_from_values(parse("AQWV"), with_parts, no_relevant="pfa_only", beta=20.0) is not None
