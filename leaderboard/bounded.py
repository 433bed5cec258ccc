"""Calls a function in a process of its own, with bounded memory and computing: what strangers send can neither fill the
caller's memory nor hold up its threads.

The processes are forked from one that has imported what they need, so that one costs some 20 ms.
"""

import multiprocessing
import os
import resource
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar, cast

from leaderboard.errors import Unavailable

T = TypeVar("T")

MEMORY_BYTES = 2**31  # of address space
SECONDS = 20  # of computing
WAIT_SECONDS = 6 * SECONDS  # where other work takes most of the processor
NICENESS = 5  # pages go first
CRASHED = 1  # the exit status of an exception, which stands on stderr then
TOO_LARGE, REFUSED = 2, 3  # those of too little memory, and of a file that the system did not give

CONTEXT = multiprocessing.get_context("forkserver")
# scipy's own modules too: without memory to import them it fails with another error than MemoryError.
CONTEXT.set_forkserver_preload(
    ["leaderboard.cli", "leaderboard.opinion.rules", "leaderboard.submissions.rules", "scipy.special"]
)
_STARTS_AND_ENDS = threading.Lock()  # a start looks at all processes that have not ended, other threads' too


class Exceeded(Exception):
    """The function asked for more memory or computing than it may use."""


def call(function: Callable[..., T], *arguments: Any) -> T:
    """function(*arguments), all of which can be pickled. Raises Exceeded, and Unavailable where no process starts or is
    refused a file.
    """
    receiver, sender = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=_answer, args=(sender, MEMORY_BYTES, SECONDS, function, arguments), daemon=True)
    with receiver:
        try:
            with sender, _STARTS_AND_ENDS:
                process.start()
        except (OSError, EOFError) as error:  # the system has no process or memory to spare
            raise Unavailable from error
        try:
            if receiver.poll(WAIT_SECONDS):
                return cast(T, receiver.recv())
            process.kill()
        except EOFError:
            pass
        finally:
            with _STARTS_AND_ENDS:
                process.join()
    if process.exitcode == CRASHED:
        raise RuntimeError(f"{function.__name__} failed in its process")
    raise Unavailable if process.exitcode == REFUSED else Exceeded


def _answer(
    sender: Connection, memory: int, seconds: int, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    os.nice(NICENESS)
    try:
        sender.send(function(*arguments))
    except MemoryError:
        os._exit(TOO_LARGE)
    except OSError as error:
        sys.stderr.write(f"{function.__name__}: {error}\n")
        os._exit(REFUSED)
