"""What each kind of mail says. A text is filled in when its mail is sent: it tells how things are then.

Names and labels that people gave stand in it as plain text; what they wrote at length does not, so that nobody makes
this site send their words to strangers.
"""

import secrets
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import access, moments, names, numbers
from leaderboard.accounts.models import User
from leaderboard.accounts.rules import token_hash
from leaderboard.campaigns.reads import site_settings
from leaderboard.evaluations.models import Evaluation
from leaderboard.mail.models import Mail, MailLink
from leaderboard.mail.rules import OPTIONAL, MailKind, lasts
from leaderboard.mail.smtp import Letter
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import title_of_run
from leaderboard.teams.models import Membership, Team
from leaderboard.teams.rules import Role

ROWS = {"evaluation": Evaluation, "submission": Submission, "team": Team, "asker": User}  # that a mail holds the id of

# The subject, an empty line, and the text.
TEXTS: dict[MailKind, str] = {
    MailKind.CONFIRMATION: """Confirm your e-mail address

Somebody, probably you, entered this e-mail address for the account {user.name}. Open this link within a week, logged
in as {user.name}, to confirm it:

{site}/account/email/confirm/{token}

If it was not you, don't open the link: the address is then not used.
""",
    MailKind.RESET: """Choose a new password

Somebody, probably you, asked for a new password for the account {user.name}. Open this link within an hour
to choose it:

{site}/password/reset/{token}

If it was not you, there is nothing to do: the password stays as it is.
""",
    MailKind.ADDRESS: """The e-mail address of your account is being changed

{change}

If it was not you, somebody else knows your password or uses your browser. Change your password, or tell the
operators of the site: {site}/login
""",
    MailKind.PASSWORD: """Your password was changed

The account {user.name} has a new password, and is logged out everywhere else.

If it was not you, choose another password at once: {site}/password/forgotten
""",
    MailKind.IDENTITY: """Another way to log in to your account

{about[title]} can now be used to log in to the account {user.name}.

If it was not you, unlink it and change your password: {site}/account/
""",
    MailKind.CLOSED: """Your account was closed

Your account on {site} was closed: its name and this e-mail address are removed. Runs that were submitted with
it stay under the names of their teams. This is the last mail.

If it was not you, tell the operators of the site.
""",
    MailKind.DEADLINE: """{evaluation.title} closes on {closes}

{evaluation.title} of {evaluation.campaign.title} accepts runs until {closes}.

Your team's runs, and whether one more can be sent: {address}/submit
""",
    MailKind.SCORED: """{title} was scored

The run {title} of {team.name} in {evaluation.title} was scored. What you may see of its results:

{site}/submissions/{submission.id}
""",
    MailKind.REJECTED: """{title} was rejected

The run {title} of {team.name} in {evaluation.title} can't be used: {problems} in its file, each with its line here:

{site}/submissions/{submission.id}

It costs no quota. Correct the file and submit it again.
""",
    MailKind.REJUDGED: """{evaluation.title} has new judgments

The runs of {evaluation.title} of {evaluation.campaign.title}, your team's among them, were scored anew: its
judgments are revision {about[revision]} now.

{address}
""",
    MailKind.IMPORTED: """Runs of past years were imported for {team.name}

Organisers have imported runs of past years under the name of your team {team.name}, in
{where}

They appear on your team's page as soon as they are public: {site}/teams/{team.slug}

If they are not your team's, tell the organisers of the campaign or the operators of the site.
""",
    MailKind.REQUEST: """{asker.name} asks to join {team.name}

{asker.name} asks to join your team {team.name}. Read the request, and accept or refuse it:

{site}/teams/{team.slug}
""",
    MailKind.ANSWER: """{news}

That is the answer to your request to join it: {site}/teams/{team.slug}
""",
}
ANOTHER_ACCOUNTS = """Your e-mail address was given for another account

Somebody gave this e-mail address for the account {user.name}. It is the confirmed address of your account
{owner.name}, and stays that: an address belongs to one account.

If it was you, log in as {owner.name}: {site}/login
If you have forgotten its password: {site}/password/forgotten
If it was not you, there is nothing to do.
"""


