"""`leaderboard score`: scores run files offline, without database or site."""

from collections.abc import Sequence
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
from leaderboard.cli.options import ANY_NUMBER, FILE, Whole
from leaderboard.cli.tables import named
from leaderboard.numbers import counted

if TYPE_CHECKING:
    from leaderboard.cli.score_output import ScoredRun
    from leaderboard.metrics import Measure, Setting
    from leaderboard.scoring import Judging

__all__ = ["score"]

USUAL = "AP nDCG@10 RR P@10"
OPTION = {
    "documents": "--documents N",
    "beta": "--beta B (or --cost, --value and --prior)",
    "known": "--known FILE",
    "subtopics": "--subtopics FILE",
}
USUAL_WITH_BETA = "AQWV Pmiss Pfa " + USUAL


@click.command()
@click.argument("runs", nargs=-1, metavar="RUN...", type=FILE)
@click.option("--judgments", metavar="QRELS", type=FILE, help="The judgments: query, iteration, document, grade.")
@click.option("--measures", metavar="NAMES", help=f"Our names or trec_eval's, and its bundles ({USUAL}).")
@click.option("-q", "--per-query", is_flag=True, help="Every query too.")
@LEVEL_OPTION
@click.option("-M", "--depth", type=Whole(0), metavar="K", help="Cut every list after K documents.")
@click.option("-J", "--judged-only", is_flag=True, help="Take unjudged documents out of the lists first.")
@COMPAT
@DOCUMENTS
@BETA
@click.option("--cost", type=ANY_NUMBER, metavar="C", help="Cost of a false alarm: β = C/V · (1/P − 1).")
@click.option("--value", type=ANY_NUMBER, metavar="V", help="Value of a correct detection.")
@click.option("--prior", type=ANY_NUMBER, metavar="P", help="A-priori probability that a document is relevant.")
@NO_RELEVANT
@click.option(
    "--threshold", type=ANY_NUMBER, metavar="θ", help="Documents with a score of at least θ count as returned."
)
@click.option(
    "--highest-grade",
    type=Whole(0, 1000),
    metavar="G",
    help="The highest grade of all judgments, where the file has not all (ERR).",
)
@QUERIES
@click.option(
    "--known", metavar="FILE", type=FILE, help="Documents known to the user, as judgments (Coverage, Novelty)."
)
@click.option(
    "--subtopics", metavar="FILE", type=FILE, help="Judgments of subtopics (alpha_nDCG); without --judgments, all."
)
@click.option("--format", "output", type=click.Choice(["table", "trec_eval", "json", "csv"]), default="table")
@click.option(
    "--compare", metavar="RUN", help="Hold the other runs against this one: differences, tests, effect sizes."
)
@click.option("--seed", type=Whole(0), metavar="N", help="What --compare draws its resamples from (1).")
@click.option("--explain", metavar="MEASURE", help="Say what a measure means, and end.")
def score(runs: tuple[Path, ...], judgments: Path | None, explain: str | None, **options: Any) -> None:
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
        from leaderboard.metrics import explain as explained

        click.echo(explained(explain))
        return
    if not runs:
        raise click.UsageError("no run is named; give one run file or more")
    if judgments is None and options["subtopics"] is None:
        raise click.UsageError("--judgments is missing; name the file of judgments")
    _score(runs, judgments, **options)


