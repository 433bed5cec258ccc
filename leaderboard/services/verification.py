"""Verification: whether what is on record is what this program wrote, and what differs.

It compares the triggers with their definitions, every event with the one before it, every guarded row with what the
trail says of it, every revision with the hash of its judgments, and every scored run with the digest of its figures.
What it finds was done past this program, or past its checks; docs/integrity.md says what it can't find.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import migrate
from leaderboard.access import Actor
from leaderboard.db import does_not_answer
from leaderboard.models import (
    Campaign,
    Chain,
    Evaluation,
    Event,
    Judgment,
    JudgmentRevision,
    KnownDocument,
    Query,
    Score,
    Scoring,
    ScoringSet,
    Submission,
    System,
    User,
)
from leaderboard.rules.digests import FIRST, SHORT, ScoreLine, event_hash, scoring_digest
from leaderboard.rules.moments import moment_in_words
from leaderboard.rules.states import State
from leaderboard.services.events import record
from leaderboard.services.guarded import GUARDED, is_nothing, state_before, states_of_all
from leaderboard.services.judgments import judgments_sha256
from leaderboard.services.locking import locked

__all__ = [
    "Difference",
    "Report",
    "one_moment",
    "readable",
    "record_verification",
    "run_in_words",
    "scored_runs_on_record",
    "verify",
]

AT_ONCE = 200  # scorings whose figures are in memory
NOTHING = "nothing"
A_ROW = "a row"  # that can't be named, since another content has taken its place
OUTSIDE = "No event accounts for it: it was done outside this program, by somebody who can write to"
# What Python, SQLAlchemy and we raise for a value, or a table, that is none of this program's: JSON that is nested too
# deeply and numbers that are too great among them.
UNREADABLE = (
    ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError, sa.exc.SQLAlchemyError,
)  # fmt: skip

Tell = Callable[[int], None]  # is told how many more scorings were looked at


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as this program left it.

    where     such as `run 3 (Alder in harbour/2026)`
    what      of it: a column, a measure, a trigger
    stored    what the database holds
    expected  what it should hold, as far as that is known
    last      the last event about it, in words; empty without one
    into      where somebody must be able to write for it
    """

    where: str
    what: str
    stored: str
    expected: str
    last: str = ""
    into: str = "the database"

    @property
    def who(self) -> str:
        """Who could have done it, in a sentence or two."""
        return f"{OUTSIDE} {self.into}.{f' The last event about it: {self.last}.' if self.last else ''}"


@dataclass(slots=True)
class Report:
    """What was looked at, and what differs. `head` is the last event's hash: noted down elsewhere, it bears witness."""

    differences: list[Difference] = field(default_factory=list)
    triggers: int = 0
    events: int = 0
    head: str = FIRST
    rows: int = 0
    revisions: int = 0
    runs: int = 0
    recomputed: int = 0
    not_recomputed: int = 0  # scored by another version of the measures

    @property
    def clean(self) -> bool:
        return not self.differences


@dataclass(frozen=True, slots=True)
class _TakenOver:
    """What an event found was not what the last one about the same thing had left: `last`, in words, left `left`."""

    event_id: int
    found: Any
    left: Any
    last: str


@dataclass(frozen=True, slots=True)
class _Ended:
    """What the trail says of a scoring without figures; `failure` in words, `last` the event in words."""

    state: State
    failure: str
    damaged: bool
    submission_id: int
    last: str


@dataclass(frozen=True, slots=True)
class _Told:
    """What the trail says."""

    states: dict[str, tuple[Any, str]]  # a thing -> its last state, and the event in words
    taken_over: dict[str, list[_TakenOver]]  # by thing
    scored: dict[
        int, tuple[str, Mapping[str, Any], int, str]
    ]  # scoring -> digest, figures, its run, the event in words
    ended: dict[int, _Ended]  # scorings that were rejected or have failed


