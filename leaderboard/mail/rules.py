"""Which mails the site sends, and which of them a person can turn off."""

from datetime import timedelta
from enum import StrEnum


class MailKind(StrEnum):
    """Why a mail is sent."""

    CONFIRMATION = "confirmation"  # a link that confirms an address
    RESET = "reset"  # a link that sets a new password
    ADDRESS = "address"  # to the old address: another one was asked for, or took its place
    PASSWORD = "password"  # noqa: S105  # the password is another one now
    IDENTITY = "identity"  # another way to log in was linked
    CLOSED = "closed"  # the account is closed
    DEADLINE = "deadline"  # an evaluation closes soon
    SCORED = "scored"  # a run was scored
    REJECTED = "rejected"  # a run's file can't be used
    REJUDGED = "rejudged"  # an evaluation was scored by other judgments
    IMPORTED = "imported"  # organisers brought in runs of the past under a team's name
    REQUEST = "request"  # somebody asks to join a team
    ANSWER = "answer"  # a team has answered such a request


# What is not about the safety of an account, in the words of the form that turns it off.
OPTIONAL: dict[MailKind, str] = {
    MailKind.DEADLINE: "An evaluation that one of my teams takes part in closes soon",
    MailKind.SCORED: "A run that I submitted was scored",
    MailKind.REJECTED: "A run that I submitted was rejected",
    MailKind.REJUDGED: "Runs of my teams were scored anew by other judgments",
    MailKind.IMPORTED: "Organisers brought in runs of the past under the name of a team of mine",
    MailKind.REQUEST: "Somebody asks to join a team that I own",
    MailKind.ANSWER: "A team has answered my request to join it",
}

KEPT = timedelta(days=30)  # the row of a mail that was sent or given up, so that an operator can look it up


def lasts(kind: MailKind) -> timedelta:
    """How long a mail of this kind is worth sending, where a mail server can't be reached or is not there; the link in
    it lasts as long from when it is sent.
    """
    return timedelta(hours=1) if kind is MailKind.RESET else timedelta(days=7)
