"""Scoring sets: what makes a new one, what it refuses, and when boards switch to it."""

import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.errors import InvalidFields
from leaderboard.models import Scoring, ScoringSet
from leaderboard.rules.states import SetState, State
from leaderboard.services import campaigns
from tests.support.refused import refused
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


def test_judgments_on_more_documents_than_the_collection_has_are_refused(world: World) -> None:
    world.change_evaluation(documents=2)
    with refused(
        world.database,
        InvalidFields,
        "scoring_set",
        match="query q1 has more judged documents than the collection has documents",
    ):
        world.judge("q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 0\n")


def test_a_measure_that_needs_known_documents_says_so(world: World) -> None:
    with (
        refused(world.database, InvalidFields, "campaign", match="list of documents known to the user"),
        world.organising() as (session, campaign, _),
    ):
        campaigns.change_campaign(session, CONSOLE, campaign, measures=["Novelty"], primary_measure="Novelty")


def test_a_measure_of_subtopics_needs_judgments_of_them(world: World) -> None:
    names = {"measures": ["alpha_nDCG@10"], "primary_measure": "alpha_nDCG@10"}
    with (
        refused(world.database, InvalidFields, "campaign", match="alpha_nDCG@10 needs judgments of subtopics"),
        world.organising() as (session, campaign, _),
    ):
        campaigns.change_campaign(session, CONSOLE, campaign, **names)
    world.judge(QRELS, subtopics="q1 1 d1 1\n")
    with world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, **names)
    assert [made.settings.subtopics for made in _sets(world)] == [False, True, True]
    with refused(world.database, InvalidFields, "judgment_revision", match="needs judgments of subtopics"):
        world.judge(QRELS + "q3 0 d9 1\n")


def test_judgments_with_a_grade_above_what_a_measure_takes_are_refused(world: World) -> None:
    with world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, measures=["ERR(gmax=1)"], primary_measure="ERR(gmax=1)")
    with refused(
        world.database,
        InvalidFields,
        "scoring_set",
        match="takes grades up to 1, and grade 2 was judged: write gmax=2, or max=data",
    ):
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


def test_the_relevance_level_is_written_into_the_names(world: World) -> None:
    world.change_evaluation(relevance_level=2)
    assert _sets(world)[-1].settings.measures == ("AQWV(rel=2)", "AP(rel=2)", "P(rel=2)@1")


def test_the_order_of_the_measures_makes_no_new_set(world: World) -> None:
    with world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, primary_measure="P@1", measures=["P@1", "AQWV", "AP"])
    assert len(_sets(world)) == 1
