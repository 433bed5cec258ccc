"""The front page, a campaign's page, and a team's page."""

import datetime as dt

import pytest

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.campaigns.reads import CampaignPage, campaign, campaigns
from leaderboard.db import Database
from leaderboard.errors import NotFound
from leaderboard.evaluations.rules import Opening, Phase
from leaderboard.submissions.rules import State, SystemKind
from leaderboard.teams.reads.teams import TeamPage, team_page
from tests.support.field import DAY, NOW, Field


def read(field: Field, actor: Actor = VISITOR, now: dt.datetime = NOW) -> CampaignPage:
    with field.database.read() as session:
        return campaign(session, actor, "news", now)


def team(field: Field, slug: str, actor: Actor = VISITOR) -> TeamPage:
    with field.database.read() as session:
        return team_page(session, actor, slug, NOW)


def test_there_may_be_no_campaign_yet(database: Database) -> None:
    with database.read() as session:
        assert campaigns(session, VISITOR, NOW) == ()


def test_the_front_page_names_what_is_open_and_who_leads(field: Field) -> None:
    field.evaluation("2027", period_key=2027, closes_at=NOW + DAY)
    field.run("Alder", {"AP": [0.5] * 4}, evaluation="2026")
    with field.database.read() as session:
        (summary,) = campaigns(session, VISITOR, NOW)
    assert (summary.evaluations, summary.runs, summary.periods) == (2, 1, ("2026", "2027"))
    assert [evaluation.slug for evaluation in summary.open] == ["2027"]
    assert summary.latest is not None
    assert summary.latest.leader is not None
    assert summary.latest.leader.entry.system.name == "Alder"


def test_evaluations_stand_newest_first_with_their_state_and_leader(database: Database) -> None:
    field = Field(database)
    field.campaign()
    field.evaluation("2024", period_key=2024)
    field.evaluation("2025", period_key=2025, closes_at=NOW + DAY)
    field.evaluation("2026", period_key=2026, opens_at=NOW + DAY, closes_at=NOW + 2 * DAY)
    field.run("Alder", {"AP": [0.5] * 4}, evaluation="2024")
    field.run("Birch", {"AP": [0.5] * 4}, evaluation="2024")
    field.run("Cedar", {"AP": [0.4] * 4}, evaluation="2024")
    field.run("Term matching", {"AP": [0.9] * 4}, evaluation="2024", kind=SystemKind.BASELINE)
    page = read(field)
    assert [(one.evaluation.slug, one.evaluation.phase) for one in page.evaluations] == [
        ("2026", Phase.UPCOMING),
        ("2025", Phase.OPEN),
        ("2024", Phase.CLOSED),
    ]
    oldest = page.evaluations[2]
    assert (oldest.queries, oldest.runs, oldest.systems) == (4, 4, 4)
    assert oldest.leader is not None
    assert (oldest.leader.entry.system.name, oldest.leader.mean, oldest.leader.tied) == ("Alder", 0.5, 1)
    assert page.evaluations[1].leader is None


def test_no_leader_is_named_before_results_are_open(field: Field) -> None:
    field.run("Alder", {"AP": [0.5] * 4}, team="Woods")
    field.change(results=Opening.NEVER)
    assert read(field, field.member("Woods")).evaluations[0].leader is None
    assert read(field, CONSOLE).evaluations[0].leader is not None


def test_a_teams_page_has_its_systems_with_their_places(field: Field) -> None:
    field.run("Alder", {"AP": [0.5] * 4}, team="Woods")
    field.run("Birch", {"AP": [0.9] * 4}, team="Meadow")
    (alder,) = team(field, "woods").systems
    assert [(place.evaluation.slug, place.mean, place.rank, place.ranked) for place in alder.places] == [
        ("2026", 0.5, 2, 2)
    ]


def test_runs_and_members_are_the_teams_own(field: Field) -> None:
    run = field.run("Alder", {"AP": [0.5] * 4}, team="Woods")
    waiting = field.run("Alder", team="Woods", state=State.QUEUED)
    gone = field.run("Alder", {"AP": [0.6] * 4}, team="Woods")
    field.withdraw(gone)
    own = team(field, "woods", field.member("Woods"))
    assert [(one.id, one.state, one.mean) for one in own.runs] == [
        (gone, "withdrawn", None),
        (waiting, "queued", None),
        (run, "scored", 0.5),
    ]
    assert own.is_member
    assert team(field, "woods").runs == team(field, "woods").members == ()


def test_a_team_whose_runs_are_on_no_board_under_its_name_is_absent_for_others(field: Field) -> None:
    field.run("Alder", {"AP": [0.5] * 4}, team="Woods")
    field.change(anonymous_until=NOW + DAY)
    with pytest.raises(NotFound):
        team(field, "woods")
    assert [one.name for one in team(field, "woods", field.member("Woods")).systems] == ["Alder"]
