"""What each kind of mail says. A text is written when its mail is sent: it tells how things are then.

Names and labels that people gave stand in it as plain text; what they wrote at length does not, so that nobody makes
this site send their words to strangers.

Mails that wait: put down in the transaction of what they tell of, claimed by whoever sends them.

Sends what waits, one mail after the other, or lists it for whoever runs the site. No transaction is open while the
mail server answers.

Tells teams by mail that an evaluation closes soon.
"""

import datetime as dt
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Content, actor_of, knows, may_see
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import token_hash
from leaderboard.audit.writes import present
from leaderboard.config import MailServer
from leaderboard.db import Database, clock, insert_unless_there, locked
from leaderboard.errors import BadInput, Conflict, NoDatabase, Unavailable
from leaderboard.evaluations.models import Evaluation
from leaderboard.mail.models import UNSENT, Mail, MailLink
from leaderboard.mail.rules import KEPT, OPTIONAL, MailKind, lasts
from leaderboard.mail.smtp import Letter, Sending, connected
from leaderboard.moments import moment_in_words
from leaderboard.names import email_key
from leaderboard.numbers import counted
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.rules import title_of_run
from leaderboard.teams.models import Membership, Team
from leaderboard.teams.rules import Role

Row = TypeVar("Row", Submission, Evaluation, Team, User)


@dataclass(frozen=True, slots=True)
class _Writing:
    """What a text is made from: the mail, whose account it is about, where the site is."""

    session: Session
    mail: Mail
    user: User
    to: str
    site: str
    now: dt.datetime

    def row(self, table: type[Row], name: str) -> Row | None:
        """The row whose id the mail holds under this name; None when it is gone."""
        return self.session.get(table, self.mail.about.get(name))

    def is_in(self, team_id: int) -> bool:
        return self.session.get(Membership, (team_id, self.user.id)) is not None

    def new_token(self) -> str:
        """The token of a new link to this address. Only its hash is kept."""
        token = secrets.token_urlsafe(24)
        self.session.add(
            MailLink(
                kind=self.mail.kind,
                user_id=self.user.id,
                address=self.to,
                token_hash=token_hash(token),
                created_at=self.now,
                expires_at=self.now + lasts(self.mail.kind),
            )
        )
        return token


def written(session: Session, mail: Mail, site: str, now: dt.datetime) -> Letter | None:
    """The mail as it is sent now; None when it has become pointless: nobody to send it to, or no news any more.

    site  the address of the site, without a path. A link that opens something is made anew each time.
    """
    user, to = _reader(session, mail), receiver(session, mail)
    if user is None or not to:
        return None
    text = TEXTS[mail.kind](_Writing(session, mail, user, to, site, now))
    if text is None:
        return None
    subject, _, text = text.partition("\n")
    foot = f"\n-- \nLeaderboard, {site}\n"
    if mail.kind in OPTIONAL:
        foot += f"Which of these mails you get: {site}/account/mail\n"
    return Letter(
        id=f"{mail.id}.{mail.created_at:%Y%m%d%H%M%S}", to=to, subject=subject, text=text.strip() + "\n" + foot
    )


def receiver(session: Session, mail: Mail) -> str:
    """The address that the mail goes to as things are now; empty where it goes to nobody.

    Never one that somebody only typed to find an account: the account's own, as it was confirmed. A link that confirms
    an address goes there, and opens nothing.
    """
    user = _reader(session, mail)
    if user is None or (mail.kind in OPTIONAL and mail.kind.value in user.unwanted_mail):
        return ""
    if mail.kind is MailKind.RESET:
        return user.email or ""
    if mail.kind is MailKind.CONFIRMATION:
        owner = _owner_of(session, mail.address or "")
        return (owner.email if owner is not None else mail.address) or ""
    return mail.address or user.email or ""


def _reader(session: Session, mail: Mail) -> User | None:
    """Whose account the mail is about. For a new password: whose confirmed address it was asked for."""
    if mail.user_id is None:
        return _owner_of(session, mail.address or "")
    user = session.get_one(User, mail.user_id)
    return user if user.is_active or mail.kind is MailKind.CLOSED else None


def _owner_of(session: Session, address: str) -> User | None:
    """The account that has this confirmed address."""
    return session.scalar(sa.select(User).where(User.email_key == email_key(address), User.is_active.is_(True)))


