"""What all tables stand on: moments in UTC, packed values, the database's clock, transactions."""

import datetime as dt
import struct

import numpy as np
import pytest
import sqlalchemy as sa

from leaderboard.audit.models import Event
from leaderboard.audit.rules import FIRST
from leaderboard.db import Database, value_at
from leaderboard.errors import BadInput
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
    ("url", "says"), [("mysql://host/name", "mysql is no database that is supported"), ("nonsense", "can't be read")]
)
def test_another_kind_of_database_is_refused_by_name(url: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        Database.connect(url)
