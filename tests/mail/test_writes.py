"""Mails that wait: what each says, when it is tried again, and that it is sent once."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.accounts.models import User
from leaderboard.audit.writes import present
from leaderboard.config import Config
from leaderboard.errors import BadInput, Unavailable
from leaderboard.evaluations.rules import Opening
from leaderboard.mail import writes as mails
from leaderboard.mail.models import Mail, MailLink
from leaderboard.mail.rules import OPTIONAL, MailKind
from leaderboard.mail.writes import list_mails, remind, send_waiting, to_show
from leaderboard.teams import writes as teams
from leaderboard.teams.models import Membership, Team
from tests.support.mail import SENDER, Mailbox, mail_server, text_of
from tests.support.scoring import drain_here
from tests.support.world import World, new_account

SITE = "https://leaderboard.example.org"
ADA = "ada@example.org"
SQLITE = pytest.mark.parametrize("engine_name", ["sqlite"])  # where no statement differs on the other one


@pytest.fixture
def box() -> Iterator[Mailbox]:
    with mail_server() as box:
        yield box


def put(world: World, kind: MailKind = MailKind.PASSWORD) -> None:
    with world.database.write() as session:
        mails.put(session, kind, world.ada.user_id)


def send(world: World, box: Mailbox) -> int:
    return send_waiting(world.database, box.server, SITE)


def waiting(world: World) -> list[Mail]:
    return world.all(sa.select(Mail).where(Mail.sent_at.is_(None), Mail.given_up_at.is_(None)))


def make_due(world: World) -> None:
    with world.database.write() as session:
        session.execute(sa.update(Mail).values(not_before=None))


def test_a_mail_is_tried_again_later_and_sent_once(world: World, box: Mailbox) -> None:
    put(world)
    box.refusals[ADA] = ["450 come back later"]
    with pytest.raises(Unavailable, match="come back later"):
        send(world, box)
    (mail,) = waiting(world)
    assert (mail.tries, "come back later" in mail.failure) == (1, True)
    assert mail.not_before is not None
    assert 30 < (mail.not_before - present()).total_seconds() <= mails.FIRST_WAIT_SECONDS
    assert send(world, box) == 0  # not yet
    make_due(world)
    assert send(world, box) == 1
    assert send(world, box) == 0
    assert [message["Subject"] for message in box.messages] == ["Your password was changed"]


def test_two_senders_never_take_the_same_mail(world: World, engine_name: str) -> None:
    put(world)
    put(world)
    taken = []
    for _ in range(3):
        with world.database.write() as session:
            taken.append(mails.claim(session))
    assert len(set(taken)) == 3
    assert taken[2] is None
    make_due(world)
    if engine_name != "sqlite":  # there nobody can look in between: one writer at a time
        with world.database.write() as first, world.database.write() as second:
            assert mails.claim(first) != mails.claim(second)


@SQLITE
def test_a_mail_is_given_up_where_it_is_refused_for_good_or_after_the_last_try(world: World, box: Mailbox) -> None:
    put(world)
    box.refusals[ADA] = ["550 no such mailbox"]
    assert send(world, box) == 0
    (mail,) = world.all(sa.select(Mail))
    assert mail.given_up_at is not None
    assert "550 no such mailbox" in mail.failure
    put(world)
    box.refusals[ADA] = ["451 not now"] * mails.MOST_TRIES
    for _ in range(mails.MOST_TRIES):
        make_due(world)
        with pytest.raises(Unavailable):
            send(world, box)
    assert waiting(world) == []
    assert box.messages == []


@SQLITE
def test_a_link_for_a_new_password_goes_to_the_address_that_was_confirmed_and_not_to_the_one_that_was_typed(
    world: World, box: Mailbox
) -> None:
    with world.database.write() as session:
        people.set_address(session, CONSOLE, session.get_one(User, world.ada.user_id), "Ada@strasse.example")
    for typed in ("Ada@stra\u00dfe.example", "ada@STRASSE.example"):
        with world.database.write() as session:
            people.ask_for_reset(session, typed)
    with world.database.read() as session:
        listed = list_mails(session, present())
    assert [mail.to for mail in listed if mail.kind is MailKind.RESET] == ["", "Ada@strasse.example"]
    send(world, box)
    sent = [message["To"] for message in box.messages if message["Subject"] == "Choose a new password"]
    assert sent == ["Ada@strasse.example"]
    assert [link.address for link in world.all(sa.select(MailLink))] == ["Ada@strasse.example"]


@SQLITE
def test_whoever_has_an_address_is_told_there_that_it_was_given_for_another_account_however_it_was_typed(
    world: World, box: Mailbox
) -> None:
    with world.database.write() as session:
        people.change_address(session, world.eve, session.get_one(User, world.eve.user_id), ADA.upper())
    assert send(world, box) == 1
    assert [(one["To"], one["Subject"]) for one in box.messages] == [
        (ADA, "Your e-mail address was given for another account")
    ]


def test_no_link_is_made_for_a_mail_that_waited_when_another_password_was_set(world: World, box: Mailbox) -> None:
    with world.database.write() as session:
        for address in (ADA.upper(), "nobody@example.org"):
            people.ask_for_reset(session, address)
        user = session.get_one(User, world.ada.user_id)
        people.set_password(session, world.ada, user, people.hashed("quite another one"))
    asked = [mail.id for mail in world.all(sa.select(Mail).where(Mail.kind == MailKind.RESET))]
    assert to_show(world.database, asked[0], SITE) is None
    assert send(world, box) == 1
    assert [message["Subject"] for message in box.messages] == ["Your password was changed"]
    assert world.all(sa.select(MailLink)) == []
    with world.database.write() as session:  # whoever asks from now on gets one
        people.ask_for_reset(session, ADA)
    assert send(world, box) == 1
    assert len(world.all(sa.select(MailLink))) == 1


@SQLITE
def test_a_mail_with_a_link_waits_no_longer_once_its_link_was_followed_or_another_one_was_asked_for(
    world: World,
) -> None:
    """As where no mail server is set: the operator reads a link out of the list, and the mail is never sent."""

    def link_in(kind: MailKind) -> str:
        (mail,) = [one for one in waiting(world) if one.kind is kind]
        letter = to_show(world.database, mail.id, SITE)
        assert letter is not None
        found = re.search(rf"{SITE}/\S+/(\S+)", letter.text)
        assert found is not None
        return found[1]

    with world.database.write() as session:
        ada = session.get_one(User, world.ada.user_id)
        people.change_address(session, world.ada, ada, "ada@example.com")
        people.send_confirmation(session, world.ada, ada)
        people.change_address(session, world.ada, ada, "ada@example.net")
    token = link_in(MailKind.CONFIRMATION)
    with world.database.write() as session:
        people.confirm_address(session, world.ada, session.get_one(User, ada.id), token, present())
    assert MailKind.CONFIRMATION not in {one.kind for one in waiting(world)}
    with world.database.write() as session:
        people.ask_for_reset(session, "ADA@example.net")
    token = link_in(MailKind.RESET)
    with world.database.write() as session:
        people.ask_for_reset(session, "ada@example.net")
    with world.database.write() as session:
        people.reset_password(session, token, new_account("Ada").password_hash, present())
    assert MailKind.RESET not in {one.kind for one in waiting(world)}


@SQLITE
def test_a_mail_that_waited_too_long_is_not_sent_and_forgotten_in_the_end(world: World, box: Mailbox) -> None:
    """At once where its address may be nobody's here: a new password was asked for there."""
    put(world)
    with world.database.write() as session:
        people.ask_for_reset(session, "nobody@example.org")
    for late, left in ((dt.timedelta(days=-1), 2), (dt.timedelta(minutes=1), 1), (dt.timedelta(days=31), 0)):
        with world.database.write() as session:
            session.execute(sa.update(Mail).values(expires_at=present() - late))
            mails.sweep(session)
        assert len(world.all(sa.select(Mail))) == left
        assert late < dt.timedelta(0) or send(world, box) == 0


