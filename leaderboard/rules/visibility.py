"""Who may know of a campaign at all."""

from enum import StrEnum

__all__ = ["Visibility", "is_known"]


class Visibility(StrEnum):
    """For everybody whom it leaves out, a campaign is absent: no page, file, list or message tells of it."""

    PUBLIC = "public"
    PRIVATE = "private"  # its organisers, and members of the teams that they let in
    DRAFT = "draft"  # its organisers only


def is_known(visibility: Visibility, *, let_in: bool) -> bool:
    """Whether such a campaign is there for those who don't organise it. let_in: its organisers let their team in."""
    return visibility is Visibility.PUBLIC or (visibility is Visibility.PRIVATE and let_in)
