"""What is worked out for boards: over which runs, from which values, and when it is due again."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from scipy import stats

from leaderboard.access import CONSOLE, VISITOR
from leaderboard.boards import writes as boards
from leaderboard.boards.models import Board
from leaderboard.boards.reads.board import BoardPage, BoardQuery, board
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Database, clock
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import NoRelevant, Split, Subset
from leaderboard.judgments.writes import exclude_queries, set_split
from leaderboard.submissions.rules import Designation, RunChoice, SystemKind
from leaderboard.teams.models import System
from leaderboard.worker.models import Score, ScoringSet
from leaderboard.worker.writes import switch
from tests.support.databases import Filling, OwnDatabase
from tests.support.field import DAY, NAN, NOW, Field, about

HALF = [1.0] * 10 + [0.0] * 10  # of twenty queries
OTHER_HALF = HALF[::-1]
# A query drawn from HALF is worth 1 with probability 1/2. A draw with 6 ones (or 14) has the mean .3, .2 off, and the
# standard error √(.21/19): it is off by 1.902 of its own standard errors. Draws off as far or farther have probability
# .115, those off farther .041: so 19 of 20 are off by 1.902 standard errors at most, and the sample's is √(.25/19).
AWAY = 0.2 / np.sqrt(0.21 / 19) * np.sqrt(0.25 / 19)
LOW, HIGH = 0.5 - AWAY, 0.5 + AWAY
ENDS = pytest.approx((LOW, HIGH))


def _fill_twenty(database: Database) -> dict[str, int]:
    return of_twenty(database).evaluations


@pytest.fixture(scope="session")
def fill_field() -> Filling:
    return _fill_twenty


@pytest.fixture
def field(database: Database, own_database: OwnDatabase, fill_field: Filling) -> Field:
    """Twenty queries, ranked by AP, beside P@5."""
    return Field(database, evaluations=own_database.known)


def of_twenty(database: Database, measures: Sequence[str] = ("AP", "P@5"), **settings: Any) -> Field:
    return Field(database, measures=measures).campaign(**settings).evaluation(tags=[()] * 20)


def due(field: Field, older_than: float = 0.0) -> list[str]:
    with field.database.read() as session:
        return [one.measure for one in boards.due(session, older_than)]


def refresh(field: Field) -> None:
    """Until nothing is due any more."""
    field.refresh()
    assert due(field) == []


def figures(field: Field, measure: str = "AP", subset: Subset = Subset.ALL) -> dict[str, Any]:
    with field.database.read() as session:
        kept = session.get_one(Board, (field.current_set().id, measure, subset))
        return kept.figures


def interval(
    field: Field, run: int, measure: str = "AP", subset: Subset = Subset.ALL
) -> tuple[float | None, float | None]:
    with field.database.read() as session:
        score = session.get_one(Score, (field.scoring(run), measure, subset))
        return score.low, score.high


def test_a_board_keeps_the_means_of_all_scored_runs_undefined_ones_too(field: Field) -> None:
    runs = [
        field.run("Alder", {"AP": HALF, "P@5": [0.25] * 20}, designation=Designation.PRIMARY),
        field.run("Alder", {"AP": [0.75] * 20, "P@5": [NAN] * 20}),
        field.run("Baseline", {"AP": [0.25] * 20, "P@5": [1.0] * 20}, kind=SystemKind.BASELINE),
    ]
    refresh(field)
    with field.database.read() as session:
        kept = session.get_one(Board, (field.current_set().id, "P@5", Subset.SHOWN))
        assert kept.scorings.tolist() == [field.scoring(run) for run in runs]
        assert kept.means.tolist() == [0.25, pytest.approx(np.nan, nan_ok=True), 1.0]


def read(field: Field, **asked: str) -> BoardPage:
    with field.database.read() as session:
        return board(session, VISITOR, "news", next(iter(field.evaluations)), NOW, BoardQuery(**asked))


def may_be_best(field: Field, **asked: str) -> list[str]:
    return [row.entry.system.name for row in read(field, **asked).rows if row.may_be_best]


def sets(field: Field, **asked: str) -> list[tuple[str, int | None, tuple[int, int] | None]]:
    return [(row.entry.system.name, row.rank, row.rank_set) for row in read(field, **asked).rows]


def test_an_interval_is_a_bootstrap_t_and_equal_values_have_none(field: Field) -> None:
    assert stats.binom.cdf(5, 20, 0.5) * 2 < 0.05 < stats.binom.cdf(6, 20, 0.5) * 2
    run = field.run("Alder", {"AP": HALF, "P@5": [0.25] * 20})
    refresh(field)
    assert interval(field, run) == ENDS
    assert interval(field, run, "P@5") == (None, None)
    (row,) = read(field).rows
    assert (row.ranked_by.low, row.ranked_by.high) == ENDS


def test_systems_that_the_queries_do_not_tell_apart_share_their_ranks_and_may_both_be_the_best(field: Field) -> None:
    field.run("Alder", {"AP": [0.01, *HALF[1:]]})
    field.run("Birch", {"AP": OTHER_HALF})
    field.run("Cedar", {"AP": about(-3.0)})
    refresh(field)
    assert sets(field) == [("Birch", 1, (1, 2)), ("Alder", 2, (1, 2)), ("Cedar", 3, (3, 3))]
    assert may_be_best(field) == ["Birch", "Alder"]


def test_baselines_late_and_contrastive_runs_have_intervals_and_leave_the_ranks_to_the_others(field: Field) -> None:
    field.run("Alder", {"AP": about(1.9)}, team="Woods", designation=Designation.PRIMARY)
    field.run("Birch", {"AP": about(0.4)})
    apart = [
        field.run("Alder", {"AP": HALF}, team="Woods", designation=Designation.CONTRASTIVE),
        field.run("Alder", {"AP": HALF}, team="Woods", received_at=NOW - DAY / 2),
        field.run("Term matching", {"AP": HALF}, kind=SystemKind.BASELINE),
    ]
    refresh(field)
    assert sets(field)[:2] == [("Alder", 1, (1, 1)), ("Birch", 2, (2, 2))]
    assert [row.rank_set for row in read(field).rows[2:] + read(field).baselines] == [None, None]
    assert [interval(field, run) for run in apart] == [ENDS] * 3
    assert may_be_best(field) == ["Alder"]
    assert len(figures(field)["ranks"]) == 2
    # the baseline's mean of .5 is told apart from 1.9 and not from .4
    alder = min(map(int, figures(field)["ranks"]))
    assert figures(field)["above_baselines"] == [alder]


def test_where_the_best_run_counts_each_measure_has_its_own(database: Database) -> None:
    field = of_twenty(database, run_choice=RunChoice.BEST)
    by_ap = field.run("Alder", {"AP": about(0.9), "P@5": about(0.1)})
    by_precision = field.run("Alder", {"AP": about(0.1), "P@5": about(0.9)})
    field.run("Birch", {"AP": about(0.5), "P@5": about(0.5)})
    refresh(field)
    assert str(field.scoring(by_ap)) in figures(field)["ranks"]
    assert str(field.scoring(by_precision)) in figures(field, "P@5")["ranks"]
    for measure in ("AP", "P@5"):
        assert sets(field, measure=measure) == [("Alder", 1, None), ("Birch", 2, None)]  # the best of two


def test_under_pfa_only_the_interval_of_aqwv_is_of_its_parts(database: Database) -> None:
    """Ten queries have relevant documents and all twenty false alarms: P_miss never varies, and the mean of P_fa is
    .01 and another .01 for each query drawn from the second half. The values alone, all .55, would have no interval."""
    field = of_twenty(database, ("AQWV", "AP"), beta=20.0, no_relevant=NoRelevant.PFA_ONLY)
    assert field.current_set().settings.kept == ("Pmiss", "Pfa", "Judged@10")
    values = {
        "AQWV": [0.55] * 10 + [NAN] * 10,
        "Pmiss": [0.25] * 10 + [NAN] * 10,
        "Pfa": [0.01] * 10 + [0.02] * 10,
        "AP": HALF,
    }
    run = field.run("Alder", values, means={"AQWV": 0.45})
    refresh(field)
    low, high = interval(field, run, "AQWV")
    assert low == pytest.approx(1 - 0.25 - 20 * (0.01 + 0.01 * HIGH))
    assert high == pytest.approx(1 - 0.25 - 20 * (0.01 + 0.01 * LOW))
    assert [column.name for column in read(field).columns] == ["AQWV", "AP"]


def test_a_measure_of_the_whole_run_and_one_without_a_better_end_have_no_ranks(database: Database) -> None:
    field = of_twenty(database, ("AQWV", "MQWV", "NumRet"), beta=20.0)
    values = {"AQWV": HALF, "MQWV": [NAN] * 20, "NumRet": [10.0 + each for each in HALF]}
    run = field.run("Alder", values, means={"MQWV": 0.9})
    refresh(field)
    assert interval(field, run, "MQWV") == (None, None)
    assert (figures(field, "MQWV")["ranks"], figures(field, "MQWV")["rank_resamples"]) == ({}, 0)
    assert interval(field, run, "NumRet") == pytest.approx((200.0 + 20 * LOW, 200.0 + 20 * HIGH))
    assert figures(field, "NumRet")["ranks"] == {}


def test_hidden_queries_have_intervals_and_ranks_of_their_own(field: Field) -> None:
    with field.database.write() as session:
        evaluation = session.get_one(Evaluation, field.evaluations["2026"])
        set_split(session, CONSOLE, evaluation, [f"q{n}" for n in range(11, 21)], Split.HIDDEN)
    shown = [0.9, 1.0] * 5 + [NAN] * 10
    run = field.run("Alder", {"AP": shown}, hidden={"AP": HALF})
    level = about(0.8)
    other = field.run("Birch", {"AP": level[:10] + [NAN] * 10}, hidden={"AP": level})
    refresh(field)
    low, high = interval(field, run, subset=Subset.SHOWN)
    assert 0.9 < low < 0.95 < high < 1.0
    assert interval(field, run, subset=Subset.ALL) == ENDS
    first, second = str(field.scoring(run)), str(field.scoring(other))
    assert figures(field, subset=Subset.SHOWN)["ranks"] == {first: [1, 1], second: [2, 2]}
    assert figures(field, subset=Subset.ALL)["ranks"] == {first: [2, 2], second: [1, 1]}


@pytest.mark.parametrize("engine_name", ["sqlite"])  # what is computed
def test_a_large_board_has_fewer_resamples_and_compares_pairs_under_its_primary_measure_only(
    database: Database,
) -> None:
    """4,000 queries: 20 million draws are 5,000 resamples, and the pairs of 24 runs more than a million values."""
    field = (
        Field(database).campaign().evaluation(tags=[()] * 4000, qrels="".join(f"q{n} 0 d1 1\n" for n in range(1, 4001)))
    )
    for number in range(24):
        field.run(f"System {number}", {"AP": [0.5] * 4000, "P@5": [0.5] * 4000})
    refresh(field)
    assert (figures(field)["resamples"], figures(field)["rank_resamples"]) == (5_000, 5_000)
    assert set(map(tuple, figures(field)["ranks"].values())) == {(1, 24)}
    assert (figures(field, "P@5")["rank_resamples"], figures(field, "P@5")["ranks"]) == (0, {})


def test_a_board_is_due_after_whatever_changes_who_stands_on_it(field: Field) -> None:
    def withdraw_the_last() -> None:
        field.withdraw(run)

    def call_it_a_baseline() -> None:
        with field.database.write() as session:
            session.get_one(System, field.systems["Birch"]).kind = SystemKind.BASELINE

    def take_the_latest() -> None:
        with field.database.write() as session:
            session.scalars(sa.select(Campaign)).one().run_choice = RunChoice.LATEST

    field.run("Alder", {"AP": about(0.9)}, designation=Designation.PRIMARY)
    field.run("Alder", {"AP": about(0.8)})
    field.run("Birch", {"AP": about(0.5)})
    refresh(field)
    run = field.run("Cedar", {"AP": about(0.4)})
    standing = []
    for change in (lambda: None, withdraw_the_last, call_it_a_baseline, take_the_latest):
        change()
        assert due(field) == ["AP", "P@5"]
        refresh(field)
        standing.append([one for one in sets(field) if one[1] is not None])
    alder, birch = ("Alder", 1, (1, 1)), ("Birch", 2, (2, 2))
    assert standing == [[alder, birch, ("Cedar", 3, (3, 3))], [alder, birch], [alder], [alder]]


def test_a_new_set_is_due_when_it_takes_over(field: Field) -> None:
    field.run("Alder", {"AP": HALF})
    refresh(field)
    with field.database.write() as session:
        evaluation = session.get_one(Evaluation, field.evaluations["2026"])
        exclude_queries(session, CONSOLE, evaluation, ["q1"], "It was ambiguous.")
    assert due(field) == []  # the set that is building is on no board
    before = field.current_set().id
    with field.database.write() as session:
        switch(session, CONSOLE, session.scalars(sa.select(ScoringSet).where(ScoringSet.id != before)).one())
    assert due(field) == []  # nothing is scored in it yet
    field.run("Birch", {"AP": [NAN, *HALF[1:]]})
    assert due(field) == ["AP", "P@5"]
    refresh(field)
    assert sets(field) == [("Birch", 1, (1, 1))]


def test_what_was_refreshed_a_moment_ago_may_wait(field: Field) -> None:
    field.run("Alder", {"AP": HALF})
    refresh(field)
    field.run("Birch", {"AP": HALF})
    assert due(field, older_than=60) == []
    assert due(field) == ["AP", "P@5"]
    with field.database.write() as session:
        session.execute(sa.update(Board).values(refreshed_at=clock(-61)))
    assert due(field, older_than=60) == ["AP", "P@5"]


def test_figures_of_an_earlier_version_are_due(field: Field) -> None:
    field.run("Alder", {"AP": HALF})
    refresh(field)
    with field.database.write() as session:
        session.execute(sa.update(Board).where(Board.measure == "P@5").values(version=boards.FIGURES_VERSION - 1))
    assert due(field) == ["P@5"]


@pytest.mark.parametrize("engine_name", ["sqlite"])  # it is computed from what was read
def test_figures_that_differ_by_rounding_are_the_same_computed_anew_and_others_are_named(field: Field) -> None:
    """Sums run in another order on another host, or with another build of numpy."""
    for number, values in enumerate((HALF, OTHER_HALF)):
        field.run(f"S{number}", {"AP": values, "P@5": values})
    refresh(field)
    for factor, named in ((1 + 1e-12, []), (1 + 1e-6, ["queries, AP over all queries"])):
        with field.database.write() as session:
            kept = session.get_one(Board, (field.current_set().id, "AP", Subset.ALL))
            found = kept.figures["queries"]["detectable"]
            own = kept.figures["queries"] | {"detectable": found | {"deviation": found["deviation"] * factor}}
            kept.figures = kept.figures | {"queries": own}
        with field.database.read() as session:
            assert [what for _, _, what, _, _ in boards.recomputed(session)] == named
