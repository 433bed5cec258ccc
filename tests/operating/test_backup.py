"""A whole installation in one file, and back: on either engine, from either engine."""

import json
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, pairwise
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard import errors, migrate
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Database
from leaderboard.generations.reads import visit
from leaderboard.operating.backup import MANIFEST, TABLE, reading, write_backup
from leaderboard.store import RunStore
from leaderboard.store.runs import run_name
from leaderboard.submissions.models import Submission
from leaderboard.submissions.writes.run_store import bind
from tests.support.commands import Done, run_here
from tests.support.databases import Postgres
from tests.support.rows import every_row
from tests.support.shared import REPOSITORY
from tests.support.world import World, run_text
from tests.test_upgrade import STORED

ODD = ("\\N", "a line\nand \\n another, \\\\ \\x41 \\t", "ü€😀 'q' \"z\" {a} %s")  # in COPY or SQL they mean more
# To which a backup and a restore add, and the workers, which are of the installation that was backed up.
OWN = ("installation", "event", "chain", "generation", "worker_seen")
ONE_ENGINE = pytest.mark.parametrize("engine_name", ["sqlite"])


@dataclass
class Installed:
    """An installation by its settings; as a target of a restore nothing is there yet."""

    url: str
    store: Path | str

    @property
    def environment(self) -> dict[str, str]:
        return {"LEADERBOARD_DATABASE_URL": self.url, "LEADERBOARD_STORE_URL": str(self.store)}

    def run(self, *arguments: str | Path) -> Done:
        return run_here([*map(str, arguments)], self.environment)

    def ok(self, *arguments: str | Path) -> str:
        done = self.run(*arguments)
        assert (done.status, done.err) == (0, ""), done
        return done.out

    def refused(self, *arguments: str | Path) -> str:
        done = self.run(*arguments)
        assert (done.status, done.out) == (2, ""), done
        return done.err

    def rows(self) -> dict[str, list[str]]:
        with closing(Database.connect(self.url)) as database:
            return every_row(database)

    def is_empty(self) -> bool:
        """Without a table, or without a row but those that migrations put there."""
        with closing(Database.connect(self.url)) as database:
            if migrate.current(database) is None:
                return True
        return not any(rows for table, rows in self.rows().items() if table != "chain")


Targets = Callable[..., Installed]


@pytest.fixture
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Targets]:
    """Makes targets on an engine: an empty database, a folder that is not there."""
    made: list[tuple[Postgres, str]] = []
    count = iter(range(100))

    def make(engine: str) -> Installed:
        store = tmp_path / f"restored{next(count)}"
        if engine == "sqlite":
            return Installed(f"sqlite:///{store}.sqlite", store)
        postgres: Postgres = request.getfixturevalue("postgres")
        made.append((postgres, postgres.create()))
        return Installed(made[-1][1], store)

    yield make
    for postgres, url in made:
        postgres.leave(url)


@pytest.fixture
def site(world: World) -> World:
    """Scored, rejected and waiting runs, texts that are hard to write, a store that is the database's."""
    bind(world.database, world.store)
    for number, notes in enumerate(ODD):
        world.submit(run_text(number), notes=notes)
    world.submit("no run at all\n")
    world.drain()
    world.submit(run_text(9))
    return world


def here(world: World) -> Installed:
    return Installed(world.config.database_url, Path(world.config.store_url))