def one_moment(session: Session) -> None:
    """Lets the session see the database as it is at one moment, while others go on writing."""
    if session.get_bind().dialect.name == "postgresql":
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})


def verify(session: Session, tell: Tell = lambda _: None, noted: tuple[int, str] | None = None) -> Report:
    """Looks at everything but the run files; call `one_moment` first.

    noted  the number of an event and its hash, as an earlier verification gave them: they must still be there
    """
    report = Report()
    _check_triggers(session, report)
    told = _Told({}, {}, {}, {})
    with _part(session, report, "the trail"):
        _check_chain(session, report, told, noted)
        for name in GUARDED:
            with _part(session, report, f"the rows of {name}"):
                _check_states(session, report, told, name)
        _check_gone(report, told)
        with _part(session, report, "the scored runs"):
            _check_scorings(session, report, told, tell)
            _check_ended(session, report, told)
    with _part(session, report, "the judgments"):
        _check_revisions(session, report)
    with _part(session, report, "the scoring sets"):
        _check_sets(session, report)
    return report


@contextmanager
def readable(report: Report, where: str) -> Iterator[None]:
    """What can't be read is a difference, and the others are looked at all the same.

    Raises what a database raises that does not answer.
    """
    try:
        yield
    except UNREADABLE as error:
        if isinstance(error, sa.exc.SQLAlchemyError) and does_not_answer(error) and not _is_of_statement(error):
            raise
        words = str(getattr(error, "orig", None) or error).strip()
        reason = f"can't be read ({type(error).__name__}: {words})"
        report.differences.append(Difference(where, "itself", reason, "values that this program writes"))


