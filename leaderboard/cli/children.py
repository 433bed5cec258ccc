"""Programs that a command starts and looks after: their output goes to a log file, and they end with the command."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from leaderboard.errors import Unavailable

__all__ = ["Child", "stop_asked"]

STOP_SECONDS = 20.0  # to end by itself, before it is killed
LAST_LINES = 15


class Child:
    """`leaderboard ARGUMENTS` in a process of its own. Ends when the block ends."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], log: Path, keep_open: Sequence[int] = ()
    ) -> None:
        self.name = arguments[0]
        self._log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603  # our own program with our own arguments
                [sys.executable, "-m", "leaderboard", *arguments],
                env=dict(environment),
                cwd=log.parent,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=keep_open,
                # Ctrl-C goes to every process of the terminal's group: in a session of its own only we stop it.
                start_new_session=True,
            )

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
