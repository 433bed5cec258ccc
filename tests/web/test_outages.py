"""The site while its database or its run store is away, locked or full: it says so everywhere, and heals by itself."""

import dataclasses
import errno
import io
import json
import os
import re
import resource
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from leaderboard import migrate
from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as credentials
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import Scope
from leaderboard.audit.writes import present
from leaderboard.db import Database
from leaderboard.errors import NoDatabase, NoStore
from leaderboard.operating import pages as operating
from leaderboard.store import RunStore
from leaderboard.submissions.models import PersonalUse, Submission
from leaderboard.submissions.writes.run_store import bind
from leaderboard.web import app as web
from leaderboard.web.app import create_app
from tests.support.databases import Postgres
from tests.support.outages import away
from tests.support.postgres import PostgresServer, stoppable_server
from tests.support.world import PASSWORD, RUN, World, build_world
from tests.web.conftest import API, BOTH, Program, Reader

PAGES = ["/", "/login", "/campaigns/small", "/campaigns/small/2026", "/account/", "/no-such-page", "/measures/"]
PAGES_OF_ROWS = ["/", "/campaigns/small", "/campaigns/small/2026"]  # what a stranger sees only with the database
FILES = ["/campaigns/small/2026.csv", "/campaigns/small/2026.json"]
LONG = "ä" * 4000  # more bytes than a page of SQLite's
KEY = "a secret that only the tests know"
FORM = "/campaigns/small/2026/submit"
INTERNAL = re.compile(r"sqlite|psycopg|postgres|sql|traceback|errno|/tmp|OperationalError", re.IGNORECASE)


class Visitor(Reader):
    """A browser; `log_in` makes it Ada's."""

    def log_in(self, token: str | None = None) -> int:
        form = {"csrf_token": token or self.token(), "name": "Ada", "password": PASSWORD}
        return self.client.post("/login", data=form).status_code

    def refused(self, path: str) -> None:
        """The page is a 503 in its own form that says what to do and nothing internal."""
        answer = self.client.get(path)
        said_so(answer, path)
        assert "ry again in a minute" in answer.text, answer.text
        if path.endswith(".json"):
            assert json.loads(answer.text)["status"] == 503
        else:
            assert ('<a href="">Try this page again</a>' in answer.text) == (not path.endswith(".csv"))

    def submit(self, **fields: str) -> TestResponse:
        system = re.search(r'<option[^>]* value="(new-[0-9]+)"', self.get(FORM))
        assert system is not None
        form = {"system": system[1], "new_system": "Lantern", "designation": "contrastive", "threshold": "1.5"}
        return self.send(FORM, RUN, **form, **fields)


def said_so(answer: TestResponse, path: str) -> None:
    assert (answer.status_code, int(answer.headers["Retry-After"]) > 0) == (503, True), path
    assert not INTERNAL.search(answer.text.partition("</head>")[2] or answer.text), answer.text


def assert_ill(client: FlaskClient, says: str) -> None:
    health = client.get("/readyz")
    assert (health.status_code, health.text.partition(".")[0]) == (503, says)
    assert health.headers["Retry-After"]


