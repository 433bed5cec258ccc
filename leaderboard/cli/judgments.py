"""`leaderboard queries` and `leaderboard judgments`: what an evaluation asks, and what was judged."""

from collections.abc import Sequence
from pathlib import Path

import click
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.audit.writes import present
from leaderboard.cli.database import AGREED, changed_after_yes, reading, writing
from leaderboard.cli.offline import tell_repeats
from leaderboard.cli.options import FILE, PLACE, Place, require_yes
from leaderboard.cli.tables import named, print_table
from leaderboard.evaluations.reads.find import find_evaluation
from leaderboard.formats import of_any_subtopic, read_judgments, read_subtopic_judgments
from leaderboard.judgments.reads.files import (
    JudgmentChanges,
    OrganisedRevision,
    judgment_changes,
    organised_judgments,
    removal_of_source,
)
from leaderboard.judgments.reads.published import qrels
from leaderboard.judgments.writes import import_judgments, remove_source, rename_source
from leaderboard.names import checked_slug
from leaderboard.worker.writes import make_official

PREVIEW = click.option("--preview", is_flag=True, help="Say what the file would change, and write nothing.")


@click.group()
def judgments() -> None:
    """The judgments of an evaluation."""


@judgments.command("import")
@PLACE
@click.argument("file", type=FILE, required=False)
@click.option("--note", default="", help="What is new in this revision.")
@click.option("--known", type=FILE, help="The documents that the user knew already (Coverage and Novelty).")
@click.option("--subtopics", type=FILE, help="Judgments of subtopics (alpha_nDCG and other measures of diversity).")
@click.option("--source", help="Who judged, in one short word, where several do (default: the official source).")
@PREVIEW
def import_judgment_file(
    evaluation: Place,
    file: Path | None,
    note: str,
    known: Path | None,
    subtopics: Path | None,
    source: str | None,
    preview: bool,
) -> None:
    """Add a revision of the judgments (query, iteration, document, grade) and score all runs by it.

    \b
    leaderboard judgments import harbour/2026-text qrels.txt --note 'after adjudication'
    leaderboard judgments import web/2012 qrels.txt --subtopics qrels.diversity.txt
    leaderboard judgments import web/2012 --subtopics qrels.diversity.txt
    leaderboard judgments import harbour/2026-text by-a-model.txt --source llm

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
    source = checked_slug(source, "source") if source is not None else None
    if preview:
        with reading() as session:
            found = find_evaluation(session, CONSOLE, *evaluation)
            changes = judgment_changes(session, found, read, read_known, aspects, source)
        click.echo("\n".join([*_judgment_changes_in_words(changes), "nothing was written"]))
        if changes.would_be_refused:
            click.get_current_context().exit(1)
        return
    for path, judged in ((file, read), (subtopics, aspects), (known, read_known)):
        if path is not None:
            tell_repeats(path.name, judged)
    with writing() as session:
        found = find_evaluation(session, CONSOLE, *evaluation)
        revision = import_judgments(session, CONSOLE, found, read, note, read_known, aspects, source=source)
        beside = "" if revision.source == found.official_source else f", by {revision.source}"
    held = "1 judgment is" if len(read) == 1 else f"{len(read):,} judgments are"
    beside += "" if aspects is None else f", with {len(aspects):,} of subtopics"
    click.echo(f"{name}: {held} revision {revision.number} of {evaluation}{beside}")


@judgments.command("list")
@PLACE
def list_judgments(evaluation: Place) -> None:
    """List the revisions, the newest first, with the runs that are still to be scored by each.

    \b
    leaderboard judgments list harbour/2026-text
    """
    with reading() as session:
        page = organised_judgments(session, CONSOLE, *evaluation, present())
    rows = [
        (
            one.number,
            one.source,
            "set aside" if one.source in page.set_aside else _state(one, page.official),
            one.judgments,
            f"{one.imported_at:%Y-%m-%d %H:%M}",
            one.waiting,
            one.note or "–",
        )
        for one in page.revisions
    ]
    head = ("revision", "source", "state", "judgments", "imported", "waiting", "note")
    print_table(head, rows, f"no judgments yet; import some: leaderboard judgments import {evaluation} FILE")


@judgments.command()
@PLACE
@click.argument("source")
@AGREED
def official(evaluation: Place, source: str, yes: bool) -> None:
    """Let boards go by another source of judgments, once all runs are scored by it. Asks first: ranks may be others.

    \b
    leaderboard judgments official harbour/2026-text second-lab
    """

    def change(session: Session) -> None:
        make_official(session, CONSOLE, find_evaluation(session, CONSOLE, *evaluation), source)

    changed_after_yes(yes, evaluation.campaign, change)
    click.echo(f"boards of {evaluation} go by the judgments of {source}")


@judgments.command("rename")
@PLACE
@click.argument("source")
@click.argument("name")
def rename_a_source(evaluation: Place, source: str, name: str) -> None:
    """Give a source of judgments another name, on old boards too.

    \b
    leaderboard judgments rename harbour/2026-text secnd-lab second-lab
    """
    with writing() as session:
        rename_source(session, CONSOLE, find_evaluation(session, CONSOLE, *evaluation), source, name)
    click.echo(f"{source} of {evaluation} is called {name} now")


@judgments.command("remove")
@PLACE
@click.argument("source")
@click.option("--confirm", "yes", is_flag=True, help="Don't ask first.")
def remove_a_source(evaluation: Place, source: str, yes: bool) -> None:
    """Take a source of judgments away that came by mistake; says what becomes of it, and asks first.

    \b
    leaderboard judgments remove harbour/2026-text llm
    """
    with reading() as session:
        found = find_evaluation(session, CONSOLE, *evaluation)
        removal = removal_of_source(session, found, source, present())
    require_yes(yes, f"Remove {source} of {evaluation}: {removal.in_words}. Go on?")
    with writing() as session:
        done = remove_source(session, CONSOLE, find_evaluation(session, CONSOLE, *evaluation), source)
    click.echo(f"{source} of {evaluation} is removed: {done.in_words}")


@judgments.command()
@PLACE
def export(evaluation: Place) -> None:
    """Print the judgments that the board goes by as trec_eval reads them, without excluded queries.

    \b
    leaderboard judgments export harbour/2026-text > qrels.txt
    """
    with reading() as session:
        for line in qrels(session, CONSOLE, *evaluation, present()):
            click.echo(line, nl=False)


def _state(revision: OrganisedRevision, official: str) -> str:
    if revision.building:
        return "building"
    if not revision.stands:
        return "–"
    return "official" if revision.source == official else "beside"


def _judgment_changes_in_words(changes: JudgmentChanges) -> list[str]:
    grades = ", ".join(f"{count:,} of grade {grade}" for grade, count in changes.grades)
    empty = f"{len(changes.none_relevant)}{_list(changes.none_relevant)}"
    lines = [
        f"judgments   {changes.judgments:,} by {changes.source}: {grades}",
        f"queries     {len(changes.queries)} judged; nothing relevant: {empty}",
        f"unjudged    {len(changes.unjudged)}{_list(changes.unjudged)}",
    ]
    if changes.below_zero:
        lines.append(f"below 0     {changes.below_zero:,} count as not judged where a measure says so")
    if changes.unknown:
        lines.append(f"unknown     {len(changes.unknown)}{_list(changes.unknown)}")
    if changes.against is not None:
        changed = ", ".join(f"{one.judgments:,} from {one.before} to {one.after}" for one in changes.changed) or "none"
        lines.append(f"against revision {changes.against}: added {changes.added:,}, removed {changes.removed:,}")
        lines.append(f"other grade {changed}")
    lines += [f"look        {doubt}" for doubt in changes.doubts]
    lines += [f"refused     {line}" for problem in changes.problems for line in problem.splitlines()]
    return lines


def _list(ids: Sequence[str]) -> str:
    return f" ({named(ids)})" if ids else ""
