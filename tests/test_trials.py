"""The long trials on a small scale, on one engine where the other would ask the same of the site."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.shared import REPOSITORY, SHARED_VARIABLE
from trials import backup, kill_storm, outages, readers, scaling, siege, smallest_difference, standing_storm
from trials.__main__ import TRIALS, trial
from trials.campaigns import Cell, Counts
from trials.statistics import broken_promises

OF_REAL_RUNS = ("throughput", "statistics", "disastrous run", "smallest difference", "linked years", "measures")


def test_pages_answer_while_runs_come_in() -> None:
    assert readers.main(["--seconds", "0.5", "--readers", "2", "--few", "--engine", "postgresql"]) == 0


def test_pages_answer_while_slow_clients_hold_the_site() -> None:
    small = ["--seconds", "1", "--uploads", "4", "--silent", "10", "--half-sent", "10"]
    assert siege.main([*small, "--engine", "sqlite"]) == 0


def test_killed_workers_lose_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert kill_storm.main(["--seconds", "2", "--workers", "2", "--lines", "40000", "--engine", "postgresql"]) == 0
    assert "SIGKILL" in capsys.readouterr().out


def test_backups_under_load_are_restored_to_the_last_bit(capsys: pytest.CaptureFixture[str]) -> None:
    assert backup.main(["--seconds", "1", "--runs", "5", "--engine", "sqlite"]) == 0
    assert "restored on postgresql" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("engine", "store", "operations", "every"),
    [
        ("sqlite", "folder", "scoring backup restore", 401),
        ("postgresql", "bucket", "upload", 131),
    ],
)
def test_no_call_that_fails_loses_or_doubles_anything(engine: str, store: str, operations: str, every: int) -> None:
    # In a process of its own: it counts every call of the file system, and forks.
    command = [sys.executable, "-m", "trials", "every_call", "--engine", engine, "--store", store]
    own = [f"--operation={operation}" for operation in operations.split()]
    assert subprocess.run([*command, *own, "--every", str(every)], cwd=REPOSITORY, check=False).returncode == 0


def test_what_stands_is_right_when_runs_are_scored_chosen_and_withdrawn_at_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    small = ["--seconds", "1", "--workers", "2", "--actors", "3"]
    assert standing_storm.main([*small, "--engine", "postgresql"]) == 0
    assert "'withdraw'" in capsys.readouterr().out


def test_the_smallest_difference_is_found_four_times_in_five() -> None:
    values = np.random.default_rng(1).normal(size=(400, 4))
    values = np.hstack([values, values[:, :1]])  # a run that is there twice has no difference to find
    found = smallest_difference.shares_found(values, queries=25, campaigns=400, seed=1)
    assert len(found) == 9
    assert found == pytest.approx(0.8, abs=0.08)


@pytest.mark.parametrize("name", OF_REAL_RUNS)
def test_a_trial_of_real_runs_says_that_it_is_left_out_where_there_are_none(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(SHARED_VARIABLE, str(tmp_path))
    assert name in TRIALS
    assert trial(name, []) == 0
    assert "left out: no real runs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "counts", "broken"),
    [
        # .07 and three standard errors of .0081; of a figure's 1,000 campaigns .92 less three of .0069
        ("equal", {"campaigns": 1000, "false rank sets": 94}, False),
        ("equal", {"campaigns": 1000, "false rank sets": 95}, True),
        ("clones 1", {"campaigns": 1000, "false rank sets": 83}, True),
        ("apart by .03", {"campaigns": 1000, "false rank sets": 500}, False),
        ("coverage", {"given 0 0": 1000, "covered 0 0": 900}, False),
        ("coverage", {"given 0 0": 1000, "covered 0 0": 899}, True),
        ("coverage", {"none 0 0": 1000}, False),  # no interval claims nothing
    ],
)
def test_a_promise_of_statistics_is_broken_beyond_three_standard_errors(
    kind: str, counts: Counts, broken: bool
) -> None:
    assert bool(list(broken_promises({Cell(kind, "AP", 25, 10, headline=True): counts}))) is broken


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_a_claim_and_the_pages_of_a_board_read_as_much_whatever_the_submissions_and_the_queue(
    engine: str, tmp_path: Path
) -> None:
    """By rows and steps of the database, which no load changes; ten systems, twenty times the runs."""
    grown = {each.name: each.costs for each in scaling.scaling(engine, (50, 1_000), tmp_path, 1, systems=10)}
    for name in (
        "a claim",
        "a worker's look",
        "front page",
        "campaign",
        "board",
        "board of best runs",
        "progress",
        "queries",
        "a query",
        "a run",
        "a team",
        "a system",
        "status of an own run",
        "form of a new run",
        "organiser's evaluation",
        "organiser's systems",
        "organiser's teams",
        "progress while all wait",
    ):
        few, many = (cost.work for cost in grown[name])
        assert many <= 1.5 * few + scaling.LEAST_WORK, name


@pytest.mark.parametrize(
    "outage",
    [
        ["paused", "--times", "1", "--engine", "postgresql"],
        ["clocks", "--times", "3", "--engine", "sqlite"],
        ["restarts", "--times", "2", "--engine", "postgresql"],
    ],
    ids=lambda outage: outage[0],
)
def test_an_outage_loses_no_run_and_heals_without_hands(outage: list[str]) -> None:
    assert outages.main(["--only", *outage]) == 0
