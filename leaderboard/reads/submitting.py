"""What the submission form needs to know: the evaluation, and what each team of the reader may still do there."""

import datetime as dt
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor
from leaderboard.lookup import find_evaluation
from leaderboard.models import Membership, Participation, Submission, System, SystemKind, Team
from leaderboard.reads.headings import EvaluationHeading, evaluation_heading
from leaderboard.rules.phases import refusal
from leaderboard.rules.quotas import Quota, quota_of

__all__ = ["OwnSystem", "Submitting", "TeamSubmitting", "submitting"]


@dataclass(frozen=True, slots=True)
class OwnSystem:
    id: int
    name: str


@dataclass(frozen=True, slots=True)
class TeamSubmitting:
    """One team of the reader. `primary` is the label of its primary run in this evaluation, empty without one."""

    id: int
    slug: str
    name: str
    systems: tuple[OwnSystem, ...]
    quota: Quota
    primary: str


@dataclass(frozen=True, slots=True)
class Submitting:
    """`closed` says in words why nothing can be submitted now; None when it can."""

    evaluation: EvaluationHeading
    closed: str | None
    teams: tuple[TeamSubmitting, ...]

    @property
    def teams_with_quota(self) -> tuple[TeamSubmitting, ...]:
        """Those that may submit something now."""
        return tuple(team for team in self.teams if team.quota.left != 0)


def submitting(
    session: Session, actor: Actor, campaign_slug: str, evaluation_slug: str, now: dt.datetime
) -> Submitting:
    """Raises NotFound when there is no such evaluation."""
    evaluation = find_evaluation(session, campaign_slug, evaluation_slug)
    heading = evaluation_heading(evaluation, now)
    teams = session.scalars(
        sa.select(Team).join(Membership).where(Membership.user_id == actor.user_id).order_by(Team.name, Team.id)
    ).all()
    systems = _systems(session, [team.id for team in teams])
    parts = {
        part.team_id: part
        for part in session.scalars(
            sa.select(Participation).where(
                Participation.evaluation_id == evaluation.id, Participation.team_id.in_([team.id for team in teams])
            )
        )
    }
    return Submitting(
        evaluation=heading,
        closed=refusal(evaluation, now),
        teams=tuple(
            TeamSubmitting(
                id=team.id,
                slug=team.slug,
                name=team.name,
                systems=systems.get(team.id, ()),
                quota=quota_of(evaluation, parts.get(team.id), now),
                primary=_primary(session, parts.get(team.id)),
            )
            for team in teams
        ),
    )


def _systems(session: Session, team_ids: list[int]) -> dict[int, tuple[OwnSystem, ...]]:
    """The systems of each team that its members may submit runs of."""
    found: dict[int, tuple[OwnSystem, ...]] = {}
    rows = session.execute(
        sa.select(System.team_id, System.id, System.name)
        .where(System.team_id.in_(team_ids), System.kind != SystemKind.BASELINE)
        .order_by(System.name, System.id)
    )
    for team_id, system_id, name in rows:
        found[team_id] = (*found.get(team_id, ()), OwnSystem(system_id, name))
    return found


def _primary(session: Session, part: Participation | None) -> str:
    run = session.get(Submission, part.primary_submission_id) if part and part.primary_submission_id else None
    return run.label if run else ""
