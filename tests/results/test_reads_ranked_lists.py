"""The ranked list of one run on one query, from the columnar copy that a real worker kept."""

import datetime as dt

import pytest

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.audit.writes import present
from leaderboard.campaigns import writes as campaigns
from leaderboard.errors import NotAllowed, NotFound
from leaderboard.evaluations.rules import Judging, Opening
from leaderboard.results.reads.queries import RankedListPage, ranked_list
from tests.support.world import World


def read(world: World, run: int, query: str, actor: Actor = VISITOR) -> RankedListPage:
    with world.database.read() as session:
        return ranked_list(session, actor, world.store, run, query, present())


@pytest.fixture
def opened(world: World) -> World:
    """Single queries are open to all; q1 has d1 relevant, d2 judged not relevant and d9 relevant."""
    world.judge("q1 0 d1 1\nq1 0 d2 0\nq1 0 d9 1\nq2 0 d3 1\nq3 0 d4 0\n")
    world.change_evaluation(details=Opening.ALWAYS)
    return world


def test_documents_stand_in_scoring_order_with_their_grades(opened: World) -> None:
    # The rank column of the file is never used; equal scores go by document id, the last one first.
    run = opened.submit("q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.9 t\nq1 Q0 d7 3 0.5 t\nq2 Q0 d3 1 1 t\nq3 Q0 d4 1 1 t\n")
    opened.drain()
    page = read(opened, run, "q1")
    assert [(line.rank, line.document, line.score, line.grade, line.relevant) for line in page.lines] == [
        (1, "d2", 0.9, 0, False), (2, "d7", 0.5, None, False), (3, "d1", 0.5, 1, True),
    ]  # fmt: skip
    assert (page.retrieved, page.found, page.relevant, page.unjudged, page.returned_by) == (3, 1, 2, 1, "all")
    assert (page.previous, page.next) == (None, "q2")


def test_a_threshold_returns_the_same_documents_on_the_page_and_in_its_figure(opened: World) -> None:
    """Under compatibility 9 scores and θ are 32-bit numbers: 0.3 reaches a θ that is larger in 64 bits only."""
    with opened.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, compat=9)
    run = opened.submit("q1 Q0 d1 1 0.3 t\nq1 Q0 d2 2 0.2 t\n", threshold=0.3 + 1e-9)
    opened.drain()
    page = read(opened, run, "q1")
    figures = {column.name: value for column, value in zip(page.columns, page.values, strict=True)}
    assert figures["AQWV"] == 0.5  # d1 of the two relevant documents is returned, and no other
    assert [(line.document, line.returned) for line in page.lines] == [("d1", True), ("d2", False)]
    assert page.returned == 1


def test_decisions_say_what_is_returned(opened: World) -> None:
    run = opened.submit("q1\td1\tY\t0.5\nq1\td2\tN\t0.9\n")
    opened.drain()
    page = read(opened, run, "q1")
    assert [(line.document, line.returned) for line in page.lines] == [("d2", False), ("d1", True)]
    assert (page.returned_by, page.returned) == ("decisions", 1)


def test_missed_relevant_documents_are_listed_only_where_judgments_may_be_seen(opened: World) -> None:
    run = opened.submit("q1 Q0 d1 1 0.5 t\n")
    opened.drain()
    assert read(opened, run, "q1").missed == ()
    assert [(one.document, one.grade) for one in read(opened, run, "q1", CONSOLE).missed] == [("d9", 1)]
    opened.change_evaluation(judgments_published=True)
    assert read(opened, run, "q1").missed == ()  # it has not closed
    opened.change_evaluation(closes_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    assert [one.document for one in read(opened, run, "q1").missed] == ["d9"]


def test_a_missing_query_has_an_empty_list(opened: World) -> None:
    run = opened.submit("q1 Q0 d1 1 0.5 t\n")
    opened.drain()
    page = read(opened, run, "q2")
    assert (page.lines, page.retrieved, page.relevant) == ((), 0, 1)


def test_a_list_may_not_be_seen_while_details_are_closed_not_even_by_its_team(world: World) -> None:
    run = world.submit()
    world.drain()
    for actor in (VISITOR, world.ada):
        with pytest.raises(NotAllowed, match="give the judgments away"):
            read(world, run, "q1", actor)
    assert read(world, run, "q1", CONSOLE).retrieved == 2


def test_what_is_not_there_is_not_found(opened: World) -> None:
    run = opened.submit()
    with pytest.raises(NotFound):
        read(opened, run, "q1", CONSOLE)  # not scored yet
    opened.drain()
    with pytest.raises(NotFound):
        read(opened, run, "q9")
    with pytest.raises(NotFound):
        read(opened, run + 1, "q1")


def test_where_judgments_are_complete_nothing_is_unjudged(opened: World) -> None:
    opened.change_evaluation(judging=Judging.COMPLETE)
    run = opened.submit("q1 Q0 d1 1 0.5 t\nq1 Q0 d7 2 0.4 t\n")
    opened.drain()
    page = read(opened, run, "q1")
    assert [(line.document, line.grade, line.relevant) for line in page.lines] == [("d1", 1, True), ("d7", None, False)]
    assert (page.complete, page.unjudged) == (True, 0)
