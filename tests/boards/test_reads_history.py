"""Boards as they stood, what moved between two, and boards by several sources: who sees which, and what they say."""

import datetime as dt
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.audit.writes import present
from leaderboard.boards.models import Board
from leaderboard.boards.reads import breakdown, history as board_history
from leaderboard.boards.reads.board import BoardPage, BoardQuery, board
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Database
from leaderboard.errors import NotAllowed, NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Opening, Split
from leaderboard.evaluations.writes import change_evaluation
from leaderboard.judgments.models import Query
from leaderboard.judgments.writes import exclude_queries
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Designation, Ruling, RunChoice, SystemKind
from leaderboard.submissions.writes import submissions
from leaderboard.submissions.writes.submissions import hide_run, restore
from leaderboard.worker import writes as scoring_sets
from tests.support.databases import Filling, OwnDatabase
from tests.support.field import DAY, NAN, NOW, Field
from tests.support.standing import standing_by_the_rule, standing_kept

ORGANISER = CONSOLE
QRELS = "q1 0 d1 1\nq2 0 d1 1\nq3 0 d2 1\nq4 0 d1 1\n"


def old_board(
    field: Field, set_id: int, actor: Actor = VISITOR, now: dt.datetime = NOW, *, show: str | None = None
) -> BoardPage:
    with field.database.read() as session:
        return board(session, actor, "news", "2026", now, BoardQuery(set_id=set_id, show=show or ""))


def make_primary(field: Field, run: int) -> None:
    with field.database.write() as session:
        submissions.make_primary(session, CONSOLE, session.get_one(Submission, run))


def make_official(field: Field, source: str) -> None:
    with field.database.write() as session:
        scoring_sets.make_official(session, CONSOLE, session.scalars(sa.select(Evaluation)).one(), source)


def history(field: Field, actor: Actor = VISITOR, now: dt.datetime = NOW) -> board_history.BoardVersionsPage:
    with field.database.read() as session:
        return board_history.board_versions(session, actor, "news", "2026", now)


def what_moved(
    field: Field, one: int, other: int, actor: Actor = VISITOR, now: dt.datetime = NOW
) -> board_history.BoardDifference:
    with field.database.read() as session:
        return board_history.board_difference(session, actor, "news", "2026", one, other, now)


def side_by_side(field: Field, actor: Actor = VISITOR, now: dt.datetime = NOW) -> breakdown.SourcesPage:
    with field.database.read() as session:
        return breakdown.sources(session, actor, "news", "2026", now)


def means(page: BoardPage) -> dict[str, float | None]:
    return {row.entry.system.name: row.ranked_by.mean for row in page.rows}


def _revise(database: Database) -> tuple[dict[str, Any], int, int]:
    field = Field(database).campaign().evaluation()
    runs = [field.run(name, {"AP": [mean] * 4}) for name, mean in (("Alder", 0.8), ("Birch", 0.6), ("Cedar", 0.41))]
    first = field.current_set().id
    figures = dict(zip(runs, ({"AP": [mean] * 4} for mean in (0.5, 0.7, 0.5)), strict=True))
    second = field.judge_again(QRELS, figures)
    return {name: getattr(field, name) for name in ("evaluations", "teams", "systems")}, first, second


@pytest.fixture(scope="session")
def fill_revised() -> Filling:
    """Puts into a database what `revised` begins with."""
    return _revise


@pytest.fixture
def revised(database: Database, own_database: OwnDatabase, fill_revised: Filling) -> Iterator[tuple[Field, int, int]]:
    """Alder, Birch and Cedar by revision 1; by revision 2 Birch comes before Alder, and Cedar ties with Alder."""
    known, first, second = own_database.known
    yield Field(database, **known, _numbers=itertools.count(len(known["systems"]))), first, second
    assert standing_kept(database) == standing_by_the_rule(database)


def test_an_old_board_keeps_the_figures_that_it_had(revised: tuple[Field, int, int]) -> None:
    field, first, second = revised
    field.run("Dogwood", {"AP": [0.9] * 4})  # came later: it is on the board of today only
    assert means(old_board(field, first)) == {"Alder": 0.8, "Birch": 0.6, "Cedar": 0.41}
    page = old_board(field, second)
    assert means(page) == {"Dogwood": 0.9, "Birch": 0.7, "Alder": 0.5, "Cedar": 0.5}
    assert page.old is not None
    assert page.old.current
    newest, oldest = history(field).sets
    assert (newest.id, newest.current, newest.changes) == (second, True, ("judgments of revision 2 instead of 1",))
    assert (oldest.id, oldest.until, newest.before) == (first, NOW - 10 * DAY, first)


