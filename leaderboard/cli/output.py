"""How commands print: aligned columns, CSV, JSON, figures, a few names out of many.

And bars while something takes long, only where a person is looking.
"""

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

import click

from leaderboard.numbers import first_of

UNDEFINED = "–"
NAMED = 10
CLEAR_LINE = "\r\x1b[K"
LONG_BYTES = 64 << 20  # less is read before anybody sees a bar


def aligned(rows: Sequence[Sequence[str]], left: Collection[int]) -> str:
    """The rows as lines, the columns of `left` (numbered from 0) flush left and the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """The rows as CSV; None is an empty cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def json_text(document: object) -> str:
    """The document as indented JSON. NaN and infinity have no place in it: raises ValueError."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def defined(value: float) -> float | None:
    """The value, or None for NaN, which stands for what is undefined."""
    return None if math.isnan(value) else value


def figure(value: float | None, digits: int = 4) -> str:
    """A value for people; a dash for None and NaN, which are undefined."""
    return UNDEFINED if value is None or math.isnan(value) else f"{value:z.{digits}f}"


def named(names: Sequence[str]) -> str:
    """`q1, q2, …, q10 and 1,234 more`."""
    return first_of(names, NAMED)


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
    """Prints the rows below their head. Without a row it prints `empty` on stderr: what to do to get one."""
    lines = [[str(cell) for cell in row] for row in rows]
    if lines:
        click.echo(aligned([head, *lines], range(len(head))), nl=False)
    else:
        click.echo(empty, err=True)


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
        count = super().readinto(buffer) or 0
        self._tell(count)
        return count


@contextmanager
def progress_bar(paths: Sequence[Path]) -> Iterator[Callable[[Path], Path | FileIO]]:
    """Gives a function that opens each of these files; one bar shows how much of all of them was read."""
    total = sum(path.stat().st_size for path in paths)
    if total < LONG_BYTES or not sys.stderr.isatty():
        yield lambda path: path
        return
    with ExitStack() as files, click.progressbar(length=total, label="Reading", file=sys.stderr) as bar:
        yield lambda path: files.enter_context(_Watched(path, bar.update))


class Bar:
    """Shows how many of all things are done, where a person is looking. Called with how many more are."""

    def __init__(self, drawn: Any) -> None:
        self._drawn = drawn  # click's

    def __call__(self, more: int) -> None:
        self._drawn.update(more)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is printed within stands above the bar, which is drawn again below it."""
        shown = "" if self._drawn.hidden else CLEAR_LINE
        click.echo(shown, file=sys.stderr, nl=False)
        try:
            yield
        finally:
            sys.stdout.flush()
            click.echo(shown and self._drawn.format_progress_line(), file=sys.stderr, nl=False)


@contextmanager
def counting_bar(total: int, label: str) -> Iterator[Bar]:
    """Gives a bar that is told how many more of `total` things are done."""
    hidden = not sys.stderr.isatty()
    with click.progressbar(length=total, label=label, file=sys.stderr, hidden=hidden) as drawn:
        yield Bar(drawn)
