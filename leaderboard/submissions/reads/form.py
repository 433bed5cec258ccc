"""What the submission form needs to know: the evaluation, and what each team of the reader may still do there."""

import datetime as dt
from dataclasses import dataclass
from itertools import chain

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, submission_refusal
from leaderboard.db import snapshot
from leaderboard.evaluations.models import Acceptance, Agreement, Evaluation
from leaderboard.evaluations.reads.find import find_evaluation
from leaderboard.evaluations.reads.form_fields import file_rules, form_fields, standing_agreements
from leaderboard.evaluations.reads.headings import EvaluationHeading, evaluation_heading, measures_of_returned
from leaderboard.evaluations.rules.form_fields import FormField
from leaderboard.formats import FileRules
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.checks import Staged, waiting_runs
from leaderboard.submissions.reads.quotas import personal_quota, team_quotas
from leaderboard.submissions.reads.scored_runs import scored_runs
from leaderboard.submissions.rules.quotas import Quota, quota_of
from leaderboard.submissions.rules.selection import RunChoice, SystemKind, standing_runs
from leaderboard.teams.models import Membership, System, Team


@dataclass(frozen=True, slots=True)
class OwnSystem:
    """A system that a member may submit runs of.

    standing        the name of the run that stands for it here, "" without one; None where the campaign shows the best
                    or the latest run of each system, so that there is nothing to choose
    primary_stands  whether that is its primary run, which no contrastive run replaces
    """

    id: int
    name: str
    standing: str | None
    primary_stands: bool


@dataclass(frozen=True, slots=True)
class TeamSubmitting:
    """One team of the reader. `primary` is the name of its primary run in this evaluation, empty without one."""

    id: int
    slug: str
    name: str
    systems: tuple[OwnSystem, ...]
    quota: Quota
    primary: str


@dataclass(frozen=True, slots=True)
class AskedAgreement:
    """A version of an agreement that the reader has not accepted yet. again: whether they accepted an earlier one."""

    id: int
    key: str
    version: int
    title: str
    text: str
    again: bool


@dataclass(frozen=True, slots=True)
class Submitting:
    """What the form offers.

    closed      says in words why nothing can be submitted now; None when it can
    personal    what the reader has used over all of their teams
    fields      what the organisers ask of every run
    from_metadata  what they read from the metadata of every run instead of asking it
    agreements  what the reader still has to accept
    rules       what the organisers ask of the file; rules_in_words: a sentence each
    waiting     the reader's own runs that wait for their yes
    returned_by  measures of the campaign that count what was returned, for which θ is asked; empty where none does
    """

    evaluation: EvaluationHeading
    run_choice: RunChoice
    closed: str | None
    teams: tuple[TeamSubmitting, ...]
    personal: Quota
    fields: tuple[FormField, ...]
    from_metadata: tuple[FormField, ...]
    agreements: tuple[AskedAgreement, ...]
    rules: FileRules
    rules_in_words: tuple[str, ...]
    waiting: tuple[Staged, ...]
    returned_by: tuple[str, ...]

    @property
    def teams_with_quota(self) -> tuple[TeamSubmitting, ...]:
        """Those that the reader may submit something of now."""
        return tuple(team for team in self.teams if team.quota.left != 0) if self.personal.left != 0 else ()

    @property
    def quotas(self) -> tuple[Quota, ...]:
        """Those that bound the reader: of each team, and their own."""
        return (*(team.quota for team in self.teams), self.personal)

    @property
    def is_spent_for_good(self) -> bool:
        """Whether no other day brings submissions again."""
        return self.personal.is_spent_for_good or all(team.quota.is_spent_for_good for team in self.teams)


def submitting(
    session: Session, actor: Actor, campaign_slug: str, evaluation_slug: str, now: dt.datetime
) -> Submitting:
    """Raises NotFound when there is no such evaluation."""
    evaluation = find_evaluation(session, actor, campaign_slug, evaluation_slug)
    heading = evaluation_heading(evaluation, now)
    teams = session.scalars(
        sa.select(Team).join(Membership).where(Membership.user_id == actor.user_id).order_by(Team.name, Team.id)
    ).all()
    systems = _systems(session, evaluation, [team.id for team in teams])
    parts = {
        part.team_id: part
        for part in session.scalars(
            sa.select(Participation).where(
                Participation.evaluation_id == evaluation.id, Participation.team_id.in_([team.id for team in teams])
            )
        )
    }
    rules = file_rules(evaluation)
    quotas = team_quotas(session, evaluation, [team.id for team in teams], now)
    return Submitting(
        evaluation=heading,
        run_choice=evaluation.campaign.run_choice,
        closed=submission_refusal(evaluation, now, now),
        teams=tuple(
            snapshot(
                TeamSubmitting,
                team,
                systems=systems.get(team.id, ()),
                quota=quotas[team.id],
                primary=_name(session, part.primary_submission_id if (part := parts.get(team.id)) else None),
            )
            for team in teams
        ),
        personal=quota_of(evaluation, None, now, of_person=True)
        if actor.user_id is None
        else personal_quota(session, evaluation, actor.user_id, now),
        fields=tuple(field for field in form_fields(evaluation) if field.in_form),
        from_metadata=tuple(field for field in form_fields(evaluation) if field.asked and field.header),
        agreements=_agreements(session, actor, evaluation),
        rules=rules,
        rules_in_words=rules.in_words,
        waiting=waiting_runs(session, actor, evaluation.id, now),
        returned_by=measures_of_returned(evaluation.campaign),
    )


def _agreements(session: Session, actor: Actor, evaluation: Evaluation) -> tuple[AskedAgreement, ...]:
    accepted = (
        sa.select(Agreement)
        .join(Acceptance)
        .where(Agreement.evaluation_id == evaluation.id, Acceptance.user_id == actor.user_id)
    )
    before = session.scalars(accepted).all()
    ids, keys = {agreement.id for agreement in before}, {agreement.key for agreement in before}
    return tuple(
        snapshot(AskedAgreement, agreement, again=agreement.key in keys)
        for agreement in standing_agreements(session, evaluation.id)
        if agreement.id not in ids
    )


def _systems(session: Session, evaluation: Evaluation, team_ids: list[int]) -> dict[int, tuple[OwnSystem, ...]]:
    """The systems of each team that its members may submit runs of."""
    choice = evaluation.campaign.run_choice
    of_teams = Submission.evaluation_id == evaluation.id, Submission.team_id.in_(team_ids), ~Submission.late
    runs = chain.from_iterable(scored_runs(session, *of_teams).values()) if choice is RunChoice.PRIMARY else ()
    standing = {run.system_id: run for run in standing_runs(runs, choice, lambda _: None, "none")}
    systems: dict[int, tuple[OwnSystem, ...]] = {}
    for system in session.scalars(
        sa.select(System)
        .where(System.team_id.in_(team_ids), System.kind != SystemKind.BASELINE)
        .order_by(System.name, System.id)
    ):
        run = standing.get(system.id)
        name = _name(session, run.submission_id if run else None) if choice is RunChoice.PRIMARY else None
        own = OwnSystem(system.id, system.name, name, run is not None and run.is_primary)
        systems[system.team_id] = (*systems.get(system.team_id, ()), own)
    return systems


def _name(session: Session, submission_id: int | None) -> str:
    return session.get_one(Submission, submission_id).name if submission_id is not None else ""
