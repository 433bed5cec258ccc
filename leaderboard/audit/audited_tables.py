"""What must stay changeable and can't change unseen: of which rows the audit trail says what they hold.

Every event carries the state after it of the rows that it is about, and `leaderboard verify` compares the last state of
each with the rows as they are. A column that is not named here as left out is audited, a new one too: whatever changes
it records an event.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.accounts.models import User
from leaderboard.audit.rules import canonical, digest, short
from leaderboard.campaigns.models import Campaign, CampaignOrganiser, CampaignTeam, Site
from leaderboard.db import Base, Json
from leaderboard.evaluations.models import Acceptance, Agreement, Evaluation
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.rules import UNFINISHED
from leaderboard.teams.models import Membership, Pseudonym, System, Team, TeamName
from leaderboard.worker.models import Scoring, ScoringSet

ALL_ROWS = ""  # beside the rows of a thing of many: the digest of all of them
LONGEST_VALUE = 80  # characters of its canonical form; of a longer value the trail has the digest

State = dict[str, str]  # of a thing of one row: its values by column; of many: the digest of each by its label
Thing = tuple[str, tuple[int, ...]]  # the name of an audited table, and the key


@dataclass(frozen=True)
class AuditedTable:
    """Rows that are looked at together, as one thing.

    by        the columns that say which thing a row belongs to
    row       the column that labels the rows of the thing; None where a thing is one row
    left_out  columns that may change without an event, each with the reason
    only      the columns that are audited, where most are not
    hashed    columns of which the trail has the digest only, however short they are: it keeps what it has for ever
    where     which rows are audited
    """

    name: str
    table: type[Base]
    by: tuple[str, ...] = ("id",)
    row: str | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    hashed: tuple[str, ...] = ()
    where: sa.ColumnElement[bool] | None = None

    @cached_property
    def columns(self) -> list[Any]:
        table = self.table.__table__.columns
        names = self.only or [column.name for column in table if column.name not in {*self.left_out, *self.by}]
        # Settings as they are stored, whether or not they can be read as settings.
        return [sa.type_coerce(table[name], Json).label(name) if name == "settings" else table[name] for name in names]

    @cached_property
    def select(self) -> sa.Select[Any]:
        """The rows of all things, the key's columns first. Kept: making it takes longer than running it."""
        key = [self.table.__table__.columns[name] for name in self.by]
        audited = sa.true() if self.where is None else self.where
        return sa.select(*key, *self.columns).where(audited).order_by(*key)

    @cached_property
    def select_one(self) -> sa.Select[Any]:
        """The same of one thing, whose key is given by name."""
        return self.select.where(*(self.table.__table__.columns[name] == sa.bindparam(name) for name in self.by))

    def state(self, rows: Iterable[sa.Row[Any]]) -> State:
        """What the rows of one thing hold."""
        names, skipped = [column.name for column in self.columns], len(self.by)
        values = [tuple(row)[skipped:] for row in rows]
        states = [{name: self._shown(name, value) for name, value in zip(names, row, strict=True)} for row in values]
        if self.row is None:
            return states[0]
        labels = [str(row[names.index(self.row)]) for row in values]
        by_label = {label: short(state) for label, state in zip(labels, states, strict=True)}
        return {ALL_ROWS: digest(sorted(map(digest, states))), **by_label}

    def _shown(self, name: str, value: Any) -> str:
        """A value as the trail has it: itself where it is short."""
        text = canonical(value)
        return text if len(text) <= LONGEST_VALUE and name not in self.hashed else f"sha256 {digest(value)}"


