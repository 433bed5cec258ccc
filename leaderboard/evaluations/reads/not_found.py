"""What is said where something is not there."""

from difflib import get_close_matches
from typing import NoReturn

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Session

from leaderboard.errors import NotFound

SHOWN = 10  # names that a message lists


def missing(
    session: Session,
    what: str,
    name: str,
    column: InstrumentedAttribute[str],
    *among: sa.ColumnElement[bool],
    within: str = "",
    there: str = "there are",
) -> NoReturn:
    """Raises NotFound that suggests the nearest names, or lists the first few when none is near.

    there  what these are
    """
    names = list(session.scalars(sa.select(column).where(*among).order_by(column)))
    near = get_close_matches(name, names)
    if near:
        hint = f"; did you mean {' or '.join(near)}?"
    else:
        hint = f"; {there} {', '.join(names[:SHOWN])}{', …' if len(names) > SHOWN else ''}" if names else ""
    raise NotFound(f"there is no {what} {name!r}{within}{hint}")
