"""What opens an account: passwords and their hashes, sessions of browsers, API tokens.

Hashing takes a twentieth of a second and much memory, so it is done before a writing transaction is opened: writes that
keep a password take its hash. A session is a row, so that logging out ends it wherever its cookie was copied to. A
token is shown once.

Accounts: made, logged in to, given another password or address, linked to identities elsewhere, and closed.

An e-mail address counts only when it is confirmed: nobody logs in with another one, or gets a link for a new password
sent there. So it does no harm to give somebody else's, and nobody learns from it whether that has an account here. No
account is found by an address that a provider of identities names: it may be unconfirmed, or another person's.
"""

import secrets
from collections.abc import Collection, Iterable
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any, NewType

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from sqlalchemy.orm import Session

from leaderboard.access import Actor, actor_of, require
from leaderboard.accounts.models import ApiToken, BrowserSession, Identity, User
from leaderboard.accounts.rate_limits import KnownBrowser, count_log_in, forgive
from leaderboard.accounts.reads import is_live, needed_by, tokens_of
from leaderboard.accounts.rules import LONGEST, SESSION_LASTS, Scope, password_problem, token_hash
from leaderboard.audit.writes import assign, present, record
from leaderboard.campaigns.models import Campaign, CampaignOrganiser
from leaderboard.db import Database, add_or_refuse, exists, locked, missing
from leaderboard.errors import BadInput, Conflict, Gathered, InvalidFields, NotFound
from leaderboard.frozen import frozen
from leaderboard.mail import writes as outbox
from leaderboard.mail.models import Mail, MailLink
from leaderboard.mail.rules import OPTIONAL, MailKind
from leaderboard.names import LONGEST_EMAIL, NAME_TAKEN, checked_email, checked_name, email_key, name_key, normalised
from leaderboard.teams.models import JoinRequest, Membership, Team
from leaderboard.teams.rules import closed_account
from leaderboard.texts import text_problem

PasswordHash = NewType("PasswordHash", str)

hasher = PasswordHasher()
# Verified against when there is no such account, so that the answer takes as long: no password's hash. It is written
# and not computed: a hash takes a twentieth of a second, which every command would pay for.
COSTS = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
OF_NOBODY = f"$argon2id$v=19${COSTS}${'A' * 22}${'A' * 43}"


def hashed(password: str, *about: str) -> PasswordHash:
    """The hash of a password that somebody chose. Raises InvalidFields, saying what to do, when it is a weak one.

    about  the account's name and e-mail address: words in them make a password no better
    """
    if problem := password_problem(password, about):
        raise InvalidFields({"password": [problem]})
    return PasswordHash(hasher.hash(password))


def _is_of(password_hash: str, password: str) -> bool:
    """Whether the hash is this password's. Takes as long for a wrong one as for the right one."""
    try:
        return len(password) <= LONGEST and hasher.verify(password_hash, password)
    except VerificationError:
        return False


SEEN_EVERY = timedelta(hours=1)  # a visit is noted no more often than this: reading a page should write nothing


def start_session(session: Session, user_id: int, now: datetime, browser: str = "") -> str:
    """A new session of the account; gives its token, which is kept nowhere here. Sweeps those that are over.

    browser  by which its owner tells it from others
    """
    over = sa.or_(BrowserSession.expires_at <= now, BrowserSession.ended_at.is_not(None))
    session.execute(sa.delete(BrowserSession).where(over))
    token = secrets.token_urlsafe(24)
    lasting = {"created_at": now, "last_seen_at": now, "expires_at": now + SESSION_LASTS}
    session.add(BrowserSession(user_id=user_id, token_hash=token_hash(token), browser=browser, **lasting))
    session.flush()
    return token


def note_seen(session: Session, session_id: int, now: datetime) -> None:
    """Lets an open session last on from now."""
    _change_session(session, session_id, last_seen_at=now, expires_at=now + SESSION_LASTS)


def end_session(session: Session, session_id: int, now: datetime) -> None:
    """Ends one session, in every browser that holds its cookie."""
    _change_session(session, session_id, ended_at=now)


def _change_session(session: Session, session_id: int, **changes: object) -> None:
    session.execute(sa.update(BrowserSession).where(BrowserSession.id == session_id).values(changes))