def _score(
    paths: tuple[Path, ...],
    judgments: Path | None,
    *,
    measures: str | None,
    per_query: bool,
    level: int,
    query_file: Path | None,
    judging: "Judging",
    excluded: tuple[str, ...],
    known: Path | None,
    subtopics: Path | None,
    output: str,
    threshold: float | None,
    depth: int | None,
    judged_only: bool,
    compare: str | None,
    seed: int | None,
    **given: Any,
) -> None:
    from leaderboard import formats, metrics, scoring
    from leaderboard.cli import score_output as show
    from leaderboard.cli.progress_bar import progress_bar
    from leaderboard.cli.trec_output import printed_under_own_names, trec_lines

    setting = setting_of(**given)
    baseline = _baseline(paths, compare, seed, output=output, per_query=per_query)
    names = measures or (USUAL if setting.beta is None or setting.documents is None else USUAL_WITH_BETA)
    if output == "trec_eval":
        request = printed_under_own_names(names, setting.compat, level)
        wanted = tuple(dict.fromkeys(printed.at(level) for printed in request.measures))
    else:
        wanted = tuple(measure.at_relevance(level) for measure in metrics.parse_all(names))
    _require(wanted, setting, known=known is not None, subtopics=subtopics is not None)
    judged, strange = judged_queries(
        judgments,
        query_file,
        judging,
        excluded=excluded,
        subtopics=subtopics,
        known=None if known is None else formats.read_judgments(known, name=str(known)),
        zero_without_relevant=output == "trec_eval",
    )
    scored = []
    cut: Any = {"threshold": threshold, "depth": depth, "judged_only": judged_only}
    with progress_bar(paths) as opened:
        for path in paths:
            run = formats.read_run(opened(path), name=str(path))
            strange = strange.difference(run.queries)
            figures = scoring.score(run, judged, wanted, setting, name=str(path), **cut)
            scored.append(show.ScoredRun(str(path), run.tag, figures))
    tell_strange(strange, ())
    for each in scored:
        _report(each, excluded)
    if baseline is not None:
        from leaderboard.cli.comparison_output import FORMATS

        click.echo(FORMATS[output](scored, wanted, baseline, seed=seed), nl=False)
    elif output == "trec_eval":
        for each in scored:
            lines = trec_lines(each.scored, each.tag, request, level=level, compat=setting.compat, per_query=per_query)
            click.echo("".join(lines), nl=False)
    elif output == "json":
        click.echo(show.json_text(scored, wanted, setting, per_query=per_query), nl=False)
    else:
        text = show.csv_text if output == "csv" else show.table_text
        click.echo(text(scored, wanted, per_query=per_query), nl=False)


def _baseline(
    paths: tuple[Path, ...], compare: str | None, seed: int | None, *, output: str, per_query: bool
) -> str | None:
    """The name of the run that --compare names; None without it. Raises UsageError before any file is read."""
    if compare is None:
        if seed is not None:
            raise click.UsageError("--seed is for --compare; scores themselves draw nothing")
        return None
    if output == "trec_eval" or per_query:
        raise click.UsageError(
            "--compare prints comparisons of whole runs; leave out --per-query and --format trec_eval"
        )
    if len(paths) < 2:
        raise click.UsageError("--compare needs two runs or more: the one to compare with and the others")
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise click.UsageError(f"--compare: the run {twice} is named twice")
    for path in paths:
        if path.resolve() == Path(compare).resolve():
            return str(path)
    raise click.UsageError(f"--compare: {compare} is not among the runs; these are {', '.join(map(str, paths))}")


def _require(measures: tuple["Measure", ...], setting: "Setting", *, known: bool, subtopics: bool) -> None:
    """Says which option a measure lacks, before any file is read."""
    from leaderboard.errors import BadInput
    from leaderboard.rules.settings import lacks

    for measure in measures:
        missing = lacks(measure, documents=setting.documents, beta=setting.beta, known=known, subtopics=subtopics)
        if missing:
            raise BadInput(f"{measure} needs {' and '.join(OPTION[need] for need in missing)}")


def _report(run: "ScoredRun", excluded: Sequence[str]) -> None:
    """Says on stderr which queries are missing, which are ignored, and which means are over fewer than all."""
    for queries, what in (
        (run.scored.missing, "judged but not in the run, scored as an empty list"),
        ([one for one in run.scored.unknown if one not in excluded], "in the run but not judged, ignored"),
        (run.scored.crowded, "with more documents, listed and judged ones together, than the collection has"),
    ):
        if queries:
            some = counted(len(queries), "query", "queries")
            click.echo(f"{run.name}: {some} {what}: {named(queries)}", err=True)
    total = len(run.scored.queries)
    fewer: dict[tuple[int, str], list[str]] = {}
    for measure, result in run.scored.results.items():
        if result.count < total:
            fewer.setdefault((result.count, measure.family.valueless), []).append(str(measure))
    for (count, valueless), names in fewer.items():
        click.echo(
            f"{run.name}: {count:,} of {total:,} queries have a value (the others {valueless}): {', '.join(names)}",
            err=True,
        )
