"""What the site itself calls people and systems. Nobody is given such a name: `names.py` refuses them.

What a member may do in a team."""

from enum import StrEnum

PSEUDONYM = "Anonymous"  # before a number, of a system while names are hidden
CLOSED_ACCOUNT = "closed account"  # before its number
NUMBERED_ACCOUNT = "account"  # before its number, where its name can't be told
COMMAND_LINE, WORKER = "the command line", "a worker"  # who did something that no account did


def pseudonym(number: int) -> str:
    """What a system is called in an evaluation while names are hidden.

    >>> pseudonym(0x3f90c2)
    'Anonymous 3f90c2'
    """
    return f"{PSEUDONYM} {number:06x}"


def closed_account(user_id: int) -> str:
    """What an account is called once its name is removed."""
    return f"{CLOSED_ACCOUNT} {user_id}"


class Role(StrEnum):
    OWNER = "owner"  # invites people and takes them out again
    MEMBER = "member"  # submits runs