def end_all_sessions(session: Session, user_id: int, now: datetime, staying: int | None = None) -> str:
    """Ends every session of the account.

    staying  one that goes on, as the log-in that it began with, under a new token, which is given back: copies of its
             cookie open nothing any more. A new session in its place would count wrong passwords from nought, and
             stand for a log-in that never was
    """
    own = sa.update(BrowserSession).where(BrowserSession.user_id == user_id, BrowserSession.ended_at.is_(None))
    session.execute(own.where(BrowserSession.id.is_distinct_from(staying)).values(ended_at=now))
    if staying is None:
        return ""
    token = secrets.token_urlsafe(24)
    renewed = {"token_hash": token_hash(token), "last_seen_at": now, "expires_at": now + SESSION_LASTS}
    session.execute(own.where(BrowserSession.id == staying).values(**renewed))
    return token


TOKEN_PREFIX = "lb_"  # noqa: S105  # so that a token that got into a repository can be found there
HINT = len(TOKEN_PREFIX) + 4  # characters; of the 43 random ones the account's page shows four
LONGEST_NAME = 80
LONGEST_DAYS = 3660
MOST_TOKENS = 50  # of an account at the same time
USED_EVERY = timedelta(minutes=1)  # a use is noted no more often than this: most requests should write nothing


def make_token(
    session: Session, actor: Actor, user: User, name: str, scopes: Iterable[Scope], *, days: int | None, now: datetime
) -> str:
    """A new token of the account, which is kept nowhere here; READ is always among its scopes.

    name  what its owner tells it by
    days  after which it opens nothing; None: it lasts until it is revoked

    Raises InvalidFields (name), Conflict where the account has too many.
    """
    _require_own(actor, user)
    locked(session, User, user.id)  # counted first and added after: two at once must not both pass
    name = " ".join(name.split())
    if problem := text_problem(name, LONGEST_NAME) if name else "say what the token is for":
        raise InvalidFields({"name": [problem]})
    if len(tokens_of(session, user.id, now)) >= MOST_TOKENS:
        raise Conflict(f"The account has {MOST_TOKENS} tokens; revoke one first.")
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    granted = sorted(scope.value for scope in {Scope.READ, *scopes})
    ends = None if days is None else now + timedelta(days=days)
    values = {"token_hash": token_hash(token), "created_at": now, "expires_at": ends}
    session.add(ApiToken(user_id=user.id, name=name, hint=token[:HINT], scopes=granted, **values))
    record(session, actor, "make token", user, name=name, scopes=granted, days=days)
    return token


def revoke_token(session: Session, actor: Actor, user: User, token_id: int) -> None:
    """From here on the token opens nothing. Raises NotFound for a token of somebody else, as for none."""
    _require_own(actor, user)
    token = session.get(ApiToken, token_id)
    if token is None or token.user_id != user.id:
        raise NotFound
    if token.revoked_at is None:
        token.revoked_at = present()
        record(session, actor, "revoke token", user, name=token.name)


def note_use(session: Session, token_id: int, now: datetime) -> None:
    """Notes that a token was used now."""
    session.execute(sa.update(ApiToken).where(ApiToken.id == token_id).values(last_used_at=now))


WRONG = "This name and password don't belong together."


@frozen
class NewAccount:
    """What `new_account` found good, and the password's hash."""

    name: str
    password_hash: PasswordHash | None
    email: str | None = None


def new_account(name: str, password: str | None, email: str | None = None) -> NewAccount:
    """Checks what somebody wants as their account, and hashes the password; without a database, since that takes long.

    password  None for an account that somebody else's sign-in opens

    Raises InvalidFields with everything that is wrong.
    """
    wrong = Gathered()
    address, password_hash = None, None
    with wrong:
        name, _ = checked_name(name)
        # Signing in takes a name or an e-mail address: a name that is one could be somebody else's.
        if "@" in name:
            raise InvalidFields({"name": ["a name can't hold an @"]})
    with wrong:
        if email and email.strip():
            address, _ = checked_email(email)
    with wrong:
        password_hash = None if password is None else hashed(password, name, address or "")
    wrong.raise_any()
    return NewAccount(name, password_hash, address)


def create_user(session: Session, actor: Actor, new: NewAccount, *, is_admin: bool = False) -> User:
    """An account made for somebody, by an admin or on the command line; its address needs no confirmation.

    Raises InvalidFields when its name or address is taken.
    """
    require(actor.all_powerful, "Only an admin makes accounts for others.")
    user = _add(session, new, is_admin=is_admin)
    record(session, actor, "create", user, is_admin=is_admin)
    return user


def find_user(session: Session, name: str) -> User:
    """The account of this name, however its letters are written. Raises NotFound with the nearest names."""
    user = session.scalar(sa.select(User).where(User.name_key == name_key(name)))
    return user or missing(session, "account", name, User.name)


