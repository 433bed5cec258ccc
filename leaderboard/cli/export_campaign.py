"""`leaderboard export`: a whole campaign as a folder or an archive, which `leaderboard import-campaign` takes back."""

import shutil
import tempfile
from pathlib import Path

import click

from leaderboard.access import CONSOLE
from leaderboard.cli.database import up_to_date
from leaderboard.cli.offline import counting_bar
from leaderboard.config import Config
from leaderboard.errors import BadInput
from leaderboard.numbers import counted
from leaderboard.store import RunStore
from leaderboard.transfer.exporting import exporting

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
