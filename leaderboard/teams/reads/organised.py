"""The teams and systems that took part in a campaign, for its organisers; what making two teams one would do."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Sight, may_rename, may_see, merging_refusal
from leaderboard.campaigns.reads.organised import organised_campaign
from leaderboard.db import snapshot
from leaderboard.errors import NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.numbers import counted
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.selection import on_boards
from leaderboard.submissions.rules import SystemKind, primary_run
from leaderboard.teams.models import Membership, System, Team
from leaderboard.teams.reads.find import merged_team, namesakes
from leaderboard.teams.reads.system import SystemFacts, facts_of


@dataclass(frozen=True, slots=True)
class OrganisedTeam:
    """runs, systems: in the campaign; may_rename: whether the reader may rename it or merge it with another."""

    id: int
    name: str
    slug: str
    description: str
    members: int
    systems: int
    runs: int
    may_rename: bool


@dataclass(frozen=True, slots=True)
class Twin:
    """A system of the team that goes, whose name the other team has too. same_kind: whether the two may become one."""

    id: int
    name: str
    runs: int
    other_runs: int
    same_kind: bool


@dataclass(frozen=True, slots=True)
class SharedEvaluation:
    """One that both teams took part in: what each used of the quota, and whose primary run would be the primary one."""

    title: str
    used: tuple[int, int]
    primary: str


@dataclass(frozen=True, slots=True)
class Merging:
    """What making `source` a part of `target` would do.

    refusal  why the reader may not do it, in words; "" where they may
    """

    source: OrganisedTeam
    target: OrganisedTeam
    twins: tuple[Twin, ...]
    shared: tuple[SharedEvaluation, ...]
    refusal: str

    @property
    def effect(self) -> str:
        """What has to be confirmed, with how much it is about."""
        moved = f"{counted(self.source.runs, 'run')} of {counted(self.source.systems, 'system')}"
        return f"{moved} of {self.source.name} become those of {self.target.name}, for good."


def organised_teams(session: Session, actor: Actor, campaign_slug: str, _: dt.datetime) -> tuple[OrganisedTeam, ...]:
    """Those that have runs in the campaign, by name. Raises NotFound."""
    campaign = organised_campaign(session, actor, campaign_slug)
    return _teams(session, actor, Evaluation.campaign_id == campaign.id)


def organised_team(session: Session, actor: Actor, campaign_slug: str, team_id: int, _: dt.datetime) -> OrganisedTeam:
    """One that has runs in the campaign. Raises NotFound."""
    campaign = organised_campaign(session, actor, campaign_slug)
    teams = _teams(session, actor, Evaluation.campaign_id == campaign.id, Team.id == team_id)
    if not teams:
        raise NotFound(f"there is no team {team_id} in {campaign.title}")
    return teams[0]


def part_of(session: Session, actor: Actor, campaign_slug: str, team_id: int, now: dt.datetime) -> int | None:
    """The id of the team of the campaign that this one was made a part of; None where it was not. Raises NotFound."""
    campaign = organised_campaign(session, actor, campaign_slug)
    team = session.get(Team, team_id)
    if team is None or team.merged_into_id is None:
        return None
    return organised_team(session, actor, campaign.slug, merged_team(session, team).id, now).id


def merging(
    session: Session, actor: Actor, campaign_slug: str, source_id: int, target_id: int, now: dt.datetime
) -> Merging:
    """What making one team of the campaign a part of another would do. Raises NotFound."""
    source = organised_team(session, actor, campaign_slug, source_id, now)
    target = organised_team(session, actor, campaign_slug, target_id, now)
    if source.id == target.id:
        raise NotFound("a team is not merged with itself")
    both = session.get_one(Team, source.id), session.get_one(Team, target.id)
    refusal = merging_refusal(session, actor, *both)
    if refusal:  # and nothing of what they did in campaigns that the reader may know nothing of
        return Merging(source, target, (), (), refusal)
    same = namesakes(session, *both)
    runs = sa.select(Submission.system_id, sa.func.count()).where(Submission.team_id.in_((source.id, target.id)))
    counts = {row[0]: row[1] for row in session.execute(runs.group_by(Submission.system_id))}
    own = session.scalars(sa.select(System).where(System.id.in_(same)).order_by(System.name))
    twins = [
        Twin(
            id=system.id,
            name=system.name,
            runs=counts.get(system.id, 0),
            other_runs=counts.get(same[system.id].id, 0),
            same_kind=(system.kind is SystemKind.BASELINE) is (same[system.id].kind is SystemKind.BASELINE),
        )
        for system in own
    ]
    return Merging(
        source,
        target,
        tuple(twins),
        tuple(_shared(session, source.id, target.id)),
        "",
    )


def _shared(session: Session, source_id: int, target_id: int) -> list[SharedEvaluation]:
    other = sa.orm.aliased(Participation)
    rows = session.execute(
        sa.select(Evaluation, Participation.used, other.used)
        .join(Participation, Participation.evaluation_id == Evaluation.id)
        .join(other, other.evaluation_id == Evaluation.id)
        .where(Participation.team_id == source_id, other.team_id == target_id)
        .order_by(Evaluation.period_key.desc(), Evaluation.id)
    ).all()
    shared = []
    for evaluation, used, other_used in rows:
        runs = session.scalars(
            sa.select(Submission).where(
                Submission.evaluation_id == evaluation.id, Submission.team_id.in_((source_id, target_id))
            )
        ).all()
        primary = primary_run(runs)
        name = next((run.name for run in runs if run.id == primary), "")
        shared.append(SharedEvaluation(evaluation.title, (used, other_used), name))
    return shared


def _teams(session: Session, actor: Actor, *which: sa.ColumnElement[bool]) -> tuple[OrganisedTeam, ...]:
    members = sa.select(sa.func.count()).where(Membership.team_id == Team.id).scalar_subquery()
    systems = sa.func.count(Submission.system_id.distinct())
    rows = session.execute(
        sa.select(Team, members, systems, sa.func.count(Submission.id))
        .join(Submission, Submission.team_id == Team.id)
        .join(Evaluation, Evaluation.id == Submission.evaluation_id)
        .where(*which)
        .group_by(Team.id)
        .order_by(Team.name, Team.id)
    )
    return tuple(
        snapshot(
            OrganisedTeam,
            team,
            members=member_count,
            systems=system_count,
            runs=runs,
            may_rename=may_rename(session, actor, team.id),
        )
        for team, member_count, system_count, runs in rows
    )


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A campaign of other organisers that the system has runs in, and whom it says to write to, where it does."""

    slug: str
    title: str
    contact: str


