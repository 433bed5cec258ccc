"""What no statement changes, tried by plain connections: `sqlite3` as it comes, PostgreSQL as the tables' owner."""

import contextlib
import datetime as dt
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.campaigns import writes as campaigns
from leaderboard.db import Base, Database, UtcDateTime
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import LONGEST_GRACE, closed_from
from leaderboard.formats import QueryRow
from leaderboard.judgments import writes as judgments, writes as queries
from leaderboard.judgments.models import JudgmentRevision
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.worker.models import ScoringSet
from tests.support.databases import Filling
from tests.support.refused import refused
from tests.support.world import QRELS, RUN, World, build_world, judged

BROKEN = (sqlite3.DatabaseError, psycopg.Error)
MESSAGE = {
    "judgment": "a judgment revision never changes",
    "known_document": "a judgment revision never changes",
    "subtopic_judgment": "a judgment revision never changes",
    "judgment_revision": "a judgment revision never changes",
    "event": "only ever added to|follows the last one",
    "chain": "only ever added to",
    "scoring_set": "a scoring set never changes",
}
MAY_CHANGE = {
    "scoring_set": {"source", "state", "switched_at", "shown_until", "shown_before", "refreshing_until",
                    "primary_measure"},
    "judgment_revision": {"source"},
}  # fmt: skip
# One more revision of the first evaluation: its id and number, its highest grade, when it was finished.
REVISION = (
    "INSERT INTO judgment_revision (id, evaluation_id, number, source, sha256, judgments, highest_grade, note,"
    " imported_at, finished_at) SELECT {0}, evaluation_id, {0}, source, 'x', 1, {1}, '', imported_at, {2}"
    " FROM judgment_revision WHERE id = 1"
)


class Raw:
    """A connection without anything of this program's; each `run` is a transaction of its own."""

    def __init__(self, database: Database) -> None:
        url = database.engine.url
        self._connection: Any
        if url.get_backend_name() == "sqlite":
            self._connection = sqlite3.connect(str(url.database), isolation_level=None)
            for pragma in ("recursive_triggers", "foreign_keys"):
                assert self._connection.execute(f"PRAGMA {pragma}").fetchone() == (0,)
        else:
            address = url.set(drivername="postgresql").render_as_string(hide_password=False)
            self._connection = psycopg.connect(address, autocommit=True)

    def run(self, *statements: str) -> int:
        """How many rows the last statement touched, so that what is allowed is seen to have done something."""
        cursor = self._connection.cursor()
        cursor.execute("BEGIN")
        try:
            for statement in statements:
                cursor.execute(statement)
            touched: int = cursor.rowcount
            cursor.execute("COMMIT")
            return touched
        except BROKEN:
            cursor.execute("ROLLBACK")
            raise

    def close(self) -> None:
        self._connection.close()


def _fill(database: Database, folder: Path) -> dict[str, Any]:
    with contextlib.closing(build_world(database, folder)) as world:
        world.submit(RUN)
        with world.organising() as (session, campaign, evaluation):
            judgments.import_judgments(
                session, CONSOLE, evaluation, JudgmentFiles(judged(QRELS), known=judged("q1 0 d9 1\n"))
            )
            campaigns.change_campaign(session, CONSOLE, campaign, beta=40)
            other = campaigns.create_campaign(session, CONSOLE, "other", "Other", measures=["AP"], primary_measure="AP")
            evaluations.create_evaluation(session, CONSOLE, other, "2026", "2026", "2026")
        with contextlib.closing(Raw(database)) as connection:
            connection.run(
                REVISION.format(7, 1, "NULL"),
                "INSERT INTO subtopic_judgment VALUES (7, 1, 's', 'd', 1)",
                "UPDATE judgment_revision SET finished_at = imported_at WHERE id = 7",
                "UPDATE campaign SET locked_at = created_at WHERE slug = 'small'",
            )
        return {name: getattr(world, name) for name in ("campaign", "evaluation", "team", "ada", "eve")}


@pytest.fixture(scope="session")
def fill_world(tmp_path_factory: pytest.TempPathFactory) -> Filling:
    """The small campaign, with a run, known documents, judgments of a subtopic, and two scoring sets; it is locked.

    Beside it lies another campaign, `other`, with an evaluation: open.
    """
    return partial(_fill, folder=tmp_path_factory.mktemp("raw"))


@pytest.fixture
def raw(world: World) -> Iterator[Raw]:
    """On that world's database. What is refused leaves it as it was, so one does for many statements."""
    with contextlib.closing(Raw(world.database)) as connection:
        yield connection


def _upsert(table: sa.Table) -> str:
    """An insertion of every row anew that updates where its key is taken."""
    key = ", ".join(column.name for column in table.primary_key)
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    first = next(iter(table.columns)).name
    other = f"excluded.{first} + 17"
    return (
        f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM {table.name} WHERE true"
        f" ON CONFLICT ({key}) DO UPDATE SET {first} = {other}"
    )


