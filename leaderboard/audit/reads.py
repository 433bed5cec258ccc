"""The audit trail of a campaign: who did what to what, when, and what it changed; and what its rows are called."""

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import access, db, errors
from leaderboard.accounts.models import User
from leaderboard.audit.audited_tables import ALL_ROWS, state_before
from leaderboard.audit.models import Event
from leaderboard.audit.stored_events import StoredEvent, stored_events
from leaderboard.boards.reads.entries import Paging, paging_within
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations.models import Agreement, Evaluation
from leaderboard.evaluations.reads.evaluations import organised_campaign
from leaderboard.frozen import frozen
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.numbers import read_whole
from leaderboard.submissions.models import Submission
from leaderboard.teams.models import System, Team
from leaderboard.teams.reads import systems_entered
from leaderboard.teams.rules import COMMAND_LINE, NUMBERED_ACCOUNT, WORKER
from leaderboard.worker.models import Scoring, ScoringSet

ROWS = 50  # on a page
BY_NOBODY = "worker"  # as a filter: what nobody with an account did
DAY = "give a day such as 2026-11-20"
LONGEST_FACT = 300  # characters that a page shows of one
# Of a team the trail of a campaign tells what its boards show; who is in it is the team's own matter.
OF_TEAM = ("create", "change", "rename", "merge", "merge into")
OF_WORKER = ("score", "reject", "fail", "switch")
SUBJECTS = {  # table of an event's subject -> what a person calls it
    "campaign": "campaign",
    "evaluation": "evaluation",
    "query": "query",
    "scoring_set": "scoring set",
    "submission": "run",
    "system": "system",
    "team": "team",
}
WORDS = {  # of actions whose own name does not say enough after "orla:" and before what it was done to
    "clone": "clone another evaluation into",
    "import run": "bring in from the past",
    "reject": "reject the file of",
    "fail": "give up scoring",
    "retry": "put back into the queue",
    "describe": "change label or notes of",
    "let stand": "select",
    "keep standing": "keep selected",
    "give place up": "end the empty place of",
    "restore": "put back on the boards",
    "merge": "merge another team into",
    "merge into": "merge into another team",
    "become one": "merge another system into",
    "exclude": "leave out of the figures",
    "include": "take back into the figures",
    "make set": "begin to score anew with",
    "switch": "switch the boards to",
    "rank by": "rank boards by another measure of",
}
# What the rest of an event says already, or nobody reads.
SKIPPED_COLUMNS = {
    "name_key", "form_fields", "file_rules", "holds_place", "problems", "problem_count", "settings_hash", "chosen_at",
    "scored_at", "ruled_at", "ruled_by_id", "withdrawn_at", "withdrawn_by_id",
}  # fmt: skip
SKIPPED_FACTS = {
    "figures", "scoring", "fields", "settings", "attempt", "worker", "campaign", "evaluation", "holds_place", "changes",
}  # fmt: skip
PAIRS = ("describe", "rename", "move to team")  # actions whose facts are what was before, and what is after
LABELS = {
    "of": "from", "to": "its place goes to", "instead": "the primary run is", "primary": "the primary run is",
    "team_id": "team", "system_id": "system", "revision_id": "judgments", "primary_submission_id": "primary run",
    "merged_into_id": "merged into", "opens_at": "opens", "closes_at": "closes",
}  # fmt: skip
NUMBERS = {  # fact or column -> the table whose number it holds, where it holds one
    "user": "user",
    "team": "team",
    "team_id": "team",
    "system": "system",
    "system_id": "system",
    "of": "evaluation",
    "source": "evaluation",
    **dict.fromkeys(("to", "before", "instead", "primary", "primary_submission_id"), "submission"),
    "revision_id": "judgment_revision",
}

Names = Mapping[tuple[str, int], str]  # by table and number


