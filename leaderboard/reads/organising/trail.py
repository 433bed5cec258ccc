"""The audit trail of a campaign, in words: who did what to what, when, and what it changed."""

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.db import Base
from leaderboard.errors import BadInput
from leaderboard.lookup import stored_events
from leaderboard.models import (
    Agreement,
    Campaign,
    Evaluation,
    Event,
    JudgmentRevision,
    Query,
    ScoringSet,
    Submission,
    System,
    Team,
    User,
)
from leaderboard.numbers import read_whole
from leaderboard.reads.organising.rooms import organised_campaign
from leaderboard.reads.paging import Paging, paging_of

__all__ = ["ROWS", "SUBJECTS", "WORKER", "Change", "TrailFilters", "TrailPage", "TrailRow", "trail"]

ROWS = 50  # on a page
WORKER = "worker"  # as a filter: what nobody with an account did
OF_WORKER = ("score", "reject", "fail", "switch")
# Of a team the trail of a campaign tells what its boards show; who is in it is the team's own matter.
OF_TEAM = ("create", "change", "rename", "merge", "merge into")
SUBJECTS = {  # table of an event's subject -> what a person calls it
    "campaign": "campaign",
    "evaluation": "evaluation",
    "query": "query",
    "scoring_set": "scoring set",
    "submission": "run",
    "system": "system",
    "team": "team",
}
WORDS = {  # what was done -> as it is told; what is not here is told by its own name
    "create": "made",
    "change": "changed",
    "remove": "removed",
    "clone": "cloned another evaluation into",
    "rename": "renamed",
    "submit": "submitted",
    "import run": "brought in from the past",
    "score": "scored",
    "reject": "rejected the file of",
    "fail": "gave up on scoring",
    "retry": "put back into the queue",
    "withdraw": "withdrew",
    "describe": "changed label or notes of",
    "let stand": "let stand for its system",
    "keep standing": "let go on standing for its system",
    "give place up": "ended that no run takes the place of",
    "make primary": "made its team's primary run",
    "make contrastive": "made contrastive",
    "hide": "hid",
    "disqualify": "disqualified",
    "restore": "put back on the boards",
    "merge": "merged another team into",
    "merge into": "merged into another team",
    "move to team": "moved to another team",
    "become one": "made one with another system",
    "exclude": "left out of the figures",
    "include": "took back into the figures",
    "import queries": "imported queries into",
    "import judgments": "imported judgments into",
    "set split": "hid or showed queries of",
    "make set": "began to score anew with",
    "switch": "switched the boards to",
    "add organiser": "added an organiser to",
    "remove organiser": "removed an organiser of",
    "let team in": "let a team into",
    "let team out": "took a team out of",
    "let in instead": "let a team into, in the place of one that was merged into it,",
    "archive": "archived",
    "take out of the archive": "took out of the archive",
    "make official": "changed whose judgments are the official ones of",
    "set field": "made or changed a field of the form of",
    "remove field": "removed a field of the form of",
    "retire field": "asks a field no more in the form of",
    "state agreement": "asks an agreement in the form of",
    "end agreement": "asks an agreement no more in the form of",
    "accept": "accepted",
    "set file rules": "set the file rules of",
    "set documents": "set the list of documents of",
    "copy form": "took the form of another evaluation over into",
}
UNTOLD_COLUMNS = {  # what the rest of an event says already, or nobody reads
    "name_key", "holds_place", "problems", "problem_count", "settings_hash", "chosen_at", "scored_at", "ruled_at",
    "ruled_by_id", "withdrawn_at", "withdrawn_by_id",
}  # fmt: skip
UNTOLD_FACTS = {
    "figures", "digest", "scorings", "scoring", "fields", "sha256", "settings", "attempt", "worker", "damaged",
    "campaign", "evaluation", "holds_place",
}  # fmt: skip
FACTS = {"of": "from", "to": "its place goes to", "instead": "the primary run is", "primary": "the primary run is"}
NUMBERS = {  # fact or column -> the table whose number it holds, where it holds one
    "user": "user",
    "team": "team",
    "team_id": "team",
    "system": "system",
    "system_id": "system",
    "of": "evaluation",
    "source": "evaluation",
    "to": "submission",
    "before": "submission",
    "instead": "submission",
    "primary": "submission",
    "revision_id": "judgment_revision",
}
COLUMNS = {
    "team_id": "team",
    "system_id": "system",
    "revision_id": "judgments",
    "primary_submission_id": "primary run",
    "merged_into_id": "merged into",
    "opens_at": "opens",
    "closes_at": "closes",
}
LONGEST_FACT = 300  # characters that a page shows of one