@pytest.fixture
def two_of_alder(field: Field) -> tuple[Field, list[int], int, int]:
    """Alder's primary run and a contrastive one with less, and Birch's, by two revisions; the sets of both."""
    runs = [
        field.run("Alder", {"AP": [0.8] * 4}, designation=Designation.PRIMARY),
        field.run("Alder", {"AP": [0.3] * 4}),
        field.run("Birch", {"AP": [0.6] * 4}),
    ]
    first = field.current_set().id
    figures = dict(zip(runs, ({"AP": [mean] * 4} for mean in (0.7, 0.2, 0.5)), strict=True))
    return field, runs, first, field.judge_again(QRELS, figures)


def test_an_old_board_keeps_the_run_that_stood_then(two_of_alder: tuple[Field, list[int], int, int]) -> None:
    field, (_, other, _), first, second = two_of_alder
    make_primary(field, other)
    assert means(old_board(field, second)) == {"Birch": 0.5, "Alder": 0.2}
    page = old_board(field, first)
    assert [(row.rank, row.entry.system.name, row.ranked_by.mean) for row in page.rows] == [
        (1, "Alder", 0.8), (2, "Birch", 0.6),
    ]  # fmt: skip
    assert sorted(row.entry.submission_id for row in old_board(field, first, show="all").rows) == [1, 2, 3]
    # What moved goes from the one run to the other, says so, and lays none of it to the judgments.
    page = what_moved(field, first, second)
    rows = [
        (one.system.name, one.submission_id, one.another_run, one.before.mean, one.after.mean, one.places)
        for one in page.rows
    ]
    assert rows == [("Birch", 3, False, 0.6, 0.5, None), ("Alder", other, True, 0.8, 0.2, None)]
    assert page.apart == ("Not ranked by the same run on both boards: Alder.",)
    assert (page.order.systems, page.order.tau, page.order.tau_ap) == (1, None, None)


def test_the_place_of_a_run_that_was_taken_off_since_is_empty_on_an_old_board(
    two_of_alder: tuple[Field, list[int], int, int],
) -> None:
    field, (stood, _, _), first, second = two_of_alder
    with field.database.write() as session:
        hide_run(session, CONSOLE, session.get_one(Submission, stood), Ruling.HIDDEN, "asked to", holds_place=False)
    assert means(old_board(field, second)) == {"Birch": 0.5, "Alder": 0.2}
    assert means(old_board(field, first)) == {"Birch": 0.6}
    with field.database.write() as session:
        restore(session, CONSOLE, session.get_one(Submission, stood))
    assert means(old_board(field, first)) == {"Birch": 0.6, "Alder": 0.8}


def test_a_source_that_was_the_official_one_is_told_as_it_stood_while_details_are_closed(field: Field) -> None:
    runs = [field.run("Alder", {"AP": [mean] * 4}) for mean in (0.8, 0.3)]
    first = field.current_set().id
    beside = field.judge_again(QRELS, {run: {"AP": [0.5] * 4} for run in runs}, source="llm")
    make_official(field, "llm")
    make_primary(field, runs[1])
    later = present() + DAY
    # Beside the official one it goes on: by both sources the same runs are compared.
    assert means(old_board(field, first, now=later)) == {"Alder": 0.3}
    (row,) = side_by_side(field, now=later).rows
    assert (row.mean, *row.cells) == (0.5, breakdown.Cell(0.3, 1, runs[1]))
    field.change(details=Opening.NEVER)
    assert means(old_board(field, first, now=later)) == {"Alder": 0.8}
    make_official(field, "assessors")
    assert means(old_board(field, first, now=later)) == {"Alder": 0.3}
    assert means(old_board(field, beside, now=later)) == {"Alder": 0.5}


