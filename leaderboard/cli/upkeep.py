"""`leaderboard worker`: scores what is submitted.

`leaderboard verify`: whether what is on record is what this program wrote.

`leaderboard import-campaign` and `export`: a campaign of past years from files with a manifest, and back.
"""

import logging
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
import sqlalchemy as sa

from leaderboard import access, db
from leaderboard.audit import verify as record
from leaderboard.cli import options
from leaderboard.cli.database import actor_named, up_to_date
from leaderboard.cli.options import client_at, counting_bar, flag, json_text, option, refuse_if, server_on_line
from leaderboard.config import Config
from leaderboard.errors import BadInput, NotFound
from leaderboard.formats import Limits
from leaderboard.numbers import counted
from leaderboard.store import RunStore
from leaderboard.transfer.drafting import draft_of
from leaderboard.transfer.exporting import exporting
from leaderboard.transfer.importing import bring_in
from leaderboard.transfer.manifest import NAME, open_tree, read_manifest
from leaderboard.worker import stored_runs
from leaderboard.worker.loop import run


@click.command()
@flag("--once", "End when no run waits any more.")
@options.UNTIL_STDIN_CLOSES
def worker(once: bool) -> None:
    """Score submitted runs until SIGTERM or Ctrl-C; a run being scored then goes back into the queue.

    Start as many workers as you like.

    \b
    LEADERBOARD_DATABASE_URL=postgresql://localhost/leaderboard leaderboard worker
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("leaderboard").setLevel(logging.INFO)
    config = Config.from_environment()
    with up_to_date(config):
        pass  # each of its processes opens the database for itself
    run(config, once=once)


def _noted(text: str) -> tuple[int, str]:
    """Of `123:9f86…`, an event's number and its hash."""
    if not (noted := re.fullmatch("([0-9]+):(.{64})", text)):
        raise ValueError("give what an earlier verification printed, like 123:9f86d081…")
    return int(noted[1]), noted[2]


@click.command()
@flag("--figures", "Score every stored run again too, and compare bit for bit.")
@option("--head noted", "A head that was noted down: its event must still be there.", options.Reads("head", _noted))
@flag("--json as_json", "Print JSON.")
def verify(figures: bool, noted: tuple[int, str] | None, as_json: bool) -> int:
    """Verify that what is on record was written by this program, and name what differs.

    Compares triggers, the audit trail, what the trail says of names, dates and settings, judgments, the digests of all
    figures, which runs stand for their systems, and the bytes of all stored runs. The exit status is 1 where something
    differs. The outcome is kept: boards show organisers when the record was last found in order. The last line is the
    head of the trail; note it down elsewhere, and give it back another time, to find a trail that was written anew.

    \b
    leaderboard verify
    leaderboard verify --figures --head 123:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    """
    config = Config.from_environment()
    with up_to_date(config) as database:
        files = 0
        with database.read() as session:
            record.one_moment(session)
            with counting_bar(record.scored_runs_on_record(session), "Verifying") as tell:
                report = record.verify(session, tell, noted)
            with record.part(report, "the stored runs"):
                files = stored_runs.stored_files_on_record(session)
        if files:
            store = RunStore(config.store_url, must_exist=True)
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
    return int(not report.clean)


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


SHOWN = 20  # lines of a list that the terminal shows


@click.command("import-campaign")
@click.argument("source", metavar="FOLDER", type=click.Path(exists=True, path_type=Path))
@option("--manifest", f"What the files are (default: {NAME} in FOLDER).", options.FILE)
@option("--write-manifest draft", "Only write a draft of the manifest.", options.OUT)
@option("--report report_file", "What was done, as JSON.", options.OUT)
@option("--as user", "Import as this account, with its rights only.")
@options.AT_SERVER
def import_campaign(
    source: Path,
    manifest: Path | None,
    draft: Path | None,
    report_file: Path | None,
    user: str | None,
    server: str | None,
    token_file: Path | None,
) -> None:
    """Bring a campaign of past years in: queries, judgments and runs, with their true dates.

    \b
    leaderboard import-campaign archive/ --write-manifest manifest.toml    # then read and complete it
    leaderboard import-campaign archive/ --manifest manifest.toml

    FOLDER may be an archive of one, too; with --server it has to be. All of it comes in, or every problem is told and
    nothing does; what is there already is left as it is. Workers score the runs.
    """
    refuse_if(draft and draft.exists(), f"{draft} is there already; name another file")
    if server := server_on_line(server):
        refuse_if(user, "--as is for this installation itself; with --server the token says whose account it is")
        refuse_if(source.is_dir(), f"{source} is a folder; with --server give a .zip, .tar or .tar.gz of it")
        client, archive = client_at(server, token_file), [("archive", source)]
        if draft is not None:
            return _write_draft(draft, client.send("/organise/import/draft", ({}, archive)))
        fields = {} if manifest is None else {"manifest": manifest.read_text("utf-8")}
        plan = client.send("/organise/import/preview", (fields, archive))
        return _say(client.post("/organise/import", {"kept": plan["kept"]})["report"], report_file)
    with open_tree(source) as tree:
        if draft is not None:
            with counting_bar(len(tree.files), "Looking") as done:
                drafted = draft_of(tree, done)
            return _write_draft(draft, asdict(drafted))
        if manifest is None and NAME not in tree.files:
            raise BadInput(
                f"{source} has no {NAME}; write one: leaderboard import-campaign {source} --write-manifest FILE"
            )
        name, config = str(manifest or NAME), Config.from_environment()
        content = read_manifest(manifest or tree.file(NAME), name)
        actor = partial(actor_named, user=user)
        store = RunStore(config.store_url, config)
        with up_to_date(config) as database, counting_bar(len(content.runs(tree)[0]), "Reading") as done:
            report = bring_in(database, store, actor, content, tree, name, done=done).report
    return _say(asdict(report), report_file)


