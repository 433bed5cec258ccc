"""Verification: whether what is on record is what this program wrote, and what differs.

It compares the triggers with their definitions, every event with the one before it, every audited row with what the
trail says of it, every revision with the hash of its judgments, every scored run with the digest of its figures,
the rows that say which runs stand with the rule, and the means that boards keep with the runs' figures.
What it finds was done past this program, or past its checks; docs/integrity.md says what it can't find.
"""

import hashlib
import math
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import access, db, errors, migrate, moments
from leaderboard.accounts.models import User
from leaderboard.audit.audited_tables import ALL_ROWS, AUDITED, State as RowState, state_before, states_of_all
from leaderboard.audit.models import Chain, Event
from leaderboard.audit.reads import name_of_row
from leaderboard.audit.rules import FIRST, SHORT, ScoreLine, canonical, judgments_sha256, scoring_digest
from leaderboard.audit.stored_events import StoredEvent, stored_events
from leaderboard.audit.writes import record
from leaderboard.boards.models import Board, Standing
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import collection_list, file_rules
from leaderboard.formats.file_rules import read_document_list
from leaderboard.frozen import frozen
from leaderboard.generations.models import BoardGeneration
from leaderboard.judgments.models import JudgmentRevision
from leaderboard.judgments.reads import stored_rows
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import State
from leaderboard.submissions.writes.selection import HAS_CEASED, selection_by_rule, stored_selection
from leaderboard.worker.models import Score, Scoring, ScoringSet

NOTHING = "nothing"
DATABASE, STORE = "the database", "the store of runs"  # where somebody must be able to write for a difference
SPOILT = f"No event accounts for it: a fault of the disk, or somebody who can write to {STORE}, changed it."
LOST = (
    "The file is missing or can't be read. Most likely the store was copied before the database, or not all of it: "
    "then it lacks the newest runs. Put the file back as runs/{0:.2}/{0} of the store, from another backup or from its "
    "team (its SHA-256 tells that it is the same), and verify again."
)
SCORINGS_AT_ONCE = 200  # whose figures are in memory
# What Python, SQLAlchemy and we raise for a value, or a table, that is none of this program's: JSON that is nested too
# deeply and numbers that are too great among them.
UNREADABLE = (
    ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError, zlib.error,
    sa.exc.SQLAlchemyError,
)  # fmt: skip
TRIGGERS = {  # what stands between a statement and our tables: its name, and what it is
    "sqlite": "SELECT 'trigger ' || name, sql FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": """
        SELECT 'trigger ' || tgname, CASE tgenabled WHEN 'O' THEN '' ELSE 'disabled: ' END || pg_get_triggerdef(t.oid)
          FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
         WHERE relnamespace = current_schema()::regnamespace AND NOT (tgisinternal AND tgenabled = 'O')
        UNION ALL SELECT 'function ' || proname || '()', coalesce(array_to_string(proconfig, '; '), '') || ' ' || prosrc
          FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND prorettype = 'trigger'::regtype
        UNION ALL SELECT 'table ' || inhrelid::regclass::text, 'inherits from ' || inhparent::regclass::text
          FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid JOIN pg_class p ON p.oid = inhparent
         WHERE current_schema()::regnamespace IN (c.relnamespace, p.relnamespace) AND c.relkind <> 'i'
        UNION ALL SELECT 'row security of ' || relname, 'on'
          FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relrowsecurity
        UNION ALL SELECT 'rule ' || rulename, definition FROM pg_rules WHERE schemaname = current_schema()""",
}


