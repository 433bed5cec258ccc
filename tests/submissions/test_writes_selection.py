"""Which run stands: what a team chooses, what organisers take off the boards, and that nothing moves unasked."""

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.audit.models import Event
from leaderboard.errors import Conflict, InvalidFields, NotAllowed
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.selection import scored_runs
from leaderboard.submissions.rules import Designation, Ruling, RunChoice, State, selected_runs
from leaderboard.submissions.writes import submissions
from leaderboard.teams.models import System
from tests.submissions.test_writes import WRONG_FILE, act
from tests.support.refused import refused
from tests.support.standing import standing_by_the_rule, standing_kept
from tests.support.world import World, run_text

PRIMARY = Designation.PRIMARY


def _standing(world: World) -> set[int]:
    """The runs that stand for their systems on the board: those that are kept, and those that the rule says."""
    assert standing_kept(world.database) == standing_by_the_rule(world.database)
    with world.database.read() as session:
        runs = [run for own in scored_runs(session).values() for run in own]
        return {run.submission_id for run in selected_runs(runs, RunChoice.PRIMARY, lambda _: None, "none")}


def _primary(world: World) -> int | None:
    (row,) = world.all(sa.select(Participation))
    found: int | None = row.primary_submission_id
    return found


def _two_systems(world: World) -> tuple[int, int, int]:
    """A contrastive and then a primary run of one system, and a contrastive one of another; all scored."""
    plain = world.submit(run_text(1))
    (system,) = world.all(sa.select(System))
    main = world.submit(run_text(2), system=system, designation=PRIMARY)
    other = world.submit(run_text(3))
    world.drain()
    return plain, main, other


def test_the_old_primary_run_goes_on_standing_when_one_of_another_system_becomes_primary(world: World) -> None:
    plain, main, other = _two_systems(world)
    assert _standing(world) == {main, other}
    newer = world.submit(run_text(4), designation=PRIMARY)
    world.drain()
    assert _primary(world) == newer
    # The contrastive run was scored before the old primary one, and nobody chose it.
    assert _standing(world) == {main, other, newer}
    assert plain not in _standing(world)


def test_a_team_chooses_an_earlier_run_as_its_primary_one_and_the_other_goes_on_standing(world: World) -> None:
    _, main, other = _two_systems(world)
    act(world, submissions.make_primary, other)
    assert (_primary(world), _standing(world)) == (other, {main, other})
    kinds = {run.id: run.designation for run in world.all(sa.select(Submission))}
    assert (kinds[main], kinds[other]) == (Designation.CONTRASTIVE, PRIMARY)
    actions = [event.action for event in world.all(sa.select(Event).where(Event.subject_id == main).order_by(Event.id))]
    assert actions[-2:] == ["make contrastive", "keep standing"]
    with refused(world.database, NotAllowed, "submission"):
        act(world, submissions.make_primary, main, actor=world.eve)


def test_a_disqualified_run_leaves_its_place_empty_until_organisers_put_it_back(world: World) -> None:
    plain, main, other = _two_systems(world)
    act(world, submissions.hide_run, main, Ruling.DISQUALIFIED, "trained on the queries", actor=CONSOLE)
    assert _standing(world) == {other}
    with refused(world.database, Conflict, "submission", match="keep its place empty"):
        act(world, submissions.select_run, plain)
    with refused(world.database, Conflict, "submission", match="is disqualified already; put it back first"):
        act(world, submissions.hide_run, main, Ruling.HIDDEN, "again", actor=CONSOLE)
    act(world, submissions.restore, main, actor=CONSOLE)
    assert (_standing(world), _primary(world)) == ({main, other}, main)


def test_organisers_may_hide_a_run_and_let_the_next_one_stand(world: World) -> None:
    plain, main, other = _two_systems(world)
    act(world, submissions.hide_run, main, Ruling.HIDDEN, "the team asked", actor=CONSOLE, holds_place=False)
    assert (_standing(world), _primary(world)) == ({plain, other}, None)
    act(world, submissions.restore, main, actor=CONSOLE)
    assert _standing(world) == {main, other}


def test_a_team_can_not_fill_a_place_that_organisers_keep_empty_by_withdrawing(world: World) -> None:
    _, main, other = _two_systems(world)
    act(world, submissions.hide_run, main, Ruling.DISQUALIFIED, "two people sent it", actor=CONSOLE)
    act(world, submissions.withdraw, main)
    assert _standing(world) == {other}


def test_who_takes_a_run_off_says_why_and_organises(world: World) -> None:
    run = world.submit()
    with refused(world.database, InvalidFields, "submission") as caught:
        act(world, submissions.hide_run, run, Ruling.HIDDEN, " ", actor=CONSOLE)
    assert set(caught.value.fields) == {"because"}
    with refused(world.database, NotAllowed, "submission"):
        act(world, submissions.hide_run, run, Ruling.HIDDEN, "a rival")
    with refused(world.database, NotAllowed, "submission"):
        act(world, submissions.restore, run)
    with refused(world.database, Conflict, "submission", match="neither hidden nor disqualified"):
        act(world, submissions.restore, run, actor=CONSOLE)


def test_another_label_and_other_notes_leave_what_they_were_in_the_trail(world: World) -> None:
    run = world.submit(label="first", notes="plain")
    act(world, submissions.describe, run, label=" second  try ", notes="plain")
    act(world, submissions.describe, run, label="second try", notes="plain ")  # changes nothing
    (changed,) = world.all(sa.select(Event).where(Event.action == "describe"))
    assert changed.facts == {"label": ["first", "second try"]}
    with refused(world.database, InvalidFields, "submission") as caught:
        act(world, submissions.describe, run, label="x" * 81, notes="")
    assert set(caught.value.fields) == {"label"}
    with refused(world.database, NotAllowed, "submission"):
        act(world, submissions.describe, run, label="mine", notes="", actor=world.eve)


def test_a_rejected_file_is_handed_back_and_checked_again(world: World) -> None:
    run = world.submit(WRONG_FILE)
    world.drain()
    assert world.scoring(run).state is State.REJECTED
    with pytest.raises(NotAllowed):
        act(world, submissions.retry, run)
    act(world, submissions.retry, run, actor=CONSOLE)
    assert world.scoring(run).state is State.QUEUED
    world.drain()
    assert world.scoring(run).state is State.REJECTED