def _say(report: Mapping[str, Any], report_file: Path | None) -> None:
    """Prints what an import did, and keeps it in the file."""
    if report_file is not None:
        report_file.write_text(json_text(report), "utf-8")
    _echo("made ", report["made"])
    _echo("left as it is: ", report["there"])
    _echo("note: ", report["notes"], err=True)
    _echo("nothing in the manifest names ", report["unmatched"], err=True)
    already = f", {report['already']:,} were there already" if report["already"] else ""
    click.echo(f"{counted(report['imported'], 'run')} brought in{already}")


def _write_draft(draft: Path, drafted: Mapping[str, Any]) -> None:
    draft.write_text(drafted["text"], encoding="utf-8")
    click.echo(f"{draft}: {counted(drafted['evaluations'], 'evaluation')}, {counted(drafted['runs'], 'run')}")
    _echo("", drafted["notes"])


def _echo(words: str, lines: Sequence[str], *, err: bool = False) -> None:
    for line in lines[:SHOWN]:
        click.echo(f"{words}{line}", err=err)
    if len(lines) > SHOWN:
        click.echo(f"and {len(lines) - SHOWN:,} more", err=err)


ARCHIVES = {".zip": "zip", ".tar": "tar", ".tar.gz": "gztar", ".tgz": "gztar"}


@click.command()
@click.argument("campaign")
@option("--out", "A folder, .zip or .tar.gz to make.", click.Path(path_type=Path), required=True)
@options.AT_SERVER
def export(campaign: str, out: Path, server: str | None, token_file: Path | None) -> int:
    """Write a campaign with its queries, judgments, runs, teams and dates, as `import-campaign` reads them.

    \b
    leaderboard export harbour --out harbour.tar.gz

    It holds judgments, hidden queries and teams' notes: keep it from others. Accounts are not in it. The exit status is
    1 when the stored file of a run is gone or damaged: that run is left out. With --server it is a .tar.gz.
    """
    if out.exists():
        raise BadInput(f"{out} is there already; name another place")
    if server := server_on_line(server):
        refuse_if(not out.name.endswith((".tar.gz", ".tgz")), "with --server name a .tar.gz: --out NAME.tar.gz")
        client_at(server, token_file).fetch(f"/organise/campaigns/{quote(campaign, safe='')}/export.tar.gz", out)
        return 0
    config = Config.from_environment()
    with (
        up_to_date(config) as database,
        exporting(database, access.CONSOLE, campaign, out.parent) as exported,
        tempfile.TemporaryDirectory(dir=out.parent, prefix=".export-") as unfinished,
        counting_bar(exported.runs, "Exporting") as done,
    ):
        store = RunStore(config.store_url, must_exist=True)
        folder = Path(unfinished) / exported.slug
        for file in exported.files(store):
            target = folder / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            file.source.rename(target)
            done(file.is_run)
        _put(folder, out)
    runs = counted(exported.runs - len(exported.lost), "run")
    click.echo(f"{out}: {counted(exported.evaluations, 'evaluation')}, {runs}")
    for name in exported.lost:
        click.echo(f"left out: {name}", err=True)
    return int(bool(exported.lost))


def _put(folder: Path, out: Path) -> None:
    """Puts the folder, or an archive of it, in its place in one step."""
    for ending, kind in ARCHIVES.items():
        if out.name.lower().endswith(ending):
            folder = Path(shutil.make_archive(str(folder), kind, folder.parent, folder.name))
            break
    folder.rename(out)
