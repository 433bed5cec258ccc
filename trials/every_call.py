"""Lets every call of the database and the store fail once, in every operation: by an error, by an answer that is lost,
and by killing the process before or after.

    python -m trials every_call
    python -m trials every_call --operation upload --engine sqlite --store folder --every 5

An undisturbed pass is counted first. Then it is done anew from the same state for each call and each fault. Whatever
becomes of it, `leaderboard verify` must find nothing, and what its caller was told must be there. Then the caller does
what a caller does (asks again under the same key, starts the command again), time goes by until leases have run out, a
worker works until nothing waits, and the installation must hold what it holds after the undisturbed pass: figures bit
for bit, events, quotas, mails.

Each call raises once and is killed before once. Its answer is lost, or the process killed behind it, where that leaves
another state: after a commit, a connection and what is written into a bucket. Else it is the same as before the next.
"""

import argparse
import io
import logging
import multiprocessing
import os
import pickle
import re
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

import psycopg
import sqlalchemy as sa

from leaderboard import bounded, db, migrate
from leaderboard.config import Config
from leaderboard.store import RunStore
from leaderboard.submissions.models import Arrival
from leaderboard.submissions.rules import UNFINISHED, SetState
from leaderboard.submissions.writes.run_store import bind
from leaderboard.web.app import create_app
from leaderboard.worker import loop
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.stored_runs import check_files
from tests.support import calls, scoring
from tests.support.calls import CALLS, Fault
from tests.support.postgres import postgres_server
from tests.support.processes import Process, free_port
from tests.support.quick import collect_seldom, compile_once
from tests.support.verification import verified
from tests.support.world import QRELS, World, fill
from trials.every_call_operations import BACKUPS, OPERATIONS, Here, Told, state, work
from trials.faults import tell
from trials.installation import ENGINES

STORES = ("folder", "bucket")
BUCKET = "trial"
ALWAYS = (Fault.RAISE, Fault.KILL)
BEHIND = (Fault.LOSE, Fault.KILL_AFTER)
CHANGES = ("COMMIT", "connect", "bucket put", "bucket delete")  # behind which there may be another state than before
ROUNDS = 3  # of a worker, each after the leases of the one before
IS_WAITING = (
    sa.select(ScoringSet.id)
    .outerjoin(Scoring)
    .where(sa.or_(ScoringSet.state == SetState.BUILDING, Scoring.state.in_(UNFINISHED)))
)
START_SECONDS = 60.0


class Point(NamedTuple):
    number: int
    call: str
    fault: Fault


