"""The organiser's rooms: who finds them, what they link to, what they count."""

import datetime as dt
from urllib.parse import urlsplit

import pytest

from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.rules import Visibility
from leaderboard.evaluations.models import Evaluation
from tests.web.conftest import BOTH, FORM, RUN, Reader, World

OVERVIEW = "/organise/harbour/2025"
IN_A_YEAR = dt.datetime(2040, 1, 1, tzinfo=dt.UTC)


def test_an_organiser_finds_the_way_from_every_page_and_a_stranger_finds_none(
    organiser: Reader, participant: Reader, visitor: Reader
) -> None:
    for path in ("/", "/campaigns/harbour", "/campaigns/harbour/2025"):
        assert 'href="/organise"' in organiser.get(path)
        assert "/organise" not in participant.get(path)
        assert "/organise" not in visitor.get(path)
    assert 'href="/organise/harbour"' in organiser.get("/campaigns/harbour")
    assert 'href="/organise/harbour/2025"' in organiser.get("/campaigns/harbour/2025")
    assert 'href="/organise/harbour"' in organiser.get("/organise")
    assert 'href="/organise/harbour/2025"' in organiser.get("/organise/harbour")
    assert "Harbour 2025" in organiser.get("/organise/harbour/2025")


def evaluation_of(world: World) -> Evaluation:
    with world.database.read() as session:
        return session.get_one(Evaluation, world.evaluation.id)


@BOTH
def test_publishing_takes_a_draft_campaign_along_and_asks_first(
    organiser: Reader, visitor: Reader, world: World
) -> None:
    world.change(draft=True, closes_at=IN_A_YEAR)
    with world.database.write() as session:
        session.get_one(Campaign, world.campaign.id).visibility = Visibility.DRAFT
    assert "Draft evaluation and campaign" in organiser.get(OVERVIEW)
    asked = organiser.post(OVERVIEW, action="publish")
    assert asked.status_code == 200
    assert "opens to everybody, for good" in asked.text
    assert evaluation_of(world).draft
    answer = organiser.post(OVERVIEW, action="publish", confirm="yes")
    assert urlsplit(answer.location).path == OVERVIEW
    assert "Harbour 2025 is published." in organiser.get(OVERVIEW)
    assert "Harbour 2025" in visitor.get("/campaigns/harbour")


@pytest.mark.parametrize(
    ("action", "setting", "effect"),
    [("close", "closes_at", "closes at once"), ("reveal", "anonymous_until", "opens to everybody, for good: names")],
)
def test_closing_and_revealing_names_set_their_date_to_now(
    organiser: Reader, participant: Reader, world: World, action: str, setting: str, effect: str
) -> None:
    participant.send(FORM, RUN, **world.sent())  # whose team's name can be hidden
    world.change(closes_at=IN_A_YEAR, anonymous_until=IN_A_YEAR)
    asked = organiser.post(OVERVIEW, action=action)
    assert effect in asked.text
    assert getattr(evaluation_of(world), setting) == IN_A_YEAR
    before = dt.datetime.now(dt.UTC).replace(microsecond=0)
    organiser.post(OVERVIEW, action=action, confirm="yes")
    assert before <= getattr(evaluation_of(world), setting) <= dt.datetime.now(dt.UTC)
    assert f'name="action" value="{action}"' not in organiser.get(OVERVIEW)


def test_an_action_that_there_is_not_changes_nothing(organiser: Reader, participant: Reader, world: World) -> None:
    world.change(draft=True)
    assert organiser.post(OVERVIEW, action="open").status_code == 400
    assert participant.post(OVERVIEW, action="publish", confirm="yes").status_code == 404
    assert evaluation_of(world).draft


def test_a_step_names_the_next_one_with_a_link(organiser: Reader, world: World) -> None:
    world.change(draft=True)
    organiser.post(f"{OVERVIEW}/queries/change", query="q1", action="hide")
    assert f'<a href="{OVERVIEW}">Next: publish</a>' in organiser.get(f"{OVERVIEW}/queries")
    world.change(draft=False, closes_at=IN_A_YEAR)
    organiser.post(f"{OVERVIEW}/queries/change", query="q1", action="show")
    assert "Next:" not in organiser.get(f"{OVERVIEW}/queries")
