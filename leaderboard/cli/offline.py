"""What the commands that score files without a database have in common: options, the setting, the judgments."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leaderboard.cli.options import ANY_NUMBER, FILE, Whole, together
from leaderboard.cli.tables import named
from leaderboard.numbers import counted, natural

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
