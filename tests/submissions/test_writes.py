"""Submitting runs, withdrawing them, and choosing the one that stands for its system."""

import datetime as dt
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.audit.models import Event
from leaderboard.audit.writes import replaying
from leaderboard.campaigns import writes as campaigns
from leaderboard.errors import Conflict, InvalidFields, NotAllowed, QuotaSpent
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.selection import scored_runs
from leaderboard.submissions.rules import Designation, RunChoice, State, selected_run
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as teams
from leaderboard.teams.models import System
from leaderboard.teams.writes import NewSystem
from leaderboard.worker.models import Scoring
from tests.support.refused import refused
from tests.support.world import RUN, World, run_text

NOON = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)

WRONG_FILE = "q1 Q0 d1 1 2.0\n"


def _participation(world: World) -> Participation:
    (row,) = world.all(sa.select(Participation))
    return row


def act(
    world: Any, what: Callable[..., None], run: int, *more: Any, actor: Any = None, now: Any = None, **options: Any
) -> None:
    """Does something to a run, as Ada and now unless somebody or a moment is named."""
    with world.database.write() as session, replaying(now) if now else nullcontext():
        what(session, actor or world.ada, session.get_one(Submission, run), *more, **options)


def _standing(world: World) -> int:
    """The run on the board of the one system that there is."""
    with world.database.read() as session:
        (runs,) = scored_runs(session).values()
        return selected_run(runs, RunChoice.PRIMARY, lambda _: None, "none").submission_id


def test_a_run_goes_in_with_its_queue_entry_its_quota_and_its_event(world: World) -> None:
    submission_id = world.submit(label=" first  try ", notes="plain", threshold=1.5, designation=Designation.PRIMARY)
    (submission,) = world.all(sa.select(Submission))
    assert (submission.id, submission.label, submission.threshold) == (submission_id, "first try", 1.5)
    assert (submission.submitter_id, submission.late, submission.size) == (world.ada.user_id, False, len(RUN))
    assert world.scoring(submission_id).state is State.QUEUED
    assert _participation(world).used == 1
    (event,) = world.all(sa.select(Event).where(Event.subject == "submission"))
    assert (event.action, event.actor_id, event.subject_id) == ("submit", world.ada.user_id, submission_id)


def test_what_is_wrong_leaves_nothing_behind(world: World) -> None:
    for values, fields in (
        ({"threshold": float("nan"), "label": "x" * 81, "notes": "x" * 4001}, {"threshold", "label", "notes"}),
        ({"system": NewSystem("", code_url="x")}, {"new_system", "code_url"}),
    ):
        with refused(world.database, InvalidFields, "evaluation") as caught:
            world.submit(**values)
        assert set(caught.value.fields) == fields
    for table in (Submission, Scoring, System, Participation):
        assert world.all(sa.select(table)) == []


def test_a_team_submits_runs_of_its_own_systems_only(world: World) -> None:
    with world.database.write() as session:
        other = teams.create_team(session, world.eve, "Others")
        upload = world.receive(run_text(1))
        with pytest.raises(NotAllowed):
            submissions.submit(session, world.ada, world.evaluation, other.id, system=NewSystem("S"), upload=upload)
    world.submit()
    (system,) = world.all(sa.select(System))
    world.submit(system=system)
    with world.database.write() as session:
        session.execute(sa.update(System).values(team_id=other.id))
    (foreign,) = world.all(sa.select(System))
    with refused(world.database, InvalidFields, "evaluation", match="not a system of"):
        world.submit(system=foreign)


