"""The front page, a campaign's page, and a team's page."""

import pytest

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.campaigns.reads import CampaignPage, campaign, campaigns
from leaderboard.errors import NotFound
from leaderboard.evaluations.rules import Opening, Phase
from leaderboard.submissions.rules import State, SystemKind
from leaderboard.teams.reads import TeamPage, team_page
from tests.support.field import DAY, NOW, Field


def read(field: Field, actor: Actor = VISITOR) -> CampaignPage:
    with field.database.read() as session:
        return campaign(session, actor, "news", NOW)


def team(field: Field, slug: str, actor: Actor = VISITOR) -> TeamPage:
    with field.database.read() as session:
        return team_page(session, actor, slug, NOW)


def test_evaluations_stand_newest_first_with_their_state_and_leader(field: Field) -> None:
    field.evaluation("2027", period_key=2027, closes_at=NOW + DAY)
    field.evaluation("2028", period_key=2028, opens_at=NOW + DAY, closes_at=NOW + 2 * DAY)
    for name, mean in (("Alder", 0.5), ("Birch", 0.5), ("Cedar", 0.4)):
        field.run(name, {"AP": [mean] * 4}, evaluation="2026")
    field.run("Term matching", {"AP": [0.9] * 4}, evaluation="2026", kind=SystemKind.BASELINE)
    page = read(field)
    assert [(row.evaluation.slug, row.evaluation.phase) for row in page.evaluations] == [
        ("2028", Phase.UPCOMING), ("2027", Phase.OPEN), ("2026", Phase.CLOSED),
    ]  # fmt: skip
    _, latest, oldest = page.evaluations
    assert (oldest.queries, oldest.runs, oldest.systems, latest.leader) == (4, 4, 4, None)
    assert oldest.leader is not None
    assert (oldest.leader.entry.system.name, oldest.leader.mean, oldest.leader.tied) == ("Alder", 0.5, 1)
    with field.database.read() as session:
        (summary,) = campaigns(session, VISITOR, NOW)
    assert (summary.evaluations, summary.runs, summary.periods) == (3, 4, ("2026", "2027", "2028"))
    assert ([heading.slug for heading in summary.open], summary.latest) == (["2027"], oldest)


def test_the_runs_of_an_evaluation_are_those_of_its_refreshed_board_and_before_it_those_received(
    field: Field,
) -> None:
    def runs() -> int:
        (row,) = read(field).evaluations
        return row.runs

    for mean in (0.5, 0.6):
        field.run("Alder", {"AP": [mean] * 4})
    field.withdraw(field.run("Birch", {"AP": [0.4] * 4}))
    assert runs() == 2
    field.refresh()
    field.run("Cedar", {"AP": [0.3] * 4})
    assert runs() == 2  # as the board says, until a worker has refreshed it
    field.refresh()
    assert runs() == 3


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
