"""The scoring process as its worker sees it: started, asked, ended."""

import contextlib
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

from leaderboard.errors import Unavailable
from leaderboard.operating import logs
from leaderboard.worker import messages

# Nothing that it imports is garbage: looking for it took a sixth of the time of its start.
PROGRAM = "import gc, sys; gc.disable(); sys.path = {}; from leaderboard.worker.run_scorer import main; main()"
START_SECONDS = 120.0
USER_TIME = 11  # among the fields of /proc/PID/stat behind the name; the system's time for the process follows
LAST_LINES = 50
# What libraries say when memory runs out: Rust's allocator before it aborts, Python, C++.
NO_MEMORY = ("memory allocation of", "MemoryError", "bad_alloc", "Cannot allocate memory", "out of memory")
log = logging.getLogger("leaderboard.worker.loop")


class ChildProcess:
    """A running scoring process. One job at a time: `ask`, then `reply` until one comes; `kill` at any time."""

    def __init__(self, settings: messages.Settings) -> None:
        """Starts the process and waits until it is ready. Raises Unavailable when it does not get there."""
        self._job_bytes = settings.job_bytes
        self.stage = messages.Stage.STARTING
        self._submission: int | None = None
        self._computed_before = 0.0
        try:
            self._popen: Any = subprocess.Popen(  # noqa: S603  # our own program
                [sys.executable, "-c", PROGRAM.format(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                process_group=0,  # Ctrl-C is for the worker, which decides what becomes of the job
            )
        except OSError as error:  # the system has no process or file to spare
            raise Unavailable(f"The scoring process did not start: {error.strerror}.") from error
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._said: deque[str] = deque(maxlen=LAST_LINES)
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._read, self._hear)]
        for thread in self._threads:
            thread.start()
        self._write(settings)
        try:
            if self._lines.get(timeout=START_SECONDS) is not None:
                return
            self.kill()
            problem = self._said[-1].strip() if self._said else self._death()
        except queue.Empty:
            self.kill()
            problem = f"it took more than {START_SECONDS:g} s"
        raise Unavailable(f"The scoring process did not start: {problem}.")

    def ask(self, job: messages.Job | messages.LeaveTeamsOut) -> None:
        self.stage = messages.Stage.STARTING
        self._submission = getattr(job, "submission_id", None)
        self._computed_before = self._computed()
        self._write(job)

    def reply(self, seconds: float) -> messages.Reply | None:
        """The reply to the job; None when none came in that time. Of a process that died: how it ended."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return None
            if line is None:
                self.kill()
                if any(sign in said for said in self._said for sign in NO_MEMORY):
                    return messages.out_of_memory(self._job_bytes, self.stage)
                return messages.Failed(self._death())
            reply: messages.Reply | messages.Entered = messages.read_message(line)
            if not isinstance(reply, messages.Entered):
                return reply
            self.stage = reply.stage

    @property
    def computed_seconds(self) -> float:
        """The processor time that the job has taken so far; 0 where the system does not say."""
        return self._computed() - self._computed_before

    def _computed(self) -> float:
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except FileNotFoundError:
            return 0.0
        return sum(map(int, fields[USER_TIME:][:2])) / os.sysconf("SC_CLK_TCK")

    @property
    def pid(self) -> int:
        return int(self._popen.pid)

    @property
    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def kill(self) -> None:
        """Ends the process at once, whatever it does."""
        self._popen.kill()
        self._popen.wait()
        for thread in self._threads:
            thread.join()
        for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def _write(self, message: messages.Message) -> None:
        with contextlib.suppress(BrokenPipeError):  # it has died, which the next reply says
            self._popen.stdin.write(messages.write_message(message) + "\n")
            self._popen.stdin.flush()

    def _read(self) -> None:
        for line in self._popen.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _hear(self) -> None:
        for line in self._popen.stderr:
            self._said.append(line)
            logs.relay(log, line, submission=self._submission)

    def _death(self) -> str:
        """How the process ended, in words."""
        status = self._popen.returncode
        how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        return f"the scoring process was ended {how}"