def test_deadlines_count_from_the_start_of_the_request(world: World) -> None:
    opens, closes = NOON, NOON + dt.timedelta(hours=1)
    second = dt.timedelta(seconds=1)
    world.change_evaluation(opens_at=opens, closes_at=closes)
    with refused(world.database, Conflict, "evaluation", match="takes runs from 20 Nov 2026, 12:00 UTC on"):
        world.submit(received_at=opens - second)
    world.submit(received_at=opens)
    world.submit(received_at=closes - second)
    with refused(world.database, Conflict, "evaluation", match="closed on 20 Nov 2026, 13:00 UTC"):
        world.submit(received_at=closes)
    world.change_evaluation(late_allowed=True)
    late = world.submit(received_at=closes)
    assert [run.id for run in world.all(sa.select(Submission).where(Submission.late.is_(True)))] == [late]


def test_a_withdrawn_run_stays_on_record_and_keeps_its_quota(world: World) -> None:
    world.change_evaluation(daily_quota=1)
    run = world.submit(designation=Designation.PRIMARY)
    world.drain()
    assert _participation(world).primary_submission_id == run
    with refused(world.database, NotAllowed, "submission"):
        act(world, submissions.withdraw, run, actor=world.eve)
    act(world, submissions.withdraw, run, " the wrong file ")
    (submission,) = world.all(sa.select(Submission))
    assert submission.withdrawn_because == "the wrong file"
    assert submission.withdrawn_by_id == world.ada.user_id
    assert _participation(world).primary_submission_id is None
    assert _participation(world).used == 1
    with refused(world.database, QuotaSpent, "evaluation"):
        world.submit()


def test_an_older_primary_run_that_is_scored_later_does_not_come_forward(world: World) -> None:
    first = world.submit(designation=Designation.PRIMARY)
    second = world.submit(designation=Designation.PRIMARY)
    with world.database.write() as session:
        session.execute(sa.update(Scoring).where(Scoring.submission_id == second).values(priority=-5))
    world.drain()
    with world.database.read() as session:
        order = session.scalars(sa.select(Event.subject_id).where(Event.action == "score").order_by(Event.id)).all()
    assert order == [second, first]
    assert _participation(world).primary_submission_id == second


def test_a_team_lets_another_run_stand_for_its_system(world: World) -> None:
    first = world.submit(label="first")
    (system,) = world.all(sa.select(System))
    second = world.submit(system=system, stand=True)
    third = world.submit(system=system)
    world.drain()
    assert _standing(world) == second
    with refused(world.database, NotAllowed, "submission"):
        act(world, submissions.select_run, third, actor=world.eve)
    act(world, submissions.select_run, third)
    assert _standing(world) == third
    act(world, submissions.withdraw, third)
    assert _standing(world) == second
    with refused(world.database, Conflict, "evaluation", match="withdrawn"):
        act(world, submissions.select_run, third)
    act(world, submissions.select_run, first, actor=CONSOLE)
    assert _standing(world) == first
    told = world.all(sa.select(Event).where(Event.action == "let stand").order_by(Event.id))
    assert [(one.subject_id, one.facts["before"]) for one in told] == [(third, second), (first, second)]


def test_a_run_that_is_scored_anew_keeps_the_moment_of_its_first_score(world: World) -> None:
    first = world.submit()
    (system,) = world.all(sa.select(System))
    world.drain()
    world.submit(run_text(2), system=system)
    world.drain()
    before = world.all(sa.select(Submission.scored_at).order_by(Submission.id))
    world.judge("q1 0 d1 1\nq2 0 d3 0\nq3 0 d4 0\n")
    world.drain()
    assert world.all(sa.select(Submission.scored_at).order_by(Submission.id)) == before
    assert _standing(world) == first


@pytest.mark.parametrize("choice", [RunChoice.BEST, RunChoice.LATEST])
def test_where_the_best_or_the_latest_run_stands_there_is_nothing_to_choose(world: World, choice: RunChoice) -> None:
    run = world.submit()
    with world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, run_choice=choice)
    with refused(
        world.database, InvalidFields, "evaluation", match=f"the {choice.value} run of each system counts for it"
    ):
        world.submit(stand=True)
    with refused(world.database, Conflict, "evaluation", match="of each system counts for it"):
        act(world, submissions.select_run, run)
