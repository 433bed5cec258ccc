"""Verification compares the triggers with their definitions."""

from leaderboard.services.verification import verify
from tests.support.verification import Changes, named, verified
from tests.support.world import World

GUARDS: dict[str, dict[str, Changes]] = {
    "sqlite": {
        "DROP TRIGGER judgment_never_goes": [("the database", "trigger judgment_never_goes")],
        "CREATE TRIGGER mine AFTER UPDATE ON score BEGIN SELECT 1; END": [("the database", "trigger mine")],
    },
    "postgresql": {
        "DROP TRIGGER judgment_never_goes ON judgment": [("the database", "trigger judgment_never_goes")],
        "ALTER TABLE judgment DISABLE TRIGGER judgment_never_goes": [("the database", "trigger judgment_never_goes")],
        "ALTER TABLE judgment ENABLE REPLICA TRIGGER judgment_never_goes": [
            ("the database", "trigger judgment_never_goes"),
        ],
        "CREATE OR REPLACE FUNCTION never_changes() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'": [
            ("the database", "trigger never_changes()"),
        ],
        "ALTER FUNCTION campaign_prior_lock() RESET search_path": [("the database", "trigger campaign_prior_lock()")],
        "CREATE RULE mine AS ON INSERT TO score DO INSTEAD NOTHING": [("the database", "trigger rule mine")],
    },
}  # fmt: skip


def test_triggers_that_are_missing_switched_off_or_not_ours_are_named(played: World, engine_name: str) -> None:
    for statement, expected in GUARDS[engine_name].items():
        with played.database.write() as session:
            session.connection().exec_driver_sql(statement)
            assert named(verify(session)) == expected, statement
            session.rollback()
    assert verified(played).clean
