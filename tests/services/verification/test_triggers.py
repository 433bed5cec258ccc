"""Verification compares the triggers with their definitions."""

import pytest

from leaderboard.db import Base
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
        "CREATE OR REPLACE FUNCTION judgments_go_with_their_revision() RETURNS trigger LANGUAGE plpgsql"
        " AS 'BEGIN RETURN NEW; END'": [("the database", "function judgments_go_with_their_revision()")],
        "ALTER FUNCTION campaign_prior_lock() RESET search_path": [("the database", "function campaign_prior_lock()")],
        "CREATE TABLE mine () INHERITS (judgment)": [("the database", "table mine")],
        "CREATE RULE mine AS ON INSERT TO score DO INSTEAD NOTHING": [("the database", "rule mine")],
        "ALTER TABLE score ENABLE ROW LEVEL SECURITY": [("the database", "row security of score")],
    },
}  # fmt: skip


def test_triggers_that_are_missing_switched_off_or_not_ours_are_named(played: World, engine_name: str) -> None:
    for statement, expected in GUARDS[engine_name].items():
        with played.database.write() as session:
            session.connection().exec_driver_sql(statement)
            assert named(verify(session)) == expected, statement
            session.rollback()
    assert verified(played).clean


HIDDEN = (
    "CREATE SCHEMA evil",
    "CREATE FUNCTION evil.g() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.late = false; RETURN NEW; END'",
    "CREATE TRIGGER event_never_goes BEFORE INSERT ON submission FOR EACH ROW EXECUTE FUNCTION evil.g()",
    # The catalogue gives the trigger last that was written last: ours hid the other one.
    "ALTER TABLE event DISABLE TRIGGER event_never_goes",
    "ALTER TABLE event ENABLE TRIGGER event_never_goes",
)


@pytest.mark.parametrize("engine_name", ["postgresql"], indirect=True)
def test_a_trigger_that_has_the_name_of_one_of_another_table_and_a_function_elsewhere_is_named(played: World) -> None:
    with played.database.write() as session:
        for statement in HIDDEN:
            session.connection().exec_driver_sql(statement)
        (found,) = verify(session).differences
        session.rollback()
    assert (found.what, found.expected) == ("trigger event_never_goes", "nothing")
    assert found.stored == "BEFORE INSERT ON submission FOR EACH ROW EXECUTE FUNCTION evil.g()"


@pytest.mark.parametrize("engine_name", ["postgresql"], indirect=True)
def test_a_table_that_inherits_from_ours_is_named_and_its_rows_keep_nothing_from_being_looked_at(played: World) -> None:
    ours = set(Base.metadata.tables.keys())
    for heirs in (ours - {"score"}, {"score"}):  # the figure that is changed is looked for beside all the others
        with played.database.write() as session:
            run = session.connection().exec_driver_sql
            for name in sorted(heirs):
                run(f'CREATE TABLE mine_{name} () INHERITS ("{name}")')
                run(f'INSERT INTO mine_{name} SELECT * FROM ONLY "{name}"')
            run("UPDATE ONLY score SET mean = 0.99 WHERE measure = 'AP' AND subset = 'all' AND scoring_id = 1")
            report = verify(session)
            session.rollback()
        assert {("the database", f"table mine_{name}") for name in heirs} <= set(named(report))
        assert [one for one in report.differences if "can't be read" in one.stored] == []
        found = ("run 1 (System number 0 in small/2026)", "AP over all queries")
        assert found in named(report) or heirs == {"score"}
