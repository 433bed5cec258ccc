"""What grows with the submissions and with the queue, on both engines: claims, pages, and bytes a submission.

    python -m trials.scaling --sizes 1000 10000 100000 --engine postgresql

An installation for each size has one campaign of as many systems, whose newest evaluation has so many submissions,
written in bulk. Pages are asked for in a process that keeps none, by a visitor, a team and an organiser, in turn over
the sizes, so that a busy machine is busy for all. Then new judgments queue every run again, and jobs are claimed.

Beside each time stands the work of the database, which no other program disturbs: steps of SQLite's virtual machine,
rows that PostgreSQL read. Growth that is more than GROWTH is a fault.
"""

import argparse
import gc
import io
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from flask.testing import FlaskClient

from bench.campaigns import Shape, make_campaign
from leaderboard import migrate
from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.audit.models import Event
from leaderboard.audit.rules import event_hash
from leaderboard.audit.stored_events import CONTENT
from leaderboard.audit.writes import present
from leaderboard.boards.writes import due
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.config import Config
from leaderboard.db import Base, Database
from leaderboard.evaluations.models import Evaluation
from leaderboard.formats import read_judgments
from leaderboard.judgments import writes as judgments
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.store import Received, RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.writes import submissions
from leaderboard.submissions.writes.run_store import bind
from leaderboard.teams.models import Membership, System, Team
from leaderboard.teams.rules import Role
from leaderboard.web.app import create_app
from leaderboard.worker import queue
from leaderboard.worker.writes import ready_sets
from tests.support.postgres import postgres_server
from tests.support.scoring import drain_here
from tests.support.world import new_account
from trials.faults import tell
from trials.installation import ENGINES

__all__ = ["scaling"]

WAITING = " while all wait"
# For these only the time is bounded: the first orders every run, the second a member's own ones, the third finds its
# turn among its team's; the others count what waits in the queue.
OF_EVERY_RUN = {"board of all runs", "account", "a new run is queued"}
OF_THE_QUEUE = {f"{name}{WAITING}" for name in ("board", "board of best runs", "status of an own run")}
MOST_SECONDS = 3.0
SIZES = (1_000, 10_000, 100_000)
SYSTEMS, QUERIES, MEASURES = 200, 50, 4
FEW = 10
SECRET = "a secret of the trials and of nothing else"
ROUNDS = 5
LISTED = 8
LEASE_SECONDS = 600.0
GROWTH = 2.0  # times the time, and the work, of the smallest size
LEAST_SECONDS, LEAST_WORK = 0.005, 2_000  # what differs by less has not grown
STEPS_AT_ONCE = 100  # of SQLite's machine, between two counts
WEIGHED, DEPTH = 50, 1_000  # runs that are weighed, each with so many lines a query
PAGES = {
    "front page": "visitor /",
    "campaign": "visitor /campaigns/large",
    "progress": "visitor /campaigns/large/progress",
    "board": "visitor /campaigns/large/2020",
    "board of best runs": "visitor /campaigns/large/2020?show=best",
    "board of all runs": "visitor /campaigns/large/2020?show=all",
    "queries": "visitor /campaigns/large/2020/queries",
    "a query": "visitor /campaigns/large/2020/queries/q1",
    "a run": "visitor /submissions/{run}",
    "a team": "visitor /teams/{team}",
    "a system": "visitor /teams/{team}/{system}",
    "status of an own run": "member /submissions/{own}/status",
    "form of a new run": "member /campaigns/large/2020/submit",
    "account": "member /account/",
    "organiser's evaluation": "organiser /organise/large/2020",
    "organiser's submissions": "organiser /organise/large/2020/submissions",
    "organiser's systems": "organiser /organise/large/systems",
    "organiser's teams": "organiser /organise/large/teams",
    "trail": "organiser /organise/large/trail",
}  # who asks, and the address
READ = "SELECT tup_returned + tup_fetched FROM pg_stat_database WHERE datname = current_database()"


