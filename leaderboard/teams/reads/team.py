"""A team's page: its members, its systems with their ranks, and, for members, every run; teams that let themselves be
found, and who asks to join one."""

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, Actor, Sight, known_evaluations, may_see
from leaderboard.accounts.models import User
from leaderboard.boards.reads.columns import Column
from leaderboard.boards.reads.entries import Entry, load_entries
from leaderboard.boards.reads.paging import Paging, paged
from leaderboard.boards.reads.ranking import Show, choose, load_candidates, ranks
from leaderboard.campaigns.reads.campaigns import primary_columns
from leaderboard.db import snapshot
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.headings import EvaluationHeading, evaluation_heading
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.selection import with_current_scoring
from leaderboard.submissions.rules import State, SystemKind, shown_state, title_of_run
from leaderboard.teams.models import JoinRequest, Membership, System, Team
from leaderboard.teams.reads.find import find_known_team, find_own_team, find_team, takes_requests
from leaderboard.teams.rules import Role
from leaderboard.worker.models import Scoring
from leaderboard.worker.reads import current_sets

PAGE = 50  # teams that are found
EMPTIED = (
    "Nobody is in the team then, and nobody but an admin of this site can let somebody in; requests to join it that "
    "wait for an answer end."
)


@dataclass(frozen=True, slots=True)
class Member:
    user_id: int
    name: str
    role: Role
    joined_at: dt.datetime


@dataclass(frozen=True, slots=True)
class TeamPlace:
    """A system's rank in one evaluation, by that evaluation's primary measure."""

    evaluation: EvaluationHeading
    column: Column
    mean: float | None
    rank: int | None
    ranked: int


@dataclass(frozen=True, slots=True)
class TeamSystem:
    """`places`: the boards that this reader may see it on, newest period first."""

    name: str
    slug: str
    kind: SystemKind
    description: str
    places: tuple[TeamPlace, ...]


@dataclass(frozen=True, slots=True)
class OwnRun:
    """A run as its team lists it. state: queued, scoring, scored, rejected, failed or withdrawn.

    date_assumed  whether an import assumed the date, since nothing says it
    is_primary  whether it is its team's primary run in the evaluation
    column, mean  None for a run that is not scored, and while its results are closed
    """

    id: int
    title: str
    evaluation: str
    campaign: str
    system: str
    team: str
    state: str
    late: bool
    date: dt.datetime
    date_assumed: bool
    is_primary: bool
    column: Column | None
    mean: float | None


@dataclass(frozen=True, slots=True)
class TeamPage:
    """`members` and `runs` are for the team (and admins); other readers get `size` only.

    A system that is on no public board yet is shown to members only.
    """

    name: str
    slug: str
    description: str
    created_at: dt.datetime
    is_member: bool
    is_owner: bool
    size: int
    members: tuple[Member, ...]
    systems: tuple[TeamSystem, ...]
    runs: tuple[OwnRun, ...]

    @property
    def is_last_owner(self) -> bool:
        """Whether others would be without an owner if this reader left."""
        return self.is_owner and self.size > 1 and sum(member.role == Role.OWNER for member in self.members) == 1

    @property
    def emptied(self) -> str:
        """What becomes of the team once its only member leaves, in words; empty where it has others."""
        return EMPTIED if self.size == 1 else ""


def team_page(session: Session, actor: Actor, slug: str, now: dt.datetime) -> TeamPage:
    """Raises NotFound, also where `actor` may not know of the team."""
    team = find_known_team(session, actor, slug, now)
    inside = actor.is_in(team.id) or actor.all_powerful
    members = _members(session, team)
    evaluations = _entered(session, actor, team)
    columns = primary_columns(current_sets(session, [evaluation.id for evaluation in evaluations]))
    measures = {column.name for column in columns.values()}
    places = _places(actor, evaluations, columns, load_candidates(session, actor, evaluations, now, measures), now)
    records = session.scalars(sa.select(System).where(System.team_id == team.id).order_by(System.name, System.id)).all()
    systems = [snapshot(TeamSystem, system, places=tuple(places.get(system.id, ()))) for system in records]
    own = next((member for member in members if member.user_id == actor.user_id), None)
    return snapshot(
        TeamPage,
        team,
        is_member=actor.is_in(team.id),
        is_owner=own is not None and own.role == Role.OWNER,
        size=len(members),
        members=members if inside else (),
        systems=tuple(system for system in systems if system.places or inside),
        runs=own_runs(session, actor, [team.id], now) if inside else (),
    )


