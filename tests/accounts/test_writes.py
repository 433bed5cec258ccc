import datetime as dt
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from leaderboard.access import CONSOLE, VISITOR, actor_of
from leaderboard.accounts import rate_limits as attempts, writes as people
from leaderboard.accounts.models import Attempt, BrowserSession, User
from leaderboard.accounts.rate_limits import KnownBrowser
from leaderboard.accounts.reads import open_session
from leaderboard.accounts.rules import SESSION_LASTS
from leaderboard.audit.models import Event
from leaderboard.config import folder
from leaderboard.db import Database
from leaderboard.demo.campaigns import load_accounts, read_accounts
from leaderboard.errors import BadInput, Conflict, InvalidFields, NotAllowed, TooManyAttempts

pytestmark = pytest.mark.usefixtures("quick_hashes")

NOW = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)
PASSWORD = "correct horse battery"
HOME = "192.0.2.1"
OF_NOBODY = people.OF_NOBODY  # the site's own, which costs what passwords do
WEAK = (
    "password1234", "qwertyuiop", "aaaaaaaaaaaaaaaa", "1234567890", "Leaderboard2026", "Grace Hopper 1",
    "grace@example.org", "password password", "password-Password-password", "123456-123456", "admin-admin1",
    "Hopper-hopper", "qwerty" * 12, "abc123" * 30, "Qwertyqwerty" * 6, "correcthorse" * 3,
)  # fmt: skip


def register(database: Database, name: str, email: str = "", password: str = PASSWORD) -> int:
    new = people.new_account(name, password, email)
    with database.write() as session:
        return people.register(session, new).id


@pytest.fixture
def ada(database: Database) -> int:
    made = register(database, "Ada")
    with database.write() as session:
        people.set_address(session, CONSOLE, session.get_one(User, made), "ada@example.org")
    return made


def guess(database: Database, name: str = "Ada", address: str = HOME, browser: KnownBrowser | None = None) -> None:
    """One wrong password, which is looked at."""
    with pytest.raises(BadInput):
        people.authenticate(database, name, "a wrong guess", address, NOW, browser)


def test_a_person_registers_and_signs_in_by_name_or_address(database: Database, ada: int) -> None:
    for name in ("Ada", "ADA ", "ada@example.org", "Ada@Example.org", "ada\uff20example.org", "a\u200bda@example.org"):
        user = people.authenticate(database, name, PASSWORD, HOME, NOW)
        assert user.id == ada
        assert user.last_login_at == NOW


def test_the_password_is_kept_as_a_hash_only(database: Database, ada: int) -> None:
    with database.read() as session:
        user = session.get_one(User, ada)
        assert user.password_hash.startswith("$argon2")
        trail = session.scalars(sa.select(Event)).all()
        assert [(event.action, event.actor_id) for event in trail] == [("register", ada), ("set address", None)]
        assert PASSWORD not in str([event.facts for event in trail])


@pytest.mark.parametrize("name", ["ada", " ADA", "Ad\uff41", "A\u200bda"])
def test_a_name_too_close_to_another_is_refused(database: Database, ada: int, name: str) -> None:
    with pytest.raises(InvalidFields) as caught:
        register(database, name, "other@example.org")
    assert "taken" in caught.value.fields["name"][0]
    assert "Ada" not in caught.value.fields["name"][0]


@pytest.mark.parametrize(
    ("name", "password", "email", "wrong"),
    [
        ("", "short", "no address", {"name", "password", "email"}),
        ("Someone Else", "someone  else", "ADA@example.org", {"password"}),
        *((f"ada{at}example.org", PASSWORD, "", {"name"}) for at in ("@", "\uff20", "\ufe6b", "\u200b@")),
        *(("Ada", PASSWORD, email, {"email"}) for email in ("a\x1bda@example.org", "ada@\ud800.org")),
        ("Grace", "p\ud800q and some more words", "", {"password"}),
        ("Grace", "4@8({[<369&#!1/|0$5+7%2" * 44, "", {"password"}),
        *(("Grace Hopper", weak, "grace@example.org", {"password"}) for weak in WEAK),
    ],
)
def test_everything_that_is_wrong_with_a_new_account_is_said_at_once(
    name: str, password: str, email: str, wrong: set[str]
) -> None:
    with pytest.raises(InvalidFields) as caught:
        people.new_account(name, password, email)
    assert set(caught.value.fields) == wrong


def test_an_address_is_taken_once(database: Database, ada: int) -> None:
    beth = register(database, "Beth")
    for same in (" ADA@example.org", "ada\uff20example.org", "ada@exa\u200bmple.org", "\uff41da@example.org"):
        with pytest.raises(Conflict, match="confirmed one of another account"), database.write() as session:
            people.set_address(session, CONSOLE, session.get_one(User, beth), same)
    with database.read() as session:
        assert session.get_one(User, ada).email == "ada@example.org"
        assert session.get_one(User, beth).email is None