def _updates(table: sa.Table) -> Iterator[str]:
    """One of every column that may not change, to a value that it does not have."""
    for column in table.columns:
        if column.name in MAY_CHANGE.get(table.name, ()):
            continue
        number = "1" if column.nullable else f'"{column.name}" + 17'
        moment = "'2031-01-01 00:00:00'" if column.name.endswith("at") else "'\"another\"'"
        value = number if isinstance(column.type, sa.Integer) else moment
        yield f'UPDATE {table.name} SET "{column.name}" = {value}'


INSERTIONS = [
    "INSERT INTO judgment VALUES (1, 1, 'another', 1)",
    "INSERT INTO known_document VALUES (2, 1, 'another')",
    "INSERT INTO subtopic_judgment VALUES (1, 1, 's', 'd', 1)",
    "INSERT INTO judgment SELECT 1, query_id, 'another', 1 FROM judgment",
    "INSERT INTO judgment VALUES (99, 1, 'of no revision', 1)",
]


def test_no_statement_changes_deletes_replaces_or_adds_a_row(raw: Raw, world: World, engine_name: str) -> None:
    ways = [(name, statement, message) for name, message in MESSAGE.items() for statement in _ways(name, engine_name)]
    ways += [("judgment", statement, MESSAGE["judgment"]) for statement in INSERTIONS]
    if engine_name == "postgresql":
        names = (*MESSAGE, "evaluation", "campaign", '"user"')
        ways += [
            ("event", f"TRUNCATE {name} CASCADE", "never changes|only ever added|locked|stays in") for name in names
        ]
    for name, statement, message in ways:
        with refused(world.database, BROKEN, name, match=message):
            raw.run(statement)


def _ways(name: str, engine_name: str) -> list[str]:
    """To change, delete or replace rows of the table."""
    table = Base.metadata.tables[name]
    every = ", ".join(f'"{column.name}"' for column in table.columns)
    ways = [f"DELETE FROM {name}", _upsert(table), *_updates(table)]
    if engine_name == "sqlite":
        ways += [
            f"REPLACE INTO {name} SELECT * FROM {name}",
            f"INSERT OR REPLACE INTO {name} ({every}) SELECT {every} FROM {name}",
            f"UPDATE OR REPLACE {name} SET {next(iter(table.columns)).name} = 1",
        ]
    else:
        ways.append(f"MERGE INTO {name} t USING (SELECT 1) s ON true WHEN MATCHED THEN DELETE")
    return ways


def test_a_judgment_is_not_replaced_by_a_hidden_row_number(raw: Raw, world: World, engine_name: str) -> None:
    number = {"sqlite": "rowid", "postgresql": "ctid"}[engine_name]
    with refused(world.database, BROKEN, "judgment", match=r"no column named rowid|column .ctid. of relation"):
        raw.run(
            REVISION.format(8, 1, "NULL"),
            f"INSERT {'OR REPLACE ' * (engine_name == 'sqlite')}INTO judgment ({number}, revision_id, query_id,"
            f" document, grade) VALUES ({1 if engine_name == 'sqlite' else repr('(0,1)')}, 8, 1, 'd1', 0)",
        )


def test_a_revision_is_finished_once_and_only_after_it_was_made(raw: Raw, world: World) -> None:
    with refused(world.database, BROKEN, "judgment_revision", match="never changes"):
        raw.run(REVISION.format(9, 1, "imported_at"))
    assert raw.run(REVISION.format(9, 1, "NULL")) == 1
    with refused(world.database, BROKEN, "judgment_revision", match="never changes"):
        raw.run("UPDATE judgment_revision SET finished_at = imported_at, sha256 = 'y' WHERE id = 9")
    assert raw.run("UPDATE judgment_revision SET finished_at = imported_at WHERE id = 9") == 1
    for again in ("NULL", "'2031-01-01 00:00:00'"):
        with refused(world.database, BROKEN, "judgment_revision", match="never changes"):
            raw.run(f"UPDATE judgment_revision SET finished_at = {again} WHERE id = 9")


def test_a_revision_that_was_left_unfinished_is_used_by_nothing(raw: Raw, world: World) -> None:
    raw.run(REVISION.format(9, 5, "NULL"))
    world.change_evaluation(documents=2000)
    used = world.all(sa.select(ScoringSet.revision_id).order_by(ScoringSet.id.desc()))
    assert used[0] == 7
    world.judge("q1 0 d1 2\n")
    newest = world.all(sa.select(JudgmentRevision).order_by(JudgmentRevision.number.desc()))[0]
    assert (newest.number, newest.finished_at is not None) == (10, True)
    assert world.all(sa.select(ScoringSet.revision_id).order_by(ScoringSet.id.desc()))[0] == newest.id


