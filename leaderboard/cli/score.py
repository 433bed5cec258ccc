"""`leaderboard score`: scores run files offline, without database or site.

`leaderboard trec_eval`: trec_eval's own arguments, and its output byte for byte.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from leaderboard.cli.offline import (
    BETA,
    COMPAT,
    DOCUMENTS,
    LEVEL,
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
    from leaderboard.cli.score_output import ScoredRun, TrecRequest
    from leaderboard.metrics import Measure, Setting
    from leaderboard.scoring import Judging

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
def score(explain: str | None, **options: Any) -> None:
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
    asked = _Asked(**options)
    if not asked.runs:
        raise click.UsageError("no run is named; give one run file or more")
    if asked.judgments is None and asked.subtopics is None:
        raise click.UsageError("--judgments is missing; name the file of judgments")
    _print(asked, _scored(asked))


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """The command's options."""

    runs: tuple[Path, ...]
    judgments: Path | None
    measures: str | None
    per_query: bool
    level: int
    depth: int | None
    judged_only: bool
    compat: Literal[9, 10]
    documents: int | None
    beta: float | None
    cost: float | None
    value: float | None
    prior: float | None
    no_relevant: Any
    threshold: float | None
    highest_grade: int | None
    judging: "Judging"
    query_file: Path | None
    excluded: tuple[str, ...]
    known: Path | None
    subtopics: Path | None
    output: str
    compare: str | None
    seed: int | None

    @cached_property
    def setting(self) -> "Setting":
        names = ("compat", "documents", "beta", "cost", "value", "prior", "no_relevant", "highest_grade")
        return setting_of(**{name: getattr(self, name) for name in names})

    @cached_property
    def request(self) -> "TrecRequest":
        """What to print as trec_eval."""
        from leaderboard.cli.score_output import printed_under_own_names

        return printed_under_own_names(self.names, self.compat, self.level)

    @property
    def names(self) -> str:
        has_value = self.setting.beta is not None and self.documents is not None
        return self.measures or (USUAL_WITH_BETA if has_value else USUAL)

    @cached_property
    def wanted(self) -> "tuple[Measure, ...]":
        from leaderboard.metrics import parse_all

        if self.output == "trec_eval":
            return tuple(dict.fromkeys(printed.at(self.level) for printed in self.request.measures))
        return tuple(measure.at_relevance(self.level) for measure in parse_all(self.names))

    @cached_property
    def baseline(self) -> str | None:
        """The name of the run that --compare names; None without it. Raises UsageError."""
        if self.compare is None:
            if self.seed is not None:
                raise click.UsageError("--seed is for --compare; scores themselves draw nothing")
            return None
        if self.output == "trec_eval" or self.per_query:
            raise click.UsageError(
                "--compare prints comparisons of whole runs; leave out --per-query and --format trec_eval"
            )
        if len(self.runs) < 2 or len(set(self.runs)) < len(self.runs):
            raise click.UsageError("--compare needs two different runs or more: the one to compare with and the others")
        for path in self.runs:
            if path.resolve() == Path(self.compare).resolve():
                return str(path)
        runs = ", ".join(map(str, self.runs))
        raise click.UsageError(f"--compare: {self.compare} is not among the runs; these are {runs}")


def _scored(asked: _Asked) -> "list[ScoredRun]":
    """The runs' figures, in their order; says on stderr what was left out."""
    from leaderboard import formats, scoring
    from leaderboard.cli.offline import progress_bar
    from leaderboard.cli.score_output import ScoredRun

    _ = asked.setting, asked.baseline  # raise before any file is read
    _require(asked)
    judged, strange = judged_queries(
        asked.judgments,
        asked.query_file,
        asked.judging,
        excluded=asked.excluded,
        subtopics=asked.subtopics,
        known=None if asked.known is None else formats.read_judgments(asked.known, name=str(asked.known)),
        zero_without_relevant=asked.output == "trec_eval",
    )
    scored = []
    cut: Any = {name: getattr(asked, name) for name in ("threshold", "depth", "judged_only")}
    with progress_bar(asked.runs) as opened:
        for path in asked.runs:
            run = formats.read_run(opened(path), name=str(path))
            strange = strange.difference(run.queries)
            figures = scoring.score(run, judged, asked.wanted, asked.setting, name=str(path), **cut)
            scored.append(ScoredRun(str(path), run.tag, figures))
    tell_strange(strange, ())
    for each in scored:
        _report(each, asked.excluded)
    return scored


