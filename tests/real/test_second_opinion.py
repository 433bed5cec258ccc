"""A board of real runs, and a second opinion on its values as CSV: the same rank sets, the same best systems."""

from pathlib import Path

import pytest

from leaderboard.access import VISITOR
from leaderboard.boards.reads.board import board
from leaderboard.db import Database
from leaderboard.formats import read_run
from leaderboard.metrics import parse_all
from leaderboard.opinion.rules import opinion
from leaderboard.scoring import score
from tests.real.references import judged_by
from tests.support.field import NOW, Field

DL, COVID = "trec-dl/2019", "trec-covid/round1"


@pytest.mark.parametrize("engine_name", ["sqlite"])  # what a board reads is tested on both elsewhere
@pytest.mark.parametrize(
    ("folder", "measure"), [(DL, "nDCG@10"), (DL, "AP"), (DL, "RR"), (COVID, "P@5"), (COVID, "Bpref")]
)
def test_a_csv_of_a_boards_values_says_what_the_board_says(
    shared_data: Path, database: Database, tmp_path: Path, folder: str, measure: str
) -> None:
    judged, wanted = judged_by(shared_data / folder / "qrels.txt"), parse_all(measure)
    values = {}
    for path in sorted((shared_data / folder).glob("*.gz")):
        if "trec_eval" not in path.name:
            result = score(read_run(path), judged, wanted).results[wanted[0]]
            values[path.name.partition(".")[0]] = result.values.tolist()
    # Queries stand in the order in which the judged ones are added up: that of their ids, as q00 to q42 are.
    field = Field(database, measures=(measure,)).campaign().evaluation(tags=[()] * len(judged.queries))
    order = sorted(range(len(judged.queries)), key=lambda number: f"q{number + 1}")
    for name, own in values.items():
        shown = [0.0] * len(own)
        for at, value in zip(order, own, strict=True):
            shown[at] = value
        field.run(name, {measure: shown})
    field.refresh()
    with database.read() as session:
        page = board(session, VISITOR, "news", "2026", NOW)
    rows = [",".join([f"q{number}", *map(repr, row)]) for number, row in enumerate(zip(*values.values(), strict=True))]
    (tmp_path / "values.csv").write_text("\n".join([",".join(["query", *values]), *rows]))
    answer = opinion(tmp_path / "values.csv", "values.csv", "higher")
    assert {row.system: (row.low, row.high, row.may_be_best) for row in answer.rows} == {
        row.entry.system.name: (*row.rank_set, row.may_be_best) for row in page.rows
    }
    assert {row.system: (row.mean.low, row.mean.high) for row in answer.rows} == {
        row.entry.system.name: pytest.approx((row.entry.figure(measure).low, row.entry.figure(measure).high))
        for row in page.rows
    }
    assert {row.system: row.rank for row in answer.rows} == {row.entry.system.name: row.rank for row in page.rows}
    told = page.statistics.told if page.statistics else None
    assert told is not None
    assert answer.detectable.difference == pytest.approx(told.detectable.difference, rel=0.02)
    assert len(answer.lead_rests_on) == told.lead.removed
