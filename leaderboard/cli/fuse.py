"""`leaderboard fuse`: one run made of several. No judgments, no database."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leaderboard.cli.options import FILE, Number, Whole, together
from leaderboard.cli.run_file import OUT, TAG, require_place, write_run
from leaderboard.cli.tables import named
from leaderboard.numbers import counted

if TYPE_CHECKING:
    from leaderboard.baselines import Normalisation, RankedList
    from leaderboard.formats import Run

SHARED = together(
    click.argument("paths", nargs=-1, required=True, metavar="RUN RUN...", type=FILE),
    click.option("--out", required=True, type=OUT, metavar="FILE", help="The run to write; gzipped if it ends in .gz."),
    click.option("--depth", type=Whole(1), default=1000, show_default=True, metavar="K", help="Documents a query."),
    click.option("--tag", type=TAG, help="The run's own name (default: the method and how many runs it is made of)."),
)


@click.group()
def fuse() -> None:
    """Makes one run of several.

    Runs have any format that `leaderboard score` reads; decisions in them are not looked at. Ranks are by score and
    then document id, both falling. A query is answered that any of the runs has.
    """


@fuse.command()
@SHARED
@click.option("--k", type=Number(0, 1e9), default=60.0, show_default=True, help="Added to every rank.")
def rrf(paths: tuple[Path, ...], out: Path, depth: int, tag: str | None, k: float) -> None:
    """Reciprocal-rank fusion.

    \b
    leaderboard fuse rrf bm25.txt dense.txt --out fused.txt

    A document's score is the sum of 1 / (k + rank) over the runs that list it (Cormack, Clarke and Büttcher, 2009).
    """
    from leaderboard.baselines import reciprocal_rank_fusion

    _fuse(paths, out, tag or f"rrf-of-{len(paths)}", lambda runs: reciprocal_rank_fusion(runs, k=k, depth=depth))


@fuse.command()
@SHARED
@click.option(
    "--normalise",
    type=click.Choice(["minmax", "none"]),
    default="minmax",
    show_default=True,
    help="Move the scores of each run and query to 0 … 1 first, or add them as they are.",
)
def combsum(paths: tuple[Path, ...], out: Path, depth: int, tag: str | None, normalise: "Normalisation") -> None:
    """CombSUM, fusion by scores.

    \b
    leaderboard fuse combsum bm25.txt dense.txt --out fused.txt

    A document's score is the sum of its scores in the runs that list it (Fox and Shaw, 1994), which are moved to 0 … 1
    for each run and query first, unless they shall be added as they are.
    """
    from leaderboard.baselines import combsum as fused

    _fuse(paths, out, tag or f"combsum-of-{len(paths)}", lambda runs: fused(runs, normalise=normalise, depth=depth))


def _fuse(
    paths: Sequence[Path], out: Path, tag: str, method: "Callable[[Sequence[Run]], Iterator[RankedList]]"
) -> None:
    from leaderboard.cli.progress_bar import counting_bar, progress_bar
    from leaderboard.formats import read_run

    if len(paths) < 2:
        raise click.UsageError("name two runs or more: one alone is fused with nothing")
    if len({path.resolve() for path in paths}) < len(paths):
        raise click.UsageError("a run is named twice")
    require_place(out, paths)
    with progress_bar(paths) as opened:
        runs = [read_run(opened(path), name=str(path)) for path in paths]
    queries = dict.fromkeys(query for run in runs for query in run.queries)
    for path, run in zip(paths, runs, strict=True):
        lacking = sorted(queries.keys() - set(run.queries))
        if lacking:
            queries_lacking = counted(len(lacking), "query")
            click.echo(f"{path}: {queries_lacking} of other runs not in it: {named(lacking)}", err=True)
    with counting_bar(len(queries), "Fusing") as tell:
        written = write_run(out, _counted(method(runs), tell), tag)
    click.echo(f"{out}: {tag}, {written}, fused of {len(paths)} runs")


def _counted(lists: "Iterator[RankedList]", tell: Callable[[int], None]) -> Any:
    for each in lists:
        yield each
        tell(1)
