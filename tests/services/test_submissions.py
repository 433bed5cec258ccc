import datetime as dt
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.db import Database
from leaderboard.errors import Conflict, InvalidFields, NotAllowed, QuotaSpent
from leaderboard.lookup import scored_runs
from leaderboard.models import Evaluation, Event, Participation, Scoring, Submission, System, Team
from leaderboard.rules.quotas import REJECTED_A_DAY, Quota, quota_of
from leaderboard.rules.standings import Designation, RunChoice, standing_run
from leaderboard.rules.states import State
from leaderboard.services import campaigns, evaluations, submissions, teams
from leaderboard.services.systems import NewSystem
from tests.support.world import RUN, World, run_text

NOON = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)
PARALLEL = 100
QUOTA = 5
WRONG_FILE = "q1 Q0 d1 1 2.0\n"


def _participation(world: World) -> Participation:
    (row,) = world.all(sa.select(Participation))
    return row


def _standing(world: World) -> int:
    """The run on the board of the one system that there is."""
    with world.database.read() as session:
        (runs,) = scored_runs(session).values()
        return standing_run(runs, RunChoice.PRIMARY, lambda _: 0).submission_id


def _quota(world: World, now: dt.datetime) -> Quota:
    with world.database.read() as session:
        participation = session.get(Participation, (world.team, world.evaluation))
        return quota_of(session.get_one(Evaluation, world.evaluation), participation, now)


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
        ({"system": NewSystem("", code_url="x")}, {"system_name", "code_url"}),
    ):
        with pytest.raises(InvalidFields) as caught:
            world.submit(**values)
        assert set(caught.value.fields) == fields
    for table in (Submission, Scoring, System, Participation):
        assert world.all(sa.select(table)) == []


def test_a_team_submits_runs_of_its_own_systems_only(world: World) -> None:
    with world.database.write() as session:
        other = teams.create_team(session, world.eve, "Others")
        evaluation = session.get_one(Evaluation, world.evaluation)
        upload = world.receive(run_text(1))
        with pytest.raises(NotAllowed):
            submissions.submit(session, world.ada, evaluation, other, system=NewSystem("S"), upload=upload)
    world.submit()
    (system,) = world.all(sa.select(System))
    world.submit(system=system)
    with world.database.write() as session:
        session.execute(sa.update(System).values(team_id=other.id))
    (foreign,) = world.all(sa.select(System))
    with pytest.raises(InvalidFields, match="not a system of"):
        world.submit(system=foreign)


def test_naming_a_system_whose_files_were_all_rejected_takes_that_system(world: World) -> None:
    world.submit(WRONG_FILE, system=NewSystem("S1"))
    with pytest.raises(InvalidFields, match="has a system 'S1'"):
        world.submit(system=NewSystem("S1"))  # the first file may still turn out good
    world.drain()
    world.submit(system=NewSystem("s1", description="corrected"))
    (system,) = world.all(sa.select(System))
    assert (system.name, system.description) == ("S1", "corrected")
    world.drain()
    with pytest.raises(InvalidFields, match="has a system 'S1'"):
        world.submit(system=NewSystem("S1"))


def test_deadlines_count_from_the_start_of_the_request(world: World) -> None:
    opens, closes = NOON, NOON + dt.timedelta(hours=1)
    second = dt.timedelta(seconds=1)
    world.change_evaluation(opens_at=opens, closes_at=closes)
    with pytest.raises(Conflict, match="takes runs from 20 Nov 2026, 12:00 UTC on"):
        world.submit(received_at=opens - second)
    world.submit(received_at=opens)
    world.submit(received_at=closes - second)
    with pytest.raises(Conflict, match="closed on 20 Nov 2026, 13:00 UTC"):
        world.submit(received_at=closes)
    world.change_evaluation(late_allowed=True)
    late = world.submit(received_at=closes)
    assert [run.id for run in world.all(sa.select(Submission).where(Submission.late.is_(True)))] == [late]


def test_a_quota_that_is_spent_says_when_it_resets(world: World) -> None:
    world.change_evaluation(daily_quota=2, total_quota=3)
    world.submit(received_at=NOON)
    assert _quota(world, NOON).left == 1
    world.submit(received_at=NOON)
    with pytest.raises(QuotaSpent, match="starts again on 21 Nov 2026, 00:00 UTC"):
        world.submit(received_at=NOON)
    tomorrow = NOON + dt.timedelta(days=1)
    assert (_quota(world, tomorrow).left_today, _quota(world, tomorrow).left) == (2, 1)
    world.submit(received_at=tomorrow)
    with pytest.raises(QuotaSpent, match="All 3 submissions of your team to this evaluation"):
        world.submit(received_at=tomorrow)


