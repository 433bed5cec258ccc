"""The messages between the worker and its scoring process: one JSON object a line.

The scoring process as its worker sees it: started, asked, ended.
"""

import base64
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
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, cast

import msgspec
import numpy as np

import leaderboard
from leaderboard.errors import Problem, Unavailable
from leaderboard.worker.queue import RunScores


class Stage(StrEnum):
    """What the scoring process is doing with a job, as messages say it."""

    STARTING = "starting"
    JUDGMENTS = "reading the judgments"
    RUN = "reading the run"
    SCORING = "scoring"
    LISTS = "keeping the ranked lists"

    @property
    def is_about_the_file(self) -> bool:
        """Whether what it takes of memory and time depends on the run's file, whose fault it is when they run out."""
        return self in (Stage.RUN, Stage.SCORING, Stage.LISTS)


class Message(msgspec.Struct, frozen=True, tag=True):
    """What one process tells the other: one line of JSON, which says by its `type` what it is."""


class Settings(Message, frozen=True):
    """What a scoring process needs to start. It comes by the pipe, because the database's URL may hold a password."""

    database_url: str
    store_url: str
    text_bytes: int
    job_bytes: int


class Job(Message, frozen=True):
    """One run to score, or only to copy: its ranked lists are kept again and nothing is computed."""

    submission_id: int
    scoring_set_id: int
    copy_only: bool = False


class Rejected(Message, frozen=True):
    """The run file can't be scored: its first problems, and how many there are in all."""

    problems: tuple[Problem, ...]
    count: int


class Exceeded(Message, frozen=True):
    """The run file asks for more memory or computing than one run may use here; in words. The process has to go."""

    reason: str


class Failed(Message, frozen=True):
    """Scoring the run failed for a reason that is not in its file; the reason in words."""

    reason: str


class Copied(Message, frozen=True):
    """The ranked lists of a run were kept again."""


class Unreadable(Message, frozen=True):
    """What the run is scored from can't be used, and there is nothing to make it from again; the reason in words.

    damaged  it is the run's stored file, and that is not merely missing
    """

    reason: str
    damaged: bool


class Postponed(Message, frozen=True):
    """The database or the run store did not answer: the job waits, and nothing is counted; the reason in words."""

    reason: str


class Entered(Message, frozen=True):
    """The job has come to its next stage; no reply to it yet."""

    stage: Stage


def out_of_memory(job_bytes: int, stage: Stage) -> Exceeded | Failed:
    """What becomes of a run that met the bound on memory."""
    allowed = f"{job_bytes / 2**30:.3g} GiB"
    if stage.is_about_the_file:
        return Exceeded(f"this file needs more memory to score than the {allowed} allowed here")
    return Failed(f"{stage} needed more than {allowed} of memory, the most that one run may use here")


Reply = RunScores | Copied | Rejected | Exceeded | Unreadable | Postponed | Failed


_ENCODER = msgspec.json.Encoder(enc_hook=lambda values: values.tobytes())
_DECODER = msgspec.json.Decoder(
    Settings | Job | Entered | Reply, dec_hook=lambda _, values: np.frombuffer(base64.b64decode(values))
)


def write_message(message: Settings | Job | Entered | Reply) -> str:
    """The message as one line of JSON; `read_message` reads it back."""
    return _ENCODER.encode(message).decode()


def read_message(line: str) -> Any:
    """The message that `write_message` wrote as this line."""
    return _DECODER.decode(line)


PROGRAM = "from leaderboard.worker.run_scorer import main; main()"
START_SECONDS = 120.0
USER_TIME = 11  # among the fields of /proc/PID/stat behind the name; the system's time for the process follows
LAST_LINES = 50
# What libraries say when memory runs out: Rust's allocator before it aborts, Python, C++.
NO_MEMORY = ("memory allocation of", "MemoryError", "bad_alloc", "Cannot allocate memory", "out of memory")
log = logging.getLogger("leaderboard.worker.loop")


class ChildProcess:
    """A running scoring process. One job at a time: `ask`, then `reply` until one comes; `kill` at any time."""

    def __init__(self, settings: Settings) -> None:
        """Starts the process and waits until it is ready. Raises Unavailable when it does not get there."""
        self._settings = settings
        self.stage = Stage.STARTING
        self._computed_before = 0.0
        folder = str(Path(leaderboard.__file__).parent.parent)
        path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH", "")]))
        try:
            self._popen = subprocess.Popen(
                # Nothing that it imports is garbage: looking for it took a sixth of the time of its start.
                [
                    sys.executable,
                    "-c",
                    "import gc; gc.disable(); from leaderboard.worker.run_scorer import main; main()",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                env={**os.environ, "PYTHONPATH": path},
                process_group=0,  # Ctrl-C is for the worker, which decides what becomes of the job
            )
        except OSError as error:  # the system has no process or file to spare
            raise Unavailable(f"The scoring process did not start: {error.strerror}.") from error
        self._stdin, self._stdout, self._stderr = (
            cast("IO[str]", stream) for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._said: deque[str] = deque(maxlen=LAST_LINES)
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._read, self._hear)]
        for thread in self._threads:
            thread.start()
        self._write(write_message(settings))
        try:
            ready = self._lines.get(timeout=START_SECONDS)
        except queue.Empty:
            self.kill()
            raise Unavailable(f"The scoring process did not start within {START_SECONDS:g} s.") from None
        if ready is None:
            self.kill()
            last = self._said[-1].strip() if self._said else self._death()
            raise Unavailable(f"The scoring process did not start: {last}.")

    def ask(self, job: Job) -> None:
        self.stage = Stage.STARTING
        self._computed_before = self._computed()
        self._write(write_message(job))

    def reply(self, seconds: float) -> Reply | None:
        """The reply to the job; None when none came in that time. Of a process that died: how it ended."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return None
            if line is None:
                self.kill()
                return self._end()
            reply: Reply | Entered = read_message(line)
            if not isinstance(reply, Entered):
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
        return self._popen.pid

    @property
    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def kill(self) -> None:
        """Ends the process at once, whatever it does."""
        with contextlib.suppress(ProcessLookupError):
            self._popen.kill()
        self._popen.wait()
        for thread in self._threads:
            thread.join()
        for stream in (self._stdin, self._stdout, self._stderr):
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def _write(self, line: str) -> None:
        with contextlib.suppress(BrokenPipeError):  # it has died, which the next reply says
            self._stdin.write(line + "\n")
            self._stdin.flush()

    def _read(self) -> None:
        for line in self._stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _hear(self) -> None:
        for line in self._stderr:
            self._said.append(line)
            log.warning("scoring process: %s", line.rstrip())

    def _end(self) -> Exceeded | Failed:
        """What the end of the process means for the job."""
        if any(sign in line for line in self._said for sign in NO_MEMORY):
            return out_of_memory(self._settings.job_bytes, self.stage)
        return Failed(self._death())

    def _death(self) -> str:
        """How the process ended, in words."""
        status = self._popen.returncode
        if status < 0:
            return f"the scoring process was ended by {signal.Signals(-status).name}"
        return f"the scoring process ended with status {status}"
