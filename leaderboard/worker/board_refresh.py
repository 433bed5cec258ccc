"""Boards are refreshed when the queue pauses: one measure of one board a step, so that a run never waits long for it.

Under a stream of runs without a pause they are refreshed every so often. A board's runs change with each result, so
what is computed between two of them is soon computed again.
"""

import logging
import time

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.audit.models import Event
from leaderboard.boards.writes import Due, due, refresh
from leaderboard.db import Database, clock
from leaderboard.errors import NoDatabase
from leaderboard.submissions.rules import State
from leaderboard.worker.models import Scoring

LOOK_SECONDS = 30.0  # between two looks at the boards while no event is recorded
BUSY_SECONDS = 120.0
BUSY_SHARE = 0.2  # the share of a worker's time that boards may take while runs wait
BUSY_PAUSE_SECONDS = 1.0
SET_ASIDE_SECONDS = 600.0  # before a measure of a board that raised an error is tried again
HELD_SECONDS = 1.0  # before a measure of a board that another worker was at is tried again
log = logging.getLogger("leaderboard.worker.loop")


class BoardRefresh:
    """Refreshes boards for one worker. Scores are recorded before: what fails here leaves them as they are.

    quiet_seconds  without a new event before the queue is taken to pause: a sender may wait for each of many runs
    busy_seconds   without a pause after which a board is refreshed all the same, and then this often at most
    """

    def __init__(self, database: Database, *, quiet_seconds: float = 0.0, busy_seconds: float = BUSY_SECONDS) -> None:
        self._database = database
        self._quiet_seconds = quiet_seconds
        self._busy_seconds = busy_seconds
        self._newest: int | None = None  # event seen, and when it was first seen
        self._newest_at = 0.0
        self._event: int | None = None  # the newest one when nothing was due
        self._look_at = 0.0  # when to look at the boards again, event or not
        self._paused_until = 0.0
        self._rested = time.monotonic()  # when the queue last paused
        self._set_aside: dict[Due, float] = {}

    def step(self) -> bool:
        """Refreshes one measure of one board; False when none is due, and as long as the queue does not pause."""
        with self._database.read() as session:
            newest, now = session.scalar(sa.select(sa.func.max(Event.id))), time.monotonic()
            # Every change of a board records an event, and their numbers rise in the order of the commits. A measure
            # that was set aside is tried again without one: boards are looked at then, and every LOOK_SECONDS as well.
            if newest == self._event and now < self._look_at:
                self._rested = now
                return False
            if newest != self._newest:
                self._newest, self._newest_at = newest, now
            is_pause = now - self._newest_at >= self._quiet_seconds and not _is_scoring(session)
            wanted = due(session) if is_pause else []
        if not is_pause:
            self.step_while_busy()
            return False
        self._rested = time.monotonic()
        if not (due_boards := self._open(wanted)):
            self._database.gather_statistics()  # what is on boards was written just now, perhaps for the first time
            self._event = newest
            self._look_at = min([now + LOOK_SECONDS, *(self._set_aside[board] for board in wanted)])
            return False
        self._refresh(due_boards[0])
        return True

    def step_while_busy(self) -> None:
        """The same while runs wait: only when they have waited without a pause for `busy_seconds`, only boards that
        were not refreshed in that time, and only BUSY_SHARE of the time."""
        started = time.monotonic()
        if started < max(self._paused_until, self._rested + self._busy_seconds):
            return
        with self._database.read() as session:
            due_boards = self._open(due(session, older_than=self._busy_seconds))
        if due_boards:
            self._refresh(due_boards[0])
        else:
            self._rested = started  # the next round comes as long after this one
        now = time.monotonic()
        self._paused_until = now + max(BUSY_PAUSE_SECONDS, (now - started) * (1 / BUSY_SHARE - 1))

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
            if not refreshed:  # another worker is at it; where that lasts, the database's clock was perhaps set back
                self._set_aside[wanted] = started + (LOOK_SECONDS if wanted in self._set_aside else HELD_SECONDS)
                return
            self._set_aside.pop(wanted, None)
            took = time.monotonic() - started
            log.info("board of set %s: %s refreshed in %.2f s", wanted.scoring_set_id, wanted.measure, took)


def _is_scoring(session: Session) -> bool:
    """Whether some worker has a run in its hands: its result changes a board."""
    held = sa.select(Scoring.id).where(Scoring.state == State.SCORING, Scoring.lease_until >= clock()).limit(1)
    return session.scalar(held) is not None
