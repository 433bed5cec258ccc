"""`leaderboard agreement`: how much two runs agree, query by query. No judgments, no database."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leaderboard.cli.options import FILE, Whole
from leaderboard.cli.tables import UNDEFINED, aligned, csv_text, defined, json_text, named
from leaderboard.numbers import counted

if TYPE_CHECKING:
    from leaderboard.formats import Run
    from leaderboard.metrics.families.agreement import Agreed, Items


USUAL = "KendallTau KendallDistance SpearmanRho RBO TauAP"


@click.command()
@click.argument("first", metavar="RUN_A", type=FILE)
@click.argument("second", metavar="RUN_B", type=FILE)
@click.option("--depth", type=Whole(1), metavar="K", help="Cut both lists after K documents first.")
@click.option(
    "--measures", default=USUAL, metavar="NAMES", help=f"Which, as in KendallDistance@10 RBO(p=0.95) ({USUAL})."
)
@click.option("--format", "output", type=click.Choice(["table", "csv", "json"]), default="table")
def agreement(first: Path, second: Path, depth: int | None, measures: str, output: str) -> None:
    """How much two runs agree on each query they share, and on average.

    \b
    leaderboard agreement a.txt b.txt
    leaderboard agreement a.txt b.txt.gz --depth 100 --measures 'KendallDistance@10 RBO(p=0.95)' --format csv

    Lists are taken in trec_eval's order: score, then document id, both falling. n is the number of documents in both
    lists, for FaginKendall in either. Below two common documents a correlation is undefined (–) and left out of the
    mean; in the row all, n is the number of queries that the mean is over. TauAP takes RUN_A as the reference.
    `leaderboard score --explain RBO` has more.
    """
    from leaderboard.cli.progress_bar import progress_bar
    from leaderboard.errors import BadInput
    from leaderboard.formats import read_run
    from leaderboard.metrics import parse_agreements

    asked = parse_agreements(measures)
    if not asked:
        raise click.UsageError(f"--measures names none; expected some of {USUAL}")
    with progress_bar([first, second]) as opened:
        one, other = (_lists(read_run(opened(path), name=str(path)), depth) for path in (first, second))
    shared = [query for query in one if query in other]
    if not shared:
        raise BadInput(f"{first} and {second} have no query in common")
    for path, here, there in ((first, one, other), (second, other, one)):
        _report(path, [query for query in here if query not in there])
    names = [str(each) for each in asked]
    rows = {query: [each.compute(one[query], other[query]) for each in asked] for query in shared}
    means = [_mean(column) for column in zip(*rows.values(), strict=True)]
    lines = [*rows.items(), ("all", means)]
    if output == "json":
        text = json_text(_document(names, rows, means))
    elif output == "csv":
        text = csv_text(_cells([(name, f"n of {name}") for name in names], lines, defined))
    else:
        text = aligned(list(_cells([(name, "n") for name in names], lines, _shown)), {0})
    click.echo(text, nl=False)


def _lists(run: "Run", depth: int | None) -> "dict[str, Items]":
    """Each query's documents in rank order."""
    from leaderboard.scoring import ranked_lines

    lines = ranked_lines(run)
    bounds = zip(run.queries, lines.start[:-1].tolist(), lines.start[1:].tolist(), strict=True)
    return {query: lines.document[first:last][:depth] for query, first, last in bounds}


def _mean(values: "Sequence[Agreed]") -> "Agreed":
    """Over the queries where it is defined, and how many these are."""
    from leaderboard.metrics.families.agreement import Agreed

    defined = [each.value for each in values if not math.isnan(each.value)]
    return Agreed(math.fsum(defined) / len(defined) if defined else math.nan, len(defined))


def _report(path: Path, alone: Sequence[str]) -> None:
    """Says on stderr which queries only one run has."""
    if alone:
        queries = counted(len(alone), "query")
        click.echo(f"{path}: {queries} not in the other run, left out: {named(alone)}", err=True)


def _document(names: Sequence[str], rows: "dict[str, list[Agreed]]", means: "list[Agreed]") -> dict[str, Any]:
    """What --format json prints."""

    def by_name(agreed: "list[Agreed]", counted: str) -> dict[str, Any]:
        return {name: {"value": defined(value), counted: n} for name, (value, n) in zip(names, agreed, strict=True)}

    return {
        "mean": by_name(means, "queries"),
        "per_query": {query: by_name(agreed, "documents") for query, agreed in rows.items()},
    }


def _cells(
    heads: Sequence[tuple[str, str]],
    lines: "Sequence[tuple[str, list[Agreed]]]",
    show: Callable[[float], str | float | None],
) -> Iterator[list[Any]]:
    """The head and a row for each line: two columns for each measure, its value and n."""
    yield ["query", *chain.from_iterable(heads)]
    for query, agreed in lines:
        yield [query, *(part for value, n in agreed for part in (show(value), str(n)))]


def _shown(value: float) -> str:
    return UNDEFINED if math.isnan(value) else f"{value:.4f}"
