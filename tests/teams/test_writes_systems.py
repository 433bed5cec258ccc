"""Systems: their names, and who may make and change them."""

import pytest
import sqlalchemy as sa

from leaderboard.errors import Conflict, InvalidFields, NotAllowed
from leaderboard.evaluations import writes as removing
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams import writes as systems
from leaderboard.teams.models import System, Team
from leaderboard.teams.writes import NewSystem
from tests.support.refused import refused
from tests.support.verification import named, verified
from tests.support.world import World


def _team(session: sa.orm.Session, world: World) -> Team:
    return session.get_one(Team, world.team)


def test_a_team_has_one_system_of_a_name(world: World) -> None:
    with world.database.write() as session:
        first = systems.create_system(session, world.ada, _team(session, world), NewSystem("Dense One"))
        second = systems.create_system(session, world.ada, _team(session, world), NewSystem("Dense-One"))
        assert (first.slug, second.slug) == ("dense-one", "dense-one-2")
        for actor, new in ((world.ada, NewSystem("BM25", SystemKind.BASELINE)), (world.eve, NewSystem("BM25"))):
            with pytest.raises(NotAllowed):
                systems.create_system(session, actor, _team(session, world), new)
    with refused(world.database, InvalidFields, "system") as caught, world.database.write() as session:
        new = NewSystem("DENSE  one", code_url="javascript:alert(1)", paper_url="ftp://x")
        systems.create_system(session, world.ada, _team(session, world), new)
    assert set(caught.value.fields) == {"name", "code_url", "paper_url"}


def test_a_team_changes_what_it_says_about_its_system_and_nobody_else_does(world: World) -> None:
    with world.database.write() as session:
        system = systems.create_system(session, world.ada, _team(session, world), NewSystem("Dense One"))
    with world.database.write() as session:
        own = session.get_one(System, system.id)
        systems.change_system(session, world.ada, own, description=" retrained ", code_url="https://x.org/c")
    (changed,) = world.all(sa.select(System))
    assert (changed.name, changed.description, changed.code_url) == ("Dense One", "retrained", "https://x.org/c")
    with refused(world.database, NotAllowed, "system"), world.database.write() as session:
        systems.change_system(session, world.eve, session.get_one(System, system.id), description="worse")
    with refused(world.database, InvalidFields, "system"), world.database.write() as session:
        systems.change_system(session, world.ada, session.get_one(System, system.id), description="x" * 4001)


def test_a_system_goes_as_long_as_no_run_was_sent_for_it_and_its_name_is_free_again(world: World) -> None:
    run = world.submit()
    with world.database.write() as session:
        mistaken = systems.create_system(session, world.ada, _team(session, world), NewSystem("Dense One"))
    with refused(world.database, NotAllowed, "system"), world.database.write() as session:
        removing.remove_system(session, world.eve, session.get_one(System, mistaken.id))
    with refused(world.database, Conflict, "system", match="has submissions"), world.database.write() as session:
        used = session.get_one(Submission, run).system_id
        removing.remove_system(session, world.ada, session.get_one(System, used))
    with world.database.write() as session:
        removing.remove_system(session, world.ada, session.get_one(System, mistaken.id))
    assert [one.id for one in world.all(sa.select(System))] == [used]
    with world.database.write() as session:
        again = systems.create_system(session, world.ada, _team(session, world), NewSystem("Dense One"))
        assert again.slug == "dense-one"
    assert named(verified(world)) == []
