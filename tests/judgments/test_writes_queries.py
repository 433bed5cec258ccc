"""Queries: their positions, their split, and excluding them."""

from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.audit.verify import verify
from leaderboard.audit.writes import present
from leaderboard.errors import Conflict, InvalidFields, NotAllowed
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Split
from leaderboard.evaluations.writes import create_evaluation
from leaderboard.formats import QueryRow
from leaderboard.judgments import writes as judgments, writes as queries
from leaderboard.judgments.models import Query
from leaderboard.judgments.rules import JudgmentFiles
from tests.support.field import DAY
from tests.support.refused import every_row, refused
from tests.support.world import World, judged


def test_positions_are_handed_out_once_and_in_order(world: World) -> None:
    with world.organising() as (session, _, evaluation):
        queries.import_queries(
            session, CONSOLE, evaluation, [QueryRow("q9", "new", ("t",)), QueryRow("q1", "changed", ())]
        )
        queries.import_queries(session, CONSOLE, evaluation, [QueryRow("q9", "new", ("t",))])
    rows = world.all(sa.select(Query).order_by(Query.position))
    assert [(query.external_id, query.position) for query in rows] == [("q1", 0), ("q2", 1), ("q3", 2), ("q9", 3)]
    assert [query.text for query in rows] == ["changed", "text 2", "text 3", "new"]


def test_a_query_that_was_added_by_mistake_is_removed_before_judgments_and_runs_come(world: World) -> None:
    with world.organising() as (session, campaign, _):
        made = create_evaluation(session, CONSOLE, campaign, "2027", "Haven 2027", "2027", period_key=2027, documents=9)
        rows = [QueryRow(name, f"text of {name}", ()) for name in ("q1", "wrong", "q2", "q3")]
        queries.import_queries(session, CONSOLE, made, rows)
        number = made.id
    own = sa.select(Query).where(Query.evaluation_id == number).order_by(Query.position)
    with world.database.write() as session:
        made = session.get_one(Evaluation, number)
        with pytest.raises(InvalidFields, match="no query 'q9'"):
            queries.remove_queries(session, CONSOLE, made, ["q9"])
        assert [one.text for one in queries.remove_queries(session, CONSOLE, made, ["wrong"])] == ["text of wrong"]
    assert [(one.external_id, one.position) for one in world.all(own)] == [("q1", 0), ("q2", 1), ("q3", 2)]
    with world.database.write() as session:
        queries.import_queries(session, CONSOLE, session.get_one(Evaluation, number), [QueryRow("q4", "", ())])
    assert [one.position for one in world.all(own)] == [0, 1, 2, 3]
    with world.database.read() as session:
        assert verify(session).differences == []


def test_a_query_that_figures_may_rest_on_is_never_removed(world: World) -> None:
    judged_ones = refused(world.database, Conflict, "query", match="has judgments, so its queries stay")
    with judged_ones, world.organising() as (session, _, evaluation):
        queries.remove_queries(session, CONSOLE, evaluation, ["q1"])
    with world.organising() as (session, campaign, _):
        dates = {"opens_at": present() - DAY, "closes_at": present() + DAY}
        made = create_evaluation(session, CONSOLE, campaign, "2027", "Haven 2027", "2027", documents=9, **dates)
        queries.import_queries(session, CONSOLE, made, [QueryRow("q1", "one", ())])
        number = made.id
    world.submit(evaluation=number)
    asked = refused(world.database, Conflict, "query", match="has submissions, so its queries stay")
    with asked, world.database.write() as session:
        queries.remove_queries(session, CONSOLE, session.get_one(Evaluation, number), ["q1"])


def test_hidden_queries_count_for_organisers_only(world: World) -> None:
    submission = world.submit()
    with world.organising() as (session, _, evaluation):
        queries.set_split(session, CONSOLE, evaluation, ["q3"], Split.HIDDEN)
    world.drain()
    scores = {(score.measure, score.subset.value): score for score in world.scores(submission)}
    # q1: .5, q2: 1, q3: nothing relevant, 0.
    assert (scores["AP", "shown"].mean, scores["AP", "shown"].count) == (0.75, 2)
    assert (scores["AP", "all"].mean, scores["AP", "all"].count) == (0.5, 3)


def test_participants_import_and_exclude_nothing(world: World) -> None:
    def forbidden(session: Session, evaluation: Evaluation) -> Iterator[Callable[[], object]]:
        yield lambda: queries.import_queries(session, world.ada, evaluation, [QueryRow("q1", "changed", ())])
        yield lambda: queries.exclude_queries(session, world.ada, evaluation, ["q1"], "mine is bad")
        yield lambda: queries.include_queries(session, world.ada, evaluation, ["q2"])
        yield lambda: queries.set_split(session, world.ada, evaluation, ["q1"], Split.HIDDEN)
        yield lambda: queries.remove_queries(session, world.ada, evaluation, ["q1"])
        yield lambda: judgments.import_judgments(session, world.ada, evaluation, JudgmentFiles(judged("q1 0 d9 1\n")))
        yield lambda: evaluations.change_evaluation(session, world.ada, evaluation, daily_quota=1000)

    with world.organising() as (session, _, evaluation):
        queries.exclude_queries(session, CONSOLE, evaluation, ["q2"], "its text was garbled")
    before = every_row(world.database)
    with world.organising() as (session, _, evaluation):
        for attempt in forbidden(session, evaluation):
            with pytest.raises(NotAllowed):
                attempt()
    assert before["query"]
    assert every_row(world.database) == before


def test_an_excluded_query_leaves_every_mean_and_comes_back(world: World) -> None:
    submission = world.submit()
    with world.organising() as (session, _, evaluation):
        queries.exclude_queries(session, CONSOLE, evaluation, ["q1"], "its text was garbled")

    def mean() -> tuple[float | None, int]:
        world.drain()
        return {score.measure: (score.mean, score.count) for score in world.scores(submission)}["AP"]

    assert mean() == (0.5, 2)  # q2: 1, q3: 0
    with world.organising() as (session, _, evaluation):
        queries.include_queries(session, CONSOLE, evaluation, ["q1"])
    assert mean() == (0.5, 3)  # q1: .5, q2: 1, q3: 0
    assert world.all(sa.select(Query.excluded_because).where(Query.external_id == "q1")) == [""]
