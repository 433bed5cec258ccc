"""Verification compares guarded rows with what the trail says of them, and judgments with their hash."""

import re
from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.models import Campaign, Evaluation, Scoring, ScoringSet, Submission, Team, User
from leaderboard.rules.revision_hash import judgments_sha256
from leaderboard.rules.states import State
from leaderboard.services import campaigns, evaluations, people, scoring_sets, submissions, teams
from leaderboard.services.guarded import GUARDED
from leaderboard.services.verification import Report, verify
from tests.support.verification import Changes, found_after, named, stands, verified, without_triggers
from tests.support.world import World

RUN = "run 1 (System number 0 in small/2026)"
COMPUTED_WITH = "what its figures were computed with"
QUERIES, SETS, REVISIONS = "queries of small/2026", "scoring sets of small/2026", "revisions of small/2026"
MADE_UP_TEAM = (
    "INSERT INTO team (id, slug, name, description, is_listed, created_at)"
    " SELECT 9, 'x', 'X', '', is_listed, created_at FROM team WHERE id = 1"
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
    "INSERT INTO subtopic_judgment VALUES (1, 1, '1', 'd1', 1)": [(REVISIONS, "judgments of revision 1")],
    "UPDATE judgment_revision SET sha256 = 'x'": [(REVISIONS, "1"), (REVISIONS, "judgments of revision 1")],
    "UPDATE judgment_revision SET note = 'x'": [(REVISIONS, "1")],
    "UPDATE judgment_revision SET source = 'x'": [(REVISIONS, "1")],
    "UPDATE scoring_set SET state = 'superseded' WHERE state = 'current'": [(SETS, "2")],
    "UPDATE scoring_set SET metric_version = '0' WHERE id = 1": [(SETS, "1")],
    "UPDATE team SET name = 'Mine' WHERE id = 1": [("team 1 (Mine)", "name")],
    "UPDATE system SET kind = 'baseline' WHERE id = 1": [("system 1 (System number 0)", "kind")],
    "DELETE FROM membership": [("members 1", "itself")],
    "INSERT INTO membership VALUES (1, 2, 'owner', '2026-01-01 00:00:00')": [("members of Northern lights", "2")],
    "UPDATE membership SET role = 'member'": [("members of Northern lights", "1")],
    "INSERT INTO campaign_organiser VALUES (1, 2)": [("organisers of small", "2")],
    'UPDATE "user" SET is_admin = true WHERE name = \'Eve\'': [("account 2 (Eve)", "is_admin")],
    "UPDATE submission SET withdrawn_at = received_at WHERE id = 1": [(RUN, "withdrawn_at"), *stands(0, 2)],
    "UPDATE submission SET withdrawn_at = NULL WHERE id = 2": [
        ("run 2 (System number 1 in small/2026)", "withdrawn_at"), *stands(1, 2),
    ],
    "UPDATE submission SET late = true WHERE id = 1": [
        (RUN, "late"), *stands(0, 1), *stands(0, 2), *stands(0, 2, run="late run"),
    ],
    "UPDATE submission SET label = 'mine' WHERE id = 1": [(RUN, "label")],
    "UPDATE submission SET sha256 = 'x' WHERE id = 1": [(RUN, "sha256"), (RUN, COMPUTED_WITH), (RUN, COMPUTED_WITH)],
    "UPDATE participation SET primary_submission_id = 2": [
        ("participation 1/1 (small/2026)", "primary_submission_id"),
    ],
    "UPDATE scoring_set SET settings = '{}' WHERE id = 1": [(SETS, "1"), ("the scoring sets", "itself")],
}  # fmt: skip


def test_a_row_that_sql_changed_is_named_with_what_differs(played: World, engine_name: str) -> None:
    setting = {"sqlite": "json_set(settings, '$.beta', 80)", "postgresql": "jsonb_set(settings, '{beta}', '80')"}
    cases = ROWS | {
        f"UPDATE scoring_set SET settings = {setting[engine_name]} WHERE id = 2": [
            (SETS, "2"), (SETS, "settings of set 2"),
        ],
    }  # fmt: skip
    wrong = {statement: found for statement in cases if (found := found_after(played, statement)) != cases[statement]}
    assert wrong == {}


def test_rows_that_sql_took_away_or_made_up_are_named(played: World) -> None:
    assert found_after(played, MADE_UP_TEAM) == [("team 9 (X)", "itself")]
    assert found_after(played, "DELETE FROM membership WHERE team_id = 2 OR team_id = 1") == [("members 1", "itself")]
    assert found_after(played, "UPDATE participation SET team_id = 2") == [
        ("participation 2/1 (small/2026)", "itself"), ("participation 1/1", "itself"),
    ]  # fmt: skip


FOUND = "as an event found it"


def change_title(session: Session) -> None:
    evaluation = session.get_one(Evaluation, 1)
    evaluations.change_evaluation(session, CONSOLE, evaluation, title=f"{evaluation.title}!")


def change_title_of_campaign(session: Session) -> None:
    campaign = session.get_one(Campaign, 1)
    campaigns.change_campaign(session, CONSOLE, campaign, title=f"{campaign.title}!")


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
        change_title_of_campaign,
        [("campaign 1 (small)", "run_choice, as an event found it")],
    ),
    "INSERT INTO campaign_organiser VALUES (1, 2)": (
        change_title_of_campaign,
        [("organisers of small", "2, as an event found it")],
    ),
    "UPDATE scoring_set SET switched_at = '2026-01-01 00:00:00' WHERE id = 1": (
        lambda session: scoring_sets.make_set(session, CONSOLE, session.get_one(Evaluation, 1)),
        [(SETS, "1, as an event found it")],
    ),
    'UPDATE "user" SET is_admin = true WHERE name = \'Eve\'': (
        lambda session: people.set_founder(session, CONSOLE, session.get_one(User, 2), may_found=True),
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
    assert found_in_the_trail(verified(played)) == [(REVISIONS, f"2, {FOUND}")]


def test_runs_and_queries_that_sql_made_up_are_named_though_events_tell_of_them_later(played: World) -> None:
    columns = [f'"{column.name}"' for column in Submission.__table__.columns]
    another = ", ".join({'"id"': "99", '"designation"': "'contrastive'"}.get(name, name) for name in columns)
    with played.database.write() as session:
        run = session.connection().exec_driver_sql
        run(f"INSERT INTO submission ({', '.join(columns)}) SELECT {another} FROM submission WHERE id = 1")
        run(
            "INSERT INTO query"
            " (id, evaluation_id, external_id, text, description, tags, position, split, excluded_because)"
            " SELECT 99, evaluation_id, 'q9', text, description, tags, 9, split, '' FROM query WHERE external_id = 'q1'"
        )
    with played.database.write() as session:
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, 99))
        change_title(session)
    assert found_in_the_trail(verified(played)) == [
        (QUERIES, f"q9, {FOUND}"),
        ("run 99 (System number 0 in small/2026)", f"itself, {FOUND}"),
    ]


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


def test_a_column_that_is_left_out_of_the_trail_is_a_column_of_the_table() -> None:
    for guarded in GUARDED.values():
        columns = set(guarded.table.__table__.columns.keys())
        assert {*guarded.left_out, *guarded.by, *([guarded.row] if guarded.row else [])} <= columns
