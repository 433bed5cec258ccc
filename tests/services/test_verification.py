"""Verification: it finds whatever was changed past this program, and names it.

What SQL can do to a database whose triggers are out of the way is tried in transactions that are rolled back: one
played campaign stands for all.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.models import Campaign, Chain, Evaluation, Event, Scoring, Submission, Team, User
from leaderboard.rules.digests import event_hash
from leaderboard.rules.standings import Designation
from leaderboard.services import campaigns, evaluations, people, queries, scoring_sets, submissions, teams
from leaderboard.services.events import record
from leaderboard.services.guarded import GUARDED
from leaderboard.services.judgments import judgments_sha256
from leaderboard.services.verification import Report, one_moment, record_verification, verify
from tests.support.world import World, new_account, run_text

Changes = list[tuple[str, str]]
RUN = "run 1 (System number 0 in small/2026)"


@pytest.fixture
def played(world: World) -> World:
    """Two scored runs, one of them withdrawn; a rejected and a failed one; something of all that organisers change."""
    world.submit(designation=Designation.PRIMARY)
    other = world.submit(run_text(2))
    world.drain()
    with world.organising() as (session, campaign, evaluation):
        ben = people.create_user(session, CONSOLE, new_account("Ben"))
        campaigns.add_organiser(session, CONSOLE, campaign, ben)
        campaigns.change_campaign(session, CONSOLE, campaign, title="Another title")
        queries.exclude_query(session, CONSOLE, evaluation, "q3", "it was a duplicate")
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, other))
        teams.create_team(session, CONSOLE, "Others")
    world.change_evaluation(closes_at=dt.datetime(2031, 1, 1, tzinfo=dt.UTC), title="Another year")
    world.drain()
    world.submit("no run at all\n")
    failed = world.submit(run_text(3))
    with world.store.run_file(world.scoring(failed).submission.sha256) as path:
        path.write_bytes(b"damaged")
    world.drain()
    return world


def verified(world: World, noted: tuple[int, str] | None = None) -> Report:
    with world.database.read() as session:
        one_moment(session)
        return verify(session, noted=noted)


def named(report: Report) -> Changes:
    return [(one.where, one.what) for one in report.differences]


@contextmanager
def without_triggers(session: Session) -> Iterator[None]:
    """As an owner of the tables may: no trigger of ours runs, and each is there again afterwards."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(sa.text("SET LOCAL session_replication_role = replica"))
        yield
        session.execute(sa.text("SET LOCAL session_replication_role = origin"))
        return
    session.execute(sa.text("PRAGMA defer_foreign_keys = ON"))
    triggers = session.execute(sa.text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")).all()
    for name, _ in triggers:
        session.connection().exec_driver_sql(f"DROP TRIGGER {name}")
    yield
    for _, text in triggers:
        session.connection().exec_driver_sql(text)


def found_after(world: World, *statements: str | Callable[[Session], object]) -> Changes:
    """What is named once the statements have run without a trigger; then all is taken back."""
    with world.database.write() as session:
        with without_triggers(session):
            for statement in statements:
                if callable(statement):
                    statement(session)
                else:
                    assert session.connection().exec_driver_sql(statement).rowcount, f"nothing was changed: {statement}"
        found = named(verify(session))
        session.rollback()
    return found


QUERIES, SETS, REVISIONS = "queries of small/2026", "scoring sets of small/2026", "revisions of small/2026"
REJECTED, FAILED = (f"run {number} (System number {number - 1} in small/2026)" for number in (3, 4))
FIGURES = "what its figures were computed with"
MADE_UP_TEAM = (
    "INSERT INTO team (id, slug, name, name_key, description, created_at)"
    " SELECT 9, 'x', 'X', 'x', '', created_at FROM team WHERE id = 1"
)
ROWS: dict[str, Changes] = {
    "UPDATE campaign SET title = 'Mine'": [("campaign 1 (small)", "title")],
    "UPDATE campaign SET beta = 80": [("campaign 1 (small)", "beta")],
    "UPDATE campaign SET run_choice = 'best'": [("campaign 1 (small)", "run_choice")],
    "UPDATE campaign SET description = 'long and longer' || title": [("campaign 1 (small)", "description")],
    "UPDATE evaluation SET closes_at = '2030-01-01 00:00:00'": [("evaluation 1 (small/2026)", "closes_at")],
    "UPDATE evaluation SET relevance_level = 2": [("evaluation 1 (small/2026)", "relevance_level")],
    "UPDATE evaluation SET judgments_published = true": [("evaluation 1 (small/2026)", "judgments_published")],
    "UPDATE query SET text = 'another' WHERE external_id = 'q2'": [(QUERIES, "q2")],
    "UPDATE query SET split = 'hidden' WHERE position = 0": [(QUERIES, "q1")],
    "UPDATE query SET excluded_at = NULL": [(QUERIES, "q3")],
    "UPDATE query SET external_id = 'q9' WHERE external_id = 'q1'": [
        (QUERIES, "q9"), (REVISIONS, "judgments of revision 1"),
    ],
    "UPDATE judgment SET grade = 1 WHERE document = 'd2'": [(REVISIONS, "judgments of revision 1")],
    "DELETE FROM judgment WHERE document = 'd2'": [(REVISIONS, "judgments of revision 1")],
    "INSERT INTO judgment VALUES (1, 1, 'd7', 1)": [(REVISIONS, "judgments of revision 1")],
    "INSERT INTO known_document VALUES (1, 1, 'd7')": [(REVISIONS, "judgments of revision 1")],
    "UPDATE judgment_revision SET sha256 = 'x'": [(REVISIONS, "1"), (REVISIONS, "judgments of revision 1")],
    "UPDATE judgment_revision SET note = 'x'": [(REVISIONS, "1")],
    "UPDATE scoring_set SET state = 'superseded' WHERE state = 'current'": [(SETS, "2")],
    "UPDATE scoring_set SET metric_version = '0' WHERE id = 1": [(SETS, "1")],
    "UPDATE team SET name = 'Mine' WHERE id = 1": [("team 1 (Mine)", "name")],
    "UPDATE system SET kind = 'baseline' WHERE id = 1": [("system 1 (System number 0)", "kind")],
    "DELETE FROM membership": [("members 1", "itself")],
    "INSERT INTO membership VALUES (1, 2, 'owner', '2026-01-01 00:00:00')": [("members of Northern lights", "2")],
    "UPDATE membership SET role = 'member'": [("members of Northern lights", "1")],
    "INSERT INTO campaign_organiser VALUES (1, 2)": [("organisers of small", "2")],
    'UPDATE "user" SET is_admin = true WHERE name = \'Eve\'': [("account 2 (Eve)", "is_admin")],
    "UPDATE submission SET withdrawn_at = received_at WHERE id = 1": [(RUN, "withdrawn_at")],
    "UPDATE submission SET withdrawn_at = NULL WHERE id = 2": [
        ("run 2 (System number 1 in small/2026)", "withdrawn_at"),
    ],
    "UPDATE submission SET late = true WHERE id = 1": [(RUN, "late")],
    "UPDATE submission SET label = 'mine' WHERE id = 1": [(RUN, "label")],
    "UPDATE submission SET sha256 = 'x' WHERE id = 1": [(RUN, "sha256"), (RUN, FIGURES), (RUN, FIGURES)],
    "UPDATE participation SET primary_submission_id = 2": [
        ("participation 1/1 (small/2026)", "primary_submission_id"),
    ],
    "UPDATE score SET mean = 0.99 WHERE measure = 'AP' AND subset = 'all' AND scoring_id = 1": [
        (RUN, "AP over all queries"),
    ],
    "UPDATE score SET mean = NULL WHERE measure = 'P@1' AND subset = 'shown' AND scoring_id = 1": [
        (RUN, "P@1 over shown queries"),
    ],
    "UPDATE score SET count = 17 WHERE measure = 'AP' AND subset = 'all' AND scoring_id = 1": [
        (RUN, "AP over all queries, values or count"),
    ],
    "DELETE FROM score WHERE measure = 'AP' AND subset = 'all' AND scoring_id = 1": [(RUN, "AP over all queries")],
    "UPDATE scoring SET digest = 'x' WHERE id = 1": [(RUN, "digest")],
    "UPDATE scoring SET beta = 80 WHERE id = 1": [(RUN, FIGURES)],
    "UPDATE scoring SET missing = '[]' WHERE id = 1": [(RUN, FIGURES)],
    "UPDATE scoring SET facts = '{}' WHERE id = 1": [(RUN, FIGURES)],
    "UPDATE scoring SET scoring_set_id = 7 WHERE id = 1": [(RUN, FIGURES)],
    "UPDATE scoring SET state = 'rejected' WHERE id = 1": [(RUN, "scoring 1")],
    "UPDATE scoring SET state = 'failed' WHERE id = 5": [(REJECTED, "scoring 5")],
    "UPDATE scoring SET state = 'queued' WHERE id = 5": [(REJECTED, "scoring 5")],
    "UPDATE submission SET problems = '[]' WHERE id = 3": [(REJECTED, "problems")],
    "UPDATE submission SET problem_count = 0 WHERE id = 3": [(REJECTED, "problem_count")],
    "UPDATE scoring SET failure = 'mine' WHERE id = 6": [(FAILED, "failure of scoring 6")],
    "UPDATE scoring SET damaged = NOT damaged WHERE id = 6": [(FAILED, "damaged of scoring 6")],
    "UPDATE scoring SET state = 'rejected' WHERE id = 6": [(FAILED, "scoring 6")],
    "UPDATE chain SET events = events + 1": [("the trail", "its end")],
    "DELETE FROM chain": [("the trail", "its end")],
    "UPDATE scoring_set SET settings = '{}' WHERE id = 1": [(SETS, "1"), ("the scoring sets", "itself")],
}  # fmt: skip


def test_whatever_this_program_did_is_found_in_order(played: World) -> None:
    report = verified(played)
    assert named(report) == []
    assert (report.clean, report.runs, report.revisions) == (True, 4, 1)
    events = played.all(sa.select(Event).order_by(Event.id))
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    assert (report.events, report.head) == (len(events), events[-1].hash)


def test_a_row_that_sql_changed_is_named_with_what_differs(played: World, engine_name: str) -> None:
    setting = {"sqlite": "json_set(settings, '$.beta', 80)", "postgresql": "jsonb_set(settings, '{beta}', '80')"}
    flipped = {"sqlite": "zeroblob(24)", "postgresql": "decode(repeat('00', 24), 'hex')"}[engine_name]
    cases = ROWS | {
        f"UPDATE scoring_set SET settings = {setting[engine_name]} WHERE id = 2": [
            (SETS, "2"), (SETS, "settings of set 2"),
        ],
        f"UPDATE score SET \"values\" = {flipped} WHERE measure = 'AP' AND subset = 'all' AND scoring_id = 1": [
            (RUN, "AP over all queries, values or count"),
        ],
    }  # fmt: skip
    wrong = {statement: found for statement in cases if (found := found_after(played, statement)) != cases[statement]}
    assert wrong == {}


def test_rows_that_sql_took_away_or_made_up_are_named(played: World) -> None:
    assert found_after(played, "DELETE FROM score WHERE scoring_id = 1", "DELETE FROM scoring WHERE id = 1") == [
        (RUN, "scoring 1")
    ]
    assert found_after(played, MADE_UP_TEAM) == [("team 9 (X)", "itself")]
    assert found_after(played, "DELETE FROM membership WHERE team_id = 2 OR team_id = 1") == [("members 1", "itself")]
    assert found_after(played, "UPDATE participation SET team_id = 2") == [
        ("participation 2/1 (small/2026)", "itself"), ("participation 1/1", "itself"),
    ]  # fmt: skip
    columns = ", ".join(f'"{column.name}"' for column in Scoring.__table__.columns)
    another = columns.replace('"id"', "99").replace('"scoring_set_id"', "7")
    copied = f"INSERT INTO scoring ({columns}) SELECT {another}"
    assert found_after(played, f"{copied} FROM scoring WHERE id = 1") == [(RUN, "scoring 99")]


def test_what_was_done_to_the_trail_is_named(played: World) -> None:
    count = len(played.all(sa.select(Event)))
    assert found_after(played, "UPDATE event SET action = 'nothing' WHERE id = 3") == [("the trail", "event 3")]
    assert found_after(played, "UPDATE event SET actor_id = 2 WHERE id = 3") == [("the trail", "event 3")]
    assert found_after(played, "UPDATE event SET at = '2026-01-01 00:00:00' WHERE id = 3") == [("the trail", "event 3")]
    assert ("the trail", "event 3") in found_after(played, "DELETE FROM event WHERE id = 3")
    assert ("the trail", "its end") in found_after(played, f"DELETE FROM event WHERE id = {count}")
    assert ("the trail", "event 3") in found_after(played, "UPDATE event SET state = '{}' WHERE id = 3")
    forgotten = found_after(played, "UPDATE event SET facts = '{}' WHERE action = 'score'")
    assert (RUN, "scoring 1") in forgotten
    nonsense = found_after(played, "UPDATE event SET state = '[]' WHERE id = 3")
    assert nonsense[0] == ("the trail", "event 3")
    moved = "UPDATE event SET id = 1000 WHERE id = 3"
    assert ("the trail", "event 3") in found_after(played, moved)


def test_an_event_that_is_written_anew_breaks_from_the_next_one(played: World) -> None:
    def rewrite(session: Session) -> None:
        event = session.get_one(Event, 3)
        said = (event.at, 2, event.action, event.subject, event.subject_id, event.facts, event.state, event.changed)
        values = {"actor_id": 2, "hash": event_hash(event.previous_hash, 3, *said)}
        session.execute(sa.update(Event).where(Event.id == 3).values(values))
        session.expire_all()

    assert found_after(played, rewrite) == [("the trail", "event 4")]


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


FOUND = "as an event found it"


def change_title(session: Session) -> None:
    evaluations.change_evaluation(session, CONSOLE, session.get_one(Evaluation, 1), title="New title")


# What SQL changed -> what this program does next about the same thing, what is named.
TAKEN_OVER: dict[str, tuple[Callable[[Session], object], Changes]] = {
    "UPDATE evaluation SET documents = 900, grace_seconds = 999": (
        change_title,
        [
            ("evaluation 1 (small/2026)", "documents, as an event found it"),
            ("evaluation 1 (small/2026)", "grace_seconds, as an event found it"),
        ],
    ),
    "UPDATE evaluation SET title = 'Mine'": (
        change_title,
        [("evaluation 1 (small/2026)", "title, as an event found it")],
    ),
    "UPDATE query SET split = 'hidden' WHERE position = 0": (
        change_title, [(QUERIES, "q1, as an event found it")],
    ),
    "UPDATE campaign SET run_choice = 'best'": (
        lambda session: campaigns.change_campaign(session, CONSOLE, session.get_one(Campaign, 1), title="X"),
        [("campaign 1 (small)", "run_choice, as an event found it")],
    ),
    "INSERT INTO campaign_organiser VALUES (1, 2)": (
        lambda session: campaigns.change_campaign(session, CONSOLE, session.get_one(Campaign, 1), title="X"),
        [("organisers of small", "2, as an event found it")],
    ),
    "UPDATE scoring_set SET switched_at = '2026-01-01 00:00:00' WHERE id = 1": (
        lambda session: scoring_sets.make_set(session, CONSOLE, session.get_one(Evaluation, 1)),
        [(SETS, "1, as an event found it")],
    ),
    'UPDATE "user" SET is_admin = true WHERE name = \'Eve\'': (
        lambda session: people.set_admin(session, CONSOLE, session.get_one(User, 2), is_admin=True),
        [("account 2 (Eve)", "is_admin, as an event found it")],
    ),
    "UPDATE submission SET label = 'mine' WHERE id = 1": (
        lambda session: submissions.withdraw(session, CONSOLE, session.get_one(Submission, 1)),
        [(RUN, "label, as an event found it")],
    ),
    MADE_UP_TEAM: (
        lambda session: teams.change_team(session, CONSOLE, session.get_one(Team, 9), "of X"),
        [("team 9 (X)", f"itself, {FOUND}")],
    ),
}  # fmt: skip


def found_in_the_trail(report: Report) -> Changes:
    return [(where, re.sub(r"event \d+", "an event", what)) for where, what in named(report)]


def test_an_event_takes_nothing_over_that_sql_changed_before_it(played: World) -> None:
    before: Changes = []
    for statement, (then, expected) in TAKEN_OVER.items():
        with played.database.write() as session, without_triggers(session):
            session.connection().exec_driver_sql(statement)
        with played.database.write() as session:
            then(session)
        found = found_in_the_trail(verified(played))
        assert sorted(found) == sorted(before + expected), statement
        before = found


def test_a_revision_that_sql_made_up_is_named_though_everything_was_scored_by_it(played: World) -> None:
    """No trigger is in its way: it is inserted as an import does it, with the right hash, and finished."""
    rows = [("q1", "d1", 0), ("q1", "d2", 1), ("q2", "d3", 1), ("q3", "d4", 0)]
    columns = "evaluation_id, judgments, highest_grade, note, imported_at, imported_by_id"
    with played.database.write() as session:
        run = session.connection().exec_driver_sql
        run(
            f"INSERT INTO judgment_revision (id, number, sha256, {columns})"
            f" SELECT 99, 2, '{judgments_sha256(rows, [])}', {columns} FROM judgment_revision"
        )
        run(
            "INSERT INTO judgment SELECT 99, query_id, document,"
            " CASE document WHEN 'd1' THEN 0 WHEN 'd2' THEN 1 ELSE grade END FROM judgment"
        )
        run("UPDATE judgment_revision SET finished_at = imported_at WHERE id = 99")
    with played.database.write() as session:
        scoring_sets.make_set(session, CONSOLE, session.get_one(Evaluation, played.evaluation))
    played.drain()
    assert named(verified(played)) == [(REVISIONS, "2")]
    with played.database.write() as session:
        change_title(session)
    assert found_in_the_trail(verified(played)) == [(REVISIONS, f"2, {FOUND}")]


def test_runs_and_queries_that_sql_made_up_are_named_though_events_tell_of_them_later(played: World) -> None:
    columns = [f'"{column.name}"' for column in Submission.__table__.columns]
    another = ", ".join({'"id"': "99", '"designation"': "'contrastive'"}.get(name, name) for name in columns)
    with played.database.write() as session:
        run = session.connection().exec_driver_sql
        run(f"INSERT INTO submission ({', '.join(columns)}) SELECT {another} FROM submission WHERE id = 1")
        run(
            "INSERT INTO query (id, evaluation_id, external_id, text, tags, position, split, excluded_because)"
            " SELECT 99, evaluation_id, 'q9', text, tags, 9, split, '' FROM query WHERE external_id = 'q1'"
        )
    with played.database.write() as session:
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, 99))
        change_title(session)
    assert found_in_the_trail(verified(played)) == [
        (QUERIES, f"q9, {FOUND}"),
        ("run 99 (System number 0 in small/2026)", f"itself, {FOUND}"),
    ]


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
        "CREATE OR REPLACE FUNCTION never_changes() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'": [
            ("the database", "trigger never_changes()"),
        ],
        "ALTER FUNCTION campaign_prior_lock() RESET search_path": [("the database", "trigger campaign_prior_lock()")],
        "CREATE RULE mine AS ON INSERT TO score DO INSTEAD NOTHING": [("the database", "trigger rule mine")],
    },
}  # fmt: skip


