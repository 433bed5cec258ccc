"""Settings that another organiser changed while a form with them was open: they are not put back unawares."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from leaderboard.errors import Conflict
from leaderboard.models import Campaign, Evaluation
from leaderboard.rules.digests import short
from leaderboard.services.locking import locked
from leaderboard.web.forms import Form

__all__ = ["refuse_stale", "state_of"]


def state_of(form: Form, values: Mapping[str, Any]) -> str:
    """What a form notes of the settings that it shows: each one's name and digest."""
    return " ".join(f"{name}={short(values[name])}" for name in form._fields if name in values)


def refuse_stale(session: Session, form: Form, found: Campaign | Evaluation, given: Mapping[str, Any]) -> None:
    """Raises Conflict where the form would put back what somebody else changed since it was opened, and names it.

    found  what it would change, locked from now on: of two forms that are sent at the same moment one meets what the
           other changed
    given  the settings that the form asks for

    The form then notes these settings, so that sending it again is a yes to what it holds. One that notes nothing,
    which no browser sends, is taken as it is.
    """
    stands = locked(session, type(found), found.id)
    values = {name: getattr(stands, name) for name in given if hasattr(stands, name)}
    shown, stand = (
        dict(part.split("=", 1) for part in state.split() if "=" in part)
        for state in (form.text("state"), state_of(form, values))
    )
    changed = [name for name, digest in shown.items() if stand.get(name, digest) != digest]
    others = [name for name in changed if name in given and short(given[name]) != stand[name]]
    if others:
        form["state"].data = state_of(form, values)
        labels = (form[name].label.text.replace(" (optional)", "").partition(":")[0] for name in others)
        raise Conflict(
            f"Somebody changed these settings since you opened this page: {'; '.join(labels)}. Nothing is saved. The "
            "form holds what you sent, which would undo that: look at the settings as they stand in another window, or "
            "save again to put yours in their place."
        )