@frozen
class Difference:
    """One thing that is not as this program left it.

    where     such as `queries 1 (Harbour 2026)`
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
    into: str = DATABASE

    @property
    def who(self) -> str:
        """Who could have done it, in a sentence or two; of a stored file that is gone what happened, and what to do."""
        if self.into == STORE and self.stored.startswith(NOTHING):
            return LOST.format(self.expected)
        who = f"No event accounts for it: it was done outside this program, by somebody who can write to {self.into}."
        if self.into == STORE:
            who = SPOILT
        return f"{who} The last event about it: {self.last}." if self.last else who


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
    standing: int = 0  # runs that stand on the boards of today
    files: int = 0  # of runs, whose bytes were read
    copies: int = 0  # of ranked lists
    recomputed: int = 0
    not_recomputed: int = 0  # scored by another version of the measures

    @property
    def clean(self) -> bool:
        return not self.differences

    def add(
        self, where: str, what: str, stored: object, expected: object, last: str = "", into: str = DATABASE
    ) -> None:
        """Adds a Difference. Halves of characters, which JSON may hold, are shown by their numbers."""
        words = (where, what, str(stored), str(expected), last, into)
        self.differences.append(Difference(*(each.encode(errors="backslashreplace").decode() for each in words)))

    def add_all(
        self, where: str, differing: Iterable[tuple[str, str, str]], last: str = "", into: str = DATABASE
    ) -> None:
        """Adds what differs of one thing: what, what is stored, what is expected."""
        for what, stored, expected in differing:
            self.add(where, what, stored, expected, last, into)


@frozen
class Trail:
    """What the events tell.

    states   a thing -> its last state, and the event in words
    figures  scoring -> measure and subset -> mean and digest, in words
    """

    states: dict[str, tuple[RowState, str]] = field(default_factory=dict)
    figures: dict[int, RowState] = field(default_factory=dict)


@contextmanager
def part(report: Report, where: str, session: Session | None = None) -> Iterator[None]:
    """What can't be read is a difference, and the others are looked at all the same.

    session: has a savepoint round it, since after an error PostgreSQL answers nothing more until that is taken back.
    Raises what a database raises that does not answer.
    """
    try:
        with nullcontext() if session is None else session.begin_nested():
            yield
    except UNREADABLE as error:
        reason = getattr(error, "orig", None) or error
        is_of_statement = getattr(reason, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR  # a table is gone, say
        if type(db.unanswered(error)) is errors.NoDatabase and not is_of_statement:
            raise
        report.add(
            where, "itself", f"can't be read ({type(error).__name__}: {reason})", "values that this program writes"
        )


def one_moment(session: Session) -> None:
    """Lets the session see the database as it is at one moment, while others go on writing."""
    if session.get_bind().dialect.name == "postgresql":
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})


def scored_runs_on_record(session: Session) -> int:
    """How many scored runs `verify` will tell of."""
    return session.scalar(sa.select(sa.func.count(Scoring.id)).where(Scoring.state == State.SCORED)) or 0


def verify(
    session: Session, tell: Callable[[int], None] = lambda _: None, noted: tuple[int, str] | None = None
) -> Report:
    """Looks at everything but the store, for which `worker.stored_runs` is; call `one_moment` first.

    tell   is told how many more scorings were looked at
    noted  the number of an event and its hash, as an earlier verification gave them: they must still be there
    """
    report, trail = Report(), Trail()
    checks: dict[str, Callable[[Session, Report], None]] = {
        "the triggers": check_triggers,
        "the trail": partial(check_trail, trail=trail, noted=noted),
        "the audited rows": partial(check_rows, trail=trail),
        "the scored runs": partial(check_figures, trail=trail, tell=tell),
        "the judgments": check_revisions,
        "the scoring sets": check_sets,
        "the lists of documents": check_lists,
        "which runs stand": check_standing,
        "the means that boards keep": check_means,
    }
    for where, check in checks.items():
        with part(report, where, session):
            check(session, report)
    return report


def record_verification(session: Session, actor: access.Actor, report: Report, *, figures: bool) -> None:
    """Keeps the outcome in the trail, where the boards' organisers find it.

    Raises NotFound when the row that counts the events is gone.
    """
    outcome: dict[str, Any] = {name: getattr(report, name) for name in ("clean", "events", "runs", "recomputed")}
    outcome |= {"differences": len(report.differences), "figures": figures}
    record(session, actor, "verify", db.locked(session, Chain, 1), **outcome)


def check_triggers(session: Session, report: Report) -> None:
    """Compares triggers and their functions with what the migrations make; names whatever else comes between a
    statement and our tables: rewriting rules, row security, tables that inherit.
    """
    dialect = session.get_bind().dialect.name
    locks = migrate.locks()
    triggers: dict[str, str] = getattr(locks, dialect.upper())
    expected = {f"trigger {name}": f"CREATE TRIGGER {name} {text}" for name, text in triggers.items()}
    schema = ""
    if dialect == "postgresql":
        schema = session.scalar(sa.text("SELECT quote_ident(current_schema())")) or ""
        path = f"search_path=pg_catalog, {schema}, pg_temp"
        expected |= {f"function {name}()": f"{path} {body}" for name, body in locks.FUNCTIONS.items()}
    report.triggers = len(expected)
    wanted = {(name, _plain(text, schema)) for name, text in expected.items()}
    # Not by name: on PostgreSQL another table may have a trigger of the same one.
    stored = {(name, _plain(text, schema)) for name, text in session.execute(sa.text(TRIGGERS[dialect]))}
    missing = dict(wanted - stored)
    for name, text in sorted(stored - wanted):
        report.add(DATABASE, name, text, missing.pop(name, NOTHING))
    for name, text in sorted(missing.items()):
        report.add(DATABASE, name, NOTHING, text)


def _plain(text: str, schema: str) -> str:
    return " ".join(text.replace(f" {schema}.", " ").split())


def check_trail(session: Session, report: Report, *, trail: Trail, noted: tuple[int, str] | None) -> None:
    """Looks at every event, whether it follows the one before unaltered and found its rows as the one before had left
    them, and puts into `trail` what they tell.
    """
    names: dict[int | None, str] = {}
    with part(report, "the names of accounts", session):
        names |= dict(session.execute(sa.select(User.id, User.name)).all())
    number, head, noted_hash = 0, FIRST, NOTHING
    for stored in stored_events(session):
        words = _in_words(stored.event, names)
        add = partial(report.add, "the trail", f"event {stored.id}", last=words)
        if stored.id != number + 1:
            gone = f"event {number + 1}" if stored.id == number + 2 else f"events {number + 1} to {stored.id - 1}"
            report.add("the trail", gone, NOTHING, "an event")
        elif stored.previous_hash != head:
            add(f"follows {stored.previous_hash}", f"follows {head}")
        if stored.event is not None and stored.computed != stored.hash:
            add(f"a content of hash {stored.computed}", stored.hash)
        try:
            _hear(session, report, trail, stored, words)
        except UNREADABLE as error:
            add(f"can't be read ({error})", "an event")
        number, head = stored.id, stored.hash
        if noted is not None and number == noted[0]:
            noted_hash = head
    report.events, report.head = number, head
    rows = session.execute(sa.select(Chain.events, Chain.head)).all()
    counted = " and ".join(f"{events} events, the last {last}" for events, last in rows) or NOTHING
    if counted != (here := f"{number} events, the last {head}"):
        # Of the two the longer one is what there was: the end of the trail is gone, or the count was changed.
        report.add("the trail", "its end", here, counted)
    if noted is not None and noted_hash != noted[1]:
        report.add("the trail", f"event {noted[0]}", noted_hash, f"{noted[1]}, as noted down")


def _in_words(event: Event | None, names: Mapping[int | None, str]) -> str:
    if event is None:
        return ""
    actor = names.get(event.actor_id, f"account {event.actor_id}") if event.actor_id else "the command line or a worker"
    return f"{event.id}, {event.action!r} by {actor}, {moments.moment_in_words(event.at)}"


def _hear(session: Session, report: Report, trail: Trail, stored: StoredEvent, words: str) -> None:
    """What an event says of rows and figures, and whether it found the rows as the event before had left them.

    Raises one of UNREADABLE, before anything is heard, for what no event of this program says: whoever inserts an event
    by SQL can give it any JSON, with the right hash too.
    """
    event = stored.event
    if event is None:
        raise ValueError(stored.problem)
    if not all(isinstance(each, dict) for each in (event.facts, event.state, event.changed)):
        raise TypeError("it says what no event of this program says")
    states = {thing: _before_and_after(thing, event) for thing in event.state.keys() | event.changed.keys()}
    if event.action == "score":
        figures = event.facts["figures"].items()
        trail.figures[event.facts["scoring"]] = {_name(*name.rsplit(" ", 1)): _figure(*each) for name, each in figures}
    for thing, (before, after) in states.items():
        left, last = trail.states.get(thing, ({}, ""))
        for what, was, due in differing(before, left):
            report.add(_thing_in_words(session, thing), f"{what}, as event {stored.id} found it", was, due, last)
        trail.states[thing] = after, words


def _before_and_after(thing: str, event: Event) -> tuple[RowState, RowState]:
    after, change = event.state[thing], event.changed.get(thing, {})
    texts: Iterable[object] = (*after.values(), *(change or {}).values())
    if thing.rpartition(" ")[0] not in AUDITED or not all(isinstance(each, str | None) for each in texts):
        raise ValueError(f"it says of {thing} what no event of this program says")
    return state_before(change, after) if thing in event.changed else after, after


def _name(measure: str, subset: str) -> str:
    return f"{measure} over {subset} queries"


def _figure(mean: float | None, digest: str) -> str:
    return f"mean {None if mean is None else float(mean) + 0.0}, {digest[:SHORT]}"


def figures_in_words(lines: Iterable[ScoreLine]) -> dict[str, str]:
    """Measure and subset -> the mean, and what the digest begins with."""
    return {_name(line.measure, line.subset): _figure(line.mean, line.digest) for line in lines}


def check_rows(session: Session, report: Report, *, trail: Trail) -> None:
    """Compares every audited row with what the trail tells of it."""
    left = dict(trail.states)
    for table in AUDITED.values():
        with part(report, f"the rows of {table.name}", session):
            for thing, state in states_of_all(session, table):
                report.rows += len(state.keys() - {ALL_ROWS}) if table.row is not None else 1
                expected, last = left.pop(thing, ({}, ""))
                if state != expected:
                    report.add_all(_thing_in_words(session, thing), differing(state, expected), last)
    for thing, (expected, last) in left.items():
        report.add_all(thing, differing({}, expected), last)


def differing(stored: RowState, expected: RowState) -> list[tuple[str, str, str]]:
    """(what, stored, expected) for each column, row or measure that differs."""
    if stored == expected:
        return []
    if not stored or not expected:
        return [("itself", "there" if stored else NOTHING, "there" if expected else NOTHING)]
    names = sorted(name for name in stored.keys() | expected.keys() if stored.get(name) != expected.get(name))
    named = [name for name in names if name != ALL_ROWS] or names
    return [(name or "rows", stored.get(name, NOTHING), expected.get(name, NOTHING)) for name in named]


def _thing_in_words(session: Session, thing: str) -> str:
    """`queries 1 (Harbour 2026)` for what the trail calls `queries 1`."""
    name, _, key = thing.rpartition(" ")
    table = AUDITED[name]
    owner = table.table.__tablename__ if table.by == ("id",) else table.by[-1].removesuffix("_id")
    return f"{thing} ({name_of_row(session, owner, int(key.rpartition('/')[2]))})"


def check_figures(session: Session, report: Report, *, trail: Trail, tell: Callable[[int], None]) -> None:
    """Computes the digest of every scored run anew."""
    ids = session.scalars(sa.select(Scoring.id).where(Scoring.state == State.SCORED).order_by(Scoring.id)).all()
    for start in range(0, len(ids), SCORINGS_AT_ONCE):
        batch = ids[start : start + SCORINGS_AT_ONCE]
        scorings = sa.select(Scoring, Submission.sha256).join(Scoring.submission).where(Scoring.id.in_(batch))
        lines = lines_of(session, batch)
        for scoring, sha256 in session.execute(scorings.order_by(Scoring.id)).all():
            own = lines.get(scoring.id, [])
            others = {"missing": scoring.missing, "unjudged": scoring.unjudged, "facts": scoring.facts}
            run = scoring.submission_id, sha256, scoring.scoring_set_id, scoring.beta
            computed = canonical(scoring_digest(*run, others, own))
            state, last = trail.states.get(f"scoring {scoring.id}", ({}, ""))
            expected = state.get("digest", canonical(scoring.digest))
            if computed != expected:
                stored, figures = figures_in_words(own), trail.figures.get(scoring.id, {})
                wrong = differing(stored, figures) if stored and figures else []
                wrong = wrong or [("what its figures were computed with", computed, expected)]
                report.add_all(name_of_row(session, "submission", scoring.submission_id), wrong, last)
        report.runs += len(batch)
        tell(len(batch))
        session.expunge_all()


def lines_of(session: Session, scorings: Sequence[int]) -> dict[int, list[ScoreLine]]:
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


def check_revisions(session: Session, report: Report) -> None:
    """Computes the hash of every judgment revision anew."""
    for revision in session.scalars(sa.select(JudgmentRevision).order_by(JudgmentRevision.id)):
        report.revisions += 1
        computed = judgments_sha256(*stored_rows(session, revision.id))
        if computed != revision.sha256:
            where = _thing_in_words(session, f"revisions {revision.evaluation_id}")
            report.add(where, f"judgments of revision {revision.number}", computed, revision.sha256)


def check_sets(session: Session, report: Report) -> None:
    """Computes the hash of every scoring set's settings anew."""
    for made in session.scalars(sa.select(ScoringSet).order_by(ScoringSet.id)):
        if made.settings.hash != made.settings_hash:
            where = _thing_in_words(session, f"scoring sets {made.evaluation_id}")
            report.add(where, f"settings of set {made.id}", made.settings.hash, made.settings_hash)


