"""The prior of a campaign with results can't change by any path: these go around the program, by SQL."""

import pytest
import sqlalchemy as sa

from leaderboard import migrate
from leaderboard.db import Database
from tests.support.refused import refused

BROKEN = (sa.exc.IntegrityError, sa.exc.OperationalError, sa.exc.DatabaseError)
CAMPAIGN = (
    "INTO campaign (id, slug, title, description, simulated, cost, value, prior, beta, no_relevant, compat, measures,"
    " primary_measure, run_choice, contact, links, guidelines, visibility, created_at, locked_at)"
    " VALUES ({id}, '{slug}', 'a title', '', false, 0.0333, 1,"
    " 0.0016, {beta}, 'exclude', 10, '[\"AQWV\"]', 'AQWV', 'primary',"
    " '', '[]', '', 'public', '2026-01-01 00:00:00', {locked_at})"
)
LOCKED = CAMPAIGN.format(id=1, slug="locked", beta=20, locked_at="'2026-01-02 00:00:00'")
OPEN = CAMPAIGN.format(id=2, slug="open", beta=20, locked_at="NULL")
EVALUATION = (
    "INSERT INTO evaluation (id, campaign_id, slug, title, description, period, period_key, condition, collection,"
    " relevance_level, judging, grace_seconds, late_allowed, results, details, texts, hidden_queries, own_results,"
    " judgments_published, time_zone, draft, official_source, set_aside, form_fields,"
    " file_rules, created_at)"
    " VALUES ({id}, {campaign}, 'e{id}', 'a title', '', '2026', 2026, '', '', 1, 'pooled', 60, false,"
    " 'always', 'closed', 'opened', 'closed', true, false, 'UTC', false, 'assessors',"
    " '[]', '[]', '{{}}', '2026-01-01 00:00:00')"
)

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
    _run(database, f"INSERT {LOCKED}", f"INSERT {OPEN}")
    _run(database, EVALUATION.format(id=1, campaign=1), EVALUATION.format(id=2, campaign=2))
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


@pytest.mark.parametrize(
    "deletion",
    ["DELETE FROM campaign WHERE id = 1", "DELETE FROM campaign", "DELETE FROM campaign WHERE slug = 'locked'"],
)
def test_a_locked_campaign_can_not_be_deleted(locked: Database, deletion: str) -> None:
    with refused(locked, BROKEN, "campaign", match=r"locked|foreign key"):
        _run(locked, deletion)


REPLACEMENTS = {
    "sqlite": [
        "INSERT OR REPLACE " + CAMPAIGN.format(id=1, slug="fresh", beta=40, locked_at="NULL"),
        "INSERT OR REPLACE " + CAMPAIGN.format(id=3, slug="locked", beta=40, locked_at="NULL"),
        "REPLACE " + CAMPAIGN.format(id=1, slug="locked", beta=40, locked_at="NULL"),
        "UPDATE OR REPLACE campaign SET id = 1 WHERE id = 2",
        "UPDATE OR REPLACE campaign SET rowid = 1 WHERE id = 2",
        "UPDATE OR REPLACE campaign SET slug = 'locked' WHERE id = 2",
        (
            f"INSERT {CAMPAIGN.format(id=3, slug='locked', beta=40, locked_at='NULL')}"
            " ON CONFLICT (slug) DO UPDATE SET beta = excluded.beta"
        ),
    ],
    "postgresql": [
        (
            f"INSERT {CAMPAIGN.format(id=3, slug='locked', beta=40, locked_at='NULL')}"
            " ON CONFLICT (slug) DO UPDATE SET beta = excluded.beta"
        ),
        (
            f"INSERT {CAMPAIGN.format(id=1, slug='fresh', beta=40, locked_at='NULL')}"
            " ON CONFLICT (id) DO UPDATE SET beta = excluded.beta, locked_at = NULL"
        ),
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
    assert _triggers(database, engine_name) == migrate.guards(engine_name).keys()


def _triggers(database: Database, engine_name: str) -> set[str]:
    catalogue = (
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        if engine_name == "sqlite"
        else "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
    )
    with database.engine.connect() as connection:
        return set(connection.exec_driver_sql(catalogue).scalars())
