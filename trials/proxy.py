"""A proxy in front of a service of this machine, which counts what goes through it and fails some of it on purpose."""

import http.client
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

__all__ = ["Proxy", "proxy"]

TIMEOUT_SECONDS = 30.0
LEFT_OUT = {"connection", "transfer-encoding", "content-length"}


class Proxy:
    """url: where it listens. share: of the requests that fail, half by a 503 and half by a connection that is cut, of
    which again half reach the service first. requests: by method; sent, received: bytes of bodies.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.share = 0.0
        self.requests: Counter[str] = Counter()
        self.failed = self.sent = self.received = 0


class _Handler(BaseHTTPRequestHandler):
    """Of one connection. server: a _Server."""

    protocol_version = "HTTP/1.1"
    server: "_Server"

    def _pass_on(self) -> None:
        made = self.server.made
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        made.requests[self.command] += 1
        made.sent += len(body)
        fate = random.random() / made.share if made.share else 1.0  # below 1 it fails
        made.failed += fate < 1
        if fate < 1 / 2:
            self._answer(503, {}, b"slow down")
        elif fate < 3 / 4:
            self.close_connection = True
        else:
            status, headers, content = self._ask(body)
            if fate < 1:
                self.close_connection = True
                return
            made.received += len(content)
            self._answer(status, headers, content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _pass_on  # noqa: N815  # the names that the class looks for

    def _ask(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        service = http.client.HTTPConnection(self.server.target, timeout=TIMEOUT_SECONDS)
        service.request(self.command, self.path, body, dict(self.headers.items()))
        answer = service.getresponse()
        content = answer.read()
        service.close()
        return answer.status, dict(answer.getheaders()), content

    def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in LEFT_OUT:
                self.send_header(name, value)
        length = headers.get("Content-Length", "0") if self.command == "HEAD" else str(len(content))
        self.send_header("Content-Length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, target: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = urlsplit(target).netloc
        self.made = Proxy(f"http://127.0.0.1:{self.server_port}")


@contextmanager
def proxy(target: str) -> Iterator[Proxy]:
    """In front of this address, such as http://127.0.0.1:9000."""
    with _Server(target) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.made
        finally:
            server.shutdown()
            thread.join()
