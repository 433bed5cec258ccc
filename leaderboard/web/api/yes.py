"""A program's yes to what a change does at once: the change is made, and undone where the yes is lacking."""

from collections.abc import Sequence

from leaderboard.errors import InvalidFields

__all__ = ["Yes", "require_yes"]

Yes = bool | tuple[str, ...]  # true: to whatever it does; the lines of a refusal: to just these
SEND_YES = "send yes: true with it where it is meant so, or these lines as yes, to agree to nothing else"


def require_yes(found: Sequence[str], yes: Yes) -> None:
    """Raises InvalidFields (yes) with what was found, a sentence each, where nobody said yes to it."""
    if not found or yes is True:
        return
    if [line for line in yes or () if line != SEND_YES] != [*found]:
        raise InvalidFields({"yes": [*found, SEND_YES]})
