"""How a board is cited, what a campaign's feed tells, and which row a badge shows."""

import datetime as dt
from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.rules import Visibility
from leaderboard.errors import NotFound
from leaderboard.evaluations.rules import Opening
from leaderboard.sharing import reads
from leaderboard.worker.models import ScoringSet
from tests.support.field import DAY, NOW, Field, about

QRELS = "q1 0 d1 1\nq2 0 d1 1\nq3 0 d2 1\nq4 0 d1 1\n"


def cite(field: Field, scoring_set: int, actor: Actor = VISITOR, now: dt.datetime = NOW) -> reads.Citation:
    with field.database.read() as session:
        return reads.citation(session, actor, "news", "2026", scoring_set, now)


def feed(field: Field, now: dt.datetime = NOW, actor: Actor = VISITOR) -> reads.Feed:
    with field.database.read() as session:
        return reads.feed(session, actor, "news", now)


def told(field: Field, now: dt.datetime = NOW) -> list[tuple[str, str]]:
    return [(event.evaluation.slug, event.kind) for event in feed(field, now).events]


def badge(field: Field, run: int, actor: Actor = VISITOR) -> Any:
    with field.database.read() as session:
        return reads.badge(session, actor, run, NOW)


def judged_again(field: Field, **more: Any) -> tuple[int, int, int]:
    """A run, the set that it was first scored by, and the one by other judgments."""
    run, first = field.run("Alder", {"AP": [0.8] * 4}), field.current_set().id
    return run, first, field.judge_again(QRELS, {run: {"AP": [0.5] * 4}}, **more)


def test_a_board_is_cited_by_the_day_from_which_it_has_stood_and_while_runs_are_taken_by_today(field: Field) -> None:
    """Closed a day ago; by other judgments since ten days ago, and since two."""
    run, first, second = judged_again(field)
    assert (cite(field, first).at, cite(field, first).board.words) == (NOW - 11 * DAY, "revision 1")
    for now in (NOW, NOW + DAY):
        assert cite(field, second, now=now).at == NOW - DAY + dt.timedelta(minutes=1)  # uploads may end until then
    assert cite(field, second, now=NOW - DAY * 1.5).at == NOW - DAY * 1.5
    third = field.judge_again(QRELS.replace("q4 0 d1 1", "q4 0 d1 0"), {run: {"AP": [0.6] * 4}}, at=NOW - DAY / 2)
    assert cite(field, third).at == NOW - DAY / 2


def test_a_citation_names_the_hash_of_judgments_that_are_open(field: Field) -> None:
    number = field.current_set().id
    assert cite(field, number).judgments_sha256 == ""
    field.change(judgments_published=True)
    assert len(cite(field, number).judgments_sha256) == 64
    field.change(closes_at=NOW + DAY)
    assert cite(field, number).judgments_sha256 == ""


def test_no_board_is_cited_that_its_reader_may_not_see(field: Field) -> None:
    _, _, beside = judged_again(field, source="llm")
    assert cite(field, beside).board.words == "revision 2 by llm"
    field.change(details=Opening.NEVER)
    with pytest.raises(NotFound):
        cite(field, beside)
    assert cite(field, beside, CONSOLE).board.source == "llm"


def test_a_feed_tells_of_openings_and_closings_once_they_have_happened(field: Field) -> None:
    field.change(opens_at=NOW, closes_at=NOW + DAY, grace_seconds=3600)
    with field.database.write() as session:
        session.execute(sa.text("UPDATE scoring_set SET switched_at = NULL"))
    assert told(field, NOW - DAY) == []
    assert told(field, NOW) == [("2026", "opened")]
    assert told(field, NOW + DAY) == [("2026", "opened")]  # uploads may still end
    assert told(field, NOW + DAY + dt.timedelta(hours=1)) == [("2026", "closed"), ("2026", "opened")]
    assert feed(field, NOW).updated == NOW


def test_a_feed_tells_of_each_board_and_what_was_different(field: Field) -> None:
    _, first, second = judged_again(field)
    events = feed(field).events
    assert [(event.kind, event.board and event.board.id) for event in events] == [
        ("closed", None), ("board", second), ("board", first), ("opened", None),
    ]  # fmt: skip
    assert [event.board.changes for event in events if event.board] == [("judgments of revision 2 instead of 1",), ()]


def test_a_feed_tells_nothing_of_drafts_and_of_campaigns_that_are_not_public(field: Field) -> None:
    field.evaluation("2027", draft=True)
    assert {slug for slug, _ in told(field)} == {"2026"}
    for hidden in (Visibility.PRIVATE, Visibility.DRAFT):
        with field.database.write() as session:
            session.scalars(sa.select(Campaign)).one().visibility = hidden
        with pytest.raises(NotFound):
            feed(field)


def test_a_feed_tells_of_the_board_and_not_of_what_stands_beside_it(field: Field) -> None:
    judged_again(field, source="llm")
    assert [event.board.source for event in feed(field).events if event.board] == ["assessors"]


def test_a_feed_tells_of_a_board_that_visitors_see_with_runs_once_it_is_open(field: Field) -> None:
    assert "board" not in [kind for _, kind in told(field)]  # judged, without a run
    field.run("Alder", {"AP": [0.8] * 4})
    assert [kind for _, kind in told(field)].count("board") == 1
    field.change(results=Opening.NEVER)
    assert "board" not in [kind for _, kind in told(field)]
    field.change(results=Opening.ALWAYS, opens_at=NOW + DAY, closes_at=NOW + 2 * DAY)
    assert told(field) == []
    with field.database.write() as session:
        session.scalars(sa.select(ScoringSet)).one().switched_at = NOW
    boards = [event.at for event in feed(field, NOW + DAY).events if event.board]
    assert boards == [NOW + DAY]  # judged before: there is no board before the opening


def test_a_badge_shows_the_row_of_the_runs_system(field: Field) -> None:
    field.evaluation("2027", tags=[()] * 20)
    runs = {
        name: field.run(name, {"AP": about(mean)}, evaluation="2027")
        for name, mean in {"Alder": 0.6, "Birch": 0.601, "Cedar": 0.1}.items()
    }
    contrast = field.run("Alder", {"AP": about(0.3)}, team="Team Alder", evaluation="2027")
    field.refresh()
    rows = {name: badge(field, run)[1] for name, run in runs.items()}
    assert {name: (row.rank, row.rank_set) for name, row in rows.items()} == {
        "Birch": (1, (1, 2)), "Alder": (2, (1, 2)), "Cedar": (3, (3, 3)),
    }  # fmt: skip
    assert badge(field, contrast)[1].entry.submission_id == runs["Alder"]


def test_there_is_no_badge_of_what_a_visitor_may_not_see(field: Field) -> None:
    run = field.run("Alder", {"AP": [0.8] * 4})
    assert badge(field, run)[1].rank == 1
    field.change(results=Opening.NEVER)
    with pytest.raises(NotFound):
        badge(field, run)
    field.change(results=Opening.ALWAYS)
    field.withdraw(run)
    with pytest.raises(NotFound):
        badge(field, run)