def require_free(session: Session, name: str) -> None:
    """Raises InvalidFields when an account has this name, without saying whose. Who asks is counted before."""
    if exists(session, User.name_key == name_key(name)):
        raise InvalidFields({"name": [NAME_TAKEN]})


def register(session: Session, new: NewAccount) -> User:
    """An account that somebody makes for themselves. Raises InvalidFields when its name is taken, without saying whose.

    Its address counts once it is confirmed: until then nobody learns whether another account has the same.
    """
    user = _add(session, replace(new, email=None))
    if new.email is not None:
        user.unconfirmed_email = new.email
        outbox.put(session, MailKind.CONFIRMATION, user.id, new.email)
    record(session, actor_of(session, user.id), "register", user)
    return user


def authenticate(
    database: Database, name: str, password: str, address: str, now: datetime, browser: KnownBrowser | None = None
) -> User:
    """The account of this name or e-mail address, when the password is right.

    address  the client's; browser: what it proves to have logged in to before

    Raises BadInput when it is wrong, TooManyAttempts when there were too many wrong ones of late, with when to try
    again. Takes the database instead of a session, because a failure is recorded though it raises, and because hashing
    takes too long to hold a writing transaction meanwhile.
    """
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
    known = browser if browser and user and browser.user_id == user.id else None
    counted = count_log_in(database, account, address, now, known)
    stored = user and user.password_hash
    right = _is_of(stored or OF_NOBODY, password)
    if not (user and stored and right):
        raise BadInput(WRONG)
    newer = hasher.hash(password) if hasher.check_needs_rehash(stored) else stored
    with database.write() as session:
        forgive(session, counted)
        user = session.get_one(User, user.id)
        user.last_login_at, user.password_hash = now, newer
    return user


def set_password(
    session: Session, actor: Actor, user: User, password_hash: PasswordHash, staying: int | None = None
) -> str:
    """A new password, checked and hashed before (`hashed`).

    Every session and API token of the account ends, no link that sets a password works any more or is made for a mail
    that waits, and its owner is told by mail. staying: the session that goes on; gives its new token then.
    """
    _require_own(actor, user)
    now = present()
    user.password_hash = password_hash
    token = end_all_sessions(session, user.id, now, staying)
    session.execute(sa.update(ApiToken).where(ApiToken.user_id == user.id, is_live(now)).values(revoked_at=now))
    outbox.void_resets(session, user)  # before the links: it waits for their senders
    links = MailLink.user_id == user.id, MailLink.kind == MailKind.RESET, MailLink.used_at.is_(None)
    session.execute(sa.update(MailLink).where(*links).values(used_at=now))
    if user.email is not None:
        outbox.put(session, MailKind.PASSWORD, user.id)
    record(session, actor, "set password", user)
    return token


def end_sessions(session: Session, actor: Actor, user: User, staying: int | None = None) -> str:
    """Signs the account out everywhere, but in the session `staying`, whose new token it gives then."""
    _require_own(actor, user)
    token = end_all_sessions(session, user.id, present(), staying)
    record(session, actor, "end sessions", user)
    return token


def log_out(session: Session, actor: Actor, user: User, session_id: int) -> None:
    """Signs the account out in one browser. Raises NotFound for a session of another account, as for none."""
    _require_own(actor, user)
    browser = session.get(BrowserSession, session_id)
    if browser is None or browser.user_id != user.id:
        raise NotFound
    if browser.ended_at is None:
        browser.ended_at = present()
        record(session, actor, "end session", user)


def _require_own(actor: Actor, user: User) -> None:
    require(actor.all_powerful or actor.user_id == user.id, "You can only do this with your own account.")


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


def _add(session: Session, new: NewAccount, **more: Any) -> User:
    require_free(session, new.name)
    keys = {"name_key": name_key(new.name), "email_key": new.email and email_key(new.email)}
    user = User(**asdict(new), **keys, **more, created_at=present())
    add_or_refuse(session, user, InvalidFields({"name": ["another account has this name or e-mail address"]}))
    return user