@dataclass(frozen=True, slots=True)
class TrailFilters:
    """Which events are asked for; what is empty asks for all.

    subject  a key of SUBJECTS, and number the id of one of them
    person   the id of an account, or WORKER
    since, until  days in UTC, both included
    """

    subject: str = ""
    number: str = ""
    person: str = ""
    since: str = ""
    until: str = ""

    @property
    def given(self) -> bool:
        """Whether any is."""
        return any((self.subject, self.number, self.person, self.since, self.until))


@dataclass(frozen=True, slots=True)
class Change:
    """What something was before, and is after; both empty where only that it changed is known."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class TrailRow:
    """One event. evaluation, submission: where its run's page is; readable: False for one that can't be read."""

    number: int
    at: dt.datetime | None
    who: str
    did: str
    thing: str
    subject: str
    subject_id: int
    changes: tuple[Change, ...]
    facts: tuple[tuple[str, str], ...]
    evaluation: str = ""
    submission: int | None = None
    readable: bool = True


@dataclass(frozen=True, slots=True)
class TrailPage:
    """rows: of one page, the newest first; people: who did something here, as (id, name)."""

    filters: TrailFilters
    rows: tuple[TrailRow, ...]
    paging: Paging
    people: tuple[tuple[int, str], ...]


def trail(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    now: dt.datetime,  # noqa: ARG001  # every read of a page takes it
    *,
    filters: TrailFilters,
    page: int | None,
) -> TrailPage:
    """Raises NotFound, and BadInput for a filter that is none."""
    campaign = organised_campaign(session, actor, campaign_slug)
    within = _of_campaign(campaign)
    asked = [within, *_conditions(filters)]
    count = session.scalar(sa.select(sa.func.count(Event.id)).where(*asked)) or 0
    paging = paging_of(count, page, ROWS)
    numbers = sa.select(Event.id).where(*asked).order_by(Event.id.desc())
    if page is not None:
        numbers = numbers.limit(ROWS).offset(paging.before(ROWS))
    chosen = session.scalars(numbers).all()
    events = (
        list(stored_events(session, Event.id.in_(chosen), newest_first=True))
        if page is not None
        else list(stored_events(session, *asked, newest_first=True))
    )
    people = session.execute(
        sa.select(User.id, User.name)
        .where(User.id.in_(sa.select(Event.actor_id).where(within).distinct()))
        .order_by(User.name)
    )
    by_id = {row.id: row.name for row in people}
    names = _names(session, [one.event for one in events if one.event is not None])
    rows = tuple(
        _row(one.event, by_id, names)
        if one.event is not None
        else TrailRow(one.id, None, "", "", "", "", 0, (), (("problem", one.problem),), readable=False)
        for one in events
    )
    return TrailPage(filters, rows, paging, tuple(by_id.items()))


def _of_campaign(campaign: Campaign) -> sa.ColumnElement[bool]:
    """Condition on Event: about the campaign, or something that is part of it."""
    evaluations = sa.select(Evaluation.id).where(Evaluation.campaign_id == campaign.id)
    runs = Submission.evaluation_id.in_(evaluations)
    teams = sa.select(Submission.team_id).where(runs)
    merged = sa.select(Team.id).where(Team.merged_into_id.in_(teams))
    systems = sa.select(Submission.system_id).where(runs)
    united = sa.select(System.id).where(System.merged_into_id.in_(systems))
    about = [
        sa.and_(Event.subject == "campaign", Event.subject_id == campaign.id),
        sa.and_(Event.subject == "evaluation", Event.subject_id.in_(evaluations)),
        sa.and_(Event.subject == "system", sa.or_(Event.subject_id.in_(systems), Event.subject_id.in_(united))),
        sa.and_(
            Event.subject == "team",
            Event.action.in_(OF_TEAM),
            sa.or_(Event.subject_id.in_(teams), Event.subject_id.in_(merged)),
        ),
    ]
    for name, table in Base.metadata.tables.items():
        if "evaluation_id" in table.c and "id" in table.c:
            own = sa.select(table.c.id).where(table.c.evaluation_id.in_(evaluations))
            about.append(sa.and_(Event.subject == name, Event.subject_id.in_(own)))
    return sa.or_(*about)


def _conditions(filters: TrailFilters) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    if filters.subject:
        if filters.subject not in SUBJECTS:
            raise BadInput(f"subject={filters.subject}: this page filters by one of {', '.join(SUBJECTS)}")
        conditions.append(Event.subject == filters.subject)
    if filters.number:
        conditions.append(Event.subject_id == _number("number", filters.number))
    if filters.person == WORKER:
        conditions.append(Event.actor_id.is_(None))
    elif filters.person:
        conditions.append(Event.actor_id == _number("person", filters.person))
    if filters.since:
        conditions.append(Event.at >= _day("since", filters.since))
    if filters.until:
        conditions.append(Event.at < _day("until", filters.until) + dt.timedelta(days=1))
    return conditions


def _number(name: str, text: str) -> int:
    try:
        number = read_whole(text)
    except ValueError:
        number = -1
    if not 0 <= number < 2**31:
        raise BadInput(f"{name}={text}: give a whole number")
    return number


def _day(name: str, text: str) -> dt.datetime:
    try:
        day = dt.date.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{name}={text}: give a day such as 2026-11-20") from None
    if not 1900 <= day.year <= 9000:
        raise BadInput(f"{name}={text}: give a day from 1900 to 9000")
    return dt.datetime.combine(day, dt.time(), dt.UTC)


@dataclass(frozen=True, slots=True)
class _Named:
    """What a thing is called; evaluation, submission: of a run."""

    name: str
    evaluation: str = ""
    submission: int | None = None


def _names(session: Session, events: Sequence[Event]) -> dict[tuple[str, int], _Named]:
    """What the events are about and tell of, by name; what is not there any more has none."""
    ids: dict[str, set[int]] = {}
    for event in events:
        for table, number in _told_numbers(event):
            ids.setdefault(table, set()).add(number)
    return _names_of_places(session, ids) | _names_within(session, ids)


def _names_of_places(session: Session, ids: Mapping[str, set[int]]) -> dict[tuple[str, int], _Named]:
    named: dict[tuple[str, int], _Named] = {}
    for user in session.scalars(sa.select(User).where(User.id.in_(ids.get("user", ())))):
        named["user", user.id] = _Named(user.name)
    for campaign in session.scalars(sa.select(Campaign).where(Campaign.id.in_(ids.get("campaign", ())))):
        named["campaign", campaign.id] = _Named(campaign.title)
    for evaluation in session.scalars(sa.select(Evaluation).where(Evaluation.id.in_(ids.get("evaluation", ())))):
        named["evaluation", evaluation.id] = _Named(evaluation.title)
    for team in session.scalars(sa.select(Team).where(Team.id.in_(ids.get("team", ())))):
        named["team", team.id] = _Named(team.name)
    systems = sa.select(System).where(System.id.in_(ids.get("system", ()))).options(sa.orm.joinedload(System.team))
    for system in session.scalars(systems):
        named["system", system.id] = _Named(f"{system.name} of {system.team.name}")
    return named


def _names_within(session: Session, ids: Mapping[str, set[int]]) -> dict[tuple[str, int], _Named]:
    """Of what is part of an evaluation."""
    named: dict[tuple[str, int], _Named] = {}
    queries = sa.select(Query.id, Query.external_id, Evaluation.title).join(Evaluation)
    for query in session.execute(queries.where(Query.id.in_(ids.get("query", ())))):
        named["query", query.id] = _Named(f"{query.external_id} of {query.title}")
    agreements = sa.select(Agreement.id, Agreement.key, Agreement.version, Evaluation.title).join(Evaluation)
    for agreed in session.execute(agreements.where(Agreement.id.in_(ids.get("agreement", ())))):
        named["agreement", agreed.id] = _Named(f"{agreed.key}, version {agreed.version}, of {agreed.title}")
    revisions = sa.select(JudgmentRevision).where(JudgmentRevision.id.in_(ids.get("judgment_revision", ())))
    for revision in session.scalars(revisions):
        named["judgment_revision", revision.id] = _Named(f"revision {revision.number} by {revision.source}")
    sets = (
        sa.select(ScoringSet.id, Evaluation.title, JudgmentRevision.number, JudgmentRevision.source)
        .join(Evaluation, Evaluation.id == ScoringSet.evaluation_id)
        .join(JudgmentRevision, JudgmentRevision.id == ScoringSet.revision_id)
        .where(ScoringSet.id.in_(ids.get("scoring_set", ())))
    )
    for one in session.execute(sets):
        named["scoring_set", one.id] = _Named(
            f"{one.id} of {one.title}, by revision {one.number} of the judgments by {one.source}"
        )
    runs = (
        sa.select(Submission)
        .where(Submission.id.in_(ids.get("submission", ())))
        .options(
            sa.orm.joinedload(Submission.system),
            sa.orm.joinedload(Submission.team),
            sa.orm.joinedload(Submission.evaluation),
        )
    )
    for run in session.scalars(runs):
        name = f"run {run.id} of {run.system.name} by {run.team.name}, {run.evaluation.title}"
        named["submission", run.id] = _Named(name, run.evaluation.slug, run.id)
    return named


def _told_numbers(event: Event) -> Iterator[tuple[str, int]]:
    """Every row that an event tells of by its number, as (table, number)."""
    yield event.subject, event.subject_id
    for name, value in event.facts.items():
        for number in value if isinstance(value, list) else [value]:
            if name in NUMBERS and type(number) is int:
                yield NUMBERS[name], number
    for thing, before in event.changed.items():
        after = event.state.get(thing)
        for columns in (before, after):
            if not isinstance(columns, dict):
                continue
            for column in NUMBERS.keys() & columns.keys():
                if isinstance(columns[column], str) and columns[column].isdecimal():
                    yield NUMBERS[column], int(columns[column])


def _row(event: Event, people: Mapping[int, str], names: Mapping[tuple[str, int], _Named]) -> TrailRow:
    called = SUBJECTS.get(event.subject, event.subject.replace("_", " "))
    named = names.get((event.subject, event.subject_id), _Named(""))
    thing = named.name if event.subject == "submission" and named.name else f"{called} {named.name or event.subject_id}"
    changes = [change for name in event.state for change in _changes(event, name, names)]
    facts = []
    for name, value in event.facts.items():
        if name in UNTOLD_FACTS or value in ("", None):
            continue
        if event.action in {"describe", "rename"} and isinstance(value, list) and len(value) == 2:
            if event.action == "describe":
                changes = [change for change in changes if change.what != name]
                changes.append(Change(name, str(value[0]), str(value[1])))
            continue
        label = FACTS.get(name) or name.replace("_", " ")
        facts.append((label, _fact(name, value, names)[:LONGEST_FACT]))
    return TrailRow(
        number=event.id,
        at=event.at,
        who=_who(event, people),
        did=WORDS.get(event.action, event.action),
        thing=thing,
        subject=event.subject,
        subject_id=event.subject_id,
        changes=tuple(changes),
        facts=tuple(facts),
        evaluation=named.evaluation,
        submission=named.submission,
    )


def _fact(name: str, value: Any, names: Mapping[tuple[str, int], _Named]) -> str:
    """A fact as a person reads it: names in the place of numbers of rows."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and name == "team":  # which it was, and which it is
        return " → ".join(_fact(name, one, names) for one in value)
    if isinstance(value, list):
        return ", ".join(_fact(name, one, names) for one in value)
    if isinstance(value, int) and (NUMBERS.get(name), value) in names:
        return names[NUMBERS[name], value].name
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _who(event: Event, people: Mapping[int, str]) -> str:
    if event.actor_id is None:
        return "a worker" if event.action in OF_WORKER else "the command line"
    return people.get(event.actor_id, f"account {event.actor_id}")


