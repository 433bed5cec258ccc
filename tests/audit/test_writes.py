"""The audit trail: who did what to what."""

import io
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.accounts.models import User
from leaderboard.audit.models import Event
from leaderboard.audit.reads import TrailFilters, trail
from leaderboard.audit.verify import verify
from leaderboard.audit.writes import present, record
from leaderboard.campaigns import writes as campaigns
from leaderboard.db import Database
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.rules import FormField
from leaderboard.formats import document_list
from leaderboard.judgments import writes as queries
from leaderboard.submissions.models import Submission
from leaderboard.teams import writes as teams
from leaderboard.teams.models import System, Team
from leaderboard.teams.rules import Role
from leaderboard.teams.writes import change_system
from tests.support.world import World, run_text


def test_an_event_says_who_did_what_to_which_row_when(world: World) -> None:
    before = present()
    with world.database.write() as session:
        record(session, world.ada, "praise", session.get_one(Team, world.team), words=["well", "done"])
        record(session, CONSOLE, "praise", session.get_one(Team, world.team))
    by_ada, by_command = world.all(sa.select(Event).where(Event.action == "praise").order_by(Event.id))
    assert (by_ada.actor_id, by_ada.subject, by_ada.subject_id) == (world.ada.user_id, "team", world.team)
    assert by_ada.facts == {"words": ["well", "done"]}
    assert before <= by_ada.at <= present()
    assert (by_command.actor_id, by_command.facts) == (None, {})


def test_what_is_undone_to_a_savepoint_has_no_event(world: World) -> None:
    with world.database.write() as session:
        team = session.get_one(Team, world.team)
        record(session, CONSOLE, "praise", team, words="before")
        outer = session.begin_nested()
        record(session, CONSOLE, "praise", team, words="undone")
        with session.begin_nested():
            teams.create_team(session, CONSOLE, "Undone", own=False)
        outer.rollback()
        with session.begin_nested():
            record(session, CONSOLE, "praise", team, words="kept")
    praised = world.all(sa.select(Event).where(Event.id > 5, Event.action.in_(("praise", "create"))).order_by(Event.id))
    assert [event.facts.get("words") for event in praised if event.action == "praise"] == ["before", "kept"]
    assert world.all(sa.select(Team.name).where(Team.name == "Undone")) == []
    with world.database.read() as session:
        assert verify(session).differences == []


def _praise(database: Database, words: str) -> None:
    with database.write() as session:
        record(session, CONSOLE, "praise", session.scalars(sa.select(Team)).one(), words=words)


def test_an_event_waits_for_the_commit_of_its_transaction_and_for_no_savepoint(world: World) -> None:
    with world.database.write() as session:
        record(session, CONSOLE, "praise", session.get_one(Team, world.team))
        made = teams.create_team(session, CONSOLE, "Others")  # within a savepoint
        made.description = "written after the event"
    praise, create = world.all(sa.select(Event).order_by(Event.id.desc()))[1::-1]
    assert (praise.action, create.action) == ("praise", "create")
    assert create.state[f"team {made.id}"]["description"] == '"written after the event"'


def test_events_of_many_at_the_same_moment_hang_on_each_other(world: World) -> None:
    before = len(world.all(sa.select(Event)))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: _praise(world.database, f"word {number}"), range(20)))
    events = world.all(sa.select(Event).order_by(Event.id))
    assert sorted(event.facts["words"] for event in events[before:]) == sorted(f"word {n}" for n in range(20))
    with world.database.read() as session:
        assert verify(session).differences == []


@pytest.mark.parametrize("engine_name", ["postgresql"])  # SQLite has one writing transaction at a time
def test_a_transaction_that_has_recorded_an_event_keeps_no_other_one_waiting(world: World) -> None:
    with world.database.write() as session:
        record(session, CONSOLE, "praise", session.scalars(sa.select(Team)).one(), words="first")
        _praise(world.database, "second")
    said = [
        event.facts["words"] for event in world.all(sa.select(Event).order_by(Event.id)) if event.facts.get("words")
    ]
    assert said == ["second", "first"]