@dataclass(frozen=True, slots=True)
class OrganisedSystem(SystemFacts):
    """What an organiser is told of a system.

    runs        in the campaign
    may_change  whether the reader organises every campaign that it has runs in
    elsewhere   the others, by title, of which the reader sees a board with it
    """

    runs: int
    may_change: bool
    elsewhere: tuple[Elsewhere, ...]


def organised_systems(
    session: Session, actor: Actor, campaign_slug: str, now: dt.datetime
) -> tuple[OrganisedSystem, ...]:
    """Those that have runs in the campaign: baselines first, then by team and name. Raises NotFound."""
    return _systems(session, actor, campaign_slug, now)


def organised_system(
    session: Session, actor: Actor, campaign_slug: str, system_id: int, now: dt.datetime
) -> OrganisedSystem:
    """One that has runs in the campaign. Raises NotFound."""
    systems = _systems(session, actor, campaign_slug, now, System.id == system_id)
    if not systems:
        campaign = organised_campaign(session, actor, campaign_slug)
        raise NotFound(f"there is no system {system_id} in {campaign.title}")
    return systems[0]


def _systems(
    session: Session, actor: Actor, campaign_slug: str, now: dt.datetime, *which: sa.ColumnElement[bool]
) -> tuple[OrganisedSystem, ...]:
    campaign = organised_campaign(session, actor, campaign_slug)
    rows = session.execute(
        sa.select(System, sa.func.count(Submission.id))
        .join(System.team)
        .options(sa.orm.contains_eager(System.team))
        .join(Submission, Submission.system_id == System.id)
        .join(Evaluation, Evaluation.id == Submission.evaluation_id)
        .where(Evaluation.campaign_id == campaign.id, *which)
        .group_by(System.id, Team.id)
        .order_by(sa.case((System.kind == SystemKind.BASELINE, 0), else_=1), Team.name, System.name, System.id)
    ).all()
    strange, elsewhere = _elsewhere(session, actor, [system.id for system, _ in rows], now)
    return tuple(
        OrganisedSystem(*facts_of(system), runs, system.id not in strange, elsewhere.get(system.id, ()))
        for system, runs in rows
    )


def _elsewhere(
    session: Session, actor: Actor, systems: Sequence[int], now: dt.datetime
) -> tuple[set[int], dict[int, tuple[Elsewhere, ...]]]:
    """The systems that have runs in campaigns of others, and in which, as far as the reader sees boards with them."""
    if actor.all_powerful:
        return set(), {}
    rows = session.execute(
        sa.select(
            Submission.system_id, Evaluation, sa.func.count().filter(on_boards(), Submission.scored_at.is_not(None))
        )
        .join(Evaluation, Evaluation.id == Submission.evaluation_id)
        .where(Submission.system_id.in_(systems), Evaluation.campaign_id.not_in(actor.organises))
        .group_by(Submission.system_id, Evaluation.id)
    ).all()
    boards: dict[int, set[Elsewhere]] = {}
    for system_id, evaluation, shown in rows:
        if shown and all(may_see(actor, evaluation, sight, now) for sight in (Sight.RESULTS, Sight.NAMES)):
            campaign = evaluation.campaign
            boards.setdefault(system_id, set()).add(Elsewhere(campaign.slug, campaign.title, campaign.contact))
    strange = {system_id for system_id, _, _ in rows}
    return strange, {
        system: tuple(sorted(campaigns, key=lambda each: (each.title, each.slug)))
        for system, campaigns in boards.items()
    }
