"""`leaderboard queries import` and `leaderboard judgments import`."""

from pathlib import Path

import click

from leaderboard.access import CONSOLE
from leaderboard.cli.database import writing
from leaderboard.cli.offline import tell_repeats
from leaderboard.cli.options import FILE, PLACE, Place
from leaderboard.formats import of_any_subtopic, read_judgments, read_queries, read_subtopic_judgments
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
        found = find_evaluation(session, CONSOLE, *evaluation)
        named = import_queries(session, CONSOLE, found, rows, Split.HIDDEN if hidden else Split.SHOWN)
    click.echo(f"{file.name}: {counted(len(named), 'query', 'queries')} in {evaluation}")


@click.group()
def judgments() -> None:
    """The judgments of an evaluation."""


@judgments.command("import")
@PLACE
@click.argument("file", type=FILE, required=False)
@click.option("--note", default="", help="What is new in this revision.")
@click.option("--known", type=FILE, help="The documents that the user knew already (Coverage and Novelty).")
@click.option("--subtopics", type=FILE, help="Judgments of subtopics (alpha_nDCG and other measures of diversity).")
def import_judgment_file(
    evaluation: Place, file: Path | None, note: str, known: Path | None, subtopics: Path | None
) -> None:
    """Add a revision of the judgments (query, iteration, document, grade) and score all runs by it.

    \b
    leaderboard judgments import harbour/2026-text qrels.txt --note 'after adjudication'
    leaderboard judgments import web/2012 qrels.txt --subtopics qrels.diversity.txt
    leaderboard judgments import web/2012 --subtopics qrels.diversity.txt

    A file of subtopics has them in the second column: query, subtopic, document, grade. Given alone, it says of each
    document what holds for its query as a whole too: the highest grade of any subtopic.
    """
    # Read before the transaction starts, so that a long file keeps no other writer waiting.
    aspects = read_subtopic_judgments(subtopics) if subtopics is not None else None
    if file is not None:
        read, name = read_judgments(file), file.name
    elif subtopics is not None and aspects is not None:
        read, name = of_any_subtopic(aspects), subtopics.name
    else:
        raise click.UsageError("no file is named; give the judgments, or --subtopics FILE, or both")
    read_known = read_judgments(known) if known is not None else None
    for path, judged in ((file, read), (subtopics, aspects), (known, read_known)):
        if path is not None:
            tell_repeats(path.name, judged)
    with writing() as session:
        found = find_evaluation(session, CONSOLE, *evaluation)
        revision = import_judgments(session, CONSOLE, found, read, note, read_known, aspects)
    held = "1 judgment is" if len(read) == 1 else f"{len(read):,} judgments are"
    beside = "" if aspects is None else f", with {len(aspects):,} of subtopics"
    click.echo(f"{name}: {held} revision {revision.number} of {evaluation}{beside}")
