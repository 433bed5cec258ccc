"""Programs that a command starts and looks after: their output goes to a log file, and they end with the command."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from leaderboard.errors import Unavailable

__all__ = ["Child", "stop_asked"]

STOP_SECONDS = 20.0  # to end by itself, before it is killed
RESTARTS = 3  # one after the other, before something is taken to be wrong
WELL_SECONDS = 60.0  # after which a program that ends has been well, and its restarts count anew
LAST_LINES = 15


class Child:
    """`leaderboard ARGUMENTS` in a process of its own. Ends when the block ends."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], log: Path, keep_open: Sequence[int] = ()
    ) -> None:
        self.name = arguments[0]
        self._arguments = arguments
        self._environment = dict(environment)
        self._log = log
        self._restarts = 0
        log.write_bytes(b"")
        self._start(keep_open)

    def _start(self, keep_open: Sequence[int] = ()) -> None:
        self._started = time.monotonic()
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603  # our own program with our own arguments
                [sys.executable, "-m", "leaderboard", *self._arguments],
                env=self._environment,
                cwd=self._log.parent,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=keep_open,
                # Ctrl-C goes to every process of the terminal's group: in a session of its own only we stop it.
                start_new_session=True,
            )

    def revive(self) -> str | None:
        """Starts it again when it has ended by itself; what to say of that, None while it runs.

        Raises Unavailable once it has ended a few times in a row. Not for a program that was given open files.
        """
        status = self._process.poll()
        if status is None:
            return None
        if time.monotonic() - self._started > WELL_SECONDS:
            self._restarts = 0
        if self._restarts == RESTARTS:
            self.require_alive()
        self._restarts += 1
        self._start()
        return f"`leaderboard {self.name}` ended with status {status}; started it again"

    def require_alive(self) -> None:
        """Raises Unavailable with the end of its log when it has ended."""
        status = self._process.poll()
        if status is not None:
            lines = self._log.read_text(errors="replace").splitlines()[-LAST_LINES:]
            said = "\n".join(f"    {line}" for line in lines) or "    (nothing)"
            raise Unavailable(f"`leaderboard {self.name}` ended with status {status}; {self._log} ends with\n{said}")

    def stop(self) -> None:
        """Asks it to end, and makes it after a while."""
        if self._process.poll() is None:
            self._process.terminate()

    def wait(self) -> None:
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


@contextmanager
def stop_asked() -> Iterator[threading.Event]:
    """An event that Ctrl-C, SIGTERM and the closing of the terminal set while the block runs."""
    asked = threading.Event()

    def ask(_number: int, _frame: FrameType | None) -> None:
        asked.set()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, ask) for number in numbers}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