@contextmanager
def served(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flask]:
    """The site of a world, which waits for a locked database for a fifth of a second."""
    monkeypatch.setattr(web, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(operating, "KEPT_SECONDS", 0.0)
    app = create_app(dataclasses.replace(world.config, secret_key=KEY, secure_cookies=False))
    with closing(app.extensions["database"]):
        bind(world.database, world.store)  # as `leaderboard serve` does
        yield app


@pytest.fixture
def world(database: Database, tmp_path: Path, quick_hashes: None) -> Iterator[World]:
    with closing(build_world(database, tmp_path)) as world:
        yield world


@pytest.fixture
def app(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Flask]:
    with served(world, monkeypatch) as app:
        yield app


@contextmanager
def locked(world: World) -> Iterator[None]:
    """Another program holds every table for itself."""
    with world.database.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.execution_options(writing=True).begin()
        else:
            tables = ", ".join(f'"{name}"' for name in sa.inspect(connection).get_table_names())
            connection.exec_driver_sql(f"LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE")
        yield
        connection.rollback()


@BOTH
def test_without_a_database_every_page_says_so_in_its_own_form_and_the_site_heals_by_itself(
    world: World, app: Flask
) -> None:
    ada, visitor = Visitor(app.test_client()), Visitor(app.test_client())
    assert ada.log_in() == 302
    assert visitor.client.get("/").status_code == 200
    token = visitor.token()
    with away(world):
        for path in PAGES + FILES:
            ada.refused(path)
        visitor.refused("/")
        assert visitor.log_in(token) == 503
        assert_ill(visitor.client, "The database does not answer at the moment")
    assert ada.client.get("/account/").status_code == 200
    assert visitor.client.get("/readyz").text == "ok\n"
    assert visitor.log_in() == 302


def test_a_database_of_another_version_in_the_sites_place_is_told_apart_and_logged_with_what_to_do(
    world: World, app: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE campaign RENAME TO campaigns")
    answer = app.test_client().get("/")
    said_so(answer, "/")
    assert "belongs to another version of this program" in answer.text
    assert "no such table: campaign" in caplog.text
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE installation RENAME TO installations")
    assert_ill(
        app.test_client(),
        "The database belongs to another version of this program",
    )


def said_everywhere(app: Flask, ada: Visitor, token: str) -> None:
    """Every page, file, form and the health of a site whose database is away; `ada` had logged in before."""
    stranger = Visitor(app.test_client())
    for path in PAGES + FILES:
        ada.refused(path)
    for path in [*PAGES_OF_ROWS, *FILES]:
        stranger.refused(path)
    forms = {
        "/login": {"name": "Ada", "password": PASSWORD},
        "/register": {"name": "Grace", "password": "a long and unusual one", "email": ""},
        "/account/teams/new": {"name": "Southern lights"},
        "/logout": {},
        FORM: {"system": "new-1", "new_system": "Lantern", "designation": "contrastive"},
    }
    for path, form in forms.items():
        answer = ada.client.post(path, data={"csrf_token": token, **form})
        said_so(answer, path)
    assert_ill(stranger.client, "The database does not answer at the moment")


@pytest.fixture
def on_a_server_of_its_own(
    tmp_path: Path, quick_hashes: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[PostgresServer, Flask]]:
    """A world and its site on a PostgreSQL server that nobody else uses."""
    with stoppable_server() as server, closing(Database.connect(server.url)) as database:
        migrate.upgrade(database)
        with closing(build_world(database, tmp_path)) as world, served(world, monkeypatch) as app:
            yield server, app


def test_a_server_that_is_stopped_is_said_everywhere_and_found_again(
    on_a_server_of_its_own: tuple[PostgresServer, Flask],
) -> None:
    server, app = on_a_server_of_its_own
    ada = Visitor(app.test_client())
    assert ada.log_in() == 302
    token = ada.token()
    server.stop()
    said_everywhere(app, ada, token)
    server.start()
    assert ada.client.get("/account/").status_code == 200
    assert ada.submit().status_code == 302


@BOTH
def test_a_database_that_another_program_has_locked_is_waited_for_shortly_and_then_said(
    world: World, app: Flask
) -> None:
    visitor = Visitor(app.test_client())
    token = visitor.token()
    with locked(world):
        assert visitor.log_in(token) == 503
    assert visitor.log_in(token) == 302


def test_a_transaction_whose_connection_is_cut_is_an_absent_database_and_the_next_one_works(
    postgres: Postgres, migrated_postgres: str
) -> None:
    url = postgres.create(migrated_postgres)

    def cut(session: Session) -> None:
        pid = session.scalar(sa.text("SELECT pg_backend_pid()"))
        with other.read() as another:
            another.execute(sa.text(f"SELECT pg_terminate_backend({pid})"))
        session.execute(sa.text("SELECT 1"))

    with closing(Database.connect(url)) as database, closing(Database.connect(url)) as other:
        with pytest.raises(NoDatabase), database.write() as session:
            cut(session)
        with database.read() as session:
            assert session.scalar(sa.text("SELECT 1")) == 1
    postgres.drop(url)


@pytest.mark.parametrize("pragma", ["max_page_count = 1", "query_only = 1"], ids=["full", "read-only"])
def test_a_submission_on_a_full_or_read_only_disk_is_refused_in_words_and_the_form_works_again(
    pragma: str, world: World, app: Flask
) -> None:
    ada = Visitor(app.test_client())
    assert ada.log_in() == 302
    engine = app.extensions["database"].engine

    def limit(connection: sa.engine.interfaces.DBAPIConnection, *_: object) -> None:
        connection.cursor().execute(f"PRAGMA {pragma}")

    sa.event.listen(engine, "connect", limit)
    engine.dispose()
    answer = ada.submit(notes=LONG)
    assert answer.status_code == 503, answer.text
    assert "try again in a minute" in answer.text
    assert answer.headers["Retry-After"] == "30"
    sa.event.remove(engine, "connect", limit)
    engine.dispose()
    assert ada.submit(notes=LONG).status_code == 302
    assert len(world.all(sa.select(sa.text("id")).select_from(sa.text("submission")))) == 1


def test_an_upload_while_the_store_is_away_is_refused_in_words_and_health_names_the_store(
    app: Flask, tmp_path: Path
) -> None:
    ada = Visitor(app.test_client())
    assert ada.log_in() == 302
    (tmp_path / "store").rename(tmp_path / "elsewhere")
    answer = ada.submit()
    assert answer.status_code == 503
    assert "store of run files" in answer.text
    assert "is full" not in answer.text
    assert answer.headers["Retry-After"] == "30"
    assert_ill(
        ada.client,
        "The store of run files is not that of the database",
    )
    assert not (tmp_path / "store").exists()
    (tmp_path / "elsewhere").rename(tmp_path / "store")
    assert ada.client.get("/readyz").status_code == 200
    assert ada.submit().status_code == 302


def test_an_upload_while_another_store_is_in_its_place_is_refused_and_health_says_so(
    app: Flask, tmp_path: Path
) -> None:
    ada = Visitor(app.test_client())
    assert ada.log_in() == 302
    (tmp_path / "store").rename(tmp_path / "elsewhere")
    other = RunStore(str(tmp_path / "store"))
    for identity in (None, "of another database"):
        if identity is not None:
            other.identify(identity)
        assert ada.submit().status_code == 503
        assert_ill(
            ada.client,
            "The store of run files is not that of the database",
        )
        assert not (tmp_path / "store" / "runs").exists()
    shutil.rmtree(tmp_path / "store")
    (tmp_path / "elsewhere").rename(tmp_path / "store")
    assert ada.client.get("/readyz").status_code == 200
    assert ada.submit().status_code == 302


def test_an_upload_for_which_the_disk_has_no_room_leaves_nothing_half_written(tmp_path: Path) -> None:
    store = RunStore(str(tmp_path))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(NoStore, match="Nothing of the file was kept"):
            store.receive(io.BytesIO(b"q1 Q0 d1 1 0.9 alpha\n" * 50_000), "run.txt")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_run_whose_commit_is_not_answered_is_shown_to_its_sender_and_costs_nothing_more(
    world: World, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialect = app.extensions["database"].engine.dialect
    commit, runs = dialect.do_commit, sa.select(Submission)

    def lose(connection: object) -> None:
        commit(connection)
        if world.all(runs):
            monkeypatch.setattr(dialect, "do_commit", commit)
            raise sqlite3.OperationalError("disk I/O error")

    ada = Visitor(app.test_client())
    assert ada.log_in() == 302
    monkeypatch.setattr(dialect, "do_commit", lose)
    answer = ada.submit()
    assert dialect.do_commit == commit
    assert (answer.status_code, answer.location) == (302, "/submissions/1"), answer.text
    assert len(world.all(runs)) == 1
    (use,) = world.all(sa.select(PersonalUse))
    assert (use.used, use.rejected_today) == (1, 0)


def test_a_disk_that_fails_as_a_run_is_flushed_is_a_store_that_is_away(
    world: World, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    team = {"team": "northern-lights", "new_system": "Lantern", "threshold": "1.5"}
    with world.database.write() as session:
        owner = session.get_one(User, world.ada.user_id)
        token = credentials.make_token(session, CONSOLE, owner, "a", [Scope.SUBMIT], days=None, now=present())
    with monkeypatch.context() as failing:
        failing.setattr(os, "fsync", fail)
        answer = Program(app, token).submit(RUN, f"{API}/campaigns/small/evaluations/2026/submissions", **team)
    said_so(answer, "the API")
    assert world.all(sa.select(Submission)) == []