OF_RUN = sa.select(Submission.id, System.name, Team.name, Evaluation.title).select_from(Submission)
OF_RUN = OF_RUN.join(Submission.system).join(Submission.team).join(Submission.evaluation)
RUN, REVISION = "run {0} of {1} by {2}, {3}", "revision {1} of the judgments by {2}"
NAMES: dict[str, tuple[str, sa.Select[*tuple[Any, ...]]]] = {  # table -> its rows' names, and the columns in them
    "user": ("{1}", sa.select(User.id, User.name)),
    "campaign": ("{1}", sa.select(Campaign.id, Campaign.title)),
    "evaluation": ("{1}", sa.select(Evaluation.id, Evaluation.title)),
    "team": ("{1}", sa.select(Team.id, Team.name)),
    "system": ("{1} of {2}", sa.select(System.id, System.name, Team.name).join(System.team)),
    "query": ("{1} of {2}", sa.select(Query.id, Query.external_id, Evaluation.title).join(Evaluation)),
    "agreement": (
        "{1}, version {2}, of {3}",
        sa.select(Agreement.id, Agreement.key, Agreement.version, Evaluation.title).join(Evaluation),
    ),
    "judgment_revision": (
        REVISION, sa.select(JudgmentRevision.id, JudgmentRevision.number, JudgmentRevision.source)
    ),
    "scoring_set": (
        f"{{0}} of {{3}}, by {REVISION}",
        sa.select(ScoringSet.id, JudgmentRevision.number, JudgmentRevision.source, Evaluation.title)
        .join(ScoringSet.revision).join(Evaluation, Evaluation.id == ScoringSet.evaluation_id),
    ),
    "submission": (RUN, OF_RUN),
    "slug": ("{1}", sa.select(Submission.id, Evaluation.slug).join(Submission.evaluation)),  # of a run's evaluation
    "scoring": (
        "run {4} of {1} by {2}, {3}",
        OF_RUN.join(Scoring).with_only_columns(Scoring.id, System.name, Team.name, Evaluation.title, Submission.id),
    ),
}  # fmt: skip


def names_of(session: Session, numbers: Mapping[str, Collection[int]]) -> Names:
    """What rows are called, by table; what is not there any more has no name."""
    names: dict[tuple[str, int], str] = {}
    for table in numbers.keys() & NAMES.keys():
        words, statement = NAMES[table]
        own = statement.where(statement.selected_columns[0].in_(numbers[table]))
        names |= {(table, row[0]): words.format(*row) for row in session.execute(own)}
    return names


def name_of_row(session: Session, table: str, number: int) -> str:
    """`run 3 of Alder by Northern lights, Harbour 2026`; its table and number where it is not there any more."""
    return names_of(session, {table: [number]}).get((table, number)) or f"{SUBJECTS.get(table, table)} {number}"


@frozen
class TrailFilters:
    """Which events are asked for; what is empty asks for all.

    subject  a key of SUBJECTS, and number the id of one of them
    person   the id of an account, or BY_NOBODY
    since, until  days in UTC, both included
    """

    subject: str = ""
    number: str = ""
    person: str = ""
    since: str = ""
    until: str = ""

    @property
    def any(self) -> bool:
        """Whether any is."""
        return self != TrailFilters()


@frozen
class Change:
    """What something was before, and is after; both empty where only that it changed is known."""

    what: str
    before: str
    after: str


@frozen
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


@frozen
class TrailPage:
    """rows: of one page, the newest first; people: who did something here, as (id, name)."""

    filters: TrailFilters
    rows: tuple[TrailRow, ...]
    paging: Paging
    people: tuple[tuple[int, str], ...]


