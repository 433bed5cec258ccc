"""`leaderboard agreement`: how much two runs agree, query by query. No judgments, no database."""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leaderboard.cli.options import FILE
from leaderboard.cli.tables import aligned, named

if TYPE_CHECKING:
    from leaderboard.formats import Run
    from leaderboard.metrics.families.agreement import Agreed, Agreement, Items

__all__ = ["agreement"]

USUAL = "KendallTau KendallDistance SpearmanRho RBO TauAP"
ALL = "all"


@click.command()
@click.argument("first", metavar="RUN_A", type=FILE)
@click.argument("second", metavar="RUN_B", type=FILE)
@click.option("--depth", type=click.IntRange(1), metavar="K", help="Cut both lists after K documents first.")
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
    rows = [Row(query, tuple(each.compute(one[query], other[query]) for each in asked)) for query in shared]
    rows.append(Row(ALL, tuple(_mean([row.agreed[place] for row in rows]) for place in range(len(asked)))))
    show = {"table": _table, "csv": _csv, "json": _json}[output]
    click.echo(show(asked, rows), nl=False)


@dataclass(frozen=True, slots=True)
class Row:
    """One query's agreement by each measure, or that over all queries."""

    query: str
    agreed: "tuple[Agreed, ...]"


def _lists(run: "Run", depth: int | None) -> "dict[str, Items]":
    """Each query's documents in rank order."""
    from leaderboard.scoring import ranked_lines

    lines = ranked_lines(run)
    bounds = zip(run.queries, lines.start[:-1].tolist(), lines.start[1:].tolist(), strict=True)
    return {query: lines.document[first:last][:depth] for query, first, last in bounds}


def _mean(values: "Sequence[Agreed]") -> "Agreed":
    from leaderboard.metrics.families.agreement import Agreed

    defined = [each.value for each in values if not math.isnan(each.value)]
    return Agreed(math.fsum(defined) / len(defined) if defined else math.nan, len(defined))


def _report(path: Path, alone: Sequence[str]) -> None:
    """Says on stderr which queries only one run has."""
    if alone:
        plural = "query" if len(alone) == 1 else "queries"
        click.echo(f"{path}: {len(alone):,} {plural} not in the other run, left out: {named(alone)}", err=True)


def _table(asked: "Sequence[Agreement]", rows: Sequence[Row]) -> str:
    head = ["query", *(part for each in asked for part in (str(each), "n"))]
    cells = [
        [
            row.query,
            *(part for value, n in row.agreed for part in ("–" if math.isnan(value) else f"{value:.4f}", str(n))),
        ]
        for row in rows
    ]
    return aligned([head, *cells], {0})


def _csv(asked: "Sequence[Agreement]", rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["query", *(part for each in asked for part in (str(each), f"n of {each}"))])
    for row in rows:
        writer.writerow(
            [row.query, *(part for value, n in row.agreed for part in ("" if math.isnan(value) else value, n))]
        )
    return text.getvalue()


def _json(asked: "Sequence[Agreement]", rows: Sequence[Row]) -> str:
    names = [str(each) for each in asked]
    *queries, total = [
        {name: (None if math.isnan(value) else value, n) for name, (value, n) in zip(names, row.agreed, strict=True)}
        for row in rows
    ]
    document = {
        "mean": {name: {"value": value, "queries": n} for name, (value, n) in total.items()},
        "per_query": {
            row.query: {name: {"value": value, "documents": n} for name, (value, n) in found.items()}
            for row, found in zip(rows, queries, strict=False)
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
