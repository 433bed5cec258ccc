"""Accounts: made, logged in to, given another password or address, linked to identities elsewhere, and closed.

An e-mail address counts only when it is confirmed: nobody logs in with another one, or gets a link for a new password
sent there. So it does no harm to give somebody else's, and nobody learns from it whether that has an account here. No
account is found by an address that a provider of identities names: it may be unconfirmed, or another person's.
"""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, actor_of, require
from leaderboard.accounts.models import ApiToken, BrowserSession, Identity, User
from leaderboard.accounts.rules import token_hash
from leaderboard.accounts.writes import credentials
from leaderboard.accounts.writes.credentials import PasswordHash
from leaderboard.accounts.writes.rate_limits import KnownBrowser, count_log_in, forgive
from leaderboard.audit.writes import assign, present, record
from leaderboard.campaigns.models import Campaign, CampaignOrganiser
from leaderboard.db import Database
from leaderboard.errors import BadInput, Conflict, Gathered, InvalidFields, NotFound
from leaderboard.evaluations.reads.find import missing
from leaderboard.locking import add_or_refuse, locked
from leaderboard.mail.models import Mail, MailLink
from leaderboard.mail.rules import OPTIONAL, MailKind
from leaderboard.mail.writes import outbox
from leaderboard.names import LONGEST_EMAIL, NAME_TAKEN, checked_email, checked_name, email_key, name_key, normalised
from leaderboard.teams.models import JoinRequest, Membership, Team
from leaderboard.teams.reads.find import only_organiser_of, only_owner_of
from leaderboard.teams.rules import closed_account
from leaderboard.teams.writes.teams import end_requests

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
    wrong = Gathered()
    shown, key, address, address_key, password_hash = name, "", None, None, None
    with wrong:
        shown, key = checked_name(name)
        # Signing in takes a name or an e-mail address: a name that is one could be somebody else's.
        if "@" in shown:
            raise InvalidFields({"name": ["a name can't hold an @"]})
    with wrong:
        if email and email.strip():
            address, address_key = checked_email(email)
    with wrong:
        password_hash = None if password is None else credentials.hashed(password, shown, address or "")
    wrong.raise_any()
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
    right = credentials.verify(stored or credentials.of_nobody(), password)
    if user is None or stored is None or not right:
        raise BadInput(WRONG)
    newer = credentials.rehashed(password) if credentials.is_outdated(stored) else None
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
    token = credentials.end_all_sessions(session, user.id, now, staying)
    credentials.revoke_tokens(session, user.id, now)
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
    token = credentials.end_all_sessions(session, user.id, present(), staying)
    record(session, actor, "end sessions", user)
    return token


def end_session(session: Session, actor: Actor, user: User, session_id: int) -> None:
    """Signs the account out in one browser. Raises NotFound for a session of another account, as for none."""
    require(actor.all_powerful or actor.user_id == user.id, "You can only end your own sessions.")
    found = session.get(BrowserSession, session_id)
    if found is None or found.user_id != user.id:
        raise NotFound
    if found.ended_at is None:
        credentials.end_session(session, session_id, present())
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


NO_RESET = "This link does not work, or no longer: it sets a password once, within an hour. Ask for another one."


def ask_for_reset(session: Session, email: str) -> None:
    """Puts a mail down, whether or not there is an account: that is looked up when it is sent, and nobody is told. It
    goes to the address that the account has confirmed, however `email` is written.

    So what is answered, and what is done until then, is the same for every address. Raises InvalidFields for a text
    that is no address.
    """
    address, _ = checked_email(email)
    outbox.put(session, MailKind.RESET, None, address)


def find_reset(session: Session, token: str, now: dt.datetime) -> MailLink:
    """The link that still works, with its account. Raises Conflict otherwise, whatever the reason."""
    link = session.scalar(
        sa.select(MailLink)
        .join(MailLink.user)
        .options(sa.orm.contains_eager(MailLink.user))
        .where(
            MailLink.token_hash == token_hash(token),
            MailLink.kind == MailKind.RESET,
            MailLink.used_at.is_(None),
            MailLink.expires_at > now,
            User.is_active.is_(True),
        )
    )
    # Not where the account has another address by now, to the letter: who reads the old one's mail has lost it.
    if link is None or link.user.email != link.address:
        raise Conflict(NO_RESET)
    return link


def reset_password(session: Session, token: str, password_hash: PasswordHash, now: dt.datetime) -> User:
    """Sets the password; the link and all others of the account are used up, and all of its sessions end."""
    found = find_reset(session, token, now)
    user = locked(session, User, found.user_id)
    locked(session, MailLink, found.id)
    find_reset(session, token, now)  # looked at again under the locks: a link works once
    set_password(session, actor_of(session, user.id), user, password_hash)
    return user


ASKED_AGAIN = "another link was asked for since"
NO_LINK = "This link does not work, or no longer: it confirms an address once, within a week. Have another one sent."


