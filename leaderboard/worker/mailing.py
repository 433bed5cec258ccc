"""A worker sends mails between two runs: a few at a time, so that no run waits long for a mail server."""

import logging
import time

from leaderboard.audit.writes import present
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.errors import NoDatabase, Unavailable
from leaderboard.mail.writes import outbox
from leaderboard.mail.writes.deadlines import remind
from leaderboard.mail.writes.sending import send_waiting

AT_ONCE = 10
BUSY_SECONDS = 10.0  # between two looks while runs wait
AWAY_SECONDS = 60.0  # before a server that does not answer is asked again
LOOK_AHEAD_SECONDS = 600.0  # between two looks at what closes soon
log = logging.getLogger("leaderboard.worker.run")


class Mailing:
    """Raises BadInput when the settings of the mail server can't be read."""

    def __init__(self, database: Database, config: Config) -> None:
        self._database = database
        self._server = config.mail_server
        self._site = config.site_url
        self._days = config.deadline_days
        self._looked = self._looked_ahead = self._away_since = -float("inf")

    def step(self, *, busy: bool = False) -> bool:
        """Sends some of what waits; False when there was nothing to send. busy: runs wait, and come first."""
        now = time.monotonic()
        if now - self._looked_ahead > LOOK_AHEAD_SECONDS:
            self._looked_ahead = now
            with self._database.write() as session:
                outbox.sweep(session)
                remind(session, self._days, present())
        if (
            self._server is None
            or now - self._away_since < AWAY_SECONDS
            or (busy and now - self._looked < BUSY_SECONDS)
        ):
            return False
        self._looked = now
        try:
            sent = send_waiting(self._database, self._server, self._site, AT_ONCE)
        except NoDatabase:
            raise
        except Unavailable as error:
            log.warning("mails wait: %s", error.message)
            self._away_since = time.monotonic()
            return False
        if sent:
            log.info("sent %s mails", sent)
        return sent > 0
