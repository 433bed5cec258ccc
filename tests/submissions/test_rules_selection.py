import datetime as dt
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.metrics.measure import Direction
from leaderboard.submissions.rules import (
    RunChoice,
    ScoredRun,
    best_runs,
    is_ranked,
    name_of_run,
    places,
    selected_run,
    selected_runs,
)

NOON = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)


def a_run(number: int, **values: object) -> ScoredRun:
    """Of one system, received and scored in the order of their numbers."""
    when = NOON + number * HOUR
    run = ScoredRun(1, number, number, 1, False, False, False, when, when, None, False)
    return replace(run, **values)


def stands(choice: RunChoice, *runs: ScoredRun, means: dict[int, float] | None = None) -> int:
    """The number of the run that stands, whatever the order in which the runs are given."""

    def mean(run: ScoredRun) -> float | None:
        return (means or {}).get(run.submission_id)

    found = {selected_run(order, choice, mean, "higher").submission_id for order in (runs, runs[::-1])}
    (number,) = found
    return number


CHOSEN, LATER = a_run(2, chosen_at=NOON + 2 * HOUR), a_run(3, chosen_at=NOON + 3 * HOUR)


@pytest.mark.parametrize(
    ("runs", "number"),
    [
        ((a_run(1), a_run(2), a_run(3)), 1),  # the first one scored, whatever comes later
        ((a_run(1, scored_at=NOON + 9 * HOUR), a_run(2)), 2),  # though it was received last
        ((a_run(1), CHOSEN), 2),
        ((a_run(1), CHOSEN, LATER), 3),  # the one that was chosen last
        ((a_run(1, chosen_at=NOON + 4 * HOUR), CHOSEN, LATER), 1),
        ((a_run(1), a_run(2, is_primary=True), a_run(3, chosen_at=NOON)), 2),
    ],
)
def test_the_primary_run_stands_else_the_one_chosen_last_else_the_first_one_scored(
    runs: tuple[ScoredRun, ...], number: int
) -> None:
    assert stands(RunChoice.PRIMARY, *runs) == number


def test_under_latest_the_last_one_received_stands_though_another_is_primary_or_chosen() -> None:
    assert stands(RunChoice.LATEST, a_run(1, is_primary=True), a_run(2, chosen_at=NOON), a_run(3)) == 3
    assert stands(RunChoice.LATEST, a_run(1), a_run(2, received_at=a_run(1).received_at)) == 2


def test_under_best_the_best_mean_stands_and_the_latest_of_equals() -> None:
    runs = a_run(1, is_primary=True), a_run(2), a_run(3), a_run(4)
    assert stands(RunChoice.BEST, *runs, means={1: 0.1, 2: 0.5, 3: 0.5}) == 3
    assert stands(RunChoice.BEST, *runs) == 4


def test_means_that_differ_by_rounding_only_are_equally_good() -> None:
    assert stands(RunChoice.BEST, a_run(1), a_run(2), means={1: 0.1 + 0.2, 2: 0.3}) == 2


@pytest.mark.parametrize(("direction", "expected"), [("higher", [3, 1, 2]), ("lower", [3, 2, 1]), ("none", [3, 1, 2])])
def test_an_undefined_mean_has_the_last_place(direction: Direction, expected: list[int]) -> None:
    assert places([None, 0.5, 0.1], direction) == expected


def test_each_system_has_one_run_in_time_and_one_late_in_each_evaluation() -> None:
    runs = [
        a_run(1), a_run(2), a_run(3, late=True), a_run(4, late=True), a_run(5, system_id=2), a_run(6, evaluation_id=2),
    ]  # fmt: skip
    standing = selected_runs(runs, RunChoice.PRIMARY, lambda _: None, "none")
    assert [run.submission_id for run in standing] == [1, 3, 5, 6]


@pytest.mark.parametrize("direction", ["higher", "lower", "none"])
def test_the_best_runs_of_all_systems_at_once_are_those_of_each(direction: Direction) -> None:
    """Means that tie within rounding one by one, and undefined ones, among them."""
    rng = np.random.default_rng(4)
    systems = rng.integers(0, 12, 120)
    steps = rng.choice([0.0, 9e-13, 18e-13, 4e-12], 120)
    means = np.where(rng.random(120) < 0.2, np.nan, rng.integers(0, 3, 120) / 4 + steps)
    means[systems == 3] = np.nan
    runs = [a_run(number, system_id=int(system)) for number, system in enumerate(systems)]

    def mean(run: ScoredRun) -> float | None:
        own = means[run.submission_id]
        return None if np.isnan(own) else float(own)

    expected = [run.submission_id for run in selected_runs(runs, RunChoice.BEST, mean, direction)]
    assert sorted(best_runs(systems, means, direction).tolist()) == sorted(expected)


def test_late_runs_and_baselines_are_not_ranked() -> None:
    assert is_ranked(a_run(1))
    assert not is_ranked(a_run(1, late=True))
    assert not is_ranked(a_run(1, is_baseline=True))


@pytest.mark.parametrize(("label", "name"), [("BERT", "BERT (run 16, 20 Nov 2026)"), ("", "run 16, 20 Nov 2026")])
def test_a_run_is_named_by_its_label_its_number_and_its_day(label: str, name: str) -> None:
    assert name_of_run(label, 16, NOON) == name