@dataclass
class Bench:
    """One engine and one kind of store, whose states are copied. Nothing is connected to either in this process.

    server  of PostgreSQL; endpoint: of the service that has buckets
    """

    engine: str
    store: str
    folder: Path
    server: str
    endpoint: str

    def __post_init__(self) -> None:
        self.place = self.folder / "here"
        url = f"sqlite:///{self.place / 'leaderboard.sqlite'}"
        if self.engine == "postgresql":
            url = sa.make_url(self.server).set(database="here").render_as_string(hide_password=False)
        store_url = f"s3://{BUCKET}/here" if self.store == "bucket" else str(self.place / "store")
        secret = {"secret_key": "a secret key of the trial, which opens nothing", "secure_cookies": False}
        self.config = Config(database_url=url, store_url=store_url, **secret)  # type: ignore[arg-type]  # both as it takes them
        self.app = create_app(self.config)

    def empty(self) -> None:
        """The place with a migrated database and a new store."""
        self._clear()
        if self.engine == "postgresql":
            self._run('CREATE DATABASE "here"')
        in_child(lambda: _migrate(self.config.database_url))

    def keep(self, name: str) -> None:
        """What there is now, under a name."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(self.place, self.folder / name)
        if self.engine == "postgresql":
            self._run(f'DROP DATABASE IF EXISTS "{name}"', f'CREATE DATABASE "{name}" TEMPLATE "here"')
        self._copy_objects("here", name)

    def restore(self, name: str) -> None:
        """What was kept."""
        self._clear()
        shutil.rmtree(self.place)
        shutil.copytree(self.folder / name, self.place)
        if self.engine == "postgresql":
            self._run(f'CREATE DATABASE "here" TEMPLATE "{name}" STRATEGY FILE_COPY')
        self._copy_objects(name, "here")

    def here(self, made: dict[str, Any], more: dict[str, Any]) -> Here:
        """The same for a process that works with it."""
        database = db.Database.connect(self.config.database_url)
        world = World(database, RunStore(self.config.store_url, self.config), self.config, **made)
        return Here(world, self.app, self.place, more)

    def close(self, here: Here) -> None:
        here.world.database.close()
        self.app.extensions["database"].close()

    def _clear(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        (self.place / "temporary").mkdir(parents=True)
        if self.engine == "postgresql":
            self._run('DROP DATABASE IF EXISTS "here" WITH (FORCE)')
        for key in self._objects("here"):
            self._ask("DELETE", key)

    def _run(self, *statements: str) -> None:
        with psycopg.connect(self.server, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def _objects(self, prefix: str) -> list[str]:
        """Keys of the bucket's objects. By HTTP: obstore's threads must not be in a process that is forked."""
        if self.store == "folder":
            return []
        return re.findall("<Key>([^<]+)</Key>", self._ask("GET", f"?list-type=2&prefix={prefix}/"))

    def _copy_objects(self, source: str, target: str) -> None:
        for key in self._objects(source):
            where = f"{target}/{key.partition('/')[2]}"
            self._ask("PUT", where, {"x-amz-copy-source": f"{BUCKET}/{key}"})

    def _ask(self, method: str, key: str, headers: dict[str, str] | None = None) -> str:
        signed = {"Authorization": "AWS4-HMAC-SHA256 Credential=trial/1/1/s3/aws4_request", **(headers or {})}
        with urlopen(Request(f"{self.endpoint}/{BUCKET}/{key}", method=method, headers=signed)) as answer:
            text: str = answer.read().decode()
        return text


@dataclass
class Trial:
    """One operation on one bench; every: tries each so many-th point."""

    bench: Bench
    name: str
    every: int

    def __post_init__(self) -> None:
        self.operation = OPERATIONS[self.name]
        self.kept = f"{self.bench.store}-{self.name.replace(' ', '-')}"

    def go(self) -> tuple[int, int, list[str]]:
        """How many calls there are, how many points were tried, and every fault that was found."""
        Trial(replace(self.bench, store="folder"), self.name, 1).warm_up()
        self._begin()
        told, made = in_child(lambda: self._run(None))
        if not told.done:
            raise RuntimeError(f"{self.name} does not work undisturbed: {told}")
        found, self.expected = in_child(lambda: self._afterwards(told))
        faults = [f"{self.name}, undisturbed: {fault}" for fault in found]
        points = [
            Point(number, call, fault)
            for number, call in enumerate(made, 1)
            for fault in (*ALWAYS, *(BEHIND if call in CHANGES else ()))
        ][:: self.every]
        for point in points:
            where = f"{self.name}, {self.bench.engine}, {self.bench.store}, call {point.number}"
            faults += [f"{where} ({point.call}) {point.fault}: {fault}" for fault in self.tried(point)]
        return len(made), len(points), faults

    def warm_up(self) -> None:
        """Does it once in this process, so that those that are forked from it compile no statement and no page anew. In
        a folder: threads of a bucket's library must not be in a process that is forked."""
        self._begin()
        self._afterwards(self._run(None)[0])
        collect_seldom()

    def _begin(self) -> None:
        self.bench.empty()
        self.made, self.more = in_child(self._prepare)
        self.bench.keep(self.kept)

    def tried(self, point: Point) -> list[str]:
        """What is wrong after this fault."""
        self.bench.restore(self.kept)
        try:
            answer = in_child(lambda: self._run(point))
            if answer is None and point.fault not in (Fault.KILL, Fault.KILL_AFTER):
                return ["the process was killed"]
            found, held = in_child(lambda: self._afterwards(answer and answer[0]))
        except RuntimeError as error:
            return [str(error)]
        return found + [
            f"{what} differ from those of the undisturbed pass: {self._difference(what, rows)}"
            for what, rows in held.items()
            if rows != self.expected[what]
        ]

    def _difference(self, what: str, rows: list[str]) -> str:
        before, after = Counter(self.expected[what]), Counter(rows)
        return f"lacking {[*(before - after)][:3]}, too much {[*(after - before)][:3]}"[:600]

    def _prepare(self) -> tuple[dict[str, Any], dict[str, Any]]:
        with closing(db.Database.connect(self.bench.config.database_url)) as database:
            made = fill(database, QRELS)
        here = self.bench.here(made, {})
        bind(here.world.database, here.store)
        more = self.operation.prepare(here)
        self.bench.close(here)
        return made, more

    def _run(self, point: Point | None) -> tuple[Told, list[str]]:
        """The operation, with one of its calls failing: what its caller learns, and the calls that were made."""
        here = self.bench.here(self.made, self.more)
        tempfile.tempdir = str(self.bench.place / "temporary")
        CALLS.made, CALLS.files_below = (
            [],
            tuple(f"{self.bench.place / name}/" for name in ("store", "temporary", BACKUPS)),
        )
        CALLS.failing = point and (point.number, point.fault)
        CALLS.counts = True
        try:
            told = self.operation.run(here)
        except AssertionError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, its caller learns that it is not done
            told = Told(False, repr(error))
        CALLS.counts = False
        self.bench.close(here)
        return told, CALLS.made

    def _afterwards(self, told: Told | None) -> tuple[list[str], dict[str, list[str]]]:
        """What is wrong after it, and what there is once everybody has done what they do."""
        here = self.bench.here(self.made, self.more)
        found = [f"at once: {fault}" for fault in wrong(here)] if self.operation.at_once else []
        if told is not None and told.done:
            found += self.operation.holds(here, told.words)
        self.operation.after(here, told)
        for _ in range(ROUNDS):
            let_time_pass(here.world.database)
            work(here)
            if not here.world.all(IS_WAITING):
                break
        found += [f"in the end: {fault}" for fault in wrong(here)]
        held = state(here.world)
        self.bench.close(here)
        return found, held


