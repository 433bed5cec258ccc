"""`leaderboard freeze`: a closed evaluation as a folder that needs no server."""

import re
import secrets
import signal
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import click

from leaderboard.audit.writes import present
from leaderboard.cli.database import up_to_date
from leaderboard.cli.options import PLACE, counting_bar, flag, option, refuse_if
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.errors import BadInput, Conflict
from leaderboard.freezing.copying import copy_pages, describe
from leaderboard.freezing.reads import Copy, freezable
from leaderboard.freezing.rules import DATA
from leaderboard.store import PIECE, RunStore
from leaderboard.submissions.writes.run_store import bind
from leaderboard.web.app import create_app


@click.command()
@PLACE
@click.argument("folder", type=click.Path(path_type=Path))
@option("--agreement", "Publish the files of runs with this agreement, or a yes to this field of the form (its key).")
@flag("--all-runs", "Publish the files of all runs: their teams agreed elsewhere.")
@option("--license license_id", "The licence of the folder, by its SPDX id.", default="")
def freeze(evaluation: str, folder: Path, agreement: str | None, all_runs: bool, license_id: str) -> None:
    """Write a closed evaluation into FOLDER as pages and data that need no server, ready for an archive.

    \b
    leaderboard freeze harbour/2025-text harbour-2025 --agreement publish --license CC-BY-4.0
    leaderboard verify harbour-2025

    Open index.html. The folder holds what visitors see, and the files of the runs whose teams agreed; baselines are the
    organisers' own. `leaderboard verify FOLDER` names every file that was changed, and computes runs again.
    """
    refuse_if(agreement and all_runs, "give --agreement or --all-runs")
    refuse_if(not re.fullmatch(r"[A-Za-z0-9.+-]*", license_id), "--license: give an SPDX id, like CC-BY-4.0")
    if folder.exists() and any(folder.iterdir()):
        raise BadInput(f"{folder} is there already; name another folder")
    config = Config.from_environment()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what is unfinished goes then, as on Ctrl-C
    parent, prefix = folder.absolute().parent, f".{folder.name}-"
    try:
        with up_to_date(config) as database, tempfile.TemporaryDirectory(dir=parent, prefix=prefix) as unfinished:
            asked = config.site_url, evaluation.split("/"), present(), agreement, all_runs
            with database.read() as session:
                copy = freezable(session, *asked)
            sums = _write(config, database, copy, Path(unfinished) / "copy", license_id)
            with database.read() as session:
                if freezable(session, *asked) != copy:
                    raise Conflict("the evaluation was changed meanwhile; freeze it again")
            (Path(unfinished) / "copy").rename(folder)
    except OSError as error:
        raise BadInput(f"{folder} can't be written: {error.strerror}") from error
    click.echo(f"{folder}: files of {len(copy.files):,} of {len(copy.runs):,} runs\nSHA-256 of SHA256SUMS: {sums}")


def _write(config: Config, database: Database, copy: Copy, folder: Path, license_id: str) -> str:
    """Writes all files of the copy; the hash of their hashes."""
    store = RunStore(config.store_url, config, must_exist=True)
    bind(database, store)
    (folder / DATA).mkdir(parents=True)
    for sha256, name in copy.files.values():
        with store.open_run(sha256) as source, (folder / DATA / name).open("wb") as target:
            while piece := source.read(PIECE):
                target.write(piece)
    site = urlsplit(config.site_url)
    host = site.netloc.removesuffix(f":{site.port}")
    app = create_app(replace(config, secret_key=secrets.token_hex(), hosts=host, kept_bytes=0))
    app.jinja_env.globals["frozen"] = copy
    app.jinja_env.filters["when"] = app.jinja_env.filters["moment"]  # without how long ago
    pages = len(copy.files) * copy.queries * copy.has_lists + len(copy.runs) + 6 * copy.queries
    with closing(app.extensions["database"]), counting_bar(pages, "Copying") as tell:
        copy_pages(app, copy, config.site_url, folder, tell)
        return describe(app, copy, license_id, folder)
