"""Mails of the site, sent by a real mail server: addresses confirmed and changed, passwords set anew, news of runs."""

import datetime as dt
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import sqlalchemy as sa
from flask import Flask

from leaderboard.accounts.models import User
from leaderboard.mail.models import Mail, MailLink
from leaderboard.mail.rules import OPTIONAL, MailKind
from leaderboard.mail.writes import send_waiting
from tests.support.mail import Mailbox, link_in, mail_server, text_of
from tests.support.pages import hidden
from tests.support.statements import counted
from tests.web.conftest import PASSWORD, Reader, World

SITE = "https://leaderboard.example.org"
NEW = "harbour lantern row"


@pytest.fixture(scope="module")
def server() -> Iterator[Mailbox]:
    with mail_server() as box:
        yield box


@pytest.fixture
def box(server: Mailbox) -> Mailbox:
    server.messages.clear()
    server.refusals.clear()
    return server


def send(world: World, box: Mailbox) -> int:
    return send_waiting(world.database, box.server, SITE)


def user(world: World, name: str) -> User:
    return world.all(sa.select(User).where(User.name == name))[0]


def confirmed(world: World, box: Mailbox, who: Reader, address: str) -> None:
    """Gives the address and follows the link in the mail."""
    assert who.post("/account/email", email=address, current=PASSWORD).location == "/account/"
    waits = f"A link to {address} waits: no mail server is set up here. Ask whoever runs this site for it."
    assert waits in who.get("/account/")
    send(world, box)
    link = link_in(box.of(address)[-1], "/account/email/confirm/")
    assert address in who.get(link)
    assert who.post(link).location == "/account/"
    box.messages.clear()


def test_an_address_counts_when_the_link_sent_there_was_followed_by_its_account(
    world: World, box: Mailbox, visitor: Reader, other: Reader
) -> None:
    assert visitor.post("/register", name="Grace", email="grace@example.org", password=PASSWORD).location == "/account/"
    assert "Not confirmed yet" in visitor.get("/account/")
    assert user(world, "Grace").email is None
    assert send(world, box) == 1
    (message,) = box.messages
    assert message["To"] == "grace@example.org"
    link = link_in(message, "/account/email/confirm/")
    assert other.client.get(link).status_code == 409  # somebody else with the link
    assert other.post(link).status_code == 409
    visitor.get(link)
    assert user(world, "Grace").email is None  # nothing changes by looking
    assert visitor.post(link).location == "/account/"
    assert (user(world, "Grace").email, user(world, "Grace").unconfirmed_email) == ("grace@example.org", None)
    assert visitor.post(link).status_code == 409  # once
    visitor.post("/logout")
    assert visitor.post("/login", name="grace@example.org", password=PASSWORD).location == "/account/"


def test_no_link_leads_where_the_request_said_the_site_is(
    world: World, box: Mailbox, participant: Reader, visitor: Reader
) -> None:
    confirmed(world, box, participant, "ada@example.org")
    elsewhere = "http://127.0.0.1"  # a name that the site answers to, and not the one that mails name
    token = hidden(visitor.client.get("/password/forgotten", base_url=elsewhere).text)
    form = {"csrf_token": token, "email": "ada@example.org"}
    sent = visitor.client.post("/password/forgotten", data=form, base_url=elsewhere)
    assert sent.status_code == 302
    send(world, box)
    assert f"{SITE}/password/reset/" in text_of(box.messages[0])
    assert "127.0.0.1" not in text_of(box.messages[0])


def test_registering_with_an_address_that_is_taken_looks_the_same_and_its_owner_is_told(
    world: World, box: Mailbox, participant: Reader, reader: Callable[[str], Reader]
) -> None:
    confirmed(world, box, participant, "ada@example.org")
    answers = []
    for name, address in (("Grace", "ada@example.org"), ("Heidi", "heidi@example.org")):
        stranger = reader("")
        sent = stranger.post("/register", name=name, email=address, password=PASSWORD)
        page = stranger.get("/account/").replace(name, "NAME").replace(address, "ADDRESS")
        page = re.sub(r'name="csrf_token" value="[^"]+"|<time.*?</time>', "", page)
        answers.append((sent.status_code, sent.location, page))
    assert answers[0] == answers[1]
    send(world, box)
    assert "confirmed address of your account\nada" in text_of(box.of("ada@example.org")[0])
    assert "/account/email/confirm/" not in text_of(box.of("ada@example.org")[0])
    assert user(world, "Grace").email is None


def test_the_old_address_is_told_when_another_is_asked_for_and_when_it_takes_its_place(
    world: World, box: Mailbox, participant: Reader
) -> None:
    confirmed(world, box, participant, "ada@example.org")
    wrong = participant.post("/account/email", email="new@example.org", current="not the password")
    assert (wrong.status_code, "new@example.org" in wrong.text) == (400, True)  # filled in as it was
    assert "not your current password" in wrong.text
    participant.post("/account/email", email="new@example.org", current=PASSWORD)
    send(world, box)
    assert "is to be replaced by new@example.org" in text_of(box.of("ada@example.org")[0])
    assert user(world, "ada").email == "ada@example.org"
    participant.post(link_in(box.of("new@example.org")[0], "/account/email/confirm/"))
    send(world, box)
    assert "is now new@example.org" in text_of(box.of("ada@example.org")[1])
    assert user(world, "ada").email == "new@example.org"
    participant.post("/account/email", email="", current=PASSWORD)
    send(world, box)
    assert "is now none" in text_of(box.of("new@example.org")[1])
    assert user(world, "ada").email is None


