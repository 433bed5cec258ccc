"""Evaluations: their settings and what is refused."""

import datetime as dt

import pytest

from leaderboard.access import CONSOLE
from leaderboard.errors import InvalidFields
from leaderboard.models import Evaluation
from leaderboard.services import evaluations
from tests.support.world import World


def _create(world: World, **values: object) -> Evaluation:
    given = {"slug": "e", "title": "E", "period": "2025", "documents": 1000, **values}
    with world.organising() as (session, campaign, _):
        return evaluations.create_evaluation(session, CONSOLE, campaign, **given)  # type: ignore[arg-type]  # as a form


def test_periods_sort_by_the_year_in_their_label(world: World) -> None:
    assert _create(world, slug="a", period="2025").period_key == 2025
    assert _create(world, slug="b", period="spring of 2024").period_key == 2024
    assert _create(world, slug="c", period="2020 round 1", period_key=202001).period_key == 202001


def test_a_new_evaluation_takes_five_runs_a_day_of_a_team_unless_its_organisers_set_another_number(
    world: World,
) -> None:
    assert _create(world, slug="a").daily_quota == 5
    assert _create(world, slug="b", daily_quota=12).daily_quota == 12
    assert _create(world, slug="c", daily_quota=None).daily_quota is None


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
        (
            {
                "opens_at": dt.datetime.min.replace(tzinfo=dt.UTC),
                "closes_at": dt.datetime.max.replace(tzinfo=dt.UTC),
                "anonymous_until": dt.datetime.max.replace(tzinfo=dt.UTC),
            },
            {"opens_at", "closes_at", "anonymous_until"},
        ),
    ],
)
def test_what_is_wrong_is_said_by_its_field(world: World, values: dict[str, object], fields: set[str]) -> None:
    with pytest.raises(InvalidFields) as caught:
        _create(world, **values)
    assert set(caught.value.fields) == fields