def change_address(session: Session, actor: Actor, user: User, email: str) -> None:
    """Gives another address, which is confirmed by a link sent there; the one in use is told. Empty: none any more."""
    _require_own(actor, user)
    if not email.strip():
        outbox.void_confirmations(session, user, "the address was taken out since")
        old, user.unconfirmed_email = user.email, None
        user.email, user.email_key = None, None
        if old is not None:
            outbox.put(session, MailKind.ADDRESS, user.id, old, new="", done=True)
        record(session, actor, "remove address", user)
        return
    address, key = checked_email(email)
    if key == user.email_key:
        raise InvalidFields({"email": ["this is the confirmed address of your account already"]})
    user.unconfirmed_email = address
    outbox.void_confirmations(session, user, ASKED_AGAIN)
    outbox.put(session, MailKind.CONFIRMATION, user.id, address)
    if user.email is not None:
        outbox.put(session, MailKind.ADDRESS, user.id, user.email, new=address, done=False)
    record(session, actor, "give address", user)


def send_confirmation(session: Session, actor: Actor, user: User) -> str:
    """Sends the link once more, for an address that waits for it; gives the address."""
    _require_own(actor, user)
    if user.unconfirmed_email is None:
        raise Conflict("No address of this account waits to be confirmed.")
    outbox.void_confirmations(session, user, ASKED_AGAIN)
    outbox.put(session, MailKind.CONFIRMATION, user.id, user.unconfirmed_email)
    return user.unconfirmed_email


def find_confirmation(session: Session, actor: Actor, token: str, now: dt.datetime) -> MailLink:
    """The link of the actor's own account that still works. Raises Conflict otherwise, whatever the reason."""
    link = session.scalar(
        sa.select(MailLink).where(
            MailLink.token_hash == token_hash(token),
            MailLink.kind == MailKind.CONFIRMATION,
            MailLink.user_id == actor.user_id,
            MailLink.used_at.is_(None),
            MailLink.expires_at > now,
        )
    )
    if link is None or link.user.unconfirmed_email != link.address:  # to the letter: that is where the link was sent
        raise Conflict(NO_LINK)
    return link


def confirm_address(session: Session, actor: Actor, token: str, now: dt.datetime) -> User:
    """Makes the address that a link was sent to the account's; the one before is told. Only its own account may."""
    link = locked(session, MailLink, find_confirmation(session, actor, token, now).id)
    user = locked(session, User, link.user_id)
    link = find_confirmation(session, actor, token, now)  # looked at again under the locks
    link.used_at = now
    old = user.email
    _take(session, user, link.address)
    if old is not None:
        outbox.put(session, MailKind.ADDRESS, user.id, old, new=user.email, done=True)
    record(session, actor, "confirm address", user)
    return user


def set_address(session: Session, actor: Actor, user: User, email: str) -> None:
    """An address that somebody at the console knows to be the account's: it needs no confirmation."""
    require(actor.all_powerful, "Only an admin gives an account an address that is not confirmed by a link.")
    address, _ = checked_email(email)
    old = user.email
    if old == address and user.unconfirmed_email is None:
        return
    _take(session, user, address)
    if old is not None and old != address:
        outbox.put(session, MailKind.ADDRESS, user.id, old, new=address, done=True)
    record(session, actor, "set address", user)


def choose_mail(session: Session, actor: Actor, user: User, wanted: Collection[str]) -> None:
    """Which kinds of mail the account gets, of those that can be turned off."""
    _require_own(actor, user)
    unknown = sorted(set(wanted) - {kind.value for kind in OPTIONAL})
    if unknown:
        raise InvalidFields({"wanted": [f"there is no mail of the kind {unknown[0]!r} that can be chosen"]})
    unwanted = [kind.value for kind in OPTIONAL if kind.value not in wanted]
    if assign(user, unwanted_mail=unwanted):
        record(session, actor, "choose mail", user)


def _take(session: Session, user: User, address: str) -> None:
    """Raises Conflict where another account has confirmed the same address."""
    key = email_key(address)
    if session.scalar(sa.select(User.id).where(User.email_key == key, User.id != user.id)) is not None:
        raise Conflict("This address is the confirmed one of another account: an address belongs to one account.")
    outbox.void_confirmations(session, user, "the account has a confirmed address since")
    user.email, user.email_key, user.unconfirmed_email = address, key, None
    session.flush()


def _require_own(actor: Actor, user: User) -> None:
    require(actor.all_powerful or actor.user_id == user.id, "You can only change your own address.")


TAKEN = "This identity logs in to another account: take it away there first."


def find_owner(session: Session, issuer: str, subject: str) -> User | None:
    """The account that this identity logs in to; None when there is none."""
    return session.scalar(sa.select(User).join(Identity).where(Identity.issuer == issuer, Identity.subject == subject))


