"""A real mail server beside a test, and the mailbox behind it."""

import datetime as dt
import email
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from leaderboard.config import MailServer
from tests.support.processes import free_port

SENDER = "leaderboard@example.org"


@dataclass
class Mailbox:
    """What the server has taken. refusals: address -> what it says to it instead, as many times as are listed.

    log_ins  how many passwords it was shown
    """

    port: int = 0
    messages: list[EmailMessage] = field(default_factory=list)
    refusals: dict[str, list[str]] = field(default_factory=dict)
    log_ins: int = 0

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


class _EncryptedController(Controller):
    """A mail server that is encrypted from the first byte. aiosmtpd's own first visit to it takes the server's context
    for a client's, which it can't be."""

    certificate: Path

    def _trigger_server(self) -> None:
        context = ssl.create_default_context(cafile=self.certificate)
        with (
            socket.create_connection((self.hostname, self.port), 5.0) as plain,
            context.wrap_socket(plain, server_hostname=self.hostname) as visit,
        ):
            visit.recv(1024)


def certificate_for(folder: Path, address: str = "127.0.0.1") -> Path:
    """A certificate that signs itself, with its key, in one file: who trusts it trusts the server at this address."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a mail server of the tests")])
    now = dt.datetime.now(dt.UTC)
    usage = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign",
         "encipher_only", "decipher_only"), False,
    )  # fmt: skip
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(digital_signature=True, key_cert_sign=True, **usage), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "mail-server.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(private + made.public_bytes(Encoding.PEM))
    return path


@contextmanager
def mail_server(
    user: str = "", password: str = "", *, certificate: Path | None = None, encrypted: bool = False
) -> Iterator[Mailbox]:
    """An SMTP server on 127.0.0.1; with a user it knows one log-in.

    certificate  of `certificate_for`: the server asks for STARTTLS before anything else; encrypted: it speaks TLS from
                 the first byte
    """

    def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
        box.log_ins += 1
        right = (given.login, given.password) == (user.encode(), password.encode())
        return AuthResult(success=right, handled=False)  # the server says so itself

    box = Mailbox()
    settings: dict[str, Any] = {
        "hostname": "127.0.0.1",
        "port": free_port(),
        "authenticator": authenticate if user else None,
        "auth_require_tls": certificate is not None and not encrypted,
    }
    if certificate is None:
        controller = Controller(box, **settings)
    else:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
        if encrypted:
            controller = _EncryptedController(box, ssl_context=context, **settings)
            controller.certificate = certificate
        else:
            controller = Controller(box, tls_context=context, require_starttls=True, **settings)
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