def _is_of_statement(error: Exception) -> bool:
    """Whether SQLite answered that a table or column is not there, or that it can't do with a value what was asked."""
    return getattr(getattr(error, "orig", None), "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR


@contextmanager
def _part(session: Session, report: Report, where: str) -> Iterator[None]:
    """The same in a savepoint: after an error PostgreSQL answers nothing more until that is taken back."""
    with readable(report, where), session.begin_nested():
        yield


def record_verification(session: Session, actor: Actor, report: Report, *, figures: bool) -> None:
    """Keeps the outcome in the trail, where the boards' organisers find it.

    Raises NotFound when the row that counts the events is gone.
    """
    record(
        session,
        actor,
        "verify",
        locked(session, Chain, 1),
        clean=report.clean,
        differences=len(report.differences),
        events=report.events,
        runs=report.runs,
        figures=figures,
        recomputed=report.recomputed,
    )


def scored_runs_on_record(session: Session) -> int:
    """How many scored runs `verify` will tell of."""
    return session.scalar(sa.select(sa.func.count(Scoring.id)).where(Scoring.state == State.SCORED)) or 0


def run_in_words(session: Session, submission_id: int) -> str:
    """`run 3 (Alder in harbour/2026)`."""
    row = session.execute(
        sa.select(System.name, Campaign.slug, Evaluation.slug)
        .select_from(Submission)
        .join(System, System.id == Submission.system_id)
        .join(Evaluation, Evaluation.id == Submission.evaluation_id)
        .join(Campaign, Campaign.id == Evaluation.campaign_id)
        .where(Submission.id == submission_id)
    ).one_or_none()
    return f"run {submission_id}" + (f" ({row[0]} in {row[1]}/{row[2]})" if row is not None else "")


# Triggers


def _check_triggers(session: Session, report: Report) -> None:
    dialect = session.get_bind().dialect.name
    expected = migrate.guards(dialect)
    found = dict(_triggers_of_sqlite(session) if dialect == "sqlite" else _triggers_of_postgresql(session))
    if dialect == "postgresql":
        expected = expected | {f"{name}()": _plain(body) for name, body in migrate.guarding_functions().items()}
    report.triggers = len(expected)
    for name in sorted(expected.keys() | found.keys()):
        wanted, there = _plain(expected.get(name, NOTHING)), found.get(name, NOTHING)
        if wanted != there:
            report.differences.append(Difference("the database", f"trigger {name}", there, wanted))


def _triggers_of_sqlite(session: Session) -> Iterator[tuple[str, str]]:
    for name, text in session.execute(sa.text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")):
        yield name, _plain(text).removeprefix(f"CREATE TRIGGER {name} ")


def _triggers_of_postgresql(session: Session) -> Iterator[tuple[str, str]]:
    """Of triggers, of the functions that they call, and of rewriting rules: these can turn a statement into nothing."""
    schema = session.scalar(sa.text("SELECT quote_ident(current_schema())"))
    triggers = session.execute(
        sa.text(
            "SELECT t.tgname, pg_get_triggerdef(t.oid), t.tgenabled, t.tgisinternal, c.relname FROM pg_trigger t"
            " JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = current_schema()::regnamespace"
        )
    )
    for name, text, enabled, internal, table in triggers:
        if internal:
            if enabled != "O":
                yield f"of a foreign key of {table}", "disabled"
            continue
        rest = _plain(text).removeprefix(f"CREATE TRIGGER {name} ").replace(f"{schema}.", "")
        yield name, rest if enabled == "O" else f"disabled: {rest}"
    path = f"search_path=pg_catalog, {schema}, pg_temp"
    functions = session.execute(
        sa.text(
            "SELECT p.proname, p.prosrc, array_to_string(p.proconfig, '; ') FROM pg_proc p"
            " WHERE p.pronamespace = current_schema()::regnamespace AND p.prorettype = 'trigger'::regtype"
        )
    )
    for name, body, settings in functions:
        yield f"{name}()", _plain(body) if settings == path else f"with {settings or 'no settings'}: {_plain(body)}"
    for rule, definition in session.execute(
        sa.text("SELECT rulename, definition FROM pg_rules WHERE schemaname = current_schema()")
    ):
        yield f"rule {rule}", _plain(definition)


def _plain(text: str) -> str:
    return " ".join(text.split())


# The trail


def _check_chain(session: Session, report: Report, told: _Told, noted: tuple[int, str] | None) -> None:
    names = dict(session.execute(sa.select(User.id, User.name)).all())
    number, previous, noted_hash = 0, FIRST, NOTHING
    events = session.scalars(sa.select(Event).order_by(Event.id).execution_options(yield_per=1000))
    with closing(events):
        for event in events:
            words = _event_in_words(event, names)
            if event.id != number + 1:
                gone = f"event {number + 1}" if event.id == number + 2 else f"events {number + 1} to {event.id - 1}"
                report.differences.append(Difference("the trail", gone, NOTHING, "an event", ""))
            elif event.previous_hash != previous:
                report.differences.append(
                    Difference(
                        "the trail", f"event {event.id}", f"follows {event.previous_hash}", f"follows {previous}", words
                    )
                )
            computed = event_hash(
                event.previous_hash, event.id, event.at, event.actor_id, event.action, event.subject, event.subject_id,
                event.facts, event.state, event.changed,
            )  # fmt: skip
            if computed != event.hash:
                report.differences.append(
                    Difference("the trail", f"event {event.id}", f"a content of hash {computed}", event.hash, words)
                )
            number, previous = event.id, event.hash
            if noted is not None and event.id == noted[0]:
                noted_hash = event.hash
            _hear_states(event, words, told)
            _hear_scoring(event, words, told)
            session.expunge(event)
    report.events, report.head = number, previous
    chain = session.execute(sa.select(Chain.events, Chain.head)).one_or_none()
    stored = f"{chain.events} events, the last {chain.head}" if chain is not None else NOTHING
    expected = f"{number} events, the last {previous}"
    if stored != expected:
        # Of the two the longer one is what there was: the end of the trail is gone, or the count was changed.
        report.differences.append(Difference("the trail", "its end", expected, stored))
    if noted is not None and noted_hash != noted[1]:
        report.differences.append(
            Difference("the trail", f"event {noted[0]}", noted_hash, f"{noted[1]}, as noted down")
        )


def _hear_states(event: Event, words: str, told: _Told) -> None:
    """What an event says of rows, and whether it found them as the event before had left them."""
    changed = _as_object(event.changed)
    for thing, state in _as_object(event.state).items():
        found = state_before(changed[thing], state) if thing in changed else state
        left, by = told.states.get(thing, (None, ""))
        if found != left and not (is_nothing(found) and is_nothing(left)):
            told.taken_over.setdefault(thing, []).append(_TakenOver(event.id, found, left, by))
        told.states[thing] = state, words


def _hear_scoring(event: Event, words: str, told: _Told) -> None:
    """What an event says of a scoring."""
    facts, run = _as_object(event.facts), event.subject_id
    if event.action == "score" and facts.keys() >= {"scoring", "digest", "figures"}:
        told.scored[facts["scoring"]] = facts["digest"], facts["figures"], run, words
    elif event.action == "reject" and "scoring" in facts:
        told.ended[facts["scoring"]] = _Ended(State.REJECTED, "", False, run, words)
    elif event.action == "fail" and facts.keys() >= {"scoring", "reason", "damaged"}:
        told.ended[facts["scoring"]] = _Ended(State.FAILED, facts["reason"], facts["damaged"], run, words)
    elif event.action == "retry":
        for scoring_id in facts.get("scorings", []):
            told.ended.pop(scoring_id, None)


def _as_object(content: Any) -> dict[str, Any]:
    """An event's JSON; nothing where it is no object, which its hash has told already."""
    return content if isinstance(content, dict) else {}


def _event_in_words(event: Event, names: Mapping[int, str]) -> str:
    actor = names.get(event.actor_id, f"account {event.actor_id}") if event.actor_id else "the command line or a worker"
    return f"{event.id}, {event.action!r} by {actor}, {moment_in_words(event.at)}"


# Rows that may change


def _check_states(session: Session, report: Report, told: _Told, name: str) -> None:
    for thing, state, labels in states_of_all(session, name):
        report.rows += max(1, len(labels))
        _tell_taken_over(report, _in_words(session, thing), told.taken_over.pop(thing, []), labels)
        if thing not in told.states:
            report.differences.append(Difference(_in_words(session, thing), "itself", "there", NOTHING))
            continue
        recorded, words = told.states.pop(thing)
        for what, stored, expected in _differing(recorded, state, labels):
            report.differences.append(Difference(_in_words(session, thing), what, stored, expected, words))


def _check_gone(report: Report, told: _Told) -> None:
    """What the trail tells of and `_check_states` has not found."""
    for thing, taken_over in told.taken_over.items():
        _tell_taken_over(report, thing, taken_over, {})
    for thing, (recorded, words) in told.states.items():
        if not is_nothing(recorded):
            report.differences.append(Difference(thing, "itself", NOTHING, "there", words))


def _tell_taken_over(report: Report, where: str, found: list[_TakenOver], labels: Mapping[str, str]) -> None:
    for one in found:
        for what, stored, expected in _differing(one.left, one.found, labels):
            report.differences.append(
                Difference(where, f"{what}, as event {one.event_id} found it", stored, expected, one.last)
            )


def _differing(recorded: Any, state: Any, labels: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """(what, stored, expected) for each column, or each row, that differs."""
    if recorded == state:
        return
    if not state or not recorded:
        yield "itself", "there" if state else NOTHING, "there" if recorded else NOTHING
    elif "rows" not in state:
        for column in sorted(recorded.keys() | state.keys()):
            if recorded.get(column) != state.get(column):
                yield column, state.get(column, NOTHING), recorded.get(column, NOTHING)
    else:
        changed = [labels.get(row, A_ROW) for row in state["rows"] if row not in recorded["rows"]]
        for label in sorted(changed):
            yield label, "another content", "as the last event left it"
        gone = [row for row in recorded["rows"] if row not in state["rows"]]
        if len(gone) > len(changed):
            yield "rows", str(len(state["rows"])), str(len(recorded["rows"]))
        elif not changed:
            yield "rows", state["digest"], recorded["digest"]


def _in_words(session: Session, thing: str) -> str:
    """`evaluation 1 (small/2026)`, where a name can be found."""
    name, _, key = thing.rpartition(" ")
    guarded = GUARDED[name]
    first = guarded.by[0]
    if guarded.table is Submission:
        return run_in_words(session, int(key))
    if first == "campaign_id" or guarded.table is Campaign:
        found = session.scalar(sa.select(Campaign.slug).where(Campaign.id == int(key)))
    elif "evaluation_id" in guarded.by or guarded.table is Evaluation:
        found = session.scalar(
            sa.select(Campaign.slug + "/" + Evaluation.slug)
            .join(Evaluation, Evaluation.campaign_id == Campaign.id)
            .where(Evaluation.id == int(key.split("/")[-1]))
        )
    else:
        table = (
            guarded.table.__table__ if first == "id" else sa.inspect(System).relationships["team"].mapper.local_table
        )
        found = session.scalar(sa.select(table.c["name"]).where(table.c["id"] == int(key)))
    return f"{name} of {found}" if guarded.row and found else f"{thing} ({found})" if found else thing


# Judgments and sets


def _check_revisions(session: Session, report: Report) -> None:
    for revision in session.scalars(sa.select(JudgmentRevision).order_by(JudgmentRevision.id)):
        report.revisions += 1
        judged = session.execute(
            sa.select(Query.external_id, Judgment.document, Judgment.grade)
            .join(Query, Query.id == Judgment.query_id)
            .where(Judgment.revision_id == revision.id)
        )
        known = session.execute(
            sa.select(Query.external_id, KnownDocument.document)
            .join(Query, Query.id == KnownDocument.query_id)
            .where(KnownDocument.revision_id == revision.id)
        )
        computed = judgments_sha256(judged, known)
        if computed != revision.sha256:
            where = _in_words(session, f"revisions {revision.evaluation_id}")
            report.differences.append(
                Difference(where, f"judgments of revision {revision.number}", computed, revision.sha256)
            )


def _check_sets(session: Session, report: Report) -> None:
    for made in session.scalars(sa.select(ScoringSet).order_by(ScoringSet.id)):
        if made.settings.hash != made.settings_hash:
            where = _in_words(session, f"scoring sets {made.evaluation_id}")
            report.differences.append(
                Difference(where, f"settings of set {made.id}", made.settings.hash, made.settings_hash)
            )


# Scored runs


def _check_scorings(session: Session, report: Report, told: _Told, tell: Tell) -> None:
    ids = iter(session.scalars(sa.select(Scoring.id).where(Scoring.state == State.SCORED).order_by(Scoring.id)).all())
    unseen = dict(told.scored)
    while batch := list(islice(ids, AT_ONCE)):
        rows = session.execute(
            sa.select(
                Scoring.id, Scoring.submission_id, Scoring.scoring_set_id, Scoring.beta, Scoring.missing,
                Scoring.unjudged, Scoring.facts, Scoring.digest, Submission.sha256,
            )
            .join(Submission, Submission.id == Scoring.submission_id)
            .where(Scoring.id.in_(batch))
            .order_by(Scoring.id)
        ).all()  # fmt: skip
        lines = lines_of(session, batch)
        for row in rows:
            _check_scoring(session, report, row, lines.get(row.id, []), unseen.pop(row.id, None))
        report.runs += len(batch)
        tell(len(batch))
    for scoring_id, (_, _, submission_id, words) in unseen.items():
        where, what = run_in_words(session, submission_id), f"scoring {scoring_id}"
        stored = _state_of(session, scoring_id)
        report.differences.append(Difference(where, what, stored, State.SCORED.value, words))


def _check_ended(session: Session, report: Report, told: _Told) -> None:
    """Whether scorings that were rejected or have failed are as the trail says, and no others are."""
    rows = session.execute(
        sa.select(Scoring.id, Scoring.submission_id, Scoring.state, Scoring.failure, Scoring.damaged)
        .where(Scoring.state.in_((State.REJECTED, State.FAILED)))
        .order_by(Scoring.id)
    ).all()
    for row in rows:
        ended = told.ended.pop(row.id, None)
        if ended is None and row.id in told.scored:
            continue  # named already: it has figures
        where, what = run_in_words(session, row.submission_id), f"scoring {row.id}"
        expected, last = (ended.state.value, ended.last) if ended is not None else (NOTHING, "")
        if ended is None or row.state is not ended.state:
            report.differences.append(Difference(where, what, row.state.value, expected, last))
            continue
        for name, stored, left in (("failure", row.failure, ended.failure), ("damaged", row.damaged, ended.damaged)):
            if stored != left:
                report.differences.append(Difference(where, f"{name} of {what}", str(stored), str(left), last))
    for scoring_id, ended in told.ended.items():
        where, what = run_in_words(session, ended.submission_id), f"scoring {scoring_id}"
        stored = _state_of(session, scoring_id)
        report.differences.append(Difference(where, what, stored, ended.state.value, ended.last))


def _state_of(session: Session, scoring_id: int) -> str:
    state = session.scalar(sa.select(Scoring.state).where(Scoring.id == scoring_id))
    return state.value if state is not None else NOTHING


def lines_of(session: Session, scorings: list[int]) -> dict[int, list[ScoreLine]]:
    """Scoring -> its figures as they are stored."""
    rows = session.execute(
        sa.select(
            Score.scoring_id, Score.measure, sa.cast(Score.subset, sa.Text), Score.mean, Score.count,
            sa.type_coerce(Score.values, sa.LargeBinary),
        ).where(Score.scoring_id.in_(scorings))
    )  # fmt: skip
    lines: dict[int, list[ScoreLine]] = {}
    for scoring_id, measure, subset, mean, count, values in rows:
        lines.setdefault(scoring_id, []).append(ScoreLine(measure, subset, mean, count, values))
    return lines


def _check_scoring(
    session: Session,
    report: Report,
    row: sa.Row[Any],
    lines: list[ScoreLine],
    told: tuple[str, Mapping[str, Any], int, str] | None,
) -> None:
    beside = {"missing": row.missing, "unjudged": row.unjudged, "facts": row.facts}
    computed = scoring_digest(row.submission_id, row.sha256, row.scoring_set_id, row.beta, beside, lines)
    expected, figures, _, words = told if told is not None else (NOTHING, {}, 0, "")
    if expected == computed == row.digest:
        return
    where = run_in_words(session, row.submission_id)
    if told is None:
        report.differences.append(Difference(where, f"scoring {row.id}", State.SCORED.value, NOTHING))
        return
    found = [Difference(where, *differing, words) for differing in _differing_figures(figures, lines)]
    if not found and computed != expected:
        found.append(Difference(where, "what its figures were computed with", computed, expected, words))
    if row.digest != expected:
        found.append(Difference(where, "digest", str(row.digest), expected, words))
    report.differences += found


def _differing_figures(figures: Mapping[str, Any], lines: list[ScoreLine]) -> Iterator[tuple[str, str, str]]:
    stored = {f"{line.measure} {line.subset}": line for line in lines}
    for name in sorted(figures.keys() | stored.keys()):
        measure, _, subset = name.rpartition(" ")
        what = f"{measure} over {subset} queries"
        line = stored.get(name)
        if line is None or name not in figures:
            yield what, NOTHING if line is None else "there", "there" if line is None else NOTHING
            continue
        mean, digest = figures[name]
        if line.mean != mean:
            yield what, f"mean {line.mean}", f"mean {mean}"
        elif line.digest[:SHORT] != digest:
            yield f"{what}, values or count", line.digest[:SHORT], digest