def _confirmation(writing: _Writing) -> str | None:
    user, address = writing.user, writing.mail.address or ""
    if user.unconfirmed_email != address:
        return None  # another address was given since
    other = _owner_of(writing.session, address)
    if other is not None:
        return f"""Your e-mail address was given for another account

Somebody gave this e-mail address for the account {user.name}. It is the confirmed address of your account
{other.name}, and stays that: an address belongs to one account.

If it was you, log in as {other.name}: {writing.site}/login
If you have forgotten its password: {writing.site}/password/forgotten
If it was not you, there is nothing to do.
"""
    token = writing.new_token()
    return f"""Confirm your e-mail address

Somebody, probably you, gave this e-mail address for the account {user.name}. Open this link within a week, logged
in as {user.name}, to confirm it:

{writing.site}/account/email/confirm/{token}

If it was not you, don't open the link: the address then means nothing there.
"""


def _reset(writing: _Writing) -> str | None:
    if writing.mail.given_up_at is not None:
        return None  # another password was set since
    token = writing.new_token()
    return f"""Choose a new password

Somebody, probably you, asked for a new password for the account {writing.user.name}. Open this link within an hour
to choose it:

{writing.site}/password/reset/{token}

If it was not you, there is nothing to do: the password stays as it is.
"""


def _address(writing: _Writing) -> str:
    new = writing.mail.about["new"]
    if not writing.mail.about["done"]:
        what = f"For {writing.user.name} this e-mail address is to be replaced by {new}, as soon as that is confirmed."
    elif new:
        what = f"The e-mail address of {writing.user.name} is now {new}. Nothing more is sent to this one."
    else:
        what = f"This e-mail address was taken out of {writing.user.name}: it has none now."
    return f"""The e-mail address of your account changes

{what}

If it was not you, somebody else knows your password or uses your browser. Change your password, or tell the
operators of the site: {writing.site}/login
"""


def _password(writing: _Writing) -> str:
    return f"""Your password is changed

The account {writing.user.name} has a new password, and is logged out everywhere else.

If it was not you, choose another one at once: {writing.site}/password/forgotten
"""


def _identity(writing: _Writing) -> str:
    return f"""Another way to log in to your account

{writing.mail.about["title"]} can now be used to log in to the account {writing.user.name}.

If it was not you, take it away again and change your password: {writing.site}/account/
"""


def _closed(writing: _Writing) -> str:
    return f"""Your account is closed

Your account on {writing.site} is closed: its name and this e-mail address are removed. Runs that were submitted with
it stay under the names of their teams. This is the last mail.

If it was not you, tell the operators of the site.
"""


def _deadline(writing: _Writing) -> str | None:
    evaluation = writing.row(Evaluation, "evaluation")
    if evaluation is None or evaluation.closes_at is None or evaluation.closes_at <= writing.now:
        return None
    closes = moment_in_words(evaluation.closes_at)
    return f"""{evaluation.title} closes on {closes}

{evaluation.title} of {evaluation.campaign.title} takes runs until {closes}.

Your team's runs, and whether one more can be sent: {writing.site}{_path(evaluation)}/submit
"""


def _scored(writing: _Writing) -> str | None:
    run, title = _own_run(writing)
    if run is None:
        return None
    return f"""{title} was scored

The run {title} of {run.team.name} in {run.evaluation.title} was scored. What you may see of its results:

{writing.site}/submissions/{run.id}
"""


def _rejected(writing: _Writing) -> str | None:
    run, title = _own_run(writing)
    if run is None:
        return None
    return f"""{title} was rejected

The run {title} of {run.team.name} in {run.evaluation.title} can't be used: {counted(run.problem_count, "problem")} in
its file, each with its line here:

{writing.site}/submissions/{run.id}

It costs no quota. Correct the file and submit it again.
"""


