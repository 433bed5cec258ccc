"""Next year's evaluation from this year's, and removing what was made by mistake."""

import datetime as dt
import io
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.audit.models import Event
from leaderboard.audit.verify import verify
from leaderboard.audit.writes import present
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.reads import what_goes
from leaderboard.db import Database
from leaderboard.errors import Conflict, InvalidFields
from leaderboard.evaluations import writes
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Opening
from leaderboard.formats import read_subtopic_judgments
from leaderboard.judgments import writes as judgments
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.judgments.writes import COPIED, exclude_queries
from leaderboard.submissions.models import Submission
from leaderboard.worker.models import ScoringSet
from tests.support.field import Field
from tests.support.refused import every_row, refused
from tests.support.world import judged


def _last(session: Session) -> Evaluation:
    return session.scalars(sa.select(Evaluation).order_by(Evaluation.id).limit(1)).one()


def _clone(field: Field, **changes: Any) -> Evaluation:
    with field.database.write() as session:
        return writes.clone_evaluation(session, CONSOLE, _last(session), **changes)


def test_a_clone_has_the_settings_of_last_year_and_dates_of_the_next(field: Field) -> None:
    with field.database.write() as session:
        last = writes.change_evaluation(
            session, CONSOLE, _last(session), time_zone="Europe/Berlin", details=Opening.NEVER, collection="wires",
            opens_at=dt.datetime(2026, 1, 9, tzinfo=dt.UTC), closes_at=dt.datetime(2026, 3, 28, 17, tzinfo=dt.UTC),
        )  # fmt: skip
    made = _clone(field)
    others = {name for name in writes.CHANGEABLE if getattr(made, name) != getattr(last, name)}
    assert others == {"period", "period_key", "title", "opens_at", "closes_at", "draft"}
    assert (made.slug, made.period, made.period_key, made.title) == ("2027", "2027", 2027, "The year 2027")
    assert made.closes_at == dt.datetime(2027, 3, 28, 16, tzinfo=dt.UTC)  # 18:00 in Berlin, now in summer time
    assert made.draft
    with field.database.read() as session:
        for table in (Query, JudgmentRevision, Submission):
            assert session.scalars(sa.select(table).where(table.evaluation_id == made.id)).all() == []
        assert verify(session).differences == []
    with refused(field.database, InvalidFields, "evaluation", match="'2026' can't be had here"):
        _clone(field, slug="2026")


def test_a_clone_takes_its_queries_along_where_that_is_asked_for(field: Field) -> None:
    with field.database.write() as session:
        exclude_queries(session, CONSOLE, _last(session), ["q2"], "asked twice")
    made = _clone(field, with_queries=True, draft=False, closes_at=None)
    assert (made.draft, made.closes_at) == (False, None)
    columns = [getattr(Query, name) for name in (*COPIED, "excluded_because")]
    with field.database.read() as session:
        last, next_ones = (
            session.execute(sa.select(*columns).where(Query.evaluation_id == id_).order_by(Query.position)).all()
            for id_ in (field.evaluations["2026"], made.id)
        )
        assert last == next_ones
        assert [row.excluded_because for row in next_ones if row.excluded_because] == ["asked twice"]
        assert verify(session).differences == []


@pytest.mark.parametrize(
    ("slug", "title", "period", "proposed"),
    [
        ("2026-text", "Text 2026", "2026", ("2027-text", "Text 2027", "2027", None)),
        ("text", "Text", "2026", ("text-2", "Text", "2027", None)),
        ("round-2", "Round 2 of 2024", "Round 2", ("round-2-2", "Round 2 of 2025", "Round 2", 8)),
    ],
)
def test_a_successor_is_named_by_the_next_year_at_an_address_that_is_free(
    database: Database, slug: str, title: str, period: str, proposed: tuple[str, str, str, int | None]
) -> None:
    field = (
        Field(database).campaign().evaluation(slug, period=period, **({} if period == "2026" else {"period_key": 7}))
    )
    field.change(title=title)
    with database.write() as session:
        names = writes.next_year(session, _last(session))
        assert tuple(names[name] for name in ("slug", "title", "period", "period_key")) == proposed
    assert _clone(field).period_key == (proposed[3] or 2027)
    assert _clone(field).slug != proposed[0]  # it is taken by now


def test_an_evaluation_without_runs_is_removed_with_its_judgments_and_one_with_runs_is_not(field: Field) -> None:
    field.run("Alder", {"AP": [0.5] * 4, "P@5": [0.2] * 4})
    before = every_row(field.database)
    with field.database.read() as session:
        made_up = verify(session).differences  # the figures of that run
    made = _clone(field, with_queries=True)
    with field.database.write() as session:
        clone = session.get_one(Evaluation, made.id)
        known, topics = judged("q1 0 d9 1\n"), read_subtopic_judgments(io.BytesIO(b"q1 1 d1 1\n"))
        judgments.import_judgments(
            session, CONSOLE, clone, JudgmentFiles(judged("q1 0 d1 1\nq2 0 d2 0\n"), known, topics)
        )
        judgments.import_judgments(session, CONSOLE, clone, JudgmentFiles(judged("q1 0 d1 1\n")), source="llm")
        writes.state_agreement(session, CONSOLE, clone, "use", "Use of the data", "For all.")
        # As the first result of last year's does. A copy that was made by mistake can still go.
        session.execute(sa.update(Campaign).values(locked_at=present()))
    with field.database.read() as session:
        assert what_goes(session, session.get_one(Evaluation, made.id)) == "4 queries and 3 judgments"
        for table in (ScoringSet, JudgmentRevision):
            assert len(session.scalars(sa.select(table.id).where(table.evaluation_id == made.id)).all()) == 2
    with field.database.write() as session:
        writes.remove_evaluation(session, CONSOLE, session.get_one(Evaluation, made.id))
    moved = {"event", "chain", "generation", "campaign"}
    assert {name: rows for name, rows in every_row(field.database).items() if name not in moved} == {
        name: rows for name, rows in before.items() if name not in moved
    }
    with field.database.read() as session:
        last = session.scalars(sa.select(Event).order_by(Event.id.desc())).first()
        assert last is not None
        assert (last.action, last.subject, last.subject_id) == ("remove", "evaluation", made.id)
        assert verify(session).differences == made_up
    with refused(field.database, Conflict, "evaluation", match="stay on record"), field.database.write() as session:
        writes.remove_evaluation(session, CONSOLE, _last(session))
