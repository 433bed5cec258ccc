"""A small part of `python -m trials statistics`: what boards claim, held against real runs with known true figures."""

from pathlib import Path

import numpy as np
import pytest

from trials.campaigns import Cell, Chunk
from trials.coverage import Shares, coverage, coverage_of_thresholds
from trials.false_findings import board


def chunk(kind: str, measure: str, queries: int, campaigns: int, systems: int = 0) -> Chunk:
    return Chunk(Cell(kind, measure, queries, systems), 0, campaigns, seed=3)


@pytest.mark.parametrize("measure", ["AP", "RR", "AQWV 20 pfa_only"])
def test_intervals_over_few_queries_cover_the_truth(shared_data: Path, measure: str) -> None:
    found = Shares.of(coverage(chunk("coverage", measure, 12, 60)))
    assert found.given > 800
    assert 0.92 <= found.covered <= 0.985


def test_intervals_of_mqwv_cover_the_truth(shared_data: Path) -> None:
    found = coverage_of_thresholds(chunk("coverage", "MQWV 20", 25, 6))
    assert Shares.of(found, "MQWV").covered > 0.85
    assert Shares.of(found, "MQWV − AQWV").covered > 0.8


@pytest.mark.parametrize(("kind", "measure", "systems"), [("equal", "RR", 10), ("clones 2", "AP", 30)])
def test_rank_sets_find_nothing_among_equal_systems_where_other_procedures_do(
    shared_data: Path, kind: str, measure: str, systems: int
) -> None:
    found = board(chunk(kind, measure, 25, 120, systems))
    assert found["false rank sets"] / 120 <= 0.07 + 3 * np.sqrt(0.07 * 0.93 / 120)
    assert found["false Tukey"] > found["false rank sets"]
    assert max(found["false Tukey"], found["false Holm, t"]) / 120 > 0.12
