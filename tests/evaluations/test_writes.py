"""Evaluations: their settings and what is refused."""

import datetime as dt

import pytest

from leaderboard.access import CONSOLE
from leaderboard.audit.writes import present
from leaderboard.errors import InvalidFields
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.readiness import Urgency, readiness
from leaderboard.formats import QueryRow
from leaderboard.judgments import writes as judgments, writes as queries
from leaderboard.judgments.rules import JudgmentFiles
from tests.support.world import World, judged

SQLITE = pytest.mark.parametrize("engine_name", ["sqlite"])  # refused before any statement


def _create(world: World, **values: object) -> Evaluation:
    given = {"slug": "e", "title": "E", "period": "2025", "documents": 1000, **values}
    with world.organising() as (session, campaign, _):
        return evaluations.create_evaluation(session, CONSOLE, campaign, **given)  # type: ignore[arg-type]  # as a form


def test_a_new_evaluation_sorts_by_its_year_and_takes_five_runs_a_day_unless_told_otherwise(world: World) -> None:
    made = _create(world, slug="a", period="spring of 2024")
    assert (made.period_key, made.daily_quota) == (2024, 5)
    made = _create(world, slug="b", period="2020 round 1", period_key=202001, daily_quota=None)
    assert (made.period_key, made.daily_quota) == (202001, None)


def test_a_draft_may_lack_its_number_of_documents_until_it_is_published_or_judged(world: World) -> None:
    made = _create(world, documents=None, draft=True)
    assert (made.draft, made.documents) == (True, None)
    with world.database.write() as session:  # AQWV is among the measures
        draft = session.get_one(Evaluation, made.id)
        points = readiness(session, CONSOLE, "small", "e", present())
        lacking = [point.words for point in points if point.urgency is Urgency.TO_DO and point.about == "Measures"]
        assert lacking == ["AQWV needs the number of documents in the collection."]
        with pytest.raises(InvalidFields, match=r"documents: AQWV needs .*; only a draft may lack it"):
            evaluations.change_evaluation(session, CONSOLE, draft, draft=False)
        queries.import_queries(session, CONSOLE, draft, [QueryRow("q1", "", ())])
        with (
            pytest.raises(InvalidFields, match="documents: AQWV needs the number of documents"),
            session.begin_nested(),
        ):
            judgments.import_judgments(session, CONSOLE, draft, JudgmentFiles(judged("q1 0 d1 1\n")))
        evaluations.change_evaluation(session, CONSOLE, draft, title="Still a draft")
        evaluations.change_evaluation(session, CONSOLE, draft, draft=False, documents=9)
        judgments.import_judgments(session, CONSOLE, draft, JudgmentFiles(judged("q1 0 d1 1\n")))


@SQLITE
@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({"period": "round one"}, {"period_key"}),
        ({"period": "", "title": ""}, {"period", "title"}),
        ({"documents": None}, {"documents"}),
        ({"documents": 0, "relevance_level": 0, "daily_quota": -1}, {"documents", "relevance_level", "daily_quota"}),
        ({"slug": "2026"}, {"slug"}),
        ({"slug": "progress"}, {"slug"}),
        ({"opens_at": "2026-03-29T02:30", "time_zone": "Europe/Berlin"}, {"opens_at"}),  # no clock shows it
        ({"opens_at": "soon", "daily_quota": "many", "results": "later"}, {"opens_at", "daily_quota", "results"}),
        ({"opens_at": "2026-01-02T00:00Z", "closes_at": "2026-01-01T00:00Z"}, {"closes_at"}),
        (
            {"opens_at": dt.datetime.min.replace(tzinfo=dt.UTC), "closes_at": dt.datetime.max.replace(tzinfo=dt.UTC)},
            {"opens_at", "closes_at"},
        ),
        ({"time_zone": "Mars/Olympus"}, {"time_zone"}),
        ({"time_zone": "berlin"}, {"time_zone"}),
    ],
)
def test_what_is_wrong_is_said_by_its_field(world: World, values: dict[str, object], fields: set[str]) -> None:
    with pytest.raises(InvalidFields) as caught:
        _create(world, **values)
    assert set(caught.value.fields) == fields
