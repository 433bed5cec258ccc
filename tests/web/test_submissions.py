"""A submission's page: who sees it, what it says in every state, withdrawing."""

import re
from collections.abc import Callable

import pytest

from leaderboard.submissions.rules import State
from tests.web.conftest import BOTH, FORM, RUN, Reader, World


@pytest.fixture
def run(world: World, participant: Reader) -> str:
    """The page of a run that Ada has just submitted for Alpha."""
    return str(participant.send(FORM, RUN, **world.sent(designation="primary", label="first try")).location)


@pytest.mark.parametrize("state", [State.SCORED, State.REJECTED])
def test_it_no_longer_looks_once_it_is_done(world: World, participant: Reader, run: str, state: State) -> None:
    world.turn(state)
    page = participant.get(run)
    assert "data-progress" not in page
    assert "refresh" not in page
    assert 'data-awaits=""' in participant.get(f"{run}/status")


def test_a_rejected_file_shows_every_problem_with_its_line(world: World, participant: Reader, run: str) -> None:
    problems = [[17, "expected 6 columns, found 5 (query Q0 document rank score tag)"], [None, "<b>no</b> end"]]
    world.turn(State.REJECTED, problems=problems, problem_count=1204)
    page = participant.get(run)
    assert '<td class="figure">17</td><td>expected 6 columns, found 5' in page
    assert '<td class="figure">whole file</td><td>&lt;b&gt;no&lt;/b&gt; end</td>' in page
    assert "1,204 problems; here are the first of each kind" in page
    assert "Submit another run" in page


@BOTH
def test_its_team_withdraws_it_with_a_reason(participant: Reader, reader: Callable[[str], Reader], run: str) -> None:
    assert "Withdraw this run" in participant.get(run)
    assert reader("ben").post(f"{run}/withdraw", because="It was the wrong file.").location == run
    page = participant.get(run)
    assert "status-withdrawn" in page
    assert ": It was the wrong file. It is on no board" in page
    assert "Withdraw this run" not in page
    assert participant.post(f"{run}/withdraw").location == run
    assert "This run was withdrawn already." in participant.get(run)


def test_a_team_makes_another_run_its_primary_one_after_reading_what_that_changes(
    world: World, participant: Reader, other: Reader
) -> None:
    first, second = (
        participant.send(FORM, f"{RUN}{line}", **world.sent(label="BERT")).location or ""
        for line in ("", "q3 Q0 d7 2 0.5 alpha\n")
    )
    world.turn(State.SCORED)
    asked = participant.get(f"{second}/primary")
    assert "Harbour 2025: 0 of 1 system change rank; another run is shown for 1." in asked
    assert re.search(r"The team&#39;s primary run: none now, then BERT \(run 2, [^)]+\)\.", asked)
    assert re.search(r"counts for Searcher: BERT \(run 1, [^)]+\) now, then BERT \(run 2, [^)]+\)\.", asked)
    assert other.post(f"{second}/primary").status_code == 403
    assert participant.post(f"{second}/primary").location == second
    assert f"{second}/primary" not in participant.get(second)
    assert participant.post(f"{second}/withdraw").location == second
    assert '<p class="notice">This run was withdrawn.</p>' in participant.get(f"{second}/primary")
    assert participant.post(f"{first}/primary").location == first


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
    world.turn(State.SCORED)
    assert other.post(f"{run}/describe", label="mine").status_code == 403
