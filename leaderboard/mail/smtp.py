"""Hands plain-text mails to a mail server."""

import contextlib
import smtplib
import ssl
from collections.abc import Callable, Iterator
from email.errors import MessageError
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, localtime
from functools import partial
from ipaddress import ip_address

from leaderboard.config import MailServer
from leaderboard.errors import BadInput, Unavailable
from leaderboard.frozen import frozen

SECONDS = 10.0  # that the server may take for each of its answers
PERMANENT = 500  # replies from here on mean that another try ends the same
SHORT = 60  # characters of a subject that is sent in one line


@frozen
class Letter:
    """A mail in plain text. `id` tells it from all others of this site, and stays the same when it is tried again."""

    id: str
    to: str
    subject: str
    text: str


@contextlib.contextmanager
def connected(server: MailServer) -> Iterator[Callable[[Letter], None]]:
    """What sends a letter: it raises BadInput where that can't be sent at all, Unavailable where it may be later.

    Raises Unavailable when the server can't be reached, or takes neither our name nor our password.
    """
    context = ssl.create_default_context()
    with _told(server):
        if server.encrypted:
            connection: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, timeout=SECONDS, context=context)
        else:
            connection = smtplib.SMTP(server.host, server.port, timeout=SECONDS)
    try:
        with _told(server):
            connection.ehlo()
            if not server.encrypted and connection.has_extn("starttls"):
                connection.starttls(context=context)
                connection.ehlo()
            elif not server.encrypted and server.user and not is_here(server.host):
                raise Unavailable(f"{server.host} offers no STARTTLS, and a password is not sent in the open")
            if server.user:
                connection.login(server.user, server.password)
        yield partial(_send, server, connection)
    finally:
        with contextlib.suppress(smtplib.SMTPException, OSError):
            connection.quit()
        connection.close()


def _send(server: MailServer, connection: smtplib.SMTP, letter: Letter) -> None:
    try:
        message = _message(server, letter)
    except (ValueError, IndexError, MessageError) as error:
        raise BadInput(f"this is no address that a mail can be sent to: {letter.to!r}") from error
    with _told(server):
        connection.send_message(message)


def _message(server: MailServer, letter: Letter) -> EmailMessage:
    message = EmailMessage(policy=SMTP)
    message["From"] = Address("Leaderboard", addr_spec=server.sender)
    message["To"] = Address(addr_spec=letter.to)
    # As it is sent: some Pythons decode what looks encoded in an assigned subject, and write the line ends in it.
    message.set_raw("Subject", _encoded(letter.subject))
    message["Date"] = format_datetime(localtime())
    message["Message-ID"] = f"<{letter.id}@{server.sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"  # no answering machine replies to it
    message.set_content(letter.text)
    return message


def _encoded(subject: str) -> str:
    """The subject in one line, encoded unless it is short and every program reads it as it stands."""
    line = " ".join(subject.split())
    is_plain = line.isascii() and "=?" not in line and len(line) <= SHORT
    return line if is_plain else Header(line, "utf-8", header_name="Subject").encode()


@contextlib.contextmanager
def _told(server: MailServer) -> Iterator[None]:
    """What a mail server or the way there says, as an error of ours: BadInput where another try ends the same."""
    try:
        yield
    except smtplib.SMTPRecipientsRefused as error:
        raise _refusal(*next(iter(error.recipients.values()))) from error
    except (smtplib.SMTPSenderRefused, smtplib.SMTPAuthenticationError) as error:
        # These are about this installation's settings: whoever runs it mends them, and then the mail can go.
        raise Unavailable(f"the mail server refuses us: {_shown(error.smtp_error)}") from error
    except smtplib.SMTPResponseException as error:
        raise _refusal(error.smtp_code, error.smtp_error) from error
    except smtplib.SMTPNotSupportedError as error:
        raise BadInput(f"the mail server can't do this: {error}") from error
    except (smtplib.SMTPException, OSError) as error:
        raise Unavailable(f"the mail server {server.host}:{server.port} does not answer: {error}") from error


def _refusal(code: int, said: bytes | str) -> BadInput | Unavailable:
    kind = BadInput if code >= PERMANENT else Unavailable
    return kind(f"the mail server said {code} {_shown(said)}")


def _shown(said: bytes | str) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return " ".join(text.split())[:300]


def is_here(host: str) -> bool:
    """Whether it is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
