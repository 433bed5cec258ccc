"""`leaderboard agreement`: how much two runs agree, query by query. No judgments, no database.

`leaderboard curves`: a run's curves as columns, for plotting and for other programs. No database.

`leaderboard fuse`: one run made of several. No judgments, no database.
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leaderboard.cli.offline import (
    BETA,
    COMPAT,
    DOCUMENTS,
    LEVEL_OPTION,
    NO_RELEVANT,
    OUT,
    QUERIES,
    TAG,
    judged_queries,
    require_place,
    setting_of,
    tell_strange,
    write_run,
)
from leaderboard.cli.options import FILE, Number, Whole, together
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
    from leaderboard.cli.offline import progress_bar
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
    from leaderboard.cli.offline import counting_bar, progress_bar
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
