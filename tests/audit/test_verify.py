"""Verification names what was done past this program: each promise of docs/integrity.md is a row of a table here."""

import datetime as dt
import functools
import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.accounts.models import User
from leaderboard.audit.audited_tables import AUDITED
from leaderboard.audit.models import Chain, Event
from leaderboard.audit.rules import event_hash, judgments_sha256
from leaderboard.audit.verify import Report, record_verification, verify
from leaderboard.audit.writes import record
from leaderboard.boards import writes as boards
from leaderboard.boards.models import Board
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Base
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Agreement, CollectionList, Evaluation
from leaderboard.evaluations.rules import Subset
from leaderboard.formats import document_list
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import State
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as teams
from leaderboard.teams.models import Team
from leaderboard.worker import writes as scoring_sets
from leaderboard.worker.models import Score, Scoring, ScoringSet
from tests.support.verification import Changes, found_after, named, verified, without_triggers
from tests.support.world import World

CAMPAIGN, EVALUATION = "campaign 1 (Another title)", "evaluation 1 (Another year)"
QUERIES, SETS, REVISIONS = "queries 1 (Another year)", "scoring sets 1 (Another year)", "revisions 1 (Another year)"
RUNS = {
    number: f"run {number} of System number {number - 1} by Northern lights, Another year" for number in range(1, 5)
}
SUBMISSIONS = {number: f"submission {number} ({run})" for number, run in RUNS.items()}
SCORINGS = {number: f"scoring {number} ({RUNS[run]})" for number, run in {1: 1, 3: 1, 5: 3, 6: 4}.items()}
SYSTEM = "System number 0 of Northern lights"
COMPUTED_WITH = (RUNS[1], "what its figures were computed with")
JUDGMENTS = (REVISIONS, "judgments of revision 1")
STANDS, STANDS_LATE = (SYSTEM, "which run stands in set 2"), (SYSTEM, "which late run stands in set 2")
TRAIL = "the trail"
AP = "measure = 'AP' AND subset = 'all' AND scoring_id = 1"
MADE_UP_TEAM = (
    "INSERT INTO team (id, slug, name, description, is_listed, created_at)"
    " SELECT 9, 'x', 'X', '', is_listed, created_at FROM team WHERE id = 1"
)
COPIED_SCORING = ", ".join(f'"{column.name}"' for column in Scoring.__table__.columns)
# What SQL does -> what is named. Each kind of tampering once for every audited table that can hold it.
TAMPERED: dict[str, Changes] = {
    # audited rows
    "UPDATE campaign SET title = 'Mine'": [("campaign 1 (Mine)", "title")],
    "INSERT INTO campaign_organiser VALUES (1, 2)": [("organisers 1 (Another title)", "2")],
    "INSERT INTO campaign_team VALUES (1, 1)": [("teams let in 1 (Another title)", "itself")],
    "UPDATE evaluation SET closes_at = '2030-01-01 00:00:00'": [(EVALUATION, "closes_at")],
    "UPDATE query SET text = 'another' WHERE external_id = 'q2'": [(QUERIES, "q2")],
    "UPDATE query SET external_id = 'q9' WHERE external_id = 'q1'": [(QUERIES, "q1"), (QUERIES, "q9"), JUDGMENTS],
    "UPDATE judgment_revision SET note = 'x'": [(REVISIONS, "1")],
    "UPDATE scoring_set SET metric_version = '0' WHERE id = 1": [(SETS, "1")],
    "UPDATE team SET name = 'Mine' WHERE id = 1": [("team 1 (Mine)", "name")],
    MADE_UP_TEAM: [("team 9 (X)", "itself")],
    "DELETE FROM team_name WHERE team_id = 2": [("team names 2", "itself")],
    "DELETE FROM membership": [("members 1", "itself")],
    "UPDATE membership SET role = 'member'": [("members 1 (Northern lights)", "1")],
    "UPDATE system SET kind = 'baseline' WHERE id = 1": [(f"system 1 ({SYSTEM})", "kind")],
    "UPDATE submission SET withdrawn_at = received_at WHERE id = 1": [(SUBMISSIONS[1], "withdrawn_at"), STANDS],
    "UPDATE submission SET late = true WHERE id = 1": [(SUBMISSIONS[1], "late"), STANDS, STANDS_LATE],
    "UPDATE submission SET sha256 = 'x' WHERE id = 1": [(SUBMISSIONS[1], "sha256"), COMPUTED_WITH, COMPUTED_WITH],
    "UPDATE participation SET primary_submission_id = 2": [
        ("participation 1/1 (Another year)", "primary_submission_id"),
    ],
    "UPDATE participation SET team_id = 2": [
        ("participation 1/1", "itself"), ("participation 2/1 (Another year)", "itself"),
    ],
    'UPDATE "user" SET is_admin = true WHERE name = \'Eve\'': [("account 2 (Eve)", "is_admin")],
    "INSERT INTO site VALUES (1, 'Mine', '', '', '', '')": [("site 1 (site 1)", "itself")],
    # how scorings ended
    "UPDATE scoring SET digest = 'x' WHERE id = 1": [(SCORINGS[1], "digest")],
    "UPDATE scoring SET state = 'rejected' WHERE id = 3": [(SCORINGS[3], "state"), STANDS],
    "UPDATE scoring SET state = 'queued' WHERE id = 5": [("scoring 5", "itself")],
    "UPDATE scoring SET failure = 'mine' WHERE id = 6": [(SCORINGS[6], "failure")],
    "UPDATE scoring SET damaged = NOT damaged WHERE id = 6": [(SCORINGS[6], "damaged")],
    f"INSERT INTO scoring ({COPIED_SCORING}) SELECT "
    + COPIED_SCORING.replace('"id"', "99").replace('"scoring_set_id"', "7")
    + " FROM scoring WHERE id = 1": [COMPUTED_WITH, (f"scoring 99 ({RUNS[1]})", "itself")],
    "UPDATE scoring SET finished_at = '2030-01-01 00:00:00' WHERE id = 1": [(SCORINGS[1], "finished_at")],
    "UPDATE scoring SET of_the_past = true WHERE id = 1": [(SCORINGS[1], "of_the_past")],
    "UPDATE pseudonym SET number = -1 WHERE system_id = 1": [(f"pseudonyms 1 ({SYSTEM})", "1")],
    # figures
    f"UPDATE score SET mean = 0.99 WHERE {AP}": [(RUNS[1], "AP over all queries")],
    f"UPDATE score SET count = 17 WHERE {AP}": [(RUNS[1], "AP over all queries")],
    f"DELETE FROM score WHERE {AP}": [(RUNS[1], "AP over all queries")],
    "UPDATE scoring SET beta = 80 WHERE id = 1": [COMPUTED_WITH],
    "UPDATE scoring SET facts = '{}' WHERE id = 1": [COMPUTED_WITH],
    # judgments and settings
    "UPDATE judgment SET grade = 1 WHERE document = 'd2'": [JUDGMENTS],
    "INSERT INTO judgment VALUES (1, 1, 'd7', 1)": [JUDGMENTS],
    "INSERT INTO known_document VALUES (1, 1, 'd7')": [JUDGMENTS],
    "INSERT INTO subtopic_judgment VALUES (1, 1, '1', 'd1', 1)": [JUDGMENTS],
    "UPDATE judgment_revision SET sha256 = 'x'": [(REVISIONS, "1"), JUDGMENTS],
    "UPDATE scoring_set SET settings = '{}' WHERE id = 1": [(SETS, "1"), ("the scoring sets", "itself")],
    # which runs stand
    "DELETE FROM standing": [STANDS],
    "UPDATE standing SET scoring_id = 4 WHERE scoring_set_id = 2": [STANDS],
    # the trail itself
    "UPDATE event SET action = 'nothing' WHERE id = 3": [(TRAIL, "event 3")],
    "UPDATE event SET at = '2026-01-01 00:00:00' WHERE id = 3": [(TRAIL, "event 3")],
    "UPDATE chain SET events = events + 1": [(TRAIL, "its end")],
    "DELETE FROM chain": [(TRAIL, "its end")],
}  # fmt: skip
OF_ENGINE: dict[str, dict[str, Changes]] = {
    "sqlite": {
        f'UPDATE score SET "values" = zeroblob(24) WHERE {AP}': [(RUNS[1], "AP over all queries")],
        "UPDATE scoring_set SET settings = json_set(settings, '$.beta', 80) WHERE id = 2": [
            (SETS, "2"), (SETS, "settings of set 2"),
        ],
    },
    "postgresql": {
        f"UPDATE score SET \"values\" = decode(repeat('00', 24), 'hex') WHERE {AP}": [(RUNS[1], "AP over all queries")],
        "UPDATE scoring_set SET settings = jsonb_set(settings, '{beta}', '80') WHERE id = 2": [
            (SETS, "2"), (SETS, "settings of set 2"),
        ],
    },
}  # fmt: skip


