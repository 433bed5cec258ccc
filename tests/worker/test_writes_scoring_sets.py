"""Scoring sets: what makes a new one, what it refuses, and when boards switch to it."""

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.campaigns import writes as campaigns
from leaderboard.errors import Conflict, InvalidFields
from leaderboard.evaluations.models import Evaluation
from leaderboard.submissions.rules import SetState, State
from leaderboard.worker import writes as scoring_sets
from leaderboard.worker.models import Scoring, ScoringSet
from tests.support.refused import refused
from tests.support.verification import named, verified
from tests.support.world import QRELS, World


def _sets(world: World) -> list[ScoringSet]:
    return world.all(sa.select(ScoringSet).order_by(ScoringSet.id))


def test_a_collection_of_relevant_documents_only_is_refused(world: World) -> None:
    with refused(world.database, InvalidFields, "scoring_set") as caught:
        world.change_evaluation(documents=1)
    assert "q1" in caught.value.fields["documents"][0] or "q2" in caught.value.fields["documents"][0]
    world.change_evaluation(documents=2)
    with refused(world.database, InvalidFields, "scoring_set", match="P_fa is undefined"):
        world.judge("q1 0 d1 1\nq1 0 d2 1\n")

    words = "query q1 has more judged documents than the collection has documents"
    with refused(world.database, InvalidFields, "scoring_set", match=words):
        world.judge("q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 0\n")


@pytest.mark.parametrize("documents", [2**31, 10**15])
def test_a_collection_may_be_as_large_as_its_setting_allows(world: World, documents: int) -> None:
    world.change_evaluation(documents=documents)
    assert _sets(world)[-1].settings.documents == documents
    world.submit()
    world.drain()
    assert world.all(sa.select(Scoring.state)) == [State.SCORED]


def _show(world: World, measure: str, *others: str) -> None:
    with world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, measures=[measure, *others], primary_measure=measure)


@pytest.mark.parametrize(
    ("measure", "needs"),
    [("Novelty", "list of documents known to the user"), ("alpha_nDCG@10", "judgments of subtopics")],
)
def test_a_measure_says_what_it_needs(world: World, measure: str, needs: str) -> None:
    with refused(world.database, InvalidFields, "campaign", match=f"{measure} needs .*{needs}"):
        _show(world, measure)


def test_a_measure_of_subtopics_is_shown_with_judgments_of_them_and_keeps_others_out(world: World) -> None:
    world.judge(QRELS, subtopics="q1 1 d1 1\n")
    _show(world, "alpha_nDCG@10")
    assert [made.settings.subtopics for made in _sets(world)] == [False, True, True]
    with refused(world.database, InvalidFields, "judgment_revision", match="needs judgments of subtopics"):
        world.judge(QRELS + "q3 0 d9 1\n")


def test_judgments_with_a_grade_above_what_a_measure_takes_are_refused(world: World) -> None:
    _show(world, "ERR(gmax=1)")
    words = "takes grades up to 1, and grade 2 was judged: write gmax=2, or max=data"
    with refused(world.database, InvalidFields, "scoring_set", match=words):
        world.judge("q1 0 d1 2\nq2 0 d3 1\n")


def test_a_new_revision_is_shown_once_every_run_is_scored_under_it(world: World) -> None:
    first, second = world.submit(), world.submit()
    world.drain()
    # What the old set says stays on the board ...
    world.judge(QRELS + "q3 0 d9 1\n")
    assert [made.state for made in _sets(world)] == [SetState.CURRENT, SetState.BUILDING]
    assert world.scoring(first).state is State.SCORED
    third = world.submit()
    assert world.scoring(third).state is State.QUEUED
    entered = world.all(sa.select(Scoring).where(Scoring.submission_id == third))
    assert {scoring.scoring_set_id for scoring in entered} == {made.id for made in _sets(world)}
    # ... until the new one has them all.
    world.drain()
    assert [made.state for made in _sets(world)] == [SetState.SUPERSEDED, SetState.CURRENT]
    for submission in (first, second, third):
        scoring = world.scoring(submission)
        assert scoring.state is State.SCORED
        assert scoring.missing == ["q3"]


def test_a_change_while_a_set_is_building_sets_that_one_aside(world: World) -> None:
    world.submit()
    world.drain()
    world.change_evaluation(relevance_level=2)
    world.change_evaluation(relevance_level=3)
    assert [made.state for made in _sets(world)] == [SetState.CURRENT, SetState.SUPERSEDED, SetState.BUILDING]
    waiting = world.all(sa.select(Scoring).where(Scoring.state == State.QUEUED))
    assert [scoring.scoring_set_id for scoring in waiting] == [_sets(world)[2].id]


