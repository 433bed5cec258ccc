"""Waiting for something to become true: looked at again and again, up to a deadline."""

import threading
import time
from collections.abc import Callable

__all__ = ["wait_until"]

SECONDS = 60.0
LOOK_SECONDS = 0.05


def wait_until(condition: Callable[[], bool], what: str, seconds: float = SECONDS) -> None:
    """Returns once `condition()` holds; AssertionError that names `what` when it does not in time."""
    pause = threading.Event()
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        pause.wait(LOOK_SECONDS)