def test_a_forgotten_password_is_set_once_by_a_link_within_an_hour_and_all_sessions_end(
    app: Flask, world: World, box: Mailbox, participant: Reader, visitor: Reader
) -> None:
    confirmed(world, box, participant, "ada@example.org")
    assert visitor.post("/password/forgotten", email=" ADA@example.org").location == "/login"
    said = "If an account has this confirmed address, a link that sets a new password"
    assert f"{said} to it waits: no mail server is set up here." in visitor.get("/login")
    sends = {"smtp_url": box.url, "mail_from": "site@example.org", "public_url": SITE}
    app.extensions["config"] = replace(app.extensions["config"], **sends)
    assert visitor.post("/password/forgotten", email="nobody@example.org").location == "/login"
    assert f"{said} is on its way to it." in visitor.get("/login")
    send(world, box)
    link = link_in(box.messages[0], "/password/reset/")
    weak = visitor.post(link, password="short")
    assert (weak.status_code, 'id="password-error"' in weak.text) == (400, True)
    assert visitor.post(link, password=NEW).location == "/login"
    assert participant.client.get("/account/").status_code == 302
    assert visitor.post(link, password="yet harbour lantern row").status_code == 409
    assert visitor.post("/login", name="ada", password=NEW).location == "/account/"
    box.messages.clear()
    send(world, box)
    assert [message["Subject"] for message in box.of("ada@example.org")] == ["Your password was changed"]


def test_a_link_for_a_new_password_ends_with_its_hour_another_password_or_another_address(
    world: World, box: Mailbox, participant: Reader, visitor: Reader
) -> None:
    confirmed(world, box, participant, "ada@example.org")

    def link() -> str:
        visitor.post("/password/forgotten", email="ada@example.org")
        send(world, box)
        return link_in(box.of("ada@example.org")[-1], "/password/reset/")

    late, older = link(), link()
    visitor.get(late)
    with world.database.write() as session:
        session.execute(sa.update(MailLink).values(expires_at=dt.datetime(2025, 1, 2, tzinfo=dt.UTC)))
    assert visitor.client.get(late).status_code == 409
    assert visitor.post(older, password=NEW).status_code == 409
    by_change = link()
    participant.post("/account/password", current=PASSWORD, password=NEW)
    assert visitor.post(by_change, password="a third long one").status_code == 409
    with world.database.write() as session:
        session.execute(sa.text("DELETE FROM attempt"))
    by_address = link()
    participant.post("/account/email", email="", current=NEW)
    assert visitor.post(by_address, password="a third long one").status_code == 409
    assert visitor.post("/login", name="ada", password=NEW).location == "/account/"


def test_asking_for_a_new_password_does_and_answers_the_same_for_every_address(
    world: World, box: Mailbox, participant: Reader, reader: Callable[[str], Reader]
) -> None:
    confirmed(world, box, participant, "ada@example.org")
    participant.post("/account/email", email="unconfirmed@example.org", current=PASSWORD)
    send(world, box)
    box.messages.clear()
    seen = []
    for address in ("ada@example.org", "nobody@example.org", "unconfirmed@example.org"):
        visitor = reader("")
        token = visitor.token()
        with counted(visitor.client.application) as statements:
            answer = visitor.client.post("/password/forgotten", data={"csrf_token": token, "email": address})
        assert any(statement.startswith("INSERT INTO mail") for statement in statements)
        seen.append((answer.status_code, answer.location, visitor.get("/login").replace(token, ""), statements))
    assert seen[0][:2] == seen[1][:2] == seen[2][:2]
    assert seen[0][3] == seen[1][3] == seen[2][3]  # the same statements in the same order: the same work
    send(world, box)
    assert [message["To"] for message in box.messages] == ["ada@example.org"]
    with world.database.read() as session:  # nothing is kept of an address that is nobody's
        assert not session.scalars(sa.select(Mail).where(Mail.address.in_(["nobody@example.org"]))).all()


def test_too_many_mails_to_one_address_wait_whether_or_not_it_is_somebodys(
    world: World, box: Mailbox, participant: Reader, reader: Callable[[str], Reader]
) -> None:
    confirmed(world, box, participant, "ada@example.org")
    for address in ("nobody@example.org", "ada@example.org"):
        answers = [reader("").post("/password/forgotten", email=address).status_code for _ in range(5)]
        assert answers == [302, 302, 302, 302, 429]  # the mail that confirmed ada's address is counted by itself


def test_no_token_of_a_link_is_in_the_database_while_its_mail_waits_or_after(
    world: World, box: Mailbox, participant: Reader
) -> None:
    participant.post("/account/email", email="ada@example.org", current=PASSWORD)
    send(world, box)
    token = link_in(box.messages[0], "/account/email/confirm/").rpartition("/")[2]
    with world.database.read() as session:
        for table in (Mail, MailLink):
            for row in session.execute(sa.select(table.__table__)).all():
                assert token not in str(row)


def test_news_are_chosen_among_those_there_are(world: World, box: Mailbox, participant: Reader) -> None:
    confirmed(world, box, participant, "ada@example.org")
    page = participant.get("/account/mail")
    assert page.count('type="checkbox"') == page.count("checked") == len(OPTIONAL)
    assert participant.post("/account/mail", wanted="scored").status_code == 302
    assert user(world, "ada").unwanted_mail == [kind.value for kind in OPTIONAL if kind is not MailKind.SCORED]
    assert participant.get("/account/mail").count("checked") == 1
    assert participant.post("/account/mail", wanted="reset").status_code == 400
