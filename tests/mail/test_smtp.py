"""Mails handed to a real mail server."""

import email
import smtplib
import socket
from email.policy import default
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from leaderboard.config import MailServer
from leaderboard.errors import BadInput, Unavailable
from leaderboard.mail.smtp import Letter, _message, connected
from tests.support.mail import SENDER, certificate_for, mail_server, text_of


def letter(to: str = "ada@example.org", subject: str = "A subject", text: str = "A line\n") -> Letter:
    return Letter("1.20261120120000", to, subject, text)


def test_a_mail_arrives_as_plain_text_with_its_head() -> None:
    with mail_server() as box, connected(box.server) as send:
        send(letter(subject="Überblick", text="β is 20.\nhttps://leaderboard.example.org/a\n"))
        (message,) = box.messages
    assert message["From"] == f"Leaderboard <{SENDER}>"
    assert (message["To"], message["Subject"]) == ("ada@example.org", "Überblick")
    assert message.get_content_type() == "text/plain"
    assert "β is 20." in text_of(message)
    assert message["Message-ID"] == "<1.20261120120000@example.org>"
    assert message["Auto-Submitted"] == "auto-generated"


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r", "\u2028", "\x0b", "\x85"])
def test_a_subject_never_makes_another_line_of_the_head(end: str) -> None:
    with mail_server() as box, connected(box.server) as send:
        send(letter(subject=f"A name{end}Bcc: eve@example.org{end}{end}A text"))
        (message,) = box.messages
    assert message["Bcc"] is None
    assert message["Subject"] == "A name Bcc: eve@example.org A text"
    assert text_of(message).splitlines() == ["A line"]


@pytest.mark.parametrize(
    "subject",
    [
        "Run =?utf-8?q?y=0AReply-To:_evil=40example.org?= was scored",
        "=?utf-8?q?y=0D=0A=0D=0AAnother_text?= asks to join",
        "=?utf-8?b?eQpSZXBseS1UbzogZXZpbEBleGFtcGxlLm9yZw==?=",
        "Über =?utf-8?q?y=0AReply-To:_evil=40example.org?=",
        "=?utf-8?q?y=0AReply-To:_evil?= =?utf-8?q?=40example.org?= " + "and so on " * 40,
        "=?utf-8?q?" + "=0AReply-To:_evil" * 20 + "?=",
        "A long title of words " * 20 + "was scored",
        "A" * 1200,
        "検索の評価 " * 60 + "was scored",
        "é" * 400 + " é é 🔎",
    ],
)
def test_a_subject_arrives_as_it_was_meant_whatever_it_looks_like(subject: str) -> None:
    with mail_server() as box, connected(box.server) as send:
        send(letter(subject=subject))
        send(letter())
        message, plain = box.messages
    assert message.keys() == plain.keys()
    assert message["Subject"] == " ".join(subject.split())
    assert text_of(message) == text_of(plain)


TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=200)
PIECES = st.lists(st.sampled_from(["=?utf-8?q?", "=0A", "?=", " ", "é", "a" * 70, "_"])).map("".join)


@given(TEXTS | PIECES)
def test_any_subject_is_read_back(subject: str) -> None:
    sent = letter(subject=subject)
    message = email.message_from_bytes(_message(_server(25), sent).as_bytes(), policy=default)
    assert message.keys() == _message(_server(25), letter()).keys()
    assert message["Subject"] == " ".join(subject.split())


@pytest.mark.parametrize(
    "to",
    [
        "ada@example.org\r\nBcc: eve@example.org",
        "ada@example.org, eve@example.org",
        "<ada@example.org>",
        "",
        "ada",
        "=?utf-8?q?a=0ABcc:_eve=40example.org?=@example.org",
    ],
)
def test_what_is_no_single_address_is_refused_and_nothing_is_sent(to: str) -> None:
    with mail_server() as box, connected(box.server) as send:
        with pytest.raises(BadInput):
            send(letter(to=to))
        send(letter(subject="The next one"))
    assert [message["Subject"] for message in box.messages] == ["The next one"]


def test_an_address_that_is_refused_for_good_is_told_from_one_that_is_for_now() -> None:
    with mail_server() as box, connected(box.server) as send:
        box.refusals["ada@example.org"] = ["550 no such mailbox", "450 come back later"]
        with pytest.raises(BadInput, match="550 no such mailbox"):
            send(letter())
        with pytest.raises(Unavailable, match="450 come back later"):
            send(letter())


def test_a_server_that_is_not_there_is_said_to_be_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Unavailable, match="does not answer"), connected(_server(port)):
        pass


def test_it_logs_in_where_it_must() -> None:
    with mail_server("site", "a secret") as box:
        with connected(_server(box.port, "site", "a secret")) as send:
            send(letter())
        with pytest.raises(Unavailable, match="refuses us"), connected(_server(box.port, "site", "wrong")):
            pass
    assert len(box.messages) == 1


@pytest.mark.parametrize("encrypted", [False, True], ids=["STARTTLS", "smtps"])
def test_a_mail_and_a_password_go_out_encrypted_to_a_server_that_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encrypted: bool
) -> None:
    certificate = certificate_for(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))  # as an operator trusts a server of their own
    with mail_server("site", "a secret", certificate=certificate, encrypted=encrypted) as box:
        with connected(_server(box.port, "site", "a secret", encrypted=encrypted)) as send:
            send(letter())
        if not encrypted:  # the server takes nothing before STARTTLS, and says so
            with smtplib.SMTP("127.0.0.1", box.port) as plain:
                assert plain.docmd("MAIL", f"FROM:<{SENDER}>")[0] == 530
    assert [message["Subject"] for message in box.messages] == ["A subject"]


@pytest.mark.parametrize("encrypted", [False, True], ids=["STARTTLS", "smtps"])
def test_a_server_whose_certificate_nobody_vouches_for_gets_neither_password_nor_mail(
    tmp_path: Path, encrypted: bool
) -> None:
    with mail_server("site", "a secret", certificate=certificate_for(tmp_path), encrypted=encrypted) as box:
        server = _server(box.port, "site", "a secret", encrypted=encrypted)
        with pytest.raises(Unavailable, match="certificate verify failed"), connected(server) as send:
            send(letter())
    assert box.messages == []
    assert box.log_ins == 0


def test_a_certificate_of_another_address_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = certificate_for(tmp_path, "192.0.2.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with (
        mail_server(certificate=certificate) as box,
        pytest.raises(Unavailable, match="certificate verify failed"),
        connected(box.server) as send,
    ):
        send(letter())
    assert box.messages == []


def _server(port: int, user: str = "", password: str = "", *, encrypted: bool = False) -> MailServer:
    return MailServer("127.0.0.1", port, encrypted=encrypted, user=user, password=password, sender=SENDER)