def test_settings_put_back_find_their_results_again(world: World) -> None:
    submission = world.submit()
    world.drain()
    before = world.scoring(submission).id
    world.change_evaluation(relevance_level=2)
    world.drain()
    assert world.scoring(submission).id != before
    world.change_evaluation(relevance_level=1)
    world.drain()
    assert world.scoring(submission).id == before
    assert len(_sets(world)) == 2


def test_a_second_source_of_judgments_stands_beside_the_official_one(world: World) -> None:
    run = world.submit()
    world.drain()
    world.judge("q1 0 d2 1\nq2 0 d3 1\n", source="llm")
    official, beside = _sets(world)
    assert (official.source, official.state) == ("assessors", SetState.CURRENT)
    assert (beside.source, beside.state) == ("llm", SetState.BESIDE)
    world.drain()
    # The board still shows the official figures, and the run has others beside them.
    assert world.scoring(run).scoring_set_id == official.id
    assert world.mean(run, official.id, "P@1") == pytest.approx(1 / 3)  # d2 is first of q1, d3 of q2, q3 has nothing
    assert world.mean(run, beside.id, "P@1") == 1.0  # both first documents; pooled: q3 is not judged
    # What comes later is scored by both, by the official judgments first.
    later = world.submit()
    waiting = world.all(sa.select(Scoring).where(Scoring.submission_id == later).order_by(Scoring.priority))
    assert [one.scoring_set_id for one in waiting] == [official.id, beside.id]
    assert waiting[0].priority < waiting[1].priority


def test_a_revision_of_one_source_replaces_that_of_its_source_only(world: World) -> None:
    world.submit()
    world.judge("q1 0 d2 1\n", source="llm")
    world.drain()
    world.judge("q1 0 d2 1\nq2 0 d3 1\n", source="llm")
    states = [(one.source, one.state) for one in _sets(world)]
    assert states == [("assessors", SetState.CURRENT), ("llm", SetState.BESIDE), ("llm", SetState.BUILDING)]
    world.drain()
    states = [(one.source, one.state) for one in _sets(world)]
    assert states == [("assessors", SetState.CURRENT), ("llm", SetState.SUPERSEDED), ("llm", SetState.BESIDE)]
    assert [one.shown_until for one in _sets(world)] == [None] * 3  # no board of the evaluation itself showed them


def _make_official(world: World, source: str) -> None:
    with world.organising() as (session, _, evaluation):
        scoring_sets.make_official(session, CONSOLE, evaluation, source)


def test_another_source_becomes_the_official_one_when_all_is_scored_by_it(world: World) -> None:
    run = world.submit()
    world.drain()
    with refused(world.database, Conflict, "evaluation", match="no judgments by llm; there are some by: assessors"):
        _make_official(world, "llm")
    world.judge("q1 0 d2 1\nq2 0 d3 1\n", source="llm")
    with refused(world.database, Conflict, "evaluation", match="still being scored by the judgments of llm"):
        _make_official(world, "llm")
    world.drain()
    _make_official(world, "llm")
    former, official = _sets(world)
    assert (former.state, official.state) == (SetState.BESIDE, SetState.CURRENT)
    assert former.shown_until is not None
    assert official.shown_until is None
    assert world.scoring(run).scoring_set_id == official.id
    # Judgments without a name are now the new official source's.
    world.judge("q1 0 d2 1\nq2 0 d3 0\n")
    assert _sets(world)[-1].source == "llm"


def test_a_source_that_lacks_what_a_measure_needs_keeps_no_measure_from_being_shown(world: World) -> None:
    world.judge(QRELS, subtopics="q1 1 d1 1\n")
    world.judge("q1 0 d2 1\n", source="llm")
    _show(world, "AP", "alpha_nDCG@10")
    measures = {one.source: one.settings.measures for one in _sets(world)}
    assert measures == {"assessors": ("AP", "alpha_nDCG@10"), "llm": ("AP",)}


def test_settings_that_are_changed_back_before_runs_are_scored_by_them_are_accounted_for_in_the_trail(
    world: World,
) -> None:
    world.submit()
    world.drain()
    (documents,) = world.all(sa.select(Evaluation.documents))
    world.change_evaluation(documents=documents + 1)
    world.change_evaluation(documents=documents)
    assert [made.state for made in _sets(world)] == [SetState.CURRENT, SetState.SUPERSEDED]
    world.change_evaluation(title="Another year")
    assert named(verified(world)) == []
