"""`leaderboard verify`: whether what is on record, or in a frozen folder, is what this program wrote."""

import io
import json
import re
import shlex
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa

from leaderboard import access, db
from leaderboard.audit import verify as record
from leaderboard.cli.database import up_to_date
from leaderboard.cli.options import Reads, counting_bar, flag, json_text, option, refuse_if
from leaderboard.cli.score import score
from leaderboard.config import Config
from leaderboard.errors import BadInput, LeaderboardError, NotFound
from leaderboard.formats import Limits
from leaderboard.freezing.checking import compute_again, files_that_differ
from leaderboard.freezing.copying import sha256_of
from leaderboard.freezing.rules import SUMS
from leaderboard.numbers import counted
from leaderboard.store import RunStore
from leaderboard.submissions.writes.run_store import require_own
from leaderboard.worker import stored_runs


def _noted(text: str) -> tuple[int, str]:
    """Of `123:9f86…`, an event's number and its hash."""
    if not (noted := re.fullmatch("([0-9]+):(.{64})", text)):
        raise ValueError("give what an earlier verification printed, like 123:9f86d081…")
    return int(noted[1]), noted[2]


@click.command()
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@flag("--figures", "Score every stored run again too, and compare bit for bit.")
@option("--head noted", "A head that was noted down: its event must still be there.", Reads("head", _noted))
@flag("--json as_json", "Print JSON.")
def verify(folder: Path | None, figures: bool, noted: tuple[int, str] | None, as_json: bool) -> int:
    """Verify that what is on record was written by this program, and name what differs.

    Compares triggers, the audit trail, what the trail says of names, dates and settings, judgments, the digests of all
    figures, which runs stand for their systems, and the bytes of all stored runs. The exit status is 1 where something
    differs. The outcome is kept: boards show organisers when the record was last found in order. The last line is the
    head of the trail; note it down elsewhere, and give it back another time, to find a trail that was written anew.

    With FOLDER it verifies a frozen evaluation instead, without a database: every file by its hash, and the figures of
    the runs whose files are in it, in the JSON tables.

    \b
    leaderboard verify
    leaderboard verify harbour-2025
    leaderboard verify --figures --head 123:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    """
    if folder is not None:
        refuse_if(figures or noted or as_json, "--figures, --head and --json are for the database")
        return _verify_folder(folder)
    config = Config.from_environment()
    with up_to_date(config) as database:
        files, store = 0, RunStore(config.store_url, must_exist=True)
        with database.read() as session:
            record.one_moment(session)
            store.bound = require_own(session, store)
            with counting_bar(record.scored_runs_on_record(session), "Verifying") as tell:
                report = record.verify(session, tell, noted)
            with record.part(report, "the stored runs"):
                files = stored_runs.stored_files_on_record(session)
        if files:
            with counting_bar(files, "Reading run files") as tell:
                spoilt = stored_runs.check_files(database, store, report, tell)
            if figures:
                with counting_bar(report.runs, "Scoring again") as tell:
                    limits = Limits(expanded_bytes=config.text_bytes)
                    stored_runs.recompute(database, store, limits, report, tell, spoilt)
        _keep(database, report, figures)
    if as_json:
        differences = [asdict(each) | {"who": each.who} for each in report.differences]
        text = json_text({"clean": report.clean, **asdict(report), "differences": differences})
    else:
        text = _words(report)
    click.echo(text, nl=False)
    if not files and report.clean:
        click.echo("no run is on record: where there should be some, see which database the settings name", err=True)
    return int(not report.clean)


def _verify_folder(folder: Path) -> int:
    """Of a frozen evaluation; the exit status."""
    differences, not_computed, computed = [*files_that_differ(folder)], list[str](), 0
    receipts = sorted(folder.glob("submissions/*/receipt.json"), key=lambda path: (len(path.parent.name), path))
    with counting_bar(len(receipts), "Scoring again") as tell:
        for receipt in receipts:
            tell(1)
            try:
                outcome = compute_again(folder, receipt, _score)
            except (LookupError, TypeError, ValueError, OSError, LeaderboardError, click.ClickException) as error:
                file = receipt.relative_to(folder).as_posix()
                differences.append((file, f"its figures can't be computed again: {error}"))
                continue
            if isinstance(outcome, str):
                not_computed.append(f"figures of submission {receipt.parent.name} are not computed again: {outcome}")
            else:
                differences += outcome
                computed += 1
    verdict = counted(len(differences), "thing differs", "things differ") if differences else "nothing differs"
    again = f"figures of {computed:,} of {counted(len(receipts), 'run')} computed again"
    lines = [*(f"{file}: {what}" for file, what in differences), *not_computed, f"{verdict}: {again}"]
    click.echo("\n".join([*lines, f"SHA-256 of {SUMS}: {sha256_of(folder / SUMS)}"]))
    return int(bool(differences))


def _score(command: str, folder: Path) -> Mapping[str, Any]:
    """Runs a receipt's command in the folder; what it prints of the run, every query included."""
    words = shlex.split(command)
    if words[:2] != ["leaderboard", "score"]:
        raise BadInput(f"expected leaderboard score, found {command!r}")
    with chdir(folder), redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()):
        score.main([*words[2:], "--per-query"], standalone_mode=False)
    run: dict[str, Any] = json.loads(printed.getvalue())["runs"][0]
    return run


def _keep(database: db.Database, report: record.Report, figures: bool) -> None:
    """Records the outcome; where the trail itself is damaged and takes no event, what differs is said all the same."""
    try:
        with database.write() as session:
            record.record_verification(session, access.CONSOLE, report, figures=figures)
    except (NotFound, sa.exc.DatabaseError):
        if report.clean:
            raise
        click.echo("the trail is damaged and takes no event: the outcome is not kept", err=True)


def _words(report: record.Report) -> str:
    lines = [
        f"{each.where}: {each.what}\n  stored    {each.stored}\n  expected  {each.expected}\n  {each.who}"
        for each in report.differences
    ]
    verdict = "nothing differs" if report.clean else counted(len(report.differences), "thing differs", "things differ")
    numbers = {name: number for name, number in asdict(report).items() if isinstance(number, int)}
    counts = ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in numbers.items())
    lines.append(f"{verdict}: {counts}")
    lines.append(f"head of the trail: {report.events}:{report.head}")
    return "\n".join(lines) + "\n"