@pytest.mark.parametrize("name", ["Ada", "nobody", "nobody@example.org"])
def test_a_wrong_password_and_a_wrong_name_sound_the_same(database: Database, ada: int, name: str) -> None:
    with pytest.raises(BadInput) as caught:
        people.authenticate(database, name, "not the password", HOME, NOW)
    assert caught.value.message == people.WRONG


def test_a_name_that_nobody_has_costs_as_much_to_try_as_one_that_somebody_has() -> None:
    hasher = PasswordHasher()
    assert not hasher.check_needs_rehash(OF_NOBODY)  # the same algorithm, cost and lengths as hashes made now
    with pytest.raises(VerifyMismatchError):  # so it was hashed; what can't be a hash would be refused before
        hasher.verify(OF_NOBODY, "a password to try")


ACCOUNT, ADDRESS = attempts.AT_ACCOUNT, attempts.OF_ADDRESS


@pytest.mark.parametrize(
    ("guesses", "address", "elsewhere"),
    [
        ([(name, HOME) for name in ("Ada", "ADA", "A\u200bda") * 4][:ACCOUNT], HOME, "192.0.2.2"),
        ([("Ada", f"2001:db8:1:2::{number:x}") for number in range(ACCOUNT)], "2001:db8:1:2:f::1", "2001:db8:1:3::1"),
        ([("Ada", "::ffff:192.0.2.1")] * ACCOUNT, HOME, "192.0.2.2"),
        ([(f"account {number} of many", HOME) for number in range(ADDRESS)], HOME, "192.0.2.2"),
    ],
    ids=["one address and account", "a network", "one address written in two ways", "one address and many accounts"],
)
def test_whoever_guesses_waits_and_nobody_elsewhere_does(
    database: Database, ada: int, guesses: list[tuple[str, str]], address: str, elsewhere: str
) -> None:
    for name, place in guesses:
        guess(database, name, place)
    with pytest.raises(TooManyAttempts, match="try again in 15 min"):
        people.authenticate(database, "Ada", PASSWORD, address, NOW)
    with pytest.raises(TooManyAttempts, match="try again in 5 min"):
        people.authenticate(database, "Ada", PASSWORD, address, NOW + dt.timedelta(minutes=10))
    assert people.authenticate(database, "Ada", PASSWORD, elsewhere, NOW).id == ada
    assert people.authenticate(database, "Ada", PASSWORD, address, NOW + attempts.WINDOW).id == ada