def _rejudged(writing: _Writing) -> str | None:
    evaluation = writing.row(Evaluation, "evaluation")
    if evaluation is None:
        return None
    actor = actor_of(writing.session, writing.user.id)
    own = sa.select(Submission.team_id).where(
        Submission.evaluation_id == evaluation.id, Submission.team_id.in_(actor.teams)
    )
    teams = (None, *writing.session.scalars(own.distinct()))  # the board's results, or a team's own
    if not any(may_see(actor, evaluation, Content.RESULTS, writing.now, team) for team in teams):
        return None
    return f"""{evaluation.title} was judged anew

The runs of {evaluation.title} of {evaluation.campaign.title}, your team's among them, were scored anew: its
judgments are revision {writing.mail.about["revision"]} now.

{writing.site}{_path(evaluation)}
"""


def _imported(writing: _Writing) -> str | None:
    team, evaluation = writing.row(Team, "team"), writing.row(Evaluation, "evaluation")
    if team is None or evaluation is None or not writing.is_in(team.id):
        return None
    where = "a campaign that is not public yet"
    if knows(actor_of(writing.session, writing.user.id), evaluation):
        where = f"{evaluation.campaign.title}: {writing.site}{_path(evaluation)}"
    return f"""Runs of the past were brought in as {team.name}'s

Organisers have brought in runs of the past under the name of your team {team.name}, in
{where}

They stand on your team's page as soon as they are public: {writing.site}/teams/{team.slug}

If they are not your team's, tell the organisers of the campaign or the operators of the site.
"""


def _request(writing: _Writing) -> str | None:
    team, asker = writing.row(Team, "team"), writing.row(User, "asker")
    if team is None or asker is None or not asker.is_active:
        return None
    membership = writing.session.get(Membership, (team.id, writing.user.id))
    if membership is None or membership.role is not Role.OWNER:
        return None
    return f"""{asker.name} asks to join {team.name}

{asker.name} asks to join your team {team.name}. Read the request, and accept or refuse it:

{writing.site}/teams/{team.slug}
"""


def _answer(writing: _Writing) -> str | None:
    team = writing.row(Team, "team")
    if team is None:
        return None
    accepted = writing.mail.about["accepted"]
    if accepted is None:
        return f"""Nobody is in {team.name} any more

Your request to join {team.name} has ended without an answer: the last of its members left.
"""
    subject, what = f"{team.name} has refused your request", "has refused your request to join it"
    if accepted:
        subject, what = f"You are in {team.name} now", "has accepted your request: you are a member now"
    return f"{subject}\n\nAn owner of {team.name} {what}.\n\n{writing.site}/teams/{team.slug}"


# A text: its subject, an empty line, and the rest. None where there is no news any more.
TEXTS: dict[MailKind, Callable[[_Writing], str | None]] = {
    MailKind.CONFIRMATION: _confirmation,
    MailKind.RESET: _reset,
    MailKind.ADDRESS: _address,
    MailKind.PASSWORD: _password,
    MailKind.IDENTITY: _identity,
    MailKind.CLOSED: _closed,
    MailKind.DEADLINE: _deadline,
    MailKind.SCORED: _scored,
    MailKind.REJECTED: _rejected,
    MailKind.REJUDGED: _rejudged,
    MailKind.IMPORTED: _imported,
    MailKind.REQUEST: _request,
    MailKind.ANSWER: _answer,
}


def _own_run(writing: _Writing) -> tuple[Submission | None, str]:
    """The run that the mail is about, where its reader still is in the team, and what it is called."""
    run = writing.row(Submission, "submission")
    if run is None or not writing.is_in(run.team_id):
        return None, ""
    return run, title_of_run(run.label, run.filename, run.id)


def _path(evaluation: Evaluation) -> str:
    return f"/campaigns/{evaluation.campaign.slug}/{evaluation.slug}"


FIRST_WAIT_SECONDS = 60.0  # before the second try, and four times as long before each one after
LONGEST_WAIT_SECONDS = 6 * 3600.0
MOST_TRIES = 12  # some two days


def put(session: Session, kind: MailKind, user_id: int | None, address: str | None = None, **about: Any) -> None:
    """Puts a mail down for an account. `address`: where it goes, if not to the account's address of then."""
    now = present()
    session.add(
        Mail(kind=kind, user_id=user_id, address=address, about=about, created_at=now, expires_at=now + lasts(kind))
    )


