"""Runs that wait for a yes: all of one or nothing, and the quotas hold."""

import datetime as dt
from typing import Any

import sqlalchemy as sa

from leaderboard.audit.writes import present
from leaderboard.errors import Conflict, NotFound, QuotaSpent
from leaderboard.evaluations.models import Evaluation
from leaderboard.submissions.models import Arrival, PersonalUse, StagedRun, Submission
from leaderboard.submissions.writes import pending as staging
from leaderboard.submissions.writes import submissions
from leaderboard.submissions.writes.pending import SentRun
from leaderboard.teams.models import System, Team
from tests.support.refused import refused
from tests.support.world import RUN, World, details


def stage(world: World, text: str = RUN, **given: Any) -> int:
    upload, now = world.receive(text), present()
    with world.database.write() as session:
        evaluation, team = session.get_one(Evaluation, world.evaluation), session.get_one(Team, world.team)
        place = submissions.reserve_quota(
            session, world.ada, evaluation, team, begun_at=now, now=now, expires_at=now + dt.timedelta(hours=1)
        )
        staged = staging.stage(
            session, world.ada, evaluation,
            SentRun(team.id, given.pop("system", "Heron"), upload, details(**given)),
            begun_at=now, received_at=now, place=place, now=now,
        )  # fmt: skip
        return staged.id


def confirm(world: World, staged: int, now: dt.datetime | None = None) -> int:
    with world.database.write() as session:
        evaluation = session.get_one(Evaluation, world.evaluation)
        return staging.confirm(session, world.ada, evaluation, staged, now or present()).id


def test_a_yes_submits_the_run_as_it_was_sent_and_leaves_nothing_waiting(world: World) -> None:
    run = confirm(world, stage(world, label="first", threshold=0.5, notes="note"))
    [submission] = world.all(sa.select(Submission))
    assert (submission.id, submission.label, submission.threshold, submission.notes) == (run, "first", 0.5, "note")
    assert submission.begun_at == submission.received_at
    assert [one.name for one in world.all(sa.select(System))] == ["Heron"]
    assert world.all(sa.select(Arrival)) == []
    assert world.all(sa.select(StagedRun.submission_id)) == [run]
    [use] = world.all(sa.select(PersonalUse))
    assert (use.used, use.rejected_today) == (1, 0)


def test_a_second_yes_gives_what_the_first_one_made_and_a_no_after_it_is_refused(world: World) -> None:
    staged = stage(world)
    run = confirm(world, staged)
    assert confirm(world, staged) == run
    assert len(world.all(sa.select(Submission))) == 1
    with refused(world.database, Conflict, "staged_run"), world.database.write() as session:
        staging.discard(session, world.ada, session.get_one(Evaluation, world.evaluation), staged, present())
    with world.database.write() as session:  # the note goes with the time for a yes, and nothing waited in vain
        assert staging.sweep_pending(session, present() + dt.timedelta(seconds=staging.STAGED_SECONDS + 1)) == 0
    assert world.all(sa.select(StagedRun)) == []


def test_a_yes_that_comes_too_late_changes_nothing(world: World) -> None:
    staged = stage(world)
    with refused(world.database, NotFound, "staged_run"):
        confirm(world, staged, present() + dt.timedelta(seconds=staging.STAGED_SECONDS + 1))


def test_runs_that_wait_hold_their_places(world: World) -> None:
    world.change_evaluation(daily_quota=1)
    staged = stage(world)
    with refused(world.database, QuotaSpent, "staged_run"):
        stage(world, RUN.replace("a-run", "b-run"))
    confirm(world, staged)


def test_a_no_frees_the_place_and_counts_the_file(world: World) -> None:
    world.change_evaluation(daily_quota=1)
    staged = stage(world)
    with world.database.write() as session:
        staging.discard(session, world.ada, session.get_one(Evaluation, world.evaluation), staged, present())
    [use] = world.all(sa.select(PersonalUse))
    assert (use.used, use.rejected_today) == (0, 1)
    assert world.all(sa.select(Arrival)) == []
    confirm(world, stage(world))


def test_what_waits_in_vain_is_swept_and_stays_counted(world: World) -> None:
    stage(world)
    with world.database.write() as session:
        assert staging.sweep_pending(session, present()) == 0
        assert staging.sweep_pending(session, present() + dt.timedelta(seconds=staging.STAGED_SECONDS + 1)) == 1
    [use] = world.all(sa.select(PersonalUse))
    assert use.rejected_today == 1
