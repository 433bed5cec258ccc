"""What each kind of mail says. A text is written when its mail is sent: it tells how things are then.

Names and labels that people gave stand in it as plain text; what they wrote at length does not, so that nobody makes
this site send their words to strangers.
"""

import datetime as dt
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Sight, actor_of, knows, may_see
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import token_hash
from leaderboard.evaluations.models import Evaluation
from leaderboard.mail.models import Mail, MailLink
from leaderboard.mail.rules import OPTIONAL, MailKind, lasts
from leaderboard.mail.smtp import Letter
from leaderboard.moments import moment_in_words
from leaderboard.names import email_key
from leaderboard.numbers import counted
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import title_of_run
from leaderboard.teams.models import Membership, Team
from leaderboard.teams.rules import Role

Text = tuple[str, str]  # subject and body
Row = TypeVar("Row", Submission, Evaluation, Team)


@dataclass(frozen=True, slots=True)
class _Writing:
    """What a text is made from: the mail, whose account it is about, where the site is."""

    session: Session
    mail: Mail
    user: User
    to: str
    site: str
    now: dt.datetime

    def link(self, path: str) -> str:
        return f"{self.site}{path}"

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
    said = TEXTS[mail.kind](_Writing(session, mail, user, to, site, now))
    if said is None:
        return None
    subject, text = said
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
        owner = _whose(session, mail.address or "")
        return (owner.email if owner is not None else mail.address) or ""
    return mail.address or user.email or ""


def _reader(session: Session, mail: Mail) -> User | None:
    """Whose account the mail is about. For a new password: whose confirmed address it was asked for."""
    if mail.user_id is None:
        return _whose(session, mail.address or "")
    user = session.get_one(User, mail.user_id)
    return user if user.is_active or mail.kind is MailKind.CLOSED else None


def _whose(session: Session, address: str) -> User | None:
    """The account that has this confirmed address."""
    return session.scalar(sa.select(User).where(User.email_key == email_key(address), User.is_active.is_(True)))


def _confirmation(writing: _Writing) -> Text | None:
    user, address = writing.user, writing.mail.address or ""
    if user.unconfirmed_email != address:
        return None  # another address was given since
    other = _whose(writing.session, address)
    if other is not None:
        return (
            "Your e-mail address was given for another account",
            f"""
Somebody gave this e-mail address for the account {user.name}. It is the confirmed address of your account
{other.name}, and stays that: an address belongs to one account.

If it was you, log in as {other.name}: {writing.link("/login")}
If you have forgotten its password: {writing.link("/password/forgotten")}
If it was not you, there is nothing to do.
""",
        )
    token = writing.new_token()
    return (
        "Confirm your e-mail address",
        f"""
Somebody, probably you, gave this e-mail address for the account {user.name}. Open this link within a week, logged
in as {user.name}, to confirm it:

{writing.link(f"/account/email/confirm/{token}")}

If it was not you, don't open the link: the address then means nothing there.
""",
    )


def _reset(writing: _Writing) -> Text | None:
    if writing.mail.given_up_at is not None:
        return None  # another password was set since
    token = writing.new_token()
    return (
        "Choose a new password",
        f"""
Somebody, probably you, asked for a new password for the account {writing.user.name}. Open this link within an hour
to choose it:

{writing.link(f"/password/reset/{token}")}

If it was not you, there is nothing to do: the password stays as it is.
""",
    )


def _address(writing: _Writing) -> Text:
    new = writing.mail.about["new"]
    if not writing.mail.about["done"]:
        what = f"For {writing.user.name} this e-mail address is to be replaced by {new}, as soon as that is confirmed."
    elif new:
        what = f"The e-mail address of {writing.user.name} is now {new}. Nothing more is sent to this one."
    else:
        what = f"This e-mail address was taken out of {writing.user.name}: it has none now."
    return (
        "The e-mail address of your account changes",
        f"""
{what}

If it was not you, somebody else knows your password or uses your browser. Change your password, or tell the
operators of the site: {writing.link("/login")}
""",
    )


def _password(writing: _Writing) -> Text:
    return (
        "Your password is changed",
        f"""
The account {writing.user.name} has a new password, and is logged out everywhere else.

If it was not you, choose another one at once: {writing.link("/password/forgotten")}
""",
    )


def _identity(writing: _Writing) -> Text:
    return (
        "Another way to log in to your account",
        f"""
{writing.mail.about["title"]} can now be used to log in to the account {writing.user.name}.

If it was not you, take it away again and change your password: {writing.link("/account/")}
""",
    )


def _closed(writing: _Writing) -> Text:
    return (
        "Your account is closed",
        f"""
Your account on {writing.site} is closed: its name and this e-mail address are removed. Runs that were submitted with
it stay under the names of their teams. This is the last mail.

If it was not you, tell the operators of the site.
""",
    )


