"""The prior of a campaign with results can't change by any path: these go around the program, by SQL."""

import datetime as dt

import pytest
import sqlalchemy as sa

from leaderboard import migrate
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Database
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.writes import DEFAULTS
from tests.support.refused import refused

BROKEN = (sa.exc.IntegrityError, sa.exc.OperationalError, sa.exc.DatabaseError)
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
PRIOR = {"cost": 0.0333, "value": 1.0, "prior": 0.0016, "beta": 20.0}
AQWV = {"measures": ["AQWV"], "primary_measure": "AQWV"}


def _anew(key: int, slug: str) -> str:
    """The rest of an INSERT: the open campaign once more with another β."""
    own = {"id": str(key), "slug": f"'{slug}'", "beta": "40"}
    names = [column.name for column in Campaign.__table__.columns]
    values = ", ".join(own.get(name, name) for name in names)
    return f"INTO campaign ({', '.join(names)}) SELECT {values} FROM campaign WHERE id = 2"


CHANGES = {
    "cost": "cost = 0.5",
    "no cost": "cost = NULL",
    "value": "value = 2",
    "no value": "value = NULL",
    "prior": "prior = 0.5",
    "no prior": "prior = NULL",
    "beta": "beta = 40",
    "beta by the last digit": "beta = 20.000000000000004",
    "no beta": "beta = NULL",
    "policy": "no_relevant = 'pfa_only'",
    "the lock itself": "locked_at = NULL",
    "the moment of the lock": "locked_at = '2027-01-01 00:00:00'",
    "its id": "id = 17",
    "its slug": "slug = 'renamed'",
}


@pytest.fixture
def locked(database: Database) -> Database:
    """A database with a locked campaign, 1, and an open one, 2; an evaluation of each."""
    with database.write() as session:
        for key, slug, locked_at in ((1, "locked", NOW), (2, "open", None)):
            made = {"id": key, "slug": slug, "title": "a title", "created_at": NOW}
            session.add(Campaign(locked_at=locked_at, **made, **PRIOR, **AQWV))
            session.flush()
            session.add(Evaluation(campaign_id=key, **DEFAULTS | {"period": "2026", "period_key": 2026, **made}))
    return database


def _run(database: Database, *statements: str) -> list[int]:
    """As any client of the database would: without this program's session settings on SQLite. How many rows each
    statement touched, so that what is allowed is seen to have done something."""
    with database.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("PRAGMA recursive_triggers = OFF")
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            touched = [connection.exec_driver_sql(statement).rowcount for statement in statements]
            connection.commit()
            return touched
        finally:
            connection.invalidate()


def test_no_update_changes_the_prior_of_a_locked_campaign(locked: Database) -> None:
    for change in CHANGES.values():
        with refused(locked, BROKEN, "campaign", match="locked"):
            _run(locked, f"UPDATE campaign SET {change} WHERE id = 1")
        with refused(locked, BROKEN, "campaign", match="locked"):
            _run(locked, f"UPDATE campaign SET title = 'another', {change} WHERE slug = 'locked'")


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_an_open_campaign_can_still_be_changed(locked: Database, change: str) -> None:
    if change == "id = 17":
        assert _run(locked, "DELETE FROM evaluation WHERE campaign_id = 2") == [1]
    assert _run(locked, f"UPDATE campaign SET {change} WHERE id = 2") == [1]


def test_what_is_not_the_prior_can_still_be_changed(locked: Database) -> None:
    assert _run(locked, "UPDATE campaign SET title = 'another', run_choice = 'best' WHERE id = 1") == [1]


@pytest.mark.parametrize("which", ["", " WHERE id = 1", " WHERE slug = 'locked'"])
def test_a_locked_campaign_can_not_be_deleted(locked: Database, which: str) -> None:
    with refused(locked, BROKEN, "campaign", match=r"locked|foreign key"):
        _run(locked, f"DELETE FROM campaign{which}")


REPLACEMENTS = {
    "sqlite": [
        f"INSERT OR REPLACE {_anew(1, 'fresh')}",
        f"INSERT OR REPLACE {_anew(3, 'locked')}",
        f"REPLACE {_anew(1, 'locked')}",
        "UPDATE OR REPLACE campaign SET id = 1 WHERE id = 2",
        "UPDATE OR REPLACE campaign SET rowid = 1 WHERE id = 2",
        "UPDATE OR REPLACE campaign SET slug = 'locked' WHERE id = 2",
        f"INSERT {_anew(3, 'locked')} ON CONFLICT (slug) DO UPDATE SET beta = excluded.beta",
    ],
    "postgresql": [
        f"INSERT {_anew(3, 'locked')} ON CONFLICT (slug) DO UPDATE SET beta = excluded.beta",
        f"INSERT {_anew(1, 'fresh')} ON CONFLICT (id) DO UPDATE SET beta = excluded.beta, locked_at = NULL",
        "TRUNCATE campaign CASCADE",
        "TRUNCATE campaign, evaluation CASCADE",
        "MERGE INTO campaign c USING (SELECT 1 AS id) s ON c.id = s.id WHEN MATCHED THEN UPDATE SET beta = 40",
        "MERGE INTO campaign c USING (SELECT 1 AS id) s ON c.id = s.id WHEN MATCHED THEN DELETE",
        "WITH gone AS (DELETE FROM evaluation WHERE id = 2) DELETE FROM campaign WHERE id = 1",
    ],
}


def test_a_locked_campaign_can_not_be_replaced(locked: Database, engine_name: str) -> None:
    for replacement in REPLACEMENTS[engine_name]:
        with refused(locked, BROKEN, "campaign", match=r"locked|stays in its campaign"):
            _run(locked, replacement)


def test_the_triggers_stand_after_every_upgrade(database: Database, engine_name: str) -> None:
    migrate.upgrade(database)
    catalogue = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal",
    }
    with database.engine.connect() as connection:
        triggers = {*connection.exec_driver_sql(catalogue[engine_name]).scalars()}
    assert triggers == getattr(migrate.locks(), engine_name.upper()).keys()
