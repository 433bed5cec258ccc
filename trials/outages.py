"""Processes that are stopped, clocks that are off, servers that restart and disks that fail: nothing may be lost.

    python -m trials.outages                       # all of them, on both engines
    python -m trials.outages --only clocks --engine postgresql

While something fails, a program sends runs by the API until each is acknowledged, and a visitor asks for pages, which
must be there or say in words that a part is away (503). Afterwards every acknowledged run must have been scored once,
with the right figures, without hands. The table of docs/trials.md says what is done to the installation.
"""

import argparse
import contextlib
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import sqlalchemy as sa

from leaderboard import migrate
from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as accounts
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import Scope
from leaderboard.audit.writes import present
from leaderboard.client import Client, NoServer, Refused
from leaderboard.db import Database
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import State
from leaderboard.submissions.writes.run_store import bind
from leaderboard.teams.models import Team
from leaderboard.teams.writes import NewSystem, create_system
from leaderboard.worker.models import Scoring
from tests.support.clients import BOUNDARY, Client as Browser
from tests.support.commands import run_here
from tests.support.outages import away
from tests.support.postgres import stoppable_server
from tests.support.processes import Process, children, free_port
from tests.support.shared import REPOSITORY
from tests.support.site import LEADERBOARD, START_SECONDS
from tests.support.stores import BUCKET, s3_service
from tests.support.waiting import wait_until
from tests.support.world import PASSWORD, World, build_world
from trials.faults import tell
from trials.installation import ENGINES
from trials.kill_storm import faults_of, run_text
from trials.proxy import proxy

LEASE_SECONDS = 2
LINES = 2_000
LONG_LINES = 400_000  # of a run that is being scored when its worker is stopped
BETWEEN_SENDS, BETWEEN_LOOKS = 0.2, 0.1
HELD_SECONDS = 20.0  # far longer than a lease of these trials
CALM_SECONDS = 400.0  # a job that waited for a store waits for 300 at most
PAGES = ("/", "/campaigns/small/2026", "/login")
HOUR = 3600
MOST_LINES = 5
DISK_BYTES = 64 * 2**20
OF_ROOT = {"full", "read-only"}
AWAY = "does not answer|is full|Postponed"  # what a worker says
FORM = "/campaigns/small/2026/submit"
INTERNAL = ("Traceback", "psycopg", "sqlalchemy", "Errno")


