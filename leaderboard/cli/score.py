"""`leaderboard score`: scores run files offline, without database or site, and compares them with one (--compare).

And what every command that reads runs and judgments from files begins with: the setting, and the queries that count.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import click

from leaderboard import errors, formats, numbers, scoring, statistics
from leaderboard.campaigns.rules import checked_beta
from leaderboard.cli import options
from leaderboard.cli.options import aligned, csv_text, defined, figure, json_text, named, option, refuse_if
from leaderboard.cli.trec_eval import printed_under_own_names, trec_lines
from leaderboard.evaluations.rules import lacks
from leaderboard.metrics import Measure, Setting, explain as explained, parse_all
from leaderboard.metrics.aggregation import GEOMETRIC_MEAN

USUAL = "AP nDCG@10 RR P@10"
USUAL_WITH_BETA = "AQWV Pmiss Pfa " + USUAL
BETA_OF = ("beta", "cost", "value", "prior")  # the options that say it
OPTION = {
    "documents": "--documents N",
    "beta": "--beta B (or --cost, --value and --prior)",
    "known": "--known FILE",
    "subtopics": "--subtopics FILE",
}


class ScoredRun(NamedTuple):
    """A run's figures. `name` is what the file is called, `tag` what the run calls itself."""

    name: str
    tag: str
    scored: scoring.Scored


@click.command()
@click.argument("runs", nargs=-1, metavar="RUN...", type=options.FILE)
@option("--judgments", "Judgments: query, iteration, document, grade.", options.FILE, metavar="QRELS")
@option("--measures", f"Our names or trec_eval's, and its bundles ({USUAL}).")
@options.PER_QUERY
@options.LEVEL_OPTION
@options.CUT
@options.JUDGED_ONLY
@options.COMPAT
@options.DOCUMENTS
@options.COSTS
@options.NO_RELEVANT
@option("--threshold", "Scores of at least θ count as returned.", options.ANY_NUMBER)
@option("--highest-grade", "Of all judgments (ERR).", options.whole(0, numbers.GRADE_LIMIT))
@options.QUERIES
@option("--known", "Judgments of what its user knows (Novelty).", options.FILE)
@option("--subtopics", "Judgments of subtopics (alpha_nDCG); without --judgments, all.", options.FILE)
@option("--format layout", "", ("table", "trec_eval", "json", "csv"), default="table")
@option("--compare", "Hold the other runs against this one: differences, tests, effects.", metavar="RUN")
@option("--seed", "What --compare draws its resamples from.", options.whole(0), default=statistics.SEED)
@option("--explain", "Say what a measure means, and end.")
def score(explain: str | None, **values: Any) -> None:
    """Scores run files against judgments: no database, no site.

    \b
    leaderboard score run.txt.gz --judgments qrels.txt --measures 'AP nDCG@10'
    leaderboard score a.txt b.txt --judgments qrels.txt -q --format csv
    leaderboard score decisions.tsv --judgments qrels.txt --measures AQWV --documents 601 --beta 20
    leaderboard score a.txt b.txt c.txt --judgments qrels.txt --measures 'AP nDCG@10' --compare a.txt
    leaderboard score run.txt --subtopics qrels.diversity.txt --measures 'alpha_nDCG@10 StRecall@10'
    leaderboard score --explain nDCG@10

    Runs have TREC's columns (query Q0 document rank score tag) or decisions (query document Y|N score), or are CSV or
    JSON lines with the columns query, document, score and, if there are decisions, decision; or a .tgz with one file of
    decisions for each query, called after it (document Y|N score, or document score). Judgments have TREC's columns
    (query iteration document grade), or are CSV or JSON lines with query, document and grade; those of subtopics have
    the subtopic in the second column. Given alone, they say of each document what holds for its query as a whole too:
    the highest grade of any subtopic. All may be gzipped.

    A judged query that a run lacks counts as an empty list; one without judgments is ignored. Both are reported on
    stderr.
    """
    if explain is not None:
        click.echo(explained(explain))
        return
    asked = SimpleNamespace(**values)
    baseline = _baseline(asked)
    setting = setting_of(values)
    names = asked.measures or (USUAL if setting.beta is None or asked.documents is None else USUAL_WITH_BETA)
    if asked.layout == "trec_eval":
        request = printed_under_own_names(names, asked.compat, asked.level)
        wanted = tuple(dict.fromkeys(printed.at(asked.level) for printed in request.measures))
    else:
        wanted = tuple(measure.at_relevance(asked.level) for measure in parse_all(names))
    runs = _scored(asked, wanted, setting)
    if asked.layout == "trec_eval":
        how: Any = {"level": asked.level, "compat": asked.compat, "per_query": asked.per_query}
        text = "".join(line for run in runs for line in trec_lines(run.scored, run.tag, request, **how))
    elif baseline is not None:
        tables = {measure: _compared(runs, measure, baseline, asked.seed) for measure in wanted}
        text = _comparison(asked.layout, runs, tables)
    elif asked.layout == "json":
        of_setting = {name: getattr(setting, name) for name in ("beta", "compat", "documents", "no_relevant")}
        documents = [_document(run, wanted, asked.per_query) for run in runs]
        text = json_text({"setting": of_setting, "runs": documents})
    else:
        text = _figures(asked.layout, runs, wanted, asked.per_query)
    click.echo(text, nl=False)


