"""How the tests of files put one together and take its problems apart."""

import io
from collections.abc import Callable
from typing import Any

import pytest

from leaderboard.errors import FileRejected


def text(*lines: str) -> io.BytesIO:
    """A file of these lines."""
    return io.BytesIO("".join(f"{line}\n" for line in lines).encode())


def problems_of(read: Callable[..., Any], source: Any, **options: Any) -> list[tuple[int | None, str]]:
    """(line, message) of everything wrong with a file."""
    with pytest.raises(FileRejected) as caught:
        read(source, **options)
    return [(problem.line, problem.message) for problem in caught.value.problems]
