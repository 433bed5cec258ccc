"""A progress bar on stderr while something takes long, and only when a person is looking."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

import click

__all__ = ["Open", "counting_bar", "progress_bar"]

LONG_BYTES = 64 << 20  # less is read before anybody sees a bar

Source = Path | FileIO
Open = Callable[[Path], Source]


class _Watched(FileIO):
    """A file that reports the bytes read from it."""

    def __init__(self, path: Path, tell: Callable[[int], None]) -> None:
        super().__init__(path)
        self._tell = tell

    def read(self, size: int | None = -1) -> bytes:
        piece = super().read(size) or b""
        self._tell(len(piece))
        return piece

    def readinto(self, buffer: Any) -> int:
        given = super().readinto(buffer) or 0
        self._tell(given)
        return given


@contextmanager
def progress_bar(paths: Sequence[Path]) -> Iterator[Open]:
    """Gives a function that opens each of these files; one bar shows how much of all of them was read."""
    total = sum(path.stat().st_size for path in paths)
    if total < LONG_BYTES or not sys.stderr.isatty():
        yield lambda path: path
        return
    with ExitStack() as files, click.progressbar(length=total, label="Reading", file=sys.stderr) as bar:
        yield lambda path: files.enter_context(_Watched(path, bar.update))


@contextmanager
def counting_bar(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """Gives a function that is told how many more of `total` things are done; a bar shows how many of all were."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=total, label=label, file=sys.stderr) as bar:
        yield bar.update