def _members(session: Session, team: Team) -> tuple[Member, ...]:
    rows = session.execute(
        sa.select(User.id, User.name, Membership.role, Membership.joined_at)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.team_id == team.id)
        .order_by(Membership.joined_at, User.id)
    )
    return tuple(Member(*row) for row in rows)


def _entered(session: Session, actor: Actor, team: Team) -> Sequence[Evaluation]:
    """The evaluations that the team has a run in and the reader may know of, newest period first."""
    entered = sa.select(Submission.evaluation_id).where(Submission.team_id == team.id)
    return session.scalars(
        sa.select(Evaluation)
        .join(Evaluation.campaign)
        .where(Evaluation.id.in_(entered), known_evaluations(actor))
        .options(sa.orm.contains_eager(Evaluation.campaign))
        .order_by(Evaluation.period_key.desc(), Evaluation.campaign_id, Evaluation.condition, Evaluation.id)
    ).all()


def _places(
    actor: Actor,
    evaluations: Sequence[Evaluation],
    columns: dict[int, Column],
    entries: Sequence[Entry],
    now: dt.datetime,
) -> dict[int, list[TeamPlace]]:
    """System -> its places on the boards whose names and ranks this reader sees."""
    places: dict[int, list[TeamPlace]] = {}
    for evaluation in evaluations:
        if evaluation.id not in columns or not may_see(actor, evaluation, Sight.RESULTS, now):
            continue
        column = columns[evaluation.id]
        here = [entry for entry in entries if entry.evaluation_id == evaluation.id]
        chosen = choose(here, Show(evaluation.campaign.run_choice.value), column)
        taken = ranks(chosen, column)
        for entry in chosen:
            # In an anonymous period a system's page must not give its name away.
            if entry.late or entry.system.is_anonymous:
                continue
            place = TeamPlace(
                evaluation=evaluation_heading(evaluation, now),
                column=column,
                mean=entry.figure(column.name).mean,
                rank=taken.get(entry.submission_id),
                ranked=len(taken),
            )
            places.setdefault(entry.system.id, []).append(place)
    return places


def own_runs(
    session: Session,
    actor: Actor,
    teams: Collection[int],
    now: dt.datetime,
    *,
    system_id: int | None = None,
    limit: int | None = None,
    rejected: bool | None = None,
) -> tuple[OwnRun, ...]:
    """The runs of these teams that `actor`, a member, may know of, the newest first, each with its figure under its
    evaluation's primary measure.

    system_id  of this system of theirs only
    limit      at most so many
    rejected   those alone whose file was rejected, or those alone whose file was not; None: both
    """
    theirs: list[sa.ColumnElement[bool]] = [Submission.team_id.in_(teams)]
    if system_id is not None:
        theirs.append(Submission.system_id == system_id)
    shown = Submission.withdrawn_at.is_(None), Submission.ruling.is_(None)  # else that is its state: shown_state
    is_rejected = sa.func.coalesce(sa.and_(Scoring.state == State.REJECTED, *shown), sa.false())
    of_state = sa.true() if rejected is None else is_rejected if rejected else ~is_rejected
    rows = session.execute(_own_rows().where(*theirs, of_state, known_evaluations(actor)).limit(limit)).all()
    evaluations = {} if rejected else {run.evaluation_id: run.evaluation for run, _, _ in rows}  # those have no figures
    columns = primary_columns(current_sets(session, list(evaluations))) if evaluations else {}
    which = [run.id for run, _, _ in rows] if limit is not None else sa.select(Submission.id).where(*theirs)
    measures = {column.name for column in columns.values()}
    entries = load_entries(session, actor, list(evaluations.values()), now, measures, runs=which)
    scored = {entry.submission_id: columns[entry.evaluation_id] for entry in entries}
    means = {entry.submission_id: entry.figure(scored[entry.submission_id].name).mean for entry in entries}
    return tuple(
        snapshot(
            OwnRun,
            run,
            title=title_of_run(run.label, run.filename, run.id),
            evaluation=run.evaluation.title,
            campaign=run.evaluation.campaign.title,
            system=run.system.name,
            team=run.team.name,
            state=shown_state(state, run.withdrawn_at, run.ruling),
            is_primary=run.id == primary,
            column=scored.get(run.id),
            mean=means.get(run.id),
        )
        for run, state, primary in rows
    )