def check_lists(session: Session, report: Report) -> None:
    """Computes the hash of every collection's list of documents anew; which it is stands in the evaluation's rules."""
    for evaluation in session.scalars(sa.select(Evaluation).order_by(Evaluation.id)):
        packed, expected = collection_list(session, evaluation.id), file_rules(evaluation).documents_sha256
        stored = "" if packed is None else hashlib.sha256(read_document_list(packed)).hexdigest()
        if stored != expected:
            where = name_of_row(session, "evaluation", evaluation.id)
            report.add(where, "the list of documents", stored or NOTHING, expected or NOTHING)


def check_standing(session: Session, report: Report) -> None:
    """Finds what stands anew, from all runs of each set that boards show: what several ways of choosing have wrong
    alike is told once. What stood on an old board depends on what was chosen then, and stays unasked."""
    for set_id in session.scalars(sa.select(ScoringSet.id).where(~HAS_CEASED).order_by(ScoringSet.id)).all():
        stored = stored_selection(session, Standing.scoring_set_id == set_id)
        expected = selection_by_rule(session, of_sets=ScoringSet.id == set_id)
        report.standing += len({row.scoring_id for row in stored})
        here, there = ({row[:-2]: row.scoring_id for row in own} for own in (stored, expected))
        differing = {(row.system_id, row.late, here.get(row[:-2]), there.get(row[:-2])) for row in stored ^ expected}
        for system, late, *scorings in sorted(differing, key=str):
            where = name_of_row(session, "system", system)
            what = f"which {'late ' if late else ''}run stands in set {set_id}"
            report.add(where, what, *(f"scoring {each}" if each else NOTHING for each in scorings))


