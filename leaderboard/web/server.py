"""The site's connections: who sends slowly, reads slowly or only holds a connection takes no thread from the pages.

gunicorn's threaded worker gives a thread to a connection before its request is there, for as long as the sender likes.
Here one loop in each process reads heads and short bodies and writes answers, for any number of connections. A thread
gets a request when it is whole. A request with a long body, an upload, gets a thread of others of its own, in which the
application reads the body while it arrives and may refuse it before it has arrived; `Pace` says how slow it may be.
"""

import datetime as dt
import errno
import os
import re
import selectors
import socket
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

from gunicorn import http  # type: ignore[import-untyped]  # gunicorn has no types
from gunicorn.workers.gthread import TConn, ThreadWorker  # type: ignore[import-untyped]  # as above

from leaderboard.config import Config
from leaderboard.errors import TooSlow
from leaderboard.web.intake import FORM_BYTES

__all__ = ["Channel", "Pace", "PatientWorker"]

HEAD_BYTES = 2**16  # the longest head of a request
HEAD_SECONDS = 15.0  # for a head and a short body, from the first byte or, on a new connection, from its start
IDLE_SECONDS = 5.0  # between two requests of one connection
LINGER_SECONDS = 10.0  # a closed connection goes on being read: a sender that is cut off never shows the answer
STOPPING_SECONDS = 2.0  # what connections without a request get once the site stops
SENDING = 128  # requests in one process whose long bodies arrive at the same time; more of them wait
FREE_SECONDS = 30.0  # of waiting for a body or for a reader before its speed counts
SILENCE_SECONDS = 20.0  # without a single byte
READ_BYTES_PER_SECOND = 10_000  # the least speed of whoever reads an answer
READ_SECONDS = 600.0  # the longest that an answer may take to be read
BYTES_FOR_A_SECOND_MORE = 2**18  # a large file may take longer: a second for each so many bytes that were read
HELD_BYTES = 2**22  # of one answer in memory; what comes after that waits in a temporary file
UNREAD_BYTES = 2**27  # answers in memory that wait for slow readers; beyond, the slowest of them is cut off
UNREAD_ON_DISK = 2**34  # and those in temporary files
PIECE = 2**16
LOOK_SECONDS = 0.25  # between two looks at which connections ran out of time
END_OF_HEAD = b"\r\n\r\n"
SIZE = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)[ \t]*\r\n", re.IGNORECASE)
SAYS_SIZE = re.compile(rb"content-length", re.IGNORECASE)
OTHER_BODY = re.compile(rb"transfer-encoding|\r\nexpect", re.IGNORECASE)
TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Pace:
    """How slow a body or the reader of an answer may be.

    bytes_per_second  the least speed on average over the seconds that were spent waiting for it; 0 is any
    seconds           the longest that it may take from its beginning; 0 is any
    free_seconds      of waiting before the speed counts
    silence_seconds   the longest wait for the next byte
    """

    bytes_per_second: int
    seconds: float
    free_seconds: float = FREE_SECONDS
    silence_seconds: float = SILENCE_SECONDS

    def patience(self, moved: int, waited: float, elapsed: float) -> float:
        """For how many seconds more the next byte may be awaited; 0 or less when it is too slow already.

        moved: bytes so far; waited: seconds spent waiting for them; elapsed: seconds since the beginning.
        """
        left = [self.silence_seconds]
        if self.bytes_per_second:
            left.append(self.free_seconds + moved / self.bytes_per_second - waited)
        if self.seconds:
            left.append(self.seconds - elapsed)
        return min(left)


