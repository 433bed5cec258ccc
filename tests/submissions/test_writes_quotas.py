"""Quotas: what a submission takes, and what is given back."""

import datetime as dt
import itertools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from leaderboard.access import CONSOLE, actor_of
from leaderboard.db import Database
from leaderboard.errors import QuotaSpent
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.store import Received
from leaderboard.submissions.models import Arrival, Participation, PersonalUse, Submission
from leaderboard.submissions.reads.form import quotas_of
from leaderboard.submissions.rules import REJECTED_A_DAY, Quota
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as teams
from leaderboard.teams.models import System, Team
from leaderboard.teams.writes import NewSystem
from leaderboard.worker.models import Scoring
from tests.submissions.test_writes import NOON, WRONG_FILE, _participation
from tests.support.refused import refused
from tests.support.world import World, build_world, run_text

DAY = dt.timedelta(days=1)
NUMBERS = itertools.count()
PARALLEL = 20
QUOTA = 5


def _at_once(database_url: str, values: Sequence[int], do: Callable[[Database, int], object]) -> list[str]:
    """Does it for each of these at the same moment: which were taken, and which found the quota spent."""
    start = threading.Barrier(len(values))

    def each(value: int) -> str:
        with closing(Database.connect(database_url)) as database:
            start.wait()
            try:
                do(database, value)
            except QuotaSpent:
                return "spent"
        return "taken"

    with ThreadPoolExecutor(len(values)) as pool:
        return list(pool.map(each, values))


def _quota(world: World, now: dt.datetime) -> Quota:
    with world.database.read() as session:
        evaluation = session.get_one(Evaluation, world.evaluation)
        return quotas_of(session, evaluation, [world.team], None, now)[0][world.team]


def test_a_quota_that_is_spent_says_when_it_resets(world: World) -> None:
    world.change_evaluation(daily_quota=2, total_quota=3)
    world.submit(received_at=NOON)
    assert _quota(world, NOON).left == 1
    world.submit(received_at=NOON)
    with refused(world.database, QuotaSpent, "participation", match="starts again on 21 Nov 2026, 00:00 UTC"):
        world.submit(received_at=NOON)
    tomorrow = NOON + dt.timedelta(days=1)
    assert (_quota(world, tomorrow).left_today, _quota(world, tomorrow).left) == (2, 1)
    world.submit(received_at=tomorrow)
    with refused(world.database, QuotaSpent, "participation", match="used 3 of its 3 submissions to this evaluation"):
        world.submit(received_at=tomorrow)


def test_twenty_parallel_submissions_against_a_quota_of_five_leave_five(world: World, database_url: str) -> None:
    world.change_evaluation(daily_quota=QUOTA)
    upload = world.receive(run_text(1))
    world.submit(upload=upload, received_at=NOON - dt.timedelta(days=1))
    (system,) = world.all(sa.select(System))
    answers = _at_once(
        database_url,
        range(PARALLEL),
        lambda database, _: _submit_for(database, world, world.team, upload, system=system.id, received_at=NOON),
    )
    assert answers.count("taken") == QUOTA
    assert answers.count("spent") == PARALLEL - QUOTA
    today = world.all(sa.select(Submission).where(Submission.received_at == NOON))
    assert len(today) == QUOTA
    assert len(world.all(sa.select(Scoring))) == QUOTA + 1
    assert (_participation(world).used_today, _participation(world).used) == (QUOTA, QUOTA + 1)


def test_the_first_submissions_of_a_team_at_the_same_moment_make_one_count(world: World, database_url: str) -> None:
    upload = world.receive(run_text(1))
    _at_once(database_url, range(8), lambda database, _: _submit_for(database, world, world.team, upload))
    assert _participation(world).used == 8


def test_a_rejected_file_costs_no_quota_but_twenty_a_day_are_enough(world: World) -> None:
    world.change_evaluation(daily_quota=30)
    for _ in range(2):
        world.submit(WRONG_FILE, received_at=NOON)
    assert _quota(world, NOON).left == 28
    with world.database.write() as session:  # as if eighteen others had been rejected by now
        for table in (Participation, PersonalUse):
            session.execute(sa.update(table).values(rejected_today=REJECTED_A_DAY - 2))
    world.drain()
    assert _participation(world).used == 0
    quota = _quota(world, NOON)
    assert (quota.left, quota.used_today, quota.rejected_today) == (0, 0, 20)
    with refused(world.database, QuotaSpent, "participation", match="20 files rejected or left unused here today"):
        world.submit(received_at=NOON)
    with world.organising() as (session, campaign, _):
        other = evaluations.create_evaluation(session, CONSOLE, campaign, "2027", "Next", "2027", documents=1000).id
    world.submit(evaluation=other, received_at=NOON)
    world.submit(received_at=NOON + dt.timedelta(days=1))


def test_a_rejection_under_a_second_set_gives_nothing_back_again(world: World) -> None:
    world.submit(WRONG_FILE)
    world.drain()
    world.change_evaluation(relevance_level=2)
    world.drain()
    participation = _participation(world)
    assert (participation.used, participation.used_today, participation.rejected_today) == (0, 0, 1)


def _second_team(world: World, name: str = "Southern lights") -> int:
    """A team of Ada's own; her actor knows of it from here on."""
    with world.database.write() as session:
        assert world.ada.user_id is not None
        team = teams.create_team(session, world.ada, name).id
        world.ada = actor_of(session, world.ada.user_id)
    return team


