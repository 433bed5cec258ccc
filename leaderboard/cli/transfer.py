"""`leaderboard import-campaign` and `export`: a campaign of past years from files with a manifest, and back."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from leaderboard.cli import options
from leaderboard.cli.database import actor_named, up_to_date
from leaderboard.cli.operations import client_of
from leaderboard.cli.options import client_at, counting_bar, json_text, option, refuse_if, server_on_line
from leaderboard.config import Config
from leaderboard.errors import BadInput
from leaderboard.numbers import counted
from leaderboard.store import RunStore
from leaderboard.submissions.writes.run_store import bind
from leaderboard.transfer.drafting import draft_of
from leaderboard.transfer.exporting import LEFT_OUT
from leaderboard.transfer.importing import bring_in
from leaderboard.transfer.manifest import NAME, open_tree, read_manifest

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
    if draft is not None:
        with open_tree(source) as tree, counting_bar(len(tree.files), "Looking") as done:
            drafted = draft_of(tree, done)
        draft.write_text(drafted.text, encoding="utf-8")
        click.echo(f"{draft}: {counted(drafted.evaluations, 'evaluation')}, {counted(drafted.runs, 'run')}")
        return _echo("", drafted.notes)
    if server := server_on_line(server):
        refuse_if(user, "--as is for this installation itself; with --server the token says whose account it is")
        refuse_if(source.is_dir(), f"{source} is a folder; with --server give a .zip, .tar or .tar.gz of it")
        client, archive = client_at(server, token_file), [("archive", source)]
        fields = {}
        if manifest:
            read_manifest(manifest, str(manifest))  # it is refused in the same words as here
            fields = {"manifest": manifest.read_text("utf-8")}
        plan = client.send("/organise/import/preview", (fields, archive))
        return _say(client.post("/organise/import", {"kept": plan["kept"]})["report"], report_file)
    with open_tree(source) as tree:
        if manifest is None and NAME not in tree.files:
            raise BadInput(
                f"{source} has no {NAME}; write one: leaderboard import-campaign {source} --write-manifest FILE"
            )
        name, config = str(manifest or NAME), Config.from_environment()
        content = read_manifest(manifest or tree.file(NAME), name)
        actor = partial(actor_named, user=user)
        store = RunStore(config.store_url, config, must_exist=True)
        with up_to_date(config) as database, counting_bar(len(content.runs(tree)[0]), "Reading") as done:
            bind(database, store)
            report = bring_in(database, store, actor, content, tree, name, done=done).report
    return _say(asdict(report), report_file)


def _say(report: Mapping[str, Any], report_file: Path | None) -> None:
    """Prints what an import did, and keeps it in the file."""
    _echo("made ", report["made"])
    _echo("left as it is: ", report["there"])
    _echo("note: ", report["notes"], err=True)
    _echo("nothing in the manifest names ", report["unmatched"], err=True)
    already = f", {report['already']:,} were there already" if report["already"] else ""
    click.echo(f"{counted(report['imported'], 'run')} brought in{already}")
    if report_file is not None:
        report_file.write_text(json_text(report), "utf-8")


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
    1 when the stored file of a run is gone or damaged: that run is left out.
    """
    if out.exists():
        raise BadInput(f"{out} is there already; name another place")
    if not out.parent.is_dir():
        raise BadInput(f"there is no folder {out.parent}")
    client = client_of("export", server_on_line(server), token_file)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".export-") as unfinished:
        packed = Path(unfinished) / "packed.tar.gz"
        client.fetch(f"/organise/campaigns/{quote(campaign, safe='')}/export.tar.gz", packed)
        shutil.unpack_archive(packed, unfinished, filter="data")
        packed.unlink()
        (folder,) = Path(unfinished).iterdir()
        lost = folder / LEFT_OUT
        left_out = lost.read_text("utf-8") if lost.exists() else ""
        _put(folder, out)
    click.echo(out)
    click.echo(left_out, err=True, nl=False)
    return int(bool(left_out))


def _put(folder: Path, out: Path) -> None:
    """Puts the folder, or an archive of it, in its place in one step."""
    for ending, kind in ARCHIVES.items():
        if out.name.lower().endswith(ending):
            folder = Path(shutil.make_archive(str(folder), kind, folder.parent, folder.name))
            break
    folder.rename(out)
