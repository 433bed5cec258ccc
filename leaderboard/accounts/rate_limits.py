"""How often somebody may try to log in, register or have mails sent, so that guessing is slow and nobody is locked out
by others. The counts are rows: they hold over restarts and for all processes of an installation together.

Wrong passwords are counted within a window of 15 minutes:

- one address at one account: after ten it waits;
- one address at any accounts: after fifty it waits (many people may share it);
- one account from any addresses: after fifty, an address has two tries at it instead of ten. So a guesser needs many
  addresses and gains little by each, while the owner, coming from elsewhere, still gets in.

A browser that has logged in to the account before is counted by itself, ten in a window: no guessing by others holds
its owner up.

Registering has to say when a name is taken. Names that turned out to be taken are counted, so that nobody tries a list
of names; whoever tries one that is free has made an account, or a form with another mistake, and both are bounded for
one address too. So are the names of teams, and addresses of teams that somebody lets into a campaign: by account and by
address.

Mails are counted by whom they would go to, which may be nobody here, and by whom they were asked for, so that this site
floods no mailbox; what is done with a link of a mail is counted, too, since each try hashes a password. So are files
that come by the form of a run, since it keeps them while it has mistakes.

A network address is a whole /64 where it is an IPv6 one, since that is what one customer is given.
"""

import datetime as dt
import ipaddress
import math
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.accounts.models import Attempt
from leaderboard.accounts.rules import token_hash
from leaderboard.db import Database, lock_table
from leaderboard.errors import TooManyAttempts
from leaderboard.mail.rules import MailKind
from leaderboard.names import email_key

WINDOW = dt.timedelta(minutes=15)
AT_ACCOUNT = 10  # wrong passwords of one address, or of one known browser, at one account
OF_ADDRESS = 50  # of one address at all accounts
OF_ACCOUNT = 50  # at one account from all addresses; from then on
AT_GUESSED_ACCOUNT = 2  # of one address at this account

REGISTERING = dt.timedelta(hours=1)
REGISTRATIONS = 30  # of one address in that time: a class may sit behind one address
TAKEN_NAMES = 10  # asked for by one address in that time; then it registers none, taken or free; of teams as many

MAILS = dt.timedelta(hours=1)
MAILS_TO = 4  # of one kind to one mail address in that time, whoever asks for them
MAILS_OF = 20  # asked for from one network address in that time
FORM_FILES = 60  # that one person sends by the site's forms in an hour, whatever becomes of them
LINKS = 30  # of mails, followed from one network address in that time, good ones or not


@dataclass(frozen=True, slots=True)
class KnownBrowser:
    """A browser that has logged in to the account `user_id`; `id` tells it from others."""

    user_id: int
    id: str


def count_log_in(
    database: Database, account: str, address: str, now: dt.datetime, browser: KnownBrowser | None = None
) -> list[int]:
    """Counts an attempt before its password is looked at, so that guesses sent at the same moment all count.

    account  the name or e-mail address that was given, as names are compared; whether there is such an account or not
    browser  where it is known to have logged in to this account

    Gives the ids of what was counted, for `forgive`: first that of this place at this account. Raises TooManyAttempts,
    with when to try again.
    """
    place = _place(address)
    here = f"{account} from browser {browser.id}" if browser else f"{account} from {place}"
    with database.write() as session:
        lock_table(session, Attempt)
        _sweep(session, now)
        if browser:
            bounds = {here: AT_ACCOUNT}
        else:
            guessed = _count(session, account, now) >= OF_ACCOUNT
            bounds = {here: AT_GUESSED_ACCOUNT if guessed else AT_ACCOUNT, f"log-ins from {place}": OF_ADDRESS}
        for subject, most in bounds.items():
            wait = _wait(session, subject, most, WINDOW, now)
            if wait:
                whence = "in this browser" if browser else "from your network"
                other = (
                    "" if browser else " A browser in which you have logged in to this account before need not wait."
                )
                words = f"There were too many wrong passwords {whence}; try again in {wait} min.{other}"
                raise TooManyAttempts(words, 60 * wait)
        counted = [Attempt(subject=subject, at=now) for subject in (*bounds, *(() if browser else (account,)))]
        session.add_all(counted)
    return [attempt.id for attempt in counted]


def forgive(session: Session, counted: list[int]) -> None:
    """Takes back what `count_log_in` counted, with the slips before it at the same place: the password was right."""
    subjects = sa.select(Attempt.subject).where(Attempt.id == counted[0])
    session.execute(sa.delete(Attempt).where(sa.or_(Attempt.id.in_(counted), Attempt.subject.in_(subjects))))


def count_registration(database: Database, address: str, now: dt.datetime) -> None:
    """Counts an attempt to register, good or not. Raises TooManyAttempts, with when to try again."""
    bounds = {f"registrations from {_place(address)}": (REGISTRATIONS, REGISTERING)}
    why = "There were too many registrations from your network"
    _count_all(database, bounds, now, why, "or ask an admin of this site to make the account")