def trail(
    session: Session,
    actor: access.Actor,
    campaign_slug: str,
    now: dt.datetime,  # noqa: ARG001  # every read of a page takes it
    *,
    filters: TrailFilters,
    page: int | None,
) -> TrailPage:
    """Raises NotFound, and InvalidFields by the filters that are none."""
    within = _of_campaign(session, organised_campaign(session, actor, campaign_slug))
    asked = [within, *_conditions(filters)]
    numbers = sa.select(Event.id).where(*asked).order_by(Event.id.desc())
    paging = paging_within(session, numbers, page, ROWS)
    if page is not None:
        own = session.scalars(numbers.limit(ROWS).offset(paging.before(ROWS)))
        asked = [Event.id.in_(own.all())]
    events = list(stored_events(session, *asked, newest_first=True))
    did = sa.select(Event.id).where(Event.actor_id == User.id, within).limit(1).scalar_subquery()
    people = session.execute(sa.select(User.id, User.name).where(did.is_not(None)).order_by(User.name)).all()
    numbers_by_table = defaultdict[str, set[int]](set, user={number for number, _ in people})
    for table, number in (each for stored in events if stored.event for each in _numbers(stored.event)):
        numbers_by_table[table].add(number)
    names = names_of(session, numbers_by_table | {"slug": numbers_by_table["submission"]})
    rows = tuple(_row(stored, names) for stored in events)
    return TrailPage(filters, rows, paging, tuple((number, name) for number, name in people))


def _of_campaign(session: Session, campaign: Campaign) -> sa.ColumnElement[bool]:
    """Condition on Event: about the campaign, or something that is part of it. It is asked of one event after the
    other, so that a page reads no more of the trail than it shows and counts."""
    evaluations = session.scalars(sa.select(Evaluation.id).where(Evaluation.campaign_id == campaign.id)).all()
    entered = systems_entered(Evaluation.id.in_(evaluations)).subquery()
    teams, systems = sa.select(entered.c.team_id), sa.select(entered.c.id)
    about: dict[str, Any] = {
        name: sa.select(table.c.evaluation_id).where(table.c.id == Event.subject_id).correlate(Event).scalar_subquery()
        for name, table in db.Base.metadata.tables.items()
        if {"id", "evaluation_id"}.issubset(table.c.keys())
    }
    parts: dict[str, Any] = {
        "campaign": [campaign.id],
        "team": sa.select(Team.id).where(Team.id.in_(teams) | Team.merged_into_id.in_(teams)),
        "system": sa.select(System.id).where(System.id.in_(systems) | System.merged_into_id.in_(systems)),
    }
    its_evaluation = sa.case(about | {"evaluation": Event.subject_id}, value=Event.subject)
    is_part = ((Event.subject == name) & Event.subject_id.in_(own) for name, own in parts.items())
    within = sa.or_(its_evaluation.in_(evaluations), *is_part)
    return within & ((Event.subject != "team") | Event.action.in_(OF_TEAM))


def _number(text: str) -> int:
    number = read_whole(text)
    if not 0 <= number < 2**31:
        raise ValueError
    return number


def _day(text: str) -> dt.datetime:
    day = dt.datetime.combine(dt.date.fromisoformat(text), dt.time(), dt.UTC)
    if not 1900 <= day.year <= 9000:
        raise ValueError
    return day


# Filter -> the condition that its text stands for, and what is said where it stands for none.
CONDITIONS: dict[str, tuple[Callable[[str], sa.ColumnElement[bool]], str]] = {
    "subject": (
        lambda text: Event.subject == {name: name for name in SUBJECTS}[text],
        f"choose one of: {', '.join(SUBJECTS)}",
    ),
    "number": (lambda text: Event.subject_id == _number(text), "give a whole number"),
    "person": (
        lambda text: Event.actor_id == (None if text == BY_NOBODY else _number(text)),
        f"give the number of an account, or {BY_NOBODY}",
    ),
    "since": (lambda text: Event.at >= _day(text), DAY),
    "until": (lambda text: Event.at < _day(text) + dt.timedelta(days=1), DAY),
}


def _conditions(filters: TrailFilters) -> list[sa.ColumnElement[bool]]:
    asked, wrong = [], {}
    for name, (condition, words) in CONDITIONS.items():
        if text := getattr(filters, name):
            try:
                asked.append(condition(text))
            except (LookupError, ValueError):
                wrong[name] = [words]
    if wrong:
        raise errors.InvalidFields(wrong)
    return asked


