"""A submission's page: who sees it, what it says in every state, withdrawing."""

import re
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from leaderboard.models import Scoring, Submission
from leaderboard.rules.states import State
from tests.web.conftest import RUN, Reader, World


@pytest.fixture
def run(world: World, participant: Reader) -> str:
    """The page of a run that Ada has just submitted for Alpha."""
    location = participant.send(
        "/campaigns/harbour/2025/submit", RUN, system=str(world.system.id), designation="primary", label="first try"
    ).location
    assert location is not None
    return location


def turn(world: World, state: State, **submission: object) -> None:
    """Puts the scoring of every run into `state`, as a worker would."""
    with world.database.write() as session:
        session.execute(sa.update(Scoring).values(state=state))
        if submission:
            session.execute(sa.update(Submission).values(**submission))


def test_its_team_and_the_organisers_see_it_while_it_waits_and_nobody_else(
    reader: Callable[[str], Reader], visitor: Reader, run: str
) -> None:
    for name in ("ada", "ben", "orla"):
        page = reader(name).get(run)
        assert "first try" in page
        assert "status-queued" in page
    for outsider in (visitor, reader("eve")):
        outsider.get(run, status=404)
        outsider.get(f"{run}/status", status=404)
        assert outsider.post(f"{run}/withdraw").status_code in {302, 404}


def test_it_gives_the_receipt(world: World, participant: Reader, run: str) -> None:
    with world.database.read() as session:
        receipt = session.scalar(sa.select(Submission.sha256))
    assert receipt is not None
    assert receipt in participant.get(run)


@pytest.mark.parametrize("state", [State.QUEUED, State.SCORING])
def test_it_looks_again_by_itself_until_it_is_done(world: World, participant: Reader, run: str, state: State) -> None:
    turn(world, state)
    page = participant.get(run)
    assert f'data-progress="{run}/status"' in page
    assert '<noscript><meta http-equiv="refresh"' in page
    part = participant.get(f"{run}/status")
    assert f'data-state="{state.value}" data-awaits="scores"' in part


@pytest.mark.parametrize("state", [State.SCORED, State.REJECTED, State.FAILED])
def test_it_no_longer_looks_once_it_is_done(world: World, participant: Reader, run: str, state: State) -> None:
    turn(world, state)
    page = participant.get(run)
    assert "data-progress" not in page
    assert "refresh" not in page
    assert 'data-awaits=""' in participant.get(f"{run}/status")


def test_a_rejected_file_shows_every_problem_with_its_line(world: World, participant: Reader, run: str) -> None:
    problems = [[17, "expected 6 columns, found 5 (query Q0 document rank score tag)"], [None, "<b>no</b> end"]]
    turn(world, State.REJECTED, problems=problems, problem_count=1204)
    page = participant.get(run)
    assert '<td class="figure">17</td><td>expected 6 columns, found 5' in page
    assert '<td class="figure">whole file</td><td>&lt;b&gt;no&lt;/b&gt; end</td>' in page
    assert "1,204 problems; here are the first of each kind" in page
    assert "Submit another run" in page


def test_a_failure_is_ours_and_says_so(world: World, participant: Reader, run: str) -> None:
    turn(world, State.FAILED)
    assert "The fault is ours" in participant.get(run)


def test_its_team_withdraws_it_with_a_reason(participant: Reader, reader: Callable[[str], Reader], run: str) -> None:
    assert "Withdraw this run" in participant.get(run)
    assert reader("ben").post(f"{run}/withdraw", because="wrong file").location == run
    page = participant.get(run)
    assert "status-withdrawn" in page
    assert "wrong file" in page
    assert "Withdraw this run" not in page
    assert participant.post(f"{run}/withdraw").status_code == 409


def test_only_its_team_and_organisers_withdraw_what_everybody_sees(
    world: World, visitor: Reader, other: Reader, organiser: Reader, run: str
) -> None:
    turn(world, State.SCORED)
    assert other.post(f"{run}/withdraw").status_code == 403
    assert visitor.post(f"{run}/withdraw").location.startswith("/login")
    assert organiser.post(f"{run}/withdraw").location == run


def test_an_outsider_sees_a_scored_run_without_what_is_its_team_s_own(
    world: World, visitor: Reader, other: Reader, run: str
) -> None:
    turn(world, State.SCORED, notes="our secret")
    for outsider in (visitor, other):
        page = outsider.get(run)
        assert "our secret" not in page
        assert "alpha.run" not in page
        assert not re.search(r"\b[0-9a-f]{64}\b", page)
        assert "Withdraw" not in page


def test_a_number_that_no_run_has_is_not_found(visitor: Reader) -> None:
    visitor.get("/submissions/99", status=404)