def check_means(session: Session, report: Report) -> None:
    """Compares the means of every row of a board with the figures that they were taken from.

    A run that the row lacks is a difference where the row is of the present runs; else it was scored after the board
    was refreshed. Of a run of which something is told already, its own figures most likely, nothing more is.
    """
    named = {difference.where for difference in report.differences}
    scored = sa.select(Score.scoring_id, Score.mean, Score.count).join(Scoring).where(Scoring.state == State.SCORED)
    boards = sa.select(Board).order_by(Board.scoring_set_id, Board.measure, Board.subset)
    numbers = sa.select(ScoringSet.id, BoardGeneration.number).join(
        BoardGeneration, BoardGeneration.evaluation_id == ScoringSet.evaluation_id
    )
    generations = dict(session.execute(numbers).all())
    for board in session.scalars(boards.options(sa.orm.undefer("*"))).all():
        of_board = Scoring.scoring_set_id == board.scoring_set_id, Score.measure == board.measure
        rows = session.execute(scored.where(*of_board, Score.subset == board.subset))
        figures = {scoring: _mean(mean, count) for scoring, mean, count in rows}
        lacks = len(figures.keys() - {*board.scorings.tolist()})
        if lacks and board.generation == generations.get(board.scoring_set_id):
            where = f"board of set {name_of_row(session, 'scoring_set', board.scoring_set_id)}"
            what = f"{board.measure} over {board.subset} queries"
            report.add(where, what, f"{len(figures) - lacks} runs", f"{len(figures)} runs")
        for scoring, *packed in zip(board.scorings.tolist(), board.means.tolist(), board.counts.tolist(), strict=True):
            stored, expected = _mean(*packed), figures.get(scoring, NOTHING)
            if stored != expected and (where := name_of_row(session, "scoring", scoring)) not in named:
                what = f"the mean of {board.measure} over {board.subset} queries that its board keeps"
                report.add(where, what, stored, expected)


def _mean(mean: float | None, count: float) -> str:
    return f"{math.nan if mean is None else mean} over {count:.0f}"