@SQLITE
def test_nobody_who_has_no_confirmed_address_or_said_no_is_sent_news(world: World) -> None:
    with world.database.write() as session:
        ada = session.get_one(User, world.ada.user_id)
        beth = people.register(session, new_account("Beth", "beth@example.org"))
        for kind in OPTIONAL:
            mails.put_wanted(session, kind, [ada.id, beth.id])
        people.choose_mail(session, world.ada, ada, [])
        for kind in OPTIONAL:
            mails.put_wanted(session, kind, [ada.id, beth.id])
    told = world.all(sa.select(Mail).where(Mail.kind.in_(OPTIONAL)))
    assert [(mail.kind, mail.user_id) for mail in told] == [(kind, ada.id) for kind in OPTIONAL]


@SQLITE
def test_what_a_worker_scores_rejects_and_judges_anew_it_tells_by_mail_between_two_runs(
    world: World, box: Mailbox
) -> None:
    config = replace(world.config, smtp_url=box.url, mail_from=SENDER, public_url=SITE, deadline_days=0)
    run = world.submit(label="Our best\u2028Bcc: eve@example.org")
    bad = world.submit("no run at all\n")
    drain_here(world.database, world.store, config)
    told = {str(message["Subject"]): text_of(message) for message in box.of(ADA)}
    assert set(told) == {"Our best Bcc: eve@example.org was scored", "run.txt was rejected"}
    assert f"{SITE}/submissions/{run}\n" in told["Our best Bcc: eve@example.org was scored"]
    assert f"{SITE}/submissions/{bad}\n" in told["run.txt was rejected"]
    assert f"{SITE}/account/mail" in told["run.txt was rejected"]
    assert not any(message["Bcc"] for message in box.messages)
    for text in told.values():  # figures are where it is decided who sees them
        assert "0." not in text
    told_of = []
    for grade, own in ((0, False), (1, True)):  # the board is closed: a team may see its own results, or may not
        box.messages.clear()
        world.change_evaluation(results=Opening.NEVER, own_results=own)
        world.judge(f"q1 0 d1 {grade}\nq1 0 d2 1\nq2 0 d3 1\nq3 0 d4 0\n")
        drain_here(world.database, world.store, config)
        told_of.append([message["Subject"] for message in box.of(ADA)])
    assert told_of == [[], ["The year 2026 has new judgments"]]
    assert "revision 3 now" in text_of(box.messages[0])