def _print(asked: _Asked, scored: "Sequence[ScoredRun]") -> None:
    from leaderboard.cli import score_output as show
    from leaderboard.cli.score_output import trec_lines

    per_query, wanted = asked.per_query, asked.wanted
    if asked.baseline is not None:
        from leaderboard.cli.comparison_output import FORMATS

        click.echo(FORMATS[asked.output](scored, wanted, asked.baseline, seed=asked.seed), nl=False)
    elif asked.output == "trec_eval":
        how: Any = {"level": asked.level, "compat": asked.compat, "per_query": per_query}
        for run in scored:
            click.echo("".join(trec_lines(run.scored, run.tag, asked.request, **how)), nl=False)
    elif asked.output == "json":
        click.echo(show.json_text(scored, wanted, asked.setting, per_query=per_query), nl=False)
    else:
        text = show.csv_text if asked.output == "csv" else show.table_text
        click.echo(text(scored, wanted, per_query=per_query), nl=False)


def _require(asked: _Asked) -> None:
    """Says which option a measure lacks, before any file is read."""
    from leaderboard.errors import BadInput
    from leaderboard.evaluations.rules import lacks

    for measure in asked.wanted:
        missing = lacks(
            measure,
            documents=asked.documents,
            beta=asked.setting.beta,
            known=asked.known is not None,
            subtopics=asked.subtopics is not None,
        )
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
            some = counted(len(queries), "query")
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


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("judgments", metavar="QRELS", type=FILE)
@click.argument("run", metavar="RUN", type=FILE)
@click.option("-m", "--measure", "wanted", multiple=True, metavar="MEASURE[.PARAMETERS]", help="A measure or a bundle.")
@click.option("-q", "--query_eval_wanted", "per_query", is_flag=True, help="Print every query too.")
@click.option("-n", "--nosummary", is_flag=True, help="Leave the figures over all queries out.")
@click.option("-c", "--complete_rel_info_wanted", "complete", is_flag=True, help="Average over all judged queries.")
@click.option("-l", "--level_for_rel", "level", type=LEVEL, default=1, metavar="N", help="Lowest relevant grade (1).")
@click.option("-M", "--Max_retrieved_per_topic", "depth", type=Whole(0), metavar="N", help="Cut lists here.")
@click.option("-J", "--Judged_docs_only", "judged_only", is_flag=True, help="Take unjudged documents out first.")
@click.option("-N", "--Number_docs_in_coll", "documents", type=Whole(1), metavar="N", help="Collection size.")
@COMPAT
def trec_eval(
    judgments: Path,
    run: Path,
    wanted: tuple[str, ...],
    documents: int | None,
    compat: Literal[9, 10],
    complete: bool,
    nosummary: bool,
    **options: Any,
) -> None:
    """Scores RUN against QRELS as trec_eval does.

    \b
    leaderboard trec_eval -q -c -m map -m P.5,10 qrels.txt run.txt

    All measures of its all_trec, with its parameters, and its bundles official (the default), set and all_trec. Not
    there: preference judgments, judgment groups (-R, -T) and z-scores (-Z). Files may be gzipped; CSV and JSON lines
    are read too, and for a run an archive of one file of decisions a query.
    """
    from leaderboard.cli.offline import progress_bar
    from leaderboard.cli.score_output import read_request, trec_lines
    from leaderboard.errors import BadInput
    from leaderboard.formats import read_judgments, read_run
    from leaderboard.metrics import Setting
    from leaderboard.scoring import prepare, score

    request = read_request(wanted, compat)
    qrels = read_judgments(judgments, name=str(judgments))
    with progress_bar([run]) as opened:
        lists = read_run(opened(run), name=str(run), format="trec_eval")
    both = set(qrels.queries) & set(lists.queries)
    if not both:
        raise BadInput(f"{run}: no query of this run has judgments in {judgments}")
    judged = prepare(qrels, qrels.queries if complete else both)
    level, per_query = options.pop("level"), options.pop("per_query")
    measures = [printed.at(level) for printed in request.measures]
    scored = score(lists, judged, measures, Setting(documents=documents, compat=compat), **options)
    how: Any = {"level": level, "compat": compat, "per_query": per_query, "complete": complete}
    click.echo("".join(trec_lines(scored, lists.tag, request, summary=not nosummary, **how)), nl=False)