def test_whatever_this_program_did_is_found_in_order(played: World) -> None:
    report = verified(played)
    assert named(report) == []
    assert (report.clean, report.runs, report.revisions) == (True, 4, 1)
    events = played.all(sa.select(Event).order_by(Event.id))
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    assert (report.events, report.head) == (len(events), events[-1].hash)
    with played.database.write() as session:
        record_verification(session, CONSOLE, report, figures=False)
    event = played.all(sa.select(Event).order_by(Event.id))[-1]
    assert (event.action, event.subject, event.facts["clean"], event.facts["runs"]) == ("verify", "chain", True, 4)
    assert verified(played).clean


def test_what_sql_changed_made_up_or_took_away_is_named(played: World, engine_name: str) -> None:
    of_boards = "the mean of"  # a board that keeps the mean too is named besides
    wrong = {}
    for statement, expected in (TAMPERED | OF_ENGINE[engine_name]).items():
        found = [change for change in found_after(played, statement) if not change[1].startswith(of_boards)]
        if sorted(found) != sorted(expected):
            wrong[statement] = found
    assert wrong == {}


def test_every_audited_table_is_tampered_with_here() -> None:
    """A table that is audited from now on fails this until a row of TAMPERED changes it."""
    things = {where.partition(" (")[0].rstrip("/0123456789").strip() for each in TAMPERED.values() for where, _ in each}
    assert AUDITED.keys() - things == {"agreements", "acceptances"}  # see below
    for table in AUDITED.values():
        columns = set(table.table.__table__.columns.keys())
        assert {*table.left_out, *table.only, *table.by, *([table.row] if table.row else [])} <= columns