def find_link(session: Session, kind: MailKind, token: str, now: datetime, actor: Actor | None = None) -> MailLink:
    """The link of a mail that still works, with its account. Raises Conflict otherwise, whatever the reason.

    Not where the account has another address by now, to the letter: that is where the link was sent, and who reads the
    old one's mail has lost it.

    actor  whose account it has to be of
    """
    link = session.scalar(
        sa.select(MailLink)
        .join(MailLink.user)
        .options(sa.orm.contains_eager(MailLink.user))
        .where(
            MailLink.token_hash == token_hash(token),
            MailLink.kind == kind,
            MailLink.used_at.is_(None),
            MailLink.expires_at > now,
            User.is_active.is_(True),
            MailLink.address == (User.email if kind is MailKind.RESET else User.unconfirmed_email),
            sa.true() if actor is None else MailLink.user_id == actor.user_id,
        )
    )
    if link is None:
        raise Conflict(
            "This link does not work, or no longer: it works once, until the time that its mail names, and where it "
            "confirms an address, for the account that is logged in. Have another one sent."
        )
    return link


def _locked_link(session: Session, kind: MailKind, token: str, now: datetime, actor: Actor | None = None) -> MailLink:
    """The same, looked at again under the locks: a link works once."""
    link = find_link(session, kind, token, now, actor)
    locked(session, User, link.user_id)
    locked(session, MailLink, link.id)
    return find_link(session, kind, token, now, actor)


def ask_for_reset(session: Session, email: str) -> None:
    """Puts a mail down, whether or not there is an account: that is looked up when it is sent, and nobody is told. It
    goes to the address that the account has confirmed, however `email` is written.

    So what is answered, and what is done until then, is the same for every address. Raises InvalidFields for a text
    that is no address.
    """
    address, _ = checked_email(email)
    outbox.put(session, MailKind.RESET, None, address)


def reset_password(session: Session, token: str, password_hash: PasswordHash, now: datetime) -> None:
    """Sets the password; the link and all others of the account are used up, and all of its sessions end."""
    user = _locked_link(session, MailKind.RESET, token, now).user
    set_password(session, actor_of(session, user.id), user, password_hash)


def change_address(session: Session, actor: Actor, user: User, email: str) -> None:
    """Gives another address, which is confirmed by a link sent there; the one in use is told. Empty: none any more."""
    _require_own(actor, user)
    if not email.strip():
        _take(session, user, None)
        record(session, actor, "remove address", user)
        return
    user.unconfirmed_email, _ = checked_email(email)
    send_confirmation(session, actor, user)
    if user.email is not None:
        outbox.put(session, MailKind.ADDRESS, user.id, user.email, new=user.unconfirmed_email, done=False)
    record(session, actor, "give address", user)


def send_confirmation(session: Session, actor: Actor, user: User) -> str:
    """Sends the link, once more, for an address that waits for it; gives the address."""
    _require_own(actor, user)
    if user.unconfirmed_email is None:
        raise Conflict("No address of this account waits to be confirmed.")
    outbox.void_confirmations(session, user)
    outbox.put(session, MailKind.CONFIRMATION, user.id, user.unconfirmed_email)
    return user.unconfirmed_email


def confirm_address(session: Session, actor: Actor, user: User, token: str, now: datetime) -> str:
    """Makes the address that a link was sent to the account's; the one before is told. Only its own account may."""
    link = _locked_link(session, MailKind.CONFIRMATION, token, now, actor)
    link.used_at = now
    _take(session, user, link.address)
    record(session, actor, "confirm address", user)
    return link.address


def set_address(session: Session, actor: Actor, user: User, email: str) -> None:
    """An address that somebody at the console knows to be the account's: it needs no confirmation."""
    require(actor.all_powerful, "Only an admin gives an account an address that is not confirmed by a link.")
    address, _ = checked_email(email)
    if user.email == address and user.unconfirmed_email is None:
        return
    _take(session, user, address)
    record(session, actor, "set address", user)


def choose_mail(session: Session, actor: Actor, user: User, wanted: Collection[str]) -> None:
    """Which kinds of mail the account gets, of those that can be turned off."""
    _require_own(actor, user)
    unwanted = [kind.value for kind in OPTIONAL if kind.value not in wanted]
    if assign(user, unwanted_mail=unwanted):
        record(session, actor, "choose mail", user)


def _take(session: Session, user: User, address: str | None) -> None:
    """The account has this address from now on, or none; the one before is told.

    Raises Conflict where another account has confirmed the same address.
    """
    key = None if address is None else email_key(address)
    if key and exists(session, User.email_key == key, User.id != user.id):
        raise Conflict("This address is the confirmed one of another account: an address belongs to one account.")
    outbox.void_confirmations(session, user)
    old = user.email
    user.email, user.email_key, user.unconfirmed_email = address, key, None
    if old is not None and old != address:
        outbox.put(session, MailKind.ADDRESS, user.id, old, new=address or "", done=True)
    session.flush()


