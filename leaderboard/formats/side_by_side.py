"""Works on several pieces of a file at once, and hands the results on in order."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import TypeVar

__all__ = ["side_by_side"]

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_AT_ONCE = 4  # each piece costs memory


def side_by_side(work: Callable[[Item], Result], items: Iterator[Item], at_once: int | None = None) -> Iterator[Result]:
    """work(item) for each item, in order; so many at once, or as many as there are processors, up to a few.

    Threads, since numpy lets go of the interpreter while it works. Without items no thread is started.
    """
    first = next(items, None)
    if first is None:
        return
    at_once = at_once or min(os.cpu_count() or 1, MOST_AT_ONCE)
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(at_once) as pool:
        for item in chain([first], items):
            waiting.append(pool.submit(work, item))
            if len(waiting) > at_once:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