def _baseline(asked: SimpleNamespace) -> str | None:
    """The name of the run that --compare names; None without it. Raises UsageError for options that do not fit."""
    refuse_if(not asked.runs, "no run is named; give one run file or more")
    refuse_if(not (asked.judgments or asked.subtopics), "--judgments is missing; name the file of judgments")
    if asked.compare is None:
        return None
    is_whole = asked.layout != "trec_eval" and not asked.per_query
    refuse_if(not is_whole, "--compare is of whole runs; leave out --per-query and --format trec_eval")
    names = [str(path) for path in asked.runs]
    refuse_if(asked.compare not in names, f"--compare: {asked.compare} is not among the runs: {', '.join(names)}")
    needs = "--compare needs two different runs or more: the one to compare with and the others"
    refuse_if(len(set(names)) < max(2, len(names)), needs)
    return str(asked.compare)


def _scored(asked: SimpleNamespace, wanted: Sequence[Measure], setting: Setting) -> list[ScoredRun]:
    """The runs' figures, in their order; says on stderr what was left out, and first which option a measure lacks."""
    known, subtopics = asked.known is not None, asked.subtopics is not None
    for measure in wanted:
        if missing := lacks(measure, documents=asked.documents, beta=setting.beta, known=known, subtopics=subtopics):
            raise errors.BadInput(f"{measure} needs {' and '.join(OPTION[need] for need in missing)}")
    judged, strange = judged_queries(
        asked.judgments, asked.query_file, asked.judging, excluded=asked.excluded, subtopics=asked.subtopics,
        known=None if asked.known is None else formats.read_judgments(asked.known, name=str(asked.known)),
        zero_without_relevant=asked.layout == "trec_eval",
    )  # fmt: skip
    cut: Any = {"threshold": asked.threshold, "depth": asked.depth, "judged_only": asked.judged_only}
    scored = []
    for path, run in zip(map(str, asked.runs), read_runs(asked.runs), strict=True):
        strange -= set(run.queries)
        scored.append(ScoredRun(path, run.tag, scoring.score(run, judged, wanted, setting, name=path, **cut)))
    tell_strange(strange)
    for each in scored:
        _report(each, asked.excluded)
    return scored


def _report(run: ScoredRun, excluded: Sequence[str]) -> None:
    """Says on stderr which queries are missing, which are ignored, and which means are over fewer than all."""
    name, _, scored = run
    unknown = [query for query in scored.unknown if query not in excluded]
    tell_queries(name, scored.missing, "judged but not in the run, scored as an empty list")
    tell_queries(name, unknown, "in the run but not judged, ignored")
    tell_queries(name, scored.crowded, "with more documents, listed and judged, than the collection has")
    total = len(scored.queries)
    fewer = defaultdict(list)
    for measure, result in scored.results.items():
        if result.count < total:
            have = f"{result.count:,} of {total:,} queries have a value (the others {measure.family.valueless})"
            fewer[have].append(str(measure))
    for have, names in fewer.items():
        click.echo(f"{name}: {have}: {', '.join(names)}", err=True)


def _figures(layout: str, runs: Sequence[ScoredRun], measures: Sequence[Measure], per_query: bool) -> str:
    """One row a run, or also one for each of its queries: for people with four digits, aligned on the point; for
    programs (csv) with every digit, where an undefined value is empty."""
    if layout == "csv":
        return csv_text(_rows(runs, measures, lambda value, _: _number(value), per_query))
    rows = list(_rows(runs, measures, lambda value, measure: figure(value, 0 if measure.is_count else 4), per_query))
    return aligned(rows, range(1 + per_query))


