"""`leaderboard opinion`: what per-query values of any board can tell of its systems. No judgments, no database."""

from dataclasses import asdict
from pathlib import Path

import click

from leaderboard.cli import options
from leaderboard.cli.options import aligned, figure, flag, json_text, option


@click.command()
@click.argument("values", type=options.FILE)
@flag("--lower-is-better", "As with errors or costs.")
@option("--format layout", "", ("table", "json"), default="table")
def opinion(values: Path, lower_is_better: bool, layout: str) -> None:
    """A second opinion on any board: rank sets, which systems may be the best, and what the queries can tell.

    \b
    leaderboard opinion values.csv
    leaderboard opinion errors.csv.gz --lower-is-better --format json

    VALUES is CSV with a head: the query or item in the first column, and a column for each system. Every system needs a
    value for every query that has any; the figure of a system is the mean of its values. For a measure that few queries
    can ruin, such as P_fa or AQWV with a large β, trust rank sets from 150 queries on. A board's page offers such a
    file, "Values of these runs query by query".
    """
    from leaderboard.opinion import rules  # loads numpy

    answer = rules.opinion(values, str(values), "lower" if lower_is_better else "higher")
    if layout == "json":
        click.echo(json_text(asdict(answer)), nl=False)
        return
    table = [["rank", "ranks", "best", "system", "mean", "low", "high"]]
    for row in answer.rows:
        ranks, may_be = f"{row.low}-{row.high}", "may be" if row.may_be_best else ""
        figures = map(figure, (row.mean.estimate, row.mean.low, row.mean.high))
        table.append([str(row.rank), ranks, may_be, row.system, *figures])
    click.echo(aligned(table, {3}) + "\n" + "\n".join(answer.finding))
