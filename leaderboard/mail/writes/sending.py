"""Sends what waits, one mail after the other. No transaction is open while the mail server answers."""

from leaderboard.audit.writes import present
from leaderboard.config import MailServer
from leaderboard.db import Database
from leaderboard.errors import BadInput, NoDatabase, Unavailable
from leaderboard.mail.smtp import Letter, Sending, connected
from leaderboard.mail.writes import outbox
from leaderboard.mail.writes.letters import written

POINTLESS = "there is nobody to send it to, or no news in it any more"


def send_waiting(database: Database, server: MailServer, site: str, most: int = 1000) -> int:
    """Sends up to `most` of the mails that wait; gives how many were sent.

    A mail whose sender is killed between the server's yes and the note of it is sent twice, with one Message-ID.

    Raises Unavailable when the server can't be reached: the mail that was tried waits longer each time, all others
    as they did.
    """
    sent = 0
    mail_id = _claim(database)
    if mail_id is None:
        return 0
    try:
        with connected(server) as sending:
            for left in range(most - 1, -1, -1):
                sent += _send(database, sending, mail_id, site)
                claimed = _claim(database) if left else None
                if claimed is None:
                    break
                mail_id = claimed
    except NoDatabase:
        raise
    except Unavailable as error:
        with database.write() as session:
            outbox.note_failure(session, mail_id, error.message)
        raise
    return sent


def to_show(database: Database, mail_id: int, site: str) -> Letter | None:
    """The mail as it would be sent now, for an operator to hand on; a link in it works. None when it is pointless."""
    with database.write() as session:
        return written(session, outbox.find_mail(session, mail_id), site, present())


def _claim(database: Database) -> int | None:
    with database.write() as session:
        return outbox.claim(session)


def _send(database: Database, sending: Sending, mail_id: int, site: str) -> bool:
    letter = to_show(database, mail_id, site)
    if letter is None:
        with database.write() as session:
            outbox.give_up(session, mail_id, POINTLESS)
        return False
    try:
        sending.send(letter)
    except BadInput as error:
        with database.write() as session:
            outbox.give_up(session, mail_id, error.message)
        return False
    with database.write() as session:
        outbox.note_sent(session, mail_id)
    return True
