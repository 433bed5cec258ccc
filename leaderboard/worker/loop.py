"""The worker, which scores the runs that wait: it claims one, has it scored and records the figures, again and again.

Between two runs it refreshes boards and sends a few mails, so that no run waits long for either. Any number of workers
may work on one database.

Boards are refreshed when the queue pauses: one measure of one board a step, so that a run never waits long for it.
Under a stream of runs without a pause they are refreshed every so often. A board's runs change with each result, so
what is computed between two of them is soon computed again.
"""

import contextlib
import logging
import math
import os
import secrets
import signal
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Collection
from functools import partial
from typing import Any

import sqlalchemy as sa

from leaderboard.audit.models import Event
from leaderboard.audit.writes import present
from leaderboard.boards.writes import Due, due, refresh
from leaderboard.config import Config
from leaderboard.db import STALLED, Database, Listener, answering, clock, exists, locked
from leaderboard.errors import LeaderboardError, NoDatabase, NoStore, Unavailable
from leaderboard.evaluations.models import Evaluation
from leaderboard.mail import writes as outbox
from leaderboard.operating import logs
from leaderboard.operating.writes import beat, forget
from leaderboard.results.writes import due_team_finds, keep_team_finds
from leaderboard.store import RunStore
from leaderboard.submissions.models import Installation, Submission
from leaderboard.submissions.rules import SetState, State
from leaderboard.submissions.writes.run_store import bind
from leaderboard.worker import messages, queue
from leaderboard.worker.child_process import ChildProcess
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.writes import make_set, of_older_version, ready_sets, switch

log = logging.getLogger("leaderboard.worker.loop")


def renew_sets(database: Database) -> None:
    """Has everything scored again after an upgrade that changes figures. A worker calls it as it starts.

    Boards show the old figures until the new set has them all. An evaluation whose measures can't be computed any more
    keeps its old set, and the log says why.
    """
    with database.read() as session:
        evaluations = of_older_version(session)
    for evaluation_id in evaluations:
        try:
            with database.write() as session:
                make_set(session, queue.WORKER, locked(session, Evaluation, evaluation_id))
        except LeaderboardError as error:
            log.warning("evaluation %s can't be scored by this version: %s", evaluation_id, error)


def takes_sweep(database: Database) -> bool:
    """Whether this worker sweeps now: one of an installation does, every HOUSEKEEPING_SECONDS."""
    # A moment ahead of the clock is one that a wrong clock gave.
    was_just_now = sa.func.coalesce(Installation.swept_at.between(clock(-HOUSEKEEPING_SECONDS), clock()), sa.false())
    take = sa.update(Installation).where(~was_just_now).values(swept_at=clock()).returning(Installation.id)
    with database.write() as session:
        return session.scalar(take, execution_options={"synchronize_session": False}) is not None


def remove_orphans(database: Database, store: RunStore) -> None:
    """Removes run files that no submission names, two days after they came."""

    def named(files: Collection[str]) -> set[str]:
        with database.read() as session:
            return set(session.scalars(sa.select(Submission.sha256).where(Submission.sha256.in_(files))))

    if count := store.sweep(named):
        log.warning("run files that no submission names, set aside or removed after a day there: %s", count)


MAILS_AT_ONCE = 10
MAIL_BUSY_SECONDS = 10.0  # between two looks while runs wait
AWAY_SECONDS = 60.0  # before a server that does not answer is asked again
LOOK_AHEAD_SECONDS = 600.0  # between two looks at what closes soon


class _Pause:
    """Keeps what is done again and again from being done too often."""

    def __init__(self) -> None:
        self.until = 0.0

    def is_over(self, seconds: float = 0.0) -> bool:
        """Whether it is; the next one begins then, and lasts for `seconds`."""
        if time.monotonic() < self.until:
            return False
        self.begin(seconds)
        return True

    def begin(self, seconds: float) -> None:
        self.until = time.monotonic() + seconds


