"""Adding and locking rows when others do the same."""

import datetime as dt

import pytest
import sqlalchemy as sa

from leaderboard.audit.writes import present
from leaderboard.db import add_or_refuse, insert_unless_there, locked
from leaderboard.errors import Conflict, NotFound
from leaderboard.submissions.models import Participation
from leaderboard.teams.models import Team
from tests.support.world import World

DAY = dt.date(2026, 11, 20)


def test_a_row_whose_key_is_taken_is_refused_and_the_transaction_goes_on(world: World) -> None:
    with world.database.write() as session:
        taken = session.get_one(Team, world.team).slug
        again = Team(slug=taken, name="Again", created_at=present())
        with pytest.raises(Conflict, match="taken"):
            add_or_refuse(session, again, Conflict("taken"))
        add_or_refuse(session, Team(slug="free", name="Free", created_at=present()), Conflict("taken"))
    assert world.all(sa.select(Team.slug).order_by(Team.id)) == [taken, "free"]


def test_what_is_there_is_kept_when_it_is_inserted_again(world: World) -> None:
    key = {"team_id": world.team, "evaluation_id": world.evaluation}
    with world.database.write() as session:
        insert_unless_there(session, Participation, **key, day=DAY, used_today=1, rejected_today=0, used=1)
        insert_unless_there(session, Participation, **key, day=DAY, used_today=9, rejected_today=0, used=9)
    assert world.all(sa.select(Participation.used)) == [1]


def test_a_row_that_is_gone_can_not_be_locked(world: World) -> None:
    with world.database.write() as session, pytest.raises(NotFound):
        locked(session, Team, world.team + 1)
