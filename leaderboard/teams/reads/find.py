"""Teams and systems by the names of their addresses, former and merged ones too, and who is alone in charge."""

import datetime as dt
from collections.abc import Sequence
from typing import NoReturn

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, Actor, knows_team, maker_may_invite
from leaderboard.campaigns.models import Campaign, CampaignOrganiser, CampaignTeam
from leaderboard.db import missing
from leaderboard.errors import NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import on_boards
from leaderboard.submissions.rules import State
from leaderboard.teams.models import FormerAddress, Invitation, Membership, System, Team, TeamName
from leaderboard.teams.rules import Role
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import IS_CURRENT


def takes_requests() -> sa.ColumnElement[bool]:
    """Condition on Team: it lets itself be found, and has an owner who would answer a request to join."""
    owned = sa.exists().where(Membership.team_id == Team.id, Membership.role == Role.OWNER)
    return sa.and_(Team.is_listed.is_(True), owned)


def is_owned_by(actor: Actor) -> sa.ColumnElement[bool]:
    """Condition on Team: whoever asks owns it, or is an admin."""
    own = Membership.team_id == Team.id, Membership.user_id == actor.user_id, Membership.role == Role.OWNER
    return sa.true() if actor.all_powerful else sa.exists().where(*own)


def open_invitation(now: dt.datetime) -> sa.ColumnElement[bool]:
    """Condition on Invitation: its link lets somebody in still."""
    unused = Invitation.used_at.is_(None), Invitation.revoked_at.is_(None)
    return sa.and_(*unused, Invitation.expires_at > now, maker_may_invite())


def find_team(session: Session, slug: str, actor: Actor = CONSOLE) -> Team:
    """The team of this address, a former one of it, or one of a team that was merged into it. Raises NotFound.

    actor  whom the message of that may tell of other teams: of their own ones only
    """
    team = known_team(session, slug)
    if team is None:
        _no_team(session, slug, actor)
    return merged_team(session, team)


def find_known_team(session: Session, actor: Actor, slug: str, now: dt.datetime) -> Team:
    """As `find_team`. Raises NotFound, in the same words, also where `actor` may not know of the team."""
    team = find_team(session, slug, actor)
    if not is_known_team(session, actor, team, now):
        _no_team(session, slug, actor)
    return team


def is_known_team(session: Session, actor: Actor, team: Team, now: dt.datetime) -> bool:
    """Whether `actor` may know of the team, or of the one that it was merged into."""
    team = merged_team(session, team)
    return knows_team(session, actor, team, _shown_in(session, team), now)


def find_team_let_in(session: Session, actor: Actor, campaign: Campaign, slug: str) -> Team:
    """As `find_team`. Raises NotFound, in the same words, for every team that was not let into the campaign."""
    team = find_team(session, slug, actor)
    if session.get(CampaignTeam, (campaign.id, team.id)) is None:
        _no_team(session, slug, actor)
    return team


def find_own_team(session: Session, actor: Actor, slug: str, campaign_id: int | None = None) -> Team:
    """As `find_team`. Raises NotFound, in the same words, for every team that `actor` is not in; whoever is in none at
    all is told that instead.

    campaign_id  of a campaign in which `actor` answers for the team otherwise: organisers do
    """
    known = known_team(session, slug)
    team = None if known is None else merged_team(session, known)
    organises = campaign_id is not None and actor.may_organise(campaign_id)
    if team is None or not (actor.is_in(team.id) or organises):
        if actor.user_id is not None and not (actor.teams or organises or actor.all_powerful):
            raise NotFound("you are in no team yet: make one, even if you work alone, or join one, under Account")
        _no_team(session, slug, actor, "team" if actor.all_powerful else "team of yours")
    return team


def _no_team(session: Session, slug: str, actor: Actor, what: str = "team") -> NoReturn:
    own = sa.true() if actor.all_powerful else Team.id.in_(actor.teams)
    there = "there are" if actor.all_powerful or what != "team" else "yours are"  # there may well be others
    missing(session, what, slug, Team.slug, Team.merged_into_id.is_(None), own, there=there)


def _shown_in(session: Session, team: Team) -> Sequence[Evaluation]:
    """The evaluations whose boards have a run of the team."""
    shown = (
        sa.select(Submission.evaluation_id)
        .join(Scoring, Scoring.submission_id == Submission.id)
        .join(ScoringSet, ScoringSet.id == Scoring.scoring_set_id)
        .where(Submission.team_id == team.id, on_boards(), IS_CURRENT, Scoring.state == State.SCORED)
    )
    return session.scalars(
        sa.select(Evaluation)
        .join(Evaluation.campaign)
        .options(sa.orm.contains_eager(Evaluation.campaign))
        .where(Evaluation.id.in_(shown))
    ).all()


