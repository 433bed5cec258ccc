"""What every answer of the site has in common."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from flask import Flask

from leaderboard.config import Config
from leaderboard.errors import BadInput
from leaderboard.submissions.rules import State
from leaderboard.web.app import create_app
from tests.support.field import Field


def test_a_site_without_a_secret_does_not_start() -> None:
    with pytest.raises(BadInput, match="LEADERBOARD_SECRET_KEY"):
        create_app(Config())


@pytest.mark.parametrize("path", ["/login", "/no/such/page", "/static/leaderboard.css"])
def test_nothing_inline_runs_and_nobody_frames_a_page(app: Flask, path: str) -> None:
    headers = app.test_client().get(path, buffered=True).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


def test_cookies_are_only_for_https_and_not_for_scripts(tmp_path: object, migrated_sqlite: Path) -> None:
    config = Config(database_url=f"sqlite:///{migrated_sqlite}", store_url=f"{tmp_path}", secret_key="s")
    answer = create_app(config).test_client().get("/login")
    cookie = answer.headers["Set-Cookie"]
    assert {"Secure", "HttpOnly", "SameSite=Lax"} <= set(cookie.split("; "))
    assert "max-age" in answer.headers["Strict-Transport-Security"]


def test_a_style_sheet_is_kept_for_a_year_under_an_address_that_changes_with_it(app: Flask) -> None:
    client = app.test_client()
    found = re.search(r'href="(/static/leaderboard.css\?v=[0-9a-f]{12})"', client.get("/login").text)
    assert found is not None
    assert "max-age=31536000" in client.get(found[1], buffered=True).headers["Cache-Control"]
    assert client.get("/login").headers["Cache-Control"] == "private, no-cache"


def test_our_own_fault_says_so_without_saying_what(app: Flask) -> None:
    def fail() -> str:
        raise RuntimeError("an internal matter")

    app.testing = False
    app.add_url_rule("/fail", view_func=fail)
    answer = app.test_client().get("/fail")
    assert answer.status_code == 500
    assert "our fault" in answer.text
    assert "internal matter" not in answer.text


def test_neither_the_chart_renderer_nor_the_password_lists_are_imported_with_the_site() -> None:
    # It hangs in a forked process when it was used, so nothing may load it before gunicorn forks. And the lists of
    # common passwords take longer to load than a page takes.
    program = "import sys, leaderboard.web.app; sys.exit(bool({'vl_convert', 'zxcvbn'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_the_front_page_says_that_it_is_being_set_up_until_every_loaded_run_is_scored(
    database_url: str, tmp_path: object
) -> None:
    config = Config(database_url=database_url, store_url=f"{tmp_path}", secret_key="s")
    app = create_app(config, setting_up=True)
    field = Field(app.extensions["database"])
    field.campaign()
    for year in (2025, 2026):
        field.evaluation(str(year), period_key=year)
        field.run("Alder", {"AP": [0.5] * 4}, evaluation=str(year))
    waiting = field.run("Birch", state=State.QUEUED)
    front = app.test_client().get("/").text
    assert "The demonstration is being set up" in front
    assert '<meta http-equiv="refresh"' in front
    field.withdraw(waiting)
    front = app.test_client().get("/").text
    app.extensions["database"].close()
    assert "being set up" not in front
    assert '<meta http-equiv="refresh"' not in front