def _document(run: ScoredRun, measures: Sequence[Measure], per_query: bool) -> dict[str, Any]:
    """For programs: every digit, and what was left out; an undefined value is null."""
    name, tag, scored = run
    results = {str(measure): scored.results[measure] for measure in measures}
    document: dict[str, Any] = {
        "run": name,
        "tag": tag,
        "queries": len(scored.queries),
        "missing": scored.missing,
        "ignored": scored.unknown,
        "measures": {
            name: {"mean": _number(result.mean), "queries": result.count}
            | ({} if result.theta is None else {"theta": _number(result.theta)})
            for name, result in results.items()
        },
    }
    if per_query:
        rows = zip(scored.queries, *(map(_number, result.values.tolist()) for result in results.values()), strict=True)
        document["per_query"] = {query: dict(zip(results, values, strict=True)) for query, *values in rows}
    return document


def _rows(
    runs: Sequence[ScoredRun], measures: Sequence[Measure], show: Callable[[float, Measure], Any], per_query: bool
) -> Iterator[list[Any]]:
    """The head, then the rows; a run's queries come before its figure over all of them."""
    yield ["run", *["query"] * per_query, *map(str, measures)]
    for name, _, scored in runs:
        results = [scored.results[measure] for measure in measures]
        if per_query:
            for query, *values in zip(scored.queries, *(result.values.tolist() for result in results), strict=True):
                yield [name, query, *map(show, values, measures)]
        yield [name, *["all"] * per_query, *map(show, (result.mean for result in results), measures)]


def _number(value: float) -> float | int | None:
    """A whole number without its point; None for what has no value or no bound."""
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) else value


SHOWN = (  # of two runs compared, to people
    "mean", "baseline_mean", "difference", "low", "high", "queries", "left_out",
    "d_z", "dominance", "better", "worse", "tied",
    "detectable", "queries_needed", "tukey_p",
    *(f"{test}_{p}" for test in ("randomisation", "t", "wilcoxon") for p in ("p", "holm", "bh")),
)  # fmt: skip
COMPARISON_COLUMNS = ("measure", "run", "baseline", *SHOWN, "confidence", "resamples", "seed", "reason")
Tables = Mapping[Measure, statistics.ComparisonTable]


def _compared(runs: Sequence[ScoredRun], measure: Measure, baseline: str, seed: int) -> statistics.ComparisonTable:
    """A measure's comparisons; none, with the reason, for one without a direction."""
    if measure.direction == "none":
        drawn = statistics.CONFIDENCE, statistics.RESAMPLES, seed
        return statistics.ComparisonTable(baseline, (), *drawn, "neither a higher nor a lower value is better")
    return statistics.compare(
        {run.name: run.scored.results[measure].columns for run in runs},
        baseline,
        measure.family.aggregation,
        direction=measure.direction,
        least=statistics.least_queries(measure, runs[0].scored.ranking.setting).for_interval,
        seed=seed,
    )


def _means(runs: Sequence[ScoredRun], measure: Measure) -> dict[str, float | None]:
    """By the run's name."""
    return {run.name: defined(run.scored.results[measure].mean) for run in runs}


def _records(
    runs: Sequence[ScoredRun], measure: Measure, table: statistics.ComparisonTable
) -> Iterator[dict[str, Any]]:
    """What is known of each run's comparison, by column of the CSV."""
    rows = {row.name: row for row in table.rows}
    means = _means(runs, measure)
    for run, mean in means.items():
        if run == table.baseline:
            continue
        record: dict[str, Any] = {"reason": table.reason}
        if row := rows.get(run):
            record = {**asdict(row.effects), **asdict(row.difference), "difference": row.difference.estimate}
            record["detectable"] = row.detectable.difference if row.detectable else None
            record |= {"queries_needed": row.needed, "tukey_p": row.tukey}
            for each in row.tests:
                for p, value in (("p", each.test.p), ("holm", each.holm), ("bh", each.benjamini_hochberg)):
                    record[f"{each.test.name}_{p}"] = value
        record |= {"measure": measure, "run": run, "mean": mean}
        yield record | {"baseline": table.baseline, "baseline_mean": means[table.baseline]}


def _comparison(layout: str, runs: Sequence[ScoredRun], tables: Tables) -> str:
    """For people a table a measure, with a column for each run. For programs everything that is known of each
    comparison, with every digit: what is undefined is empty (csv) or null, with its reason.
    """
    if layout == "json":
        measures = {
            str(measure): {"direction": measure.direction, "means": _means(runs, measure), **asdict(table)}
            for measure, table in tables.items()
        }
        return json_text({"baseline": next(iter(tables.values())).baseline, "measures": measures})
    if layout == "csv":
        records = (record for each in tables.items() for record in _records(runs, *each))
        return csv_text([COMPARISON_COLUMNS, *(map(record.get, COMPARISON_COLUMNS) for record in records)])
    return "\n".join("".join(f"{line}\n" for line in _section(runs, *each)) for each in tables.items())