def test_what_is_sent_with_the_values_that_stand_changes_nothing_and_has_no_event(world: World) -> None:
    def send_everything() -> None:
        """Each of these changes something where it is sent for the first time."""
        with world.organising() as (session, campaign, evaluation):
            team, ada = session.get_one(Team, world.team), session.get_one(User, world.ada.user_id)
            system = session.scalars(sa.select(System)).one()
            listed = document_list(io.BytesIO(b"d1\nd2\n"))
            campaigns.change_campaign(session, CONSOLE, campaign, description="Every year.")
            evaluations.change_evaluation(session, CONSOLE, evaluation, description="News.", daily_quota=7)
            evaluations.set_field(session, CONSOLE, evaluation, FormField(key="gpu", label="GPU hours").as_json())
            evaluations.set_rules(session, CONSOLE, evaluation, most_documents=1000)
            evaluations.set_documents(session, CONSOLE, evaluation, listed)
            queries.exclude_queries(session, CONSOLE, evaluation, ["q1"], "It is no question.")
            change_system(session, CONSOLE, system, description="Fuses two lists.")
            teams.change_team(session, CONSOLE, team, description="We live in the north.", is_listed=True)
            teams.rename_team(session, CONSOLE, team, "Southern lights")
            teams.change_role(session, CONSOLE, team, world.eve.user_id, Role.OWNER)
            people.set_admin(session, CONSOLE, ada, is_admin=True)
            people.set_address(session, CONSOLE, ada, "ada@example.com")
            people.choose_mail(session, CONSOLE, ada, [])

    world.submit()
    with world.organising() as (session, _, _):
        teams.add_member(session, CONSOLE, session.get_one(Team, world.team), session.get_one(User, world.eve.user_id))
    at_first = len(world.all(sa.select(Event)))
    send_everything()
    told = [(event.action, event.subject) for event in world.all(sa.select(Event).order_by(Event.id))]
    assert sorted(told[at_first:]) == [
        ("add field", "evaluation"), ("change", "campaign"), ("change", "evaluation"), ("change", "system"),
        ("change", "team"), ("change role", "team"), ("choose mail", "user"), ("exclude", "query"),
        ("make admin", "user"), ("make set", "scoring_set"), ("rename", "team"), ("set address", "user"),
        ("set documents", "evaluation"), ("set file rules", "evaluation"), ("switch", "scoring_set"),
    ]  # fmt: skip
    send_everything()
    assert len(world.all(sa.select(Event))) == len(told)


def test_the_trail_counts_many_rows_and_writes_whole_numbers_without_a_point(world: World) -> None:
    world.judge("q1 0 d1 1\n")
    world.judge("q1 0 d1 2\n")
    with world.organising() as (session, campaign, _):
        record(session, CONSOLE, "tell", campaign, beta=20.0, share=0.5, team=float(world.team), to=[True, 1e300])
    with world.database.read() as session:
        page = trail(session, CONSOLE, "small", present(), filters=TrailFilters(), page=None)
    revisions = [change for row in page.rows for change in row.changes if "revision" in change.what]
    assert [(change.before, change.after) for change in revisions] == [("2", "3"), ("1", "2"), ("0", "1")]
    facts = dict(page.rows[0].facts)
    assert (facts["beta"], facts["share"], facts["team"]) == ("20", "0.5", "Northern lights")


def test_the_trail_names_the_rows_whose_numbers_changed(world: World) -> None:
    """What changed is kept as canonical JSON, where every number has a point."""
    run, other = world.submit(), world.submit(run_text(1))
    with world.organising() as (session, _, _):
        moved = session.get_one(Submission, run)
        moved.system_id = session.get_one(Submission, other).system_id
        record(session, CONSOLE, "move", moved)
    with world.database.read() as session:
        page = trail(session, CONSOLE, "small", present(), filters=TrailFilters(), page=None)
    (change,) = page.rows[0].changes
    names = [f"System number {number} of Northern lights" for number in (0, 1)]
    assert [change.what, change.before, change.after] == ["system", *names]