def let_time_pass(database: db.Database) -> None:
    """As if the longest lease had run out, and every wait had ended."""
    past = db.clock(-1.0)
    for change in (
        sa.update(Scoring).where(Scoring.lease_until.is_not(None)).values(lease_until=past),
        sa.update(Scoring).values(not_before=None),
        sa.update(ScoringSet).where(ScoringSet.refreshing_until.is_not(None)).values(refreshing_until=past),
        sa.delete(Arrival),  # which expire by the site's clock
    ):
        with database.write() as session:
            session.execute(change, execution_options={"synchronize_session": False})


def wrong(here: Here) -> Iterator[str]:
    """What is not consistent."""
    report = verified(here.world)
    check_files(here.world.database, here.store, report, lambda _: None)
    yield from (f"verify: {each.where}: {each.what}: {each.stored}, not {each.expected}" for each in report.differences)


def in_child(do: Callable[[], Any]) -> Any:
    """What a function gives in a process of its own; None where that was killed. Raises what it raised."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    if (process := os.fork()) == 0:
        with os.fdopen(writer, "wb") as pipe:
            try:
                answer = True, do()
            except BaseException:  # noqa: BLE001  # it is told, and the process ends
                answer = False, traceback.format_exc()
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        content = pipe.read()
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        return None
    done, answer = pickle.loads(content)
    if not done:
        raise RuntimeError(answer)
    return answer


def _migrate(url: str) -> None:
    with closing(db.Database.connect(url)) as database:
        migrate.upgrade(database)


@contextmanager
def buckets() -> Iterator[str]:
    """The address of a service that speaks S3, with one bucket, in a process of its own."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with ExitStack() as stack:
        service = stack.enter_context(Process(command))
        endpoint = f"http://127.0.0.1:{port}"
        service.wait_for_url(f"{endpoint}/moto-api/", seconds=START_SECONDS)
        with urlopen(Request(f"{endpoint}/{BUCKET}", method="PUT")):
            pass
        os.environ |= {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "trial", "AWS_SECRET_ACCESS_KEY": "trial"}
        yield endpoint
        with redirect_stdout(io.StringIO()):  # a line for each request
            service.kill()
            stack.close()


def set_up() -> None:
    """Of this process and those that are forked from it: each scores by itself, counts and says nothing."""
    compile_once()
    calls.count_statements()
    calls.count_files()
    calls.count_objects()
    os.register_at_fork(after_in_child=lambda: setattr(CALLS, "counts", False))
    logging.disable()
    loop.Worker = scoring.WorkerHere  # type: ignore[misc]  # it scores here
    loop.QUIET_SECONDS = 0.0
    bounded.CONTEXT = multiprocessing.get_context("fork")  # type: ignore[assignment]  # the same


def main(arguments: list[str] | None = None) -> int:
    """The exit status: 1 when something was lost, doubled, or did not go on."""
    parser = argparse.ArgumentParser(prog="python -m trials every_call", description=str(__doc__).split("\n\n")[0])
    parser.add_argument("--operation", choices=OPERATIONS, action="append", help="this one only")
    parser.add_argument("--engine", choices=ENGINES, help="this one only")
    parser.add_argument("--store", choices=STORES, help="this one only")
    parser.add_argument("--every", type=int, default=1, help="tries every so many points only (default: all)")
    given = parser.parse_args(arguments)
    set_up()
    found = list[str]()
    engines, stores = [given.engine] if given.engine else ENGINES, [given.store] if given.store else STORES
    for engine in engines:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            server = stack.enter_context(postgres_server()) if engine == "postgresql" else ""
            endpoint = stack.enter_context(buckets()) if "bucket" in stores else ""
            benches = [Bench(engine, store, folder, server, endpoint) for store in stores]
            for name in given.operation or OPERATIONS:
                for bench in benches:
                    started = time.monotonic()
                    made, points, faults = Trial(bench, name, given.every).go()
                    where, took = f"{engine}, {bench.store}, {name}", time.monotonic() - started
                    print(f"  {where}: {made} calls, {points} points tried in {took:.0f} s", flush=True)
                    found += faults
                    tell(faults)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
