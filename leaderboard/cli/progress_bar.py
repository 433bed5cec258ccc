"""A progress bar on stderr while something takes long, and only when a person is looking."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

import click

CLEAR_LINE = "\r\x1b[K"
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


class Bar:
    """Shows how many of all things are done. Called with how many more are."""

    def __init__(self, drawn: Any | None) -> None:
        """drawn: click's bar; None where nobody is looking."""
        self._drawn = drawn

    def __call__(self, more: int) -> None:
        if self._drawn is not None:
            self._drawn.update(more)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is printed within stands above the bar, which is drawn again below it."""
        if self._drawn is None:
            yield
            return
        click.echo(CLEAR_LINE, file=sys.stderr, nl=False)
        try:
            yield
        finally:
            sys.stdout.flush()
            click.echo(self._drawn.format_progress_line(), file=sys.stderr, nl=False)


@contextmanager
def counting_bar(total: int, label: str) -> Iterator[Bar]:
    """Gives a bar that is told how many more of `total` things are done."""
    if not sys.stderr.isatty():
        yield Bar(None)
        return
    with click.progressbar(length=total, label=label, file=sys.stderr) as drawn:
        yield Bar(drawn)
