"""A progress bar on stderr while something takes long, and only when a person is looking.

What the commands that score files without a database have in common: options, the setting, the judgments.

Writes a run file, whole or not at all.
"""

import gzip
import io
import math
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from leaderboard.cli.options import ANY_NUMBER, FILE, Whole, together
from leaderboard.cli.tables import named
from leaderboard.numbers import counted, natural

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


if TYPE_CHECKING:
    from leaderboard.formats import Judgments, SubtopicJudgments
    from leaderboard.metrics import Setting
    from leaderboard.scoring import JudgedQueries, Judging


LEVEL = Whole(1, 1000)  # of relevance; up to formats.GRADE_LIMIT, which takes long to import
LEVEL_OPTION = click.option(
    "-l", "--relevance", "level", type=LEVEL, default=1, metavar="L", help="Lowest relevant grade (1)."
)
COMPAT = click.option(
    "--compat", type=click.Choice([10, 9]), default=10, help="trec_eval's version to agree with (10)."
)
DOCUMENTS = click.option("--documents", type=Whole(1), metavar="N", help="Documents in the collection.")
BETA = click.option("--beta", type=ANY_NUMBER, metavar="B", help="β of Value = 1 − (P_miss + β · P_fa).")
NO_RELEVANT = click.option(
    "--no-relevant",
    type=click.Choice(["exclude", "pfa_only", "pmiss_zero"]),
    default="exclude",
    help="Queries without relevant documents, in detection measures (exclude).",
)


# What `judged_queries` takes.
QUERIES = together(
    click.option(
        "--judging",
        type=click.Choice(["pooled", "complete"]),
        default="pooled",
        help="What a query without judgments is: left out, or without relevant documents (pooled).",
    ),
    click.option(
        "--queries", "query_file", metavar="FILE", type=FILE, help="The evaluation's queries: id, text, tags."
    ),
    click.option(
        "--exclude", "excluded", multiple=True, metavar="QUERY", help="A query that does not count; may be repeated."
    ),
)


def setting_of(
    *,
    beta: float | None = None,
    cost: float | None = None,
    value: float | None = None,
    prior: float | None = None,
    **rest: Any,
) -> "Setting":
    """The measures' setting from the options. Raises InvalidFields for a wrong β, cost, value or prior."""
    from leaderboard.campaigns.rules import checked_beta
    from leaderboard.metrics import Setting

    return Setting(beta=checked_beta(beta, cost=cost, value=value, prior=prior), **rest)


def tell_repeats(name: str, judged: "Judgments | SubtopicJudgments | None") -> None:
    """Says on stderr how many lines of a file of judgments were left out because earlier ones say the same."""
    if judged is not None and judged.repeated:
        click.echo(
            f"{name}: left out, because earlier lines say the same: {counted(judged.repeated, 'line')}", err=True
        )


def judged_queries(
    judgments: Path | None,
    query_file: Path | None,
    judging: "Judging",
    *,
    excluded: Collection[str] = (),
    subtopics: Path | None = None,
    **options: Any,
) -> "tuple[JudgedQueries, frozenset[str]]":
    """The judgments of the queries that count.

    judgments  a file of them, or None where those of subtopics say what is relevant
    excluded   external ids of queries that do not count
    subtopics  a file of judgments of subtopics
    options    those of `scoring.prepare`

    With them come the excluded queries that are neither judged nor in the file of queries (`tell_strange`). Raises
    BadInput when no query has judgments.
    """
    from leaderboard.errors import BadInput
    from leaderboard.formats import of_any_subtopic, read_judgments, read_queries, read_subtopic_judgments
    from leaderboard.scoring import prepare

    if judging == "complete" and query_file is None:
        raise click.UsageError(
            "--judging complete needs --queries FILE: judgments don't name the queries without relevant documents"
        )
    queries = None if query_file is None else [row.id for row in read_queries(query_file, name=str(query_file))]
    aspects = None if subtopics is None else read_subtopic_judgments(subtopics, name=str(subtopics))
    tell_repeats(str(subtopics), aspects)
    if judgments is not None:
        whole = read_judgments(judgments, name=str(judgments))
        tell_repeats(str(judgments), whole)
    elif aspects is not None:
        whole = of_any_subtopic(aspects)
    else:
        raise click.UsageError("--judgments is missing; name the file of judgments")
    strange: frozenset[str] = frozenset()
    if excluded:
        asked = list(whole.queries) if queries is None else queries
        strange = frozenset(excluded).difference(asked)
        queries = [query for query in asked if query not in excluded]
    judged = prepare(whole, queries, judging=judging, subtopics=aspects, **options)
    if not judged.queries:
        raise BadInput(f"{judgments or subtopics}: none of the queries has judgments")
    return judged, strange


def tell_strange(strange: Collection[str], answered: Iterable[str]) -> None:
    """Says on stderr which excluded queries nobody knows: the judgments that a site publishes have none of those that
    it excludes, but the runs answer them.
    """
    if unknown := sorted(set(strange).difference(answered), key=natural):
        click.echo(f"--exclude: neither judged nor in a run: {named(unknown)}", err=True)


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
