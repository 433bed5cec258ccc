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
that come by the form of a run, since it keeps them while it has mistakes, and checks of files, which compute.

A network address is a whole /64 where it is an IPv6 one, since that is what one customer is given.
"""

import ipaddress
import math
from dataclasses import replace
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import db, errors
from leaderboard.accounts.models import Attempt
from leaderboard.frozen import frozen

WINDOW = timedelta(minutes=15)
AT_ACCOUNT = 10  # wrong passwords of one address, or of one known browser, at one account
OF_ADDRESS = 50  # of one address at all accounts
OF_ACCOUNT = 50  # at one account from all addresses; from then on
AT_GUESSED_ACCOUNT = 2  # of one address at this account

HOUR = timedelta(hours=1)
REGISTRATIONS = 30  # of one address in that time: a class may sit behind one address
TAKEN_NAMES = 10  # asked for by one address in that time; then it registers none, taken or free; of teams as many
FORM_FILES = 60  # that one person sends by the site's forms, whatever becomes of them, or again under an old key
CHECKS = 60  # of runs that one person does not submit; of second opinions as many


@frozen
class Limit:
    """How often something may be done within a window.

    bounds  subject -> how many attempts of it, None where they are only counted; {network} stands for the network that
            asks, other names for what is told
    says    what somebody is told who has to wait for {wait} minutes, and what they can do instead
    """

    bounds: dict[str, int | None]
    says: str
    window: timedelta = HOUR


AGAIN = "try again in {wait} min"
ASK_ADMIN = f"{AGAIN}, or ask an admin of this site to make the account."
REGISTRATION = Limit(
    {"registrations from {network}": REGISTRATIONS}, f"There were too many registrations from your network; {ASK_ADMIN}"
)
# Counted before the name is looked up, so that names sent at the same moment all count; taken back when it is free.
NAME = Limit(
    {"taken names from {network}": TAKEN_NAMES},
    f"Too many of the names that were tried from your network are taken; {ASK_ADMIN}",
)
# Taken back once it has told nothing: the name was free, or the team was found. Else absent teams could be listed.
TEAM_NAME = Limit(
    {"team names of user {user}": TAKEN_NAMES, "team names from {network}": TAKEN_NAMES},
    f"Too many of the teams' names that you tried are taken, or no team's; {AGAIN}, or ask an admin of this site.",
)
# By kind to one mail address, whoever asks: a form that asks for one kind does not tell that somebody was sent another.
MAIL = Limit(
    {"{kind} mails to {to}": 4, "mails for {network}": 20},
    f"Too many mails were asked for; {AGAIN}, look into the folder for spam meanwhile.",
)
LINK = Limit(
    {"links from {network}": 30},
    f"There were too many tries from your network; {AGAIN}, the link stays good meanwhile.",
)
FORM_FILE = Limit({"form files of user {user}": FORM_FILES}, f"You have sent very many files; {AGAIN}.")
CHECK = Limit(
    {"checks of user {user}": CHECKS},
    f"You have had very many files checked; {AGAIN}, or check them on your computer with `leaderboard check`.",
)
OPINION = Limit(
    {"opinions of user {user}": CHECKS},
    f"You have had very many files looked at; {AGAIN}, or do so on your computer with `leaderboard opinion`.",
)
WRONG_TOKEN = Limit(
    {"tokens from {network}": OF_ADDRESS},
    f"There were too many wrong tokens from your network; {AGAIN}, and look at yours before.",
    WINDOW,
)
LOG_IN = Limit(
    {"{account} from {network}": AT_ACCOUNT, "log-ins from {network}": OF_ADDRESS, "{account}": None},
    f"There were too many wrong passwords from your network; {AGAIN}, or use a browser in which you have logged in to "
    "this account before.",
    WINDOW,
)
LOG_IN_GUESSED = replace(LOG_IN, bounds=LOG_IN.bounds | {"{account} from {network}": AT_GUESSED_ACCOUNT})
LOG_IN_KNOWN = Limit(
    {"{account} from browser {browser}": AT_ACCOUNT},
    f"There were too many wrong passwords in this browser; {AGAIN}.",
    WINDOW,
)


@frozen
class KnownBrowser:
    """A browser that has logged in to the account `user_id`; `id` tells it from others."""

    user_id: int
    id: str


def count(database: db.Database, limit: Limit, now: datetime, address: str, **names: object) -> list[int]:
    """Counts an attempt at something that is limited, whatever becomes of it, before anything is looked up.

    Gives the ids of what was counted, for `take_back`. Raises TooManyAttempts, with when to try again.
    """
    names |= {"network": _network(address)}
    with database.write() as session:
        db.lock_table(session, Attempt)
        session.execute(sa.delete(Attempt).where(Attempt.at <= now - HOUR))
        bounds = {subject.format_map(names): most for subject, most in limit.bounds.items()}
        wait = max(_wait(session, subject, most, limit.window, now) for subject, most in bounds.items() if most)
        if wait:
            raise errors.TooManyAttempts(limit.says.format(wait=wait), 60 * wait)
        attempts = [Attempt(subject=subject, at=now) for subject in bounds]
        session.add_all(attempts)
        session.flush()
        return [attempt.id for attempt in attempts]


def count_log_in(
    database: db.Database, account: str, address: str, now: datetime, browser: KnownBrowser | None = None
) -> list[int]:
    """Counts an attempt before its password is looked at, so that guesses sent at the same moment all count.

    account  the name or e-mail address that was given, as names are compared; whether there is such an account or not
    browser  where it is known to have logged in to this account

    Gives the ids of what was counted, for `forgive`: first that of this place at this account. Raises TooManyAttempts,
    with when to try again.
    """
    if browser:
        return count(database, LOG_IN_KNOWN, now, address, account=account, browser=browser.id)
    with database.read() as session:
        is_guessed = _wait(session, account, OF_ACCOUNT, WINDOW, now)
    return count(database, LOG_IN_GUESSED if is_guessed else LOG_IN, now, address, account=account)


def forgive(session: Session, counted: list[int]) -> None:
    """Takes back what `count_log_in` counted, with the slips before it at the same place: the password was right."""
    subjects = sa.select(Attempt.subject).where(Attempt.id == counted[0])
    session.execute(sa.delete(Attempt).where(sa.or_(Attempt.id.in_(counted), Attempt.subject.in_(subjects))))


def take_back(session: Session, counted: list[int]) -> None:
    """Takes back what was counted, and nothing else that the same place did."""
    session.execute(sa.delete(Attempt).where(Attempt.id.in_(counted)))


def _network(address: str) -> str:
    """What counts as one address."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return f"address {address[:100]}"
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return f"address {parsed}" if parsed.version == 4 else f"network {ipaddress.ip_network((parsed, 64), strict=False)}"


def _wait(session: Session, subject: str, most: int, window: timedelta, now: datetime) -> int:
    """In how many minutes one of the last `most` attempts has left the window; 0 when there were fewer."""
    of_subject = sa.select(Attempt.at).where(Attempt.subject == subject, Attempt.at > now - window)
    last = session.scalars(of_subject.order_by(Attempt.at.desc()).limit(most)).all()
    if len(last) < most:
        return 0
    return max(1, math.ceil((last[-1] + window - now).total_seconds() / 60))
