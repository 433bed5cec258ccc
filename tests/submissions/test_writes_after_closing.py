"""After closing nothing that a team does changes which of its runs stand; an organiser may."""

import datetime as dt

import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR
from leaderboard.boards.reads.board import BoardQuery, board
from leaderboard.errors import Conflict, InvalidFields
from leaderboard.submissions.rules import Designation
from leaderboard.submissions.writes import submissions
from leaderboard.teams.models import System
from tests.submissions.test_writes import _participation, act
from tests.support.field import DAY, NOW, Field
from tests.support.refused import refused
from tests.support.world import World, run_text

CLOSES = NOW - DAY  # of the field's evaluation
SECOND = dt.timedelta(seconds=1)
NOON = dt.datetime(2026, 5, 20, 12, 0, tzinfo=dt.UTC)
ORDERS = ("primary", "best", "latest", "all")


def boards(field: Field) -> dict[str, set[int]]:
    """What the public sees: the runs of each kind of board."""
    found = {}
    for show in ORDERS:
        with field.database.read() as session:
            page = board(session, VISITOR, "news", "2026", NOW, BoardQuery(show=show))
        found[show] = {row.entry.submission_id for row in page.rows}
    return found


def primary(world: World) -> int | None:
    return _participation(world).primary_submission_id


def test_a_run_that_its_team_withdraws_after_closing_leaves_its_place_empty(field: Field) -> None:
    older = field.run("Alder", {"AP": [0.3] * 4}, designation=Designation.PRIMARY)
    stood = field.run("Alder", {"AP": [0.9] * 4}, designation=Designation.PRIMARY)
    other = field.run("Birch", {"AP": [0.5] * 4})
    team = field.member("Team Alder")
    assert boards(field)["primary"] == {stood, other}
    act(field, submissions.withdraw, stood, actor=team, now=CLOSES)  # in the grace: the evaluation has closed to teams
    assert boards(field) == {"primary": {other}, "best": {other}, "latest": {other}, "all": {older, other}}

    with refused(field.database, Conflict, "submission", match="only the organisers can change"):
        act(field, submissions.select_run, older, actor=team, now=NOW)
    assert boards(field)["primary"] == {other}

    act(field, submissions.select_run, older, actor=CONSOLE, now=NOW)
    assert boards(field) == {show: {older, other} for show in ORDERS}


def test_of_contrastive_runs_too_none_takes_the_place_of_one_that_is_withdrawn_after_closing(field: Field) -> None:
    stood = field.run("Alder", {"AP": [0.3] * 4})
    better = field.run("Alder", {"AP": [0.9] * 4})
    act(field, submissions.withdraw, stood, actor=field.member("Team Alder"), now=NOW)
    assert boards(field) == {"primary": set(), "best": {better}, "latest": {better}, "all": {better}}


def test_until_closing_and_by_an_organiser_the_run_before_takes_the_place(field: Field) -> None:
    for actor, now in ((None, CLOSES - SECOND), (CONSOLE, NOW)):
        older = field.run("Alder", {"AP": [0.3] * 4}, designation=Designation.PRIMARY)
        stood = field.run("Alder", {"AP": [0.9] * 4}, designation=Designation.PRIMARY)
        act(field, submissions.withdraw, stood, actor=actor or field.member("Team Alder"), now=now)
        assert boards(field)["primary"] == {older}
        act(field, submissions.withdraw, older, actor=CONSOLE, now=now)


def test_a_run_received_in_time_becomes_primary_though_it_is_scored_after_closing(world: World) -> None:
    world.change_evaluation(closes_at=NOON)
    world.submit(received_at=NOON - 2 * SECOND, designation=Designation.PRIMARY)
    world.drain()
    second = world.submit(
        run_text(2), begun_at=NOON - SECOND, received_at=NOON + 30 * SECOND, designation=Designation.PRIMARY
    )
    world.drain()
    assert primary(world) == second


def test_withdrawing_a_run_that_still_waits_when_the_evaluation_closes_brings_no_older_one_forward(
    world: World,
) -> None:
    world.change_evaluation(closes_at=NOON)
    first = world.submit(received_at=NOON - 2 * SECOND, designation=Designation.PRIMARY)
    world.drain()
    second = world.submit(run_text(2), received_at=NOON - SECOND, designation=Designation.PRIMARY)
    assert primary(world) == first
    act(world, submissions.withdraw, second, now=NOON)
    world.drain()
    assert primary(world) == second


def test_a_late_run_never_becomes_primary_and_no_team_lets_it_stand(world: World) -> None:
    world.change_evaluation(closes_at=NOON, late_allowed=True)
    first = world.submit(received_at=NOON - SECOND, designation=Designation.PRIMARY)
    (system,) = world.all(sa.select(System))
    world.drain()
    late = world.submit(
        run_text(2), system=system, begun_at=NOON - SECOND, received_at=NOON + 75 * SECOND,
        designation=Designation.PRIMARY,
    )  # fmt: skip
    world.drain()
    assert primary(world) == first
    with refused(world.database, InvalidFields, "evaluation", match="stand: the run is late"):
        world.submit(run_text(3), system=system, stand=True, received_at=NOON)
    with refused(world.database, Conflict, "submission", match="has closed"):
        act(world, submissions.select_run, late, now=NOON + 75 * SECOND)
