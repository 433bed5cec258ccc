"""The program of the scoring process, which reads the files of participants under a bound on memory.

It is a process of its own because a library that runs out of memory may abort instead of raising, and the worker
has to live on to say so. Standard input brings first the settings, then jobs; each reply is one line. When standard
input ends its worker has died: then it ends too, even in the middle of a job.
"""

import errno
import gc
import logging
import os
import queue
import resource
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from leaderboard.db import Database
from leaderboard.errors import Conflict, Damaged, FileRejected, Missing, NoDatabase, NoStore
from leaderboard.formats import Limits
from leaderboard.store import RunStore
from leaderboard.worker.messages import (
    Copied,
    Entered,
    Failed,
    Job,
    Postponed,
    Rejected,
    Reply,
    Settings,
    Stage,
    Unreadable,
    out_of_memory,
    write_reply,
)
from leaderboard.worker.run_scorer import RunScorer

READY = "ready"
LEAST_ROOM = 32 * 2**20  # bytes that the bound must leave above what the process takes before any job
STATUS = Path("/proc/self/statm")  # Linux
WAITS = {NoDatabase: "the database did not answer", NoStore: "the run store did not answer or is full"}
# What the system refuses to every program for a while, and to no file in particular.
REFUSALS = frozenset({
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE,
    errno.EAGAIN,
})  # fmt: skip
log = logging.getLogger("leaderboard.worker.child_program")


def main() -> None:
    """Reads the settings, then jobs, one a line, and answers each with a line until its input ends."""
    # Replies have a pipe of their own: what a library prints must not end up among them.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    logging.basicConfig(format="%(levelname)s %(message)s", stream=sys.stderr)
    settings = Settings.read(sys.stdin.readline())
    jobs: queue.Queue[Job] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin, jobs), daemon=True).start()
    _bound_memory(settings.job_bytes)
    gc.freeze()  # what is imported stays: walking it again and again would take a third of the time of reading JSON
    gc.enable()  # who starts this program imports it without
    run_scorer = RunScorer(
        Database.connect(settings.database_url, must_exist=True),
        RunStore(settings.store_url, must_exist=True),
        Limits(expanded_bytes=settings.text_bytes),
    )
    _say(replies, READY)
    while True:
        job = jobs.get()
        # The worker must know the stage when this process dies.
        reply = answer(run_scorer, job, settings.job_bytes, lambda stage: _say(replies, write_reply(Entered(stage))))
        _say(replies, write_reply(reply))


def _bound_memory(job_bytes: int) -> None:
    """Bounds the address space; 0 leaves it unbounded. Ends the process when the bound leaves no room to score in."""
    if not job_bytes:
        return
    if (own := _own_bytes()) + LEAST_ROOM > job_bytes:
        sys.exit(f"job_bytes is {job_bytes:,} and this process alone takes {own:,}; allow some hundred MB more")
    resource.setrlimit(resource.RLIMIT_AS, (job_bytes, job_bytes))


def _own_bytes() -> int:
    """The address space in use; 0 where the system does not say."""
    try:
        return int(STATUS.read_text().split()[0]) * resource.getpagesize()
    except FileNotFoundError:
        return 0


def _listen(stdin: TextIO, jobs: queue.Queue[Job]) -> None:
    for line in stdin:
        jobs.put(Job.read(line))
    os._exit(0)  # nobody is left to hear an answer


def _say(replies: TextIO, line: str) -> None:
    replies.write(line + "\n")
    replies.flush()


def answer(run_scorer: RunScorer, job: Job, job_bytes: int, report: Callable[[Stage], None]) -> Reply:
    """Does a job and says what came of it, whatever goes wrong; `told` is called with each stage first."""
    stage = Stage.STARTING

    def enter(next_one: Stage) -> None:
        nonlocal stage
        stage = next_one
        report(stage)

    try:
        if job.copy_only:
            run_scorer.copy(job.submission_id, job.scoring_set_id, enter)
            return Copied()
        return run_scorer.score(job.submission_id, job.scoring_set_id, enter)
    except Damaged as error:
        return Unreadable(error.message, damaged=not isinstance(error, Missing))
    except Conflict as error:
        return Unreadable(error.message, damaged=False)
    except (NoDatabase, NoStore) as error:
        log.warning("submission %s waits: %s", job.submission_id, error.reason)
        return Postponed(WAITS[type(error)])
    except FileRejected as error:
        return Rejected(error.problems, error.count)
    except MemoryError:
        return out_of_memory(job_bytes, stage)
    except Exception as error:  # whatever it is, the worker records it and lives on
        log.exception("submission %s failed while %s", job.submission_id, stage)
        return of_error(error, stage)


def of_error(error: Exception, stage: Stage) -> Postponed | Failed:
    """What an error that nobody expected means for the job: what the system refuses for a while counts no attempt."""
    if isinstance(error, OSError) and error.errno in REFUSALS:
        return Postponed(f"the system did not allow what it needs ({os.strerror(error.errno)})")
    return Failed(f"an error while {stage}: {type(error).__name__}")
