"""A team's systems: made, and described by their team."""

from dataclasses import dataclass
from http import HTTPStatus

from msgspec import UNSET, UnsetType

from leaderboard.access import require
from leaderboard.accounts.rules import Scope
from leaderboard.evaluations.writes import delete as removing
from leaderboard.teams.api.organised_systems import changed
from leaderboard.teams.reads import system as reads
from leaderboard.teams.reads.find import find_system, find_team
from leaderboard.teams.reads.team import TeamPage, team_page
from leaderboard.teams.writes import systems
from leaderboard.teams.writes.systems import NewSystem
from leaderboard.web.api.endpoints import post
from leaderboard.web.context import actor, read, writing

SYSTEMS = "/teams/<team>/systems"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemWords:
    """What is to change; what is left out stays."""

    description: str | UnsetType = UNSET
    code_url: str | UnsetType = UNSET
    paper_url: str | UnsetType = UNSET


@post(SYSTEMS, Scope.SUBMIT, status=HTTPStatus.CREATED)
def make_system(team: str, body: NewSystem) -> reads.SystemPage:
    """Makes a system of your team, as its first run does otherwise. Its name stays: boards of all years show it."""
    require(read(team_page, team).is_member, "Only members of the team make its systems.")
    with writing() as session:
        made = systems.create_system(session, actor(), find_team(session, team), body)
    return read(reads.system, team, made.slug)


@post(f"{SYSTEMS}/<system>", Scope.SUBMIT)
def describe_system(team: str, system: str, body: SystemWords) -> reads.SystemPage:
    """Says what a system does, and where its code and paper are."""
    page = read(reads.system, team, system)
    require(page.may_edit, "Only members of the team and organisers describe a system.")
    with writing() as session:
        found = find_system(session, team, system)
        systems.change_system(session, actor(), found, changed(found, body))
    return read(reads.system, team, system)


@post(f"{SYSTEMS}/<system>/remove", Scope.SUBMIT)
def remove_system(team: str, system: str) -> TeamPage:
    """Removes a system that no run was ever sent for, such as one that was made by mistake."""
    page = read(reads.system, team, system)
    require(page.own, "Only members of the team remove a system.")
    with writing() as session:
        removing.remove_system(session, actor(), find_system(session, team, system))
    return read(team_page, team)
