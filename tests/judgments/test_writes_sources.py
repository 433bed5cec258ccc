"""Sources of judgments: renamed where the name was mistyped, taken away where they came by mistake."""

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR
from leaderboard.audit.writes import present
from leaderboard.boards.reads.history import board_versions
from leaderboard.errors import Conflict, InvalidFields, NotAllowed
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Opening
from leaderboard.evaluations.writes import change_evaluation
from leaderboard.judgments import writes as sources
from leaderboard.judgments.models import Judgment, JudgmentRevision
from leaderboard.judgments.rules import Removal
from leaderboard.submissions.rules import SetState, State
from leaderboard.worker.models import Score, Scoring, ScoringSet
from leaderboard.worker.writes import make_official
from tests.support.refused import refused
from tests.support.verification import named, verified
from tests.support.world import QRELS, World

OTHERS = QRELS.replace("q3 0 d4 0", "q3 0 d4 1")


def rename(world: World, source: str, name: str) -> None:
    with world.organising() as (session, _, evaluation):
        sources.rename_source(session, CONSOLE, evaluation, source, name)


def remove(world: World, source: str) -> Removal:
    with world.organising() as (session, _, evaluation):
        return sources.remove_source(session, CONSOLE, evaluation, source)


def boards(world: World) -> list[str]:
    """What a visitor is told of boards as they stood, the newest first."""
    with world.database.read() as session:
        return [one.words for one in board_versions(session, VISITOR, "small", "2026", present()).sets]


def sets(world: World) -> list[tuple[str, SetState]]:
    return [(one.source, one.state) for one in world.all(sa.select(ScoringSet).order_by(ScoringSet.id))]


def test_a_source_has_its_new_name_everywhere_and_the_trail_keeps_the_one_before(world: World) -> None:
    world.submit()
    world.judge(OTHERS, source="secnd-lab")
    world.drain()
    rename(world, "secnd-lab", "second-lab")
    assert sets(world) == [("assessors", SetState.CURRENT), ("second-lab", SetState.BESIDE)]
    assert {one.source for one in world.all(sa.select(JudgmentRevision))} == {"assessors", "second-lab"}
    world.submit()
    world.drain()  # by sets whose events name the source as it was
    assert len(world.all(sa.select(Scoring).where(Scoring.state == State.SCORED))) == 4
    with world.organising() as (session, _, evaluation):
        make_official(session, CONSOLE, evaluation, "second-lab")
    rename(world, "second-lab", "third-lab")
    assert world.all(sa.select(Evaluation.official_source)) == ["third-lab"]
    world.judge(QRELS)  # by the official source, when nobody says whose they are
    assert world.all(sa.select(JudgmentRevision.source).order_by(JudgmentRevision.number))[-1] == "third-lab"
    assert named(verified(world)) == []


def test_a_name_that_is_taken_or_none_is_refused_and_so_is_who_organises_nothing(world: World) -> None:
    world.judge(OTHERS, source="second-lab")
    for name in ("assessors", "Second Lab!", "second-lab"):
        with refused(world.database, InvalidFields, "judgment_revision"):
            rename(world, "second-lab", name)
    with refused(world.database, Conflict, "judgment_revision", match="no judgments by llm; there are some by: asse"):
        rename(world, "llm", "other")
    with refused(world.database, NotAllowed, "scoring_set"), world.database.write() as session:
        found = session.get_one(Evaluation, world.evaluation)
        sources.rename_source(session, world.ada, found, "second-lab", "mine")


def test_a_source_goes_for_good_as_long_as_nothing_was_submitted(world: World) -> None:
    world.judge(OTHERS, source="llm")
    with refused(world.database, Conflict, "scoring_set", match="Boards use the judgments of assessors"):
        remove(world, "assessors")
    assert remove(world, "llm") is Removal.GONE
    assert sets(world) == [("assessors", SetState.CURRENT)]
    assert len(world.all(sa.select(Judgment))) == len(QRELS.splitlines())
    assert named(verified(world)) == []
    world.judge(OTHERS, source="llm")
    world.submit()
    world.drain()
    assert sets(world)[1:] == [("llm", SetState.BESIDE)]


@pytest.mark.parametrize(  # one story, with one word of the evaluation's changed
    ("engine_name", "details", "removal"),
    [("sqlite", Opening.NEVER, Removal.HIDDEN), ("postgresql", Opening.ALWAYS, Removal.KEPT)],
)
def test_a_source_is_set_aside_once_runs_are_there_and_what_readers_saw_stays(
    world: World, details: Opening, removal: Removal
) -> None:
    with world.organising() as (session, _, evaluation):
        change_evaluation(session, CONSOLE, evaluation, results=Opening.ALWAYS, details=details)
    world.submit()
    world.judge(OTHERS, source="llm")
    world.drain()
    assert remove(world, "llm") is removal
    assert sets(world) == [("assessors", SetState.CURRENT), ("llm", SetState.SUPERSEDED)]
    assert boards(world) == (["revision 2 by llm"] if removal is Removal.KEPT else []) + ["revision 1"]
    scored = len(world.all(sa.select(Score.scoring_id).distinct()))
    world.submit()
    world.judge(OTHERS)
    world.drain()
    assert len(world.all(sa.select(Score.scoring_id).distinct())) == scored + 3  # both by revision 3, one by 1
    with refused(world.database, Conflict, "scoring_set", match="set aside already"):
        remove(world, "llm")
    with (
        refused(world.database, Conflict, "scoring_set", match="llm is set aside, so no run is scored by it"),
        world.organising() as (session, _, evaluation),
    ):
        make_official(session, CONSOLE, evaluation, "llm")
    world.judge(OTHERS, source="llm")  # the same as before: it is taken up again
    world.drain()
    assert sets(world)[-1] == ("llm", SetState.BESIDE)
    assert world.all(sa.select(Evaluation.set_aside)) == [[]]
    assert named(verified(world)) == []
