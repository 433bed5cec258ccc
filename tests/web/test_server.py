"""`leaderboard serve` and clients that are slow on purpose: senders, readers, and those that only hold a connection."""

import asyncio
import datetime as dt
import gc
import io
import math
import resource
import shutil
import signal
import socket
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa
from gunicorn.workers import gthread
from werkzeug.exceptions import ClientDisconnected

from leaderboard.cli.serve import THREADS
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.errors import TooSlow
from leaderboard.store import IDENTITY
from leaderboard.submissions.models import Submission
from leaderboard.web import server
from leaderboard.web.server import gate
from tests.support.clients import Client, crowd, run, upload_requests
from tests.support.processes import Process
from tests.support.site import LEADERBOARD, Site, running_site
from tests.support.waiting import wait_until
from tests.support.world import PASSWORD, add_senders, build_world

FORM = "/campaigns/small/2026/submit"
LINE = b"q1 Q0 d1 1 0.9 alpha\n"
LINES = 20_000  # more bytes than the site awaits before it writes any of them
UPLOADS = 64
SENDERS = 4  # one person's files that arrive or wait are 20 at most
MOST_SECONDS = 1.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("site")


@pytest.fixture(scope="module")
def site(migrated_sqlite: Path, folder: Path) -> Iterator[Site]:
    """A site as `leaderboard serve` starts it, on SQLite, without a worker."""
    file = folder / "leaderboard.sqlite"
    shutil.copyfile(migrated_sqlite, file)
    with closing(Database.connect(f"sqlite:///{file}")) as database:
        build_world(database, folder).change_evaluation(daily_quota=None)
        add_senders(database, SENDERS)
    with running_site(f"sqlite:///{file}", folder, workers=0) as site:
        yield site


@pytest.fixture
def ada(site: Site) -> Iterator[Client]:
    with closing(Client(site.url)) as client:
        client.log_in("Ada", PASSWORD)
        yield client


def kept_in(folder: Path) -> list[Path]:
    return [path for path in (folder / "store").rglob("*") if path.is_file() and path.name != IDENTITY]


