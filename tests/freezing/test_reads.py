"""Which evaluations can be frozen, and the files of which runs may be published."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from leaderboard.access import CONSOLE
from leaderboard.errors import Conflict, NotFound
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.rules import FieldKind, Opening
from leaderboard.freezing.reads import Copy, freezable
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Ruling
from leaderboard.submissions.writes import submissions
from tests.support.world import World, run_text

PAST, NOW, LATER = (datetime(year, 1, 2, tzinfo=UTC) for year in (2026, 2027, 2126))


def copy_of(world: World, agreement: str | None = None, all_runs: bool = False) -> Copy:
    with world.database.read() as session:
        return freezable(session, "https://boards.example.org", ("small", "2026"), NOW, agreement, all_runs)


def state(world: World, title: str) -> None:
    with world.organising() as (session, _, evaluation):
        evaluations.state_agreement(session, CONSOLE, evaluation, "publish", title=title, wording=title)


@pytest.fixture
def closed(world: World) -> World:
    """A closed year with two scored runs."""
    for number in (1, 2):
        world.submit(run_text(number), threshold=0.5)
    world.drain()
    world.change_evaluation(closes_at=PAST)
    return world


def test_without_an_agreement_no_files_of_teams_are_published_and_all_with_a_word_for_all(closed: World) -> None:
    copy = copy_of(closed)
    assert (copy.runs, copy.files, copy.agreed) == ({1, 2}, {}, "")
    assert copy.address == "https://boards.example.org/campaigns/small/2026"
    assert [name for _, name in copy_of(closed, all_runs=True).files.values()] == [
        "submission-1.txt",
        "submission-2.txt",
    ]


def test_an_agreement_publishes_the_runs_of_who_accepted_its_last_version(closed: World) -> None:
    state(closed, "Publishing runs")
    assert copy_of(closed, "publish").files == {}
    with closed.organising() as (session, _, evaluation):
        stated = evaluations.agreements_of(session, evaluation, {"publish": "1"})
        evaluations.accept_agreements(session, closed.ada, evaluation, stated)
    copy = copy_of(closed, "publish")
    assert (copy.files.keys(), copy.agreed) == ({1, 2}, "Publishing runs")
    state(closed, "Publishing and selling runs")
    copy = copy_of(closed, "publish")
    assert (copy.files, copy.agreed) == ({}, "Publishing and selling runs")
    with pytest.raises(NotFound, match=r"no agreement 'publsh' \(yes-or-no fields: none\); did you mean publish\?"):
        copy_of(closed, "publsh")
    with pytest.raises(NotFound, match=r"; known are publish$"):  # stated twice, named once
        copy_of(closed, "x")


def test_a_yes_in_the_form_publishes_a_run(world: World) -> None:
    with world.organising() as (session, _, evaluation):
        field = {"key": "publish", "label": "May we publish it?", "kind": FieldKind.YES_NO}
        evaluations.set_field(session, CONSOLE, evaluation, field)
    for number, answers in enumerate(({"publish": True}, {"publish": False}, {}), 1):
        world.submit(run_text(number), answers=answers)
    world.drain()
    world.change_evaluation(closes_at=PAST)
    copy = copy_of(world, "publish")
    assert (copy.runs, copy.files.keys(), copy.agreed) == ({1, 2, 3}, {1}, "May we publish it?")


def test_the_organisers_own_runs_are_published_and_hidden_ones_are_nowhere(closed: World) -> None:
    with closed.organising() as (session, campaign, _):
        campaign.baseline_team_id = closed.team
    assert copy_of(closed).files.keys() == {1, 2}
    with closed.database.write() as session:
        submissions.hide_run(session, CONSOLE, session.get_one(Submission, 2), Ruling.HIDDEN, "by mistake")
    copy = copy_of(closed, all_runs=True)
    assert (copy.runs, copy.files.keys()) == ({1}, {1})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"closes_at": None}, "it has no closing date"),
        ({"closes_at": LATER}, "it closes 2 Jan 2126, 00:00 UTC"),
        ({"closes_at": NOW - timedelta(seconds=1)}, "it closes 1 Jan 2027, 23:59 UTC"),  # its grace is not over
        ({"results": Opening.NEVER}, "its results are not public"),
        ({"anonymous_until": LATER}, "names of teams are still hidden"),
        ({"draft": True}, "visitors can't see it"),
    ],
)
def test_a_year_that_is_not_over_and_public_is_refused(closed: World, changes: dict[str, Any], reason: str) -> None:
    closed.change_evaluation(**changes)
    with pytest.raises(Conflict) as refused:
        copy_of(closed)
    assert refused.value.message == f"The year 2026 can't be frozen: {reason}"


def test_runs_that_wait_or_lack_their_intervals_are_waited_for(closed: World) -> None:
    closed.change_evaluation(late_allowed=True)
    closed.submit(run_text(3))
    with pytest.raises(Conflict, match="its runs are still being scored"):
        copy_of(closed)
    closed.drain()
    assert copy_of(closed).runs == {1, 2, 3}
