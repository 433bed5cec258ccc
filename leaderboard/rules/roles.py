"""What a member may do in a team."""

from enum import StrEnum

__all__ = ["Role"]


class Role(StrEnum):
    OWNER = "owner"  # invites people and takes them out again
    MEMBER = "member"  # submits runs