def put_wanted(
    session: Session,
    kind: MailKind,
    users: Iterable[int],
    *,
    once: str = "",
    expires_at: dt.datetime | None = None,
    **about: Any,
) -> int:
    """Puts a mail down for those of the accounts that want this kind and have a confirmed address; gives how many.

    once  what tells this mail from others: nobody is sent a second one of the same
    """
    now = present()
    addressees = session.scalars(
        sa.select(User)
        .where(User.id.in_(list(users)), User.is_active.is_(True), User.email.is_not(None))
        .order_by(User.id)
    )
    wanting = [user.id for user in addressees if kind.value not in user.unwanted_mail]
    for user_id in wanting:
        insert_unless_there(
            session, Mail, kind=kind, user_id=user_id, about=about, created_at=now,
            expires_at=expires_at or now + lasts(kind), tries=0, failure="",
            once=f"{kind.value} {once} to {user_id}" if once else None,
        )  # fmt: skip
    return len(wanting)


def resets_to(session: Session, email: str) -> list[int]:
    """The mails for a new password that were asked for with this address, however it was written."""
    asked = sa.select(Mail.id, Mail.address).where(Mail.kind == MailKind.RESET).order_by(Mail.id)
    return [mail_id for mail_id, address in session.execute(asked) if email_key(address or "") == email_key(email)]


def void_resets(session: Session, user: User, reason: str) -> None:
    """Links for a new password that are still to be sent to the account's address are not made any more.

    Whoever is writing such a mail right now has it locked: when this returns, its link is there to be ended, too.
    """
    unsent = sa.update(Mail).where(Mail.id.in_(resets_to(session, user.email or "")), sa.text(UNSENT))
    session.execute(unsent.values(user_id=user.id, given_up_at=present(), failure=reason))


def void_confirmations(session: Session, user: User, reason: str) -> None:
    """Links that confirm an address of the account and are still to be sent are not sent any more."""
    own = sa.update(Mail).where(Mail.user_id == user.id, Mail.kind == MailKind.CONFIRMATION, sa.text(UNSENT))
    session.execute(own.values(given_up_at=present(), failure=reason))


def members_taking_part(session: Session, evaluation_id: int) -> list[int]:
    """The accounts in teams that have sent a run to the evaluation."""
    teams = sa.select(Participation.team_id).where(Participation.evaluation_id == evaluation_id)
    members = sa.select(Membership.user_id).where(Membership.team_id.in_(teams)).distinct()
    return list(session.scalars(members.order_by(Membership.user_id)))


def claim(session: Session) -> int | None:
    """Takes the first mail that waits and says when it is tried next, should nobody come back; None when none waits."""
    now = present()
    mail = session.scalars(
        sa.select(Mail)
        .where(
            sa.text(UNSENT),
            Mail.expires_at > now,
            sa.or_(Mail.not_before.is_(None), Mail.not_before <= clock()),
        )
        .order_by(Mail.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    ).first()
    if mail is None:
        return None
    mail.tries += 1
    session.flush()
    wait = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 4 ** min(mail.tries - 1, 10))
    session.execute(sa.update(Mail).where(Mail.id == mail.id).values(not_before=clock(wait)))
    return mail.id


def note_sent(session: Session, mail_id: int) -> None:
    """It is out: it is tried no more."""
    mail = locked(session, Mail, mail_id)
    mail.sent_at, mail.failure = present(), ""
    if mail.kind is MailKind.CLOSED:
        session.delete(mail)  # nothing is kept of the address


def note_failure(session: Session, mail_id: int, reason: str) -> None:
    """It waits for another try, or is given up after MOST_TRIES."""
    mail = locked(session, Mail, mail_id)
    mail.failure = reason
    if mail.tries >= MOST_TRIES:
        mail.given_up_at = present()


def give_up(session: Session, mail_id: int, reason: str) -> None:
    """Nobody tries to send it again. Raises Conflict when it was sent.

    Nothing is kept of an address for which a new password was asked, since it may be nobody's here, nor of that of a
    closed account.
    """
    mail = locked(session, Mail, mail_id)
    if mail.sent_at is not None:
        raise Conflict("This mail was sent.")
    if mail.user_id is None or mail.kind is MailKind.CLOSED:
        session.delete(mail)
    else:
        mail.failure, mail.given_up_at = reason, present()


