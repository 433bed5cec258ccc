"""Claims, leases and attempts, and what is recorded of a run that was scored."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Database, clock
from leaderboard.errors import Problem
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Subset
from leaderboard.formats import QueryRow
from leaderboard.judgments import writes as judgments, writes as queries
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.rules import State
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as teams
from leaderboard.teams.writes import NewSystem
from leaderboard.worker import queue
from leaderboard.worker.messages import Failed, MeasureScore, Rejected, RunScores
from leaderboard.worker.models import Score, Scoring
from leaderboard.worker.queue import Claim, Recorded
from tests.support.waiting import wait_until, waits
from tests.support.world import RUN, World, judged

FIGURES = RunScores((MeasureScore("AP", Subset.ALL, 0.5, 3, np.zeros(3)),), ("q3",), (), 0.1)
CLAIMS = 12


def _claim(world: World, worker: str = "one", lease_seconds: float = 60) -> Claim | None:
    with world.database.write() as session:
        return queue.claim(session, worker, lease_seconds)


def _claimed(world: World, worker: str = "one", lease_seconds: float = 60) -> Claim:
    claim = _claim(world, worker, lease_seconds)
    assert claim is not None
    return claim


def _sweep(world: World) -> int:
    with world.database.write() as session:
        return queue.sweep(session, 60)


def _record(world: World, claim: Claim) -> Recorded:
    with world.database.write() as session:
        return queue.settle(session, claim, FIGURES)


def _fail(world: World, claim: Claim) -> None:
    with world.database.write() as session:
        assert queue.settle(session, claim, Failed("an error while scoring: TypeError")) is Recorded.DONE


def _forget_the_wait(world: World) -> None:
    with world.database.write() as session:
        session.execute(sa.update(Scoring).values(not_before=None))


def _park(world: World) -> None:
    for _ in range(queue.MOST_ERRORS):
        _forget_the_wait(world)
        _fail(world, _claimed(world))


def test_the_first_by_priority_and_age_is_claimed(world: World) -> None:
    first, second, third = (world.submit() for _ in range(3))
    with world.database.write() as session:
        session.execute(sa.update(Scoring).where(Scoring.submission_id == third).values(priority=-1))
    assert [_claimed(world).submission_id for _ in range(3)] == [third, first, second]
    assert _claim(world) is None


def _queue_for(world: World, team: int, number: int, evaluation: int | None = None) -> list[int]:
    """So many runs of a team's, in the queue; their ids."""
    upload = world.receive(RUN)
    found = []
    with world.database.write() as session:
        for place in range(number):
            run = submissions.submit(
                session, CONSOLE, evaluation or world.evaluation, team,
                system=NewSystem(f"System {place} of team {team}, {number} runs"), upload=upload,
            )  # fmt: skip
            found.append(run.id)
    return found


def test_a_team_with_many_queued_runs_holds_up_no_other_team_s(world: World) -> None:
    world.change_evaluation(daily_quota=None)
    with world.database.write() as session:
        one, two = (teams.create_team(session, CONSOLE, name).id for name in ("Some others", "Some more"))
    many = _queue_for(world, world.team, 15)
    assert [_claimed(world).submission_id for _ in range(5)] == many[:5]
    few, more = _queue_for(world, one, 3), _queue_for(world, two, 2)
    order = [_claimed(world).submission_id for _ in range(10)]
    assert order[:2] == [few[0], more[0]]  # whoever comes new waits for what is being scored only
    assert order[2:] == [many[5], few[1], more[1], many[6], few[2], many[7], many[8], many[9]]
    late = _queue_for(world, two, 1)
    assert _claimed(world).submission_id == late[0]
    left = 0
    while _claim(world) is not None:
        left += 1
    assert left == 5


def _judged_evaluation_elsewhere(world: World) -> int:
    """An evaluation of another campaign, with judgments."""
    with world.database.write() as session:
        settings = {"measures": ["AP"], "primary_measure": "AP"}
        campaign = campaigns.create_campaign(session, CONSOLE, "other", "Another campaign", **settings)
        settings = {"documents": 1000, "daily_quota": None}
        evaluation = evaluations.create_evaluation(session, CONSOLE, campaign, "2026", "2026", "2026", **settings)
        queries.import_queries(session, CONSOLE, evaluation, [QueryRow("q1", "text 1", ())])
        judgments.import_judgments(session, CONSOLE, evaluation, JudgmentFiles(judged("q1 0 d1 1\n")))
        return evaluation.id


