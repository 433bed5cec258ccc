"""Accounts: made on the command line or by registering, signed in with a throttle, signed out everywhere at once."""

import datetime as dt
import re
import unicodedata

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from sqlalchemy.orm import Session

from leaderboard.access import Actor, actor_of, require
from leaderboard.db import Database
from leaderboard.errors import BadInput, InvalidFields, NotAllowed
from leaderboard.lookup import missing
from leaderboard.models import LoginFailure, User
from leaderboard.services.events import present, record
from leaderboard.services.locking import add_or_refuse
from leaderboard.services.names import checked_name, name_key

__all__ = [
    "authenticate",
    "close_account",
    "create_user",
    "end_sessions",
    "find_user",
    "register",
    "set_admin",
    "set_password",
]

SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 1000  # hashing a longer one would only cost time
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")

WINDOW = dt.timedelta(minutes=15)
FAILURES_OF_ACCOUNT = 10  # in one window, before the account has to wait
FAILURES_OF_ADDRESS = 50  # many people share one address

WRONG = "This name and password don't belong together."

hasher = PasswordHasher()
# Verified against when there is no such account, so that the answer takes as long.
NOBODY = hasher.hash("nobody has this password")


def create_user(
    session: Session, actor: Actor, name: str, password: str, email: str | None = None, is_admin: bool = False
) -> User:
    """An account made for somebody, by an admin or on the command line."""
    require(actor.all_powerful, "Only an admin makes accounts for others.")
    user = _add(session, name, password, email, is_admin)
    record(session, actor, "create", user, name=user.name, is_admin=is_admin)
    return user


def find_user(session: Session, name: str) -> User:
    """The account of this name, however its letters are written. Raises NotFound with the nearest names."""
    user = session.scalar(sa.select(User).where(User.name_key == name_key(name)))
    return user or missing(session, "account", name, User.name)


def register(session: Session, name: str, email: str, password: str) -> User:
    """An account that somebody makes for themselves."""
    user = _add(session, name, password, email, is_admin=False)
    record(session, actor_of(session, user.id), "register", user, name=user.name)
    return user


def authenticate(database: Database, name: str, password: str, address: str, now: dt.datetime | None = None) -> User:
    """The account of this name or e-mail address, when the password is right.

    Raises BadInput when it is wrong, NotAllowed when there were too many wrong ones of late, with when to try again.
    Takes the database instead of a session, because a failure is recorded though it raises, and because hashing takes
    too long to hold a writing transaction meanwhile. The attempt is counted before the password is looked at: guesses
    sent at the same moment all count.
    """
    now = now or present()
    key = name_key(name)
    subjects = {f"account {key}": FAILURES_OF_ACCOUNT, f"address {address}": FAILURES_OF_ADDRESS}
    with database.write() as session:
        _sweep(session, now)
        for subject, allowed in subjects.items():
            _throttle(session, subject, allowed, now)
        attempts = [LoginFailure(subject=subject, at=now) for subject in subjects]
        session.add_all(attempts)
    with database.read() as session:
        user = session.scalar(
            sa.select(User).where(
                sa.or_(User.name_key == key, User.email_key == _email_key(name)), User.is_active.is_(True)
            )
        )
    right = _verify(user.password_hash if user is not None else NOBODY, password)
    if user is None or not right:
        raise BadInput(WRONG)
    with database.write() as session:
        # Right: what led here was no guessing, at least for this account.
        session.execute(sa.delete(LoginFailure).where(LoginFailure.id.in_([attempt.id for attempt in attempts])))
        session.execute(sa.delete(LoginFailure).where(LoginFailure.subject == f"account {key}"))
        user = session.get_one(User, user.id)
        user.last_login_at = now
        if hasher.check_needs_rehash(user.password_hash):
            user.password_hash = hasher.hash(password)
    return user


def set_password(session: Session, actor: Actor, user: User, password: str) -> None:
    """A new password; every session of the account ends."""
    require(actor.all_powerful or actor.user_id == user.id, "You can only change your own password.")
    _check_password(password, user.name)
    user.password_hash = hasher.hash(password)
    user.session_version += 1
    record(session, actor, "set password", user)