@SQLITE
def test_each_member_of_a_team_that_takes_part_is_told_of_a_deadline_once(world: World, box: Mailbox) -> None:
    now = present()
    world.submit()
    with world.database.write() as session:
        people.create_user(session, CONSOLE, new_account("Beth", "beth@example.org"))  # in no team
        ben = people.create_user(session, CONSOLE, new_account("Ben", "ben@example.org"))
        teams.add_member(session, CONSOLE, session.get_one(Team, world.team), ben)

    def look(days: int) -> list[str]:
        box.messages.clear()
        with world.database.write() as session:
            remind(session, days, now)
        send(world, box)
        return sorted(str(message["To"]) for message in box.messages)

    world.change_evaluation(closes_at=now + dt.timedelta(days=5))
    assert look(3) == []
    world.change_evaluation(closes_at=now + dt.timedelta(days=2))
    assert look(0) == []
    assert look(3) == [ADA, "ben@example.org"]
    assert "accepts runs until" in text_of(box.messages[0])
    assert look(3) == []
    world.change_evaluation(closes_at=now + dt.timedelta(days=3))
    assert look(3) == [ADA, "ben@example.org"]  # another moment is news


@SQLITE
def test_who_has_left_the_team_gets_no_news_of_it(world: World, box: Mailbox) -> None:
    run = world.submit()
    with world.database.write() as session:
        mails.put_wanted(session, MailKind.SCORED, [world.ada.user_id or 0], submission=run)
        mails.put_wanted(session, MailKind.REQUEST, [world.ada.user_id or 0], team=world.team, asker=world.eve.user_id)
        session.execute(sa.delete(Membership))
    assert send(world, box) == 0
    assert box.messages == []


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"smtp_url": "http://mail.example.org"}, "LEADERBOARD_SMTP_URL"),
        ({"smtp_url": "smtp://"}, "LEADERBOARD_SMTP_URL"),
        ({"smtp_url": "smtp://mail.example.org:x"}, "LEADERBOARD_SMTP_URL"),
        ({"mail_from": "nobody"}, "LEADERBOARD_MAIL_FROM"),
        ({"mail_from": "a@example.org\nBcc: b@example.org"}, "LEADERBOARD_MAIL_FROM"),
        ({"public_url": "http://localhost:8000"}, "LEADERBOARD_PUBLIC_URL"),
    ],
)
def test_settings_of_mail_that_can_not_be_right_are_refused_by_name(settings: dict[str, str], says: str) -> None:
    good = {"smtp_url": "smtp://a:b@mail.example.org:587", "mail_from": SENDER, "public_url": SITE}
    server = Config(**good).mail_server
    assert server is not None
    assert (server.host, server.port, server.user, server.password) == ("mail.example.org", 587, "a", "b")
    assert "password" not in repr(server)
    with pytest.raises(BadInput, match=says):
        _ = Config(**{**good, **settings}).mail_server


@pytest.mark.parametrize(
    "url", ["example.org", "https://", "https://example.org/site", "ftp://example.org", "https://a b"]
)
def test_a_public_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match="LEADERBOARD_PUBLIC_URL"):
        _ = Config(public_url=url).site_url