@frozen
class Proven:
    """Who somebody is elsewhere. `subject` never changes; `name` is what a new account may be called; `title` is the
    provider's.
    """

    title: str
    issuer: str
    subject: str
    name: str


def log_in(session: Session, proven: Proven, now: datetime) -> User | None:
    """The account that this identity logs in to, and notes that it was used; None when there is none."""
    own = Identity.issuer == proven.issuer, Identity.subject == proven.subject
    identity = session.scalar(sa.select(Identity).where(*own))
    if identity is None or not identity.user.is_active:
        return None
    identity.last_used_at = identity.user.last_login_at = now
    return identity.user


def link_identity(session: Session, actor: Actor, user: User, proven: Proven) -> None:
    """Lets a proven identity log in to the account. Raises Conflict when it logs in to an account already."""
    require(actor.user_id == user.id, "You can only link an identity to your own account.")
    _add_identity(session, actor, user, proven)
    outbox.put(session, MailKind.IDENTITY, user.id, title=proven.title)


def register_with(session: Session, new: NewAccount, proven: Proven) -> User:
    """A new account that a proven identity logs in to; it has no password. Raises as `register` and `link_identity`."""
    user = register(session, new)
    _add_identity(session, actor_of(session, user.id), user, proven)
    return user


def unlink_identity(session: Session, actor: Actor, user: User, identity_id: int) -> None:
    """Takes an identity away. Raises NotFound, or Conflict when nothing else would open the account."""
    _require_own(actor, user)
    locked(session, User, user.id)
    identity = session.get(Identity, identity_id)
    if identity is None or identity.user_id != user.id:
        raise NotFound(f"no identity {identity_id} logs in to {user.name}")
    others = Identity.user_id == user.id, Identity.id != identity_id
    if user.password_hash is None and not exists(session, *others):
        raise Conflict(f"Nothing else would open the account {user.name}: set a password first.")
    session.delete(identity)
    record(session, actor, "unlink identity", user, issuer=identity.issuer)


def _add_identity(session: Session, actor: Actor, user: User, proven: Proven) -> None:
    identity = Identity(user_id=user.id, issuer=proven.issuer, subject=proven.subject, created_at=present())
    add_or_refuse(session, identity, Conflict("This identity logs in to another account: take it away there first."))
    record(session, actor, "link identity", user, issuer=proven.issuer)


# What belongs to the account alone, and goes with it.
ITS_OWN = (ApiToken, BrowserSession, CampaignOrganiser, Identity, JoinRequest, Mail, MailLink, Membership)


def close_account(session: Session, actor: Actor, user: User) -> None:
    """Nobody can sign in with it any more. Its name, address, sessions, tokens and identities are removed.

    It leaves its teams and campaigns. Runs stay under the team's name, and the audit trail as it is, which knows an
    account by its number. Raises Conflict that names the teams and campaigns which somebody else has to take over.
    """
    _require_own(actor, user)
    teams = sa.select(Membership.team_id).where(Membership.user_id == user.id)
    organised = sa.select(CampaignOrganiser.campaign_id).where(CampaignOrganiser.user_id == user.id)
    # Locked in one order: two owners who close their accounts at the same moment would leave the team without one.
    left = [locked(session, Team, key) for key in sorted(session.scalars(teams))]
    handed = [locked(session, Campaign, key) for key in sorted(session.scalars(organised))]
    user = locked(session, User, user.id)
    if needed := needed_by(session, user.id):
        raise Conflict(f"Somebody else has to own or organise first: {', '.join(needed)}.")
    for table in ITS_OWN:
        session.execute(sa.delete(table).where(table.user_id == user.id))
    for team in left:
        record(session, actor, "leave", team, user=user.id)
    for campaign in handed:
        record(session, actor, "remove organiser", campaign, user=user.id)
    address = user.email
    if address is not None:  # asked for without an account, by the address alone
        session.execute(sa.delete(Mail).where(Mail.id.in_(outbox.resets_to(session, address))))
    session.refresh(user)
    user.name = user.name_key = closed_account(user.id)  # with blanks, so that it is no name's key
    user.email = user.email_key = user.unconfirmed_email = user.password_hash = user.last_login_at = None
    user.is_active = user.is_admin = user.may_found = False
    if address is not None:
        outbox.put(session, MailKind.CLOSED, user.id, address)
    record(session, actor, "close", user)
