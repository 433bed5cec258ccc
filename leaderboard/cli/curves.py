"""`leaderboard curves`: a run's curves as columns, for plotting and for other programs. No database."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leaderboard.cli.offline import (
    BETA,
    COMPAT,
    DOCUMENTS,
    LEVEL_OPTION,
    NO_RELEVANT,
    QUERIES,
    judged_queries,
    setting_of,
    tell_strange,
)
from leaderboard.cli.options import FILE, Whole
from leaderboard.cli.tables import csv_text, defined

if TYPE_CHECKING:
    from leaderboard.metrics import Ranking

DETECTION = {"sweep", "oracle"}


@click.command()
@click.argument("run", metavar="RUN", type=FILE)
@click.option("--judgments", metavar="QRELS", type=FILE, required=True, help="The judgments.")
@click.option(
    "--curve",
    type=click.Choice(["sweep", "oracle", "recall", "rank"]),
    required=True,
    help="The value at every threshold, at each query's best one, precision over recall, or both over rank.",
)
@click.option("--query", metavar="ID", help="The curve of this query alone, not of all.")
@LEVEL_OPTION
@click.option("--depth", type=Whole(1), metavar="K", help="How many ranks --curve rank has (the longest list).")
@DOCUMENTS
@BETA
@NO_RELEVANT
@QUERIES
@COMPAT
@click.option("--format", "output", type=click.Choice(["csv", "json"]), default="csv")
def curves(
    run: Path,
    judgments: Path,
    curve: str,
    query: str | None,
    level: int,
    depth: int | None,
    output: str,
    **options: Any,
) -> None:
    """The points of a run's curves, every digit of them.

    \b
    leaderboard curves run.txt --judgments qrels.txt --curve rank
    leaderboard curves run.tsv --judgments qrels.txt --curve sweep --documents 601 --beta 20 --format json

    \b
    sweep   theta, p_miss, p_fa, qwv        a row for every distinct score, the strictest threshold first
    oracle  query, theta, p_miss, p_fa, value    a row for every query, at its own best threshold
    recall  recall, precision               interpolated, at the recalls 0, 0.1, … 1; mean over queries
    rank    rank, precision, recall         means over queries

    A threshold of inf (in JSON: null) returns nothing. What is undefined is empty (in JSON: null). A query that the run
    lacks counts as an empty list.
    """
    from leaderboard.errors import NotFound
    from leaderboard.formats import read_run
    from leaderboard.scoring import join

    given = {name: options.pop(name) for name in ("documents", "beta", "no_relevant", "compat")}
    if curve in DETECTION and (given["documents"] is None or given["beta"] is None):
        raise click.UsageError(f"--curve {curve} needs --documents N and --beta B")
    if depth is not None and curve != "rank":
        raise click.UsageError("--depth goes with --curve rank")
    setting = setting_of(**given)
    judged, strange = judged_queries(judgments, **options)
    if query is not None and query not in judged.number:
        raise NotFound(f"{judgments}: there is no query {query!r} that counts")
    read = read_run(run, name=str(run))
    tell_strange(strange, read.queries)
    ranking = join(read, judged, setting).ranking
    names = judged.queries
    if query is not None:
        ranking, names = ranking.of_query(judged.number[query]), (query,)
    points = _points(curve, ranking, names, level, depth)
    if output == "csv":
        click.echo(csv_text([points, *zip(*points.values(), strict=True)]), nl=False)
        return
    document = {"run": str(run), "curve": curve, "query": query, "relevance": level, "setting": given}
    columns = {name: [None if each == math.inf else each for each in column] for name, column in points.items()}
    click.echo(json.dumps(document | {"points": columns}, ensure_ascii=False, allow_nan=False))


def _points(
    curve: str, ranking: "Ranking", queries: tuple[str, ...], level: int, depth: int | None
) -> dict[str, list[Any]]:
    """The curve's columns by name; None where a value is undefined."""
    from leaderboard.metrics import oracles, sweep
    from leaderboard.metrics.families.recall_levels import over_rank, over_recall

    columns: dict[str, Any]
    if curve == "sweep":
        at = sweep(ranking, level)
        columns = {"theta": at.theta, "p_miss": at.p_miss, "p_fa": at.p_fa, "qwv": at.qwv}
    elif curve == "oracle":
        best = oracles(ranking, level)
        columns = {"query": queries, "theta": best.theta, "p_miss": best.p_miss, "p_fa": best.p_fa, "value": best.value}
    elif curve == "recall":
        over = over_recall(ranking, level)
        columns = {"recall": over.recall, "precision": over.precision}
    else:
        along = over_rank(ranking, level, depth)
        columns = {"rank": along.rank, "precision": along.precision, "recall": along.recall}
    return {
        name: list(column) if name == "query" else [defined(each) for each in column.tolist()]
        for name, column in columns.items()
    }
