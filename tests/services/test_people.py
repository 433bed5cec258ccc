import datetime as dt

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR, actor_of
from leaderboard.db import Database
from leaderboard.errors import BadInput, InvalidFields, NotAllowed
from leaderboard.models import Event, User
from leaderboard.services import people

pytestmark = pytest.mark.usefixtures("quick_hashes")

NOW = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)
PASSWORD = "correct horse battery"


@pytest.fixture
def ada(database: Database) -> int:
    with database.write() as session:
        return people.register(session, "Ada", "ada@example.org", PASSWORD).id


def test_a_person_registers_and_signs_in_by_name_or_address(database: Database, ada: int) -> None:
    for name in ("Ada", "ADA ", "ada@example.org", "Ada@Example.org"):
        user = people.authenticate(database, name, PASSWORD, "192.0.2.1", NOW)
        assert user.id == ada
        assert user.last_login_at == NOW


def test_the_password_is_kept_as_a_hash_only(database: Database, ada: int) -> None:
    with database.read() as session:
        user = session.get_one(User, ada)
        assert user.password_hash.startswith("$argon2")
        trail = session.scalars(sa.select(Event)).all()
        assert [(event.action, event.actor_id) for event in trail] == [("register", ada)]
        assert PASSWORD not in str([event.facts for event in trail])


@pytest.mark.parametrize("name", ["ada", " ADA", "Ad\uff41", "A\u200bda"])
def test_a_name_too_close_to_another_is_refused(database: Database, ada: int, name: str) -> None:
    with database.write() as session, pytest.raises(InvalidFields) as caught:
        people.register(session, name, "other@example.org", PASSWORD)
    assert "Ada" in caught.value.fields["name"][0]


def test_everything_that_is_wrong_is_said_at_once(database: Database, ada: int) -> None:
    with database.write() as session, pytest.raises(InvalidFields) as caught:
        people.register(session, "", "no address", "short")
    assert set(caught.value.fields) == {"name", "email", "password"}
    with database.write() as session, pytest.raises(InvalidFields) as caught:
        people.register(session, "Someone Else", "ADA@example.org", "someone  else")
    assert set(caught.value.fields) == {"password"}


def test_an_address_is_taken_once(database: Database, ada: int) -> None:
    with database.write() as session, pytest.raises(InvalidFields) as caught:
        people.register(session, "Beth", " ADA@example.org", PASSWORD)
    assert "sign in" in caught.value.fields["email"][0]


def test_a_wrong_password_and_an_unknown_name_say_the_same(database: Database, ada: int) -> None:
    said = set()
    for name in ("Ada", "Nobody"):
        with pytest.raises(BadInput) as caught:
            people.authenticate(database, name, "not the password", "192.0.2.1", NOW)
        said.add(caught.value.message)
    assert len(said) == 1


def test_guessing_is_slowed_down_and_the_right_password_waits_too(database: Database, ada: int) -> None:
    for _ in range(people.FAILURES_OF_ACCOUNT):
        with pytest.raises(BadInput):
            people.authenticate(database, "Ada", "a wrong guess", "192.0.2.1", NOW)
    with pytest.raises(NotAllowed, match="try again in 15 min"):
        people.authenticate(database, "Ada", PASSWORD, "192.0.2.99", NOW)
    with pytest.raises(NotAllowed, match="try again in 5 min"):
        people.authenticate(database, "Ada", PASSWORD, "192.0.2.99", NOW + dt.timedelta(minutes=10))
    later = NOW + people.WINDOW
    assert people.authenticate(database, "Ada", PASSWORD, "192.0.2.1", later).id == ada


def test_one_address_that_guesses_at_many_accounts_is_slowed_down(database: Database, ada: int) -> None:
    for number in range(people.FAILURES_OF_ADDRESS):
        with pytest.raises(BadInput):
            people.authenticate(database, f"account {number} of many", "a wrong guess", "192.0.2.1", NOW)
    with pytest.raises(NotAllowed):
        people.authenticate(database, "Ada", PASSWORD, "192.0.2.1", NOW)
    assert people.authenticate(database, "Ada", PASSWORD, "192.0.2.2", NOW).id == ada


def test_signing_in_forgets_the_slips_before_it(database: Database, ada: int) -> None:
    for _ in range(3):
        for _ in range(people.FAILURES_OF_ACCOUNT - 1):
            with pytest.raises(BadInput):
                people.authenticate(database, "Ada", "a slip", "192.0.2.1", NOW)
        people.authenticate(database, "Ada", PASSWORD, "192.0.2.1", NOW)


def test_a_new_password_ends_every_session(database: Database, ada: int) -> None:
    with database.write() as session:
        user = session.get_one(User, ada)
        people.set_password(session, actor_of(session, ada), user, "another password")
        assert user.session_version == 2
    assert people.authenticate(database, "Ada", "another password", "192.0.2.1", NOW).id == ada
    with pytest.raises(BadInput):
        people.authenticate(database, "Ada", PASSWORD, "192.0.2.1", NOW)


def test_a_closed_account_can_not_sign_in(database: Database, ada: int) -> None:
    with database.write() as session:
        people.close_account(session, CONSOLE, session.get_one(User, ada))
    with pytest.raises(BadInput):
        people.authenticate(database, "Ada", PASSWORD, "192.0.2.1", NOW)
    with database.read() as session:
        assert actor_of(session, ada) == VISITOR


def test_nobody_makes_accounts_for_others_or_changes_theirs(database: Database, ada: int) -> None:
    with database.write() as session:
        beth = people.create_user(session, CONSOLE, "Beth", PASSWORD)
        actor = actor_of(session, ada)
        for forbidden in (
            lambda: people.create_user(session, actor, "Cleo", PASSWORD),
            lambda: people.set_password(session, actor, beth, PASSWORD),
            lambda: people.end_sessions(session, actor, beth),
            lambda: people.close_account(session, actor, beth),
            lambda: people.end_sessions(session, VISITOR, beth),
        ):
            with pytest.raises(NotAllowed):
                forbidden()