def test_a_switch_of_the_official_source_and_back_is_told_with_its_times_and_what_moved(field: Field) -> None:
    runs = [field.run(name, {"AP": [mean] * 4}) for name, mean in (("Alder", 0.8), ("Birch", 0.6), ("Cedar", 0.4))]
    first = field.current_set().id
    figures = dict(zip(runs, ({"AP": [mean] * 4} for mean in (0.3, 0.5, 0.2)), strict=True))
    other = field.judge_again(QRELS, figures, source="llm")
    make_official(field, "llm")
    make_official(field, "assessors")
    later = present() + DAY
    back, by_llm = history(field, now=later).sets
    assert [(one.id, one.words, one.current, one.beside) for one in (back, by_llm)] == [
        (first, "revision 1", True, False), (other, "revision 2 by llm", False, True),
    ]  # fmt: skip
    ((_, ended), now_stands), (went_by,) = ([(time.since, time.until) for time in one.shown] for one in (back, by_llm))
    assert (went_by, now_stands) == ((ended, back.since), (by_llm.until, None))
    assert [one.before for one in (back, by_llm)] == [other, None]
    assert back.changes == ("judgments by assessors instead of llm",)
    # Alder and Birch change places by the first switch, one pair of three, and change back by the second.
    page = what_moved(field, first, other, now=later)
    assert [(one.system.name, one.rank_before, one.rank, one.before.mean, one.after.mean) for one in page.rows] == [
        ("Birch", 2, 1, 0.6, 0.5), ("Alder", 1, 2, 0.8, 0.3), ("Cedar", 3, 3, 0.4, 0.2),
    ]  # fmt: skip
    assert (page.order.pairs, page.order.swapped) == (3, 1)
    assert page.order.tau == pytest.approx((2 - 1) / 3)
    assert what_moved(field, other, first, now=later).order.swapped == 1
    # While single queries are closed, only sets are told of that all saw the board of.
    field.change(details=Opening.NEVER)
    assert [one.words for one in history(field, now=later).sets] == ["revision 1", "revision 2 by llm"]


def test_of_systems_that_become_one_an_old_board_shows_one_of_the_runs_that_stood(field: Field) -> None:
    runs = [field.run("Alder", {"AP": [mean] * 4}) for mean in (0.8, 0.3)]
    other = field.run("Alder of old", {"AP": [0.6] * 4})
    alone = field.run("Birch of old", {"AP": [0.4] * 4}, team="Team Alder of old")
    first = field.current_set().id
    field.judge_again(QRELS, {run: {"AP": [0.5] * 4} for run in (*runs, other, alone)})
    make_primary(field, runs[1])
    with field.database.write() as session:
        session.get_one(Submission, other).system_id = field.systems["Alder"]
        session.get_one(Submission, alone).system_id = field.systems["Alder of old"]
    # The rule of today, between the two that stood: neither is primary, and the first one was scored first.
    assert means(old_board(field, first)) == {"Alder": 0.8, "Alder of old": 0.4}


def test_what_moved_says_ranks_means_and_pairs_that_changed_places(revised: tuple[Field, int, int]) -> None:
    field, first, second = revised
    page = what_moved(field, first, second)
    rows = [(one.system.name, one.rank_before, one.rank, one.places) for one in page.rows]
    assert rows == [("Birch", 2, 1, 1), ("Alder", 1, 2, -1), ("Cedar", 3, 2, 1)]
    order = page.order
    # Of three pairs Alder–Birch is reversed, Alder–Cedar ties now, Birch–Cedar stays.
    assert (order.systems, order.pairs, order.swapped, order.parted) == (3, 3, 1, 1)
    assert order.tau == pytest.approx((1 - 1) / (3 * 2) ** 0.5)
    # τ_AP: below the first of the new order (Birch) stand Alder, above whom Birch was not, and Cedar, above whom both
    # others were: 2 / 2 · (0 / 1 + 2 / 2) − 1.
    assert order.tau_ap == pytest.approx(0.0)
    assert order.leaders == (("Alder",), ("Birch",))
    assert order.largest == 1
    assert page.changes == ("judgments of revision 2 instead of 1",)
    assert page.apart == ()
    unmoved = what_moved(field, second, second)
    assert (unmoved.order.swapped, unmoved.order.tau_ap, unmoved.changes) == (0, 1.0, ())


