"""Boards are refreshed between jobs: one measure of one board a step, so that a run never waits long for it."""

import logging
import secrets
import time

import sqlalchemy as sa

from leaderboard.db import Database
from leaderboard.models import Event
from leaderboard.services.boards import Due, due, refresh

__all__ = ["BoardRefresh"]

FIRST = 4  # one of so many is taken, by chance: several workers then seldom work the same one out
LOOK_SECONDS = 30.0  # between looks at the boards when nothing has happened; see `_has_news`
BUSY_SECONDS = 30.0  # while runs wait, a board is refreshed this often at most
BUSY_SHARE = 0.2  # of the time that goes into boards while runs wait
BUSY_PAUSE_SECONDS = 1.0
SET_ASIDE_SECONDS = 600.0  # before one that raised is tried again
log = logging.getLogger("leaderboard.worker")


class BoardRefresh:
    """What one worker does for the boards. Scores stand already: nothing that goes wrong here touches them."""

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
        """The same when runs wait: only what was not refreshed lately, and only so much of the time."""
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
        """Whatever changes a board leaves an event. An event's id is handed out before it is committed, so that a lower
        one may come after a higher one: the boards are looked at now and then all the same."""
        return newest != self._event or time.monotonic() - self._looked > LOOK_SECONDS

    def _open(self, found: list[Due]) -> list[Due]:
        """Without those that raised a moment ago."""
        now = time.monotonic()
        return [one for one in found if self._set_aside.get(one, 0.0) <= now]

    def _refresh(self, wanted: Due) -> None:
        started = time.monotonic()
        try:
            kept = refresh(self._database, wanted)
        except sa.exc.OperationalError:
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