COUNTS = dict.fromkeys(
    ("day", "used_today", "rejected_today", "used"), "counts towards a quota; no figure depends on it"
)
OF_ACCOUNT = {
    "password_hash": "made anew at a log-in when its cost is raised",
    "last_login_at": "changes whenever somebody signs in or out",
    **dict.fromkeys(("email", "email_key", "unconfirmed_email"), "personal data, which the trail would keep for ever"),
}
# Of a scoring that waits nothing is audited, and of one with figures the digest is over all that it holds.
OF_SCORING = (
    *("submission_id", "scoring_set_id", "state", "failure", "damaged", "digest"),
    *("started_at", "finished_at", "seconds", "of_the_past"),
)
TABLES = (
    AuditedTable("campaign", Campaign, left_out={"locked_at": "set with the first result; triggers keep it"}),
    AuditedTable("organisers", CampaignOrganiser, ("campaign_id",), row="user_id"),
    AuditedTable("teams let in", CampaignTeam, ("campaign_id",), row="team_id"),
    AuditedTable("evaluation", Evaluation),
    AuditedTable("agreements", Agreement, ("evaluation_id",), row="id"),
    AuditedTable("acceptances", Acceptance, ("agreement_id",), row="user_id"),
    AuditedTable("queries", Query, ("evaluation_id",), row="external_id"),
    AuditedTable("revisions", JudgmentRevision, ("evaluation_id",), row="number"),
    AuditedTable(
        "scoring sets", ScoringSet, ("evaluation_id",), row="id", left_out={"refreshing_until": "a worker's lease"}
    ),
    AuditedTable("team", Team),
    AuditedTable("team names", TeamName, ("team_id",), row="name_key"),
    AuditedTable("members", Membership, ("team_id",), row="user_id"),
    AuditedTable("system", System),
    AuditedTable("pseudonyms", Pseudonym, ("system_id",), row="evaluation_id"),
    AuditedTable("submission", Submission, left_out={"charged": COUNTS["used"]}),
    AuditedTable("scoring", Scoring, only=OF_SCORING, where=Scoring.state.not_in(UNFINISHED)),
    AuditedTable("participation", Participation, ("team_id", "evaluation_id"), left_out=COUNTS),
    AuditedTable("account", User, left_out=OF_ACCOUNT, hashed=("name", "name_key")),
    AuditedTable("site", Site),
)
AUDITED = {table.name: table for table in TABLES}

OF_SUBJECT = {  # table of an event's subject -> the things that the event is about
    "campaign": ("campaign", "organisers", "teams let in"),
    "evaluation": ("evaluation", "agreements", "queries", "revisions"),
    "agreement": ("acceptances",),
    "query": ("queries",),
    "scoring_set": ("scoring sets",),
    "team": ("team", "team names", "members"),
    "system": ("system", "pseudonyms"),
    "participation": ("participation",),
    "submission": ("submission", "participation", "pseudonyms"),
    "scoring": ("scoring",),
    "user": ("account",),
    "site": ("site",),
}


def things_of(subject: Base) -> list[Thing]:
    """What an event about this row is about."""
    table = subject.__tablename__
    columns = {f"{table}_id": "id"}  # of its parts, which name it
    return [
        (name, tuple(getattr(subject, columns.get(column, column)) for column in AUDITED[name].by))
        for name in OF_SUBJECT.get(table, ())
    ]


def name_of(thing: Thing) -> str:
    """As the trail calls it: `campaign 3`, `participation 1/2`."""
    name, key = thing
    return f"{name} {'/'.join(map(str, key))}"


def states_of(session: Session, things: Iterable[Thing]) -> dict[str, State]:
    """`campaign 3` -> what its row holds now, in the database; empty where there is none."""
    states: dict[str, State] = {}
    for name, key in things:
        table = AUDITED[name]
        rows = session.execute(table.select_one, dict(zip(table.by, key, strict=True))).all()
        states[name_of((name, key))] = table.state(rows) if rows else {}
    return states


def states_of_all(session: Session, table: AuditedTable) -> Iterator[tuple[str, State]]:
    """Of everything in the table: how the trail calls it, and its state now."""
    length = len(table.by)
    for own, rows in groupby(session.execute(table.select).all(), lambda row: tuple(row[:length])):
        yield name_of((table.name, own)), table.state(rows)


def change_of(before: State, after: State) -> dict[str, str | None] | None:
    """What of a thing was otherwise before, by column or row: enough to get from its state after an event to that
    before it. None where there was nothing before."""
    if not before:
        return None
    names = sorted(before.keys() | after.keys())
    return {name: before.get(name) for name in names if before.get(name) != after.get(name)}


def state_before(change: Mapping[str, str | None] | None, after: State) -> State:
    """The state before an event, from what `change_of` gave."""
    if change is None:
        return {}
    return {name: value for name, value in {**after, **change}.items() if value is not None}
