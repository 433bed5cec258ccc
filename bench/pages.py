"""What pages of a large campaign cost, on both engines: `python -m bench.pages [--systems N] [--runs N]`.

First views are requests to a site that keeps no page, in this process: processor time, statements and bytes. Unchanged
pages are asked for over 16 connections of a site of two processes, and of a bare Flask view that answers with the same
bytes, in turn.
"""

import argparse
import gzip
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from flask import Flask, Response
from flask.testing import FlaskClient

from bench.campaigns import Shape, make_campaign
from bench.measuring import ROOT
from leaderboard import migrate
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.models import Submission, User
from leaderboard.services import sessions
from leaderboard.services.events import present
from leaderboard.web import create_app
from tests.support.postgres import postgres_server
from tests.support.statements import counted

__all__ = ["pages"]

PROCESSES, CONNECTIONS = 2, 16
SECONDS = 3.0  # of one round of requests
ROUNDS = 5
PAGES = {  # what is measured: required and aim in ms, under the address of a campaign
    "board": ("/2020", 150, 50),
    "queries": ("/2020/queries", 150, 50),
    "a query": ("/2020/queries/q1", 150, 50),
    "a run": ("run", 150, 50),
    "progress": ("/progress", 300, 100),
    "front page": ("front", 300, 100),
}
MOST_STATEMENTS, HEAVIEST_CHART = 10, 100_000
OF_A_PAGE = re.compile(r'(?:href|src)="(/[^"]+\.(?:css|js)(?:\?[^"]*)?)"')


def pages(shape: Shape) -> None:
    """Prints the table, both engines one after the other."""
    print("\n| engine | case | required | aim | measured |\n|---|---|---|---|---|")
    for engine in ("sqlite", "postgresql"):
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            url = f"sqlite:///{folder}/bench.sqlite"
            if engine == "postgresql":
                server = sa.make_url(stack.enter_context(postgres_server()))
                url = server.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
            _engine(
                engine, Config(database_url=url, store_url=f"{folder}/store", secret_key=secrets.token_hex(16)), shape
            )