def _submit_for(database: Database, world: World, team: int, upload: Received, **values: Any) -> None:
    with database.write() as session:
        submissions.submit(
            session, world.ada, world.evaluation, team, upload=upload,
            **{"system": NewSystem(f"A system of team {team}, {next(NUMBERS)}"), **values},
        )  # fmt: skip


def test_one_person_has_one_quota_over_all_of_their_teams(world: World) -> None:
    other = _second_team(world)
    world.change_evaluation(daily_quota=2, total_quota=3)
    upload = world.receive(run_text(1))
    _submit_for(world.database, world, world.team, upload, received_at=NOON)
    _submit_for(world.database, world, other, upload, received_at=NOON)
    with refused(world.database, QuotaSpent, "personal_use", match="You have used 2 of your 2 submissions for today"):
        _submit_for(world.database, world, other, upload, received_at=NOON)
    _submit_for(world.database, world, other, upload, received_at=NOON + DAY)
    with refused(world.database, QuotaSpent, "personal_use", match="3 of your 3 submissions to this evaluation, over"):
        _submit_for(world.database, world, world.team, upload, received_at=NOON + DAY)


def test_two_requests_of_one_person_in_two_teams_at_the_same_moment_take_one_quota(
    world: World, database_url: str
) -> None:
    mine = [world.team, *(_second_team(world, f"Team {number}") for number in range(3))]
    world.change_evaluation(daily_quota=2)
    upload = world.receive(run_text(1))
    answers = _at_once(
        database_url, mine, lambda database, team: _submit_for(database, world, team, upload, received_at=NOON)
    )
    assert sorted(answers) == ["spent", "spent", "taken", "taken"]
    (use,) = world.all(sa.select(PersonalUse))
    assert (use.used_today, use.used) == (2, 2)
    assert len(world.all(sa.select(Submission))) == 2


def test_files_that_wait_to_be_checked_count_against_the_rejections_that_are_left(world: World) -> None:
    other = _second_team(world)
    upload = world.receive(WRONG_FILE)
    for _ in range(REJECTED_A_DAY):
        world.submit(upload=upload, received_at=NOON)
    with refused(world.database, QuotaSpent, "participation", match="Your team has 20 files on the way or not checked"):
        world.submit(upload=upload, received_at=NOON)
    with refused(world.database, QuotaSpent, "participation", match="You have 20 files"):
        _submit_for(world.database, world, other, upload, received_at=NOON)
    world.submit(actor=CONSOLE, upload=upload, received_at=NOON)  # who loads many at once waits for nobody
    world.submit(upload=upload, received_at=NOON + DAY)
    with world.database.write() as session:
        session.execute(sa.update(Submission).where(Submission.id == 1).values(scored_at=NOON))
        session.execute(sa.update(Submission).where(Submission.submitter_id.is_(None)).values(scored_at=NOON))
    world.submit(upload=upload, received_at=NOON)


def _hold(database: Database, world: World, team: int, now: dt.datetime = NOON) -> int:
    """A place for a file of Ada's that must have come within the hour."""
    with database.write() as session:
        return submissions.reserve_quota(
            session, world.ada, session.get_one(Evaluation, world.evaluation), session.get_one(Team, team),
            begun_at=now, now=now, expires_at=now + dt.timedelta(hours=1),
        )  # fmt: skip


def test_places_taken_at_the_same_moment_by_files_of_one_person_s_teams_are_no_more_than_are_left(
    world: World, database_url: str
) -> None:
    mine = [world.team, _second_team(world)]
    world.change_evaluation(daily_quota=QUOTA)
    answers = _at_once(database_url, 8 * mine, lambda database, team: _hold(database, world, team))
    assert answers.count("taken") == QUOTA
    assert len(world.all(sa.select(Arrival))) == QUOTA
    assert world.all(sa.select(Participation)) == []  # a team takes part from its first submission on


def test_a_place_ends_with_its_submission_with_an_unused_file_when_given_up_or_in_time(world: World) -> None:
    world.change_evaluation(daily_quota=1)
    upload = world.receive(run_text(1))
    _hold(world.database, world, world.team)
    with refused(world.database, QuotaSpent, "arrival", match="1 file on the way"):
        _hold(world.database, world, world.team)
    _hold(world.database, world, world.team, NOON + dt.timedelta(hours=1))  # the first one's process was killed
    (second,) = world.all(sa.select(Arrival.id))
    with world.database.write() as session:
        submissions.release_quota(session, second)
    third = _hold(world.database, world, world.team)
    with world.database.write() as session:
        assert world.ada.user_id is not None
        submissions.count_unused_file(session, world.evaluation, world.ada.user_id, NOON)
        submissions.release_quota(session, third)
    fourth = _hold(world.database, world, world.team)
    _submit_for(world.database, world, world.team, upload, received_at=NOON, place=fourth)
    assert world.all(sa.select(Arrival)) == []
    (use,) = world.all(sa.select(PersonalUse))
    assert (use.used, use.rejected_today) == (1, 1)


def test_a_campaign_is_removed_though_a_file_arrives_for_it_or_came_unused(
    database: Database, tmp_path: Path, quick_hashes: None
) -> None:
    world = build_world(database, tmp_path, qrels=None)
    _hold(world.database, world, world.team)
    with world.organising() as (session, campaign, _):
        evaluations.remove_campaign(session, CONSOLE, campaign)
    assert world.all(sa.select(Arrival)) == world.all(sa.select(PersonalUse)) == []
