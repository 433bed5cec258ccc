"""What the commands that score files without a database have in common: options, the setting, the judgments."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leaderboard.cli.options import ANY_NUMBER, FILE, Whole, together

if TYPE_CHECKING:
    from leaderboard.metrics import Setting
    from leaderboard.scoring import JudgedQueries, Judging

__all__ = [
    "BETA",
    "COMPAT",
    "DOCUMENTS",
    "LEVEL",
    "LEVEL_OPTION",
    "NO_RELEVANT",
    "QUERIES",
    "judged_queries",
    "setting_of",
]

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
    from leaderboard.metrics import Setting
    from leaderboard.rules.prior import checked_beta

    return Setting(beta=checked_beta(beta, cost=cost, value=value, prior=prior), **rest)


def judged_queries(judgments: Path, query_file: Path | None, judging: "Judging", **options: Any) -> "JudgedQueries":
    """The judgments of the queries that count; `options` are those of `scoring.prepare`. Raises BadInput for none."""
    from leaderboard.errors import BadInput
    from leaderboard.formats import read_judgments, read_queries
    from leaderboard.scoring import prepare

    if judging == "complete" and query_file is None:
        raise click.UsageError(
            "--judging complete needs --queries FILE: judgments don't name the queries without relevant documents"
        )
    queries = None if query_file is None else [row.id for row in read_queries(query_file, name=str(query_file))]
    judged = prepare(read_judgments(judgments, name=str(judgments)), queries, judging=judging, **options)
    if not judged.queries:
        raise BadInput(f"{judgments}: none of the queries has judgments")
    return judged
