"""The organiser's list of submissions: what each run reached."""

import pytest

from leaderboard.access import CONSOLE
from leaderboard.submissions.reads.status import SubmissionRow, submission_row, submissions
from leaderboard.submissions.rules import SystemKind
from tests.support.field import NOW, Field


def _rows(field: Field, evaluation: str | None = "2026") -> dict[int, SubmissionRow]:
    with field.database.read() as session:
        return {row.id: row for row in submissions(session, CONSOLE, "news", evaluation, NOW, page=1).rows}


def test_each_run_has_its_mean_and_the_rank_of_the_one_that_stands(field: Field) -> None:
    second = field.run("Comet", {"AP": [0.2] * 4})
    first = field.run("Heron", {"AP": [0.6] * 4})
    not_standing = field.run("Heron", {"AP": [0.4] * 4})
    baseline = field.run("BM25", {"AP": [0.3] * 4}, kind=SystemKind.BASELINE)
    rows = _rows(field)
    assert {run: (row.measure, row.mean, row.rank) for run, row in rows.items()} == {
        first: ("AP", pytest.approx(0.6), 1),
        second: ("AP", pytest.approx(0.2), 2),
        not_standing: ("AP", pytest.approx(0.4), None),
        baseline: ("AP", pytest.approx(0.3), None),
    }
    assert _rows(field, None) == rows
    with field.database.read() as session:
        assert submission_row(session, CONSOLE, "news", "2026", second, NOW) == rows[second]