def find_system(session: Session, team_slug: str, slug: str) -> System:
    """The system of this address, with its team; former addresses find it, as `find_team` does. Raises NotFound."""
    system = known_system(session, team_slug, slug)
    if system is not None:
        return system
    team = find_team(session, team_slug)
    return missing(session, "system", slug, System.slug, System.team_id == team.id, within=f" of {team.name}")


def known_system(session: Session, team_slug: str, slug: str) -> System | None:
    """The system that has, or had, this address, or the one that it became one with."""
    of_team = sa.select(System).join(System.team).options(sa.orm.contains_eager(System.team))
    system = session.scalar(of_team.where(Team.slug == team_slug, System.slug == slug))
    if system is not None:  # as a rule: one statement finds it
        return merged_system(session, system)
    team = known_team(session, team_slug)
    while team is not None:
        system = session.scalar(of_team.where(System.team_id == team.id, System.slug == slug))
        if system is None:
            before = FormerAddress.team_slug == team.slug, FormerAddress.system_slug == slug
            system = session.scalar(sa.select(System).join(FormerAddress.system).where(*before))
        if system is not None:
            return merged_system(session, system)
        team = session.get(Team, team.merged_into_id) if team.merged_into_id is not None else None
    return None


def namesakes(session: Session, source: Team, target: Team) -> dict[int, System]:
    """A system of one team -> the other team's of the same name, where it has one."""
    own = sa.orm.aliased(System)
    pairs = (
        sa.select(own.id, System)
        .join(System, System.name_key == own.name_key)
        .where(own.team_id == source.id, own.merged_into_id.is_(None), System.team_id == target.id)
    )
    return {row[0]: row[1] for row in session.execute(pairs)}


def merged_team(session: Session, team: Team) -> Team:
    """The team itself, or the one that it was merged into."""
    while team.merged_into_id is not None:
        team = session.get_one(Team, team.merged_into_id)
    return team


def merged_system(session: Session, system: System) -> System:
    """The system itself, or the one that it became one with."""
    while system.merged_into_id is not None:
        system = session.get_one(System, system.merged_into_id)
    return system


def known_team(session: Session, slug: str) -> Team | None:
    """The team that has, or had, this address, whatever it was merged into since."""
    team = session.scalar(sa.select(Team).where(Team.slug == slug))
    if team is None:
        before = FormerAddress.team_slug == slug, FormerAddress.system_slug == ""
        team = session.scalar(sa.select(Team).join(FormerAddress.team).where(*before))
    return team


def team_called(session: Session, name_key: str) -> Team | None:
    """The team that has a name of this key, or ever had it, whatever it was merged into since."""
    return session.scalar(sa.select(Team).join(TeamName).where(TeamName.name_key == name_key))


def teams_with_runs(session: Session, campaign_id: int, evaluation_id: int | None = None) -> Sequence[Team]:
    """The teams that anything in the campaign was submitted for, or in one evaluation of it, by name."""
    entered = sa.select(Submission.team_id).join(Evaluation).where(Evaluation.campaign_id == campaign_id)
    if evaluation_id is not None:
        entered = entered.where(Evaluation.id == evaluation_id)
    return session.scalars(sa.select(Team).where(Team.id.in_(entered)).order_by(Team.name, Team.id)).all()


def only_owner_of(session: Session, user_id: int) -> list[str]:
    """The names of the teams of several members that have no owner but this account."""
    owns = Membership.role == Role.OWNER
    owners, own = sa.func.count().filter(owns), sa.func.count().filter(owns, Membership.user_id == user_id)
    teams = sa.select(Team.name).join(Membership, Membership.team_id == Team.id).group_by(Team.id)
    return list(session.scalars(teams.having(sa.func.count() > 1, owners == 1, own == 1).order_by(Team.name)))


def only_organiser_of(session: Session, user_id: int) -> list[str]:
    """The titles of the campaigns that nobody but this account organises."""
    organiser = CampaignOrganiser.user_id
    campaigns = sa.select(Campaign.title).join(CampaignOrganiser, CampaignOrganiser.campaign_id == Campaign.id)
    alone = campaigns.group_by(Campaign.id).having(sa.func.min(organiser) == user_id, sa.func.count() == 1)
    return list(session.scalars(alone.order_by(Campaign.title)))


def find_invitation_of(session: Session, team: Team, invitation_id: int) -> Invitation:
    """The invitation of the team that has this number. Raises NotFound."""
    invitation = session.get(Invitation, invitation_id)
    if invitation is None or invitation.team_id != team.id:
        raise NotFound
    return invitation
