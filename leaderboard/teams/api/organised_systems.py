"""The systems of a campaign: what kind each is, its description and links."""

from dataclasses import dataclass, replace
from typing import Any

from msgspec import UNSET, UnsetType

from leaderboard.accounts.rules import Scope
from leaderboard.evaluations.reads.effects import entered_by
from leaderboard.submissions.rules.selection import SystemKind
from leaderboard.teams.models import System
from leaderboard.teams.reads import organised
from leaderboard.teams.writes import systems
from leaderboard.teams.writes.systems import NewSystem
from leaderboard.web.api.endpoints import get, post
from leaderboard.web.api.organising import CAMPAIGN, given
from leaderboard.web.confirm import require_confirmed
from leaderboard.web.context import actor, read, writing


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemChanges:
    """What is to change; what is left out stays. kind: a baseline is pinned on boards and never ranked."""

    kind: SystemKind | UnsetType = UNSET
    description: str | UnsetType = UNSET
    code_url: str | UnsetType = UNSET
    paper_url: str | UnsetType = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganisedChanges(SystemChanges):
    """confirm: to the ranks that another kind changes on boards, which a refusal without it names."""

    confirm: bool = False


@get(f"{CAMPAIGN}/systems", Scope.ORGANISE)
def list_systems(campaign: str) -> tuple[organised.OrganisedSystem, ...]:
    """The systems that have runs in a campaign, baselines first."""
    return read(organised.organised_systems, campaign)


@get(f"{CAMPAIGN}/systems/<int:system_id>", Scope.ORGANISE)
def organised_system(campaign: str, system_id: int) -> organised.OrganisedSystem:
    """One system of a campaign."""
    return read(organised.organised_system, campaign, system_id)


@post(f"{CAMPAIGN}/systems/<int:system_id>", Scope.ORGANISE)
def change_organised_system(campaign: str, system_id: int, body: OrganisedChanges) -> organised.OrganisedSystem:
    """Says what a system is: automatic, manual or a baseline; what it does, and where its code and paper are. Where
    ranks on boards depend on it, it has to be confirmed.
    """
    read(organised.organised_system, campaign, system_id)  # one that has no run here is not here
    with writing() as session:
        found = session.get_one(System, system_id)
        said = changed(found, body)
        systems.change_system(session, actor(), found, said)
        require_confirmed(session, campaign, body.confirm, entered_by(system_id))
    return read(organised.organised_system, campaign, system_id)


def changed(system: System, changes: Any) -> NewSystem:
    """What is said of a system, with what these changes give."""
    said = NewSystem(system.name, system.kind, system.description, system.code_url, system.paper_url)
    return replace(said, **given(changes))
