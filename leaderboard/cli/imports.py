"""`leaderboard queries import` and `leaderboard judgments import`."""

from pathlib import Path

import click

from leaderboard.access import CONSOLE
from leaderboard.cli.database import writing
from leaderboard.cli.options import FILE, PLACE, Place
from leaderboard.formats import read_judgments, read_queries
from leaderboard.lookup import find_evaluation
from leaderboard.numbers import counted
from leaderboard.rules.settings import Split
from leaderboard.services.judgments import import_judgments
from leaderboard.services.queries import import_queries

__all__ = ["judgments", "queries"]


@click.group()
def queries() -> None:
    """The queries of an evaluation."""


@queries.command("import")
@PLACE
@click.argument("file", type=FILE)
@click.option("--hidden", is_flag=True, help="Hide the added queries from readers until the evaluation closes.")
def import_query_file(evaluation: Place, file: Path, hidden: bool) -> None:
    """Add queries, one a line: id, text and tags, separated by tabs, or the id alone. Queries already there get the new
    text and tags.

    \b
    leaderboard queries import harbour/2026-text queries.tsv
    """
    rows = read_queries(file)
    with writing() as session:
        found = find_evaluation(session, *evaluation)
        named = import_queries(session, CONSOLE, found, rows, Split.HIDDEN if hidden else Split.SHOWN)
    click.echo(f"{file.name}: {counted(len(named), 'query', 'queries')} in {evaluation}")


@click.group()
def judgments() -> None:
    """The judgments of an evaluation."""


@judgments.command("import")
@PLACE
@click.argument("file", type=FILE)
@click.option("--note", default="", help="What is new in this revision.")
@click.option("--known", type=FILE, help="The documents that the user knew already (Coverage and Novelty).")
def import_judgment_file(evaluation: Place, file: Path, note: str, known: Path | None) -> None:
    """Add a revision of the judgments (query, iteration, document, grade) and score all runs by it.

    \b
    leaderboard judgments import harbour/2026-text qrels.txt --note 'after adjudication'
    """
    # Read before the transaction starts, so that a long file keeps no other writer waiting.
    read = read_judgments(file)
    read_known = read_judgments(known) if known is not None else None
    with writing() as session:
        found = find_evaluation(session, *evaluation)
        revision = import_judgments(session, CONSOLE, found, read, note, read_known)
    held = "1 judgment is" if len(read) == 1 else f"{len(read):,} judgments are"
    click.echo(f"{file.name}: {held} revision {revision.number} of {evaluation}")