def _own_rows() -> sa.Select[Submission, State, int | None]:
    """Statement: runs, the newest first, each with the state of its scoring and its team's primary run."""
    of_team = Participation.team_id == Submission.team_id, Participation.evaluation_id == Submission.evaluation_id
    return (
        with_current_scoring(sa.select(Submission, Scoring.state, Participation.primary_submission_id))
        .join(Submission.evaluation)
        .join(Evaluation.campaign)
        .outerjoin(Participation, sa.and_(*of_team))
        .options(
            sa.orm.contains_eager(Submission.evaluation).contains_eager(Evaluation.campaign),
            sa.orm.joinedload(Submission.team),
            sa.orm.joinedload(Submission.system),
        )
        .order_by(Submission.received_at.desc(), Submission.id.desc())
    )


@dataclass(frozen=True, slots=True)
class FoundTeam:
    """A team as those who are not in it find it: nothing of what it takes part in."""

    slug: str
    name: str
    description: str
    size: int
    is_member: bool


@dataclass(frozen=True, slots=True)
class OpenRequest:
    id: int
    name: str
    text: str
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class TeamSettings:
    slug: str
    name: str
    description: str
    is_listed: bool
    is_owner: bool


def find_teams(
    session: Session, actor: Actor, *, words: str = "", page: int | None = 1
) -> tuple[tuple[FoundTeam, ...], Paging]:
    """The teams that allow it, by name; `words`: those whose name or description holds them."""
    members = sa.select(sa.func.count()).where(Membership.team_id == Team.id).scalar_subquery()
    statement = sa.select(Team.id, Team.slug, Team.name, Team.description, members).where(takes_requests())
    if words.strip():
        asked = words.strip()
        statement = statement.where(
            sa.or_(Team.name.icontains(asked, autoescape=True), Team.description.icontains(asked, autoescape=True))
        )
    rows = session.execute(statement.order_by(sa.func.lower(Team.name), Team.id)).all()
    teams = [FoundTeam(slug, name, words, size, actor.is_in(key)) for key, slug, name, words, size in rows]
    return paged(teams, page, PAGE)


def open_requests(session: Session, actor: Actor, team_slug: str) -> tuple[OpenRequest, ...]:
    """The requests that wait for an answer, the oldest first; empty unless the actor owns the team or is an admin."""
    is_owner = sa.exists().where(
        Membership.team_id == Team.id, Membership.user_id == actor.user_id, Membership.role == Role.OWNER
    )
    rows = session.execute(
        sa.select(JoinRequest.id, User.name, JoinRequest.text, JoinRequest.created_at)
        .join(Team, Team.id == JoinRequest.team_id)
        .join(User, User.id == JoinRequest.user_id)
        .where(
            Team.slug == team_slug,
            sa.true() if actor.all_powerful else is_owner,
            JoinRequest.answered_at.is_(None),
        )
        .order_by(JoinRequest.created_at, JoinRequest.id)
    )
    return tuple(OpenRequest(*row) for row in rows)


def has_asked(session: Session, actor: Actor, team: Team) -> bool | None:
    """Whether the actor's request waits there; None where they can't ask: visitors, members, teams that take none."""
    if actor.user_id is None or actor.is_in(team.id):
        return None
    asked = sa.select(JoinRequest.id).where(
        JoinRequest.team_id == team.id, JoinRequest.user_id == actor.user_id, JoinRequest.answered_at.is_(None)
    )
    if session.scalar(asked) is not None:
        return True
    return None if session.scalar(sa.select(Team.id).where(Team.id == team.id, takes_requests())) is None else False


def team_settings(session: Session, actor: Actor, team_slug: str) -> TeamSettings:
    """What its owners can change, for members and the console. Raises NotFound for others."""
    if actor == CONSOLE:
        team, is_owner = find_team(session, team_slug), True
    else:
        team = find_own_team(session, actor, team_slug)
        is_owner = session.get_one(Membership, (team.id, actor.user_id)).role is Role.OWNER
    return TeamSettings(team.slug, team.name, team.description, team.is_listed, is_owner)
