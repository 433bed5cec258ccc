"""Fusion: by hand, and against a slow twin."""

import io
import itertools
from fractions import Fraction

import numpy as np
import pytest

from leaderboard.baselines.runs import RankedList, combsum, reciprocal_rank_fusion
from leaderboard.errors import BadInput
from leaderboard.formats import Run, read_run


def _run(*lines: str) -> Run:
    return read_run(io.BytesIO("".join(f"{line}\n" for line in lines).encode()))


FIRST = _run("q1 0 a 1 9 x", "q1 0 b 2 5 x", "q1 0 c 3 1 x", "q2 0 a 1 3 x")
SECOND = _run("q1\tc\tN\t0.5", "q1\td\tY\t0.25", "q3\ta\tY\t-1")


def _listed(lists: "itertools.chain[RankedList] | object") -> dict[str, list[tuple[str, float]]]:
    return {
        each.query: list(zip([name.decode() for name in each.document.tolist()], each.score.tolist(), strict=True))
        for each in lists  # type: ignore[attr-defined]  # an iterator of lists
    }


def test_scores_are_moved_to_the_unit_interval_and_added_up() -> None:
    # q1: a 1, b 1/2, c 0 of the first; c 1, d 0 of the second. Lists of one document: 1.
    assert _listed(combsum([FIRST, SECOND])) == {
        "q1": [("c", 1.0), ("a", 1.0), ("b", 0.5), ("d", 0.0)],
        "q2": [("a", 1.0)],
        "q3": [("a", 1.0)],
    }


def test_sums_that_are_too_large_for_a_number_are_refused() -> None:
    run = _run("q 0 a 1 1e308 x")
    with pytest.raises(BadInput, match="query q: scores add up to more than a number can hold"):
        list(combsum([run, run], normalise="none"))


def test_the_order_of_the_runs_changes_nothing_and_equal_shares_tie() -> None:
    rng = np.random.default_rng(4)
    runs = [
        _run(*(f"q 0 d{name} 0 {-place} x" for place, name in enumerate(rng.permutation(9).tolist()))) for _ in range(3)
    ]
    orders = [list(_listed(reciprocal_rank_fusion(order))["q"]) for order in itertools.permutations(runs)]
    assert all(order == orders[0] for order in orders)


def _slowly(runs: list[list[tuple[str, float]]], k: int) -> list[tuple[str, float]]:
    """Exactly, run by run and document by document."""
    total: dict[str, Fraction] = {}
    for run in runs:
        ranked = sorted(run, key=lambda each: (each[1], each[0]), reverse=True)
        for rank, (name, _) in enumerate(ranked, 1):
            total[name] = total.get(name, Fraction()) + Fraction(1, k + rank)
    ranked_total = sorted(total.items(), key=lambda each: (each[1], each[0]), reverse=True)
    return [(name, float(score)) for name, score in ranked_total]


@pytest.mark.parametrize("seed", range(5))
def test_lists_equal_those_of_the_definition_followed_literally(seed: int) -> None:
    rng = np.random.default_rng(seed)
    runs = [[(f"d{name:02}", float(rng.integers(6))) for name in rng.choice(40, 25, replace=False)] for _ in range(4)]
    read = [_run(*(f"q 0 {name} 0 {score} x" for name, score in run)) for run in runs]
    found = _listed(reciprocal_rank_fusion(read, depth=30))["q"]
    expected = _slowly(runs, 60)[:30]
    assert [name for name, _ in found] == [name for name, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], rel=1e-14)
