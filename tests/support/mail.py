"""A real mail server beside a test, and the mailbox behind it."""

import email
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope

from leaderboard.config import MailServer
from tests.support.processes import free_port

__all__ = ["SENDER", "Mailbox", "link_in", "mail_server", "text_of"]

SENDER = "leaderboard@example.org"


@dataclass
class Mailbox:
    """What the server has taken. refusals: address -> what it says to it instead, as many times as are listed."""

    port: int = 0
    messages: list[EmailMessage] = field(default_factory=list)
    refusals: dict[str, list[str]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    @property
    def server(self) -> MailServer:
        return MailServer("127.0.0.1", self.port, encrypted=False, user="", password="", sender=SENDER)

    def of(self, address: str) -> list[EmailMessage]:
        return [message for message in self.messages if message["To"] == address]

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Envelope, address: str, _: Any) -> str:  # noqa: N802  # aiosmtpd calls it
        if self.refusals.get(address):
            return self.refusals[address].pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Envelope) -> str:  # noqa: N802  # aiosmtpd calls it
        content = envelope.original_content
        assert isinstance(content, bytes)
        message = email.message_from_bytes(content, policy=default)
        assert isinstance(message, EmailMessage)
        self.messages.append(message)
        return "250 OK"


@contextmanager
def mail_server(user: str = "", password: str = "") -> Iterator[Mailbox]:
    """An SMTP server on 127.0.0.1; with a user it knows one log-in."""

    def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
        right = (given.login, given.password) == (user.encode(), password.encode())
        return AuthResult(success=right, handled=False)  # the server says so itself

    box = Mailbox()
    controller = Controller(
        box,
        hostname="127.0.0.1",
        port=free_port(),
        authenticator=authenticate if user else None,
        auth_require_tls=False,
    )
    controller.start()
    try:
        box.port = controller.port
        yield box
    finally:
        controller.stop()


def text_of(message: EmailMessage) -> str:
    text: str = message.get_content()
    return text.replace("\r\n", "\n")


def link_in(message: EmailMessage, path: str) -> str:
    """The path of the link below `path` in a mail."""
    found = re.search(rf"^https?://[^/\s]+({re.escape(path)}\S*)$", text_of(message), re.MULTILINE)
    assert found is not None, text_of(message)
    return found[1]