@pytest.mark.parametrize("rule", list(RunChoice))
def test_what_moved_is_the_same_by_the_means_that_boards_keep_and_by_the_runs_figures(
    database: Database, rule: RunChoice
) -> None:
    field = Field(database, measures=("AP", "P@5")).campaign(run_choice=rule).evaluation(tags=[()] * 4)
    runs = [
        field.run(name, {"AP": [ap] * 4, "P@5": [p] * 4})
        for name, ap, p in (("Alder", 0.8, 0.2), ("Birch", 0.61, 0.6), ("Alder", 0.7, 0.7), ("Cedar", 0.58, 0.9))
    ]
    field.refresh()
    first = field.current_set().id
    means = zip(runs, ((0.3, 0.4), (0.9, 0.5), (0.6, 0.8), (0.3, NAN)), strict=True)
    second = field.judge_again(QRELS, {run: {"AP": [ap] * 4, "P@5": [p] * 4} for run, (ap, p) in means})
    field.refresh()
    field.run("Dogwood", {"AP": [0.5] * 4, "P@5": [0.5] * 4})  # is in no board's row yet

    def of_both() -> list[board_history.BoardDifference]:
        """By all digits of the means, and by rounded ones."""
        found = []
        for details in (Opening.ALWAYS, Opening.NEVER):
            field.change(details=details)
            found.append(what_moved(field, first, second))
        return found

    kept = of_both()
    with field.database.write() as session:
        session.execute(sa.delete(Board))
    assert of_both() == kept
    # Of Alder the first run stands by the first rule, the second by the others; Cedar has no P@5 any more.
    leader = "Birch" if rule is RunChoice.PRIMARY else "Alder"
    for page in kept:
        assert (page.orders[1].systems, page.orders[1].leaders) == (2, ((leader,), (leader,)))


def test_a_move_is_that_among_the_systems_that_stand_on_both_boards(revised: tuple[Field, int, int]) -> None:
    field, first, second = revised
    field.run("Dogwood", {"AP": [0.9] * 4})  # came later, and leads
    with field.database.write() as session:
        alder = session.get_one(Submission, 1)
        hide_run(session, CONSOLE, alder, Ruling.DISQUALIFIED, "not a run", holds_place=False)
    page = what_moved(field, first, second)
    # By the boards Birch falls from 1 to 2; but Alder led then, and Dogwood was not there.
    rows = [(one.system.name, one.rank_before, one.rank, one.places) for one in page.rows]
    assert rows == [("Dogwood", None, 1, None), ("Birch", 1, 2, 0), ("Cedar", 2, 3, 0)]
    assert (page.order.systems, page.order.changed, page.order.leaders) == (2, False, (("Birch",), ("Birch",)))
    assert page.order.largest == 0
    assert page.apart == ("Not ranked by the same run on both boards: Dogwood.",)  # of Alder neither board tells


def test_what_moved_shows_the_run_in_time_of_a_system_that_has_a_late_one_too(field: Field) -> None:
    """That is the one that is ranked, whichever rule chooses."""
    runs = [
        field.run("Alder", {"AP": [mean] * 4}, received_at=when)
        for mean, when in ((0.4, NOW - 2 * DAY), (0.6, NOW - 2 * DAY), (0.9, NOW))
    ]
    field.run("Birch", {"AP": [0.5] * 4})
    first = field.current_set().id
    second = field.judge_again(QRELS, {run: {"AP": [0.7] * 4} for run in runs}, at=NOW)
    for rule, stands, before in ((RunChoice.PRIMARY, 0, 0.4), (RunChoice.BEST, 1, 0.6), (RunChoice.LATEST, 1, 0.6)):
        with field.database.write() as session:
            session.execute(sa.update(Campaign).values(run_choice=rule))
        alder = what_moved(field, first, second).rows[0]
        assert (alder.submission_id, alder.rank, alder.before.mean, alder.after.mean) == (runs[stands], 1, before, 0.7)


def test_what_moved_names_nobody_elses_system_in_an_anonymous_period(revised: tuple[Field, int, int]) -> None:
    field, first, second = revised
    field.run("Term matching", {"AP": [0.1] * 4}, kind=SystemKind.BASELINE)
    field.change(anonymous_until=NOW + DAY)
    page = what_moved(field, first, second, field.member("Team Birch"))
    birch, one, other, baseline = (row.system for row in page.rows)
    assert (birch.name, birch.team, baseline.name) == ("Birch", "Team Birch", "Term matching")
    for system in (one, other):
        assert (system.name.split()[0], system.team, system.team_slug, system.slug) == ("Anonymous", "", "", "")
    assert one.name != other.name
    ((led_before,), led_after) = page.order.leaders
    assert led_before in {one.name, other.name}
    assert led_after == ("Birch",)


