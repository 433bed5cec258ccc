"""Writes a run file, whole or not at all."""

import gzip
import io
import math
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from leaderboard.numbers import counted

if TYPE_CHECKING:
    from leaderboard.baselines import RankedList

NO_TAG = re.compile(r"\s|[^\x21-\U0010ffff]")

OUT = click.Path(dir_okay=False, path_type=Path)


class _Tag(click.ParamType[str]):
    name = "tag"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from leaderboard.formats.plain_text import LONGEST_TAG

        text = str(value)
        if not text or NO_TAG.search(text) or not text.isprintable() or len(text) > LONGEST_TAG:
            self.fail(f"a run tag has 1 to {LONGEST_TAG} characters and no blank, found {text!r}", param, ctx)
        return text


TAG = _Tag()


class Written(NamedTuple):
    """How much a run file holds, and which queries have no line in it."""

    queries: int
    lines: int
    empty: tuple[str, ...]

    def __str__(self) -> str:
        return f"{counted(self.queries, 'query')}, {counted(self.lines, 'line')}"


def require_place(out: Path, inputs: Iterable[Path]) -> None:
    """Raises UsageError where the file to write has no folder, is no file, or is one of those that are read."""
    if not out.parent.is_dir():
        raise click.UsageError(f"--out {out}: there is no folder {out.parent}")
    if out.exists() and not out.is_file():
        raise click.UsageError(f"--out {out} is no file that could be replaced")
    for path in inputs:
        if out.resolve() == path.resolve():
            raise click.UsageError(f"--out {out} is one of the files that are read; name another")


def write_run(out: Path, lists: "Iterable[RankedList]", tag: str, theta: float | None = None) -> Written:
    """Writes the lists as they come, as TREC's six columns; gzipped where the name ends in .gz.

    Scores have every digit, so that they are read as they were. With θ the run holds decisions: Y from θ on.
    The file gets its name when all of it is written; one of this name is replaced. Raises BadInput for a run without a
    line.
    """
    from leaderboard.errors import BadInput
    from leaderboard.formats import RUN_WRITERS, RunLine

    write = RUN_WRITERS["trec" if theta is None else "decisions"]
    least = -math.inf if theta is None else theta
    queries, lines, empty = 0, 0, []
    with _whole(out) as text:
        for query, document, score in lists:
            if not len(score):
                empty.append(query)
                continue
            columns = zip(document.tolist(), score.tolist(), strict=True)
            text.writelines(
                write(RunLine(query, one.decode(), rank, repr(value), value >= least, tag))
                for rank, (one, value) in enumerate(columns, 1)
            )
            queries += 1
            lines += len(score)
        if not lines:
            raise BadInput("no document was found for any query; no run is written")
    return Written(queries, lines, tuple(empty))


@contextmanager
def _whole(out: Path) -> Iterator[io.TextIOWrapper]:
    """A text to write to, which becomes the file when the block ends without an exception, and else leaves nothing."""
    out = out.resolve()  # a link stays, and what it leads to is replaced
    number, name = mkstemp(dir=out.parent, prefix=f".{out.name[:100]}.")
    beside = Path(name)
    try:
        with os.fdopen(number, "wb") as plain, _compressed(plain, out) as raw:
            text = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
            yield text
            text.flush()
            text.detach()
        mask = os.umask(0)
        os.umask(mask)
        beside.chmod(0o666 & ~mask)  # as any other new file; mkstemp's are their maker's only
        beside.replace(out)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def _compressed(plain: Any, out: Path) -> Iterator[Any]:
    if out.suffix != ".gz":
        yield plain
        return
    # Without name and time, so that the same run is the same file.
    with gzip.GzipFile("", "wb", 6, plain, mtime=0) as packed, io.BufferedWriter(packed, 1 << 16) as buffered:
        yield buffered
