"""`leaderboard import-campaign` and `export`: a campaign of past years from files with a manifest, and back."""

import json
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path

import click
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, Actor, actor_of
from leaderboard.accounts.writes import find_user
from leaderboard.cli.database import up_to_date
from leaderboard.cli.output import counting_bar
from leaderboard.config import Config
from leaderboard.errors import BadInput
from leaderboard.numbers import counted
from leaderboard.store import Caps, RunStore
from leaderboard.transfer.drafting import draft_of
from leaderboard.transfer.exporting import exporting
from leaderboard.transfer.importing import bring_in
from leaderboard.transfer.manifest import NAME, Tree, open_tree, read_manifest

SHOWN = 20  # lines of a list that the terminal shows


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
    "--report", "report_file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write what was done, as JSON.",
)  # fmt: skip
@click.option("--as", "user", help="Import as this account, with its rights only.")
def import_campaign(
    source: Path, given: Path | None, draft: Path | None, report_file: Path | None, user: str | None
) -> None:
    """Bring a campaign of past years in: queries, judgments and runs, with their true dates.

    \b
    leaderboard import-campaign archive/ --write-manifest manifest.toml    # then read and complete it
    leaderboard import-campaign archive/ --manifest manifest.toml

    FOLDER may be an archive of one, too. All of it comes in, or every problem is told and nothing does; what is there
    already is left as it is. Workers score the runs.
    """
    with open_tree(source) as tree:
        if draft is not None:
            _write_draft(tree, draft)
            return
        if given is None and NAME not in tree.files:
            raise BadInput(
                f"{source} has no {NAME}; write one: leaderboard import-campaign {source} --write-manifest FILE"
            )
        manifest, config = read_manifest(given or tree.file(NAME), str(given or NAME)), Config.from_environment()

        def actor(session: Session) -> Actor:
            return CONSOLE if user is None else actor_of(session, find_user(session, user).id)

        store = RunStore(config.store_url, Caps(config.upload_bytes, config.text_bytes))
        with up_to_date(config) as database, counting_bar(len(manifest.runs(tree)[0]), "Reading") as done:
            report = bring_in(database, store, actor, manifest, tree, str(given or NAME), done=done).report
    if report_file is not None:
        report_file.write_text(json.dumps(asdict(report), indent=2, ensure_ascii=False) + "\n", "utf-8")
    _echo([f"made {made}" for made in report.made])
    _echo([f"left as it is: {there}" for there in report.there])
    _echo([f"note: {note}" for note in report.notes], err=True)
    _echo([f"nothing in the manifest names {path}" for path in report.unmatched], err=True)
    already = f", {report.already:,} were there already" if report.already else ""
    click.echo(f"{counted(report.imported, 'run')} brought in{already}")


def _write_draft(tree: Tree, draft: Path) -> None:
    if draft.exists():
        raise BadInput(f"{draft} is there already; name another file")
    with counting_bar(len(tree.files), "Looking") as done:
        drafted = draft_of(tree, done)
    draft.write_text(drafted.text, encoding="utf-8")
    click.echo(f"{draft}: {counted(drafted.evaluations, 'evaluation')}, {counted(drafted.runs, 'run')}")
    _echo(list(drafted.notes))


def _echo(lines: list[str], *, err: bool = False) -> None:
    more = [f"and {len(lines) - SHOWN:,} more"] if len(lines) > SHOWN else []
    for line in (*lines[:SHOWN], *more):
        click.echo(line, err=err)


ARCHIVES = {".zip": "zip", ".tar": "tar", ".tar.gz": "gztar", ".tgz": "gztar"}
WHOLE, SOME_LOST = 0, 1  # exit status


@click.command()
@click.argument("campaign")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="A new folder, or a .zip or .tar.gz to make."
)
def export(campaign: str, out: Path) -> int:
    """Write a campaign with its queries, judgments, runs, teams and dates, as `import-campaign` reads them.

    \b
    leaderboard export harbour --out harbour.tar.gz

    It holds judgments, hidden queries and teams' notes: keep it from others. Accounts are not in it. The exit status is
    1 when the stored file of a run is gone or damaged: that run is left out.
    """
    if out.exists():
        raise BadInput(f"{out} is there already; name another place")
    if not out.parent.is_dir():
        raise BadInput(f"there is no folder {out.parent}; make it, or name another place")
    config = Config.from_environment()
    with (
        up_to_date(config) as database,
        exporting(database, CONSOLE, campaign, out.parent) as exported,
        tempfile.TemporaryDirectory(dir=out.parent, prefix=".export-") as beside,
        counting_bar(exported.runs, "Exporting") as done,
    ):
        store = RunStore(config.store_url, must_exist=True)
        folder = Path(beside) / exported.slug
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
    return SOME_LOST if exported.lost else WHOLE


def _put(folder: Path, out: Path) -> None:
    """Puts the folder, or an archive of it, in its place in one step."""
    ending = next((ending for ending in ARCHIVES if out.name.lower().endswith(ending)), None)
    if ending is None:
        folder.rename(out)
        return
    made = shutil.make_archive(str(folder), ARCHIVES[ending], folder.parent, folder.name)
    Path(made).rename(out)