def log_in(session: Session, issuer: str, subject: str, now: dt.datetime) -> User | None:
    """The same, and notes that it was used."""
    user = find_owner(session, issuer, subject)
    if user is None or not user.is_active:
        return None
    user.last_login_at = now
    used = sa.update(Identity).where(Identity.issuer == issuer, Identity.subject == subject)
    session.execute(used.values(last_used_at=now))
    return user


def link_identity(session: Session, actor: Actor, user: User, issuer: str, subject: str, title: str) -> None:
    """Lets a proven identity log in to the account. title: what the provider is called, for the mail that tells of it.

    Raises Conflict when it logs in to an account already.
    """
    require(actor.user_id == user.id, "You can only link an identity to your own account.")
    _add_identity(session, user, issuer, subject)
    outbox.put(session, MailKind.IDENTITY, user.id, title=title)
    record(session, actor, "link identity", user, issuer=issuer)


def register_with(session: Session, new: NewAccount, issuer: str, subject: str) -> User:
    """A new account that a proven identity logs in to; it has no password. Raises as `register` and `link_identity`."""
    user = register(session, new)
    _add_identity(session, user, issuer, subject)
    record(session, actor_of(session, user.id), "link identity", user, issuer=issuer)
    return user


def unlink_identity(session: Session, actor: Actor, user: User, identity_id: int) -> None:
    """Takes an identity away. Raises NotFound, or Conflict when nothing else would open the account."""
    require(actor.all_powerful or actor.user_id == user.id, "You can only take an identity from your own account.")
    locked(session, User, user.id)
    identity = session.get(Identity, identity_id)
    if identity is None or identity.user_id != user.id:
        raise NotFound(f"no identity {identity_id} logs in to {user.name}")
    others = sa.select(Identity.id).where(Identity.user_id == user.id, Identity.id != identity_id)
    if user.password_hash is None and session.scalar(others) is None:
        raise Conflict(f"Nothing else would open the account {user.name}: set a password first.")
    session.delete(identity)
    record(session, actor, "unlink identity", user, issuer=identity.issuer)


def _add_identity(session: Session, user: User, issuer: str, subject: str) -> None:
    identity = Identity(user_id=user.id, issuer=issuer, subject=subject, created_at=present())
    add_or_refuse(session, identity, Conflict(TAKEN))


# What belongs to the account alone, and goes with it.
ITS_OWN = (ApiToken, BrowserSession, Identity, JoinRequest, Mail, MailLink)


def close_account(session: Session, actor: Actor, user: User) -> None:
    """Nobody can sign in with it any more. Its name, address, sessions, tokens and identities are removed.

    It leaves its teams and campaigns. Runs stay under the team's name, and the audit trail as it is, which knows an
    account by its number. Raises Conflict that names the teams and campaigns which somebody else has to take over.
    """
    require(actor.all_powerful or actor.user_id == user.id, "You can only close your own account.")
    teams = sa.select(Membership.team_id).where(Membership.user_id == user.id)
    organised = sa.select(CampaignOrganiser.campaign_id).where(CampaignOrganiser.user_id == user.id)
    # Locked in one order: two owners who close their accounts at the same moment would leave the team without one.
    left = [locked(session, Team, team_id) for team_id in session.scalars(teams.order_by(Membership.team_id)).all()]
    handed = [
        locked(session, Campaign, campaign_id)
        for campaign_id in session.scalars(organised.order_by(CampaignOrganiser.campaign_id)).all()
    ]
    user = locked(session, User, user.id)
    needed = [*only_owner_of(session, user.id), *only_organiser_of(session, user.id)]
    if needed:
        raise Conflict(f"Somebody else has to own or organise first: {', '.join(needed)}.")
    for team in left:
        session.execute(sa.delete(Membership).where(Membership.team_id == team.id, Membership.user_id == user.id))
        record(session, actor, "leave", team, user=user.id)
        end_requests(session, actor, team)
    for campaign in handed:
        of_campaign = CampaignOrganiser.campaign_id == campaign.id
        session.execute(sa.delete(CampaignOrganiser).where(of_campaign, CampaignOrganiser.user_id == user.id))
        record(session, actor, "remove organiser", campaign, user=user.id)
    address = user.email
    for table in ITS_OWN:
        session.execute(sa.delete(table).where(table.user_id == user.id))
    if address is not None:  # asked for without an account, by the address alone
        session.execute(sa.delete(Mail).where(Mail.id.in_(outbox.resets_to(session, address))))
    session.refresh(user)
    user.name = user.name_key = closed_account(user.id)  # with blanks, so that it is no name's key
    user.email = user.email_key = user.unconfirmed_email = user.password_hash = user.last_login_at = None
    user.is_active = user.is_admin = user.may_found = False
    if address is not None:
        outbox.put(session, MailKind.CLOSED, user.id, address)
    record(session, actor, "close", user)
