"""A site and a bare Flask view in processes of their own, and how many requests a second they answer."""

import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flask import Flask, Response

from bench.measuring import ROOT
from leaderboard.config import Config

__all__ = ["ask", "bare", "bare_view", "rate", "site"]

PROCESSES, CONNECTIONS = 2, 16
SECONDS = 2.0  # of one round of requests


@contextmanager
def site(config: Config) -> Iterator[int]:
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
def bare(bodies: Path) -> Iterator[int]:
    options = ["--workers", str(PROCESSES), "--threads", str(CONNECTIONS // PROCESSES), "--bind", "127.0.0.1:0"]
    command = ["-m", "gunicorn", *options, "--keep-alive", "60", "bench.serving:bare_view()"]
    with _listening(command, {"BENCH_BODIES": str(bodies)}, r"Listening at: http://[^:]+:(\d+)") as port:
        yield port


def bare_view() -> Flask:
    """Nothing but the bytes: each file of a folder under its name."""
    app = Flask("bare")
    bodies = {file.name: file.read_bytes() for file in Path(os.environ["BENCH_BODIES"]).iterdir()}

    @app.get("/<name>")
    def page(name: str) -> Response:
        return Response(bodies[name], content_type="text/html; charset=utf-8")

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


def rate(port: int, path: str, headers: Mapping[str, str]) -> float:
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


def ask(port: int, path: str, headers: Mapping[str, str]) -> tuple[dict[str, str], bytes]:
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
