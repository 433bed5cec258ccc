"""The audit trail: who did what to what."""

import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.models import Event, System, Team
from leaderboard.rules.standings import SystemKind
from leaderboard.services.events import present, record
from tests.support.world import World


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


def test_a_row_that_was_just_made_is_named_by_its_id(world: World) -> None:
    with world.database.write() as session:
        made = System(
            team_id=world.team, slug="s", name="S", name_key="s", kind=SystemKind.MANUAL, created_at=present()
        )
        session.add(made)
        record(session, world.ada, "praise", made)
    (event,) = world.all(sa.select(Event).where(Event.action == "praise"))
    assert [event.subject_id] == world.all(sa.select(System.id))