@pytest.mark.parametrize(("own_team", "own_campaign"), [(False, True), (False, False), (True, False)])
def test_many_runs_hold_up_no_other_team_and_no_other_campaign(
    world: World, own_team: bool, own_campaign: bool
) -> None:
    evaluation = world.evaluation if own_campaign else _judged_evaluation_elsewhere(world)
    with world.database.write() as session:
        team = world.team if own_team else teams.create_team(session, CONSOLE, "Some others").id
    many = _queue_for(world, world.team, 30)
    before = [_claimed(world).submission_id for _ in range(4)]
    few = _queue_for(world, team, 2, evaluation)
    after = [_claimed(world).submission_id for _ in range(4)]
    assert (before, after) == (many[:4], [few[0], many[4], few[1], many[5]])


def test_a_new_run_goes_before_those_that_are_scored_anew(world: World) -> None:
    with world.database.write() as session:
        other = teams.create_team(session, CONSOLE, "Some others").id
    old = _queue_for(world, world.team, 20)
    while (claim := _claim(world)) is not None:
        _record(world, claim)
    world.judge("q1 0 d1 1\nq1 0 d2 1\nq2 0 d3 1\nq3 0 d4 0\n")
    before = [_claimed(world).submission_id for _ in range(3)]
    (new,) = _queue_for(world, other, 1)
    after = [_claimed(world).submission_id for _ in range(3)]
    assert before == old[:3]
    assert after == [new, new, old[3]]  # in the set that boards show, and in the one that is made


def test_a_run_that_is_tried_again_lets_no_newcomer_pass_those_that_have_waited_since(world: World) -> None:
    world.change_evaluation(daily_quota=None)
    with world.database.write() as session:
        other, third = (teams.create_team(session, CONSOLE, name).id for name in ("Some others", "Some more"))
    (parked,) = _queue_for(world, world.team, 1)
    _park(world)
    waiting = _queue_for(world, other, 6)
    for _ in range(3):
        _record(world, _claimed(world))
    with world.database.write() as session:
        submissions.retry(session, CONSOLE, session.get_one(Submission, parked))
    few = _queue_for(world, third, 2)
    order = [_claimed(world).submission_id for _ in range(5)]
    assert order == [parked, waiting[3], few[0], waiting[4], few[1]]


def _at_once(database_url: str, work: Callable[[Session, Any], Any], of: Sequence[Any]) -> list[Any]:
    """What comes of the work on each of these, all in transactions that begin at the same moment."""
    start = threading.Barrier(len(of))

    def do(what: Any) -> Any:
        with closing(Database.connect(database_url)) as database:
            start.wait()
            with database.write() as session:
                return work(session, what)

    with ThreadPoolExecutor(len(of)) as pool:
        return list(pool.map(do, of))


