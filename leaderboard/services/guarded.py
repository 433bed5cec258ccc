"""What must stay changeable and can't change unseen: of which rows the audit trail says what they hold.

Every event carries the state after it of the rows that it is about, and `leaderboard verify` compares the last state of
each with the rows as they are. A column that is not named here as left out is guarded, a new one too: whatever changes
it records an event.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.db import Base, Json
from leaderboard.models import (
    Agreement,
    Campaign,
    CampaignOrganiser,
    CampaignTeam,
    Evaluation,
    JudgmentRevision,
    Membership,
    Participation,
    Query,
    ScoringSet,
    Submission,
    System,
    Team,
    TeamName,
    User,
)
from leaderboard.rules.digests import canonical, digest, short

__all__ = [
    "GUARDED",
    "Guarded",
    "change_of",
    "is_nothing",
    "name_of",
    "state_before",
    "states_of",
    "states_of_all",
    "things_of",
]

LONGEST_VALUE = 80  # characters of its canonical form; of a longer value the trail has the digest


@dataclass(frozen=True)
class Guarded:
    """Rows that are looked at together, as one thing.

    by        the columns that say which thing a row belongs to
    row       the column that says which row of the thing it is; None where a thing is one row
    left_out  columns that may change without an event, each with the reason
    unnamed   columns of which the trail has the digest only, however short they are: it keeps what it has for ever
    """

    name: str
    table: type[Base]
    by: tuple[str, ...]
    row: str | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    unnamed: frozenset[str] = frozenset()

    @cached_property
    def columns(self) -> list[Any]:
        found = self.table.__table__.columns
        guarded = (column for column in found if column.name not in self.left_out and column.name not in self.by)
        # Settings as they are stored, whether or not they can be read as settings.
        return [sa.type_coerce(each, Json).label(each.name) if each.name == "settings" else each for each in guarded]

    @cached_property
    def of_all(self) -> sa.Select[Any]:
        """Statement: the rows of all things, the key's columns first. Kept: making it takes longer than running it."""
        columns = self.table.__table__.columns
        by = [columns[name] for name in self.by]
        return sa.select(*by, *self.columns).order_by(*by, *([columns[self.row]] if self.row else []))

    @cached_property
    def of_one(self) -> sa.Select[Any]:
        """The same of one thing, whose key is given by name."""
        columns = self.table.__table__.columns
        return self.of_all.where(*(columns[name] == sa.bindparam(name) for name in self.by))


LEASE = "a worker's, for as long as it works"
LOCK = "set once, with the first result; triggers keep it"
SIGNING_IN = "changes whenever somebody signs in or out"
PERSONAL = "personal data, which the trail would keep for ever"
COUNTS = "counts towards a quota; no figure depends on it"
GUARDED = {
    one.name: one
    for one in (
        Guarded("campaign", Campaign, ("id",), left_out={"locked_at": LOCK}),
        Guarded("organisers", CampaignOrganiser, ("campaign_id",), row="user_id"),
        Guarded("teams let in", CampaignTeam, ("campaign_id",), row="team_id"),
        Guarded("evaluation", Evaluation, ("id",)),
        Guarded("agreements", Agreement, ("evaluation_id",), row="id"),
        Guarded("queries", Query, ("evaluation_id",), row="external_id"),
        Guarded("revisions", JudgmentRevision, ("evaluation_id",), row="number"),
        Guarded("scoring sets", ScoringSet, ("evaluation_id",), row="id", left_out={"refreshing_until": LEASE}),
        Guarded("team", Team, ("id",)),
        Guarded("team names", TeamName, ("team_id",), row="name_key"),
        Guarded("members", Membership, ("team_id",), row="user_id"),
        Guarded("system", System, ("id",)),
        Guarded(
            "submission",
            Submission,
            ("id",),
            left_out={"charged": COUNTS},
        ),
        Guarded(
            "participation",
            Participation,
            ("team_id", "evaluation_id"),
            left_out=dict.fromkeys(("day", "used_today", "rejected_today", "used"), COUNTS),
        ),
        Guarded(
            "account",
            User,
            ("id",),
            left_out={
                "password_hash": "made anew at a log-in when its cost is raised",
                "last_login_at": SIGNING_IN,
                "email": PERSONAL,
                "email_key": PERSONAL,
                "unconfirmed_email": PERSONAL,
            },
            unnamed=frozenset({"name", "name_key"}),
        ),
    )
}