@dataclass
class Stand:
    """An installation whose processes a trial starts, what was sent to it, and what its pages answered.

    sending  the folder of the files that are sent
    """

    world: World
    sending: Path
    stack: ExitStack
    token: str
    urls: list[str] = field(default_factory=list)
    started: list[Process] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    shown: dict[int, str] = field(default_factory=dict)  # status -> a page that was answered with it

    def start(self, *arguments: str, **environment: str) -> Process:
        config = self.world.config
        own = {
            **os.environ,
            "PYTHONPATH": f"{REPOSITORY / 'trials' / 'injected'}{os.pathsep}{REPOSITORY}",
            "LEADERBOARD_DATABASE_URL": config.database_url,
            "LEADERBOARD_STORE_URL": config.store_url,
            "LEADERBOARD_SECRET_KEY": "a secret that only the trials know",
            "LEADERBOARD_SECURE_COOKIES": "no",
            "LEADERBOARD_LEASE_SECONDS": str(LEASE_SECONDS),
        }
        self.started.append(self.stack.enter_context(Process([*LEADERBOARD, *arguments], env={**own, **environment})))
        return self.started[-1]

    def serve(self, **environment: str) -> str:
        """A further host of the site; its address."""
        port = str(free_port())
        site = self.start("serve", "--port", port, "--workers", "1", **environment)
        self.urls.append(f"http://127.0.0.1:{port}")
        site.wait_for_url(f"{self.urls[-1]}/login", seconds=START_SECONDS)
        return self.urls[-1]

    def work(self, **environment: str) -> Process:
        """A further worker, as its own process."""
        worker = self.start("worker", **environment)
        worker.wait_for_output("waiting for work", seconds=START_SECONDS)
        return worker

    def send(self, lines: int = LINES) -> int:
        """Sends the next run until it is acknowledged, to one site after the other; its submission."""
        number = len(self.sent)
        file = self.sending / f"run-{number}.txt"
        file.write_text(run_text(number, lines))
        deadline = time.monotonic() + CALM_SECONDS
        while True:
            client = Client(self.urls[number % len(self.urls)], self.token, seconds=START_SECONDS)
            try:
                run = client.submit(
                    "small/2026", file, team="northern-lights", system="heron", key=f"run-{number}", confirm=True
                )
            except NoServer as error:
                self.answers[f"run refused: {str(error)[:60]}"] += 1
                if time.monotonic() > deadline:
                    raise
            except Refused as error:
                self.faults.append(f"run {number} was refused with {error.http_status}: {error}")
                if time.monotonic() > deadline:
                    raise
            else:
                self.sent.append(int(run["id"]))
                file.unlink()
                return self.sent[-1]

    @contextmanager
    def traffic(self) -> Iterator[None]:
        """Runs are sent and pages asked for while the block runs."""
        stop = threading.Event()

        def keep_sending() -> None:
            while not stop.wait(BETWEEN_SENDS):
                self.send()

        def keep_asking() -> None:
            while not stop.wait(BETWEEN_LOOKS):
                for page in PAGES:
                    self.look(self.urls[0], page)

        threads = [threading.Thread(target=each) for each in (keep_sending, keep_asking)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def look(self, url: str, page: str) -> int:
        """Asks for a page, see `judge`; its status, 0 without an answer."""
        try:
            with urllib.request.urlopen(f"{url}{page}", timeout=START_SECONDS) as answer:
                status, text = answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                status, text = error.code, error.read().decode()
        except OSError as error:
            self.faults.append(f"{page} was not answered: {error}")
            return 0
        self.judge(page, status, text)
        return int(status)

    def judge(self, page: str, status: int, text: str, wanted: int = 200) -> None:
        """Notes an answer. Anything but what is wanted, or a 503 in words without what is inside, is a fault."""
        self.answers[f"page {status}"] += 1
        self.shown[status] = text
        in_words = "try again in a minute" in text.lower() and not any(word in text for word in INTERNAL)
        if status != wanted and not (status == 503 and in_words):
            self.faults.append(f"{page} answered {status}: {text[-300:]}")

    def finish(self) -> float:
        """Waits until nothing is queued or being scored; the seconds that it took."""
        started = time.monotonic()
        wait_until(lambda: not self._waiting(), "every run is scored", CALM_SECONDS)
        return time.monotonic() - started

    def finishes(self, seconds: float) -> bool:
        """Whether that is so within these."""
        try:
            wait_until(lambda: not self._waiting(), "every run is scored", seconds)
        except AssertionError:
            return False
        return True

    def _waiting(self) -> int:
        return len(self.world.all(sa.select(Scoring.id).where(Scoring.state.in_([State.QUEUED, State.SCORING]))))

    def found(self, lines: int = LINES) -> list[str]:
        """What is wrong with what is there afterwards; prints what was answered meanwhile."""
        attempts = Counter(self.world.all(sa.select(Scoring.attempt)))
        print(f"    {len(self.sent)} runs acknowledged; attempts {dict(attempts)}; {dict(self.answers)}", flush=True)
        config = self.world.config
        own = {"LEADERBOARD_DATABASE_URL": config.database_url, "LEADERBOARD_STORE_URL": config.store_url}
        done = run_here(["verify"], own)
        verified = [f"verify ended with {done.status}: {done.out[-500:]}{done.err}"] if done.status else []
        said = [f"{' '.join(each.command[3:])} said: {line}" for each in self.started for line in fault_lines(each)]
        return [*self.faults, *said[:MOST_LINES], *verified, *faults_of(self.world, self.sent, lines)]


def fault_lines(process: Process) -> list[str]:
    """What it logged as an error of the program's own, and not as an outage."""
    return [line for line in process.output.splitlines() if "Traceback" in line]


@contextmanager
def stand(engine: str, url: str | None = None, folder: Path | None = None, bucket: str = "") -> Iterator[Stand]:
    """An installation without a process.

    url     of PostgreSQL, which is started without one
    folder  of its files
    bucket  the address of a service that keeps the runs
    """
    with ExitStack() as stack:
        folder = folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if engine == "sqlite":
            url = f"sqlite:///{folder / 'trial.sqlite'}"
        elif url is None:
            url = stack.enter_context(stoppable_server()).url
        database = stack.enter_context(contextlib.closing(Database.connect(url)))
        migrate.upgrade(database)
        world = build_world(database, folder)
        if bucket:
            os.environ |= {"AWS_ENDPOINT_URL": bucket, "AWS_ACCESS_KEY_ID": "trial", "AWS_SECRET_ACCESS_KEY": "trial"}
            url = f"s3://{BUCKET}/{secrets.token_hex(4)}"
            world = replace(world, store=RunStore(url), config=replace(world.config, store_url=url))
        world.change_evaluation(documents=2 * LONG_LINES)
        bind(database, world.store)
        with database.write() as session:
            create_system(session, world.ada, session.get_one(Team, world.team), NewSystem("Heron"))
            ada = session.scalars(sa.select(User).where(User.name == "Ada")).one()
            scopes = [Scope.READ, Scope.SUBMIT]
            token = accounts.make_token(session, CONSOLE, ada, "trial", scopes, days=None, now=present())
        processes = ExitStack()
        made = Stand(world, Path(stack.enter_context(tempfile.TemporaryDirectory())), processes, token)
        try:
            yield made
        finally:
            for process in made.started:
                process.kill()
            with contextlib.redirect_stdout(None):  # what each said
                processes.close()


def paused(engine: str, times: int) -> list[str]:
    """A worker is stopped while it scores, past its lease; another one takes the run; the first one goes on, and finds
    that its result is not taken. By turns with its scoring process, and alone, so that the result waits for it.
    """
    with stand(engine) as here:
        here.serve()
        first, chance = here.work(), random.Random(times)
        for turn in range(times):
            run = here.send(LONG_LINES)
            wait_until(lambda run=run: here.world.scoring(run).state is State.SCORING, "it is being scored")  # type: ignore[misc]  # mypy can't infer a lambda's default
            time.sleep(chance.uniform(0.0, 0.2))
            stopped = [first.pid, *(children(first.pid) if turn % 2 else [])]
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)
            if here.world.scoring(run).state is not State.SCORING:
                here.answers["stopped too late"] += 1
            second = here.work()
            started = time.monotonic()
            if here.finishes(HELD_SECONDS if engine == "sqlite" else CALM_SECONDS):
                here.answers[f"taken over within {time.monotonic() - started:.0f} s"] += 1
            else:
                here.answers["stopped in a transaction, which holds up SQLite's writers until it goes on"] += 1
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
            here.finish()
            second.terminate()
        lost = len([line for line in first.output.splitlines() if "lost" in line.lower()])
        here.answers["results that came too late"] = lost
        retried = here.world.all(sa.select(Scoring.id).where(Scoring.attempt > 1))
        if lost != len(retried):
            here.faults.append(f"{len(retried)} runs were taken over, and {lost} late results were refused")
        return here.found(LONG_LINES)


