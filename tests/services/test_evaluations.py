import datetime as dt

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.errors import Conflict, FileRejected, InvalidFields, NotAllowed
from leaderboard.formats import QueryRow
from leaderboard.models import Evaluation, Judgment, JudgmentRevision, Query, Scoring, ScoringSet
from leaderboard.rules.settings import Split
from leaderboard.rules.states import SetState, State
from leaderboard.services import campaigns, evaluations, judgments, queries
from tests.support.world import QRELS, World, judged


def _create(world: World, **values: object) -> Evaluation:
    given = {"slug": "e", "title": "E", "period": "2025", "documents": 1000, **values}
    with world.organising() as (session, campaign, _):
        return evaluations.create_evaluation(session, CONSOLE, campaign, **given)  # type: ignore[arg-type]  # as a form


def _sets(world: World) -> list[ScoringSet]:
    return world.all(sa.select(ScoringSet).order_by(ScoringSet.id))


def test_periods_sort_by_the_year_in_their_label(world: World) -> None:
    assert _create(world, slug="a", period="2025").period_key == 2025
    assert _create(world, slug="b", period="spring of 2024").period_key == 2024
    assert _create(world, slug="c", period="2020 round 1", period_key=202001).period_key == 202001


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({"period": "round one"}, {"period_key"}),
        ({"period": "", "title": ""}, {"period", "title", "period_key"}),
        ({"documents": None}, {"documents"}),
        ({"documents": 0}, {"documents"}),
        ({"relevance_level": 0}, {"relevance_level"}),
        ({"daily_quota": -1, "total_quota": -5}, {"daily_quota", "total_quota"}),
        ({"slug": "2026"}, {"slug"}),
        ({"slug": "progress"}, {"slug"}),
        ({"opens_at": dt.datetime(2026, 1, 1)}, {"opens_at"}),  # noqa: DTZ001  # without a zone, as is the point
        (
            {
                "opens_at": dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
                "closes_at": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
            },
            {"closes_at"},
        ),
    ],
)
def test_what_is_wrong_is_said_by_its_field(world: World, values: dict[str, object], fields: set[str]) -> None:
    with pytest.raises(InvalidFields) as caught:
        _create(world, **values)
    assert set(caught.value.fields) == fields


def test_positions_are_handed_out_once_and_in_order(world: World) -> None:
    with world.organising() as (session, _, evaluation):
        queries.import_queries(
            session, CONSOLE, evaluation, [QueryRow("q9", "new", ("t",)), QueryRow("q1", "changed", ())]
        )
        queries.import_queries(session, CONSOLE, evaluation, [QueryRow("q9", "new", ("t",))])
    rows = world.all(sa.select(Query).order_by(Query.position))
    assert [(query.external_id, query.position) for query in rows] == [("q1", 0), ("q2", 1), ("q3", 2), ("q9", 3)]
    assert [query.text for query in rows] == ["changed", "text 2", "text 3", "new"]


def test_judgments_of_an_unknown_query_are_refused_and_nothing_is_kept(world: World) -> None:
    with pytest.raises(FileRejected, match=r"lacks 1 of the . queries: q7"):
        world.judge(QRELS + "q7 0 d1 1\n")
    assert len(world.all(sa.select(JudgmentRevision))) == 1


def test_a_collection_of_relevant_documents_only_is_refused(world: World) -> None:
    with pytest.raises(InvalidFields) as caught:
        world.change_evaluation(documents=1)
    assert "q1" in caught.value.fields["documents"][0] or "q2" in caught.value.fields["documents"][0]
    world.change_evaluation(documents=2)
    with pytest.raises(InvalidFields, match="P_fa is undefined"):
        world.judge("q1 0 d1 1\nq1 0 d2 1\n")


def test_judgments_on_more_documents_than_the_collection_has_are_refused(world: World) -> None:
    world.change_evaluation(documents=2)
    with pytest.raises(InvalidFields, match="query q1 has more judged documents than the collection has documents"):
        world.judge("q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 0\n")


def test_a_measure_that_needs_known_documents_says_so(world: World) -> None:
    with (
        world.organising() as (session, campaign, _),
        pytest.raises(InvalidFields, match="list of documents known to the user"),
    ):
        campaigns.change_campaign(session, CONSOLE, campaign, measures=["Novelty"], primary_measure="Novelty")


def test_judgments_with_a_grade_above_what_a_measure_takes_are_refused(world: World) -> None:
    with world.organising() as (session, campaign, _):
        campaigns.change_campaign(session, CONSOLE, campaign, measures=["ERR(gmax=1)"], primary_measure="ERR(gmax=1)")
    with pytest.raises(InvalidFields, match="takes grades up to 1, and grade 2 was judged: write gmax=2, or max=data"):
        world.judge("q1 0 d1 2\nq2 0 d3 1\n")
    assert len(world.all(sa.select(JudgmentRevision))) == 1


def test_revisions_are_numbered_and_the_same_judgments_make_no_new_one(world: World) -> None:
    shuffled = "".join(reversed(QRELS.splitlines(keepends=True)))
    with pytest.raises(Conflict, match="revision 1"):
        world.judge(shuffled)
    world.judge(QRELS + "q3 0 d9 1\n")
    revisions = world.all(sa.select(JudgmentRevision).order_by(JudgmentRevision.id))
    assert [(revision.number, revision.judgments) for revision in revisions] == [(1, 4), (2, 5)]
    assert len(world.all(sa.select(Judgment))) == 9


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


def test_an_excluded_query_leaves_every_mean(world: World) -> None:
    submission = world.submit()
    world.drain()
    with world.organising() as (session, _, evaluation):
        with pytest.raises(InvalidFields):
            queries.exclude_query(session, CONSOLE, evaluation, "q1", " ")
        queries.exclude_query(session, CONSOLE, evaluation, "q1", "its text was garbled")
    world.drain()
    means = {score.measure: (score.mean, score.count) for score in world.scoring(submission).scores}
    assert means["AP"] == (0.5, 2)  # q2: 1, q3: 0


def test_hidden_queries_count_for_organisers_only(world: World) -> None:
    submission = world.submit()
    with world.organising() as (session, _, evaluation):
        queries.set_split(session, CONSOLE, evaluation, ["q3"], Split.HIDDEN)
    world.drain()
    scores = {(score.measure, score.subset.value): score for score in world.scoring(submission).scores}
    # q1: .5, q2: 1, q3: nothing relevant, 0.
    assert (scores["AP", "shown"].mean, scores["AP", "shown"].count) == (0.75, 2)
    assert (scores["AP", "all"].mean, scores["AP", "all"].count) == (0.5, 3)


def test_participants_import_and_exclude_nothing(world: World) -> None:
    with world.organising() as (session, _, evaluation):
        for forbidden in (
            lambda: queries.import_queries(session, world.ada, evaluation, []),
            lambda: queries.exclude_query(session, world.ada, evaluation, "q1", "mine is bad"),
            lambda: judgments.import_judgments(session, world.ada, evaluation, judged(QRELS)),
            lambda: evaluations.change_evaluation(session, world.ada, evaluation, daily_quota=1000),
        ):
            with pytest.raises(NotAllowed):
                forbidden()