def test_while_details_are_closed_what_moved_is_made_of_rounded_figures_only(revised: tuple[Field, int, int]) -> None:
    field, first, second = revised
    field.change(details=Opening.NEVER)
    page = what_moved(field, first, second)
    assert page.rounded
    # Four queries give one decimal: 0.41 reads 0.4.
    assert {one.system.name: one.before.mean for one in page.rows}["Cedar"] == 0.4
    assert not what_moved(field, first, second, ORGANISER).rounded
    # Two systems that read alike share a rank, and so no pair of them has moved.
    with field.database.write() as session:
        session.execute(sa.text("UPDATE score SET mean = 0.84 WHERE mean = 0.8"))
        session.execute(sa.text("UPDATE score SET mean = 0.8 WHERE mean = 0.6"))
    assert what_moved(field, first, second).order.parted == 2
    assert what_moved(field, first, second, ORGANISER).order.swapped == 1


def test_while_details_are_closed_an_old_board_tells_what_it_told_while_it_stood(field: Field) -> None:
    run = field.run("Alder", {"AP": [0.8] * 4})
    first = field.current_set().id
    field.judge_again(QRELS, {run: {"AP": [0.5] * 4}})
    # It was replaced before closing, while results were closed: nobody but the organisers saw it.
    field.change(results=Opening.CLOSED, details=Opening.NEVER, own_results=False)
    assert old_board(field, first).rows == ()
    assert means(old_board(field, first, ORGANISER)) == {"Alder": 0.8}
    # A team that saw its own figures then may see them still, and nobody else may.
    field.change(own_results=True)
    assert means(old_board(field, first, field.member("Team Alder"))) == {"Alder": 0.8}
    assert old_board(field, first).rows == ()
    # Once single queries are open there is nothing left to keep.
    field.change(details=Opening.CLOSED)
    assert means(old_board(field, first)) == {"Alder": 0.8}


def test_a_board_that_nobody_was_shown_is_the_organisers_own(field: Field) -> None:
    run = field.run("Alder", {"AP": [0.8] * 4})
    beside = field.judge_again(QRELS, {run: {"AP": [0.5] * 4}}, source="llm")
    field.change(details=Opening.NEVER)
    with pytest.raises(NotFound):
        old_board(field, beside)
    with pytest.raises(NotFound):
        what_moved(field, field.current_set().id, beside)
    with pytest.raises(NotAllowed):
        side_by_side(field)
    assert [one.source for one in history(field).sets] == ["assessors"]
    assert means(old_board(field, beside, ORGANISER)) == {"Alder": 0.5}


def _without_q4(field: Field, _: str) -> None:
    with field.database.write() as session:
        exclude_queries(session, CONSOLE, session.scalars(sa.select(Evaluation)).one(), ["q4"], "garbled")


def _from_level(field: Field, level: str) -> None:
    with field.database.write() as session:
        change_evaluation(session, CONSOLE, session.scalars(sa.select(Evaluation)).one(), relevance_level=int(level))


@pytest.mark.parametrize(
    ("change", "to", "words"),
    [
        (_without_q4, "", ("queries that count: 3 instead of 4", "excluded queries: q4 instead of none")),
        (
            _from_level,
            "2",
            ("the lowest relevant grade: 2 instead of 1", "measures: AP(rel=2) instead of AP"),
        ),
    ],
    ids=["an excluded query", "another level"],
)
def test_what_moved_is_told_of_every_change_that_scores_anew(
    database: Database, change: Callable[[Field, str], None], to: str, words: tuple[str, ...]
) -> None:
    field = (
        Field(database, measures=("AP",))
        .campaign()
        .evaluation(qrels="".join(f"q{query} 0 d{grade} {grade}\n" for query in range(1, 5) for grade in (1, 2)))
    )
    runs = [field.run(name, {"AP": [mean] * 4}) for name, mean in (("Alder", 0.8), ("Birch", 0.6))]
    first = field.current_set().id
    change(field, to)
    measure = "AP(rel=2)" if change is _from_level else "AP"
    second = field.score_again(dict(zip(runs, ({measure: [mean] * 4} for mean in (0.5, 0.7)), strict=True)))
    page = what_moved(field, first, second)
    assert page.changes == words
    assert page.judgments is None  # they are the same
    rows = [(one.system.name, one.before.mean, one.after.mean, one.places) for one in page.rows]
    assert rows == [("Birch", 0.6, 0.7, 1), ("Alder", 0.8, 0.5, -1)]
    assert (page.order.swapped, page.order.tau) == (1, -1.0)
    assert (page.column_before.name, page.column.name) == ("AP", measure)