# Table of an event's subject -> the things that the event is about, and by which of the subject's columns.
OF_SUBJECT: dict[str, dict[str, tuple[str, ...]]] = {
    "campaign": {"campaign": ("id",), "organisers": ("id",), "teams let in": ("id",)},
    "evaluation": {"evaluation": ("id",), "agreements": ("id",), "queries": ("id",), "revisions": ("id",)},
    "query": {"queries": ("evaluation_id",)},
    "scoring_set": {"scoring sets": ("evaluation_id",)},
    "team": {"team": ("id",), "team names": ("id",), "members": ("id",)},
    "system": {"system": ("id",)},
    "participation": {"participation": ("team_id", "evaluation_id")},
    "submission": {"submission": ("id",), "participation": ("team_id", "evaluation_id")},
    "user": {"account": ("id",)},
}

Thing = tuple[str, tuple[int, ...]]  # the name of what is guarded, and the key


def things_of(subject: Base) -> list[Thing]:
    """What an event about this row is about."""
    return [
        (name, tuple(getattr(subject, column) for column in columns))
        for name, columns in OF_SUBJECT.get(subject.__tablename__, {}).items()
    ]


def states_of(session: Session, things: Iterable[Thing]) -> dict[str, Any]:
    """`campaign 3` -> what its row holds now, by column; None when there is none.

    Of things of many rows: the digest of all of them, and the first digits of each row's.
    """
    return {name_of((name, key)): _state(GUARDED[name], _rows(session, GUARDED[name], key)) for name, key in things}


def change_of(before: Any, after: Any) -> Any:
    """What of a thing was otherwise before: enough to get from its state after an event to that before it.

    None where there was none; the values before of the columns that changed; of a thing of many rows its digest before
    and the digests of the rows that went and came.
    """
    if not before or not after:
        return before
    if "rows" in after:
        was, now = Counter(before["rows"]), Counter(after["rows"])
        gone, come = sorted((was - now).elements()), sorted((now - was).elements())
        return {"digest": before["digest"], "gone": gone, "come": come}
    return {column: value for column, value in before.items() if after[column] != value}


def state_before(change: Any, after: Any) -> Any:
    """The state before an event, from what `change_of` gave."""
    if not change or not after:
        return change
    if "rows" in after:
        rows = Counter(after["rows"]) - Counter(change["come"]) + Counter(change["gone"])
        return {"rows": sorted(rows.elements()), "digest": change["digest"]}
    return {**after, **change}


def is_nothing(state: Any) -> bool:
    """Whether a state is that of a thing that is not there, or has no rows."""
    return not state or not state.get("rows", True)


def states_of_all(session: Session, name: str) -> Iterator[tuple[str, Any, dict[str, str]]]:
    """Of every thing of that name: how the trail calls it, its state now, and which row each of its digests is of."""
    guarded = GUARDED[name]
    key, rows = None, []
    for row in _rows(session, guarded):
        own = tuple(row[: len(guarded.by)])
        if key is not None and own != key:
            yield name_of((name, key)), _state(guarded, rows), _labels(guarded, rows)
            rows = []
        key = own
        rows.append(row)
    if key is not None:
        yield name_of((name, key)), _state(guarded, rows), _labels(guarded, rows)


def name_of(thing: Thing) -> str:
    """As the trail calls it: `campaign 3`, `participation 1/2`."""
    name, key = thing
    return f"{name} {'/'.join(map(str, key))}"


def _rows(session: Session, guarded: Guarded, key: tuple[int, ...] | None = None) -> Sequence[sa.Row[Any]]:
    """The rows as they stand in the database, whatever the session holds of them: the key's columns first."""
    if key is None:
        return session.execute(guarded.of_all).all()
    return session.execute(guarded.of_one, dict(zip(guarded.by, key, strict=True))).all()


def _state(guarded: Guarded, rows: Sequence[sa.Row[Any]]) -> Any:
    own = [_values(guarded, row) for row in rows]
    if guarded.row is not None:
        digests = sorted(map(short, own))
        return {"rows": digests, "digest": digest(sorted(map(digest, own)))}
    return own[0] if own else None


def _values(guarded: Guarded, row: sa.Row[Any]) -> dict[str, Any]:
    values = row[len(guarded.by) :]
    return {
        column.name: f"sha256 {digest(value)}" if column.name in guarded.unnamed else _shown(value)
        for column, value in zip(guarded.columns, values, strict=True)
    }


def _shown(value: Any) -> str:
    """A value as the trail has it: itself where it is short."""
    text = canonical(value)
    return text if len(text) <= LONGEST_VALUE else f"sha256 {digest(value)}"


def _labels(guarded: Guarded, rows: Sequence[sa.Row[Any]]) -> dict[str, str]:
    if guarded.row is None:
        return {}
    place = [column.name for column in guarded.columns].index(guarded.row) + len(guarded.by)
    return {short(_values(guarded, row)): str(row[place]) for row in rows}