def test_the_day_of_a_quota_ends_at_midnight_utc(world: World) -> None:
    world.change_evaluation(daily_quota=1)
    elsewhere = dt.timezone(dt.timedelta(hours=-5))
    world.submit(received_at=dt.datetime(2026, 11, 20, 18, 59, 59, tzinfo=elsewhere))  # 23:59:59 UTC
    world.submit(received_at=dt.datetime(2026, 11, 20, 19, 0, 0, tzinfo=elsewhere))
    assert _quota(world, dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)).left == 0


def test_without_a_limit_there_is_no_number(world: World) -> None:
    world.submit()
    quota = _quota(world, NOON)
    assert (quota.left, quota.left_today, quota.left_in_all, quota.spent) == (None, None, None, None)


def test_a_hundred_parallel_submissions_against_a_quota_of_five_leave_five(world: World, database_url: str) -> None:
    world.change_evaluation(daily_quota=QUOTA)
    upload = world.receive(run_text(1))
    world.submit(upload=upload, received_at=NOON - dt.timedelta(days=1))
    (system,) = world.all(sa.select(System))
    start = threading.Barrier(PARALLEL)

    def submit(_: int) -> str:
        database = Database.connect(database_url)
        try:
            start.wait()
            with database.write() as session:
                evaluation = session.get_one(Evaluation, world.evaluation)
                team = session.get_one(Team, world.team)
                submissions.submit(session, world.ada, evaluation, team, system=system, upload=upload, received_at=NOON)
        except QuotaSpent:
            return "spent"
        finally:
            database.close()
        return "taken"

    with ThreadPoolExecutor(PARALLEL) as pool:
        answers = list(pool.map(submit, range(PARALLEL)))
    assert answers.count("taken") == QUOTA
    assert answers.count("spent") == PARALLEL - QUOTA
    today = world.all(sa.select(Submission).where(Submission.received_at == NOON))
    assert len(today) == QUOTA
    assert len(world.all(sa.select(Scoring))) == QUOTA + 1
    assert (_participation(world).used_today, _participation(world).used) == (QUOTA, QUOTA + 1)


def test_the_first_submissions_of_a_team_at_the_same_moment_make_one_count(world: World, database_url: str) -> None:
    upload = world.receive(run_text(1))
    start = threading.Barrier(8)

    def submit(number: int) -> None:
        database = Database.connect(database_url)
        try:
            start.wait()
            with database.write() as session:
                evaluation = session.get_one(Evaluation, world.evaluation)
                team = session.get_one(Team, world.team)
                new = NewSystem(f"System of thread {number}")
                submissions.submit(session, world.ada, evaluation, team, system=new, upload=upload)
        finally:
            database.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(submit, range(8)))
    assert _participation(world).used == 8


def test_a_rejected_file_costs_no_quota_but_twenty_a_day_are_enough(world: World) -> None:
    world.change_evaluation(daily_quota=30)
    for _ in range(REJECTED_A_DAY):
        world.submit(WRONG_FILE, received_at=NOON)
    assert _quota(world, NOON).left == 10
    world.drain()
    assert _participation(world).used == 0
    quota = _quota(world, NOON)
    assert (quota.left, quota.used_today, quota.rejected_today) == (0, 0, 20)
    with pytest.raises(QuotaSpent, match="20 files of your team were rejected here today"):
        world.submit(received_at=NOON)
    with world.organising() as (session, campaign, _):
        other = evaluations.create_evaluation(session, CONSOLE, campaign, "2027", "Next", "2027", documents=1000).id
    world.submit(evaluation=other, received_at=NOON)
    world.submit(received_at=NOON + dt.timedelta(days=1))


def test_a_file_that_was_rejected_yesterday_gives_back_nothing_of_today(world: World) -> None:
    world.change_evaluation(daily_quota=1)
    world.submit(WRONG_FILE, received_at=NOON)
    world.submit(received_at=NOON + dt.timedelta(days=1))
    world.drain()
    participation = _participation(world)
    assert (participation.used_today, participation.used, participation.rejected_today) == (1, 1, 0)


def test_a_rejection_under_a_second_set_gives_nothing_back_again(world: World) -> None:
    world.submit(WRONG_FILE)
    world.drain()
    world.change_evaluation(relevance_level=2)
    world.drain()
    participation = _participation(world)
    assert (participation.used, participation.used_today, participation.rejected_today) == (0, 0, 1)