def _section(runs: Sequence[ScoredRun], measure: Measure, table: statistics.ComparisonTable) -> Iterator[str]:
    better = "; lower is better" if measure.direction == "lower" else ""
    yield f"{measure} against {table.baseline}{better}"
    if table.reason is not None:
        yield f"not compared: {table.reason}"
        return
    records = list(_records(runs, measure, table))
    columns = [(record["run"], *map(_cell, map(record.get, SHOWN))) for record in records]
    yield aligned([*zip(("", *SHOWN), *columns, strict=True)], {0}).rstrip()
    for record in records:
        if record["reason"]:
            yield f"{record['run']}: {record['reason']}"
    if measure.family.aggregation is GEOMETRIC_MEAN:
        yield "d_z, the tests and queries_needed: of the logarithms of the values, as a geometric mean is of them"
    if table.swaps:
        rates = ", ".join(f"{100 * rate.rate:.0f} % with {rate.size:,} queries each" for rate in table.swaps)
        yield f"pairs of runs that two sets without a query in common order differently: {rates}"
    yield f"{table.confidence * 100:g} % intervals; {table.resamples:,} resamples, seed {table.seed}"


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.0e}" if value is not None and 0 < abs(value) < 0.0001 else figure(value)


def setting_of(asked: Mapping[str, Any]) -> Setting:
    """The measures' setting from the options. Raises InvalidFields for a wrong β, cost, value or prior."""
    beta = checked_beta(**{name: asked.get(name) for name in BETA_OF})
    of_setting = {field.name: asked[field.name] for field in fields(Setting) if field.name in asked}
    return Setting(**of_setting | {"beta": beta})


def read_runs(paths: Sequence[Path]) -> Iterator[formats.Run]:
    """The runs of files, one after the other, with a bar while they are long. Raises BadInput with file and lines."""
    with options.progress_bar(paths) as opened:
        for path in paths:
            yield formats.read_run(opened(path), name=str(path))


def judged_queries(
    judgments: Path | None,
    query_file: Path | None,
    judging: scoring.Judging,
    *,
    excluded: Collection[str] = (),
    subtopics: Path | None = None,
    only: str | None = None,
    **more: Any,
) -> tuple[scoring.JudgedQueries, set[str]]:
    """The judgments of the queries that count.

    judgments  a file of them, or None where those of subtopics say what is relevant
    excluded   external ids of queries that do not count
    subtopics  a file of judgments of subtopics
    only       the one query that counts, where not all do
    more       arguments of `scoring.prepare`

    With them come the excluded queries that are neither judged nor in the file of queries (`tell_strange`). Raises
    BadInput when no query has judgments.
    """
    refuse_if(
        judging == "complete" and query_file is None,
        "--judging complete needs --queries FILE: judgments don't name the queries without relevant documents",
    )
    aspects: Any = subtopics and _told(formats.read_subtopic_judgments, subtopics)
    whole = formats.of_any_subtopic(aspects) if judgments is None else _told(formats.read_judgments, judgments)
    asked = [row.id for row in formats.read_queries(query_file, name=str(query_file))] if query_file else whole.queries
    counting = [query for query in asked if query not in excluded and only in (None, query)]
    judged = scoring.prepare(whole, counting, judging=judging, subtopics=aspects, **more)
    if not judged.queries:
        raise errors.BadInput(f"{judgments or subtopics}: none of the queries that count has judgments")
    return judged, set(excluded).difference(asked)


def _told(read: Callable[..., Any], file: Path) -> Any:
    """What the file holds; says on stderr how many lines of it say what earlier ones do."""
    judgments = read(file, name=str(file))
    if judgments.repeated:
        lines = numbers.counted(judgments.repeated, "line")
        click.echo(f"{file}: left out, because earlier lines say the same: {lines}", err=True)
    return judgments


def tell_queries(name: object, queries: Sequence[str], words: str) -> None:
    """Says on stderr, of a file, how many queries are what the words say and which; nothing where none is."""
    if queries:
        click.echo(f"{name}: {numbers.counted(len(queries), 'query')} {words}: {named(queries)}", err=True)


def tell_strange(strange: Collection[str]) -> None:
    """Says on stderr which excluded queries nobody knows: the judgments that a site publishes have none of those that
    it excludes, but the runs answer them.
    """
    if strange:
        click.echo(f"--exclude: neither judged nor in a run: {named(sorted(strange))}", err=True)
