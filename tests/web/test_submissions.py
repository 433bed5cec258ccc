"""A submission's page: who sees it, what it says in every state, withdrawing."""

import re
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from leaderboard.campaigns.models import Campaign
from leaderboard.submissions.rules import RunChoice, State
from leaderboard.worker.models import Scoring
from tests.web.conftest import RUN, Reader, World

LINE = "q3 Q0 d7 2 0.5 alpha\n"  # one more for a second run
SQLITE = pytest.mark.parametrize("engine_name", ["sqlite"])  # words of what the tests of writes does on both


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
        for scoring in session.scalars(sa.select(Scoring).options(sa.orm.joinedload(Scoring.submission))):
            run, scoring.state = scoring.submission, state
            changes = {"scored_at": run.received_at} if state is State.SCORED else {}
            for name, value in {**changes, **submission}.items():
                setattr(run, name, value)


@SQLITE
@pytest.mark.parametrize("state", [State.SCORED, State.REJECTED, State.FAILED])
def test_it_no_longer_looks_once_it_is_done(world: World, participant: Reader, run: str, state: State) -> None:
    turn(world, state)
    page = participant.get(run)
    assert "data-progress" not in page
    assert "refresh" not in page
    assert 'data-awaits=""' in participant.get(f"{run}/status")


@SQLITE
def test_a_rejected_file_shows_every_problem_with_its_line(world: World, participant: Reader, run: str) -> None:
    problems = [[17, "expected 6 columns, found 5 (query Q0 document rank score tag)"], [None, "<b>no</b> end"]]
    turn(world, State.REJECTED, problems=problems, problem_count=1204)
    page = participant.get(run)
    assert '<td class="figure">17</td><td>expected 6 columns, found 5' in page
    assert '<td class="figure">whole file</td><td>&lt;b&gt;no&lt;/b&gt; end</td>' in page
    assert "1,204 problems; here are the first of each kind" in page
    assert "Submit another run" in page


def test_its_team_withdraws_it_with_a_reason(participant: Reader, reader: Callable[[str], Reader], run: str) -> None:
    assert "Withdraw this run" in participant.get(run)
    assert reader("ben").post(f"{run}/withdraw", because="It was the wrong file.").location == run
    page = participant.get(run)
    assert "status-withdrawn" in page
    assert ": It was the wrong file. It is on no board" in page
    assert "Withdraw this run" not in page
    asked = participant.get(f"{run}/withdraw")
    assert "This run was withdrawn already." in asked
    assert participant.post(f"{run}/withdraw").location == run
    assert "This run was withdrawn already." in participant.get(run)


def two_runs(world: World, participant: Reader) -> tuple[str, str]:
    """The pages of two scored contrastive runs of one system."""
    sent = {"system": str(world.system.id), "designation": "contrastive", "label": "BERT"}
    first, second = (
        participant.send("/campaigns/harbour/2025/submit", f"{RUN}{line}", **sent).location for line in ("", LINE)
    )
    assert first is not None
    assert second is not None
    turn(world, State.SCORED)
    return first, second


@SQLITE
def test_a_team_makes_another_run_its_primary_one_after_reading_what_that_changes(
    world: World, participant: Reader, other: Reader
) -> None:
    first, second = two_runs(world, participant)
    asked = participant.get(f"{second}/primary")
    assert re.search(r"primary run is none now and would be BERT \(run 2, [^)]+\)", asked)
    assert other.post(f"{second}/primary").status_code == 403
    assert participant.post(f"{second}/primary").location == second
    page = participant.get(second)
    assert "its team&#39;s primary run" in page or "its team's primary run" in page
    assert f"{second}/primary" not in page
    assert participant.post(f"{second}/withdraw").location == second
    assert participant.post(f"{first}/primary").location == first


@SQLITE
def test_label_and_notes_are_changed_by_the_team_and_come_back_where_they_are_too_long(
    participant: Reader, other: Reader, run: str, world: World
) -> None:
    assert 'value="' in participant.get(f"{run}/describe")
    refused = participant.post(f"{run}/describe", label="x" * 81, notes="kept as typed")
    assert (refused.status_code, "kept as typed" in refused.text) == (400, True)
    assert participant.post(f"{run}/describe", label="another label", notes="other notes").location == run
    page = participant.get(run)
    assert "<h1>another label</h1>" in page
    assert "other notes" in page
    turn(world, State.SCORED)
    assert other.post(f"{run}/describe", label="mine").status_code == 403


@SQLITE
def test_what_can_t_be_chosen_is_told_with_its_reason_in_place_of_a_button(world: World, participant: Reader) -> None:
    _, second = two_runs(world, participant)
    with world.database.write() as session:
        session.get_one(Campaign, world.campaign.id).run_choice = RunChoice.LATEST
    asked = participant.get(f"{second}/stand")
    assert '<p class="notice">In this campaign the latest run of each system stands for it.</p>' in asked
    assert participant.post(f"{second}/stand").location == second  # from a page that was shown before
    assert "In this campaign the latest run" in participant.get(second)
    assert "/stand" not in participant.get(second)
    assert participant.post(f"{second}/withdraw").location == second
    for act in ("stand", "primary"):
        assert '<p class="notice">This run was withdrawn.</p>' in participant.get(f"{second}/{act}")