BOARDS_SECONDS = 30.0  # between two looks at the boards while no event is recorded
BUSY_SECONDS = 120.0  # without a pause, after which a board is refreshed all the same, and then this often at most
BUSY_SHARE = 0.2  # the share of a worker's time that boards may take while runs wait
BUSY_PAUSE_SECONDS = 1.0
SET_ASIDE_SECONDS = 600.0  # before a measure of a board that raised an error is tried again
HELD_SECONDS = 1.0  # before a measure of a board that another worker was at is tried again
IS_SCORING = Scoring.state == State.SCORING, Scoring.lease_until >= clock()  # its result will change a board


class BoardRefresh:
    """Refreshes boards for one worker. Scores are recorded before: what fails here leaves them as they are.

    quiet_seconds  without a new event before the queue is taken to pause: a sender may wait for each of many runs
    newest         the newest event that it has seen
    wakes_at       when to look at the boards again though no event is recorded
    """

    def __init__(self, database: Database, *, quiet_seconds: float = 0.0) -> None:
        self._database = database
        self._quiet_seconds = quiet_seconds
        self.newest: int | None = None
        self.wakes_at = math.inf
        self._quiet = _Pause()
        self._event: int | None = None  # the newest one when nothing was due
        self._due: tuple[int | None, list[Due]] = None, []  # as found after that event, without what was tried since
        self._looked: dict[int, Any] = {}
        self._look_at = 0.0  # when to look at the boards again, event or not
        self._busy = _Pause()
        self._rested = time.monotonic()  # when the queue last paused
        self._set_aside: dict[Due, float] = {}

    def step(self) -> bool:
        """Refreshes one measure of one board; False when none is due, and as long as the queue does not pause."""
        with self._database.read() as session:
            newest, now = session.scalar(sa.select(sa.func.max(Event.id))), time.monotonic()
            # Every change of a board records an event, and their numbers rise in the order of the commits. A measure
            # that was set aside is tried again without one: boards are looked at then, and every BOARDS_SECONDS.
            if newest == self._event and now < self._look_at:
                self._rested = now
                return False
            if newest != self.newest:
                self.newest = newest
                self._quiet.begin(self._quiet_seconds)
            is_pause = self._quiet.is_over() and not exists(session, *IS_SCORING)
            if is_pause and (not self._due[1] or newest != self._due[0]):
                self._due = newest, due(session, looked=self._looked)
            wanted = self._due[1] if is_pause else []
        if not is_pause:
            self.step_while_busy()
            # Whoever scores records an event when it is done.
            self.wakes_at = self._quiet.until if now < self._quiet.until else math.inf
            return False
        self._rested = time.monotonic()
        if not (due_boards := self._open(wanted)):
            self._database.gather_statistics()  # what is on boards was written just now, perhaps for the first time
            self._event = newest
            self.wakes_at = min((self._set_aside[board] for board in wanted), default=math.inf)
            self._look_at = min(now + BOARDS_SECONDS, self.wakes_at)
            return False
        wanted.remove(due_boards[0])
        self._refresh(due_boards[0])
        return True

    def step_while_busy(self) -> None:
        """The same while runs wait: only when they have waited without a pause for BUSY_SECONDS, only boards that
        were not refreshed in that time, and only BUSY_SHARE of the time."""
        started = time.monotonic()
        if started < self._rested + BUSY_SECONDS or not self._busy.is_over():
            return
        with self._database.read() as session:
            due_boards = self._open(due(session, BUSY_SECONDS, self._looked))
        if due_boards:
            self._refresh(due_boards[0])
        else:
            self._rested = started  # the next round comes as long after this one
        self._busy.begin(max(BUSY_PAUSE_SECONDS, (time.monotonic() - started) * (1 / BUSY_SHARE - 1)))

    def _open(self, boards: list[Due]) -> list[Due]:
        """Those of them that did not raise an error lately."""
        now = time.monotonic()
        return [board for board in boards if self._set_aside.get(board, 0.0) <= now]

    def _refresh(self, wanted: Due) -> None:
        started = time.monotonic()
        try:
            refreshed = refresh(self._database, wanted)
        except NoDatabase:
            raise  # the database does not answer: that is for the loop to wait out
        except Exception:  # a board without intervals is better than a worker that stops
            self._set_aside[wanted] = started + SET_ASIDE_SECONDS
            log.exception("board of set %s: %s could not be refreshed", wanted.scoring_set_id, wanted.measure)
        else:
            if not refreshed:  # another worker is at it
                self._set_aside[wanted] = started + HELD_SECONDS
                return
            took = time.monotonic() - started
            log.info("board of set %s: %s refreshed in %.2f s", wanted.scoring_set_id, wanted.measure, took)