def stored_0_1_0(engine: str, folder: Path, target: Targets) -> Installed:
    """The installation of a released version, in which each table has rows."""
    with tarfile.open(STORED / "0.1.0" / f"{engine}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    if engine == "sqlite":
        return Installed(f"sqlite:///{folder / 'leaderboard.sqlite'}", folder / "store")
    url = target(engine).url
    with closing(sa.create_engine(url.replace("postgresql", "postgresql+psycopg", 1)).raw_connection()) as raw:
        raw.cursor().execute((folder / "leaderboard.sql").read_text())
        raw.commit()
    return Installed(url, folder / "store")


def rewritten(file: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """A copy of a backup with other contents; None leaves a file out."""
    copy = file.with_name(f"changed-{file.name}")
    with zipfile.ZipFile(file) as before, zipfile.ZipFile(copy, "w") as after:
        for name in before.namelist():
            if (content := change(name, before.read(name))) is not None:
                after.writestr(name, content)
    return copy


def of_manifest(**changes: object) -> Callable[[str, bytes], bytes]:
    return lambda name, content: json.dumps(json.loads(content) | changes).encode() if name == MANIFEST else content


def assert_same(before: dict[str, list[str]], after: dict[str, list[str]]) -> None:
    for table, rows in before.items():
        if table not in OWN:
            assert after[table] == rows, table
    assert {*before["event"]} < {*after["event"]}
    assert after["worker_seen"] == []


@pytest.mark.usefixtures("scores_here")
@pytest.mark.parametrize("other", ["sqlite", "postgresql"])
def test_what_is_restored_is_the_same_to_the_last_bit_and_goes_on(
    site: World, target: Targets, other: str, tmp_path: Path
) -> None:
    file, before = tmp_path / "all.zip", every_row(site.database)
    assert ", 5 run files" in here(site).ok("backup", file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert not [*tmp_path.glob("*.part")]
    elsewhere = target(other)
    elsewhere.ok("restore", file)
    assert_same(before, elsewhere.rows())
    assert elsewhere.ok("verify", "--figures").startswith("nothing differs")
    with closing(Database.connect(elsewhere.url)) as database, database.read() as session:
        number = session.scalar(sa.select(Submission.id).where(Submission.notes == "\\N"))
    store = RunStore(str(elsewhere.store))
    with pytest.raises(errors.Damaged, match="It is made again by itself"):
        store.ranked_list(number or 0, 10, 0)
    elsewhere.run("worker", "--once")
    assert len(store.ranked_list(number or 0, 10, 0)) == 3
    assert elsewhere.ok("verify", "--figures").startswith("nothing differs")


@pytest.mark.parametrize("other", ["sqlite", "postgresql"])
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_rows_of_every_table_are_restored_and_those_of_an_earlier_version_are_brought_to_this_one(
    engine: str, other: str, target: Targets, tmp_path: Path
) -> None:
    released = stored_0_1_0(engine, tmp_path, target)
    with closing(Database.connect(released.url)) as database, database.engine.connect() as connection:
        had = {*sa.inspect(connection).get_table_names()}
    old = tmp_path / "old.zip"
    released.ok("backup", old)  # as a change of versions begins
    released.ok("db", "upgrade")
    before = released.rows()
    assert all(rows for table, rows in before.items() if table in had)
    file, elsewhere = tmp_path / "all.zip", target(other)
    released.ok("backup", file)
    elsewhere.ok("restore", file)
    assert_same(before, elsewhere.rows())
    elsewhere = target(other)
    elsewhere.ok("restore", old)
    assert_same(before, elsewhere.rows())
    assert elsewhere.ok("verify", "--figures").startswith("nothing differs")


@pytest.mark.parametrize("other", ["sqlite", "postgresql"])
def test_numbers_of_removed_runs_are_not_used_again(site: World, target: Targets, other: str, tmp_path: Path) -> None:
    with site.database.write() as session:
        if site.database.engine.dialect.name == "sqlite":
            session.execute(sa.text("UPDATE sqlite_sequence SET seq = 70 WHERE name = 'submission'"))
        else:
            session.execute(sa.text("SELECT setval('submission_id_seq', 70)"))
    elsewhere = target(other)
    here(site).ok("backup", tmp_path / "all.zip")
    elsewhere.ok("restore", tmp_path / "all.zip")
    with closing(Database.connect(elsewhere.url)) as database:
        store = RunStore(str(elsewhere.store))
        again = World(
            database, store, site.config, site.campaign, site.evaluation, site.team, site.ada, site.eve
        )  # fmt: skip
        assert again.submit(run_text(50)) == 71


def test_a_backup_is_consistent_while_runs_are_submitted_and_scored(
    site: World, target: Targets, engine_name: str, tmp_path: Path
) -> None:
    stop, scored, failed, numbers = threading.Event(), threading.Event(), list[BaseException](), count(100)

    def play() -> None:
        try:
            while not stop.is_set():
                site.submit(run_text(next(numbers)))
                site.drain()
                scored.set()
        except BaseException as error:  # noqa: BLE001  # raised below
            failed.append(error)

    playing = threading.Thread(target=play)
    playing.start()
    try:
        for number in range(3):
            here(site).ok("backup", tmp_path / f"{number}.zip")
            scored.clear()
            assert scored.wait(60), failed
    finally:
        stop.set()
        playing.join()
    assert not failed
    sizes = []
    for number in range(3):
        elsewhere = target(engine_name)
        elsewhere.ok("restore", tmp_path / f"{number}.zip")
        assert elsewhere.ok("verify", "--figures").startswith("nothing differs")
        sizes.append(len(elsewhere.rows()["submission"]))
    assert sizes == sorted(sizes)
    assert 5 <= sizes[0] < sizes[-1] <= len(every_row(site.database)["submission"])


@ONE_ENGINE
def test_a_chain_of_backups_has_each_run_file_once(site: World, target: Targets, tmp_path: Path) -> None:
    files = [tmp_path / f"{day}.zip" for day in ("monday", "tuesday", "wednesday")]
    here(site).ok("backup", files[0])
    for number, (earlier, file) in enumerate(pairwise(files), start=20):
        site.submit(run_text(number))
        here(site).ok("backup", file, "--since", earlier)
    held = [[name for name in zipfile.ZipFile(file).namelist() if name.startswith("runs/")] for file in files]
    assert [*map(len, held)] == [5, 1, 1]
    elsewhere = target("sqlite")
    refusal = elsewhere.refused("restore", files[2], "--with", files[0])
    assert refusal.startswith("1 run file left out of this backup: name tuesday.zip by --with, or ")
    refusal = elsewhere.refused("restore", files[0], "--with", files[2])
    assert refusal.startswith(f"{files[2]} is later than {files[0]}: restore {files[2]}")
    refusal = elsewhere.refused("restore", files[2], "--with", files[1])
    assert refusal.startswith("5 run files left out of this backup: name monday.zip by --with, or ")
    refusal = elsewhere.refused("restore", files[2])
    assert refusal.startswith("6 run files left out of this backup: name tuesday.zip and monday.zip by --with, or ")
    assert "--since" in here(site).refused("backup", tmp_path / "none.zip", "--no-store", "--since", files[0])
    assert elsewhere.is_empty()
    elsewhere.ok("restore", files[2], "--with", files[0], "--with", files[1])
    assert elsewhere.ok("verify", "--figures").startswith("nothing differs")
    # Once more, whether from the same file or another one: all is there, and it has an event more by now.
    for again in ([files[2], "--with", files[0], "--with", files[1]], [files[0]]):
        assert elsewhere.refused("restore", *again).startswith("the database is not empty")


@ONE_ENGINE
def test_a_store_that_is_kept_in_another_way_is_verified_and_used(site: World, target: Targets, tmp_path: Path) -> None:
    file = tmp_path / "rows.zip"
    gone = Path(site.config.store_url).rename(tmp_path / "away")  # as a bucket may be, which is needed for no row
    assert "bytes, 0 run files, 5 left to the store\n" in here(site).ok("backup", file, "--no-store")
    gone.rename(site.config.store_url)
    assert not [name for name in zipfile.ZipFile(file).namelist() if name.startswith("runs/")]
    elsewhere = target("sqlite")
    assert f"or use {site.config.store_url} by --own-store" in elsewhere.refused("restore", file)
    shutil.rmtree(elsewhere.store)
    shutil.copytree(site.config.store_url, elsewhere.store)
    run = next(path for path in (Path(elsewhere.store) / "runs").rglob("*") if path.is_file())
    content = run.read_bytes()
    assert f"{elsewhere.store} is the store of the installation that was backed up" in elsewhere.refused(
        "restore", file
    )
    assert elsewhere.is_empty()
    run.write_bytes(content + b"x")
    assert elsewhere.refused("restore", file, "--own-store").startswith("1 run file left out")
    assert elsewhere.is_empty()
    run.write_bytes(content)
    later = run_name("ab" * 32)
    (Path(elsewhere.store) / later).parent.mkdir(parents=True, exist_ok=True)
    (Path(elsewhere.store) / later).write_bytes(b"received after the backup")
    done = elsewhere.run("restore", file, "--own-store")
    assert (done.status, done.err.splitlines()[1:]) == (0, [later])
    assert done.err.startswith("1 run file in the store that the backup does not name; copy them before ")
    assert elsewhere.ok("verify", "--figures").startswith("nothing differs")
    assert RunStore(str(elsewhere.store)).identity == site.store.identity


@ONE_ENGINE
def test_a_run_file_that_the_store_lost_is_told_and_the_rest_is_backed_up(
    site: World, target: Targets, tmp_path: Path
) -> None:
    here(site).ok("backup", tmp_path / "whole.zip")
    paths = sorted(path for path in Path(site.config.store_url, "runs").rglob("*") if path.is_file())
    paths[0].unlink()
    paths[1].write_bytes(b"something else")
    done = here(site).run("backup", tmp_path / "all.zip")
    assert (done.status, done.err) == (1, "2 run files missing or damaged: `leaderboard verify` names them\n")
    assert "bytes, 3 run files\n" in done.out
    assert sum(name.startswith("runs/") for name in zipfile.ZipFile(tmp_path / "all.zip").namelist()) == 3
    elsewhere = target("sqlite")
    done = elsewhere.run("restore", tmp_path / "all.zip")
    assert (done.status, ", with 3 run files\n" in done.out) == (1, True)
    assert done.err == f"2 run files missing: {paths[0].name}, {paths[1].name}\n"
    assert elsewhere.run("restore", tmp_path / "all.zip").status == 1
    assert elsewhere.run("verify").out.count("its file\n  stored    nothing\n") == 2
    healed = target("sqlite")
    healed.ok("restore", tmp_path / "all.zip", "--with", tmp_path / "whole.zip")
    assert healed.ok("verify", "--figures").startswith("nothing differs")


@ONE_ENGINE
def test_a_whole_copy_wins_over_damaged_ones_which_are_all_named(site: World, target: Targets, tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    here(site).ok("backup", file)
    with reading(file) as (_, manifest):
        runs = manifest["runs"]
    bad = rewritten(file, lambda name, content: b"x" if name in map(run_name, runs[:2]) else content)
    for first, second in ((file, bad), (bad, file)):
        elsewhere = target("sqlite")
        elsewhere.ok("restore", first, "--with", second)
        assert elsewhere.ok("verify", "--figures").startswith("nothing differs")
    elsewhere = target("sqlite")
    refusal = elsewhere.refused("restore", bad)
    assert refusal.startswith(f"2 run files damaged in the backup: {runs[0]}, {runs[1]}. Name another")
    assert elsewhere.is_empty()
    done = elsewhere.run("restore", bad, "--incomplete")
    assert (done.status, done.err) == (1, f"2 run files missing: {runs[0]}, {runs[1]}\n")
    assert elsewhere.run("verify").out.count("its file\n  stored    nothing\n") == 2


def test_pages_that_were_kept_before_a_restore_are_none_of_it(
    site: World, target: Targets, engine_name: str, tmp_path: Path
) -> None:
    here(site).ok("backup", tmp_path / "all.zip")
    elsewhere = target(engine_name)
    elsewhere.ok("restore", tmp_path / "all.zip")
    for number in range(60, 63):  # what the restore discards
        site.submit(run_text(number))
    with site.database.read() as before, closing(Database.connect(elsewhere.url)) as database:
        now = datetime.now(UTC)
        for campaign in (None, *site.all(sa.select(Campaign.slug))):
            with database.read() as after:
                assert visit(before, campaign, None, now).generation < visit(after, campaign, None, now).generation


@pytest.mark.parametrize("manifest", ["{}", "[1]", "null", '"a"', "1" * 5000, '{"at": 1}'])
def test_an_archive_of_another_program_is_no_backup(target: Targets, manifest: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr(MANIFEST, manifest)
    assert "other.zip is no backup of a leaderboard" in target("sqlite").refused("restore", tmp_path / "other.zip")


@ONE_ENGINE
def test_a_manifest_that_is_wrong_is_refused(
    site: World, target: Targets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "all.zip"
    here(site).ok("backup", file)
    with reading(file) as (_, manifest):
        tables = manifest["tables"]
    for changes, refusal in (
        ({"schema": "0000"}, "is of version"),
        ({"tables": {table: tables[table] for table in tables if table != "event"}}, "has other tables than revision"),
        ({"tables": tables | {"foreign": ""}}, "has other tables than revision"),
    ):
        elsewhere = target("sqlite")
        assert refusal in elsewhere.refused("restore", rewritten(file, of_manifest(**changes)))
        assert elsewhere.is_empty()
    monkeypatch.setattr("leaderboard.operating.backup.LARGEST_MANIFEST", 1 << 14)
    huge = rewritten(file, of_manifest(more=" " * (1 << 14)))
    assert "manifest.json is too large" in target("sqlite").refused("restore", huge)


@ONE_ENGINE
def test_an_installation_moves_from_a_folder_to_a_bucket_and_back(
    site: World, target: Targets, bucket_url: str, tmp_path: Path
) -> None:
    files, before = [tmp_path / "folder.zip", tmp_path / "bucket.zip"], every_row(site.database)
    in_bucket = Installed(target("sqlite").url, bucket_url)
    here(site).ok("backup", files[0])
    in_bucket.ok("restore", files[0])
    assert in_bucket.ok("verify", "--figures").startswith("nothing differs")
    in_bucket.ok("backup", files[1])
    in_folder = target("sqlite")
    in_folder.ok("restore", files[1])
    assert in_folder.ok("verify", "--figures").startswith("nothing differs")
    assert_same(before, in_folder.rows())
    place = RunStore(bucket_url).place
    run, size = next((name, len(place.read_part(name, 0, 10_000))) for name, _ in place.names("runs"))
    with place.incoming() as path:  # of the same size: the bucket tells by the hash only
        path.write_bytes(bytes(size))
        place.remove(run)
        place.put(path, run)
    again = Installed(target("sqlite").url, bucket_url)
    again.ok("restore", files[1], "--own-store")
    assert again.ok("verify", "--figures").startswith("nothing differs")


def test_nothing_is_overwritten(site: World, target: Targets, engine_name: str, tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    here(site).ok("backup", file)
    before = every_row(site.database), file.read_bytes()
    assert "is there already; name another file" in here(site).refused("backup", file)
    own_store = Installed(site.config.database_url, tmp_path / "new")
    assert "the database is not empty" in own_store.refused("restore", file)
    assert (every_row(site.database), file.read_bytes()) == before
    elsewhere, third = target(engine_name), target(engine_name)
    elsewhere.ok("restore", file)
    its_store = Installed(third.url, elsewhere.store)
    assert "is the store of another database; name a new one" in its_store.refused("restore", file, "--own-store")
    assert third.is_empty()
    assert here(site).run("verify").status == 0  # its triggers are as they were


@ONE_ENGINE
def test_a_file_that_is_no_whole_backup_is_refused_and_leaves_nothing(
    site: World, target: Targets, tmp_path: Path
) -> None:
    file, other = tmp_path / "all.zip", tmp_path / "other.zip"
    here(site).ok("backup", file)
    content = file.read_bytes()
    with reading(file) as (archive, _):
        rows = TABLE.format("submission")
        places = [archive.getinfo(rows).header_offset + 130]
    damaged = [bytes(content[:at]) + bytes([content[at] ^ 255]) + content[at + 1 :] for at in places]
    for bad in (b"", b"no archive", content[: len(content) // 2], content[:-30], *damaged):
        other.write_bytes(bad)
        elsewhere = target("sqlite")
        refusal = elsewhere.refused("restore", other)
        whole = bad in damaged
        assert f"{other} is {'damaged' if whole else 'no backup of a leaderboard, or not all of one'}: " in refusal
        assert elsewhere.is_empty()
    for changed in (
        rewritten(file, lambda name, bytes_: bytes_ + b"[]\n" if name == rows else bytes_),
        rewritten(file, lambda name, bytes_: b"[]" if name == rows else bytes_),
    ):
        elsewhere = target("sqlite")
        assert f"{changed} is damaged: " in elsewhere.refused("restore", changed)
        assert elsewhere.is_empty()
    newer = rewritten(file, of_manifest(schema="9999", version="9.9"))
    assert "is of version 9.9: restore it with that version, or a later one" in target("sqlite").refused(
        "restore", newer
    )
    elsewhere.ok("restore", file)  # where another one failed


RESTORES_KILLED = """
import os, signal, sys
from pathlib import Path
from leaderboard.db import Database
from leaderboard.operating.backup import reading, restore
from leaderboard.store import RunStore
from tests.support.calls import CALLS, Calls, Fault, count_statements

class Commits(Calls):
    def _next(self, name):
        self.made += [name] if name == "COMMIT" else []
        return Fault.KILL_AFTER if name == "COMMIT" and len(self.made) == commit else None

def tell(count):
    global left
    left -= count
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

CALLS.__class__ = Commits
count_statements()
for line in sys.stdin:
    url, store, *numbers = line.split()
    left, commit = map(int, numbers)
    if (process := os.fork()) == 0:
        with reading(Path(sys.argv[1])) as (archive, manifest):
            restore(Database.connect(url), RunStore(store), manifest, [archive], tell)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""
ALL = 1000  # files, more than there are


def test_a_restore_that_is_killed_is_finished_by_the_same_command(
    site: World, target: Targets, engine_name: str, tmp_path: Path
) -> None:
    """Behind two files, where it leaves an empty database and begins again, and behind each of its commits."""
    file, before = tmp_path / "all.zip", every_row(site.database)
    here(site).ok("backup", file)
    # Each is forked from one process that has imported what all of them need.
    killing = subprocess.Popen(
        [sys.executable, "-c", RESTORES_KILLED, file],
        cwd=REPOSITORY, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip

    def restored(elsewhere: Installed, files: int, commit: int) -> bool:
        """Whether it got to the end."""
        assert killing.stdin
        assert killing.stdout
        print(elsewhere.url, elsewhere.store, files, commit, file=killing.stdin, flush=True)
        status = int(killing.stdout.readline())
        assert status in (0, -signal.SIGKILL)
        return status == 0

    with killing:
        for commit in count():
            elsewhere = target(engine_name)
            if restored(elsewhere, *((ALL, commit) if commit else (2, 0))):
                break
            if not commit:
                assert len([path for path in (Path(elsewhere.store) / "runs").rglob("*") if path.is_file()]) == 3
                assert elsewhere.is_empty()
            elsewhere.ok("restore", file)
            assert_same(before, elsewhere.rows())
            assert elsewhere.ok("verify", "--figures").startswith("nothing differs")
    assert commit > 1
    assert sum("'restore backup'" in row for row in elsewhere.rows()["event"]) == 1
    assert f"{tmp_path / 'new'} is the run store of another" in Installed(elsewhere.url, tmp_path / "new").refused(
        "restore", file
    )
    elsewhere.ok("backup", tmp_path / "later.zip")  # an event behind that of the restore
    assert "the database is not empty" in Installed(elsewhere.url, tmp_path / "new").refused("restore", file)


@ONE_ENGINE
def test_a_full_disk_ends_a_backup_with_one_line_and_leaves_nothing(site: World, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, before[1]))
    try:
        refusal = here(site).refused("backup", folder / "all.zip")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert refusal == f"{folder / 'all.zip'} can't be written: File too large\n"
    assert not [*folder.iterdir()]
    here(site).ok("backup", folder / "all.zip")


@ONE_ENGINE
def test_a_backup_is_noted_in_the_trail(site: World, tmp_path: Path) -> None:
    manifest = write_backup(
        site.database, site.store, tmp_path / "all.zip", earlier=None, files=True, tell=lambda _: None
    )
    assert (len(manifest["runs"]), manifest["lost"]) == (5, [])
    facts = site.all(sa.text("SELECT action FROM event ORDER BY id DESC LIMIT 1"))
    assert facts == ["backup"]