def test_what_moved_counts_the_judgments_that_changed_for_whoever_may_see_single_queries(field: Field) -> None:
    """Revision 1 has q1 d1, q2 d1 d2, q3 d1 to d3 and q4 d1 to d4, all of grade 1."""
    run = field.run("Alder", {"AP": [0.8] * 4})
    first = field.current_set().id
    second = field.judge_again("q1 0 d1 2\nq2 0 d1 1\nq2 0 d2 0\nq3 0 d9 1\nq4 0 d1 1\n", {run: {"AP": [0.5] * 4}})
    # q3 d9 is new; all three of q3 and d2 to d4 of q4 are gone; q1 d1 and q2 d2 have other grades; two stay.
    assert what_moved(field, first, second).judgments == board_history.Rejudged(added=1, removed=6, regraded=2, same=2)
    assert what_moved(field, second, first).judgments == board_history.Rejudged(added=6, removed=1, regraded=2, same=2)
    assert what_moved(field, second, second).judgments is None
    # A query that is still hidden is no part of what a visitor is told.
    with field.database.write() as session:
        session.execute(sa.update(Query).where(Query.external_id == "q4").values(split=Split.HIDDEN))
    field.change(hidden_queries=Opening.NEVER)
    assert what_moved(field, first, second).judgments == board_history.Rejudged(added=1, removed=3, regraded=2, same=1)
    assert what_moved(field, first, second, ORGANISER).judgments == board_history.Rejudged(
        added=1, removed=6, regraded=2, same=2
    )
    field.change(details=Opening.NEVER)
    assert what_moved(field, first, second).judgments is None


def test_sources_stand_side_by_side_with_how_they_agree(field: Field) -> None:
    runs = [field.run(name, {"AP": [mean] * 4}) for name, mean in (("Alder", 0.8), ("Birch", 0.6), ("Cedar", 0.4))]
    by_model = ({"AP": [mean] * 4} for mean in (0.7, 0.6, 0.9))
    field.judge_again(QRELS, dict(zip(runs, by_model, strict=True)), source="llm")
    page = side_by_side(field)
    assert [(one.source, one.official) for one in page.sources] == [("assessors", True), ("llm", False)]
    assert [(row.system.name, row.rank, [cell.rank for cell in row.cells]) for row in page.rows] == [
        ("Alder", 1, [2]), ("Birch", 2, [3]), ("Cedar", 3, [1]),
    ]  # fmt: skip
    (order,) = [one.order for one in page.agreements]
    # Cedar went past both others: of three pairs two are reversed.
    assert (order.swapped, order.tau) == (2, pytest.approx(-1 / 3))
    # By the model's order Cedar, Alder, Birch: 2 / 2 · (0 / 1 + 1 / 2) − 1.
    assert order.tau_ap == pytest.approx(-0.5)
    assert order.largest == 2
    # No document of q1 to q4 has two grades by either source.
    assert page.agreements[0].judging is not None
    assert page.agreements[0].judging.relevant.value is None


def test_sources_say_how_their_judgments_agree_over_the_queries_that_a_reader_may_know_of(field: Field) -> None:
    """The assessors have q1 d1, q2 d1 d2, q3 d1 to d3 and q4 d1 to d4, all of grade 1."""
    run = field.run("Alder", {"AP": [0.8] * 4})
    field.judge_again("q1 0 d1 0\nq2 0 d1 1\nq2 0 d2 2\nq3 0 d9 1\nq4 0 d1 0\nq4 0 d2 1\n", {run: {}}, source="llm")
    ((agreement,),) = [side_by_side(field).agreements]
    judging = agreement.judging
    assert judging is not None
    assert (judging.documents, judging.queries, judging.same, judging.level) == (5, 3, 2, 1)
    assert (judging.grades, judging.counts) == ((0, 1, 2), ((0, 0, 0), (2, 2, 1), (0, 0, 0)))
    assert judging.linear == (0.0, None, None)  # the assessors' grades are all one: as by chance, whoever judges again
    with field.database.write() as session:
        session.execute(sa.update(Query).where(Query.external_id == "q4").values(split=Split.HIDDEN))
    field.change(hidden_queries=Opening.NEVER)
    counted = [side_by_side(field, actor).agreements[0].judging for actor in (VISITOR, ORGANISER)]
    assert [each and each.documents for each in counted] == [3, 5]
    with field.database.write() as session:
        evaluation = session.scalars(sa.select(Evaluation)).one()
        exclude_queries(session, CONSOLE, evaluation, ["q2"], "two needs in one")
    judging = side_by_side(field, ORGANISER).agreements[0].judging
    assert judging is not None
    assert judging.documents == 3