def test_judgments_that_nothing_was_submitted_against_go_whole_only(raw: Raw, world: World) -> None:
    with world.database.write() as session:
        other = session.get_one(Evaluation, 2)
        queries.import_queries(session, CONSOLE, other, [QueryRow("q1", "", ())])
        judgments.import_judgments(session, CONSOLE, other, JudgmentFiles(judged("q1 0 d1 1\nq1 0 d2 0\n")))
    with refused(world.database, BROKEN, "judgment", match="a judgment revision never changes"):
        raw.run("DELETE FROM judgment WHERE revision_id IN (SELECT id FROM judgment_revision WHERE evaluation_id = 2)")
    assert raw.run("DELETE FROM scoring_set WHERE evaluation_id = 2") == 1
    gone = "FROM judgment_revision WHERE evaluation_id = 2"
    judged_alone = "DELETE FROM judgment WHERE revision_id NOT IN (SELECT id FROM judgment_revision)"
    assert raw.run(f"DELETE {gone}") == 1
    assert raw.run(judged_alone) in (2, 0)  # by themselves where foreign keys are on


COLUMNS = ", ".join(f'"{column.name}"' for column in Evaluation.__table__.columns)
RENUMBERED = COLUMNS.replace('"id"', "5")
MOVED = COLUMNS.replace('"campaign_id"', "2")
CLASH = "(campaign_id, slug) DO UPDATE"
EVALUATION = {
    "both": [
        "UPDATE evaluation SET campaign_id = 2 WHERE id = 1",
        "UPDATE evaluation SET slug = 'old' WHERE id = 1",
        "UPDATE evaluation SET id = 17 WHERE id = 1",
        "DELETE FROM evaluation WHERE id = 1",
        f"INSERT INTO evaluation SELECT {MOVED} FROM evaluation WHERE id = 1 ON CONFLICT (id) DO UPDATE SET id = 9",
        f"INSERT INTO evaluation SELECT {RENUMBERED} FROM evaluation WHERE id = 1 ON CONFLICT {CLASH} SET id = 9",
    ],
    "sqlite": [
        f"REPLACE INTO evaluation ({COLUMNS}) SELECT {MOVED} FROM evaluation WHERE id = 1",
        f"INSERT OR REPLACE INTO evaluation ({COLUMNS}) SELECT {RENUMBERED} FROM evaluation WHERE id = 1",
        "UPDATE OR REPLACE evaluation SET id = 1 WHERE id = 2",
        "UPDATE OR REPLACE evaluation SET campaign_id = 1 WHERE id = 2",
    ],
    "postgresql": [
        "TRUNCATE evaluation CASCADE",
        "MERGE INTO evaluation e USING (SELECT 1 AS id) s ON e.id = s.id WHEN MATCHED THEN UPDATE SET campaign_id = 2",
        "MERGE INTO evaluation e USING (SELECT 1 AS id) s ON e.id = s.id WHEN MATCHED THEN DELETE",
    ],
}


def test_an_evaluation_does_not_leave_a_locked_campaign(raw: Raw, world: World, engine_name: str) -> None:
    for statement in (*EVALUATION["both"], *EVALUATION[engine_name]):
        with refused(world.database, BROKEN, "evaluation", match=r"stays in its campaign|locked"):
            raw.run(statement)
    with refused(world.database, BROKEN, "evaluation", match="stays in its campaign"):
        raw.run(
            "DELETE FROM evaluation WHERE id = 1",
            f"INSERT INTO evaluation ({COLUMNS}) SELECT {MOVED} FROM evaluation WHERE id = 2",
        )
    assert raw.run("UPDATE evaluation SET title = 'another', closes_at = NULL WHERE id = 1") == 1
    assert raw.run("UPDATE evaluation SET slug = '2025' WHERE id = 2") == 1  # of the open campaign


def test_the_slug_of_a_locked_campaign_does_not_pass_to_a_twin(raw: Raw, world: World) -> None:
    with refused(world.database, BROKEN, "campaign", match="locked"):
        raw.run(
            "UPDATE campaign SET slug = 'old' WHERE slug = 'small'",
            "UPDATE campaign SET slug = 'small' WHERE slug = 'other'",
        )
    assert raw.run("UPDATE campaign SET slug = 'free' WHERE slug = 'other'") == 1


