"""What the other tests stand on: two real engines, programs that are waited for, a browser that is listened to."""

import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page

from leaderboard.db import Database
from tests.support.browser import Console, assert_accessible
from tests.support.postgres import postgres_server
from tests.support.shared import REPOSITORY

PAGES = {
    "/": '<!doctype html><html lang="en"><title>Plain</title><main><h1>Plain</h1></main></html>',
    "/loud": '<!doctype html><html lang="en"><title>Loud</title><script>console.warn("a wrong word")</script></html>',
    "/mute": "<!doctype html><html><img src='data:,'></html>",
}


@pytest.fixture
def site() -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = PAGES.get(self.path, "").encode()
            self.send_response(200 if self.path in PAGES else 204)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def _environment(**given: str) -> dict[str, str]:
    """Ours without CI and without what pytest says of this run, with what is given."""
    kept = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST")}
    return kept | given


def test_without_the_real_data_its_tests_are_left_out_aloud_and_under_ci_nothing_passes(tmp_path: Path) -> None:
    def collect(**environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "--collect-only", "tests/real"]
        own = _environment(LEADERBOARD_SHARED=str(tmp_path), **environment)
        return subprocess.run(command, cwd=REPOSITORY, env=own, capture_output=True, text=True)

    done = collect()
    assert "tests/real is NOT collected" in done.stdout
    assert "no tests collected" in done.stdout
    done = collect(CI="true")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"tests/real must run, but {tmp_path / 'data'} is not there" in done.stderr


def test_every_engine_gives_a_migrated_database_without_rows(database: Database, engine_name: str) -> None:
    with database.read() as session:
        assert session.get_bind().dialect.name == engine_name
        assert "campaign" in sa.inspect(session.connection()).get_table_names()
        assert session.execute(sa.text("SELECT count(*) FROM campaign")).scalar_one() == 0


def test_our_own_postgresql_runs_from_an_environment_that_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    run, refused = subprocess.run, []

    def refuse_the_installed_program(command: list[object], *arguments: object, **options: object) -> object:
        if command[-1] == "--version":
            refused.append(command[0])
            raise PermissionError(command[0])
        return run(command, *arguments, **options)  # type: ignore[call-overload]  # the same arguments, untyped

    monkeypatch.setattr(subprocess, "run", refuse_the_installed_program)
    with postgres_server() as url:
        folder = Path(str(sa.make_url(url).query["host"]))
        assert any(folder.glob("programs/**/bin/postgres"))
    assert refused
    assert not folder.exists()


def test_a_quiet_page_leaves_the_console_empty(site: str, page: Page, console: Console) -> None:
    page.goto(f"{site}/")
    assert page.title() == "Plain"
    assert_accessible(page)
    assert console.complaints == []


def test_a_warning_on_the_console_is_a_complaint(site: str, page: Page, console: Console) -> None:
    page.goto(f"{site}/loud")
    assert len(console.complaints) == 1
    assert "a wrong word" in console.complaints[0]
    console.expect("a wrong word")
    assert console.complaints == []


def test_an_image_without_words_is_not_accessible(site: str, page: Page) -> None:
    page.goto(f"{site}/mute")
    with pytest.raises(AssertionError, match="image-alt"):
        assert_accessible(page)
