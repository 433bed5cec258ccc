"""`leaderboard backup` and `leaderboard restore`: a whole installation in one file, and back."""

import signal
from contextlib import ExitStack
from pathlib import Path

import click

from leaderboard.cli.database import connected, up_to_date
from leaderboard.cli.options import FILE, OUT, counting_bar, flag, option, refuse_if
from leaderboard.config import Config
from leaderboard.errors import BadInput
from leaderboard.numbers import counted
from leaderboard.operating.backup import not_named, reading, restore as restore_backup, write_backup
from leaderboard.store import RunStore
from leaderboard.submissions.writes.run_store import require_own
from leaderboard.worker.stored_runs import stored_files_on_record


@click.command()
@click.argument("file", type=OUT)
@option("--since earlier", "Leave out the run files that this earlier backup has.", FILE)
@flag("--no-store", "Leave out all run files: the store is kept in another way.")
def backup(file: Path, earlier: Path | None, no_store: bool) -> int:
    """Write the whole installation into FILE: the database as it is now, and the files of the runs.

    \b
    leaderboard backup monday.zip
    leaderboard backup tuesday.zip --since monday.zip

    The site and its workers go on meanwhile. Only you can read FILE: it holds password hashes, mail addresses and what
    is not published yet. Its settings are not in it: keep the secret key elsewhere. The exit status is 1 where the
    store lacks the file of a run; the rest is backed up then.
    """
    refuse_if(earlier and no_store, "--no-store leaves out all run files, with --since or without")
    config = Config.from_environment()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what is unfinished goes then, as on Ctrl-C
    try:
        with up_to_date(config, or_older=True) as database:
            store = RunStore(config.store_url, must_exist=True)
            with database.read() as session:
                if not no_store:
                    store.bound = require_own(session, store)
                files = stored_files_on_record(session)
            with counting_bar(files, "Run files") as tell:
                manifest = write_backup(database, store, file, earlier=earlier, files=not no_store, tell=tell)
    except OSError as error:
        raise BadInput(f"{file} can't be written: {error.strerror}") from error
    added, lost = manifest["added"], len(manifest["lost"])
    left = len(manifest["runs"]) - added - lost
    where = f", {left:,} left to {'the store' if no_store else 'earlier backups'}" if left else ""
    click.echo(f"{file}: {file.stat().st_size:,} bytes, {counted(added, 'run file')}{where}")
    if lost:
        click.echo(f"{counted(lost, 'run file')} missing or damaged: `leaderboard verify` names them", err=True)
    return int(bool(lost))


@click.command()
@click.argument("file", type=FILE)
@option("--with earlier", "A backup with run files that FILE leaves out; may be repeated.", FILE, multiple=True)
@flag("--own-store", "Use the store of the backup in place; the old installation must be gone.")
@flag("--incomplete", "Leave out run files that are damaged in all these backups.")
def restore(file: Path, earlier: tuple[Path, ...], own_store: bool, incomplete: bool) -> int:
    """Fill a new database and a new store from the backup FILE, on SQLite or PostgreSQL, in a folder or a bucket.

    \b
    leaderboard restore monday.zip
    leaderboard restore tuesday.zip --with monday.zip

    Nothing is overwritten: the database must be empty, and the store new or, with --own-store, that of the backup.
    Every row and every file is compared with its hash. After an interruption the same command finishes it.
    The exit status is 1 where run files are missing afterwards.
    """
    config = Config.from_environment()
    with connected(config) as database, ExitStack() as opened:
        (archive, manifest), *others = (opened.enter_context(reading(path)) for path in (file, *earlier))
        archives = [archive, *(other for other, _ in others)]
        for path, (_, other) in zip(earlier, others, strict=True):
            if other["at"] > manifest["at"]:
                raise BadInput(f"{path} is later than {file}: restore {path}, and name {file} by --with")
        with counting_bar(len(manifest["runs"]), "Run files") as tell:
            store = RunStore(config.store_url, config)
            missing = restore_backup(
                database, store, manifest, archives, tell, own_store=own_store, incomplete=incomplete
            )
    files = counted(len(manifest["runs"]) - len(missing), "run file")
    click.echo(f"the installation as of {manifest['at']}, with {files}")
    if missing:
        click.echo(f"{counted(len(missing), 'run file')} missing: {', '.join(missing)}", err=True)
    if own_store and (later := not_named(store, manifest)):
        what = "in the store that the backup does not name; copy them before workers remove them, after two days:"
        click.echo("\n".join([f"{counted(len(later), 'run file')} {what}", *later]), err=True)
    return int(bool(missing))