def test_the_current_set_is_not_replaced_by_another_one_that_takes_its_place(
    raw: Raw, world: World, engine_name: str
) -> None:
    every = ", ".join(f'"{column.name}"' for column in ScoringSet.__table__.columns)
    other = every.replace('"id"', "90").replace('"settings_hash"', "'another'")
    ways = [
        "UPDATE scoring_set SET state = 'current'",
        f"INSERT INTO scoring_set ({every}) SELECT {other} FROM scoring_set WHERE state = 'current'",
    ]
    if engine_name == "sqlite":
        ways += [
            "UPDATE OR REPLACE scoring_set SET state = 'current'",
            f"INSERT OR REPLACE INTO scoring_set ({every}) SELECT {other} FROM scoring_set WHERE state = 'current'",
            "UPDATE OR REPLACE scoring_set SET rowid = 1 WHERE id = 2",
        ]
    assert len(world.all(sa.select(ScoringSet.id))) >= 2
    for statement in ways:
        with refused(world.database, BROKEN, "scoring_set", match=r"never changes|one current|uq_scoring_set_current"):
            raw.run(statement)


NO_MOMENTS = ["infinity", "-infinity", "10000-01-01 00:00:00", "0001-01-01 00:00:00"]
NO_MOMENTS_OF_TEXT = [  # SQLite has no type for moments
    "2026-13-45 99:99:99", "2026-02-30 00:00:00.000000", "2026-02-29 00:00:00", "2026-01-01 24:00:00",
    "2026-01-01 00:00:60", "2026 garbage", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01 00:00:00+00:00",
    "2026-01-01 00:00:00.000", "2026-01-01 00:00:00.0000000", "2026-01-01 00:00:00.00000x", "2026-01-01 00:00:0٣",
    "2026-01-01 00:00:00' || char(0) || '.00000", "now", "2461000.5",
]  # fmt: skip


def test_no_date_is_one_that_python_cannot_read(raw: Raw, world: World, engine_name: str) -> None:
    for moment in [*NO_MOMENTS, *(NO_MOMENTS_OF_TEXT if engine_name == "sqlite" else [])]:
        for column in ("closes_at", "created_at"):
            with refused(world.database, BROKEN, "evaluation", match=f"ck_evaluation_{column}"):
                raw.run(f"UPDATE evaluation SET {column} = '{moment}'")


def test_no_grace_is_longer_than_organisers_may_give(raw: Raw, world: World) -> None:
    raw.run(f"UPDATE evaluation SET grace_seconds = {LONGEST_GRACE}, closes_at = '9998-12-31 23:59:59.999999'")
    assert set(map(closed_from, world.all(sa.select(Evaluation)))) == {
        dt.datetime(9999, 1, 1, 23, 59, 59, 999999, tzinfo=dt.UTC)
    }
    for seconds in (-1, LONGEST_GRACE + 1, 2**31 - 1):
        with refused(world.database, BROKEN, "evaluation", match="ck_evaluation_grace_seconds"):
            raw.run(f"UPDATE evaluation SET grace_seconds = {seconds}")


def test_every_date_column_has_that_check(world: World) -> None:
    checks = sa.inspect(world.database.engine).get_check_constraints
    for table in Base.metadata.sorted_tables:
        found = {check["name"] for check in checks(table.name)}
        dates = {column.name for column in table.columns if isinstance(column.type, UtcDateTime)}
        assert {f"ck_{table.name}_{name}" for name in dates} <= found


SHADOWS = {
    "sqlite": ["CREATE TEMPORARY TABLE campaign AS SELECT * FROM main.campaign WHERE false"],
    "postgresql": [
        "CREATE TEMPORARY TABLE campaign AS SELECT * FROM public.campaign WHERE false",
        "CREATE SCHEMA aside",
        "CREATE TABLE aside.campaign AS SELECT * FROM public.campaign WHERE false",
        "SET LOCAL search_path = aside, pg_temp, public",
    ],
}
UNFINISHED = [
    "CREATE TEMPORARY TABLE judgment_revision AS SELECT * FROM {0}.judgment_revision",
    "UPDATE {1}.judgment_revision SET finished_at = NULL",
    "INSERT INTO {0}.judgment (revision_id, query_id, document, grade) VALUES (1, 1, 'another', 1)",
]


def test_a_table_of_the_same_name_opens_no_lock(raw: Raw, world: World, engine_name: str) -> None:
    real, temporary = {"sqlite": ("main", "temp"), "postgresql": ("public", "pg_temp")}[engine_name]
    for table, statements in (
        ("evaluation", [*SHADOWS[engine_name], f"UPDATE {real}.evaluation SET campaign_id = 2 WHERE id = 1"]),
        ("campaign", [*SHADOWS[engine_name], f"UPDATE {real}.campaign SET beta = 80 WHERE id = 1"]),
        (
            "judgment",
            ["CREATE TEMPORARY TABLE submission (evaluation_id integer)", f"DELETE FROM {real}.judgment_revision"],
        ),
        ("judgment", [statement.format(real, temporary) for statement in UNFINISHED]),
    ):
        with refused(world.database, BROKEN, table, match=r"stays in|locked|never changes"):
            raw.run(*statements)