def test_who_accepted_what_the_list_of_documents_and_the_runs_of_a_board_do_not_change_unseen(played: World) -> None:
    with played.organising() as (session, _, evaluation):
        evaluations.state_agreement(session, CONSOLE, evaluation, "terms", "Terms", "Do no harm.")
        evaluations.set_documents(session, CONSOLE, evaluation, document_list(io.BytesIO(b"d1\nd2\n")))
    with played.database.write() as session:
        (accepted,) = session.scalars(sa.select(Agreement.id))
        evaluations.accept_agreements(session, played.ada, session.get_one(Evaluation, played.evaluation), [accepted])
    assert named(verified(played)) == []
    for statement in ("UPDATE acceptance SET accepted_at = '2030-01-01 00:00:00'", "DELETE FROM acceptance"):
        ((where, what),) = found_after(played, statement)
        assert (where.partition(" (")[0], what in ("1", "itself")) == (f"acceptances {accepted}", True)
    year = "Another year"
    packed = document_list(io.BytesIO(b"d1\nd3\n")).packed
    lost, damaged = ((year, "the list of documents"), ("the lists of documents", "itself"))
    assert found_after(played, lambda session: session.execute(sa.update(CollectionList).values(packed=packed))) == [
        lost
    ]
    assert found_after(played, lambda session: session.execute(sa.update(CollectionList).values(packed=b"x"))) == [
        damaged
    ]
    assert found_after(played, "DELETE FROM collection_list") == [lost]