def count_name(database: Database, address: str, now: dt.datetime) -> list[int]:
    """Counts a name that somebody wants to register, before it is looked up, so that names sent at the same moment all
    count. Gives the ids of what was counted, for `take_back` once the name has turned out to be free.

    Raises TooManyAttempts when too many were taken, for any name: with when to try again.
    """
    bounds = {f"taken names from {_place(address)}": (TAKEN_NAMES, REGISTERING)}
    why = "Too many of the names that were tried from your network are taken"
    return _count_all(database, bounds, now, why, "or ask an admin of this site to make the account")


def count_team_name(database: Database, user_id: int, address: str, now: dt.datetime) -> list[int]:
    """Counts the name or the address of a team that somebody asks for, before it is looked up. Gives the ids of what
    was counted, for `take_back` once it has told nothing: the name was free, or the team was found.

    Raises TooManyAttempts when too many told something, for any: else teams that are absent could be listed.
    """
    subjects = f"team names of user {user_id}", f"team names from {_place(address)}"
    why = "Too many of the teams' names that you tried are taken, or no team's"
    bounds = dict.fromkeys(subjects, (TAKEN_NAMES, REGISTERING))
    return _count_all(database, bounds, now, why, "or ask an admin of this site")


def take_back(session: Session, counted: list[int]) -> None:
    """Takes back what was counted, and nothing else that the same place did."""
    session.execute(sa.delete(Attempt).where(Attempt.id.in_(counted)))


def count_mail(database: Database, mail_address: str, address: str, now: dt.datetime, kind: MailKind) -> None:
    """Counts a mail that somebody at `address` asks for, to be sent to `mail_address`, whether or not it will be.

    Raises TooManyAttempts, with when to try again: as well for a mail address that nobody here has. To one mail address
    mails are counted by kind: a form that asks for one kind does not tell that somebody was sent another.
    """
    to = token_hash(email_key(mail_address))  # nothing is kept of an address that may be nobody's here
    bounds = {f"{kind} mails to {to}": (MAILS_TO, MAILS), f"mails for {_place(address)}": (MAILS_OF, MAILS)}
    _count_all(database, bounds, now, "Too many mails were asked for", "look into the folder for spam meanwhile")


def count_link(database: Database, address: str, now: dt.datetime) -> None:
    """Counts a link of a mail that is used. Raises TooManyAttempts, with when to try again."""
    bounds = {f"links from {_place(address)}": (LINKS, MAILS)}
    _count_all(database, bounds, now, "There were too many tries from your network", "the link stays good meanwhile")


def count_form_file(database: Database, user_id: int, now: dt.datetime) -> None:
    """Counts a file that a person sends by the form of a run, which keeps it while the form has mistakes.

    Raises TooManyAttempts, with when to try again: else such forms would fill the store for nothing.
    """
    bounds = {f"form files of user {user_id}": (FORM_FILES, MAILS)}
    _count_all(database, bounds, now, "You have sent very many files", "or send them through the API")


def _count_all(
    database: Database, bounds: Mapping[str, tuple[int, dt.timedelta]], now: dt.datetime, why: str, else_: str
) -> list[int]:
    """Counts one attempt for each subject, unless one of them has had its number within its time. Gives their ids."""
    with database.write() as session:
        lock_table(session, Attempt)
        _sweep(session, now)
        wait = max(_wait(session, subject, most, window, now) for subject, (most, window) in bounds.items())
        if wait:
            raise TooManyAttempts(f"{why}; try again in {wait} min, {else_}.", 60 * wait)
        counted = [Attempt(subject=subject, at=now) for subject in bounds]
        session.add_all(counted)
    return [attempt.id for attempt in counted]


def count_wrong_token(database: Database, address: str, now: dt.datetime) -> None:
    """Counts an API token that opens nothing. Raises TooManyAttempts, with when to try again."""
    bounds = {f"tokens from {_place(address)}": (OF_ADDRESS, WINDOW)}
    _count_all(database, bounds, now, "There were too many wrong tokens from your network", "and look at yours before")


def _place(address: str) -> str:
    """What counts as one address."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return f"address {address[:100]}"
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is None:
            return f"network {ipaddress.ip_network((parsed, 64), strict=False)}"
        parsed = parsed.ipv4_mapped
    return f"address {parsed}"


def _count(session: Session, subject: str, now: dt.datetime) -> int:
    counted = sa.select(sa.func.count()).where(Attempt.subject == subject, Attempt.at > now - WINDOW)
    return session.execute(counted).scalar_one()


def _wait(session: Session, subject: str, most: int, window: dt.timedelta, now: dt.datetime) -> int:
    """In how many minutes one of the last `most` attempts has left the window; 0 when there were fewer."""
    last = list(
        session.scalars(
            sa.select(Attempt.at)
            .where(Attempt.subject == subject, Attempt.at > now - window)
            .order_by(Attempt.at.desc())
            .limit(most)
        )
    )
    if len(last) < most:
        return 0
    return max(1, math.ceil((last[-1] + window - now).total_seconds() / 60))


def _sweep(session: Session, now: dt.datetime) -> None:
    session.execute(sa.delete(Attempt).where(Attempt.at <= now - max(WINDOW, REGISTERING, MAILS)))
