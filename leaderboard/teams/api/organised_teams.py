"""The teams of a campaign: renamed, or two of them made one."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from leaderboard.accounts.rules import Scope
from leaderboard.errors import Conflict
from leaderboard.teams.models import Team
from leaderboard.teams.pages.team_names import naming
from leaderboard.teams.reads import organised
from leaderboard.teams.writes import teams
from leaderboard.teams.writes.merge import merge_teams
from leaderboard.web.api.endpoints import get, post
from leaderboard.web.api.organising import CAMPAIGN
from leaderboard.web.context import actor, read, writing

ONE = f"{CAMPAIGN}/teams/<int:team_id>"
Number = Annotated[int, Meta(ge=0, le=2**31 - 1)]


@dataclass(frozen=True, slots=True)
class NewName:
    """slug: the team's part of an address, made from the name unless told."""

    name: str
    slug: str = ""


@dataclass(frozen=True, slots=True)
class Merge:
    """unite: the systems of the team that goes which become one with the namesake of the other, by their numbers.

    seen  as the preview told it: what it is about to do has to be what you have seen
    """

    seen: str
    unite: Annotated[tuple[Number, ...], Meta(max_length=10_000)] = ()


@get(f"{CAMPAIGN}/teams", Scope.ORGANISE)
def list_teams(campaign: str) -> tuple[organised.OrganisedTeam, ...]:
    """The teams that have runs in a campaign."""
    return read(organised.organised_teams, campaign)


@post(ONE, Scope.ORGANISE)
def rename_team(campaign: str, team_id: int, body: NewName) -> organised.OrganisedTeam:
    """Gives a team another name; its old address leads to the new one."""
    read(organised.organised_team, campaign, team_id)
    with naming(body.name) as session:
        teams.rename_team(session, actor(), session.get_one(Team, team_id), body.name, body.slug.strip() or None)
    return read(organised.organised_team, campaign, team_id)


@get(f"{ONE}/into/<int:other_id>", Scope.ORGANISE)
def preview_merge(campaign: str, team_id: int, other_id: int) -> organised.Merging:
    """What making one team a part of another would do: the systems of one name, quotas and primary runs; or, as
    `refusal`, why you may not."""
    return read(organised.merging, campaign, team_id, other_id)


@post(f"{ONE}/into/<int:other_id>", Scope.ORGANISE)
def merge_team(campaign: str, team_id: int, other_id: int, body: Merge) -> organised.OrganisedTeam:
    """Makes one team a part of another, with its systems, runs, people and quotas. This can't be undone."""
    if body.seen != read(organised.merging, campaign, team_id, other_id).seen:
        raise Conflict("Something has changed, or this is not what the preview told as `seen`: look at it once more.")
    with writing() as session:
        source, target = session.get_one(Team, team_id), session.get_one(Team, other_id)
        merge_teams(session, actor(), source, target, unite=body.unite)
    return read(organised.organised_team, campaign, other_id)