def test_guesses_from_many_addresses_lock_nobody_out_and_have_two_tries_each(database: Database, ada: int) -> None:
    for number in range(attempts.OF_ACCOUNT // attempts.AT_ACCOUNT):
        for _ in range(attempts.AT_ACCOUNT):
            guess(database, address=f"198.51.100.{number}")
    for address in ("203.0.113.1", "203.0.113.2"):
        for _ in range(attempts.AT_GUESSED_ACCOUNT):
            guess(database, address=address)
        with pytest.raises(TooManyAttempts, match="logged in to this account before"):
            people.authenticate(database, "Ada", PASSWORD, address, NOW)
    assert people.authenticate(database, "Ada", PASSWORD, HOME, NOW).id == ada


def test_a_browser_that_logged_in_before_gets_in_from_a_throttled_address_and_may_not_guess_for_ever(
    database: Database, ada: int
) -> None:
    own = KnownBrowser(ada, "the browser of Ada")
    for _ in range(attempts.AT_ACCOUNT):
        guess(database)
    assert people.authenticate(database, "Ada", PASSWORD, HOME, NOW, own).id == ada
    with pytest.raises(TooManyAttempts):  # what it knows is another account
        people.authenticate(database, "Ada", PASSWORD, HOME, NOW, KnownBrowser(ada + 1, "the browser of Beth"))
    for number in range(attempts.AT_ACCOUNT):
        guess(database, address=f"198.51.100.{number}", browser=own)
    with pytest.raises(TooManyAttempts):
        people.authenticate(database, "Ada", PASSWORD, "198.51.100.99", NOW, own)


def test_signing_in_forgets_the_slips_before_it(database: Database, ada: int) -> None:
    for _ in range(3):
        for _ in range(attempts.AT_ACCOUNT - 1):
            guess(database)
        people.authenticate(database, "Ada", PASSWORD, HOME, NOW)


def test_guesses_sent_at_the_same_moment_all_count(database: Database, ada: int) -> None:
    looked_at = []

    def one() -> None:
        try:
            people.authenticate(database, "Ada", "a wrong guess", HOME, NOW)
        except TooManyAttempts:
            return
        except BadInput:
            looked_at.append(1)

    threads = [threading.Thread(target=one) for _ in range(2 * attempts.AT_ACCOUNT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(looked_at) == attempts.AT_ACCOUNT


def test_registering_is_slowed_down_by_address_and_what_was_counted_is_swept(database: Database) -> None:
    for _ in range(attempts.REGISTRATIONS):
        attempts.count(database, attempts.REGISTRATION, NOW, HOME)
    with pytest.raises(TooManyAttempts, match="try again in 60 min"):
        attempts.count(database, attempts.REGISTRATION, NOW, HOME)
    attempts.count(database, attempts.REGISTRATION, NOW, "192.0.2.2")
    attempts.count(database, attempts.REGISTRATION, NOW + attempts.HOUR, HOME)
    with database.read() as session:
        assert list(session.scalars(sa.select(Attempt.at))) == [NOW + attempts.HOUR]


def test_a_new_password_ends_every_session(database: Database, ada: int) -> None:
    with database.write() as session:
        tokens = [people.start_session(session, ada, NOW) for _ in range(2)]
        hashes = session.scalars(sa.select(BrowserSession.token_hash)).all()
        assert not set(tokens).intersection(hashes)
    new = people.hashed("another word to enter", "Ada")
    with database.write() as session:
        assert all(open_session(session, token, NOW) for token in tokens)
        people.set_password(session, actor_of(session, ada), session.get_one(User, ada), new)
    with database.read() as session:
        assert not any(open_session(session, token, NOW) for token in tokens)
    assert people.authenticate(database, "Ada", "another word to enter", HOME, NOW).id == ada
    with pytest.raises(BadInput):
        people.authenticate(database, "Ada", PASSWORD, HOME, NOW)


def test_a_session_ends_by_itself_two_weeks_after_the_last_visit_and_is_swept(database: Database, ada: int) -> None:
    visit = NOW + dt.timedelta(days=10)
    with database.write() as session:
        left, visited, ended = (people.start_session(session, ada, NOW) for _ in range(3))
        for token, act in ((visited, people.note_seen), (ended, people.end_session)):
            found = open_session(session, token, NOW)
            assert found is not None
            act(session, found.id, visit)
        assert open_session(session, left, NOW + SESSION_LASTS - dt.timedelta(seconds=1)) is not None
        assert open_session(session, left, NOW + SESSION_LASTS) is None
        assert open_session(session, visited, NOW + SESSION_LASTS) is not None
        assert open_session(session, ended, visit) is None
    with database.write() as session:
        people.start_session(session, ada, NOW + SESSION_LASTS)
        assert len(session.scalars(sa.select(BrowserSession)).all()) == 2  # the visited one, the new one


def test_nobody_makes_accounts_for_others_or_changes_theirs(database: Database, ada: int) -> None:
    new = people.new_account("Cleo", PASSWORD)
    with database.write() as session:
        beth = people.create_user(session, CONSOLE, people.new_account("Beth", PASSWORD))
        actor = actor_of(session, ada)
        for forbidden in (
            lambda: people.create_user(session, actor, new),
            lambda: people.set_password(session, actor, beth, new.password_hash),
            lambda: people.end_sessions(session, actor, beth),
            lambda: people.close_account(session, actor, beth),
            lambda: people.end_sessions(session, VISITOR, beth),
        ):
            with pytest.raises(NotAllowed):
                forbidden()


@pytest.mark.parametrize(
    "password",
    [PASSWORD, "correct-horse-battery-staple", "sail-with-alder", "mXq7#fP2&vL9", "9!8?7#6$5%", "x" * 40 + PASSWORD],
)
def test_a_password_that_is_hard_to_guess_is_taken(password: str) -> None:
    people.new_account("Grace Hopper", password, "grace@example.org")


class NoneWithin(PasswordHasher):
    """Hashes and verifies, and counts how often a writing transaction of the database was open meanwhile."""

    def __init__(self, database: Database) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.hashes = self.within = self._open = 0
        sa.event.listen(database.engine, "begin", self._began)
        for end in ("commit", "rollback"):
            sa.event.listen(database.engine, end, self._ended)

    def _began(self, connection: sa.Connection) -> None:
        self._open += connection.get_execution_options().get("writing", False)

    def _ended(self, connection: sa.Connection) -> None:
        self._open -= connection.get_execution_options().get("writing", False)

    def _counted(self) -> None:
        self.hashes += 1
        self.within += self._open > 0

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        self._counted()
        return super().hash(password, salt=salt)

    def verify(self, hash: str | bytes, password: str | bytes) -> bool:  # type: ignore[override]  # noqa: A002  # argon2's own name
        self._counted()
        return super().verify(hash, password)


@pytest.fixture
def watched(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[NoneWithin]:
    hasher = NoneWithin(database)
    monkeypatch.setattr(people, "hasher", hasher)
    yield hasher
    assert hasher._open == 0


def test_no_password_is_hashed_while_a_writing_transaction_is_open(database: Database, watched: NoneWithin) -> None:
    register(database, "Grace Hopper")
    people.authenticate(database, "Grace Hopper", PASSWORD, HOME, NOW)
    with database.write() as session:  # made at another cost once, so that logging in hashes it anew
        session.execute(sa.update(User).values(password_hash=PasswordHasher(2, 16, 1).hash(PASSWORD)))
    people.authenticate(database, "Grace Hopper", PASSWORD, HOME, NOW)
    assert (watched.hashes, watched.within) == (4, 0)
    seeded = [replace(one, owns=()) for one in read_accounts(folder("seeds") / "accounts.toml")]
    load_accounts(database, seeded)
    assert (watched.hashes, watched.within) == (4 + len(seeded), 0)