def _engine(engine: str, config: Config, shape: Shape) -> None:
    database = Database.connect(config.database_url)
    migrate.upgrade(database)
    few = max(1, shape.systems // 10)
    for slug, own in (
        ("large", shape),
        ("few", Shape(few, few, shape.queries, shape.measures)),
        ("many", Shape(few, shape.runs, shape.queries, shape.measures)),
    ):
        make_campaign(database, own, slug=slug)
    app = create_app(_without_pages(config))
    client = app.test_client()
    for name, (path, required, aim) in PAGES.items():
        seconds, statements, size = _first_view(app, client, _address(database, "large", path))
        print(f"| {engine} | first view: {name} | {required} ms | {aim} ms | {seconds * 1e3:.0f} ms |")
        print(f"| {engine} | statements: {name} | {MOST_STATEMENTS} | | {statements} |")
        if name in ("progress", "front page"):
            print(f"| {engine} | gzipped: {name} | {HEAVIEST_CHART:,} B | | {size:,} B |")
    for name, (path, *_) in PAGES.items():
        if path != "front":
            grown, before = (_first_view(app, client, _address(database, slug, path))[0] for slug in ("many", "few"))
            print(f"| {engine} | growth: {name} | 1.5 × | 1.1 × | {grown / before:.2f} × |")
    print(
        f"| {engine} | the board's weight, all in, gzipped | 120,000 B | 60,000 B | {_weight(client):,} B |", flush=True
    )
    _unchanged(engine, config, database, client)
    database.close()


def _without_pages(config: Config) -> Config:
    return Config(config.database_url, config.store_url, config.secret_key, kept_bytes=0, secure_cookies=False)


def _address(database: Database, slug: str, path: str) -> str:
    if path == "front":
        return "/"
    if path != "run":
        return f"/campaigns/{slug}{path}"
    with database.read() as session:
        own = sa.select(sa.func.max(Submission.id)).where(Submission.evaluation.has(slug="2020"))
        return (
            f"/submissions/{session.scalar(own.where(Submission.evaluation.has(campaign_id=_campaign(session, slug))))}"
        )


def _campaign(session: Any, slug: str) -> int:
    return int(session.scalar(sa.text("SELECT id FROM campaign WHERE slug = :slug"), {"slug": slug}))


def _first_view(app: Flask, client: FlaskClient, path: str) -> tuple[float, int, int]:
    """(seconds of processor, the least of some; statements; bytes gzipped)."""
    client.get(path)  # what is made once in a process
    taken = []
    with counted(app) as ran:
        for _ in range(ROUNDS):
            ran.clear()
            start = time.process_time()
            answer = client.get(path)
            taken.append(time.process_time() - start)
        if answer.status_code != 200:
            raise RuntimeError(f"{path} answered {answer.status}")
        return min(taken), len(ran), len(gzip.compress(answer.data, 6))


def _weight(client: FlaskClient) -> int:
    """Bytes that the board's page, its style sheets and its scripts are sent in."""
    page = client.get("/campaigns/large/2020")
    found = set(OF_A_PAGE.findall(page.text))
    sheets = sum(len(client.get(path, headers={"Accept-Encoding": "gzip"}).data) for path in found)
    return len(gzip.compress(page.data, 6)) + sheets


def _unchanged(engine: str, config: Config, database: Database, client: FlaskClient) -> None:
    path = "/campaigns/large/2020"
    with database.write() as session:
        user = User(name="Bench", name_key="bench", password_hash=None, created_at=present())
        session.add(user)
        session.flush()
        token = sessions.start(session, user.id, present())
    app = client.application
    signer = app.session_interface.get_signing_serializer(app)  # type: ignore[attr-defined]  # Flask's own sessions
    cookie = {"Cookie": f"leaderboard={signer.dumps({'_user_id': token})}"}
    with tempfile.NamedTemporaryFile() as body, _site(config) as ours:
        tag = _ask(ours, path, {"Accept-Encoding": "gzip"})[0]["etag"]
        body.write(_ask(ours, path, {"Accept-Encoding": "gzip"})[1])
        body.flush()
        with _bare(Path(body.name)) as bare:
            for case, required, aim, headers in (
                ("signed out", 0.35, 0.6, {}),
                ("signed in", 0.15, 0.3, cookie),
                ("304 to its tag", 0.35, 0.6, {"If-None-Match": tag}),
            ):
                own, theirs = [], []
                for _ in range(ROUNDS):  # in turn, so that a busy machine is busy for both
                    own.append(_rate(ours, path, {"Accept-Encoding": "gzip", **headers}))
                    theirs.append(_rate(bare, "/", {}))
                ratio = sorted(own)[ROUNDS // 2] / sorted(theirs)[ROUNDS // 2]
                print(f"| {engine} | unchanged board, {case} | {required} × | {aim} × | {ratio:.2f} × |", flush=True)


@contextmanager
def _site(config: Config) -> Iterator[int]:
    own = {"DATABASE_URL": config.database_url, "STORE_URL": config.store_url, "SECRET_KEY": config.secret_key}
    environment = {f"LEADERBOARD_{name}": value for name, value in {**own, "SECURE_COOKIES": "no"}.items()}
    command = [
        "-m",
        "leaderboard",
        "serve",
        "--port",
        "0",
        "--workers",
        str(PROCESSES),
        "--threads",
        str(CONNECTIONS // PROCESSES),
    ]
    with _listening(command, environment, r"listens at http://[^:]+:(\d+)") as port:
        yield port


@contextmanager
def _bare(body: Path) -> Iterator[int]:
    options = ["--workers", str(PROCESSES), "--threads", str(CONNECTIONS // PROCESSES), "--bind", "127.0.0.1:0"]
    command = ["-m", "gunicorn", *options, "--keep-alive", "60", "bench.pages:bare_view()"]
    with _listening(command, {"BENCH_BODY": str(body)}, r"Listening at: http://[^:]+:(\d+)") as port:
        yield port


def bare_view() -> Flask:
    """Nothing but the bytes."""
    app = Flask("bare")
    body = Path(os.environ["BENCH_BODY"]).read_bytes()

    @app.get("/")
    def page() -> Response:
        return Response(body, content_type="text/html; charset=utf-8")

    return app


@contextmanager
def _listening(command: Sequence[str], environment: Mapping[str, str], says: str) -> Iterator[int]:
    """A server in a process of its own; the port that it says it listens at."""
    options: dict[str, Any] = {"cwd": ROOT, "env": {**os.environ, **environment}, "text": True}
    with subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options
    ) as server:
        try:
            for line in server.stdout or ():
                if found := re.search(says, line):
                    break
            else:
                raise RuntimeError(f"{' '.join(command)} does not listen")
            yield int(found[1])
        finally:
            server.terminate()


def _rate(port: int, path: str, headers: Mapping[str, str]) -> float:
    """Requests a second over all connections."""
    counts = [0] * CONNECTIONS
    until = time.perf_counter() + SECONDS

    def asking(number: int) -> None:
        connection = socket.create_connection(("127.0.0.1", port))
        while time.perf_counter() < until:
            _, _, connection = _exchange(connection, port, path, headers)
            counts[number] += 1
        connection.close()

    threads = [threading.Thread(target=asking, args=(number,)) for number in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / SECONDS


def _ask(port: int, path: str, headers: Mapping[str, str]) -> tuple[dict[str, str], bytes]:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        return _exchange(connection, port, path, headers)[:2]


def _exchange(
    connection: socket.socket, port: int, path: str, headers: Mapping[str, str]
) -> tuple[dict[str, str], bytes, socket.socket]:
    """One request and its answer; the connection for the next one."""
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    data = b""
    while b"\r\n\r\n" not in data:
        got = connection.recv(1 << 16)
        if not got:
            raise RuntimeError("the server has hung up")
        data += got
    head, _, body = data.partition(b"\r\n\r\n")
    status, *given = head.decode("latin-1").split("\r\n")
    if " 200 " not in status and " 304 " not in status:
        raise RuntimeError(f"{path} answered {status}")
    told = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in given)}
    size = int(told.get("content-length", 0)) if " 304 " not in status else 0
    parts = [body]
    missing = size - len(body)
    while missing > 0:
        parts.append(connection.recv(1 << 18))
        missing -= len(parts[-1])
    if told.get("connection") == "close":
        connection.close()
        connection = socket.create_connection(("127.0.0.1", port))
    return told, b"".join(parts), connection


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.pages", description=__doc__)
    parser.add_argument("--systems", type=int, default=1_000, help="systems of the large campaign (1000)")
    parser.add_argument("--runs", type=int, default=10_000, help="submissions of its last year (10000)")
    arguments = parser.parse_args()
    pages(Shape(systems=arguments.systems, runs=arguments.runs))


if __name__ == "__main__":
    main()