def written(session: Session, mail: Mail, site: str, now: datetime) -> Letter | None:
    """The mail as it is sent now; None when it has become pointless: nobody to send it to, or no news any more.

    site  the address of the site, without a path. A link that opens something is made anew each time.
    """
    user, to = _reader(session, mail), receiver(session, mail)
    if user is None or not to:
        return None
    rows: dict[str, Any] = {
        name: session.get(table, mail.about[name]) for name, table in ROWS.items() if name in mail.about
    }
    if None in rows.values():
        return None
    if run := rows.get("submission"):
        rows |= {"team": run.team, "evaluation": run.evaluation}
    if not _is_news(session, mail, user, now, rows):
        return None
    text = TEXTS[mail.kind]
    values = {"user": user, "about": mail.about, "site": site, **rows, **_words(session, mail, user, site, rows)}
    if mail.kind is MailKind.CONFIRMATION and (owner := _owner_of(session, mail)):
        text, values["owner"] = ANOTHER_ACCOUNTS, owner
    elif mail.kind in (MailKind.CONFIRMATION, MailKind.RESET):
        values["token"] = _new_token(session, mail, user, to, now)
    subject, _, text = text.format_map(values).partition("\n")
    text = f"{text.strip()}\n\n-- \n{site_settings(session).name}, {site}\n"
    if mail.kind in OPTIONAL:
        text += f"Which of these mails you get: {site}/account/mail\n"
    return Letter(f"{mail.id}.{mail.created_at:%Y%m%d%H%M%S}", to, subject, text)


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
        owner = _owner_of(session, mail)
        return (owner.email if owner is not None else mail.address) or ""
    return mail.address or user.email or ""


def _reader(session: Session, mail: Mail) -> User | None:
    """Whose account the mail is about. For a new password: whose confirmed address it was asked for."""
    if mail.user_id is None:
        return _owner_of(session, mail)
    user = session.get_one(User, mail.user_id)
    return user if user.is_active or mail.kind is MailKind.CLOSED else None


def _owner_of(session: Session, mail: Mail) -> User | None:
    """The account that has the mail's address as its confirmed one."""
    own = User.email_key == names.email_key(mail.address or ""), User.is_active.is_(True)
    return session.scalar(sa.select(User).where(*own))


def _is_news(session: Session, mail: Mail, user: User, now: datetime, rows: dict[str, Any]) -> bool:
    """Whether its reader still is to be told."""
    team, evaluation = rows.get("team"), rows.get("evaluation")
    membership = None if team is None else session.get(Membership, (team.id, user.id))
    match mail.kind:
        case MailKind.CONFIRMATION:
            return user.unconfirmed_email == mail.address  # no other address was given since
        case MailKind.RESET:
            return mail.given_up_at is None  # no other password was set since
        case MailKind.DEADLINE if evaluation:
            return evaluation.closes_at is not None and evaluation.closes_at > now
        case MailKind.REJUDGED if evaluation:
            return _sees_results(session, user, evaluation, now)
        case MailKind.SCORED | MailKind.REJECTED | MailKind.IMPORTED:
            return membership is not None
        case MailKind.REQUEST:
            return membership is not None and membership.role is Role.OWNER and rows["asker"].is_active
    return True


def _sees_results(session: Session, user: User, evaluation: Evaluation, now: datetime) -> bool:
    """Whether somebody sees the board's results there, or those of a team of theirs."""
    actor = access.actor_of(session, user.id)
    own = sa.select(Submission.team_id).where(
        Submission.evaluation_id == evaluation.id, Submission.team_id.in_(actor.teams)
    )
    teams = (None, *session.scalars(own.distinct()))
    return any(access.may_see(actor, evaluation, access.Content.RESULTS, now, team) for team in teams)


def _words(session: Session, mail: Mail, user: User, site: str, rows: dict[str, Any]) -> dict[str, str]:
    """What the texts say of the rows, beside what these hold themselves."""
    words = {}
    about, evaluation = mail.about, rows.get("evaluation")
    if run := rows.get("submission"):
        words["title"] = title_of_run(run.label, run.filename, run.id)
        words["problems"] = numbers.counted(run.problem_count, "problem")
    if evaluation is not None:
        words["address"] = f"{site}/campaigns/{evaluation.campaign.slug}/{evaluation.slug}"
        words["closes"] = moments.moment_in_words(evaluation.closes_at) if evaluation.closes_at else ""
        public = access.knows(access.actor_of(session, user.id), evaluation)
        words["where"] = (
            f"{evaluation.campaign.title}: {words['address']}" if public else "a campaign that is not public yet"
        )
    if mail.kind is MailKind.ANSWER:
        news = {True: "You are in {} now", False: "{} has refused your request"}
        words["news"] = news[about["accepted"]].format(rows["team"].name)
    if mail.kind is MailKind.ADDRESS:
        instead = about["new"] or "none"
        words["change"] = (
            f"The e-mail address of {user.name} is now {instead}. Nothing more is sent to this one."
            if about["done"]
            else f"For {user.name} this e-mail address is to be replaced by {instead}, as soon as that is confirmed."
        )
    return words


def _new_token(session: Session, mail: Mail, user: User, to: str, now: datetime) -> str:
    """The token of a new link to this address. Only its hash is kept."""
    token = secrets.token_urlsafe(24)
    lasting = {"created_at": now, "expires_at": now + lasts(mail.kind)}
    session.add(MailLink(kind=mail.kind, user_id=user.id, address=to, token_hash=token_hash(token), **lasting))
    return token
