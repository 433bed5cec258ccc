"""What all tables stand on: moments in UTC, packed values, the database's clock, transactions."""

import datetime as dt
import os
import socket
import struct
from contextlib import ExitStack, closing
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from leaderboard.audit.models import Chain, Event
from leaderboard.audit.rules import FIRST
from leaderboard.db import STALLED, Database, answering, insert_many, value_at
from leaderboard.errors import BadInput, NoDatabase
from leaderboard.evaluations.rules import Subset
from leaderboard.teams.models import Team
from leaderboard.worker.models import Score
from tests.support.field import Field

NOON = dt.datetime(2026, 6, 1, 12, 0, tzinfo=dt.UTC)


def event(at: dt.datetime) -> Event:
    return Event(
        id=1, at=at, action="create", subject="team", subject_id=1, facts={}, previous_hash=FIRST, hash="of none"
    )


def teams(database: Database) -> list[str]:
    with database.read() as session:
        return list(session.scalars(sa.select(Team.slug)))


def _add(database: Database, *rows: Team) -> None:
    with database.write() as session:
        for row in rows:
            session.add(row)
            session.flush()


def team(slug: str) -> Team:
    return Team(slug=slug, name=slug, created_at=NOON)


def test_a_moment_of_any_time_zone_comes_back_in_utc(database: Database) -> None:
    with database.write() as session:
        session.add(event(NOON.astimezone(dt.timezone(dt.timedelta(hours=5, minutes=30)))))
    with database.read() as session:
        kept = session.scalars(sa.select(Event.at)).one()
    assert (kept, kept.tzinfo) == (NOON, dt.UTC)


def test_a_moment_without_a_time_zone_is_refused(database: Database) -> None:
    with pytest.raises(sa.exc.StatementError, match="a moment needs its time zone"), database.write() as session:
        session.add(event(NOON.replace(tzinfo=None)))


def test_values_are_kept_as_eight_little_endian_bytes_each(field: Field) -> None:
    scoring = field.scoring(field.run("Heron", {"AP": [0.5, 1.0, np.nan, 0.0]}))
    of_run = (Score.scoring_id == scoring, Score.subset == Subset.ALL)
    with field.database.read() as session:
        values = session.scalars(sa.select(Score.values).where(*of_run)).one()
        kept = session.scalars(sa.select(sa.type_coerce(Score.values, sa.LargeBinary)).where(*of_run)).one()
        slices = [session.scalars(sa.select(value_at(Score.values, at)).where(*of_run)).one() for at in (1, 3, 4)]
    assert values.tolist() == pytest.approx([0.5, 1.0, np.nan, 0.0], nan_ok=True)
    assert bytes(kept) == struct.pack("<4d", 0.5, 1.0, np.nan, 0.0)
    assert [each.tolist() for each in slices] == [[1.0], [0.0], []]


def test_a_transaction_is_kept_when_its_block_ends_and_undone_when_it_raises(database: Database) -> None:
    _add(database, team("kept"))
    with pytest.raises(sa.exc.IntegrityError):
        _add(database, team("undone"), team("kept"))
    assert teams(database) == ["kept"]


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mysql://host/name", "mysql is no database that is supported"),
        ("nonsense", "can't be read"),
        ("postgresql://user:SECRET@host:port/name", "can't be read"),
        ("postgresql://user:p@SECRET@host/name", "write @ in a password as %40"),
    ],
)
def test_a_url_that_leads_to_no_database_is_refused_without_its_password(url: str, says: str) -> None:
    with pytest.raises(BadInput, match=says) as refused:
        Database.connect(url)
    assert "SECRET" not in refused.value.message


@pytest.mark.parametrize("engine_name", ["postgresql"])  # SQLite's are files, which nobody runs out of
def test_a_process_opens_so_many_connections_and_they_bear_its_name(database_url: str) -> None:
    name = f"leaderboard serve {socket.gethostname()[:30]}:{os.getpid()}"
    named = sa.text("SELECT count(*) FROM pg_stat_activity WHERE application_name = :name")
    options: dict[str, Any] = {"connections": 6, "program": "leaderboard serve", "patience_seconds": 0.2}
    with closing(Database.connect(database_url, **options)) as database, ExitStack() as held:
        for _ in range(2):  # the others are for what must not wait for these
            session = held.enter_context(database.read())
            session.execute(sa.text("SELECT 1"))
        assert session.scalar(named, {"name": name}) == 2
        with pytest.raises(NoDatabase), database.read() as session:
            session.execute(sa.text("SELECT 1"))
        for connection in [held.enter_context(database.glance.connect()) for _ in range(2)]:
            assert connection.scalar(named, {"name": name}) == 4


@pytest.mark.parametrize("engine_name", ["postgresql"])
def test_a_transaction_that_does_nothing_is_ended_and_its_locks_with_it(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STALLED, "idle_in_transaction_session_timeout", 0.2)
    bounded, free = (Database.connect(database_url, bounds=bounds) for bounds in (STALLED, {}))
    lock = sa.select(Chain.events).with_for_update()
    with closing(bounded), closing(free), bounded.engine.connect() as stalled:
        stalled.execute(lock)
        with free.write() as session:  # waits for longer than the first may do nothing
            session.execute(lock)
        with pytest.raises(NoDatabase), answering():
            stalled.execute(lock)
        assert teams(bounded) == []


def test_many_rows_are_inserted_as_single_ones_would_be_and_refused_alike(database: Database) -> None:
    columns = "slug", "name", "description", "is_listed", "created_at"
    rows = [(f"team-{number}", "tab\tand\\n\n", "", True, NOON) for number in range(3)]
    with database.write() as session:
        insert_many(session.connection(), Team.__table__, columns, iter(rows))
        assert [(row.slug, row.name) for row in session.scalars(sa.select(Team))] == [row[:2] for row in rows]
    with pytest.raises(sa.exc.IntegrityError), database.write() as session:
        insert_many(session.connection(), Team.__table__, columns, rows[:1])
    assert len(teams(database)) == 3