def test_runs_that_are_taken_from_a_board_are_named(played: World) -> None:
    none: dict[str, Any] = {"scorings": np.empty(0, np.int64)}
    none |= dict.fromkeys(("means", "counts", "lows", "highs"), np.empty(0))
    of_ap = Board.measure == "AP", Board.subset == Subset.ALL, Board.scoring_set_id == 2
    with played.database.write() as session:
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, 1))
    with played.database.read() as session:
        outdated = boards.due(session)
    for board in outdated:
        boards.refresh(played.database, board)
    assert named(verified(played)) == []
    found = found_after(played, lambda session: session.execute(sa.update(Board).where(*of_ap).values(none)))
    assert [what for where, what in found if where.startswith("board of set 2")] == ["AP over all queries"]


def test_events_that_are_gone_or_shortened_are_named(played: World) -> None:
    count = len(played.all(sa.select(Event)))
    for statement in ("DELETE FROM event WHERE id = 3", "UPDATE event SET id = 1000 WHERE id = 3"):
        assert (TRAIL, "event 3") in found_after(played, statement)
    assert (TRAIL, "its end") in found_after(played, f"DELETE FROM event WHERE id = {count}")
    assert (TRAIL, "event 3") in found_after(played, "UPDATE event SET state = '[]' WHERE id = 3")


def test_an_event_that_is_written_anew_breaks_from_the_next_one(played: World) -> None:
    def rewrite(session: Session) -> None:
        event = session.get_one(Event, 3)
        said = (event.at, 2, event.action, event.subject, event.subject_id, event.facts, event.state, event.changed)
        values = {"actor_id": 2, "hash": event_hash(event.previous_hash, 3, *said)}
        session.execute(sa.update(Event).where(Event.id == 3).values(values))
        session.expire_all()

    assert found_after(played, rewrite) == [(TRAIL, "event 4")]


def test_a_trail_that_is_shortened_with_its_count_is_found_by_a_head_that_was_noted_down(played: World) -> None:
    before = verified(played)
    with played.database.write() as session:
        record(session, CONSOLE, "praise", session.get_one(Chain, 1))
    after = verified(played, noted=(before.events, before.head))
    assert after.clean
    with played.database.write() as session:
        with without_triggers(session):
            session.execute(sa.delete(Event).where(Event.id == after.events))
            session.execute(sa.update(Chain).values(events=before.events, head=before.head))
        assert verify(session).clean  # nothing inside the database tells any more
        (found,) = verify(session, noted=(after.events, after.head)).differences
        assert (found.what, found.stored, found.expected) == (
            f"event {after.events}", "nothing", f"{after.head}, as noted down",
        )  # fmt: skip
        session.rollback()


DEEP = "[" * 3000 + "]" * 3000
GREAT = '{"a": 1' + "0" * 400 + "}"
MADE_UP_EVENT = (
    "INSERT INTO event SELECT events + 1, {0}, 1, 'x', 'chain', 1, {1}, '{{}}', '{{}}', head, 'x' FROM chain"
)
DATE = "'2026-01-01 00:00:00'"
NO_TEXT = "CAST(x'ff41' AS TEXT)"
LAST = "the last event"
# What SQL wrote -> what is named.
UNREADABLE: dict[str, dict[str, tuple[str, str]]] = {
    "sqlite": {
        MADE_UP_EVENT.format(DATE, f"'{DEEP}'"): (TRAIL, LAST),
        MADE_UP_EVENT.format(DATE, f"'{GREAT}'"): (TRAIL, LAST),
        MADE_UP_EVENT.format(DATE, NO_TEXT): (TRAIL, LAST),
        MADE_UP_EVENT.format("'2026-02-30 21:00:00.000000'", "'{}'"): (TRAIL, LAST),
        f"UPDATE campaign SET measures = '{DEEP}'": ("the rows of campaign", "itself"),
        f"UPDATE event SET action = {NO_TEXT} WHERE id = 2": (TRAIL, "event 2"),
        f"UPDATE \"user\" SET name = {NO_TEXT} WHERE id = 2": ("the names of accounts", "itself"),
        "UPDATE evaluation SET closes_at = '2031-01-01 or so'": ("the rows of evaluation", "itself"),
    },
    "postgresql": {
        MADE_UP_EVENT.format(DATE, f"'{DEEP}'"): (TRAIL, LAST),
        MADE_UP_EVENT.format(DATE, f"'{GREAT}'"): (TRAIL, LAST),
        f"UPDATE campaign SET measures = '{DEEP}'": ("the rows of campaign", "itself"),
        "DROP TABLE known_document": ("the judgments", "itself"),
    },
}  # fmt: skip


