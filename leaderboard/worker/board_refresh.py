"""Boards are refreshed between jobs: one measure of one board a step, so that a run never waits long for it."""

import logging
import secrets
import time

import sqlalchemy as sa

from leaderboard.db import Database
from leaderboard.errors import NoDatabase
from leaderboard.models import Event
from leaderboard.services.boards import Due, due, refresh

__all__ = ["BoardRefresh"]

FIRST = 4  # of what is due one of the first few is taken by chance: several workers then seldom take the same
LOOK_SECONDS = 30.0  # between two looks at the boards while no event is recorded; see `_has_news`
BUSY_SECONDS = 30.0  # while runs wait, a board is refreshed this often at most
BUSY_SHARE = 0.2  # the share of a worker's time that boards may take while runs wait
BUSY_PAUSE_SECONDS = 1.0
SET_ASIDE_SECONDS = 600.0  # before a measure of a board that raised an error is tried again
log = logging.getLogger("leaderboard.worker")


class BoardRefresh:
    """Refreshes boards for one worker. Scores are recorded before: what fails here leaves them as they are."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._event: int | None = None  # the newest one when nothing was due
        self._looked = 0.0
        self._paused_until = 0.0
        self._set_aside: dict[Due, float] = {}

    def step(self) -> bool:
        """Refreshes one measure of one board; False when none is due."""
        with self._database.read() as session:
            newest = session.scalar(sa.select(sa.func.max(Event.id)))
            if not self._has_news(newest):
                return False
            found = self._open(due(session))
        if not found:
            self._event, self._looked = newest, time.monotonic()
            return False
        self._refresh(secrets.choice(found[:FIRST]))
        return True

    def step_while_busy(self) -> None:
        """The same while runs wait: only a board not refreshed within BUSY_SECONDS, and only BUSY_SHARE of the time."""
        started = time.monotonic()
        if started < self._paused_until:
            return
        with self._database.read() as session:
            found = self._open(due(session, older_than=BUSY_SECONDS))
        if found:
            self._refresh(found[0])
        now = time.monotonic()
        self._paused_until = now + max(BUSY_PAUSE_SECONDS, (now - started) * (1 / BUSY_SHARE - 1))

    def _has_news(self, newest: int | None) -> bool:
        """Whether a board may have changed since the last look.

        Every change of a board records an event, and their numbers rise in the order of the commits. A measure that
        raised an error is tried again without one: the boards are looked at every LOOK_SECONDS as well.
        """
        return newest != self._event or time.monotonic() - self._looked > LOOK_SECONDS

    def _open(self, found: list[Due]) -> list[Due]:
        """Those of them that did not raise an error lately."""
        now = time.monotonic()
        return [one for one in found if self._set_aside.get(one, 0.0) <= now]

    def _refresh(self, wanted: Due) -> None:
        started = time.monotonic()
        try:
            kept = refresh(self._database, wanted)
        except NoDatabase:
            raise  # the database does not answer: that is for the loop to wait out
        except Exception:  # a board without intervals is better than a worker that stops
            self._set_aside[wanted] = started + SET_ASIDE_SECONDS
            log.exception("board of set %s: %s could not be refreshed", wanted.scoring_set_id, wanted.measure)
        else:
            if not kept:  # another worker was faster, or the database's clock was set back: not again at once
                self._set_aside[wanted] = started + LOOK_SECONDS
                return
            took = time.monotonic() - started
            log.info("board of set %s: %s refreshed in %.2f s", wanted.scoring_set_id, wanted.measure, took)