def test_sixty_four_slow_uploads_and_two_hundred_idle_or_half_sent_connections_stop_no_page(
    site: Site, folder: Path
) -> None:
    names = [f"Sender {number}" for number in range(SENDERS)]
    requests = upload_requests(site.url, names, PASSWORD, FORM, 10_000_000, LINE * LINES)

    async def besieged() -> list[tuple[str, int, float]]:
        async with crowd(
            site.url.removeprefix("http://"), requests * (UPLOADS // SENDERS), silent=100, half_sent=100
        ) as slow:
            while len(kept_in(folder)) < UPLOADS:
                await asyncio.sleep(0.05)
            return await slow.probe(["/healthz", "/", "/campaigns/small/2026"], 5)

    answers = run(asyncio.wait_for(besieged(), 60))
    assert {status for _, status, _ in answers} == {200}
    assert sorted(seconds for _, _, seconds in answers)[-2] < MOST_SECONDS  # one may meet a busy machine
    wait_until(lambda: not kept_in(folder), "the uploads whose senders have gone leave nothing")


@pytest.mark.parametrize(
    ("path", "size"), [("/login", 60_000), ("/organise/small/settings", 900_000), (FORM, 10_000_000)]
)
def test_more_slow_posts_of_visitors_than_there_are_threads_hold_up_no_page(site: Site, path: str, size: int) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    slow = f"{head}Content-Length: {size}\r\n\r\na=".encode()

    async def siege() -> list[tuple[str, int, float]]:
        async with crowd(Client(site.url).address, [slow] * 2 * THREADS, silent=0, half_sent=0) as posts:
            return await posts.probe(["/healthz"], 3)

    answers = run(asyncio.wait_for(siege(), 60))
    assert [status for _, status, _ in answers] == [200] * 3
    assert max(seconds for *_, seconds in answers) < server.HEAD_SECONDS / 2


def test_a_reader_who_takes_nothing_of_an_answer_holds_no_thread(site: Site) -> None:
    async def besieged() -> list[tuple[str, int, float]]:
        ask = b"GET /static/bootstrap/css/bootstrap.min.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        async with crowd(site.url.removeprefix("http://"), [], silent=0, half_sent=0) as slow:
            await slow.join(
                UPLOADS, ask * 40
            )  # asked for forty times over, far more than the system keeps for a reader
            return await slow.probe(["/healthz"], 5)

    answers = run(asyncio.wait_for(besieged(), 60))
    assert {status for _, status, _ in answers} == {200}


@pytest.mark.parametrize(
    "size",
    [
        b"Content-Length: 00000000000000000000060000",
        b"Content-Length: 1\r\nContent-Length: 60000",
        b"Transfer-Encoding: chunked",
    ],
)
def test_a_body_whose_size_is_said_oddly_is_awaited_by_no_thread_of_the_pages(site: Site, size: bytes) -> None:
    head = b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"

    async def siege() -> list[tuple[str, int, float]]:
        async with crowd(Client(site.url).address, [head + size + b"\r\n\r\na="] * 24, silent=0, half_sent=0) as slow:
            return await slow.probe(["/healthz"], 3)

    answers = run(siege())
    assert [status for _, status, _ in answers] == [200] * 3
    assert max(seconds for *_, seconds in answers) < 5 * MOST_SECONDS  # a minute where a thread waits for the body


@pytest.mark.parametrize(
    ("path", "size", "sent", "status"),
    [
        ("/login", b"Content-Length: 900000", 0, 413),
        ("/login", b"Transfer-Encoding: chunked", 0, 411),
        (FORM, b"Content-Length: 900000", 0, 302),  # to log in first
        (FORM, b"Content-Length: 90000000", 90_000_000, 302),  # sent to its end before the answer is read
    ],
)
def test_an_answer_to_what_was_not_read_to_its_end_says_that_the_connection_closes(
    site: Site, path: str, size: bytes, sent: int, status: int
) -> None:
    host, _, port = Client(site.url).address.partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as client:
        client.sendall(b"POST %b HTTP/1.1\r\nHost: 127.0.0.1\r\n%b\r\n\r\n" % (path.encode(), size))
        client.sendall(bytes(sent))
        answer = b"".join(iter(lambda: client.recv(4096), b""))  # until the site ends it
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert b"\r\nConnection: close\r\n" in answer
    assert (b"At most 64 KiB are read here." in answer) is (status == 413)


def test_a_sender_who_goes_on_after_the_answer_is_left_no_connection_that_gunicorn_would_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would do so in the loop that takes connections, while nobody else is let in."""
    monkeypatch.setattr(gthread.ThreadWorker, "handle", lambda *_: False)  # answered, and to be closed
    monkeypatch.setattr(server, "HEAD_SECONDS", -1.0)  # as if the sender had gone on for long
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(LINE)
        ours.settimeout(5)
        assert server.Worker.__new__(server.Worker).handle(SimpleNamespace(sock=ours)) is False
        assert (ours.recv(1), theirs.recv(1)) == (b"", b"")


def test_a_short_upload_began_with_its_first_byte_though_the_site_waits_for_the_whole(
    site: Site, ada: Client, folder: Path
) -> None:
    body = ada.first_bytes(FORM, LINE + b"q1 Q0 d2 2 0.1 alpha\n")
    boundary = body.partition(b"\r\n")[0]
    for name, value in (("designation", "contrastive"), ("new_system", "Short and slow"), ("threshold", "0.5")):
        body += b"\r\n%b\r\nContent-Disposition: form-data; name=\"%b\"\r\n\r\n%b" % (
            boundary, name.encode(), value.encode()
        )  # fmt: skip
    body += b"\r\n%b--\r\n" % boundary
    host, _, port = ada.address.partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        head = f"POST {FORM} HTTP/1.1\r\nHost: {ada.address}\r\nCookie: {ada.cookie}\r\nConnection: close\r\n"
        head += (
            f"Content-Type: multipart/form-data; boundary={boundary[2:].decode()}\r\nContent-Length: {len(body)}\r\n"
        )
        client.sendall(f"{head}\r\n".encode() + body[:-20])
        for _ in range(5):  # each in a connection of its own, after which the site has long read what came before
            with closing(Client(site.url)) as other:
                assert other.ask("GET", "/healthz")[0] == 200
        between = dt.datetime.now(dt.UTC)
        client.sendall(body[-20:])
        assert b" 302 " in client.recv(4096)
    with (
        closing(Database.connect(f"sqlite:///{folder / 'leaderboard.sqlite'}")) as database,
        database.read() as session,
    ):
        run = session.scalars(sa.select(Submission)).one()
    assert run.begun_at < between < run.received_at


def test_a_site_that_is_stopped_lets_an_upload_end_first(migrated_sqlite: Path, tmp_path: Path) -> None:
    shutil.copyfile(migrated_sqlite, tmp_path / "leaderboard.sqlite")
    url = f"sqlite:///{tmp_path / 'leaderboard.sqlite'}"
    with closing(Database.connect(url)) as database:
        build_world(database, tmp_path)
        with running_site(url, tmp_path, workers=0) as own, closing(Client(own.url)) as ada:
            ada.log_in("Ada", PASSWORD)
            lines = b"".join(LINE.replace(b"d1", b"document-%d" % number) for number in range(LINES))
            lines += LINE.replace(b"0.9", b"0.1")  # so that θ parts the documents, and no yes is asked for
            request = ada.upload_request(FORM, 10_000_000, lines)
            head, _, body = request.partition(b"\r\n\r\n")
            part = b"\r\n--cut\r\nContent-Disposition: form-data; name="
            rest = part + b'"designation"\r\n\r\ncontrastive' + part + b'"new_system"\r\n\r\nLate'
            rest += part + b'"threshold"\r\n\r\n0.5\r\n--cut--\r\n'
            head = head.replace(b"10000000", str(len(body) + len(rest)).encode())
            host, _, port = ada.address.partition(":")
            with socket.create_connection((host, int(port)), timeout=30) as client:
                client.sendall(head + b"\r\n\r\n" + body)
                wait_until(lambda: len(kept_in(tmp_path)) == 1, "the upload is being read")
                own.serve.send_signal(signal.SIGTERM)
                wait_until(lambda: not listens(host, int(port)), "nobody else is let in")
                client.sendall(rest)
                assert client.recv(4096).startswith(b"HTTP/1.1 302 ")
            assert own.serve.wait(seconds=30) == 0
        with database.read() as session:
            assert session.scalar(sa.select(sa.func.count()).select_from(Submission)) == 1


def listens(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


def test_a_site_on_the_socket_of_a_supervisor_shuts_nobody_out_with_more_connections_than_a_process_holds(
    site: Site, folder: Path
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))

    async def besieged(address: str) -> list[tuple[str, int, float]]:
        async with crowd(address, [], silent=1_000, half_sent=200) as slow:
            return await slow.probe(["/healthz"], 5)

    try:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"127.0.0.1:{listener.getsockname()[1]}"
            command = [*LEADERBOARD, "serve", "--fd", str(listener.fileno()), "--workers", "1"]
            with Process(command, env=site.environment, cwd=folder, pass_fds=[listener.fileno()]) as own:
                assert own.wait_for_url(f"http://{address}/healthz", seconds=60) == "ok\n"
                answers = run(asyncio.wait_for(besieged(address), 60))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert {status for _, status, _ in answers} == {200}


def test_the_loop_that_ends_waits_goes_on_whoever_comes_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: dict[Any, float] = {object(): math.inf for _ in range(5_000)}  # more pairs than Python keeps room for
    monkeypatch.setattr(server, "_ends", ends)

    def come(*_: Any) -> None:
        """Wherever Python looks for what it could forget, another thread may go on."""
        ends[object()] = math.inf

    worker = server.Worker.__new__(server.Worker)
    worker.pending_conns = deque()
    before = gc.get_threshold()
    gc.callbacks.append(come)
    try:
        gc.set_threshold(100)
        worker.murder_pending()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(come)


def asked(body: bytes, size: int, read: list[bytes]) -> list[str]:
    """The statuses with which a request of so many bytes is answered, of which `body` came before the sender went."""
    statuses: list[str] = []

    def app(environ: Any, start_response: Any) -> list[bytes]:
        read.append(environ["wsgi.input"].read())
        start_response("200 OK", [])
        return []

    ours, theirs = socket.socketpair()
    with ours, theirs:
        environ = {"REQUEST_METHOD": "POST", "CONTENT_LENGTH": str(size), "wsgi.input": io.BytesIO(body)}
        environ["gunicorn.socket"] = ours
        gate(app, Config(), 1)(environ, lambda status, *_: statuses.append(status))
    return statuses


def test_a_form_is_given_on_whole_and_one_that_is_cut_off_is_refused() -> None:
    read: list[bytes] = []
    assert asked(b"a=bc", 4, read) == ["200 OK"]
    assert asked(b"a=b", 4, read) == ["408 REQUEST TIMEOUT"]
    assert read == [b"a=bc"]


def test_an_upload_is_given_on_whole_and_one_that_is_cut_off_or_too_slow_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[bytes] = []
    whole = LINE * LINES
    assert asked(whole, len(whole), read) == ["200 OK"]
    assert read == [whole]
    with pytest.raises(ClientDisconnected):
        asked(whole[:-1], len(whole), read)
    monkeypatch.setattr(server, "FREE_SECONDS", -60.0)  # as if the sender had had it all and a minute more
    with pytest.raises(TooSlow):
        asked(whole[:10], len(whole), read)
    assert len(read) == 1