def check_text(session: Session, *, on: bool) -> None:
    """Whether SQLite checks what it is given, such as that a date is one; any client may say that it should not."""
    if session.get_bind().dialect.name == "sqlite":
        session.connection().exec_driver_sql(f"PRAGMA ignore_check_constraints = {not on}")


def test_what_cannot_be_read_is_named_and_the_rest_is_looked_at_all_the_same(played: World, engine_name: str) -> None:
    figure = "UPDATE score SET mean = 0.999 WHERE measure = 'AP' AND subset = 'all' AND scoring_id = 2"
    row = "UPDATE submission SET label = 'mine' WHERE id = 2"
    last = f"event {len(played.all(sa.select(Event))) + 1}"
    unchecked, checked = (functools.partial(check_text, on=on) for on in (False, True))
    for statement, (where, what) in UNREADABLE[engine_name].items():
        found = found_after(played, figure, row, unchecked, statement, checked)
        expected = {
            (where, last if what == LAST else what), (RUNS[2], "AP over all queries"), (SUBMISSIONS[2], "label"),
        }  # fmt: skip
        assert expected <= set(found), statement[:80]


# The JSON of an event that this program would not write: its facts as a score, its state, what was otherwise before.
FIGURES: dict[str, Any] = {"scoring": 1, "figures": {}}
ODD: list[tuple[Any, Any, Any]] = [
    ([], {}, {}),
    (FIGURES, [], {}),
    (FIGURES, {"campaign 1": 5}, {}),
    (FIGURES, {"campaign 1": {"title": "x"}}, {"campaign 1": {"title": 1}}),
    (FIGURES, {"queries 1": {"q1": [[]]}}, {}),
    (FIGURES, {}, {"queries 1": {}}),
    (FIGURES, {"nothing of ours": {}}, {}),
    ({"scoring": [1], "figures": {}}, {}, {}),
    ({"scoring": 1, "figures": {"AP all": 5}}, {}, {}),
    ({"scoring": 1, "figures": {"AP all": ["\n", None]}}, {}, {}),
]


def test_an_event_with_the_right_hash_that_says_odd_things_is_named_and_what_it_says_is_not_heard(
    played: World,
) -> None:
    with played.database.read() as session:
        chain = session.scalars(sa.select(Chain)).one()
    number, at = chain.events + 1, dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    for facts, state, changed in ODD:
        said = {"at": at, "actor_id": None, "action": "score", "subject": "chain", "subject_id": 1}
        said |= {"facts": facts, "state": state, "changed": changed}
        hashed = event_hash(chain.head, number, *said.values())
        with played.database.write() as session:
            session.execute(sa.insert(Event).values(id=number, previous_hash=chain.head, hash=hashed, **said))
            session.execute(sa.update(Score).where(Score.scoring_id == 2, Score.measure == "AP").values(count=17))
            found = named(verify(session))
            session.rollback()
        expected = {
            (TRAIL, f"event {number}"),
            *((RUNS[2], f"AP over {subset} queries") for subset in ("all", "shown")),
        }
        assert expected <= set(found), (facts, state, changed)


FOUND = "as an event found it"


def change_title(session: Session) -> None:
    evaluation = session.get_one(Evaluation, 1)
    evaluations.change_evaluation(session, CONSOLE, evaluation, title=f"{evaluation.title}!")


def change_title_of_campaign(session: Session) -> None:
    campaign = session.get_one(Campaign, 1)
    campaigns.change_campaign(session, CONSOLE, campaign, title=f"{campaign.title}!")


