"""`leaderboard mail`, `user email`, `user close` and `team requests`: what an operator does without the site."""

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from leaderboard.access import actor_of
from leaderboard.accounts import writes as people
from leaderboard.audit.writes import present
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.errors import Unavailable
from leaderboard.mail import writes as outbox
from leaderboard.mail.models import Mail
from leaderboard.mail.rules import MailKind
from leaderboard.teams import writes as teams
from leaderboard.teams.reads import find_team
from tests.cli.conftest import Command
from tests.support.mail import SENDER, mail_server
from tests.support.world import new_account

Says = Callable[..., str]
SITE = "https://leaderboard.example.org"
pytestmark = pytest.mark.parametrize("engine_name", ["sqlite"])


@pytest.fixture
def ada(database: Database, ok: Says, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("LEADERBOARD_PUBLIC_URL", SITE)
    with database.write() as session:
        made = people.register(session, new_account("Ada", "ada@example.org")).id
    assert "ada@example.org (unconfirmed)" in ok("user", "list")
    ok("user", "email", "ada", "ada@example.org")
    with database.write() as session:
        session.execute(sa.delete(Mail))
    return made


def test_without_a_mail_server_an_operator_reads_what_would_be_sent(
    database: Database, ada: int, command: Command, ok: Says, refused: Says
) -> None:
    with database.write() as session:
        people.ask_for_reset(session, "ada@example.org")
        people.ask_for_reset(session, "nobody@example.org")
    listed = command("mail", "list")
    assert (listed.status, listed.out.count("waits"), listed.out.count("to nobody")) == (0, 1, 1)
    assert "nobody@example.org" not in listed.out + ok("mail", "list", "--all")
    first = listed.out.splitlines()[1].split()[0]
    said = ok("mail", "show", first)
    assert said.startswith("To: ada@example.org\nSubject: Choose a new password\n\n")
    assert f"{SITE}/password/reset/" in said
    assert "pointless" in ok("mail", "show", str(int(first) + 1))
    assert ok("mail", "drop", first) == f"mail {first} is given up\n"
    with database.write() as session:
        people.ask_for_reset(session, "ada@example.org")
        session.execute(sa.update(Mail).values(expires_at=present()))
    assert ok("mail", "list").count("too late") == 2
    refused("mail", "show", "999")


def test_what_became_of_mails_is_listed(
    database: Database, ada: int, ok: Says, refused: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sent(count: int) -> None:
        server = Config.from_environment().mail_server
        assert server is not None
        assert outbox.send_waiting(database, server, SITE) == count

    with database.write() as session:
        outbox.put(session, MailKind.PASSWORD, ada)
    with mail_server() as box:
        monkeypatch.setenv("LEADERBOARD_SMTP_URL", box.url)
        monkeypatch.setenv("LEADERBOARD_MAIL_FROM", SENDER)
        sent(1)
    listed = ok("mail", "list", "--all").splitlines()[1].split()
    assert "sent" in listed
    assert "was sent" in refused("mail", "drop", listed[0])
    with database.write() as session:
        outbox.put(session, MailKind.PASSWORD, ada)
    with pytest.raises(Unavailable):
        sent(1)  # the server is gone
    assert "does not answer" in ok("mail", "list")
    with mail_server() as box:
        monkeypatch.setenv("LEADERBOARD_SMTP_URL", box.url)
        box.refusals["ada@example.org"] = ["550 no such mailbox"]
        with database.write() as session:
            session.execute(sa.update(Mail).values(not_before=None))
        sent(0)
    (line,) = ok("mail", "list").splitlines()[1:]
    assert "given up" in line
    assert "550 no such mailbox" in line
    assert "0 waiting; 1 failed" in ok("status")
    ok("mail", "drop", line.split()[0])
    assert "0 waiting; 0 failed" in ok("status").split("mails", 1)[1]


def test_an_account_is_closed_by_a_command_that_asks_first(database: Database, ada: int, ok: Says) -> None:
    assert ok("user", "close", "ada", "--confirm") == f"ada is closed; it is called closed account {ada} now\n"
    assert "ada@example.org" not in ok("user", "list")


def test_a_team_invites_by_a_command_and_takes_an_invitation_back(
    database: Database, ada: int, ok: Says, refused: Says
) -> None:
    ok("team", "add", "Alder")
    link = ok("team", "invite", "alder", "--days", "2").strip()
    assert link.startswith(f"{SITE}/join/")
    ok("team", "invite", "alder")
    first, second = sorted((line.split()[0] for line in ok("team", "invitations", "alder").splitlines()[1:]), key=int)
    assert ok("team", "invitations", "alder", "--revoke", second) == f"invitation {second} no longer works\n"
    with database.write() as session:
        teams.accept_invitation(session, actor_of(session, ada), link.rpartition("/")[2], present())
    assert "Ada" in ok("team", "list")
    refused("team", "invitations", "alder", "--revoke", first)
    assert "at most 90" in refused("team", "invite", "alder", "--days", "91")
    refused("team", "invite", "nobody")


def test_requests_to_join_are_listed_and_answered_by_a_command(database: Database, ada: int, ok: Says) -> None:
    with database.write() as session:
        teams.create_team(session, actor_of(session, ada), "Alder")
        beth = people.register(session, new_account("Beth")).id
    assert ok("team", "change", "alder", "--listed") == "Alder is changed\n"
    with database.write() as session:
        number = teams.ask_to_join(session, actor_of(session, beth), find_team(session, "alder"), "hello").id
    assert "hello" in ok("team", "requests", "alder")
    assert ok("team", "requests", "alder", "--accept", str(number)) == f"request {number} is accepted\n"
    assert "Beth" in ok("team", "list")
