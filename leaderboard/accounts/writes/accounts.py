"""Accounts: made on the command line or by registering, signed in with a throttle, signed out everywhere at once."""

import datetime as dt
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, actor_of, require
from leaderboard.accounts.models import BrowserSession, User
from leaderboard.accounts.writes import passwords, sessions, tokens
from leaderboard.accounts.writes.passwords import PasswordHash
from leaderboard.accounts.writes.rate_limits import KnownBrowser, count_log_in, forgive
from leaderboard.audit.writes import assign, present, record
from leaderboard.db import Database
from leaderboard.errors import BadInput, InvalidFields, NotFound
from leaderboard.evaluations.reads.not_found import missing
from leaderboard.locking import add_or_refuse
from leaderboard.mail.models import MailLink
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes import outbox
from leaderboard.names import LONGEST_EMAIL, NAME_TAKEN, checked_email, checked_name, email_key, name_key, normalised

WRONG = "This name and password don't belong together."


@dataclass(frozen=True, slots=True)
class NewAccount:
    """What `new_account` found good: names with the keys that they are compared by, and the password's hash."""

    name: str
    name_key: str
    password_hash: PasswordHash | None
    email: str | None = None
    email_key: str | None = None


def new_account(name: str, password: str | None, email: str | None = None) -> NewAccount:
    """Checks what somebody wants as their account, and hashes the password; without a database, since that takes long.

    password  None for an account that somebody else's sign-in opens

    Raises InvalidFields with everything that is wrong.
    """
    fields: dict[str, list[str]] = {}
    shown, key, address, address_key = name, "", None, None
    try:
        shown, key = checked_name(name)
        # Signing in takes a name or an e-mail address: a name that is one could be somebody else's.
        if "@" in shown:
            fields["name"] = ["a name can't hold an @"]
    except InvalidFields as error:
        fields.update(error.fields)
    try:
        if email and email.strip():
            address, address_key = checked_email(email)
    except InvalidFields as error:
        fields.update(error.fields)
    password_hash = None
    try:
        password_hash = None if password is None else passwords.hashed(password, shown, address or "")
    except InvalidFields as error:
        fields.update(error.fields)
    if fields:
        raise InvalidFields(fields)
    return NewAccount(shown, key, password_hash, address, address_key)


def create_user(session: Session, actor: Actor, new: NewAccount, *, is_admin: bool = False) -> User:
    """An account made for somebody, by an admin or on the command line; its address needs no confirmation.

    Raises InvalidFields when its name or address is taken.
    """
    require(actor.all_powerful, "Only an admin makes accounts for others.")
    user = _add(session, new, is_admin)
    record(session, actor, "create", user, is_admin=is_admin)
    return user


def find_user(session: Session, name: str) -> User:
    """The account of this name, however its letters are written. Raises NotFound with the nearest names."""
    user = session.scalar(sa.select(User).where(User.name_key == name_key(name)))
    return user or missing(session, "account", name, User.name)


def require_free(session: Session, name: str) -> None:
    """Raises InvalidFields when an account has this name, without saying whose. Who asks is counted before."""
    if session.scalar(sa.select(User.id).where(User.name_key == name_key(name))) is not None:
        raise InvalidFields({"name": [NAME_TAKEN]})


def register(session: Session, new: NewAccount) -> User:
    """An account that somebody makes for themselves. Raises InvalidFields when its name is taken, without saying whose.

    Its address counts once it is confirmed: until then nobody learns whether another account has the same.
    """
    require_free(session, new.name)
    user = _add(session, replace(new, email=None, email_key=None), is_admin=False)
    if new.email is not None:
        user.unconfirmed_email = new.email
        outbox.put(session, MailKind.CONFIRMATION, user.id, new.email)
    record(session, actor_of(session, user.id), "register", user)
    return user