def sweep(session: Session) -> None:
    """Forgets mails and links that are long over; at once what was not sent for a new password: the address may be
    nobody's here."""
    now = present()
    over = now - KEPT
    strange = sa.and_(Mail.user_id.is_(None), Mail.sent_at.is_(None), Mail.expires_at <= now)
    session.execute(sa.delete(Mail).where(sa.or_(Mail.expires_at <= over, strange)))
    session.execute(sa.delete(MailLink).where(MailLink.expires_at <= over))


POINTLESS = "there is nobody to send it to, or no news in it any more"


def send_waiting(database: Database, server: MailServer, site: str, most: int = 1000) -> int:
    """Sends up to `most` of the mails that wait; gives how many were sent.

    A mail whose sender is killed between the server's yes and the note of it is sent twice, with one Message-ID.

    Raises Unavailable when the server can't be reached: the mail that was tried waits longer each time, all others
    as they did.
    """
    sent = 0
    mail_id = _claim(database)
    if mail_id is None:
        return 0
    try:
        with connected(server) as sending:
            for left in range(most - 1, -1, -1):
                sent += _send(database, sending, mail_id, site)
                claimed = _claim(database) if left else None
                if claimed is None:
                    break
                mail_id = claimed
    except NoDatabase:
        raise
    except Unavailable as error:
        with database.write() as session:
            note_failure(session, mail_id, error.message)
        raise
    return sent


def to_show(database: Database, mail_id: int, site: str) -> Letter | None:
    """The mail as it would be sent now, for an operator to hand on; a link in it works. None when it is pointless."""
    with database.write() as session:
        return written(session, locked(session, Mail, mail_id), site, present())


def _claim(database: Database) -> int | None:
    with database.write() as session:
        return claim(session)


def _send(database: Database, sending: Sending, mail_id: int, site: str) -> bool:
    letter = to_show(database, mail_id, site)
    if letter is None:
        with database.write() as session:
            give_up(session, mail_id, POINTLESS)
        return False
    try:
        sending.send(letter)
    except BadInput as error:
        with database.write() as session:
            give_up(session, mail_id, error.message)
        return False
    with database.write() as session:
        note_sent(session, mail_id)
    return True


def remind(session: Session, days: int, now: dt.datetime) -> None:
    """Puts a mail down for each member of the teams that take part in what closes within `days`, 0 for none.

    One mail a person and closing moment, however often this is called; another one where the moment is moved.
    """
    closing = session.scalars(
        sa.select(Evaluation)
        .where(Evaluation.closes_at > now, Evaluation.closes_at <= now + dt.timedelta(days=days))
        .order_by(Evaluation.id)
    )
    for evaluation in closing.all():
        put_wanted(
            session,
            MailKind.DEADLINE,
            members_taking_part(session, evaluation.id),
            once=f"of {evaluation.id} at {evaluation.closes_at:%Y-%m-%dT%H:%M:%S}",
            expires_at=evaluation.closes_at,
            evaluation=evaluation.id,
        )


@dataclass(frozen=True, slots=True)
class ListedMail:
    """to: an address; empty where nobody is sent the mail. state: waits, sent, given up, too late or to nobody."""

    id: int
    kind: MailKind
    to: str
    created_at: dt.datetime
    state: str
    failure: str

    @property
    def waits(self) -> bool:
        """Whether it will be sent as soon as there is a mail server that takes it."""
        return self.state == "waits"


def list_mails(session: Session, now: dt.datetime, *, every: bool = False) -> list[ListedMail]:
    """Those that are not sent, by age; every: those that were sent or given up, too, as long as they are kept.

    Whether a mail has a receiver is looked up here as it is when it is sent. A new password can be asked for with any
    address: one that has no account here is not repeated.
    """
    statement = sa.select(Mail).options(sa.orm.joinedload(Mail.user)).order_by(Mail.id)
    if not every:
        statement = statement.where(sa.text(UNSENT))
    return [_listed(session, mail, now) for mail in session.scalars(statement)]


def _listed(session: Session, mail: Mail, now: dt.datetime) -> ListedMail:
    to = receiver(session, mail)
    if mail.sent_at:
        state = "sent"
    elif mail.given_up_at:
        state = "given up"
    elif mail.expires_at <= now:
        state = "too late"
    else:
        state = "waits" if to else "to nobody"
    return ListedMail(mail.id, mail.kind, to, mail.created_at, state, mail.failure)
