"""`leaderboard agreement`: how much two runs agree, query by query. No judgments, no database.

`leaderboard curves`: a run's curves as columns, for plotting and for other programs. No database.

`leaderboard fuse`: one run made of several. No judgments, no database.
"""

import gzip
import io
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import click

from leaderboard.baselines.runs import RRF_K, Normalisation, RankedList, combsum as by_scores, reciprocal_rank_fusion
from leaderboard.cli import options
from leaderboard.cli.options import aligned, counting_bar, csv_text, defined, figure, json_text, option, refuse_if
from leaderboard.cli.score import judged_queries, read_runs, setting_of, tell_queries, tell_strange
from leaderboard.errors import BadInput
from leaderboard.formats import RUN_WRITERS, Run, RunLine
from leaderboard.formats.plain_text import LONGEST_TAG
from leaderboard.metrics import oracles, parse_agreements, sweep
from leaderboard.metrics.families.agreement import Agreed, Items
from leaderboard.metrics.families.binary import over_rank, over_recall
from leaderboard.numbers import counted
from leaderboard.scoring import join, ranked_lines

USUAL = "KendallTau KendallDistance SpearmanRho RBO TauAP"


@click.command()
@click.argument("first", metavar="RUN_A", type=options.FILE)
@click.argument("second", metavar="RUN_B", type=options.FILE)
@option("--depth", "Cut both lists after K documents first.", options.whole(1))
@option("--measures", f"Which, as in RBO(p=0.95) KendallTau@10 ({USUAL}).", default=USUAL)
@option("--format layout", "", ("table", "csv", "json"), default="table")
def agreement(first: Path, second: Path, depth: int | None, measures: str, layout: str) -> None:
    """How much two runs agree on each query they share, and on average.

    \b
    leaderboard agreement a.txt b.txt
    leaderboard agreement a.txt b.txt.gz --depth 100 --measures 'KendallDistance@10 RBO(p=0.95)' --format csv

    Lists are taken in trec_eval's order: score, then document id, both falling. n is the number of documents in both
    lists, for FaginKendall in either. Below two common documents a correlation is undefined (–) and left out of the
    mean; in the row all, n is the number of queries that the mean is over. TauAP takes RUN_A as the reference.
    `leaderboard score --explain RBO` has more.
    """
    asked = parse_agreements(measures)
    reference, other = (_lists(run, depth) for run in read_runs([first, second]))
    shared = [query for query in reference if query in other]
    if not shared:
        raise BadInput(f"{first} and {second} have no query in common")
    for path, own, theirs in ((first, reference, other), (second, other, reference)):
        tell_queries(path, [query for query in own if query not in theirs], "not in the other run, left out")
    names = [str(measure) for measure in asked]
    rows = {query: [measure.compute(reference[query], other[query]) for measure in asked] for query in shared}
    means = [_mean(column) for column in zip(*rows.values(), strict=True)]
    if layout == "json":
        per_query = {query: _by_name(names, agreed, "documents") for query, agreed in rows.items()}
        text = json_text({"mean": _by_name(names, means, "queries"), "per_query": per_query})
    else:
        show, of = (defined, "n of {}") if layout == "csv" else (figure, "n")
        cells: list[list[Any]] = [["query", *chain(*((name, of.format(name)) for name in names))]]
        for query, agreed in [*rows.items(), ("all", means)]:
            cells.append([query, *chain(*((show(value), str(n)) for value, n in agreed))])
        text = csv_text(cells) if layout == "csv" else aligned(cells, {0})
    click.echo(text, nl=False)


def _lists(run: Run, depth: int | None) -> dict[str, Items]:
    """Each query's documents in rank order."""
    lines = ranked_lines(run)
    bounds = zip(run.queries, lines.start[:-1].tolist(), lines.start[1:].tolist(), strict=True)
    return {query: lines.document[first:last][:depth] for query, first, last in bounds}


def _mean(values: Sequence[Agreed]) -> Agreed:
    """Over the queries where it is defined, and how many these are."""
    numbers = [each.value for each in values if not math.isnan(each.value)]
    return Agreed(math.fsum(numbers) / len(numbers) if numbers else math.nan, len(numbers))