BEATS = 3  # a lease is renewed this often while it lasts
PATIENCE = 3  # times what a job may compute is how long it may take
RECORD_SECONDS = 2.0  # between two tries to record a result while the database does not answer
LOOK_SECONDS = 0.2  # between two looks at whether to stop, while a run is being scored
SWITCH_LOOK_SECONDS = 1.0  # between two looks for sets to make current while runs wait
SWITCH_AGAIN_SECONDS = 60.0  # between two tries to make a set current, after one that failed
AGAIN_SECONDS = 3600.0  # between two tries to make ranked lists again or to leave teams out, after one that failed
GRACE_SECONDS = 5.0  # what a job may take to finish after a stop; service managers wait ten or more
JOBS_OF_CHILD = 500  # then the scoring process is replaced: memory that a library keeps goes with it


class Worker:
    """One worker and its scoring process. `name` is in every claim: host, process id and a random number.

    quiet_seconds  without a new event before boards are refreshed

    Raises BadInput when the settings of the mail server can't be read.
    """

    def __init__(self, database: Database, store: RunStore, config: Config, *, quiet_seconds: float = 0.0) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._database = database
        self._store = store
        self._config = config
        self._boards = BoardRefresh(database, quiet_seconds=quiet_seconds)
        self._mail_server = config.mail_server
        self._child: ChildProcess | None = None
        self._jobs = 0
        self._listener = Listener(database)
        self.drains = False
        self._beats, self._switches = _Pause(), _Pause()
        self._failed_switches = defaultdict[int, _Pause](_Pause)  # by the set that could not be made current
        self._failed_copies = defaultdict[tuple[int, int], _Pause](_Pause)  # by the copy that could not be made
        self._failed_teams = defaultdict[int, _Pause](_Pause)  # by the set whose teams could not be left out
        self._team_looks = _Pause()
        self._busy_mails, self._look_ahead, self._mail_server_away = _Pause(), _Pause(), _Pause()

    def step(self, stop: threading.Event) -> bool:
        """Scores the next run, or refreshes a board when none waits; False when there was nothing to do.

        A stop that comes while a run is being scored finishes it or hands it back.
        """
        logs.begin()
        if self._beats.is_over(self._config.lease_seconds / BEATS):
            self._beat()
        if self.drains:
            return False
        child = self._ready_child()  # before the claim: a lease does not run while it starts
        with self._database.write() as session:
            claim = queue.claim(session, self.name, self._config.lease_seconds)
        if claim is None:
            idle = self._switch_ready_sets, self._send_mails, self._boards.step
            of_child = self._copy_again, self._leave_teams_out
            return any(step() for step in idle) or any(step(child, stop) for step in of_child)
        logs.begin(submission=claim.submission_id)
        log.info("scoring, attempt %s", claim.attempt)
        reply = self._await(child, messages.Job(claim.submission_id, claim.scoring_set_id), stop, claim)
        if reply is not None:
            self._record(claim, reply, stop)
            logs.begin()
            self._switch_ready_sets(busy=True)
            if not stop.is_set():
                self._send_mails(busy=True)
                self._boards.step_while_busy()
        return True

    def wait(self, stop: threading.Event) -> None:
        """Waits until there may be something to do, or a stop. Where the database tells of what is queued, this takes
        no statement but the heartbeat; else one a second.
        """
        began = time.monotonic()
        while not stop.is_set() and not self.drains:
            notices = self._listener.notices(POLL_SECONDS)
            if notices is None:
                stop.wait(POLL_SECONDS)
                with answering(), self._database.glance.connect() as connection:
                    comes = connection.scalar(sa.select(self._has_work()))
            else:
                comes = notices
                if notices and Scoring.__tablename__ not in notices:  # of events there may be many
                    stop.wait(began + POLL_SECONDS - time.monotonic())
            is_beat = self._beats.is_over(self._config.lease_seconds / BEATS)
            if (is_beat and self._beat()) or comes or self._boards.wakes_at <= time.monotonic():
                return

    def _has_work(self) -> sa.ColumnElement[bool]:
        return queue.has_work(self._config.lease_seconds, self._boards.newest, sends=self._mail_server is not None)

    def _beat(self) -> bool:
        """Tells that it is alive, and puts jobs whose lease has run out back into the queue; whether to look for work.

        Sees whether it was asked to end.
        """
        with answering(), self._database.glance.begin() as connection:
            looks, self.drains = beat(connection, self.name, self._has_work())
        if looks:
            with self._database.write() as session:
                swept = queue.sweep(session, self._config.lease_seconds)
            if swept:
                log.warning("%s jobs had lost their workers and wait again", swept)
        return looks

    def _send_mails(self, *, busy: bool = False) -> bool:
        """Sends some of what waits; False when there was nothing to send. busy: runs wait, and come first."""
        if self._look_ahead.is_over(LOOK_AHEAD_SECONDS):
            with self._database.write() as session:
                outbox.sweep(session)
                outbox.remind(session, self._config.deadline_days, present())
        is_early = busy and not self._busy_mails.is_over(MAIL_BUSY_SECONDS)
        if is_early or self._mail_server is None or not self._mail_server_away.is_over():
            return False
        try:
            sent = outbox.send_waiting(self._database, self._mail_server, self._config.site_url, MAILS_AT_ONCE)
        except NoDatabase:
            raise
        except Unavailable as error:
            log.warning("mails wait: %s", error.message)
            self._mail_server_away.begin(AWAY_SECONDS)
            return False
        if sent:
            log.info("sent %s mails", sent)
        return sent > 0

    def close(self) -> None:
        self._listener.close()
        self._end_child()

    def _end_child(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None

    def _ready_child(self) -> ChildProcess:
        if self._child is not None and (self._jobs >= JOBS_OF_CHILD or not self._child.is_alive):
            self._end_child()
        if self._child is None:
            url = self._database.engine.url.render_as_string(hide_password=False)
            store, most = self._store, self._config
            self._child = ChildProcess(messages.Settings(url, store.url, most.text_bytes, most.job_bytes, store.bound))
            self._jobs = 0
        self._jobs += 1
        return self._child

    def _await(
        self,
        child: ChildProcess,
        job: messages.Job | messages.LeaveTeamsOut,
        stop: threading.Event,
        claim: queue.Claim | None = None,
    ) -> messages.Reply | None:
        """Waits for the reply, and renews the lease of the claim meanwhile. None when the job was lost, or given back
        on a stop."""
        child.ask(job)
        started = renewed = time.monotonic()
        stopped: float | None = None
        while True:
            reply, now = child.reply(LOOK_SECONDS), time.monotonic()
            reply = reply or self._too_long(child, now - started)
            if reply is not None:
                if isinstance(reply, (messages.Failed, messages.Exceeded)):
                    self._end_child()  # its state is unknown after an error
                return reply
            if claim is not None and now - renewed > self._config.lease_seconds / BEATS:
                try:
                    with self._database.write() as session:
                        holds = queue.renew(session, claim, self._config.lease_seconds)
                    self._beat()
                except NoDatabase as error:  # while it does not answer nobody else can take the job
                    log.warning("the database does not answer: %s", error.reason, extra=logs.kind_of(error))
                else:
                    if not holds:
                        log.warning("lost the lease")
                        self._end_child()
                        return None
                    renewed = now
            if stop.is_set() and now - (stopped := stopped or now) > GRACE_SECONDS:
                self._end_child()
                if claim is not None:
                    with self._database.write() as session:
                        queue.release(session, claim)
                    log.info("handed back")
                return None

    def _copy_again(self, child: ChildProcess, stop: threading.Event) -> bool:
        """Makes the ranked lists again of one run whose copy was found damaged; False when there is none.

        Any number of workers may do the same at once: they write the same.
        """
        try:
            damaged = self._store.damaged_copies()
        except NoStore as error:
            log.debug("damaged copies wait for the store: %s", error.reason)
            return False  # boards need no store, and a run that needs it says that it is away
        for submission_id, compat in damaged:
            if not self._failed_copies[submission_id, compat].is_over():
                continue
            logs.begin(submission=submission_id)
            with self._database.read() as session:
                is_shown = Scoring.state == State.SCORED, ScoringSet.state == SetState.CURRENT
                own = sa.select(Scoring.scoring_set_id).join(ScoringSet).where(*is_shown)
                set_id = session.scalar(own.where(Scoring.submission_id == submission_id))
            job = set_id and messages.Job(submission_id, set_id, True)
            reply = self._await(child, job, stop) if job else messages.Copied()
            if reply is None:
                return False
            if isinstance(reply, messages.Postponed):
                continue  # another one may be possible
            self._store.copy_is_done(submission_id, compat)
            if isinstance(reply, messages.Copied):
                log.info("its ranked lists were damaged and are made again")
            else:
                self._failed_copies[submission_id, compat].begin(AGAIN_SECONDS)
                log.error("its damaged ranked lists can't be made again: %s", reply)
            return True
        return False

    def _leave_teams_out(self, child: ChildProcess, stop: threading.Event) -> bool:
        """Leaves the teams of a closed evaluation out one by one; False when none is due."""
        if not self._team_looks.is_over():
            return False
        with self._database.read() as session:
            jobs = (job for job in due_team_finds(session) if self._failed_teams[job.scoring_set_id].is_over())
            job = next(jobs, None)
        if job is None:
            self._team_looks.begin(BOARDS_SECONDS)
            return False
        reply = self._await(child, job, stop)
        if isinstance(reply, messages.TeamFinds):
            with self._database.write() as session:
                keep_team_finds(session, job, reply.finds)
        elif reply is not None:
            log.error("set %s: its teams can't be left out one by one: %s", job.scoring_set_id, reply)
            self._failed_teams[job.scoring_set_id].begin(AGAIN_SECONDS)
        return reply is not None

    def _too_long(self, child: ChildProcess, seconds: float) -> messages.Exceeded | messages.Failed | None:
        """What becomes of a job that takes too long; None while it does not.

        What it computes is the file's doing. What it waits for is not: the store, or a machine with too much to do.
        """
        most = self._config.job_seconds
        if child.stage.is_about_the_file and child.computed_seconds > most:
            return messages.Exceeded(f"this file takes longer to score than the {most} s of computing allowed here")
        if seconds > PATIENCE * most:
            return messages.Failed(f"scoring took longer than {PATIENCE * most} s, the most that one run may take here")
        return None

    def _record(self, claim: queue.Claim, reply: messages.Reply, stop: threading.Event) -> None:
        """Keeps what was computed until the database answers again, or until a stop.

        Whatever recording raises parks the job, so that no result can end the worker, and every one after it. Raises
        only where the database does not answer, which is not the job's doing.
        """
        while True:
            try:
                with self._database.write() as session:
                    outcome = queue.settle(session, claim, reply)
            except NoDatabase as error:
                log.warning("its result is not recorded yet: %s", error.reason, extra=logs.kind_of(error))
                if stop.wait(RECORD_SECONDS):
                    raise
            except Exception as error:
                log.exception("its result could not be recorded")
                if isinstance(reply, messages.Unreadable):
                    raise
                reply = messages.Unreadable(f"its result could not be recorded ({type(error).__name__})")
            else:
                if isinstance(reply, messages.Unreadable):
                    log.error("%s", reply.reason)
                log.info("%s, %s", type(reply).__name__, outcome)
                return

    def _switch_ready_sets(self, *, busy: bool = False) -> bool:
        """Makes building sets current in which nothing waits any more; whether there was one.

        busy: runs wait; then it looks every SWITCH_LOOK_SECONDS only.

        In transactions after the one that records: of two workers with the last two runs, the later one sees both.
        One for each set: whatever a switch raises leaves that set and its boards as they are for SWITCH_AGAIN_SECONDS,
        and harms neither the others nor the worker. Raises only where the database does not answer.
        """
        if busy and not self._switches.is_over(SWITCH_LOOK_SECONDS):
            return False
        with self._database.read() as session:
            ready = [made.id for made in ready_sets(session) if self._failed_switches[made.id].is_over()]
        for set_id in ready:
            try:
                with self._database.write() as session:
                    for scoring_set in ready_sets(session, ScoringSet.id == set_id):
                        switch(session, queue.WORKER, scoring_set)
            except NoDatabase:
                raise
            except Exception:
                log.exception("scoring set %s could not be made the current one", set_id)
                self._failed_switches[set_id].begin(SWITCH_AGAIN_SECONDS)
        return bool(ready)


POLL_SECONDS = 1.0  # between two looks at an empty queue
QUIET_SECONDS = 2.0  # before boards are refreshed: whoever waits for each run before sending the next is quicker
PATIENCE_SECONDS = 5.0  # before a database or a store that does not answer is asked again
LEAST_BOUND = 10.0  # seconds that a transaction may do nothing
MOST_REFUSALS = 5  # of the scoring process, one after the other, before the worker gives up
HOUSEKEEPING_SECONDS = 3600.0


def run(config: Config, stop: threading.Event | None = None, once: bool = False) -> None:
    """Works until `stop` is set (without one: until SIGTERM or SIGINT), or, with `once`, until nothing waits."""
    bounds = dict.fromkeys(STALLED, max(LEAST_BOUND, config.lease_seconds))  # its locks go when its job does
    database = Database.connect(config.database_url, must_exist=True, program="leaderboard worker", bounds=bounds)
    store = RunStore(config.store_url, config, must_exist=True)
    worker = Worker(database, store, config, quiet_seconds=0.0 if once else QUIET_SECONDS)
    with contextlib.closing(database), contextlib.closing(worker), contextlib.ExitStack() as handlers:
        bind(database, store)
        if stop is None:
            stop = threading.Event()
            for number in (signal.SIGTERM, signal.SIGINT):
                handlers.callback(signal.signal, number, signal.signal(number, partial(_stop, stop)))
        log.info("worker %s is waiting for work", worker.name)
        house, refusals, renewed, away = _Pause(), 0, False, ""
        while not stop.is_set() and not worker.drains:
            try:
                if not renewed:
                    renew_sets(database)
                    renewed = True
                more = worker.step(stop)
                refusals, away = 0, _is_back(away)
                if more:
                    continue
                if once:
                    break
                if house.is_over(HOUSEKEEPING_SECONDS) and takes_sweep(database):
                    remove_orphans(database, store)
                    with database.write() as session:
                        forget(session)
                worker.wait(stop)
            except Unavailable as error:
                refusals += not isinstance(error, (NoDatabase, NoStore))  # which are waited for without end
                if once or refusals == MOST_REFUSALS:
                    raise
                away = error.in_full
                log.warning("%s", away, extra=logs.kind_of(error))  # written once a minute
                stop.wait(PATIENCE_SECONDS)
        with contextlib.suppress(NoDatabase), database.write() as session:
            forget(session, worker.name)
        log.info("worker %s stopped", worker.name)


def _is_back(away: str) -> str:
    """Logs the end of an outage, if there was one; no outage any more."""
    if away:
        log.info("goes on, after: %s", away)
    return ""


def _stop(stop: threading.Event, number: int, _: object) -> None:
    log.info("stopping on %s", signal.Signals(number).name)
    stop.set()
