"""Who may know of a campaign at all."""

from enum import StrEnum

__all__ = ["Visibility"]


class Visibility(StrEnum):
    """For everybody whom it leaves out, a campaign is absent: no page, file, list or message tells of it."""

    PUBLIC = "public"
    PRIVATE = "private"  # its organisers, and members of the teams that they let in
    DRAFT = "draft"  # its organisers only
