"""`leaderboard import-campaign`: a campaign of past years, from a folder or an archive with a manifest."""

import json
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import click
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, Actor, actor_of
from leaderboard.cli.database import up_to_date
from leaderboard.cli.progress_bar import counting_bar
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.errors import BadInput, FileRejected, Problem
from leaderboard.numbers import counted
from leaderboard.services.people import find_user
from leaderboard.services.queue import Claim
from leaderboard.store import Caps, Received, RunStore
from leaderboard.transfer.importing import Import, Report
from leaderboard.transfer.manifest import NAME, look_at_manifest
from leaderboard.transfer.planning import PlannedRun
from leaderboard.transfer.tree import Tree, open_tree
from leaderboard.worker.in_process import InProcess
from leaderboard.worker.messages import Exceeded, Failed, Postponed, Rejected, Unreadable

__all__ = ["import_campaign"]

ALL_IN, SOME_REFUSED = 0, 1  # exit status
SHOWN = 20  # things made and refused runs that the terminal lists; the report has all
NAMED = 3  # files
AHEAD = 2  # runs whose files are taken in while one is scored


@click.command("import-campaign")
@click.argument("source", metavar="FOLDER", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--manifest", "given", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"What the files are (default: {NAME} in the folder).",
)  # fmt: skip
@click.option(
    "--write-manifest", "draft", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="Write a draft of the manifest to FILE, and import nothing.",
)  # fmt: skip
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write what was done, as JSON.",
)
@click.option(
    "--correct-dates", is_flag=True, help="Give runs that an earlier import brought in the dates of the manifest."
)
@click.option("--as", "user", help="Import as this account, with its rights only.")
def import_campaign(
    source: Path, given: Path | None, draft: Path | None, report: Path | None, correct_dates: bool, user: str | None
) -> int:
    """Bring a campaign of past years in: queries, judgments and runs, with their true dates.

    \b
    leaderboard import-campaign archive/ --write-manifest manifest.toml    # then read and complete it
    leaderboard import-campaign archive/ --manifest manifest.toml

    FOLDER may be an archive of one, too. What is there already is left as it is: called again after it was stopped, it
    goes on. The exit status is 0 when all came out as the manifest says, 1 when runs were refused or rejected that it
    does not call rejected, and 2, with every problem, when nothing was made.
    """
    with open_tree(source) as tree:
        if draft is not None:
            return _write_draft(tree, draft)
        if given is None and NAME not in tree.files:
            raise BadInput(
                f"{source} has no {NAME}; write one: leaderboard import-campaign {source} --write-manifest FILE"
            )
        manifest, problems = look_at_manifest(given or tree.file(NAME), str(given or NAME))
        config = Config.from_environment()
        with up_to_date(config) as database:

            def actor(session: Session) -> Actor:
                return CONSOLE if user is None else actor_of(session, find_user(session, user).id)

            store = RunStore(config.store_url, Caps(config.upload_bytes, config.text_bytes))
            bringing = Import(database, store, actor, manifest, tree, correct_dates=correct_dates)
            if problems:
                bringing.look(problems)
            bringing.prepare()
            _bring_in(bringing, database, InProcess(database, store, config))
    return _tell(bringing.report, report)


def _write_draft(tree: Tree, draft: Path) -> int:
    from leaderboard.transfer.drafting import draft_of

    if draft.exists():
        raise BadInput(f"{draft} is there already; name another file")
    with counting_bar(len(tree.files), "Looking") as done:
        drafted = draft_of(tree, done)
    draft.write_text(drafted.text, encoding="utf-8")
    click.echo(f"{draft}: {counted(drafted.evaluations, 'evaluation')}, {counted(drafted.runs, 'run')}")
    for line in (*drafted.notes[:SHOWN], *_more(drafted.notes, "more such files")):
        click.echo(line)
    return ALL_IN


def _bring_in(bringing: Import, database: Database, scoring: InProcess) -> None:
    """Every run, one after the other; the files of the next ones are taken in while one is scored."""
    with counting_bar(len(bringing.runs), "Importing") as done:
        for run, upload in _received(bringing):
            if upload is not None:
                _enter(bringing, database, scoring, run, upload)
            done(1)
    if bringing.waiting:
        click.echo("scoring what an earlier call left unscored", err=True)
    for run, submission_id in bringing.waiting:
        while (claim := scoring.wait_and_claim(submission_id)) is not None:
            _score(bringing, scoring, run, claim)


def _received(bringing: Import) -> Iterator[tuple[PlannedRun, Received | None]]:
    waiting: deque[tuple[PlannedRun, Future[Received | None]]] = deque()
    with ThreadPoolExecutor(max_workers=1) as pool:
        for run in bringing.runs:
            waiting.append((run, pool.submit(bringing.receive, run)))
            if len(waiting) > AHEAD:
                first, upload = waiting.popleft()
                yield first, upload.result()
        for first, upload in waiting:
            yield first, upload.result()


def _enter(bringing: Import, database: Database, scoring: InProcess, run: PlannedRun, upload: Received) -> None:
    with database.write() as session:
        submission = bringing.enter(session, run, upload)
        if submission is None:
            return
        claim = scoring.claim(session, submission.id)
    if claim is not None:
        _score(bringing, scoring, run, claim)


def _score(bringing: Import, scoring: InProcess, run: PlannedRun, claim: Claim) -> None:
    """In every set that it waits in."""
    following: Claim | None = claim
    while following is not None:
        reply, following = scoring.score(following)
        match reply:
            case Rejected(problems, count):
                bringing.rejected(run, FileRejected(problems, count, run.entry.file))
            case Exceeded(reason):
                bringing.rejected(run, FileRejected([Problem(None, reason)], name=run.entry.file))
            case Failed(reason) | Unreadable(reason) | Postponed(reason):
                bringing.refuse(run, BadInput(f"is in and not scored yet; workers try again: {reason}"))
            case _:
                bringing.scored(run)


def _more(lines: Sequence[str], what: str) -> list[str]:
    return [f"and {len(lines) - SHOWN:,} {what}"] if len(lines) > SHOWN else []


def _tell(report: Report, file: Path | None) -> int:
    """Says what was done; returns the exit status."""
    if file is not None:
        file.write_text(json.dumps(asdict(report), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for made in (*report.made[:SHOWN], *_more(report.made, "more; --report FILE has them")):
        click.echo(f"made {made}" if not made.startswith("and ") else made)
    for there in report.there:
        click.echo(f"left as it is: {there}")
    already = f", {report.already:,} were there already" if report.already else ""
    click.echo(f"{counted(report.imported, 'run')} brought in{already}")
    notes = (*report.notes[:SHOWN], *_more(report.notes, "more notes; --report FILE has them"))
    for line in (*report.effects, *(f"note: {note}" for note in notes)):
        click.echo(line, err=True)
    if report.rejected:
        files = ", ".join(report.rejected[:NAMED]) + (", …" if len(report.rejected) > NAMED else "")
        click.echo(f"{counted(len(report.rejected), 'run')} rejected again, as where they come from: {files}")
    if report.unmatched:
        some = ", ".join(report.unmatched[:NAMED]) + (", …" if len(report.unmatched) > NAMED else "")
        click.echo(f"nothing in the manifest names {counted(len(report.unmatched), 'file')}: {some}", err=True)
    for refusal in report.refused[:SHOWN]:
        for why in refusal.why:
            click.echo(f"{refusal.file}: {why}", err=True)
    if len(report.refused) > SHOWN:
        click.echo(f"and {len(report.refused) - SHOWN:,} more runs that were refused; --report FILE has them", err=True)
    return SOME_REFUSED if report.refused else ALL_IN