def test_workers_that_claim_at_the_same_moment_never_get_the_same_job(world: World, database_url: str) -> None:
    jobs = {world.submit() for _ in range(CLAIMS // 2)}
    names = [f"worker {number}" for number in range(CLAIMS)]
    claims = list(filter(None, _at_once(database_url, lambda session, name: queue.claim(session, name, 60), names)))
    # A worker may come away empty while another's claim is not committed, but none is claimed twice.
    assert len({claim.submission_id for claim in claims}) == len(claims)
    while (more := _claim(world)) is not None:
        claims.append(more)
    assert {claim.submission_id for claim in claims} == jobs


def test_publishing_waits_for_a_test_run_that_is_being_recorded_and_locks_with_it(world: World) -> None:
    world.change_evaluation(draft=True)
    world.submit(actor=CONSOLE)
    claim = _claimed(world)
    with ThreadPoolExecutor(1) as other:
        with world.database.write() as session:
            assert queue.settle(session, claim, FIGURES) is Recorded.DONE
            publishing = other.submit(world.change_evaluation, draft=False)
            wait_until(lambda: publishing.done() or waits(world.database), "publishing waits for the figures")
        publishing.result()
    (campaign,) = world.all(sa.select(Campaign))
    assert campaign.locked_at is not None


def test_two_results_at_the_same_moment_are_both_recorded(world: World, database_url: str) -> None:
    for _ in range(8):
        world.submit()
    claims = [_claimed(world) for _ in range(8)]
    recorded = _at_once(database_url, lambda session, claim: queue.settle(session, claim, FIGURES), claims)
    assert recorded == [Recorded.DONE] * 8
    assert len(world.all(sa.select(Score))) == 8


def test_an_expired_lease_gives_the_job_to_another_and_only_that_one_records(world: World) -> None:
    run = world.submit()
    first = _claimed(world, "one", lease_seconds=-1)
    assert _sweep(world) == 1
    assert world.scoring(run).state is State.QUEUED
    second = _claimed(world, "two")
    assert second.attempt == 2
    with world.database.write() as session:
        assert not queue.renew(session, first, 60)
        assert queue.settle(session, first, Failed("too late")) is Recorded.LOST
        queue.release(session, first)
        assert queue.settle(session, first, Rejected((Problem(1, "too late"),), 1)) is Recorded.LOST
    assert _record(world, first) is Recorded.LOST
    assert world.scoring(run).state is State.SCORING
    assert _record(world, second) is Recorded.DONE
    assert _record(world, second) is Recorded.LOST
    scoring = world.scoring(run)
    assert (scoring.state, scoring.lost_leases, len(world.scores(run))) == (State.SCORED, 1, 1)
    assert scoring.submission.problem_count == 0


def test_a_clock_that_was_a_day_ahead_holds_no_job_up_once_it_is_right(world: World) -> None:
    run = world.submit()
    lost = _claimed(world, lease_seconds=24 * 3600)
    assert _sweep(world) == 1
    with world.database.write() as session:  # as a worker that postponed it by that clock left it
        session.execute(sa.update(Scoring).values(not_before=clock(24 * 3600)))
    assert _claimed(world, "two").attempt == lost.attempt + 1
    assert _sweep(world) == 0
    assert world.scoring(run).state is State.SCORING


def test_three_errors_park_a_run_with_the_reason_and_give_its_quota_back(world: World) -> None:
    run = world.submit()
    for _ in range(queue.MOST_ERRORS - 1):
        _fail(world, _claimed(world))
        scoring = world.scoring(run)
        assert (scoring.state, scoring.failure) == (State.QUEUED, "an error while scoring: TypeError")
        assert _claim(world) is None  # it waits before the next attempt
        _forget_the_wait(world)
    _fail(world, _claimed(world))
    scoring = world.scoring(run)
    assert (scoring.state, scoring.failure) == (State.FAILED, "an error while scoring: TypeError")
    assert _claim(world) is None
    (participation,) = world.all(sa.select(Participation))
    assert (participation.used, participation.used_today, participation.rejected_today) == (0, 0, 0)


def test_ten_lost_leases_park_a_run(world: World) -> None:
    run = world.submit()
    for number in range(queue.MOST_LOST_LEASES):
        assert world.scoring(run).lost_leases == number
        _claimed(world, f"worker {number}", lease_seconds=-1)
        assert _sweep(world) == 1
    scoring = world.scoring(run)
    assert scoring.state is State.FAILED
    assert "10 workers vanished" in scoring.failure
    assert "worker 9" in scoring.failure


def test_the_failed_runs_of_an_evaluation_are_tried_again_in_the_sets_that_count(world: World) -> None:
    run = world.submit()
    _park(world)
    world.judge("q1 0 d9 1\n")  # without results there is nothing to keep: the first set is superseded at once
    _park(world)
    with world.database.write() as session:
        submissions.retry_failed(session, CONSOLE, session.get_one(Evaluation, world.evaluation))
    states = world.all(sa.select(Scoring.state).where(Scoring.submission_id == run).order_by(Scoring.id))
    assert states == [State.FAILED, State.QUEUED]
    with world.database.read() as session:
        assert queue.unfinished(session) == queue.unfinished(session, world.evaluation) == 1


def test_a_prior_that_changed_meanwhile_sends_the_job_back(world: World) -> None:
    run = world.submit()
    claim = _claimed(world)
    # Around the services, which would make a new set.
    with world.database.write() as session:
        session.execute(sa.update(Campaign).values(beta=40))
    assert _record(world, claim) is Recorded.SENT_BACK
    assert world.scoring(run).state is State.QUEUED
    assert world.all(sa.select(Score)) == []
    assert world.all(sa.select(Campaign))[0].locked_at is None
    with world.database.write() as session:
        session.execute(sa.update(Campaign).values(beta=20))
    _forget_the_wait(world)
    assert _record(world, _claimed(world)) is Recorded.DONE


def test_a_job_of_a_set_that_was_set_aside_goes_instead_of_waiting_for_ever(world: World) -> None:
    world.submit()
    claim = _claimed(world)
    with world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, beta=40)
    assert _record(world, claim) is Recorded.SENT_BACK
    (left,) = world.all(sa.select(Scoring))
    assert left.scoring_set_id != claim.scoring_set_id
    assert _claimed(world).scoring_set_id == left.scoring_set_id


def test_a_run_without_a_label_gets_its_tag_or_the_name_of_its_file(world: World) -> None:
    runs = [world.submit(RUN), world.submit(RUN, label="our first"), world.submit("q1\td1\tY\t0.9\n")]
    world.drain()
    labels = world.all(sa.select(Submission.label).where(Submission.id.in_(runs)).order_by(Submission.id))
    assert labels == ["a-run", "our first", "run.txt"]