def clocks(engine: str, times: int) -> list[str]:
    """Three hosts of the site and two workers: one an hour ahead, one an hour behind, and a site that is right."""
    with stand(engine) as here:
        ahead, behind = here.serve(TRIAL_CLOCK=str(HOUR)), here.serve(TRIAL_CLOCK=str(-HOUR))
        right = here.serve()
        here.work(TRIAL_CLOCK=str(HOUR)), here.work(TRIAL_CLOCK=str(-HOUR))
        for _ in range(times):
            here.send()
        here.finish()
        for first, second in ((ahead, right), (right, behind), (ahead, behind), (behind, ahead)):
            with contextlib.closing(Browser(first)) as browser:
                browser.log_in("Ada", PASSWORD)
                cookies = browser.cookies
            with contextlib.closing(Browser(second)) as browser:
                browser.cookies = cookies
                if browser.ask("GET", "/account/")[0] != 200:
                    here.faults.append("a log-in on one host does not hold on another")
        for url in (ahead, behind, right):
            for run in here.sent[:3]:
                here.look(url, f"/submissions/{run}")
        received = here.world.all(sa.select(Submission.received_at).order_by(Submission.id))
        hours = Counter(round((at - present()).total_seconds() / HOUR) for at in received)
        here.answers |= Counter({f"received at {hour:+d} h": count for hour, count in hours.items()})
        lost = here.world.all(sa.select(Scoring.id).where(Scoring.lost_leases > 0))
        here.faults += [f"{len(lost)} leases were lost"] * bool(lost)
        return here.found()


def restarts(engine: str, times: int) -> list[str]:
    """PostgreSQL is stopped as `pg_ctl -m fast` and `-m immediate` do, by turns, and started again. SQLite's file is
    taken away and put back."""
    with ExitStack() as stack:
        server = stack.enter_context(stoppable_server(synchronous_commit="on")) if engine == "postgresql" else None
        here = stack.enter_context(stand(engine, server.url if server else None))
        here.serve()
        here.work(), here.work()
        with here.traffic():
            for turn in range(times):
                time.sleep(random.uniform(0.5, 2.0))
                if server is None:
                    with away(here.world):
                        time.sleep(0.5)
                else:
                    here.world.database.close()
                    server.stop("QUIT" if turn % 2 else "INT")
                    server.start()
        print(f"    nothing waits {here.finish():.1f} s after the last restart")
        return here.found()