def test_triggers_that_are_missing_switched_off_or_not_ours_are_named(played: World, engine_name: str) -> None:
    for statement, expected in GUARDS[engine_name].items():
        with played.database.write() as session:
            session.connection().exec_driver_sql(statement)
            assert named(verify(session)) == expected, statement
            session.rollback()
    assert verified(played).clean


def test_a_difference_says_what_was_there_and_who_could_have_done_it(played: World) -> None:
    with played.database.write() as session:
        session.execute(sa.text("UPDATE campaign SET title = 'Mine'"))  # no trigger has to be out of the way for it
        (found,) = verify(session).differences
        session.rollback()
    assert (found.stored, found.expected) == ('"Mine"', '"Another title"')
    assert found.who.startswith(
        "No event accounts for it: it was done outside this program, by somebody who can write to the database."
        " The last event about it: "
    )
    assert "'change' by the command line or a worker" in found.who


DEEP = "[" * 3000 + "]" * 3000
GREAT = '{"a": 1' + "0" * 400 + "}"
MADE_UP_EVENT = (
    "INSERT INTO event SELECT events + 1, '2026-01-01 00:00:00', 1, 'x', 'chain', 1, '{}', '{{}}', '{{}}', head, 'x'"
    " FROM chain"
)
NEVER_ENDING = "UPDATE evaluation SET closes_at = 'infinity'"
NO_TEXT = "CAST(x'ff41' AS TEXT)"
# What SQL wrote -> where it is named.
UNREADABLE = {
    "sqlite": {
        MADE_UP_EVENT.format(DEEP): "the trail",
        MADE_UP_EVENT.format(GREAT): "the trail",
        f"UPDATE campaign SET measures = '{DEEP}'": "the rows of campaign",
        f"UPDATE event SET action = {NO_TEXT} WHERE id = 2": "the trail",
        f"UPDATE team SET name = {NO_TEXT} WHERE id = 2": "the rows of team",
        NEVER_ENDING: "the rows of evaluation",
    },
    "postgresql": {
        MADE_UP_EVENT.format(DEEP): "the trail",
        MADE_UP_EVENT.format(GREAT): "the trail",
        f"UPDATE campaign SET measures = '{DEEP}'": "the rows of campaign",
        NEVER_ENDING: "the rows of evaluation",
        "DROP TABLE known_document": "the judgments",
    },
}


def test_what_cannot_be_read_is_named_and_the_rest_is_looked_at_all_the_same(played: World, engine_name: str) -> None:
    other = ("run 2 (System number 1 in small/2026)", "digest")
    for statement, where in UNREADABLE[engine_name].items():
        found = found_after(played, "UPDATE scoring SET digest = 'x' WHERE submission_id = 2", statement)
        assert (where, "itself") in found, statement
        assert where == "the trail" or other in found, statement


def test_the_outcome_is_in_the_trail(played: World) -> None:
    report = verified(played)
    with played.database.write() as session:
        record_verification(session, CONSOLE, report, figures=False)
    event = played.all(sa.select(Event).order_by(Event.id))[-1]
    assert (event.action, event.subject, event.facts["clean"], event.facts["runs"]) == ("verify", "chain", True, 4)
    assert verified(played).clean


def test_a_column_that_is_left_out_of_the_trail_is_a_column_of_the_table() -> None:
    for guarded in GUARDED.values():
        columns = set(guarded.table.__table__.columns.keys())
        assert {*guarded.left_out, *guarded.by, *([guarded.row] if guarded.row else [])} <= columns
