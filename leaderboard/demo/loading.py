"""What a campaign of the demonstration consists of, and loading it through the services.

What is there already is left as it is, so a plan may be loaded again. The worked examples are the golden cases of the
measures: TOML files, with queries, judgments and runs beside them.
"""

import datetime as dt
import io
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE
from leaderboard.accounts.models import User
from leaderboard.accounts.writes import NewAccount, create_user, find_user, new_account, set_founder
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.writes import add_organiser, create_campaign
from leaderboard.config import folder
from leaderboard.db import Database
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads import find_evaluation
from leaderboard.evaluations.writes import create_evaluation, set_rules
from leaderboard.formats import Judgments, QueryRow, read_judgments, read_queries
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.judgments.writes import import_judgments, import_queries
from leaderboard.names import name_key, slug_of
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Designation, SystemKind
from leaderboard.submissions.writes.submissions import submit
from leaderboard.teams.models import Membership, System, Team
from leaderboard.teams.reads import find_system, find_team
from leaderboard.teams.rules import Role
from leaderboard.teams.writes import NewSystem, add_member, create_system, create_team

Settings = Mapping[str, Any]  # further arguments of the service that makes it, by name


@dataclass(frozen=True, slots=True)
class SystemPlan:
    slug: str
    name: str
    kind: SystemKind = SystemKind.AUTOMATIC
    description: str = ""


@dataclass(frozen=True, slots=True)
class TeamPlan:
    slug: str
    name: str
    description: str
    systems: tuple[SystemPlan, ...]


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One run to submit, unless the team has a run with this label in the evaluation already.

    after_opening  when it was received, counted from the opening of the evaluation
    content        draws or reads the file
    """

    team: str
    system: str
    label: str
    filename: str
    content: Callable[[], bytes]
    designation: str = "contrastive"
    threshold: float | None = None
    notes: str = ""
    after_opening: dt.timedelta = dt.timedelta()


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """One evaluation. file_rules: what it asks of run files, by the names of `FileRules`."""

    slug: str
    settings: Settings
    queries: tuple[QueryRow, ...]
    judgments: Judgments
    runs: tuple[RunPlan, ...]
    file_rules: Settings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    slug: str
    settings: Settings
    teams: tuple[TeamPlan, ...]
    evaluations: tuple[EvaluationPlan, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """`does` says in a few words what it is for; `founds`: it may make campaigns; `owns` are the slugs of its teams."""

    name: str
    password: str
    does: str
    is_admin: bool = False
    organises: bool = False
    founds: bool = False
    owns: tuple[str, ...] = ()


def read_accounts(path: Path) -> tuple[Account, ...]:
    """The demonstration's accounts, from a TOML file with a `[[user]]` for each."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(Account(**{**user, "owns": tuple(user.get("owns", ()))}) for user in document["user"])


def new_accounts(session: Session, accounts: tuple[Account, ...]) -> dict[str, NewAccount]:
    """Those that the database lacks, by name, with their passwords hashed."""
    there = set(session.scalars(sa.select(User.name_key)))
    return {
        account.name: new_account(account.name, account.password)
        for account in accounts
        if name_key(account.name) not in there
    }


def load_accounts(session: Session, accounts: tuple[Account, ...], new: Mapping[str, NewAccount]) -> None:
    """Makes the `new` ones; existing ones keep their password. Their teams and campaigns must exist already."""
    for account in accounts:
        if account.name in new:
            user = create_user(session, CONSOLE, new[account.name], is_admin=account.is_admin)
        else:
            user = find_user(session, account.name)
        for slug in account.owns:
            team = find_team(session, slug)
            if session.get(Membership, (team.id, user.id)) is None:
                add_member(session, CONSOLE, team, user, Role.OWNER)
        if account.founds:
            set_founder(session, CONSOLE, user, may_found=True)
        if account.organises:
            for campaign in session.scalars(sa.select(Campaign)):
                add_organiser(session, CONSOLE, campaign, user)


def load_campaign(session: Session, plan: CampaignPlan) -> Campaign:
    """The campaign with its teams, systems, evaluations, queries and judgments; no run yet."""
    for team in plan.teams:
        _load_team(session, team)
    campaign = session.scalar(sa.select(Campaign).where(Campaign.slug == plan.slug))
    if campaign is None:
        campaign = create_campaign(session, CONSOLE, plan.slug, **plan.settings)
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
            create_system(session, CONSOLE, team, NewSystem(system.name, system.kind, system.description))


def _load_evaluation(session: Session, campaign: Campaign, plan: EvaluationPlan) -> None:
    evaluation = create_evaluation(session, CONSOLE, campaign, plan.slug, **plan.settings)
    import_queries(session, CONSOLE, evaluation, plan.queries)
    import_judgments(session, CONSOLE, evaluation, JudgmentFiles(plan.judgments))
    if plan.file_rules:
        set_rules(session, CONSOLE, evaluation, **plan.file_rules)


def _submit(database: Database, store: RunStore, campaign: str, evaluation_slug: str, run: RunPlan) -> bool:
    with database.read() as session:
        evaluation, team = find_evaluation(session, CONSOLE, campaign, evaluation_slug), find_team(session, run.team)
        same = {"evaluation_id": evaluation.id, "team_id": team.id, "label": run.label}
        if session.scalar(sa.select(Submission.id).filter_by(**same)):
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


TEAM = TeamPlan("worked-examples", "Worked examples", "Lists made to show what the measures say.", ())
# Over and done, so that no board asks for runs and every query can be looked at.
OPENED = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
CLOSED = {"period": "2025", "opens_at": OPENED, "closes_at": OPENED + dt.timedelta(days=1)}
FILES = ("slug", "queries", "judgments", "runs")


def worked_examples() -> tuple[CampaignPlan, ...]:
    """A campaign for each TOML file in `seeds/worked-examples`, by file name."""
    return tuple(_read_campaign(path) for path in sorted((folder("seeds") / "worked-examples").glob("*.toml")))


def _read_campaign(path: Path) -> CampaignPlan:
    """`[campaign]` and each `[[evaluation]]` hold the services' arguments by name, and the files by their place."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    campaign, evaluations = document["campaign"], document["evaluation"]
    names = dict.fromkeys(run["system"] for evaluation in evaluations for run in evaluation["runs"])
    return CampaignPlan(
        slug=campaign["slug"],
        settings={name: value for name, value in campaign.items() if name != "slug"},
        teams=(replace(TEAM, systems=tuple(SystemPlan(slug_of(name), name) for name in names)),),
        evaluations=tuple(_evaluation(path.parent, evaluation) for evaluation in evaluations),
    )


def _evaluation(folder: Path, table: Mapping[str, Any]) -> EvaluationPlan:
    queries = read_queries(folder / table["queries"])
    return EvaluationPlan(
        slug=table["slug"],
        settings=CLOSED | {name: table[name] for name in table if name not in FILES},
        queries=queries,
        judgments=read_judgments(folder / table["judgments"], queries=[query.id for query in queries]),
        runs=tuple(_run(folder, run) for run in table["runs"]),
    )


def _run(folder: Path, table: Mapping[str, Any]) -> RunPlan:
    path = folder / table["file"]
    slug = slug_of(table["system"])
    return RunPlan(TEAM.slug, slug, slug, path.name, path.read_bytes)