# What SQL changed -> what this program does next about the same thing, and where what is named.
TAKEN_OVER: dict[str, tuple[Callable[[Session], object], Changes]] = {
    "UPDATE evaluation SET documents = 900, grace_seconds = 999": (
        change_title,
        [("evaluation 1", "documents"), ("evaluation 1", "grace_seconds")],
    ),
    "INSERT INTO campaign_organiser VALUES (1, 2)": (change_title_of_campaign, [("organisers 1", "2")]),
    "UPDATE scoring_set SET switched_at = '2026-01-01 00:00:00' WHERE id = 1": (
        lambda session: scoring_sets.make_set(session, CONSOLE, session.get_one(Evaluation, 1)),
        [("scoring sets 1", "1")],
    ),
    'UPDATE "user" SET is_admin = true WHERE name = \'Eve\'': (
        lambda session: people.set_founder(session, CONSOLE, session.get_one(User, 2), may_found=True),
        [("account 2", "is_admin")],
    ),
    "UPDATE submission SET label = 'mine' WHERE id = 1": (
        lambda session: submissions.withdraw(session, CONSOLE, session.get_one(Submission, 1)),
        [("submission 1", "label")],
    ),
    MADE_UP_TEAM: (
        lambda session: teams.change_team(session, CONSOLE, session.get_one(Team, 9), description="of X"),
        [("team 9", "itself")],
    ),
}  # fmt: skip


def found_in_the_trail(report: Report) -> Changes:
    return [(where.partition(" (")[0], re.sub(r"event \d+", "an event", what)) for where, what in named(report)]


def test_an_event_takes_nothing_over_that_sql_changed_before_it(played: World) -> None:
    before: Changes = []
    for statement, (then, changes) in TAKEN_OVER.items():
        with played.database.write() as session, without_triggers(session):
            session.connection().exec_driver_sql(statement)
        with played.database.write() as session:
            then(session)
        before += [(where, f"{what}, {FOUND}") for where, what in changes]
        assert sorted(found_in_the_trail(verified(played))) == sorted(before), statement


def test_a_revision_that_sql_made_up_is_named_and_nothing_is_scored_by_it(played: World) -> None:
    """No trigger is in its way: it is inserted as an import does it, with the right hash, and finished."""
    rows = [("q1", "d1", 0), ("q1", "d2", 1), ("q2", "d3", 1), ("q3", "d4", 0)]
    columns = "evaluation_id, source, judgments, highest_grade, note, imported_at, imported_by_id"
    with played.database.write() as session:
        run = session.connection().exec_driver_sql
        run(
            f"INSERT INTO judgment_revision (id, number, sha256, {columns})"
            f" SELECT 99, 2, '{judgments_sha256(rows, [], [])}', {columns} FROM judgment_revision"
        )
        run(
            "INSERT INTO judgment SELECT 99, query_id, document,"
            " CASE document WHEN 'd1' THEN 0 WHEN 'd2' THEN 1 ELSE grade END FROM judgment"
        )
        run("UPDATE judgment_revision SET finished_at = imported_at WHERE id = 99")
    with played.database.write() as session:
        scoring_sets.make_set(session, CONSOLE, session.get_one(Evaluation, played.evaluation))
    played.drain()
    forged = sa.select(Scoring.state).join(ScoringSet).where(ScoringSet.revision_id == 99)
    assert set(played.all(forged)) == {State.FAILED}
    assert named(verified(played)) == [(REVISIONS, "2")]
    with played.database.write() as session:
        change_title(session)
    assert found_in_the_trail(verified(played)) == [("revisions 1", f"2, {FOUND}")]


def test_a_difference_says_what_was_there_and_who_could_have_done_it(played: World) -> None:
    with played.database.write() as session:
        session.execute(sa.text("UPDATE campaign SET title = 'Mine'"))  # no trigger has to be out of the way for it
        (found,) = verify(session).differences
        session.rollback()
    assert (found.stored, found.expected) == ('"Mine"', '"Another title"')
    assert "somebody who can write to the database. The last event about it: " in found.who
    assert "'change' by the command line or a worker" in found.who


