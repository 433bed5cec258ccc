"""Programs run beside a test: started, waited for by what they say or answer, stopped by their own id."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

STOP_SECONDS = 15.0
POLL_SECONDS = 0.05


def free_port() -> int:
    """A TCP port on 127.0.0.1 that nobody listens on at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def children(pid: int, program: str = "") -> list[int]:
    """Those of a process's children that run this program, dead ones left out."""
    own = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(parent) == pid and state != "Z" and program in (folder / "cmdline").read_text():
                own.append(int(folder.name))
    return own


class Process:
    """A program in a process group of its own, its output (both streams) kept line by line.

        with Process([python, "-m", "leaderboard", "worker"], env=...) as worker:
            worker.wait_for_output(r"waiting for work", seconds=20)

    The block's end stops it with SIGTERM, then, after some seconds, the whole group with SIGKILL. What it
    said is printed then, so that pytest shows it when the test fails. Further arguments go to
    `subprocess.Popen`.
    """

    def __init__(self, command: Sequence[str | os.PathLike[str]], **options: Any) -> None:
        self.command = [os.fspath(part) for part in command]
        options.setdefault("stdin", subprocess.DEVNULL)
        self._popen = subprocess.Popen(
            self.command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            **options,
        )
        self._lines: list[str] = []
        self._news = threading.Condition()
        self._silent = False  # the output has ended: nothing more will come
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._popen.stdout is not None
        for line in self._popen.stdout:
            with self._news:
                self._lines.append(line)
                self._news.notify_all()
        with self._news:
            self._silent = True
            self._news.notify_all()

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """Its exit status, None while it runs, the negative of a signal that ended it."""
        return self._popen.poll()

    @property
    def output(self) -> str:
        with self._news:
            return "".join(self._lines)

    def wait_for_output(self, pattern: str, *, seconds: float) -> re.Match[str]:
        """The first line in which `pattern` is found; AssertionError with all the output when none comes."""
        deadline = time.monotonic() + seconds
        seen = 0
        with self._news:
            while True:
                for line in self._lines[seen:]:
                    if found := re.search(pattern, line):
                        return found
                seen = len(self._lines)
                left = deadline - time.monotonic()
                if self._silent or left <= 0:
                    break
                self._news.wait(left)
        raise AssertionError(self._complaint(f"said nothing like {pattern!r} in {seconds:g} s"))

    def wait_for_url(self, url: str, *, seconds: float, status: int = 200) -> str:
        """The body at `url` once it answers with `status`; AssertionError with all the output when not."""
        deadline = time.monotonic() + seconds
        last = "no answer"
        while time.monotonic() < deadline and not self._silent:
            try:
                with urllib.request.urlopen(url, timeout=seconds) as response:
                    if response.status == status:
                        body: str = response.read().decode()
                        return body
                    last = f"status {response.status}"
            except urllib.error.HTTPError as error:
                with error:
                    if error.code == status:
                        return error.read().decode()
                    last = f"status {error.code}"
            except OSError as error:
                last = str(error)
            with self._news:
                self._news.wait(POLL_SECONDS)
        raise AssertionError(self._complaint(f"did not answer at {url} in {seconds:g} s ({last})"))

    def send_signal(self, number: signal.Signals) -> None:
        self._popen.send_signal(number)

    def write(self, text: str) -> None:
        """Writes to its standard input; start it with `stdin=subprocess.PIPE` for that."""
        assert self._popen.stdin is not None
        self._popen.stdin.write(text)
        self._popen.stdin.flush()

    def close_input(self) -> None:
        """Closes its standard input; start it with `stdin=subprocess.PIPE` for that."""
        assert self._popen.stdin is not None
        self._popen.stdin.close()

    def wait(self, *, seconds: float) -> int:
        """Its exit status once it has ended by itself and its output is read to the end."""
        try:
            status = self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(self._complaint(f"was still running after {seconds:g} s")) from None
        self._reader.join(seconds)
        return status

    def terminate(self, *, seconds: float = STOP_SECONDS) -> int:
        """SIGTERM, then its exit status; raises AssertionError when it does not stop."""
        self.send_signal(signal.SIGTERM)
        return self.wait(seconds=seconds)

    def kill(self) -> int:
        """SIGKILL to the program and all that it started in its group, as `kill -9` does."""
        with contextlib.suppress(ProcessLookupError):  # the whole group may have ended already
            os.killpg(self.pid, signal.SIGKILL)
        return self._popen.wait(STOP_SECONDS)

    def close(self) -> None:
        """Kills what is left of it and closes its streams; its output stays."""
        self.kill()
        self._reader.join(STOP_SECONDS)
        for stream in (self._popen.stdin, self._popen.stdout):
            if stream is not None:
                stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self.returncode is None:
                self.terminate()
        except AssertionError:
            if error is None:
                raise
        finally:
            self.close()
            print(self._complaint(f"ended with {self.returncode}"))

    def _complaint(self, what: str) -> str:
        return f"{' '.join(self.command)} {what}; its output:\n{self.output or '(none)'}"