def _changes(event: Event, thing: str, names: Mapping[tuple[str, int], _Named]) -> list[Change]:
    """What of one of the rows that the event is about was otherwise before it."""
    before, after = event.changed.get(thing), event.state[thing]
    if not isinstance(before, dict) or not isinstance(after, dict):
        return []
    kind = thing.rpartition(" ")[0]
    if "rows" in after:
        return [Change(kind, "", "")]
    prefix = "" if kind == SUBJECTS.get(event.subject) or kind == event.subject else f"{kind}: "
    return [
        Change(
            COLUMNS.get(column) or f"{prefix}{column.replace('_', ' ')}",
            _cell(column, value, names),
            _cell(column, after.get(column), names),
        )
        for column, value in before.items()
        if column not in UNTOLD_COLUMNS
    ]


def _cell(column: str, value: Any, names: Mapping[tuple[str, int], _Named]) -> str:
    told = _told(value)
    if column in NUMBERS and told.isdecimal() and (NUMBERS[column], int(told)) in names:
        return names[NUMBERS[column], int(told)].name
    return told


def _told(value: Any) -> str:
    """A value of the trail as a person reads it: it holds canonical JSON, or the digest of what is longer."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    if value.startswith("sha256 "):
        return "a longer text"
    try:
        read = json.loads(value)
    except ValueError:
        return value
    if isinstance(read, str):
        return read
    if isinstance(read, float) and read.is_integer():  # the canonical form of whole numbers, too
        return str(int(read))
    return "none" if read is None else {True: "yes", False: "no"}.get(read, value) if isinstance(read, bool) else value