def authenticate(
    database: Database,
    name: str,
    password: str,
    address: str,
    now: dt.datetime | None = None,
    browser: KnownBrowser | None = None,
) -> User:
    """The account of this name or e-mail address, when the password is right.

    address  the client's; browser: what it proves to have logged in to before

    Raises BadInput when it is wrong, TooManyAttempts when there were too many wrong ones of late, with when to try
    again. Takes the database instead of a session, because a failure is recorded though it raises, and because hashing
    takes too long to hold a writing transaction meanwhile.
    """
    now = now or present()
    if len(name) > LONGEST_EMAIL:
        raise BadInput(WRONG)
    with database.read() as session:
        user = session.scalar(
            sa.select(User).where(
                sa.or_(User.name_key == name_key(name), User.email_key == email_key(name)), User.is_active.is_(True)
            )
        )
    # By what was typed: counted together, guesses at a name would tell by a wait which address is the same account's.
    account = f"account {email_key(name) if '@' in normalised(name) else name_key(name)}"
    known = browser if browser is not None and user is not None and browser.user_id == user.id else None
    counted = count_log_in(database, account, address, now, known)
    stored = user.password_hash if user is not None else None
    right = passwords.verify(stored or passwords.of_nobody(), password)
    if user is None or stored is None or not right:
        raise BadInput(WRONG)
    newer = passwords.rehashed(password) if passwords.is_outdated(stored) else None
    with database.write() as session:
        forgive(session, counted)
        user = session.get_one(User, user.id)
        user.last_login_at = now
        if newer is not None:
            user.password_hash = newer
    return user


def set_password(
    session: Session, actor: Actor, user: User, password_hash: PasswordHash, staying: int | None = None
) -> str:
    """A new password, checked and hashed before (`passwords.hashed`).

    Every session and API token of the account ends, no link that sets a password works any more or is made for a mail
    that waits, and its owner is told by mail. staying: the session that goes on; gives its new token then.
    """
    require(actor.all_powerful or actor.user_id == user.id, "You can only change your own password.")
    now = present()
    user.password_hash = password_hash
    token = sessions.end_all(session, user.id, now, staying)
    tokens.revoke_all(session, user.id, now)
    outbox.void_resets(session, user, "another password was set since")  # before the links: it waits for their senders
    links = sa.update(MailLink).where(
        MailLink.user_id == user.id, MailLink.kind == MailKind.RESET, MailLink.used_at.is_(None)
    )
    session.execute(links.values(used_at=now))
    if user.email is not None:
        outbox.put(session, MailKind.PASSWORD, user.id)
    record(session, actor, "set password", user)
    return token


def end_sessions(session: Session, actor: Actor, user: User, staying: int | None = None) -> str:
    """Signs the account out everywhere, but in the session `staying`, whose new token it gives then."""
    require(actor.all_powerful or actor.user_id == user.id, "You can only end your own sessions.")
    token = sessions.end_all(session, user.id, present(), staying)
    record(session, actor, "end sessions", user)
    return token


def end_session(session: Session, actor: Actor, user: User, session_id: int) -> None:
    """Signs the account out in one browser. Raises NotFound for a session of another account, as for none."""
    require(actor.all_powerful or actor.user_id == user.id, "You can only end your own sessions.")
    found = session.get(BrowserSession, session_id)
    if found is None or found.user_id != user.id:
        raise NotFound
    if found.ended_at is None:
        sessions.end(session, session_id, present())
        record(session, actor, "end session", user)


def set_admin(session: Session, actor: Actor, user: User, *, is_admin: bool) -> None:
    """Lets an account do everything, or no longer. On the command line only: no stolen session makes one."""
    require(actor.all_powerful and actor.user_id is None, "Admins are made on the command line only.")
    if assign(user, is_admin=is_admin):
        record(session, actor, "make admin" if is_admin else "unmake admin", user)


def set_founder(session: Session, actor: Actor, user: User, *, may_found: bool) -> None:
    """Lets an account make campaigns of its own, which it then organises; or no longer."""
    require(actor.all_powerful, "Only an admin says who may make campaigns.")
    if assign(user, may_found=may_found):
        record(session, actor, "let found campaigns" if may_found else "let found no more campaigns", user)


def _add(session: Session, new: NewAccount, is_admin: bool) -> User:
    taken = _taken(session, new)
    if taken.fields:
        raise taken
    user = User(
        name=new.name,
        name_key=new.name_key,
        email=new.email,
        email_key=new.email_key,
        password_hash=new.password_hash,
        is_admin=is_admin,
        created_at=present(),
    )
    add_or_refuse(session, user, InvalidFields({"name": ["somebody just took this name or e-mail address"]}))
    return user


def _taken(session: Session, new: NewAccount) -> InvalidFields:
    fields: dict[str, list[str]] = {}
    other = session.scalar(sa.select(User.name).where(User.name_key == new.name_key))
    if other is not None:
        fields["name"] = [f"{new.name!r} is taken" if other == new.name else f"{new.name!r} is too close to {other!r}"]
    if new.email_key and session.scalar(sa.select(User.id).where(User.email_key == new.email_key)) is not None:
        fields["email"] = ["there is an account with this e-mail address"]
    return InvalidFields(fields)
