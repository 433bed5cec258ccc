"""Clients of a running site that no browser is: one that logs in and sends what it likes, and a crowd of slow ones."""

import asyncio
import contextlib
import http.client
import re
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from tests.support.pages import hidden

T = TypeVar("T")

BOUNDARY = "cut"
ANSWER_SECONDS = 30.0
PAUSE_SECONDS = 0.5  # between two pieces of a slow sender
UPLOAD_BYTES = 10_000_000  # what a slow sender says that it will send


def run(besieged: Coroutine[Any, Any, T]) -> T:
    """What it gives, in a thread of its own: a browser's tests may leave a loop running in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, besieged).result()


class Client:
    """One client with cookies, on one connection. `connection` is there for what `ask` can't do."""

    def __init__(self, url: str) -> None:
        self.address = urlsplit(url).netloc
        self.connection = http.client.HTTPConnection(self.address, timeout=ANSWER_SECONDS)
        self.cookies: dict[str, str] = {}

    def ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        """The status and the text of the answer; `body` is sent as a form."""
        headers = {"Cookie": self.cookie}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        for cookie in answer.headers.get_all("Set-Cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer.status, answer.read().decode()

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def token(self, path: str) -> str:
        """The token of the form at `path`."""
        return hidden(self.ask("GET", path)[1])

    def log_in(self, name: str, password: str) -> None:
        form = {"csrf_token": self.token("/login"), "name": name, "password": password}
        status, _ = self.ask("POST", "/login", urlencode(form))
        assert status in {302, 303}

    def begin_upload(self, path: str, size: int, content: bytes) -> None:
        """Sends the head of an upload of `size` bytes, the fields before the file and the first bytes of it."""
        self.connection.request("POST", path, self.first_bytes(path, content), self._upload_head(size))

    def _upload_head(self, size: int) -> dict[str, str]:
        return {
            "Cookie": self.cookie,
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            "Content-Length": str(size),
        }

    def first_bytes(self, path: str, content: bytes) -> bytes:
        """The form at `path`, for a new system of the first team that it offers, up to the first bytes of the file."""
        page = self.ask("GET", path)[1]
        team = re.search(r'value="(new-\d+)"', page)
        assert team is not None
        part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="'
        fields = f'{part}csrf_token"\r\n\r\n{hidden(page)}\r\n{part}system"\r\n\r\n{team[1]}\r\n'
        return f'{fields}{part}run"; filename="a.run"\r\n\r\n'.encode() + content

    def upload_request(self, path: str, size: int, content: bytes) -> bytes:
        """The same as the bytes of the whole request, for others to send."""
        body = self.first_bytes(path, content)
        head = "".join(f"{name}: {value}\r\n" for name, value in self._upload_head(size).items())
        return f"POST {path} HTTP/1.1\r\nHost: {self.address}\r\n{head}\r\n".encode() + body

    def close(self) -> None:
        self.connection.close()


def upload_requests(url: str, names: Sequence[str], password: str, path: str, size: int, content: bytes) -> list[bytes]:
    """The request of an upload of each of these accounts, as `Client.upload_request` makes it."""
    requests = []
    for name in names:
        with contextlib.closing(Client(url)) as client:
            client.log_in(name, password)
            requests.append(client.upload_request(path, size, content))
    return requests


class Crowd:
    """Open connections of slow clients. `probe` asks for pages beside them, as somebody else would."""

    def __init__(self, address: str) -> None:
        self._host, _, port = address.partition(":")
        self._port = int(port)
        self.writers: list[asyncio.StreamWriter] = []

    async def join(self, count: int, said: bytes) -> None:
        """`count` more connections, each of which has said `said` and then goes on with `a` now and then."""
        for _ in range(count):
            _, writer = await asyncio.open_connection(self._host, self._port)
            writer.write(said)
            self.writers.append(writer)

    async def trickle(self, writers: Sequence[asyncio.StreamWriter]) -> None:
        """Goes on sending a byte on each of them until it is cancelled."""
        while True:
            for writer in writers:
                with contextlib.suppress(ConnectionError):
                    writer.write(b"a")
            await asyncio.sleep(PAUSE_SECONDS)

    async def ask(self, path: str) -> tuple[int, float]:
        """The status of a page on a new connection, and the seconds until it was there as a whole."""
        started = time.perf_counter()
        reader, writer = await asyncio.open_connection(self._host, self._port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read(-1)
        writer.close()
        return int(answer.split(maxsplit=2)[1]), time.perf_counter() - started

    async def probe(self, paths: Sequence[str], times: int) -> list[tuple[str, int, float]]:
        """Asks for each page so many times, one after the other: path, status and seconds of each answer."""
        return [(path, *await self.ask(path)) for _ in range(times) for path in paths]


@asynccontextmanager
async def crowd(address: str, uploads: Sequence[bytes], *, silent: int, half_sent: int) -> AsyncIterator[Crowd]:
    """Opens a connection for each of the begun `uploads`, and so many without a byte and with half a head.

    The uploads and every second half-sent head go on byte by byte while the block runs.
    """
    made = Crowd(address)
    for said in uploads:
        await made.join(1, said)
    await made.join(half_sent, b"GET / HTTP/1.1\r\nHost: here\r\nX-Long: a")
    slow = made.writers[: len(uploads) + half_sent // 2]
    await made.join(silent, b"")
    sending = asyncio.create_task(made.trickle(slow))
    try:
        yield made
    finally:
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sending
        for writer in made.writers:
            writer.transport.abort()


def file_of(address: str, ending: str) -> str:
    """Of the file of a page: the ending stands before what the address asks for."""
    path, mark, asked = address.partition("?")
    return f"{path}.{ending}{mark}{asked}"