GUARDS: dict[str, dict[str, Changes]] = {
    "sqlite": {
        "DROP TRIGGER judgment_never_goes": [("the database", "trigger judgment_never_goes")],
        "CREATE TRIGGER mine AFTER UPDATE ON score BEGIN SELECT 1; END": [("the database", "trigger mine")],
    },
    "postgresql": {
        "DROP TRIGGER judgment_never_goes ON judgment": [("the database", "trigger judgment_never_goes")],
        "ALTER TABLE judgment DISABLE TRIGGER judgment_never_goes": [("the database", "trigger judgment_never_goes")],
        "ALTER TABLE judgment ENABLE REPLICA TRIGGER judgment_never_goes": [
            ("the database", "trigger judgment_never_goes"),
        ],
        "CREATE OR REPLACE FUNCTION judgments_go_with_their_revision() RETURNS trigger LANGUAGE plpgsql"
        " AS 'BEGIN RETURN NEW; END'": [("the database", "function judgments_go_with_their_revision()")],
        "ALTER FUNCTION campaign_prior_lock() RESET search_path": [("the database", "function campaign_prior_lock()")],
        "CREATE TABLE mine () INHERITS (judgment)": [("the database", "table mine")],
        "CREATE RULE mine AS ON INSERT TO score DO INSTEAD NOTHING": [("the database", "rule mine")],
        "ALTER TABLE score ENABLE ROW LEVEL SECURITY": [("the database", "row security of score")],
    },
}  # fmt: skip


def test_triggers_that_are_missing_switched_off_or_not_ours_are_named(played: World, engine_name: str) -> None:
    for statement, expected in GUARDS[engine_name].items():
        with played.database.write() as session:
            session.connection().exec_driver_sql(statement)
            assert named(verify(session)) == expected, statement
            session.rollback()
    assert verified(played).clean


HIDDEN = (
    "CREATE SCHEMA evil",
    "CREATE FUNCTION evil.g() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.late = false; RETURN NEW; END'",
    "CREATE TRIGGER event_never_goes BEFORE INSERT ON submission FOR EACH ROW EXECUTE FUNCTION evil.g()",
    # The catalogue gives the trigger last that was written last: ours hid the other one.
    "ALTER TABLE event DISABLE TRIGGER event_never_goes",
    "ALTER TABLE event ENABLE TRIGGER event_never_goes",
)


@pytest.mark.parametrize("engine_name", ["postgresql"], indirect=True)
def test_a_trigger_that_has_the_name_of_one_of_another_table_and_a_function_elsewhere_is_named(played: World) -> None:
    with played.database.write() as session:
        for statement in HIDDEN:
            session.connection().exec_driver_sql(statement)
        (found,) = verify(session).differences
        session.rollback()
    assert (found.what, found.stored, found.expected) == ("trigger event_never_goes", HIDDEN[2], "nothing")


@pytest.mark.parametrize("engine_name", ["postgresql"], indirect=True)
def test_a_table_that_inherits_from_ours_is_named_and_its_rows_keep_nothing_from_being_looked_at(played: World) -> None:
    ours = set(Base.metadata.tables.keys())
    for heirs in (ours - {"score"}, {"score"}):  # the figure that is changed is looked for beside all the others
        with played.database.write() as session:
            run = session.connection().exec_driver_sql
            for name in sorted(heirs):
                run(f'CREATE TABLE mine_{name} () INHERITS ("{name}")')
                run(f'INSERT INTO mine_{name} SELECT * FROM ONLY "{name}"')
            run("UPDATE ONLY score SET mean = 0.99 WHERE measure = 'AP' AND subset = 'all' AND scoring_id = 1")
            report = verify(session)
            session.rollback()
        assert {("the database", f"table mine_{name}") for name in heirs} <= set(named(report))
        assert [one for one in report.differences if "can't be read" in one.stored] == []
        assert (RUNS[1], "AP over all queries") in named(report) or heirs == {"score"}