class Channel(socket.socket):
    """A client's socket. It never blocks in the loop; in a thread `recv` waits, as long as `pace` allows."""

    def __init__(self, accepted: socket.socket, pace: Pace) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
        super().setblocking(False)
        self.pace = pace
        self.request_began: dt.datetime | None = None  # when the first byte of its head came, in UTC
        self.given_up = False  # the sender was too slow: what it sends from here on is not read
        self._limit: float | None = None
        self._unsent = bytearray()
        self._sent = 0  # of `_unsent`
        self._rest: BinaryIO | None = None  # what comes after `_unsent`, once that is long
        self._rest_read = self._rest_written = 0  # bytes
        self.begin()

    def begin(self) -> None:
        """From here on a request's body is read: its speed counts anew."""
        self._began = time.monotonic()
        self._waited = 0.0
        self._moved = 0

    def arrived(self) -> bytes | None:
        """What has arrived; b"" when the other side has ended, None when nothing has."""
        try:
            return super().recv(PIECE)
        except BlockingIOError:
            return None

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """Waits for up to `size` bytes. Raises TooSlow once, then gives b""; TimeoutError past `settimeout`."""
        while not self.given_up:
            try:
                piece = super().recv(size, flags)
            except BlockingIOError:
                self._wait_for_more()
            else:
                self._moved += len(piece)
                return piece
        return b""

    def _wait_for_more(self) -> None:
        started = time.monotonic()
        patience = self.pace.patience(self._moved, self._waited, started - self._began)
        seconds = patience if self._limit is None else min(patience, self._limit)
        with selectors.PollSelector() as selector:
            selector.register(self, selectors.EVENT_READ)
            came = selector.select(max(seconds, 0.0)) if seconds > 0 else []
        self._waited += time.monotonic() - started
        if came:
            return
        if seconds < patience:
            raise TimeoutError
        self.given_up = True
        raise TooSlow(
            "What you sent arrived too slowly, or nothing came any more, so it was given up and nothing of it is "
            "kept. Send it again over a faster connection; a run file may be compressed with gzip."
        )

    def sendall(self, data: Any, flags: int = 0, /) -> None:  # noqa: ARG002  # socket's signature
        """Sends what the system takes at once and keeps the rest for `flush`: a long answer's in a temporary file."""
        self.flush()
        if self._rest is None and self.held + len(data) <= HELD_BYTES:
            self._unsent += data
        else:
            if self._rest is None:
                self._rest = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # closed once it was read
            with memoryview(data) as view:
                written = 0
                while written < len(view):
                    written += os.pwrite(self._rest.fileno(), view[written:], self._rest_written + written)
            self._rest_written += written
        self.flush()

    def send(self, data: Any, flags: int = 0, /) -> int:  # noqa: ARG002  # socket's signature
        self.sendall(data)
        return len(data)

    def flush(self) -> int:
        """Sends on some of what was kept, as far as the system takes it; the bytes sent. `unsent` says what is left."""
        sent = 0
        while sent < HELD_BYTES and self._take_rest():  # others wait for the loop
            try:
                with memoryview(self._unsent) as view:
                    taken = super().send(view[self._sent : self._sent + PIECE])
            except BlockingIOError:
                break  # the loop goes on when the reader has taken some of it
            self._sent += taken
            sent += taken
        return sent

    def _take_rest(self) -> bool:
        """Whether there is something to send, which is in `_unsent` then."""
        if self._sent < len(self._unsent):
            if self._sent >= HELD_BYTES:
                del self._unsent[: self._sent]
                self._sent = 0
            return True
        self._unsent.clear()
        self._sent = 0
        if self._rest is not None:
            self._unsent += os.pread(self._rest.fileno(), PIECE, self._rest_read)
            self._rest_read += len(self._unsent)
            if self._rest_read == self._rest_written:
                self._forget_rest()
        return bool(self._unsent)

    def _forget_rest(self) -> None:
        if self._rest is not None:
            self._rest.close()
        self._rest, self._rest_read, self._rest_written = None, 0, 0

    def close(self) -> None:
        self._forget_rest()
        super().close()

    @property
    def held(self) -> int:
        """Bytes in memory that wait to be sent."""
        return len(self._unsent) - self._sent

    @property
    def unsent(self) -> int:
        return self.held + self._rest_written - self._rest_read

    def setblocking(self, flag: bool, /) -> None:  # noqa: ARG002  # socket's signature
        """gunicorn wants its threads' sockets to block: that is what `recv` is for here."""
        self._limit = None

    def settimeout(self, value: float | None, /) -> None:
        self._limit = value

    def gettimeout(self) -> float | None:
        return self._limit


class _Connection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """A client's connection, between requests and through them."""

    def __init__(self, cfg: Any, channel: Channel, client: Any, server: Any) -> None:
        super().__init__(cfg, channel, client, server)
        self.parser = http.get_parser(cfg, channel, client)
        self.initialized = self.data_ready = True  # no thread waits for its first byte
        self.arrived = bytearray()  # the head and the body of the next request, as far as they came
        self.needed: int | None = None  # bytes of head and short body; None while the head is not whole
        self.sends_upload = False  # the body of the request in hand has not arrived yet, and may never be read
        self.keep = False  # whether another request may follow
        self.waits_for_request = True
        self.deadline = time.monotonic() + HEAD_SECONDS
        self.writing_since = 0.0
        self.written = 0


class PatientWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's threaded worker with connections that cost it no thread until their request has arrived.

    The application object that gunicorn is given has the installation's Config as `installation`.
    """

    def init_process(self) -> None:
        installation: Config = self.app.installation
        self._sending_pace = Pace(installation.upload_bytes_per_second, installation.upload_seconds)
        self._reading_pace = Pace(READ_BYTES_PER_SECOND, READ_SECONDS)
        self._senders = ThreadPoolExecutor(SENDING, thread_name_prefix="upload")
        self._watched: set[_Connection] = set()  # those in the poller; the others are in a thread's hands
        self._looked = 0.0
        super().init_process()

    def accept(self, listener: socket.socket) -> None:
        """Takes a new connection. Where there are too many, the one that has waited longest without a request goes."""
        if self.nr_conns >= self.worker_connections - 1:
            self._make_room()
        try:
            accepted, client = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return  # another process was faster, or it has gone already
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            self.log.error("no file is left for another connection: %s", error)
            self._make_room()
            return
        self.nr_conns += 1
        channel = Channel(accepted, self._sending_pace)
        connection = _Connection(self.cfg, channel, client, listener.getsockname())
        self._watch(connection, selectors.EVENT_READ, self._request_arrives)

    def _make_room(self) -> None:
        idle = [one for one in self._watched if one.waits_for_request]
        if idle:
            self._drop(min(idle, key=lambda one: one.deadline))

    def _watch(self, connection: _Connection, events: int, callback: Callable[[_Connection], None]) -> None:
        self._watched.add(connection)
        self.poller.register(connection.sock, events, lambda _: callback(connection))

    def _unwatch(self, connection: _Connection) -> None:
        self._watched.discard(connection)
        self.poller.unregister(connection.sock)

    def _drop(self, connection: _Connection) -> None:
        if connection in self._watched:
            self._unwatch(connection)
        self.nr_conns -= 1
        connection.close()

    def _request_arrives(self, connection: _Connection) -> None:
        try:
            piece = connection.sock.arrived()
        except OSError:
            piece = b""
        if piece is None:
            return
        if not piece:
            self._drop(connection)
            return
        if not connection.arrived:
            connection.deadline = time.monotonic() + HEAD_SECONDS
            connection.sock.request_began = dt.datetime.now(dt.UTC)
        connection.arrived += piece
        self._hand_over_when_ready(connection)

    def _hand_over_when_ready(self, connection: _Connection) -> bool:
        """Gives the request to a thread when it has arrived as far as it must; whether it did."""
        if connection.needed is None:
            end = connection.arrived.find(END_OF_HEAD)
            if end < 0 and len(connection.arrived) <= HEAD_BYTES:
                return False
            if end < 0 or end > HEAD_BYTES:
                self._refuse(connection, TOO_LONG)
                return True
            connection.needed = end + len(END_OF_HEAD) + _short_body(bytes(connection.arrived[: end + 2]))
        whole = connection.needed <= len(connection.arrived)
        long = connection.needed > HEAD_BYTES + FORM_BYTES
        if not whole and not long:
            return False
        if connection in self._watched:
            self._unwatch(connection)
        connection.waits_for_request = False
        connection.parser.unreader.unread(bytes(connection.arrived))
        connection.arrived.clear()
        connection.needed = None
        connection.sock.begin()
        connection.sends_upload = long
        pool = self._senders if long else self.tpool
        done = partial(self.method_queue.defer, self.finish_request, connection)
        pool.submit(self.handle, connection).add_done_callback(done)
        return True

    def handle_request(self, request: Any, connection: _Connection) -> bool:
        """Answers one request, in a thread; whether the connection may be used again.

        After an upload it may not, which the answer says: one that is refused has not been read to its end.
        """
        if connection.sends_upload:
            request.force_close()
        return bool(super().handle_request(request, connection))

    def finish_request(self, connection: _Connection, future: "Future[bool]") -> None:
        """Back in the loop: what is left of the answer is written, then the next request awaited."""
        connection.keep = not future.cancelled() and future.exception() is None and future.result()
        connection.writing_since = time.monotonic()
        connection.written = 0
        self._write(connection)

    def _write(self, connection: _Connection) -> None:
        try:
            connection.written += connection.sock.flush()
        except OSError:
            self._drop(connection)
            return
        now = time.monotonic()
        if connection.sock.unsent:
            elapsed = now - connection.writing_since - connection.written / BYTES_FOR_A_SECOND_MORE
            waited = now - connection.writing_since
            connection.deadline = now + self._reading_pace.patience(connection.written, waited, elapsed)
            if connection not in self._watched:
                self._watch(connection, selectors.EVENT_WRITE, self._write)
                self._bound_unread()
            return
        if connection in self._watched:
            self._unwatch(connection)
        if connection.keep:
            self._await_request(connection)
        else:
            self._linger(connection)

    def _bound_unread(self) -> None:
        writing = [one for one in self._watched if one.sock.unsent]
        held, unsent = (
            sum(sizes) for sizes in zip(*((one.sock.held, one.sock.unsent) for one in writing), strict=True)
        )
        if held > UNREAD_BYTES or unsent > UNREAD_ON_DISK:
            slowest = min(writing, key=lambda one: one.writing_since)
            self.log.warning("answers of %d bytes wait for slow readers: one is cut off", unsent)
            self._drop(slowest)

    def _await_request(self, connection: _Connection) -> None:
        connection.waits_for_request = True
        connection.arrived += connection.parser.unreader.take_buffered()  # a client may send on without waiting
        connection.sock.request_began = dt.datetime.now(dt.UTC)
        connection.deadline = time.monotonic() + (HEAD_SECONDS if connection.arrived else IDLE_SECONDS)
        if not self.alive:
            connection.deadline = min(connection.deadline, time.monotonic() + STOPPING_SECONDS)
        if not self._hand_over_when_ready(connection):
            self._watch(connection, selectors.EVENT_READ, self._request_arrives)

    def _refuse(self, connection: _Connection, answer: bytes) -> None:
        if connection in self._watched:
            self._unwatch(connection)
        connection.waits_for_request = False
        try:
            connection.sock.sendall(answer)
        except OSError:
            self._drop(connection)
            return
        self._linger(connection)

    def _linger(self, connection: _Connection) -> None:
        """Says that nothing more comes, and reads on for a while what is still being sent."""
        try:
            connection.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(connection)
            return
        connection.deadline = time.monotonic() + (LINGER_SECONDS if self.alive else STOPPING_SECONDS)
        self._watch(connection, selectors.EVENT_READ, self._discard)

    def _discard(self, connection: _Connection) -> None:
        try:
            piece = connection.sock.arrived()
        except OSError:
            piece = b""
        if piece == b"":
            self._drop(connection)

    def murder_keepalived(self, force: bool = False) -> None:
        """Closes the connections that ran out of time. gunicorn's loop calls it after whatever it did."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS and not force:
            return
        self._looked = now
        for connection in [one for one in self._watched if force or one.deadline <= now]:
            if connection.waits_for_request and connection.arrived and not force:
                self._refuse(connection, TOO_LATE)
            else:
                self._drop(connection)

    def _cap_keepalive(self, deadline: float) -> None:
        """Called when the site stops: who has not asked gets until `deadline`; who reads an answer may go on."""
        for listener in self.sockets:
            listener.close()  # not only at the end: a client that comes now would wait for an answer that never comes
        for connection in self._watched:
            if not connection.sock.unsent:
                connection.deadline = min(connection.deadline, deadline)


def _short_body(head: bytes) -> int:
    """The size of a body that is awaited before a thread of the pages gets the request, or more than that can be.

    Only a body of which the head says once and plainly that it is short is one; whatever else a head says of a body, be
    it that gunicorn refuses it, a thread for uploads finds out.
    """
    long = HEAD_BYTES + FORM_BYTES + 1
    mentions = len(SAYS_SIZE.findall(head))
    if OTHER_BODY.search(head) or mentions > 1:
        return long
    found = SIZE.search(head)
    if found is None:
        return long if mentions else 0
    digits = found[1].lstrip(b"0")
    size = int(digits or b"0") if len(digits) <= len(str(FORM_BYTES)) else long
    return size if size <= FORM_BYTES else long