def end_sessions(session: Session, actor: Actor, user: User) -> None:
    """Signs the account out everywhere."""
    require(actor.all_powerful or actor.user_id == user.id, "You can only end your own sessions.")
    user.session_version += 1
    record(session, actor, "end sessions", user)


def close_account(session: Session, actor: Actor, user: User) -> None:
    """Nobody can sign in with it any more; its runs stay."""
    require(actor.all_powerful or actor.user_id == user.id, "You can only close your own account.")
    user.is_active = False
    user.session_version += 1
    record(session, actor, "close", user)


def set_admin(session: Session, actor: Actor, user: User, *, is_admin: bool) -> None:
    """Lets an account do everything, or no longer. On the command line only: no stolen session makes one."""
    require(actor.all_powerful and actor.user_id is None, "Admins are made on the command line only.")
    user.is_admin = is_admin
    record(session, actor, "make admin" if is_admin else "unmake admin", user)


def _add(session: Session, name: str, password: str, email: str | None, is_admin: bool) -> User:
    fields: dict[str, list[str]] = {}
    shown, key = name, ""
    try:
        shown, key = checked_name(name)
        # Signing in takes a name or an e-mail address: a name that is one could be somebody else's.
        if "@" in shown:
            fields["name"] = ["a name can't hold an @"]
    except InvalidFields as error:
        fields.update(error.fields)
    email = (email or "").strip() or None
    if email is not None and (not EMAIL.fullmatch(email) or len(email) > 254):
        fields["email"] = ["this is no e-mail address; expected something like ada@example.org"]
    try:
        _check_password(password, shown)
    except InvalidFields as error:
        fields.update(error.fields)
    if fields:
        raise InvalidFields(fields)
    email_key = _email_key(email) if email else None
    taken = _taken(session, shown, key, email_key)
    if taken.fields:
        raise taken
    user = User(
        name=shown,
        name_key=key,
        email=email,
        email_key=email_key,
        password_hash=hasher.hash(password),
        is_admin=is_admin,
        created_at=present(),
    )
    add_or_refuse(session, user, InvalidFields({"name": ["somebody just took this name or e-mail address"]}))
    return user


def _taken(session: Session, name: str, key: str, email_key: str | None) -> InvalidFields:
    fields: dict[str, list[str]] = {}
    other = session.scalar(sa.select(User.name).where(User.name_key == key))
    if other is not None:
        fields["name"] = [f"{name!r} is taken" if other == name else f"{name!r} is too close to {other!r}"]
    if email_key and session.scalar(sa.select(User.id).where(User.email_key == email_key)) is not None:
        fields["email"] = ["there is an account with this e-mail address; sign in instead"]
    return InvalidFields(fields)


def _check_password(password: str, name: str) -> None:
    problem = None
    if len(password) < SHORTEST_PASSWORD:
        problem = f"use at least {SHORTEST_PASSWORD} characters; a few words are easy to remember"
    elif len(password) > LONGEST_PASSWORD:
        problem = f"use at most {LONGEST_PASSWORD:,} characters"
    elif name_key(password) == name_key(name):
        problem = "use something else than the name"
    if problem:
        raise InvalidFields({"password": [problem]})


def _email_key(email: str) -> str:
    return unicodedata.normalize("NFKC", email.strip()).casefold()


def _verify(password_hash: str, password: str) -> bool:
    try:
        return hasher.verify(password_hash, password)
    except VerificationError:
        return False


def _throttle(session: Session, subject: str, allowed: int, now: dt.datetime) -> None:
    """Raises NotAllowed, with when to try again, once `allowed` failures lie within the window."""
    failures = list(
        session.scalars(
            sa.select(LoginFailure.at)
            .where(LoginFailure.subject == subject, LoginFailure.at > now - WINDOW)
            .order_by(LoginFailure.at.desc())
            .limit(allowed)
        )
    )
    if len(failures) == allowed:
        minutes = max(1, round((failures[-1] + WINDOW - now).total_seconds() / 60))
        raise NotAllowed(f"There were too many wrong passwords; try again in {minutes} min.")


def _sweep(session: Session, now: dt.datetime) -> None:
    session.execute(sa.delete(LoginFailure).where(LoginFailure.at <= now - WINDOW))
