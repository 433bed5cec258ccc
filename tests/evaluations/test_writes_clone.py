"""Next year's evaluation from this year's, and removing what was made by mistake."""

import datetime as dt
import io

import pytest
import sqlalchemy as sa

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
from leaderboard.judgments.writes import COPIED, exclude_queries
from leaderboard.submissions.models import Submission
from leaderboard.worker.models import ScoringSet
from tests.support.field import Field
from tests.support.refused import every_row, refused
from tests.support.world import judged


def _evaluation(field: Field, slug: str) -> Evaluation:
    with field.database.read() as session:
        return session.scalars(sa.select(Evaluation).where(Evaluation.slug == slug)).one()


def _clone(field: Field, slug: str = "2027", **changes: object) -> Evaluation:
    with field.database.write() as session:
        last = session.scalars(sa.select(Evaluation).where(Evaluation.slug == "2026")).one()
        return writes.clone_evaluation(session, CONSOLE, last, slug=slug, **changes)


def test_a_clone_has_the_settings_of_last_year_and_dates_of_the_next(field: Field) -> None:
    with field.database.write() as session:
        writes.change_evaluation(
            session,
            CONSOLE,
            session.scalars(sa.select(Evaluation)).one(),
            time_zone="Europe/Berlin",
            opens_at=dt.datetime(2026, 1, 9, tzinfo=dt.UTC),
            closes_at=dt.datetime(2026, 3, 28, 17, tzinfo=dt.UTC),
            details=Opening.NEVER,
            collection="wires",
        )
    made = _clone(field)
    old = _evaluation(field, "2026")
    moved = ("period", "period_key", "title", "opens_at", "closes_at", "draft")
    for name in writes.CHANGEABLE:
        if name not in moved:
            assert getattr(made, name) == getattr(old, name), name
    assert (made.period, made.period_key, made.title) == ("2027", 2027, "The year 2027")
    assert made.closes_at == dt.datetime(2027, 3, 28, 16, tzinfo=dt.UTC)  # 18:00 in Berlin, now in summer time
    assert made.draft
    with field.database.read() as session:
        for table in (Query, JudgmentRevision, Submission):
            rows = sa.select(table).where(table.evaluation_id == made.id)
            assert session.scalars(rows).all() == []
        assert verify(session).differences == []


def test_a_clone_takes_its_queries_along_where_that_is_asked_for(field: Field) -> None:
    with field.database.write() as session:
        exclude_queries(session, CONSOLE, session.scalars(sa.select(Evaluation)).one(), ["q2"], "asked twice")
    made = _clone(field, with_queries=True, draft=False, closes_at=None)
    assert (made.draft, made.closes_at) == (False, None)
    with field.database.read() as session:
        of = {
            slug: session.execute(
                sa.select(
                    *(getattr(Query, name) for name in COPIED), Query.excluded_at.is_not(None).label("is_excluded")
                )
                .join(Evaluation, Evaluation.id == Query.evaluation_id)
                .where(Evaluation.slug == slug)
                .order_by(Query.position)
            ).all()
            for slug in ("2026", "2027")
        }
        assert of["2026"] == of["2027"] != []
        assert [(row.external_id, row.excluded_because) for row in of["2027"] if row.is_excluded] == [
            ("q2", "asked twice")
        ]
        assert verify(session).differences == []


def test_a_clone_under_a_name_that_is_taken_is_refused(field: Field) -> None:
    with refused(field.database, InvalidFields, "evaluation", match="'2026' can't be had here"):
        _clone(field, "2026")


@pytest.mark.parametrize(
    ("title", "period", "proposed"),
    [
        ("Round 2", "Round 2", ("round-3", "Round 3", "Round 3")),
        ("2 tasks of 2024, round 09", "Round 09", ("round-10", "2 tasks of 2024, round 10", "Round 10")),
        ("The pilot", "Pilot", ("pilot-2", "The pilot", "Pilot")),
    ],
)
def test_a_round_without_a_year_is_followed_by_the_next_round(
    database: Database, title: str, period: str, proposed: tuple[str, str, str]
) -> None:
    field = Field(database)
    field.campaign()
    field.evaluation(period.lower().replace(" ", "-"), period=period, period_key=7)
    with database.write() as session:
        found = session.scalars(sa.select(Evaluation)).one()
        found.title = title
        names = writes.next_year(session, found)
        assert (names["slug"], names["title"], names["period"], names["period_key"]) == (*proposed, 8)
        made = writes.clone_evaluation(session, CONSOLE, found)
        assert made.period_key == 8


@pytest.mark.parametrize(
    ("slug", "period", "proposed"),
    [
        ("2026-text", "2026", ("2027-text", "2027-text-2")),
        ("text", "2026", ("text-2027", "text-2027-2")),
        ("text", "round 1", ("text-round-2", "text-round-2-2")),
        ("text", "輪", ("text-2", "text-3")),
    ],
)
def test_the_slug_that_is_proposed_for_a_clone_is_free(
    database: Database, slug: str, period: str, proposed: tuple[str, ...]
) -> None:
    field = Field(database)
    field.campaign()
    field.evaluation(slug, period=period, **({} if period == "2026" else {"period_key": 1}))
    for expected in proposed:
        with database.write() as session:
            found = session.scalars(sa.select(Evaluation).where(Evaluation.slug == slug)).one()
            names = writes.next_year(session, found)
            assert names["slug"] == expected
            writes.clone_evaluation(session, CONSOLE, found, slug=expected)


def test_an_evaluation_without_runs_is_removed_with_its_judgments_and_one_with_runs_is_not(field: Field) -> None:
    field.run("Alder", {"AP": [0.5] * 4, "P@5": [0.2] * 4})
    before = every_row(field.database)
    with field.database.read() as session:
        made_up = verify(session).differences  # the figures of that run
    made = _clone(field, with_queries=True)
    with field.database.write() as session:
        found = session.get_one(Evaluation, made.id)
        known, topics = judged("q1 0 d9 1\n"), read_subtopic_judgments(io.BytesIO(b"q1 1 d1 1\n"))
        judgments.import_judgments(session, CONSOLE, found, judged("q1 0 d1 1\nq2 0 d2 0\n"), "", known, topics)
        judgments.import_judgments(session, CONSOLE, found, judged("q1 0 d1 1\n"), source="llm")
        writes.state_agreement(session, CONSOLE, found, "use", "Use of the data", "For all.")
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
        found = session.scalars(sa.select(Evaluation).where(Evaluation.slug == "2026")).one()
        writes.remove_evaluation(session, CONSOLE, found)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "berlin"])
def test_a_time_zone_that_nobody_knows_is_refused(field: Field, zone: str) -> None:
    with refused(field.database, InvalidFields, "evaluation", match="AoE"), field.database.write() as session:
        found = session.scalars(sa.select(Evaluation)).one()
        writes.change_evaluation(session, CONSOLE, found, time_zone=zone)