def failing(engine: str, times: int) -> list[str]:
    """One in ten of all calls that open, make, rename or remove a file of the store fails."""
    with stand(engine) as here:
        ill = {"TRIAL_FOLDER": here.world.config.store_url, "TRIAL_SHARE": "0.1"}
        here.serve(**ill)
        here.work(**ill), here.work(**ill)
        illness = Path(f"{here.world.config.store_url}.ill")
        illness.touch()
        with here.traffic():
            wait_until(lambda: len(here.sent) >= times, f"{times} runs are acknowledged", CALM_SECONDS)
        illness.unlink()
        print(f"    nothing waits {here.finish():.1f} s after the last run")
        return here.found()


def bucket(engine: str, times: int) -> list[str]:
    """One in ten requests to a bucket gets a 503 or a connection that is cut, before or after the service has it."""
    with s3_service() as service, proxy(service) as between, stand(engine, bucket=between.url) as here:
        access = {"AWS_ENDPOINT_URL": between.url}
        here.serve(**access)
        here.work(**access), here.work(**access)
        between.share = 0.1
        with here.traffic():
            wait_until(lambda: len(here.sent) >= times, f"{times} runs are acknowledged", CALM_SECONDS)
        print(f"    nothing waits {here.finish():.1f} s after the last run")
        print(f"    {between.failed} of {sum(between.requests.values())} requests failed")
        between.share = 0.0
        return here.found()


def full(engine: str, times: int) -> list[str]:
    """The disk of the store, and of SQLite's database, has no byte left while runs are sent and scored."""
    return _on_a_disk(engine, times, _fill)


def read_only(engine: str, times: int) -> list[str]:
    """The same disk is mounted read-only."""
    return _on_a_disk(engine, times, _lock)


def _on_a_disk(engine: str, times: int, spoil: Callable[[Path], Callable[[], None]]) -> list[str]:
    """Spoils the disk while a run waits to be scored, sends another one by the form, and mends the disk once a worker
    has met it too.
    """
    with disk() as folder, stand(engine, folder=folder) as here:
        url = here.serve()
        with contextlib.closing(Browser(url)) as browser:
            browser.log_in("Ada", PASSWORD)
            worker = here.work()
            for _ in range(times):
                os.kill(worker.pid, signal.SIGSTOP)
                here.send()
                browser.connection.close()  # the site ends one that is silent; the next request opens another
                body = browser.first_bytes(FORM, run_text(-1, LINES).encode()) + f"\r\n--{BOUNDARY}--\r\n".encode()
                mend = spoil(folder)
                try:
                    head = {"Cookie": browser.cookie, "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
                    browser.connection.close()
                    browser.connection.request("POST", FORM, body, head)
                    answer = browser.connection.getresponse()
                    here.judge(FORM, answer.status, answer.read().decode(), wanted=503)
                    for page in PAGES:
                        here.look(url, page)
                    os.kill(worker.pid, signal.SIGCONT)
                    worker.wait_for_output(AWAY, seconds=START_SECONDS)
                finally:
                    mend()
                here.send()
                print(f"    nothing waits {here.finish():.1f} s after the disk was mended")
        return here.found()


@contextmanager
def disk() -> Iterator[Path]:
    """A small disk of its own, in memory. Only root may mount one."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def _fill(folder: Path) -> Callable[[], None]:
    filler = folder / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    return filler.unlink


def _lock(folder: Path) -> Callable[[], None]:
    remount = ["mount", "-o", "remount,{}", str(folder)]
    # Files that are open for writing keep a disk writable: a bind mount over itself is what all new calls see.
    subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True)
    subprocess.run([part.format("ro,bind") for part in remount], check=True)

    def mend() -> None:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)

    return mend


OUTAGES: dict[str, tuple[Callable[[str, int], list[str]], int]] = {
    "paused": (paused, 6), "clocks": (clocks, 12), "restarts": (restarts, 20), "failing": (failing, 40),
    "bucket": (bucket, 40), "full": (full, 2), "read-only": (read_only, 2),
}  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.outages", description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=OUTAGES, nargs="+", default=list(OUTAGES))
    parser.add_argument("--times", type=int, help="how often it fails, or how many runs are sent")
    parser.add_argument("--engine", choices=ENGINES, help="this one only")
    given = parser.parse_args(arguments)
    faults: list[str] = []
    for name in given.only:
        for engine in [given.engine] if given.engine else ENGINES:
            outage, times = OUTAGES[name]
            if name in OF_ROOT and os.geteuid() != 0:
                print(f"{name} is left out: only root may mount a disk", file=sys.stderr)
                continue
            print(f"{name}, {engine}: {' '.join(str(outage.__doc__).split())}", flush=True)
            found = outage(engine, given.times or times)
            tell(found)
            faults += found
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
