"""What `leaderboard serve` and `leaderboard worker` log: one line an event, the number that a page shows, no secret."""

import json
import os
import re
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from flask import Flask
from flask.testing import FlaskClient

from leaderboard import cli, migrate
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.web.app import create_app
from tests.support.outages import away
from tests.support.postgres import stoppable_server
from tests.support.processes import Process
from tests.support.shared import REPOSITORY
from tests.support.site import LEADERBOARD, running_site
from tests.support.waiting import wait_until
from tests.support.world import RUN, World, build_world
from tests.web.conftest import BOTH

SECRETS = ("sekret-token", "sekret-argument", "a secret that only the tests know", "203.0.113.9")
ADDRESSES = (
    "/", "/campaigns/small/2026", "/password/reset/sekret-token?a=sekret-argument",
    "/password/reset/sekret-token/x", "/join/sekret-token", "/api/v1/campaigns",
)  # fmt: skip
PROCESSES = 2


@pytest.fixture
def world(database: Database, tmp_path: Path, quick_hashes: None) -> Iterator[World]:
    with closing(build_world(database, tmp_path)) as world:
        yield world


def ask(url: str) -> tuple[int, str, str]:
    """Status, the header X-Request-ID, the body."""
    headers = {"X-Forwarded-For": "203.0.113.9", "X-Request-ID": "made-by-somebody"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:
            return answer.status, answer.headers["X-Request-ID"], answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["X-Request-ID"], error.read().decode()


def events(process: Process) -> list[dict[str, Any]]:
    """What a process has logged; each line is one event as JSON."""
    return [json.loads(line) for line in process.output.splitlines() if line]


@BOTH
def access_log(serve: Process) -> list[dict[str, Any]]:
    return [event for event in events(serve) if event["logger"] == "leaderboard.access"]


def test_while_the_database_is_away_one_line_tells_it_and_each_answer_is_found_by_its_number(
    world: World, tmp_path: Path
) -> None:
    url = world.database.engine.url.render_as_string(hide_password=False)
    with running_site(url, tmp_path, workers=0, processes=PROCESSES, log="json", access_log="yes") as site:
        with away(world):
            answers = [ask(site.url + address) for address in ADDRESSES * 10]
        numbers = {number for _, number, _ in answers}
        for malformed in ("GET /join/sekret-token x?sekret-argument", "GET / HTTP/1.1\r\nsekret-token"):
            with closing(
                socket.create_connection(("127.0.0.1", urlsplit(site.url).port or 0), timeout=60)
            ) as connection:
                connection.sendall(f"{malformed}\r\n\r\n".encode())
                assert connection.recv(12) == b"HTTP/1.1 400"
        wait_until(lambda: numbers <= {event["request"] for event in access_log(site.serve)}, "all is logged")
        output, said = site.serve.output, events(site.serve)
    assert {status for status, _, _ in answers} == {503, 404}
    assert len(numbers) == len(answers)
    assert all(re.fullmatch("[0-9a-f]{12}", number) for number in numbers)
    for status, number, body in answers:
        assert (number in body) == (status == 503)
    refused = [event for event in said if event["level"] == "ERROR"]
    assert 1 <= len(refused) <= PROCESSES
    assert {(event["kind"], event["logger"]) for event in refused} == {("NoDatabase", "leaderboard.web.errors")}
    assert {event["request"] for event in refused} <= numbers
    answered = [event for event in access_log(site.serve) if event["path"] != "/healthz"]
    assert len(answered) == len(answers)
    assert {event["path"] for event in answered} >= {"/password/reset/…", "/join/…", "/campaigns/small/2026"}
    assert all(event["bytes"] > 0 and event["seconds"] >= 0 for event in answered)
    assert not [secret for secret in (*SECRETS, "127.0.0.1:", "from ip=") if secret in output.replace(site.url, "")]


def test_when_the_servers_connections_run_out_each_process_says_so_in_one_line(tmp_path: Path) -> None:
    with stoppable_server() as server:
        with closing(Database.connect(server.url)) as database:
            migrate.upgrade(database)
            build_world(database, tmp_path).close()
        with running_site(server.url, tmp_path, workers=0, processes=PROCESSES) as site:
            taken: list[psycopg.Connection[Any]] = []
            try:
                while True:
                    taken.append(psycopg.connect(server.url))
            except psycopg.OperationalError:
                pass
            with ThreadPoolExecutor(8) as pool:
                answers = list(pool.map(ask, [f"{site.url}/campaigns/small?a={number}" for number in range(200)]))
            for connection in taken:
                connection.close()
            lines = site.serve.output.splitlines()
    refused = [number for status, number, _ in answers if status == 503]
    assert len(refused) > 20  # others found a connection that their process had already
    told = [line for line in lines if "ERROR" in line]
    assert 1 <= len(told) <= PROCESSES
    assert all("too many clients" in line and "path=/campaigns/small" in line for line in told)
    assert len(lines) == len(told) + 1  # and where it listens


@pytest.mark.parametrize("engine_name", ["sqlite"])
def test_what_a_worker_logs_of_a_run_has_its_number(world: World, tmp_path: Path) -> None:
    environment = {
        "LEADERBOARD_DATABASE_URL": world.config.database_url,
        "LEADERBOARD_STORE_URL": world.store.url,
        "LEADERBOARD_LOG": "json",
    }
    number = world.submit(RUN)
    with Process([*LEADERBOARD, "worker"], env=os.environ | environment, cwd=REPOSITORY) as worker:
        wait_until(lambda: "RunScores, " in worker.output, "the run is scored")
        said = [event for event in events(worker) if event.get("submission") == number]
    assert [event["message"] for event in said] == ["scoring, attempt 1", "RunScores, done"]


def test_why_a_worker_does_not_start_is_an_event_where_events_are_json(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", f"sqlite:///{tmp_path / 'nowhere' / 'a.sqlite'}")
    monkeypatch.setenv("LEADERBOARD_LOG", "json")
    assert cli.run(["worker"]) == cli.FAILED
    (record,) = caplog.records
    assert (record.levelname, record.name, "nowhere" in record.getMessage()) == ("ERROR", "leaderboard", True)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("LEADERBOARD_LOG", "text")
    assert cli.run(["worker"]) == cli.FAILED
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_a_setting_that_is_refused_is_an_event_too(command: str) -> None:
    own = os.environ | {"LEADERBOARD_LOG": "json", "LEADERBOARD_LEASE_SECONDS": "0"}
    with Process([*LEADERBOARD, command], env=own, cwd=REPOSITORY) as process:
        assert process.wait(seconds=60) == cli.FAILED
        (said,) = events(process)
    assert said["message"].startswith("LEADERBOARD_LEASE_SECONDS: expected")


@pytest.fixture
def failing(tmp_path: Path, migrated_sqlite: Path) -> Iterator[Flask]:
    """A site with a page that fails."""
    config = Config(
        f"sqlite:///{migrated_sqlite}",
        store_url=str(tmp_path / "store"),
        secret_key="a secret that only the tests know",
        secure_cookies=False,
    )
    app = create_app(config)
    for address in ("/fails", "/fails.json", "/fails.csv", "/api/v1/fails"):
        app.add_url_rule(address, address, view_func=lambda: {}["lost"])  # type: ignore[arg-type]  # it returns nothing
    yield app
    app.extensions["database"].close()


@pytest.mark.parametrize("address", ["/fails", "/fails.json", "/fails.csv", "/api/v1/fails"])
def test_a_fault_is_one_event_with_its_traceback_and_the_number_that_the_answer_shows(
    failing: Flask, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = failing.test_client().get(address)
    assert answer.status_code == 500
    assert answer.headers["X-Request-ID"] in answer.text
    (record,) = (record for record in caplog.records if record.levelname == "ERROR")
    assert record.exc_info is not None
    assert record.exc_info[0] is KeyError


def asked(app_client: FlaskClient, number: str) -> str:
    return app_client.get("/healthz", headers={"X-Request-ID": number}).headers["X-Request-ID"]


def test_a_proxys_number_is_taken_where_a_proxy_is_trusted_and_well_formed(tmp_path: Path) -> None:
    for proxies in (0, 1):
        config = Config(f"sqlite:///{tmp_path}/x", store_url=f"{tmp_path}", secret_key="s", trusted_proxies=proxies)
        app = create_app(config)
        with closing(app.extensions["database"]):
            client = app.test_client()
            assert (asked(client, "0123456789abcdef0123456789abcdef") == "0123456789abcdef0123456789abcdef") == bool(
                proxies
            )
            for foreign in ("", "short", "x" * 65, "with blank 0123", "<b>0123456789</b>", "ä" * 10):
                assert re.fullmatch("[0-9a-f]{12}", asked(client, foreign))
