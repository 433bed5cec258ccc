"""Verification compares every event with the one before it."""

import datetime as dt
import functools
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.models import Chain, Event, Score
from leaderboard.rules.digests import event_hash
from leaderboard.services.events import record
from leaderboard.services.verification import record_verification, verify
from tests.support.verification import found_after, named, verified, without_triggers
from tests.support.world import World

RUN = "run 1 (System number 0 in small/2026)"


def test_whatever_this_program_did_is_found_in_order(played: World) -> None:
    report = verified(played)
    assert named(report) == []
    assert (report.clean, report.runs, report.revisions) == (True, 4, 1)
    events = played.all(sa.select(Event).order_by(Event.id))
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    assert (report.events, report.head) == (len(events), events[-1].hash)


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
    assert found_after(played, "UPDATE chain SET events = events + 1") == [("the trail", "its end")]
    assert found_after(played, "DELETE FROM chain") == [("the trail", "its end")]


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
        MADE_UP_EVENT.format(DATE, f"'{DEEP}'"): ("the trail", LAST),
        MADE_UP_EVENT.format(DATE, f"'{GREAT}'"): ("the trail", LAST),
        MADE_UP_EVENT.format(DATE, "'no JSON'"): ("the trail", LAST),
        MADE_UP_EVENT.format(DATE, NO_TEXT): ("the trail", LAST),
        MADE_UP_EVENT.format("'2026-02-30 21:00:00.000000'", "'{}'"): ("the trail", LAST),
        f"UPDATE campaign SET measures = '{DEEP}'": ("the rows of campaign", "itself"),
        f"UPDATE event SET action = {NO_TEXT} WHERE id = 2": ("the trail", "event 2"),
        f"UPDATE \"user\" SET name = {NO_TEXT} WHERE id = 2": ("the names of accounts", "itself"),
        f"UPDATE team SET name = {NO_TEXT} WHERE id = 2": ("the rows of team", "itself"),
        "UPDATE evaluation SET closes_at = '2031-01-01 or so'": ("the rows of evaluation", "itself"),
    },
    "postgresql": {
        MADE_UP_EVENT.format(DATE, f"'{DEEP}'"): ("the trail", LAST),
        MADE_UP_EVENT.format(DATE, f"'{GREAT}'"): ("the trail", LAST),
        f"UPDATE campaign SET measures = '{DEEP}'": ("the rows of campaign", "itself"),
        "DROP TABLE known_document": ("the judgments", "itself"),
    },
}  # fmt: skip


def check_text(session: Session, *, on: bool) -> None:
    """Whether SQLite checks what it is given, such as that a date is one; any client may say that it should not."""
    if session.get_bind().dialect.name == "sqlite":
        session.connection().exec_driver_sql(f"PRAGMA ignore_check_constraints = {not on}")


def test_what_cannot_be_read_is_named_and_the_rest_is_looked_at_all_the_same(played: World, engine_name: str) -> None:
    run = "run 2 (System number 1 in small/2026)"
    figure = "UPDATE score SET mean = 0.999 WHERE measure = 'AP' AND subset = 'all' AND scoring_id = 2"
    row = "UPDATE submission SET label = 'mine' WHERE id = 2"
    last = f"event {len(played.all(sa.select(Event))) + 1}"
    unchecked, checked = (functools.partial(check_text, on=on) for on in (False, True))
    for statement, (where, what) in UNREADABLE[engine_name].items():
        found = found_after(played, figure, row, unchecked, statement, checked)
        expected = {(where, last if what == LAST else what), (run, "AP over all queries"), (run, "label")}
        assert expected <= set(found), statement[:80]


# The JSON of an event that this program would not write: its facts as a score, its state, what was otherwise before.
ODD: list[tuple[Any, Any, Any]] = [
    ([], {}, {}),
    ({}, [], {}),
    ({}, {}, []),
    ({}, {"campaign 1": 5}, {}),
    ({}, {"campaign 1": {"title": []}}, {}),
    ({}, {"campaign 1": {"rows": [], "digest": ""}}, {"campaign 1": {"gone": 1}}),
    ({}, {"queries 1": {"title": "x"}}, {}),
    ({}, {"queries 1": {"rows": [[]], "digest": ""}}, {}),
    ({}, {"queries 1": None}, {}),
    ({}, {"nothing of ours": {}}, {}),
    ({"scoring": [1], "digest": "", "figures": {}}, {}, {}),
    ({"scoring": 2**80, "digest": "", "figures": {}}, {}, {}),
    ({"scoring": 1, "digest": {}, "figures": {}}, {}, {}),
    ({"scoring": 1, "digest": "", "figures": []}, {}, {}),
    ({"scoring": 1, "digest": "", "figures": {"AP all": 5}}, {}, {}),
    ({"scoring": 1, "digest": "", "figures": {"AP all": ["\n", None]}}, {}, {}),
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
        run = "run 2 (System number 1 in small/2026)"
        assert found == [
            ("the trail", f"event {number}"),
            (run, "AP over all queries, values or count"),
            (run, "AP over shown queries, values or count"),
        ], (facts, state, changed)


def test_the_outcome_is_in_the_trail(played: World) -> None:
    report = verified(played)
    with played.database.write() as session:
        record_verification(session, CONSOLE, report, figures=False)
    event = played.all(sa.select(Event).order_by(Event.id))[-1]
    assert (event.action, event.subject, event.facts["clean"], event.facts["runs"]) == ("verify", "chain", True, 4)
    assert verified(played).clean