class Work:
    """Counts what a database does for an engine: SQLite its own steps, PostgreSQL rows and entries of indexes read."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._steps = 0
        self._engines = {database.engine, database.glance}
        if database.engine.dialect.name == "sqlite":
            for engine in self._engines:
                sa.event.listen(engine, "checkout", self._count)

    def _count(self, connection: Any, *_: object) -> None:
        connection.set_progress_handler(self._step, STEPS_AT_ONCE)

    def _step(self) -> int:
        self._steps += STEPS_AT_ONCE
        return 0

    @property
    def done(self) -> int:
        """So far."""
        if self._database.engine.dialect.name == "sqlite":
            return self._steps
        for engine in self._engines:
            with engine.connect() as connection:
                connection.exec_driver_sql("SELECT pg_stat_force_next_flush()")
        with self._database.engine.connect() as connection:
            return int(connection.exec_driver_sql(READ).scalar_one())


@dataclass(frozen=True, slots=True)
class Place:
    """An installation of one size, and who asks there."""

    size: int
    config: Config
    database: Database
    readers: dict[str, FlaskClient]
    work: Work
    addresses: dict[str, str]
    looked: dict[int, Any] = field(default_factory=dict)  # see `due`


@dataclass(slots=True)
class Cost:
    """Of one action at one size: the best of its times in seconds, the least work."""

    seconds: float = float("inf")
    work: int = sys.maxsize

    def take(self, work: Work, action: Callable[[], object]) -> None:
        before, started = work.done, time.perf_counter()
        action()
        self.seconds = min(self.seconds, time.perf_counter() - started)
        self.work = min(self.work, work.done - before)


@dataclass(slots=True)
class Growth:
    """Of one action over the sizes, the smallest first."""

    name: str
    costs: list[Cost] = field(default_factory=list)

    @property
    def times(self) -> float:
        """How many times as long it takes at the largest size."""
        return self.costs[-1].seconds / self.costs[0].seconds

    @property
    def faults(self) -> Iterator[str]:
        first, last = self.costs[0], self.costs[-1]
        if self.name.removesuffix(WAITING) in OF_EVERY_RUN or self.name in OF_THE_QUEUE:
            if last.seconds > MOST_SECONDS:
                yield f"{self.name}: {last.seconds:.1f} s"
            return
        if last.work > GROWTH * first.work and last.work - first.work > LEAST_WORK:
            yield f"{self.name}: the work grows {last.work / max(1, first.work):.1f} times, to {last.work:,}"
        if self.times > GROWTH and last.seconds - first.seconds > LEAST_SECONDS:
            yield f"{self.name}: the time grows {self.times:.1f} times, to {1e3 * last.seconds:.0f} ms"

    def __str__(self) -> str:
        milliseconds = " | ".join(f"{1e3 * cost.seconds:.1f}" for cost in self.costs)
        work = " | ".join(f"{cost.work:,}" for cost in self.costs)
        return f"| {self.name} | {milliseconds} | {self.times:.2f} × | {work} |"


@contextmanager
def place(engine: str, size: int, systems: int, folder: Path, server: str | None) -> Iterator[Place]:
    """An installation with so many submissions of so many systems. server: the URL of PostgreSQL, where that is the
    engine.
    """
    url = f"sqlite:///{folder / f'{size}.sqlite'}"
    if engine == "postgresql":
        address = sa.make_url(str(server)).set(drivername="postgresql+psycopg")
        maker = sa.create_engine(address, isolation_level="AUTOCOMMIT")
        with maker.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE size_{size}")
        maker.dispose()
        url = address.set(drivername="postgresql", database=f"size_{size}").render_as_string(hide_password=False)
    config = Config(database_url=url, store_url=str(folder / f"store-{size}"), secret_key=SECRET, kept_bytes=0)
    with ExitStack() as stack:
        database = Database.connect(url)
        stack.callback(database.close)
        migrate.upgrade(database)
        bind(database, RunStore(config.store_url))
        make_campaign(database, Shape(systems, size, QUERIES, MEASURES), slug="large")
        _fill_trail(database)
        analyze(database)
        app = create_app(replace(config, secure_cookies=False))
        own: Database = app.extensions["database"]
        stack.callback(own.close)
        with database.write() as session:
            cookies = {"visitor": None, "member": _member(session), "organiser": _organiser(session)}
            addresses = _addresses(session)
        readers = {who: app.test_client() for who in cookies}
        for who, cookie in cookies.items():
            if cookie is not None:
                with readers[who].session_transaction() as kept:
                    kept["_user_id"] = cookie
        yield Place(size, config, own, readers, Work(own), addresses)


def _fill_trail(database: Database) -> None:
    """An event for each submission, as its receipt leaves one."""
    with database.write() as session:
        last, previous = session.execute(sa.select(Event.id, Event.hash).order_by(Event.id.desc()).limit(1)).one()
        events, at = [], present()
        for number, run in enumerate(session.scalars(sa.select(Submission.id).order_by(Submission.id)), last + 1):
            content = at, None, "submit", Submission.__tablename__, run, {}, {}, {}
            own = event_hash(previous, number, *content)
            named = dict(zip(CONTENT, content, strict=True))
            events.append({"id": number, **named, "previous_hash": previous, "hash": own})
            previous = own
        session.execute(sa.insert(Event), events)


def analyze(database: Database, how: str = "ANALYZE") -> None:
    """Statistics, as PostgreSQL gathers by itself some minutes later. how: FULL also gives back what is free."""
    if database.engine.dialect.name == "postgresql":
        with database.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            connection.exec_driver_sql(f"VACUUM {how}")


def _member(session: sa.orm.Session) -> str:
    user = people.create_user(session, CONSOLE, new_account("Member"))
    session.flush()
    team = session.scalars(sa.select(sa.func.max(System.team_id))).one()
    session.add(Membership(team_id=team, user_id=user.id, role=Role.OWNER, joined_at=present()))
    return people.start_session(session, user.id, present())


def _organiser(session: sa.orm.Session) -> str:
    user = people.create_user(session, CONSOLE, new_account("Organiser"))
    session.flush()
    campaigns.add_organiser(session, CONSOLE, session.scalars(sa.select(Campaign)).one(), user)
    return people.start_session(session, user.id, present())


def _addresses(session: sa.orm.Session) -> dict[str, str]:
    """Page -> who asks, and its address."""
    run = sa.select(Submission.id, Team.slug, System.slug).join(Submission.team).join(Submission.system)
    last, team, system = session.execute(run.order_by(Submission.id.desc()).limit(1)).one()
    of_member = Submission.team_id == sa.select(sa.func.max(System.team_id)).scalar_subquery()
    own = session.scalar(sa.select(sa.func.max(Submission.id)).where(of_member))
    return {name: text.format(run=last, own=own, team=team, system=system) for name, text in PAGES.items()}


def growth(places: Sequence[Place], actions: dict[str, Callable[[Place], object]], rounds: int) -> Iterator[Growth]:
    """What each action takes at each size, in turn over the sizes; once before, for what is made once in a process."""
    for name, action in actions.items():
        grown = Growth(name, [Cost() for _ in places])
        for number in range(rounds + 1):
            for cost, here in zip(grown.costs, places, strict=True):
                if number:
                    cost.take(here.work, partial(action, here))
                else:
                    action(here)
        yield grown


def page_actions(words: str = "") -> dict[str, Callable[[Place], object]]:
    """A view of each of PAGES; words: that its row adds."""
    return {f"{name}{words}": partial(_ask, name) for name in PAGES}


def _ask(name: str, here: Place) -> None:
    who, path = here.addresses[name].split(" ", 1)
    answer = here.readers[who].get(path)
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answered {answer.status}")


def queue_again(here: Place) -> float:
    """New judgments, which queue every run again; the seconds that they took."""
    started = time.perf_counter()
    text = "".join(f"q{n} 0 d{n}-{k} {k % 2}\n" for n in range(1, QUERIES + 1) for k in range(6))
    with here.database.write() as session:
        newest = session.scalars(sa.select(Evaluation).where(Evaluation.slug == "2020")).one()
        judgments.import_judgments(session, CONSOLE, newest, JudgmentFiles(read_judgments(io.BytesIO(text.encode()))))
    taken = time.perf_counter() - started
    analyze(here.database)
    return taken


def _claim(here: Place) -> None:
    with here.database.write() as session:
        if queue.claim(session, "trial", LEASE_SECONDS) is None:
            raise RuntimeError("nothing waits")


def _look(here: Place) -> None:
    """What a worker looks at beside the queue."""
    with here.database.write() as session:
        queue.sweep(session, LEASE_SECONDS)
        ready_sets(session)
    with here.database.read() as session:
        due(session, looked=here.looked)


def _submit(here: Place, upload: Received | None = None) -> None:
    upload = upload or Received("0" * 64, "0" * 32, "0" * 64, 10, 10, "new.txt")
    with here.database.write() as session:
        newest = session.scalars(sa.select(Evaluation.id).where(Evaluation.slug == "2020")).one()
        system = session.scalars(sa.select(System).order_by(System.id.desc()).limit(1)).one()
        submissions.submit(session, CONSOLE, newest, system.team_id, system=system.id, upload=upload)


ACTIONS: dict[str, Callable[[Place], object]] = {
    "a claim": _claim, "a worker's look": _look, "a new run is queued": _submit,
}  # fmt: skip


def scaling(
    engine: str, sizes: Sequence[int], folder: Path, rounds: int = ROUNDS, *, systems: int = SYSTEMS
) -> Iterator[Growth]:
    """What every action takes at every size."""
    with ExitStack() as stack:
        server = stack.enter_context(postgres_server()) if engine == "postgresql" else None
        places = [stack.enter_context(place(engine, size, systems, folder, server)) for size in sizes]
        gc.collect()
        gc.freeze()  # as `leaderboard serve` does
        stack.callback(gc.unfreeze)
        yield from growth(places, page_actions(), rounds)
        taken = {f"{here.size:,}": f"{queue_again(here):.1f} s" for here in places}
        print(f"  new judgments, which queue every run again: {taken}", flush=True)
        yield from growth(places, ACTIONS | page_actions(WAITING), rounds)


def weigh(engine: str, folder: Path, runs: int) -> None:
    """Prints what a submission adds to the database and to the store: runs that come in and are scored as always."""
    with ExitStack() as stack:
        server = stack.enter_context(postgres_server()) if engine == "postgresql" else None
        here = stack.enter_context(place(engine, FEW, FEW, folder, server))
        store = RunStore(here.config.store_url, here.config)
        sizes, received = [], 0
        for number in range(2 * runs):  # the first half brings what is there once
            if number in (0, runs):
                sizes.append((_tables(here.database), _files(store)))
            upload = store.receive(io.BytesIO(_run_text(number)), "run.txt")
            _submit(here, upload)
            received = upload.size
            drain_here(here.database, store, here.config)
        sizes.append((_tables(here.database), _files(store)))
        (tables, files), (later_tables, later_files) = sizes[1:]
        each = {name: (size - tables.get(name, 0)) / runs for name, size in later_tables.items()}
        stored = (later_files - files) / runs
        print(
            f"  a run of {QUERIES} queries with {DEPTH} lines each, {received:,} bytes, {MEASURES} measures: "
            f"{sum(each.values()):,.0f} bytes in the database, {stored:,.0f} in the store, "
            f"of which {stored - received:,.0f} are its ranked lists"
        )
        largest = sorted(each.items(), key=lambda item: -item[1])[:LISTED]
        print(f"  by table, with indexes: {', '.join(f'{name} {size:,.0f}' for name, size in largest)}", flush=True)


def _run_text(number: int) -> bytes:
    """Another run for each number, with scores and ids as those of passages are."""
    rng = np.random.default_rng(number)
    lines = []
    for query in range(1, QUERIES + 1):
        scores = np.sort(rng.normal(20, 5, DEPTH))[::-1]
        ids = rng.choice(8_800_000, DEPTH, replace=False)
        lines += [f"q{query} Q0 {ids[n]} {n + 1} {scores[n]:.6f} run-{number}" for n in range(DEPTH)]
    return "\n".join([*lines, ""]).encode()


def _tables(database: Database) -> dict[str, int]:
    """Bytes of each table with its indexes; of SQLite, which tells no more, of all together."""
    analyze(database, "FULL")
    with database.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            pages, free, size = (
                connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                for name in ("page_count", "freelist_count", "page_size")
            )
            return {"all": (pages - free) * size}
        names: Any = sa.bindparam("names", list(Base.metadata.tables), expanding=True)
        sizes = "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relname IN :names"
        return dict(connection.execute(sa.text(sizes).bindparams(names)).all())


def _files(store: RunStore) -> int:
    return sum(path.stat().st_size for path in Path(store.url).rglob("*") if path.is_file())


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.scaling", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="submissions, the fewest first")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of which the best counts ({ROUNDS})")
    parser.add_argument("--weighed", type=int, default=WEIGHED, help=f"runs whose bytes are counted ({WEIGHED})")
    parser.add_argument("--engine", choices=ENGINES, help="this one only")
    given = parser.parse_args(arguments)
    faults: list[str] = []
    for engine in [given.engine] if given.engine else ENGINES:
        sizes = " | ".join(f"{size:,}" for size in given.sizes)
        print(f"{engine}\n| submissions | {sizes}, ms | times | {sizes}, work |", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            for grown in scaling(engine, given.sizes, Path(folder), given.rounds):
                print(grown, flush=True)
                faults += grown.faults
        with tempfile.TemporaryDirectory() as folder:
            weigh(engine, Path(folder), given.weighed)
    tell(faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