def test_a_withdrawn_run_stays_on_record_and_keeps_its_quota(world: World) -> None:
    world.change_evaluation(daily_quota=1)
    run = world.submit(designation=Designation.PRIMARY)
    world.drain()
    assert _participation(world).primary_submission_id == run
    with world.database.write() as session:
        submission = session.get_one(Submission, run)
        with pytest.raises(NotAllowed):
            submissions.withdraw(session, world.eve, submission)
        submissions.withdraw(session, world.ada, submission, " the wrong file ")
    with world.database.write() as session, pytest.raises(Conflict, match="already"):
        submissions.withdraw(session, world.ada, session.get_one(Submission, run))
    (submission,) = world.all(sa.select(Submission))
    assert submission.withdrawn_because == "the wrong file"
    assert submission.withdrawn_by_id == world.ada.user_id
    assert _participation(world).primary_submission_id is None
    assert _participation(world).used == 1
    with pytest.raises(QuotaSpent):
        world.submit()


def test_a_run_that_is_withdrawn_while_it_waits_never_becomes_primary(world: World) -> None:
    run = world.submit(designation=Designation.PRIMARY)
    with world.database.write() as session:
        submissions.withdraw(session, CONSOLE, session.get_one(Submission, run))
    world.drain()
    assert world.scoring(run).state is State.SCORED
    assert _participation(world).primary_submission_id is None


def test_the_newest_scored_primary_run_stands_and_its_withdrawal_brings_back_the_one_before(world: World) -> None:
    first = world.submit(designation=Designation.PRIMARY)
    world.submit(designation=Designation.CONTRASTIVE)
    second = world.submit(designation=Designation.PRIMARY)
    wrong = world.submit(WRONG_FILE, designation=Designation.PRIMARY)
    assert _participation(world).primary_submission_id is None
    world.drain()
    assert world.scoring(wrong).state is State.REJECTED
    assert _participation(world).primary_submission_id == second
    with world.database.write() as session:
        submissions.withdraw(session, world.ada, session.get_one(Submission, second))
    assert _participation(world).primary_submission_id == first


def test_an_older_primary_run_that_is_scored_later_does_not_come_forward(world: World) -> None:
    first = world.submit(designation=Designation.PRIMARY)
    second = world.submit(designation=Designation.PRIMARY)
    with world.database.write() as session:
        session.execute(sa.update(Scoring).where(Scoring.submission_id == second).values(priority=5))
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
    with world.database.write() as session:
        run = session.get_one(Submission, third)
        with pytest.raises(NotAllowed):
            submissions.let_stand(session, world.eve, run)
        submissions.let_stand(session, world.ada, run)
    assert _standing(world) == third
    with world.database.write() as session:
        submissions.withdraw(session, world.ada, session.get_one(Submission, third))
    assert _standing(world) == second
    with world.database.write() as session, pytest.raises(Conflict, match="withdrawn"):
        submissions.let_stand(session, world.ada, session.get_one(Submission, third))
    with world.database.write() as session:
        submissions.let_stand(session, CONSOLE, session.get_one(Submission, first))
    assert _standing(world) == first
    assert len(world.all(sa.select(Event).where(Event.action == "let stand"))) == 2


def test_a_run_that_was_chosen_stands_from_its_scoring_on(world: World) -> None:
    first = world.submit()
    (system,) = world.all(sa.select(System))
    world.drain()
    second = world.submit(run_text(2), system=system, stand=True)
    assert _standing(world) == first
    world.drain()
    assert _standing(world) == second


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


def test_no_contrastive_run_is_chosen_over_the_primary_one(world: World) -> None:
    world.submit(label="best try", designation=Designation.PRIMARY)
    (system,) = world.all(sa.select(System))
    world.drain()
    with pytest.raises(InvalidFields, match=r"stand: System number 0's primary run, best try, stands for it"):
        world.submit(system=system, stand=True)
    other = world.submit(system=system)
    with world.database.write() as session, pytest.raises(Conflict, match="submit this one as primary"):
        submissions.let_stand(session, world.ada, session.get_one(Submission, other))
    replacing = world.submit(system=system, stand=True, designation=Designation.PRIMARY)
    world.drain()
    assert _standing(world) == replacing


@pytest.mark.parametrize("choice", [RunChoice.BEST, RunChoice.LATEST])
def test_where_the_best_or_the_latest_run_stands_there_is_nothing_to_choose(world: World, choice: RunChoice) -> None:
    run = world.submit()
    with world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, run_choice=choice)
    with pytest.raises(InvalidFields, match=f"the {choice.value} run of each system stands for it"):
        world.submit(stand=True)
    with world.database.write() as session, pytest.raises(Conflict, match="of each system stands for it"):
        submissions.let_stand(session, world.ada, session.get_one(Submission, run))


def test_a_late_run_never_becomes_primary(world: World) -> None:
    world.change_evaluation(closes_at=NOON, late_allowed=True)
    world.submit(designation=Designation.PRIMARY, received_at=NOON)
    world.drain()
    assert _participation(world).primary_submission_id is None


def test_a_run_without_a_submitter_comes_from_the_command_line(world: World) -> None:
    world.submit(actor=CONSOLE)
    (submission,) = world.all(sa.select(Submission))
    assert submission.submitter_id is None