def _numbers(event: Event) -> Iterator[tuple[str, int]]:
    """Every row that an event tells of by its number, as (table, number)."""
    yield event.subject, event.subject_id
    values = [*event.facts.items()]
    for thing, before in event.changed.items():
        for columns in (before or {}, event.state[thing]):
            values += [(name, _value(columns[name])) for name in NUMBERS.keys() & columns.keys()]
    for name, value in values:
        for number in value if isinstance(value, list) else [value]:
            # Canonical JSON has floats only, and SQL can put anything into a fact.
            if name in NUMBERS and isinstance(number, (int, float)) and 0 < number < 2**31:
                yield NUMBERS[name], int(number)


def _row(stored: StoredEvent, names: Names) -> TrailRow:
    event = stored.event
    if event is None:
        return TrailRow(stored.id, None, "", "", "", "", 0, (), (("problem", stored.problem),), readable=False)
    name = names.get((event.subject, event.subject_id), "")
    subject = SUBJECTS.get(event.subject, event.subject.replace("_", " "))
    is_run = event.subject == "submission"
    slug = names.get(("slug", event.subject_id), "") if is_run else ""
    who = WORKER if event.action in OF_WORKER else COMMAND_LINE
    if event.actor_id is not None:
        who = names.get(("user", event.actor_id), f"{NUMBERED_ACCOUNT} {event.actor_id}")
    facts = dict(_facts(event, names))
    return TrailRow(
        event.id,
        event.at,
        who,
        WORDS.get(event.action, event.action),
        name if is_run and name else f"{subject} {name or event.subject_id}",
        event.subject,
        event.subject_id,
        tuple(change for change in _changes(event, names) if change.what not in facts),
        tuple(facts.items()),
        slug,
        event.subject_id if slug else None,
    )


def _facts(event: Event, names: Names) -> Iterator[tuple[str, str]]:
    for name, value in event.facts.items():
        is_skipped = name in SKIPPED_FACTS or (name == "sha256" and event.action != "import judgments")
        if not is_skipped and value not in ("", None):
            separator = " → " if event.action in PAIRS else ", "
            words = (_words(name, each, names) for each in (value if isinstance(value, list) else [value]))
            yield LABELS.get(name) or name.replace("_", " "), separator.join(words)[:LONGEST_FACT]


def _changes(event: Event, names: Names) -> Iterator[Change]:
    """What of the rows that the event is about was otherwise before it: of a form or of rules part by part."""
    parts = event.facts.get("changes")
    for part, values in sorted((parts or {}).items()):
        what = ": ".join(filter(None, (event.facts.get("key"), part.replace("_", " "))))
        yield Change(what, *("" if value is None else _words("", value, names)[:LONGEST_FACT] for value in values))
    for thing, change in event.changed.items():
        kind, after = thing.rpartition(" ")[0], event.state[thing]
        before = state_before(change, after)
        if ALL_ROWS in {**before, **after}:  # many rows: of each the trail has a digest
            if parts is None:
                rows, others = (state.keys() - {ALL_ROWS} for state in (before, after))
                changed = sum(before[row] != after[row] for row in rows & others)
                yield Change(kind, f"{len(rows):,}", f"{len(others):,}" + f", {changed:,} changed" * bool(changed))
        elif before and after and kind != "scoring":
            for column in [name for name in change or () if name not in SKIPPED_COLUMNS]:
                values = (_value(state.get(column)) for state in (before, after))
                label = LABELS.get(column) or column.replace("_", " ")
                yield Change(label, *(_words(column, value, names) for value in values))


def _value(text: str | None) -> Any:
    """A value as the trail has it, which holds canonical JSON, or the digest of what is longer."""
    if text is None or text.startswith("sha256 "):
        return text and "a longer text"
    try:
        return json.loads(text)
    except ValueError:
        return text


def _words(name: str, value: Any, names: Names) -> str:
    """A value as a person reads it: names in the place of numbers of rows."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_words(name, each, names) for each in value) or "none"
    if isinstance(value, dict):
        parts = (f"{part.replace('_', ' ')}: {_words('', each, names)}" for part, each in value.items())
        return ", ".join(parts) or "none"
    if isinstance(value, float) and value.is_integer():  # canonical JSON has a point in whole numbers, too
        value = int(value)
    if isinstance(value, int) and (named := names.get((NUMBERS.get(name, ""), value))):
        return named
    return "none" if value is None else str(value)
