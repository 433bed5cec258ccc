"""The golden cases of the measures, loaded as campaigns and scored by the real worker: boards show the figures.

The figures are those of the definition of the measures ("Golden cases"), to the digits given there.
"""

import datetime as dt

import pytest

from leaderboard.access import VISITOR
from leaderboard.boards.reads.board import board
from leaderboard.metrics import parse
from tests.demo.conftest import Installation, worked_examples

DIGITS = 5e-7  # the table gives six digits

RECALL = dict(zip((f"R@{k}" for k in range(1, 11)), (0.2, 0.2, 0.4, 0.4, 0.4, 0.6, 0.6, 0.6, 0.8, 1.0), strict=True))
PRECISION = dict(
    zip(
        (f"P@{k}" for k in range(1, 11)),
        (1.0, 0.5, 0.666667, 0.5, 0.4, 0.5, 0.428571, 0.375, 0.444444, 0.5),
        strict=True,
    )
)
TWO_CLASSES = {
    "TP": 5, "FP": 9, "TN": 1799, "FN": 1, "SetP": 0.357143, "SetR": 0.833333,
    "FirstTier": 0.666667, "SecondTier": 0.416667, "SecondTier(norm=class)": 0.833333,
    "AP(norm=hits)": 0.800909, "AP": 0.667424, "AP@5": 0.591667, "AP(norm=min)@5": 0.71, "AP(norm=hits)@5": 0.8875,
}  # fmt: skip

BOARDS = [
    ("ranks", "recall-and-precision", "Example", {"AP": 0.622222, **RECALL, **PRECISION}),
    ("ranks", "reciprocal-rank", "Example", {"RR": 0.611111}),
    ("ranks", "average-precision", "Example", {"AP": 0.648082}),
    ("grades", "gain", "Best first", {"DCG(gain=exp)": 8.130930, "nDCG(gain=exp)": 1.0}),
    ("grades", "gain", "Best second", {"DCG(gain=exp)": 5.916508, "nDCG(gain=exp)": 0.727655, "nDCG": 0.821314}),
    ("sets", "precision-and-recall", "Careful", {
        "SetP": 0.9, "SetR": 0.1, "SetF(alpha=0.25)": 0.128571, "SetF(alpha=0.75)": 0.3,
    }),
    ("sets", "precision-and-recall", "Eager", {"SetP": 0.5, "SetR": 1.0, "SetF(beta=2)": 0.833333}),
    ("sets", "two-classes", "Example", {str(parse(name).at_relevance(2)): mean for name, mean in TWO_CLASSES.items()}),
    ("aqwv-exclude", "decisions", "Example", {"AQWV": 0.716639, "MQWV": 0.949972, "OQWV": 0.949972}),
    ("aqwv-pfa-only", "decisions", "Example", {"AQWV": 0.716667, "MQWV": 0.955555, "OQWV": 0.966648}),
    ("aqwv-pmiss-zero", "decisions", "Example", {"AQWV": 0.800000, "MQWV": 0.955555, "OQWV": 0.966648}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("campaign", "evaluation", "system", "figures"), BOARDS, ids=["-".join(case[:3]) for case in BOARDS]
)
def test_a_board_shows_the_figures_of_the_golden_case(
    installation: Installation, campaign: str, evaluation: str, system: str, figures: dict[str, float]
) -> None:
    with installation.database.read() as session:
        page = board(session, VISITOR, f"worked-examples-{campaign}", evaluation, dt.datetime.now(dt.UTC))
    [row] = [row for row in page.rows if row.entry.system.name == system]
    shown = {name: row.entry.figure(name).mean for name in figures}
    assert shown == pytest.approx(figures, abs=DIGITS)


def test_every_evaluation_of_the_worked_examples_is_checked_here() -> None:
    there = {(read.campaign.slug, evaluation.slug) for read in worked_examples() for evaluation in read.evaluation}
    assert there == {(f"worked-examples-{campaign}", evaluation) for campaign, evaluation, _, _ in BOARDS}