def _by_name(names: Sequence[str], agreed: Sequence[Agreed], things: str) -> dict[str, Any]:
    return {name: {"value": defined(value), things: n} for name, (value, n) in zip(names, agreed, strict=True)}


CURVES: dict[str, Callable[..., Mapping[str, Any]]] = {
    "sweep": lambda ranking, level: sweep(ranking, level)._asdict(),
    "oracle": oracles,
    "recall": over_recall,
    "rank": over_rank,
}


@click.command()
@click.argument("run", metavar="RUN", type=options.FILE)
@option("--judgments", "The judgments.", options.FILE, metavar="QRELS", required=True)
@option("--curve", "At thresholds, best ones, recalls or ranks.", tuple(CURVES), required=True)
@option("--query", "The curve of this query alone, not of all.")
@options.LEVEL_OPTION
@option("--depth", "How many ranks --curve rank has (the longest list).", options.whole(1))
@options.DOCUMENTS
@options.BETA
@options.NO_RELEVANT
@options.QUERIES
@options.COMPAT
@option("--format layout", "", ("csv", "json"), default="csv")
def curves(
    run: Path, judgments: Path, curve: str, query: str | None, level: int, depth: int | None, layout: str, **asked: Any
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
    settings = {name: asked.pop(name) for name in ("documents", "beta", "no_relevant", "compat")}
    lacks = None in (settings["documents"], settings["beta"])
    refuse_if(lacks and curve in ("sweep", "oracle"), f"--curve {curve} needs --documents N and --beta B")
    refuse_if(depth is not None and curve != "rank", "--depth goes with --curve rank")
    setting = setting_of(settings)
    judged, strange = judged_queries(judgments, **asked, only=query)
    [read] = read_runs([run])
    tell_strange(strange.difference(read.queries))
    ranking = join(read, judged, setting).ranking
    made = CURVES[curve](ranking, level, *[depth] * (curve == "rank"))
    points: dict[str, Sequence[Any]] = {"query": judged.queries} if curve == "oracle" else {}
    points |= {name: [defined(value) for value in column.tolist()] for name, column in made.items()}
    if layout == "csv":
        click.echo(csv_text([points, *zip(*points.values(), strict=True)]), nl=False)
        return
    document = {"run": str(run), "curve": curve, "query": query, "relevance": level, "setting": settings}
    finite = {name: [None if value == math.inf else value for value in column] for name, column in points.items()}
    click.echo(json.dumps(document | {"points": finite}, ensure_ascii=False, allow_nan=False))


def _tag(text: str) -> str:
    if not 0 < len(text) <= LONGEST_TAG or " " in text or not text.isprintable():
        raise ValueError(f"a run tag has 1 to {LONGEST_TAG} characters and no blank, found {text!r}")
    return text


TAG = option("--tag", "The run's own name (default: what it is made by).", options.Reads("tag", _tag))
OUT_HELP = "The run to write; gzipped if it ends in .gz."
SHARED = options.together(
    click.argument("paths", nargs=-1, required=True, metavar="RUN RUN...", type=options.FILE),
    option("--out", OUT_HELP, options.OUT, required=True),
    options.DEPTH,
    TAG,
)


@click.group()
def fuse() -> None:
    """Makes one run of several.

    Runs have any format that `leaderboard score` reads; decisions in them are not looked at. Ranks are by score and
    then document id, both falling. A query is answered that any of the runs has.
    """


@fuse.command()
@SHARED
@option("--k", "Added to every rank.", options.number(0, 1e9), default=RRF_K)
def rrf(paths: tuple[Path, ...], out: Path, depth: int, tag: str | None, k: float) -> None:
    """Reciprocal-rank fusion.

    \b
    leaderboard fuse rrf bm25.txt dense.txt --out fused.txt

    A document's score is the sum of 1 / (k + rank) over the runs that list it (Cormack, Clarke and Büttcher, 2009).
    """
    _fuse(paths, out, tag or f"rrf-of-{len(paths)}", lambda runs: reciprocal_rank_fusion(runs, k=k, depth=depth))


@fuse.command()
@SHARED
@option("--normalise", "Move each list's scores to 0 … 1 first.", ("minmax", "none"), default="minmax")
def combsum(paths: tuple[Path, ...], out: Path, depth: int, tag: str | None, normalise: Normalisation) -> None:
    """CombSUM, fusion by scores.

    \b
    leaderboard fuse combsum bm25.txt dense.txt --out fused.txt

    A document's score is the sum of its scores in the runs that list it (Fox and Shaw, 1994), which are moved to 0 … 1
    for each run and query first, unless they shall be added as they are.
    """
    tag = tag or f"combsum-of-{len(paths)}"
    _fuse(paths, out, tag, lambda runs: by_scores(runs, normalise=normalise, depth=depth))


def _fuse(paths: Sequence[Path], out: Path, tag: str, method: Callable[[Sequence[Run]], Iterator[RankedList]]) -> None:
    refuse_if(len(paths) < 2, "name two runs or more: one alone is fused with nothing")
    require_place(out, paths)
    runs = list(read_runs(paths))
    queries = {query for run in runs for query in run.queries}
    for path, run in zip(paths, runs, strict=True):
        tell_queries(path, sorted(queries - set(run.queries)), "of other runs not in it")
    lengths = write_run(out, watched(method(runs), len(queries), "Fusing"), tag)
    click.echo(f"{out}: {tag}, {in_words(lengths)}, fused of {len(paths)} runs")


def watched(lists: Iterable[RankedList], total: int, label: str) -> Iterator[RankedList]:
    """The lists, with a bar that shows how many of them are dealt with."""
    with counting_bar(total, label) as tell:
        for each in lists:
            yield each
            tell(1)


def in_words(lengths: Mapping[str, int]) -> str:
    """How much a run file holds, of which `write_run` says how many lines each query has."""
    return f"{counted(sum(map(bool, lengths.values())), 'query')}, {counted(sum(lengths.values()), 'line')}"


def require_place(out: Path, inputs: Iterable[Path]) -> None:
    """Raises UsageError where the file to write has no folder, is no file, or is one of those that are read."""
    refuse_if(not out.parent.is_dir(), f"--out {out}: there is no folder {out.parent}")
    refuse_if(out.exists() and not out.is_file(), f"--out {out} is no file that could be replaced")
    is_input = out.resolve() in {path.resolve() for path in inputs}
    refuse_if(is_input, f"--out {out} is one of the files that are read; name another")


def write_run(out: Path, lists: Iterable[RankedList], tag: str, theta: float | None = None) -> dict[str, int]:
    """Writes the lists as they come, as TREC's six columns; gzipped where the name ends in .gz. Query -> its lines.

    Scores have every digit, so that they are read as they were. With θ the run holds decisions: Y from θ on.
    The file gets its name when all of it is written; one of this name is replaced. Raises BadInput for a run without a
    line.
    """
    write = RUN_WRITERS["trec" if theta is None else "decisions"]
    least = -math.inf if theta is None else theta
    lengths = {}
    with _whole(out) as text:
        for query, document, score in lists:
            columns = zip(document.tolist(), score.tolist(), strict=True)
            text.writelines(
                write(RunLine(query, name.decode(), rank, repr(value), value >= least, tag))
                for rank, (name, value) in enumerate(columns, 1)
            )
            lengths[query] = len(score)
        if not any(lengths.values()):
            raise BadInput("no document was found for any query; no run is written")
    return lengths


@contextmanager
def _whole(out: Path) -> Iterator[io.TextIOWrapper]:
    """A text to write to, which becomes the file when the block ends without an exception, and else leaves nothing."""
    out = out.resolve()  # a link stays, and what it leads to is replaced
    unfinished = out.with_name(f".{out.name[:100]}.{os.getpid()}")
    try:
        with ExitStack() as files:
            raw: Any = files.enter_context(unfinished.open("wb"))
            if out.suffix == ".gz":  # without name and time, so that the same run is the same file
                raw = files.enter_context(gzip.GzipFile("", "wb", 6, raw, mtime=0))
            yield files.enter_context(io.TextIOWrapper(raw, encoding="utf-8", newline="\n"))
        unfinished.replace(out)
    finally:
        unfinished.unlink(missing_ok=True)
