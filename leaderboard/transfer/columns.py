"""What of each table a manifest and the files beside it hold, and what they leave out, each with the reason.

A test holds the two against the tables: a column that is in neither fails it.
"""

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from leaderboard.db import Base, UtcDateTime
from leaderboard.models import Campaign, Evaluation, Submission, System, Team
from leaderboard.rules.settings import ASSESSORS
from leaderboard.services import campaigns, evaluations
from leaderboard.services.imports import RUN_SETTINGS

__all__ = ["NONE", "SETTINGS", "as_moment", "as_stored", "settings_of"]

NONE = "none"  # in a manifest the word for no value where there would be one otherwise

# The columns that a manifest's tables name as they are, with what holds where one is left out.
SETTINGS: Mapping[type[Base], Mapping[str, Any]] = {
    Campaign: {"slug": "", "title": "", "measures": [], "primary_measure": "", **campaigns.DEFAULTS},
    Evaluation: {"slug": "", "title": "", "period": "", **evaluations.DEFAULTS, "official_source": ASSESSORS},
    Team: {"slug": "", "name": "", "description": ""},
    System: {"slug": "", "name": "", "kind": "automatic", "description": "", "code_url": "", "paper_url": ""},
    Submission: RUN_SETTINGS,
}


def settings_of(row: Base) -> dict[str, Any]:
    """What a manifest says of a row: the columns of SETTINGS that differ from what holds without a word."""
    found = {}
    for name, usual in SETTINGS[type(row)].items():
        value = getattr(row, name)
        if value != usual:
            found[name] = NONE if value is None else value
    return found


def as_stored(model: type[Base], name: str, value: Any) -> Any:
    """A manifest's value as the column keeps it. Raises ValueError, in words, for one of another kind."""
    column = model.__table__.columns[name]
    kind = column.type
    if value == NONE and column.nullable:
        return None
    if isinstance(kind, sa.Enum):
        words = [one.value for one in _members(kind)]
        if value not in words:
            raise ValueError(f"give one of {', '.join(words)}")
        return next(one for one in _members(kind) if one.value == value)
    if isinstance(kind, UtcDateTime):
        return as_moment(value)
    if isinstance(kind, sa.Boolean):
        return _of(bool, value, "give true or false")
    if isinstance(kind, sa.Integer):
        return _whole(value)
    if isinstance(kind, sa.Double | sa.Float):
        return value if isinstance(value, float) else float(_whole(value))
    if isinstance(kind, sa.JSON):
        return _of((list, dict), value, "give a list or a table")
    return _of(str, value, "give a text, in quotes")


def as_moment(value: Any) -> dt.datetime:
    """A date or a moment; without a time zone it is one of UTC. Raises ValueError."""
    try:
        if isinstance(value, str):
            value = dt.datetime.fromisoformat(value)
        if not isinstance(value, dt.datetime):
            value = dt.datetime.combine(value, dt.time())
    except (TypeError, ValueError):
        raise ValueError("give a date like 2020-04-23 or 2020-04-23T18:00:00Z") from None
    moment: dt.datetime = value
    return moment.astimezone(dt.UTC) if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def _members(kind: sa.Enum) -> list[StrEnum]:
    assert kind.enum_class is not None  # noqa: S101  # every choice of ours has one, see `db.choice`
    return list(kind.enum_class)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**63:
        raise ValueError("give a number, without quotes")
    return value


def _of(kind: type | tuple[type, ...], value: Any, otherwise: str) -> Any:
    if not isinstance(value, kind):
        raise ValueError(otherwise)  # noqa: TRY004  # a value of a file, not an argument
    return value