def _deadline(writing: _Writing) -> Text | None:
    evaluation = writing.row(Evaluation, "evaluation")
    if evaluation is None or evaluation.closes_at is None or evaluation.closes_at <= writing.now:
        return None
    closes = moment_in_words(evaluation.closes_at)
    return (
        f"{evaluation.title} closes on {closes}",
        f"""
{evaluation.title} of {evaluation.campaign.title} takes runs until {closes}.

Your team's runs, and whether one more can be sent: {writing.link(_path(evaluation) + "/submit")}
""",
    )


def _scored(writing: _Writing) -> Text | None:
    run = _own_run(writing)
    if run is None:
        return None
    title = title_of_run(run.label, run.filename, run.id)
    return (
        f"{title} was scored",
        f"""
The run {title} of {run.team.name} in {run.evaluation.title} was scored. What you may see of its results:

{writing.link(f"/submissions/{run.id}")}
""",
    )


def _rejected(writing: _Writing) -> Text | None:
    run = _own_run(writing)
    if run is None:
        return None
    title = title_of_run(run.label, run.filename, run.id)
    return (
        f"{title} was rejected",
        f"""
The run {title} of {run.team.name} in {run.evaluation.title} can't be used: {counted(run.problem_count, "problem")} in
its file, each with its line here:

{writing.link(f"/submissions/{run.id}")}

It costs no quota. Correct the file and submit it again.
""",
    )


def _rejudged(writing: _Writing) -> Text | None:
    evaluation = writing.row(Evaluation, "evaluation")
    if evaluation is None:
        return None
    actor = actor_of(writing.session, writing.user.id)
    own = sa.select(Submission.team_id).where(
        Submission.evaluation_id == evaluation.id, Submission.team_id.in_(actor.teams)
    )
    teams = (None, *writing.session.scalars(own.distinct()))  # the board's results, or a team's own
    if not any(may_see(actor, evaluation, Sight.RESULTS, writing.now, team) for team in teams):
        return None
    return (
        f"{evaluation.title} was judged anew",
        f"""
The runs of {evaluation.title} of {evaluation.campaign.title}, your team's among them, were scored anew: its
judgments are revision {writing.mail.about["revision"]} now.

{writing.link(_path(evaluation))}
""",
    )


def _imported(writing: _Writing) -> Text | None:
    team, evaluation = writing.row(Team, "team"), writing.row(Evaluation, "evaluation")
    if team is None or evaluation is None or not writing.is_in(team.id):
        return None
    where = "a campaign that is not public yet"
    if knows(actor_of(writing.session, writing.user.id), evaluation):
        where = f"{evaluation.campaign.title}: {writing.link(_path(evaluation))}"
    return (
        f"Runs of the past were brought in as {team.name}'s",
        f"""
Organisers have brought in runs of the past under the name of your team {team.name}, in
{where}

They stand on your team's page as soon as they are public: {writing.link(f"/teams/{team.slug}")}

If they are not your team's, tell the organisers of the campaign or the operators of the site.
""",
    )


def _request(writing: _Writing) -> Text | None:
    team = writing.row(Team, "team")
    if team is None:
        return None
    membership = writing.session.get(Membership, (team.id, writing.user.id))
    asker = writing.session.get(User, writing.mail.about["asker"])
    if membership is None or membership.role is not Role.OWNER or asker is None or not asker.is_active:
        return None
    return (
        f"{asker.name} asks to join {team.name}",
        f"""
{asker.name} asks to join your team {team.name}. Read the request, and accept or refuse it:

{writing.link(f"/teams/{team.slug}")}
""",
    )


def _answer(writing: _Writing) -> Text | None:
    team = writing.row(Team, "team")
    if team is None:
        return None
    accepted = writing.mail.about["accepted"]
    if accepted is None:
        return (
            f"Nobody is in {team.name} any more",
            f"Your request to join {team.name} has ended without an answer: the last of its members left.",
        )
    if accepted:
        subject, what = f"You are in {team.name} now", "has accepted your request: you are a member now"
    else:
        subject, what = f"{team.name} has refused your request", "has refused your request to join it"
    return subject, f"An owner of {team.name} {what}.\n\n{writing.link(f'/teams/{team.slug}')}"


TEXTS: dict[MailKind, Callable[[_Writing], Text | None]] = {
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


def _own_run(writing: _Writing) -> Submission | None:
    """The run that the mail is about, where its reader still is in the team."""
    run = writing.row(Submission, "submission")
    return run if run is not None and writing.is_in(run.team_id) else None


def _path(evaluation: Evaluation) -> str:
    return f"/campaigns/{evaluation.campaign.slug}/{evaluation.slug}"
