"""/healthz, /readyz and /metrics: what they say, to whom, and at what cost."""

import io
import os
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families

from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.operating import pages
from leaderboard.submissions.writes.run_store import bind
from leaderboard.web.app import create_app
from leaderboard.web.server import gate
from tests.support.outages import away
from tests.support.processes import children
from tests.support.site import running_site
from tests.support.statements import counted
from tests.support.waiting import wait_until
from tests.support.world import World, build_world
from tests.web.conftest import BOTH

KEY = "a secret that only the tests know"
TOKEN = "a token that only the tests know"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def world(database: Database, tmp_path: Path, quick_hashes: None) -> Iterator[World]:
    with closing(build_world(database, tmp_path)) as world:
        yield world


@pytest.fixture
def app(world: World, tmp_path: Path) -> Iterator[Flask]:
    bind(world.database, world.store)
    url = world.database.engine.url.render_as_string(hide_password=False)
    config = Config(url, store_url=str(tmp_path / "store"), secret_key=KEY, metrics_token=TOKEN)
    app = create_app(config)
    with closing(app.extensions["database"]):
        yield app


def samples(text: str) -> Samples:
    """(name, labels) -> value, as Prometheus itself would read it."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_alive_is_said_without_a_statement_and_ready_with_a_few_however_many_ask(app: Flask) -> None:
    client = app.test_client()
    with counted(app) as ran:
        assert [client.get("/healthz").text for _ in range(5)] == ["ok\n"] * 5
    assert ran == []
    with counted(app) as ran:
        answers = [client.get("/readyz") for _ in range(50)]
    assert {(answer.status_code, answer.text) for answer in answers} == {(200, "ok\n")}
    assert 1 <= len(ran) <= 8
    assert {answer.headers["Cache-Control"] for answer in answers} == {"no-store"}


def test_balancers_may_ask_by_any_name_and_nobody_else(app: Flask) -> None:
    client = app.test_client()
    for path, status in (("/healthz", 200), ("/readyz", 200), ("/metrics", 401), ("/login", 400)):
        assert client.get(path, headers={"Host": "10.0.0.7:8000"}).status_code == status


def test_health_is_answered_while_every_request_that_may_compute_waits() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def waiting(environ: dict[str, Any], _: Any) -> list[bytes]:
        if environ["PATH_INFO"] == "/":
            entered.set()
            go_on.wait()
        return [b"answered"]

    ask = gate(waiting, Config(), 1)
    with ThreadPoolExecutor(1) as pool:
        page = pool.submit(ask, {"PATH_INFO": "/", "wsgi.input": io.BytesIO()}, None)
        assert entered.wait(60)
        for path in ("/healthz", "/readyz"):
            assert ask({"PATH_INFO": path, "wsgi.input": io.BytesIO()}, None) == [b"answered"]
        go_on.set()
        assert page.result(60) == [b"answered"]


@BOTH
def test_a_database_at_another_revision_is_not_ready_and_the_log_says_what_it_is_at(
    world: World, app: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    with world.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    answer = app.test_client().get("/readyz")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    assert answer.text.startswith("The database belongs to another version of this program.")
    assert "not ready: it is at revision 0001, this version needs" in caplog.text


def test_a_store_that_hangs_is_not_ready_holds_up_nobody_and_is_looked_at_once(
    app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(pages, "KEPT_SECONDS", 0.0)
    (identity,) = (tmp_path / "store").rglob("id")
    words = identity.read_text()
    identity.unlink()
    os.mkfifo(identity)  # to read it waits for somebody to write
    client = app.test_client()
    for _ in range(5):
        answer = client.get("/readyz")
        assert (answer.status_code, answer.text) == (
            503, "The database or the run store does not answer in time.\n",
        )  # fmt: skip
        assert client.get("/healthz").status_code == 200
    with suppress(BrokenPipeError), identity.open("w") as waiting:  # whoever waited gives up what can't be read twice
        identity.unlink()
        identity.write_text(words)
        waiting.write(words)
    wait_until(lambda: client.get("/readyz").status_code == 200, "it is ready again")


def test_figures_are_for_whoever_has_the_token(app: Flask, tmp_path: Path) -> None:
    client = app.test_client()
    for headers in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic YTpi"},
        {"Authorization": "Bearer"},
    ):
        answer = client.get("/metrics", headers=headers)
        assert (answer.status_code, "leaderboard_" in answer.text) == (401, False)
    assert client.get("/metrics", headers=BEARER).status_code == 200
    none = create_app(Config(f"sqlite:///{tmp_path}/x", store_url=str(tmp_path), secret_key=KEY))
    with closing(none.extensions["database"]):
        assert none.test_client().get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


@BOTH
def test_what_the_database_tells_is_the_same_whichever_process_is_asked(world: World, app: Flask) -> None:
    client, other = app.test_client(), create_app(app.extensions["config"])
    first, second = world.submit(), world.submit("q1 Q0 d2 1 0.5 beta\n")
    world.database.close()
    with world.database.engine.begin() as connection:
        connection.execute(sa.text("UPDATE scoring SET state = 'failed' WHERE submission_id = :id"), {"id": second})
        connection.execute(sa.text("UPDATE scoring SET seconds = 2.5 WHERE submission_id = :id"), {"id": first})
        connection.execute(sa.text("UPDATE scoring SET seconds = 3.5 WHERE submission_id = :id"), {"id": second})
    told = samples(client.get("/metrics", headers=BEARER).text)
    expected = {
        ("leaderboard_database_up", ()): 1.0,
        ("leaderboard_jobs", (("state", "waiting"),)): 1.0,
        ("leaderboard_jobs", (("state", "scoring"),)): 0.0,
        ("leaderboard_jobs", (("state", "failed"),)): 1.0,
        ("leaderboard_workers", ()): 0.0,
        ("leaderboard_mails_waiting", ()): 0.0,
        ("leaderboard_mails_failed", ()): 0.0,
        ("leaderboard_last_backup_timestamp_seconds", ()): 0.0,
        ("leaderboard_last_verify_timestamp_seconds", ()): 0.0,
        ("leaderboard_scoring_seconds", ()): 3.0,
    }
    changing = {("leaderboard_queue_oldest_seconds", ())}
    assert {key: value for key, value in told.items() if key not in changing} == expected
    assert all(told[key] > 0 for key in changing)
    with closing(other.extensions["database"]):
        again = samples(other.test_client().get("/metrics", headers=BEARER).text)
    assert {key: value for key, value in again.items() if key not in changing} == expected


@BOTH
def test_without_the_database_it_is_said_that_it_is_away(world: World, app: Flask) -> None:
    client = app.test_client()
    with away(world):
        answer = client.get("/metrics", headers=BEARER)
    assert (answer.status_code, samples(answer.text)) == (200, {("leaderboard_database_up", ()): 0.0})


def test_names_are_prometheus_own_conventions(app: Flask) -> None:
    text = app.test_client().get("/metrics", headers=BEARER).text
    families = list(text_string_to_metric_families(text))
    assert len(families) == 9
    for family in families:
        assert re.fullmatch(r"leaderboard_[a-z_]+", family.name)
        assert family.documentation.endswith(".")
        assert f"# TYPE {family.name}" in text
        assert (family.type == "counter") == (f"{family.name}_total " in text)


@pytest.mark.parametrize("engine_name", ["sqlite"])  # they lie in files of the site's
def test_page_seconds_are_those_of_both_processes_and_of_kept_pages_too(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(urllib.request.Request(site.url + path, headers=BEARER), timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, ""

    def figures() -> tuple[Samples, list[Path]]:
        files = memory.glob("leaderboard-metrics-*/histogram_*.db")
        return samples(ask("/metrics")[1]), [*files]

    def count(told: Samples, endpoint: str, status: str) -> float:
        return told.get(("leaderboard_page_seconds_count", (("endpoint", endpoint), ("status", status))), 0.0)

    # A process whose figures lie in a mapped file of a full disk is killed by the next request.
    memory = Path("/dev/shm") if Path("/dev/shm").is_dir() else tmp_path
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    url = world.database.engine.url.render_as_string(hide_password=False)
    with running_site(url, tmp_path, workers=0, processes=2, metrics_token=TOKEN) as site:
        asked = 0
        pids: list[int] = []
        while len(pids) < 2:  # both processes have answered
            with ThreadPoolExecutor(8) as pool:
                assert {status for status, _ in pool.map(ask, ["/campaigns/small"] * 16)} == {200}
            asked += 16
            told, files = figures()
            pids = [pid for pid in children(site.serve.pid) if any(f"_{pid}.db" in str(file) for file in files)]
        assert ask("/no-such-page")[0] == 404
        told, files = figures()
        assert count(told, "campaigns.campaign", "200") == asked
        assert count(told, "none", "404") == 1
        (folder,) = {file.parent for file in files for pid in pids if f"_{pid}.db" in str(file)}
        assert folder.stat().st_mode & 0o077 == 0
        assert site.serve.terminate() == 0
    assert not folder.exists()
