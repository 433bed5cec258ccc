"""Loads a plan through the services. What is there already is left as it is, so a plan may be loaded again."""

import io
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.writes import create_campaign
from leaderboard.db import Database
from leaderboard.demo.plans import CampaignPlan, EvaluationPlan, RunPlan, Settings, TeamPlan
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import find_evaluation
from leaderboard.evaluations.rules import Judging, NoRelevant, Opening
from leaderboard.evaluations.writes import create_evaluation, set_rules
from leaderboard.judgments.writes import import_judgments, import_queries
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Designation, RunChoice, SystemKind
from leaderboard.submissions.writes.submissions import submit
from leaderboard.teams.models import System, Team
from leaderboard.teams.reads.find import find_system, find_team
from leaderboard.teams.writes import NewSystem, create_system, create_team

CHOICES: Mapping[str, type[StrEnum]] = {
    "no_relevant": NoRelevant,
    "run_choice": RunChoice,
    "judging": Judging,
    "results": Opening,
    "details": Opening,
    "kind": SystemKind,
}


def load_campaign(session: Session, plan: CampaignPlan) -> Campaign:
    """The campaign with its teams, systems, evaluations, queries and judgments; no run yet."""
    for team in plan.teams:
        _load_team(session, team)
    campaign = session.scalar(sa.select(Campaign).where(Campaign.slug == plan.slug))
    if campaign is None:
        campaign = create_campaign(session, CONSOLE, plan.slug, **_typed(plan.settings))
    there = set(session.scalars(sa.select(Evaluation.slug).where(Evaluation.campaign_id == campaign.id)))
    for evaluation in plan.evaluations:
        if evaluation.slug not in there:
            _load_evaluation(session, campaign, evaluation)
    return campaign


def submit_runs(database: Database, store: RunStore, plan: CampaignPlan) -> int:
    """Submits the missing runs, oldest first, each in a transaction of its own; returns how many."""
    submitted = 0
    for evaluation in plan.evaluations:
        for run in sorted(evaluation.runs, key=lambda run: run.after_opening):
            submitted += _submit(database, store, plan.slug, evaluation.slug, run)
    return submitted


def _load_team(session: Session, plan: TeamPlan) -> None:
    team = session.scalar(sa.select(Team).where(Team.slug == plan.slug))
    if team is None:
        team = create_team(session, CONSOLE, plan.name, plan.slug, plan.description)
    there = set(session.scalars(sa.select(System.slug).where(System.team_id == team.id)))
    for system in plan.systems:
        if system.slug not in there:
            create_system(session, CONSOLE, team, NewSystem(system.name, **_typed(system.settings)))


def _load_evaluation(session: Session, campaign: Campaign, plan: EvaluationPlan) -> None:
    evaluation = create_evaluation(session, CONSOLE, campaign, plan.slug, **_typed(plan.settings))
    import_queries(session, CONSOLE, evaluation, plan.queries)
    import_judgments(session, CONSOLE, evaluation, plan.judgments)
    if plan.file_rules:
        set_rules(session, CONSOLE, evaluation, **plan.file_rules)


def _typed(settings: Settings) -> dict[str, Any]:
    """The settings as the services take them: a word that names a choice becomes the enumeration's member."""
    return {name: CHOICES[name](value) if name in CHOICES else value for name, value in settings.items()}


def _submit(database: Database, store: RunStore, campaign: str, evaluation_slug: str, run: RunPlan) -> bool:
    with database.read() as session:
        if _is_there(session, campaign, evaluation_slug, run):
            return False
    upload = store.receive(io.BytesIO(run.content()), run.filename)
    with database.write() as session:
        evaluation = find_evaluation(session, CONSOLE, campaign, evaluation_slug)
        team = find_team(session, run.team)
        opened = evaluation.opens_at
        submit(
            session,
            CONSOLE,
            evaluation,
            team,
            system=find_system(session, team.slug, run.system),
            upload=upload,
            designation=Designation(run.designation),
            threshold=run.threshold,
            label=run.label,
            notes=run.notes,
            received_at=None if opened is None else opened + run.after_opening,
        )
    return True


def _is_there(session: Session, campaign: str, evaluation: str, run: RunPlan) -> bool:
    query = sa.exists().where(
        Submission.evaluation_id == Evaluation.id,
        Evaluation.slug == evaluation,
        Evaluation.campaign_id == Campaign.id,
        Campaign.slug == campaign,
        Submission.team_id == Team.id,
        Team.slug == run.team,
        Submission.label == run.label,
    )
    return bool(session.scalar(sa.select(query)))
