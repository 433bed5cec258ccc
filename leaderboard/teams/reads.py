"""Teams and systems by the names of their addresses, former and merged ones too, and who is alone in charge.

A team's page: its members, its systems with their ranks, and, for members, every run; teams that let themselves be
found, and who asks to join one.

One system over all periods, in every campaign that it took part in.

The teams and systems that took part in a campaign, for its organisers; what making two teams one would do.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import access, errors, numbers
from leaderboard.access import CONSOLE, Actor
from leaderboard.accounts.models import User
from leaderboard.boards.reads.entries import Column, Paging, disclosures, load_entries, paged
from leaderboard.boards.reads.ranking import primary_boards, primary_results
from leaderboard.campaigns.models import Campaign, CampaignTeam
from leaderboard.campaigns.reads import evaluations_of, evaluations_where
from leaderboard.db import exists, missing, snapshot
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.frozen import frozen
from leaderboard.progress.reads.progress import Line, ProgressPage, progress_in
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads import selection
from leaderboard.submissions.rules import State, SystemKind, title_of_run
from leaderboard.teams.models import FormerAddress, Invitation, JoinRequest, Membership, System, Team, TeamName
from leaderboard.teams.rules import Role
from leaderboard.worker.models import Scoring

PAGE = 50  # teams that are found
EMPTIED = "Nobody is in the team then, and nobody but an admin of this site can let somebody in."
Row = TypeVar("Row", Team, System)
MEMBERS = sa.select(sa.func.count()).where(Membership.team_id == Team.id).correlate(Team).scalar_subquery()


def takes_requests() -> sa.ColumnElement[bool]:
    """Condition on Team: it lets itself be found, and has an owner who would answer a request to join."""
    owned = sa.exists().where(Membership.team_id == Team.id, Membership.role == Role.OWNER)
    return Team.is_listed.is_(True) & owned


def is_owned_by(actor: Actor) -> sa.ColumnElement[bool]:
    """Condition on Team: whoever asks owns it, or is an admin."""
    own = Membership.team_id == Team.id, Membership.user_id == actor.user_id, Membership.role == Role.OWNER
    return sa.true() if actor.all_powerful else sa.exists().where(*own)


def open_invitation(now: datetime) -> sa.ColumnElement[bool]:
    """Condition on Invitation: its link lets somebody in still."""
    unused = Invitation.used_at.is_(None) & Invitation.revoked_at.is_(None)
    return unused & (Invitation.expires_at > now) & access.maker_may_invite()


def find_team(
    session: Session, slug: str, actor: Actor = CONSOLE, is_there: Callable[[Team], bool] = lambda _: True
) -> Team:
    """The team of this address, a former one of it, or one of a team that was merged into it. Raises NotFound.

    actor     whom the message of that may tell of other teams: of their own ones only
    is_there  whether the team is there for who asks; where it is not, it is refused in the same words
    """
    team = known_team(session, slug)
    if team is not None and is_there(team := merged(session, team)):
        return team
    own = sa.true() if actor.all_powerful else Team.id.in_(actor.teams)
    return missing(session, "team", slug, Team.slug, Team.merged_into_id.is_(None), own)


def find_known_team(session: Session, actor: Actor, slug: str, now: datetime) -> Team:
    """As `find_team`. Raises NotFound also where `actor` may not know of the team."""
    return find_team(session, slug, actor, lambda team: is_known(session, actor, team, now))


def is_known(session: Session, actor: Actor, team: Team, now: datetime) -> bool:
    """Whether there is such a team for `actor`."""
    own = Submission.evaluation_id == Evaluation.id, Submission.team_id == team.id
    shown = selection.with_current_scoring(sa.select(Submission.id)).where(*own, selection.on_boards())
    on_boards = evaluations_where(session, shown.where(Scoring.state == State.SCORED).exists())
    return access.knows_team(session, actor, team, on_boards, now)


def find_team_let_in(session: Session, actor: Actor, campaign: Campaign, slug: str) -> Team:
    """As `find_team`. Raises NotFound for every team that was not let into the campaign."""
    let_in = CampaignTeam.campaign_id == campaign.id
    return find_team(session, slug, actor, lambda team: exists(session, let_in, CampaignTeam.team_id == team.id))


def find_own_team(session: Session, actor: Actor, slug: str, campaign_id: int | None = None) -> Team:
    """As `find_team`. Raises NotFound for every team that `actor` is not in.

    campaign_id  of a campaign in which `actor` answers for the team otherwise: organisers do
    """
    organises = campaign_id is not None and actor.may_organise(campaign_id)
    return find_team(session, slug, actor, lambda team: organises or actor.is_in(team.id))


def find_system(session: Session, team_slug: str, slug: str) -> System:
    """The system of this address, with its team; former addresses find it, as `find_team` does. Raises NotFound."""
    if (system := known_system(session, team_slug, slug)) is not None:
        return system
    team = find_team(session, team_slug)
    return missing(session, "system", slug, System.slug, System.team_id == team.id, within=f" of {team.name}")


def known_system(session: Session, team_slug: str, slug: str) -> System | None:
    """The system that has, or had, this address, or the one that it became one with."""
    of_team = sa.select(System).join(System.team).options(sa.orm.contains_eager(System.team))
    system = session.scalar(of_team.where(Team.slug == team_slug, System.slug == slug))
    team = None if system else known_team(session, team_slug)  # as a rule one statement finds it
    while system is None and team is not None:
        former = FormerAddress.team_slug == team.slug, FormerAddress.system_slug == slug
        has = (System.team_id == team.id) & (System.slug == slug)
        had = System.id.in_(sa.select(FormerAddress.system_id).where(*former))
        system = session.scalar(of_team.where(has | had))
        team = session.get(Team, team.merged_into_id) if team.merged_into_id else None
    return system and merged(session, system)


def namesakes(session: Session, source: Team, target: Team) -> Sequence[sa.Row[System, System]]:
    """The systems of one team whose names the other one has too, each with the other's, by name."""
    own = sa.orm.aliased(System)
    pairs = sa.select(own, System).join(System, System.name_key == own.name_key).order_by(own.name)
    of_both = own.team_id == source.id, own.merged_into_id.is_(None), System.team_id == target.id
    return session.execute(pairs.where(*of_both)).all()


def merged(session: Session, row: Row) -> Row:
    """The team or system itself, or the one that it became one with."""
    while row.merged_into_id is not None:
        row = session.get_one(type(row), row.merged_into_id)
    return row


def known_team(session: Session, slug: str) -> Team | None:
    """The team that has, or had, this address, whatever it was merged into since."""
    former = FormerAddress.team_slug == slug, FormerAddress.system_slug == ""
    had = Team.id.in_(sa.select(FormerAddress.team_id).where(*former))
    return session.scalar(sa.select(Team).where((Team.slug == slug) | had))


def team_called(session: Session, name_key: str) -> Team | None:
    """The team that has a name of this key, or ever had it, whatever it was merged into since."""
    return session.scalar(sa.select(Team).join(TeamName).where(TeamName.name_key == name_key))


@frozen
class ListedTeam:
    """A team of the site. members: their names, owners marked as such; "" without any."""

    slug: str
    name: str
    members: str


def listed_teams(session: Session, actor: Actor, _: datetime) -> tuple[ListedTeam, ...]:
    """All teams by name, but for those merged into others. Raises NotFound for all but admins."""
    if not actor.all_powerful:
        raise errors.NotFound
    rows = session.execute(
        sa.select(Team.slug, Team.name, User.name, Membership.role)
        .outerjoin(Membership, Membership.team_id == Team.id)
        .outerjoin(Membership.user)
        .where(Team.merged_into_id.is_(None))
        .order_by(Team.name, Team.id, User.name)
    )
    words = {None: "", Role.MEMBER: "{}", Role.OWNER: "{} (owner)"}
    return tuple(
        ListedTeam(slug, name, ", ".join(words[role].format(member) for *_, member, role in members))
        for (slug, name), members in groupby(rows, key=itemgetter(0, 1))
    )


def teams_with_runs(session: Session, campaign_id: int) -> Sequence[Team]:
    """The teams that anything in the campaign was submitted for, by name."""
    entered = sa.select(Submission.team_id).join(Evaluation).where(Evaluation.campaign_id == campaign_id)
    return session.scalars(sa.select(Team).where(Team.id.in_(entered)).order_by(Team.name, Team.id)).all()


@frozen
class Member:
    user_id: int
    name: str
    role: Role
    joined_at: datetime


@frozen
class TeamPlace:
    """A system's rank in one evaluation, by that evaluation's primary measure."""

    evaluation: reads.EvaluationHeading
    column: Column
    mean: float | None
    rank: int | None
    ranked: int


@frozen
class TeamSystem:
    """`places`: the boards that this reader may see it on, newest period first."""

    name: str
    slug: str
    kind: SystemKind
    description: str
    places: tuple[TeamPlace, ...]


@frozen
class OwnRun:
    """A run as its team lists it. state: queued, scoring, scored, rejected, failed or withdrawn.

    date_assumed  whether an import assumed the date, since nothing says it
    is_primary  whether it is its team's primary run in the evaluation
    column, mean  None for a run that is not scored, and while its results are closed
    rank  among how many by this measure; None where another run is shown for the system or the board is closed, and
          where ranks were not asked for
    """

    id: int
    title: str
    evaluation: str
    campaign: str
    system: str
    team: str
    state: str
    late: bool
    date: datetime
    date_assumed: bool
    is_primary: bool
    column: Column | None
    mean: float | None
    rank: tuple[int, int] | None


@frozen
class TeamPage:
    """`members` and `runs` are for the team (and admins); other readers get `size` only.

    A system that is on no public board yet is shown to members only.
    """

    name: str
    slug: str
    description: str
    created_at: datetime
    is_member: bool
    is_owner: bool
    size: int
    members: tuple[Member, ...]
    systems: tuple[TeamSystem, ...]
    runs: tuple[OwnRun, ...]

    @property
    def emptied(self) -> str:
        """What becomes of the team once its only member leaves, in words; empty where it has others."""
        return EMPTIED if self.size == 1 else ""


def team_page(session: Session, actor: Actor, slug: str, now: datetime) -> TeamPage:
    """Raises NotFound, also where `actor` may not know of the team."""
    team = find_known_team(session, actor, slug, now)
    inside = actor.is_in(team.id) or actor.all_powerful
    rows = session.execute(
        sa.select(User.id, User.name, Membership.role, Membership.joined_at)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.team_id == team.id)
        .order_by(Membership.joined_at, User.id)
    )
    members = tuple(Member(*row) for row in rows)
    places = _places(session, actor, team, now)
    records = session.scalars(sa.select(System).where(System.team_id == team.id).order_by(System.name, System.id)).all()
    systems = [snapshot(TeamSystem, system, places=tuple(places.get(system.id, ()))) for system in records]
    return snapshot(
        TeamPage,
        team,
        is_member=actor.is_in(team.id),
        is_owner=any(member.user_id == actor.user_id and member.role is Role.OWNER for member in members),
        size=len(members),
        members=members if inside else (),
        systems=tuple(system for system in systems if system.places or inside),
        runs=own_runs(session, actor, [team.id], now) if inside else (),
    )


def _places(session: Session, actor: Actor, team: Team, now: datetime) -> dict[int, list[TeamPlace]]:
    """System -> its places on the boards whose names and ranks this reader sees, newest period first."""
    own = access.entered(Submission.team_id == team.id)
    evaluations = evaluations_where(session, own, access.known_evaluations(actor))
    places: dict[int, list[TeamPlace]] = {}
    for evaluation, column, chosen, taken in primary_boards(session, actor, evaluations, now):
        heading = reads.evaluation_heading(evaluation, now)
        for entry in chosen:
            # In an anonymous period a system's page must not give its name away.
            if not entry.late and not entry.system.is_anonymous:
                mean, rank = entry.figure(column.name).mean, taken.get(entry.scoring_id)
                places.setdefault(entry.system.id, []).append(TeamPlace(heading, column, mean, rank, len(taken)))
    return places


def own_runs(
    session: Session,
    actor: Actor,
    teams: Collection[int],
    now: datetime,
    *which: sa.ColumnElement[bool],
    limit: int | None = None,
) -> tuple[OwnRun, ...]:
    """The runs of these teams that `actor`, a member, may know of, the newest first, each with its figure under its
    evaluation's primary measure.

    which  conditions on Submission
    limit  at most so many, each with its rank
    """
    theirs = Submission.team_id.in_(teams), *which
    listed = sa.select(Submission, selection.SHOWN_STATE, Participation.primary_submission_id)
    rows = session.execute(
        selection.with_current_scoring(listed)
        .join(Submission.evaluation)
        .join(Evaluation.campaign)
        .outerjoin(Participation, selection.ITS_TEAMS_PART)
        .options(
            sa.orm.contains_eager(Submission.evaluation).contains_eager(Evaluation.campaign),
            sa.orm.joinedload(Submission.team),
            sa.orm.joinedload(Submission.system),
        )
        .where(*theirs, access.known_evaluations(actor))
        .order_by(Submission.received_at.desc(), Submission.id.desc())
        .limit(limit)
    ).all()
    evaluations = {run.evaluation_id: run.evaluation for run, _, _ in rows}
    ids = [run.id for run, _, _ in rows] if limit is not None else sa.select(Submission.id).where(*theirs)
    results = primary_results(session, actor, evaluations.values(), now, ids, ranked=limit is not None)
    return tuple(
        snapshot(
            OwnRun,
            run,
            title=title_of_run(run.label, run.filename, run.id),
            evaluation=run.evaluation.title,
            campaign=run.evaluation.campaign.title,
            system=run.system.name,
            team=run.team.name,
            state=state,
            is_primary=run.id == primary,
            column=result and result.column,
            mean=result and result.mean,
            rank=result and result.rank,
        )
        for run, state, primary in rows
        for result in [results.get(run.id)]
    )


@frozen
class FoundTeam:
    """A team as those who are not in it find it: nothing of what it takes part in."""

    slug: str
    name: str
    description: str
    size: int
    is_member: bool


@frozen
class OpenRequest:
    id: int
    name: str
    text: str
    created_at: datetime


@frozen
class JoinRequests:
    """asked: whether a request of yours waits, None where you can't ask; waiting: for owners, those to be answered."""

    asked: bool | None
    waiting: tuple[OpenRequest, ...]


@frozen
class TeamSettings:
    slug: str
    name: str
    description: str
    is_listed: bool
    is_owner: bool


def find_teams(session: Session, actor: Actor, *, words: str, page: int | None) -> tuple[tuple[FoundTeam, ...], Paging]:
    """The teams that allow it, by name; `words`: those whose name or description holds them."""
    holds = (text.icontains(words.strip(), autoescape=True) for text in (Team.name, Team.description))
    rows = session.execute(
        sa.select(Team, MEMBERS).where(takes_requests(), sa.or_(*holds)).order_by(sa.func.lower(Team.name), Team.id)
    )
    teams = [snapshot(FoundTeam, team, size=size, is_member=actor.is_in(team.id)) for team, size in rows]
    return paged(teams, page, PAGE)


def join_requests(session: Session, actor: Actor, team: Team) -> JoinRequests:
    """Those that wait for an answer, the oldest first, where the actor owns the team or is an admin; and their own."""
    here = JoinRequest.team_id == team.id, JoinRequest.waits()
    rows = session.execute(
        sa.select(JoinRequest.id, User.name, JoinRequest.text, JoinRequest.created_at)
        .join(JoinRequest.team)
        .join(JoinRequest.user)
        .where(*here, is_owned_by(actor))
        .order_by(JoinRequest.created_at, JoinRequest.id)
    )
    asked = exists(session, *here, JoinRequest.user_id == actor.user_id)
    outside = actor.user_id is not None and not actor.is_in(team.id)
    may_ask = asked or (outside and exists(session, Team.id == team.id, takes_requests()))
    return JoinRequests(asked if may_ask else None, tuple(OpenRequest(*row) for row in rows))


def team_settings(session: Session, actor: Actor, team_slug: str, _: datetime) -> TeamSettings:
    """What its owners can change, for members and the console. Raises NotFound for others."""
    team = find_team(session, team_slug) if actor == CONSOLE else find_own_team(session, actor, team_slug)
    is_owner = exists(session, Team.id == team.id, is_owned_by(actor))
    return snapshot(TeamSettings, team, is_owner=is_owner)


@frozen
class SystemFacts:
    """What is on record of a system itself."""

    id: int
    name: str
    slug: str
    team: str
    team_slug: str
    kind: SystemKind
    description: str
    code_url: str
    paper_url: str


@frozen
class SystemYears:
    """The system in one condition of a campaign; page: with the other systems' lines."""

    page: ProgressPage
    line: Line


@frozen
class SystemPage(SystemFacts):
    """others: the team's other systems that this reader may know of, as (slug, name); runs: for its team only.

    may_remove: whether the reader may remove it, which no run was ever sent for
    """

    own: bool
    may_edit: bool
    may_remove: bool
    others: tuple[tuple[str, str], ...]
    years: tuple[SystemYears, ...]
    runs: tuple[OwnRun, ...]


def system(session: Session, actor: Actor, team_slug: str, slug: str, now: datetime) -> SystemPage:
    """Raises NotFound, in the same words for no such system and for one that this reader sees on no board."""
    record = known_system(session, team_slug, slug)
    page = record and _system_page(session, actor, record, now)
    if page and (page.years or page.own):
        return page
    team = find_known_team(session, actor, team_slug, now)
    raise errors.NotFound(f"there is no system {slug!r} of {team.name} on a board")


def _system_page(session: Session, actor: Actor, record: System, now: datetime) -> SystemPage:
    team, own = record.team, actor.is_in(record.team_id) or actor.all_powerful
    pages, evaluations = _pages(session, actor, record, now)
    lines = [(page, line) for page in pages for line in (*page.systems, *page.baselines)]
    own_lines = [(page, line) for page, line in lines if line.system and line.system.id == record.id]
    runs = [point.entry.submission_id for _, line in own_lines for point in line.points]
    # With what they have under every measure: progress reads those that rank only.
    disclosed = load_entries(session, disclosures(session, actor, evaluations, now), None, runs=runs)
    entries = {entry.submission_id: entry for entry in disclosed}
    years = []
    for page, line in own_lines:
        points = (replace(point, entry=entries[point.entry.submission_id]) for point in line.points)
        years.append(SystemYears(page, replace(line, points=tuple(points))))
    others = {line.system.slug: line.name for _, line in lines if line.system and line.team_slug == team.slug}
    if own:
        others |= dict(session.execute(sa.select(System.slug, System.name).where(System.team_id == team.id)).all())
    others.pop(record.slug, None)
    return snapshot(
        SystemPage,
        record,
        team=team.name,
        team_slug=team.slug,
        own=own,
        may_edit=own or access.organises_all_entered(session, actor, system_id=record.id),
        may_remove=own and reads.removal_refusal(session, record) is None,
        others=tuple(sorted(others.items(), key=lambda pair: pair[1].casefold())),
        years=tuple(years),
        runs=own_runs(session, actor, [team.id], now, Submission.system_id == record.id) if own else (),
    )


def _pages(
    session: Session, actor: Actor, record: System, now: datetime
) -> tuple[list[ProgressPage], list[Evaluation]]:
    """The progress of every condition that the system has a run in, the newest campaign first; and the evaluations of
    these campaigns."""
    entered = access.entered(Submission.system_id == record.id, selection.on_boards())
    conditions: dict[Campaign, set[str]] = {}
    for evaluation in evaluations_where(session, entered, access.known_evaluations(actor)):
        conditions.setdefault(evaluation.campaign, set()).add(evaluation.condition)
    pages: list[ProgressPage] = []
    evaluations: list[Evaluation] = []
    for campaign in sorted(conditions, key=lambda campaign: (-campaign.created_at.timestamp(), campaign.slug)):
        of_it = evaluations_of(session, actor, campaign.id)
        pages += progress_in(session, actor, campaign, of_it, now, sorted(conditions[campaign]))
        evaluations += of_it
    return pages, evaluations


@frozen
class OrganisedTeam:
    """systems: with runs in the campaign; may_rename: whether the reader may rename it or merge it with another."""

    id: int
    name: str
    slug: str
    description: str
    members: int
    systems: int
    may_rename: bool


@frozen
class Twin:
    """A system of the team that goes, whose name the other team has too. same_kind: whether the two may become one."""

    slug: str
    name: str
    runs: int
    other_runs: int
    same_kind: bool


@frozen
class SharedEvaluation:
    """One that both teams took part in: what each used of the quota, and whose primary run would be the primary one."""

    title: str
    used: tuple[int, int]
    primary: str


@frozen
class Merging:
    """What making `source` a part of `target` would do.

    runs, systems  that move, in all campaigns
    refusal  why the reader may not do it, in words; "" where they may
    """

    source: OrganisedTeam
    target: OrganisedTeam
    twins: tuple[Twin, ...] = ()
    shared: tuple[SharedEvaluation, ...] = ()
    runs: int = 0
    systems: int = 0
    refusal: str = ""

    @property
    def effect(self) -> str:
        """What has to be confirmed, with how much it is about."""
        moved = f"{numbers.counted(self.runs, 'run')} of {numbers.counted(self.systems, 'system')}"
        return f"{moved} of {self.source.name} become those of {self.target.name}, for good."


def systems_entered(*which: sa.ColumnElement[bool]) -> sa.Select[int, int]:
    """Statement: the systems that have runs in evaluations of these conditions, and their teams. Each that its team
    took part in is asked for one."""
    of_team = sa.select(System.id, System.team_id).join(Participation, Participation.team_id == System.team_id)
    of_team = of_team.join(Evaluation, Evaluation.id == Participation.evaluation_id)
    return of_team.where(access.entered(Submission.system_id == System.id), *which).distinct()


def organised_teams(
    session: Session, actor: Actor, campaign_slug: str, _: datetime, *which: sa.ColumnElement[bool]
) -> tuple[OrganisedTeam, ...]:
    """Those that have runs in the campaign, by name. Raises NotFound."""
    campaign = reads.organised_campaign(session, actor, campaign_slug)
    entered = systems_entered(Evaluation.campaign_id == campaign.id).subquery()
    rows = session.execute(
        sa.select(Team, MEMBERS, sa.func.count())
        .join(entered, entered.c.team_id == Team.id)
        .where(*which)
        .group_by(Team.id)
        .order_by(Team.name, Team.id)
    )
    return tuple(
        snapshot(
            OrganisedTeam, team, members=size, systems=systems,
            may_rename=access.organises_all_entered(session, actor, team_id=team.id),
        )
        for team, size, systems in rows
    )  # fmt: skip


def organised_team(session: Session, actor: Actor, campaign_slug: str, team_id: int, now: datetime) -> OrganisedTeam:
    """One that has runs in the campaign. Raises NotFound."""
    for team in organised_teams(session, actor, campaign_slug, now, Team.id == team_id):
        return team
    raise errors.NotFound(f"there is no team {team_id} in this campaign")


def merging(
    session: Session, actor: Actor, campaign_slug: str, source_id: int, target_id: int, now: datetime
) -> Merging:
    """What making one team of the campaign a part of another would do. Raises NotFound."""
    source, target = (organised_team(session, actor, campaign_slug, each, now) for each in (source_id, target_id))
    both = session.get_one(Team, source_id), session.get_one(Team, target_id)
    refusal = access.merging_refusal(session, actor, *both)
    if refusal:  # and nothing of what they did in campaigns that the reader may know nothing of
        return Merging(source, target, refusal=refusal)
    of_both = Submission.team_id.in_((source_id, target_id))
    runs = Counter(session.scalars(sa.select(Submission.system_id).where(of_both)))
    own = set(session.scalars(sa.select(System.id).where(System.team_id == source_id, System.id.in_(runs))))
    twins = tuple(
        Twin(own.slug, own.name, runs[own.id], runs[other.id], own.is_baseline == other.is_baseline)
        for own, other in namesakes(session, *both)
    )
    shared = tuple(_shared(session, source_id, target_id))
    return Merging(source, target, twins, shared, sum(runs[system] for system in own), len(own))


def _shared(session: Session, source_id: int, target_id: int) -> Iterator[SharedEvaluation]:
    other = sa.orm.aliased(Participation)
    rows = session.execute(
        sa.select(Evaluation, Participation.used, other.used)
        .join(Participation, Participation.evaluation_id == Evaluation.id)
        .join(other, other.evaluation_id == Evaluation.id)
        .where(Participation.team_id == source_id, other.team_id == target_id)
        .order_by(Evaluation.period_key.desc(), Evaluation.id)
    )
    for evaluation, used, other_used in rows.all():
        of_both = Submission.evaluation_id == evaluation.id, Submission.team_id.in_((source_id, target_id))
        primary = selection.primary_run(session, *of_both)
        yield SharedEvaluation(evaluation.title, (used, other_used), primary.name if primary else "")


@frozen
class OrganisedSystem(SystemFacts):
    """What an organiser is told of a system.

    may_change  whether the reader organises every campaign that it has runs in
    """

    may_change: bool


def organised_system(
    session: Session, actor: Actor, campaign_slug: str, system_id: int, now: datetime
) -> OrganisedSystem:
    """One that has runs in the campaign. Raises NotFound."""
    for system in organised_systems(session, actor, campaign_slug, now, System.id == system_id):
        return system
    raise errors.NotFound(f"there is no system {system_id} in this campaign")


def organised_systems(
    session: Session, actor: Actor, campaign_slug: str, _: datetime, *which: sa.ColumnElement[bool]
) -> tuple[OrganisedSystem, ...]:
    """Those that have runs in the campaign: baselines first, then by team and name. Raises NotFound."""
    campaign = reads.organised_campaign(session, actor, campaign_slug)
    entered = systems_entered(Evaluation.campaign_id == campaign.id).subquery()
    systems = session.scalars(
        sa.select(System)
        .join(System.team)
        .options(sa.orm.contains_eager(System.team))
        .where(System.id.in_(sa.select(entered.c.id)), *which)
        .order_by(System.kind != SystemKind.BASELINE, Team.name, System.name, System.id)
    ).all()
    others = Evaluation.campaign_id.not_in(actor.organises), System.id.in_([system.id for system in systems])
    of_others = set() if actor.all_powerful else set(session.scalars(systems_entered(*others)))
    return tuple(
        snapshot(
            OrganisedSystem,
            system,
            team=system.team.name,
            team_slug=system.team.slug,
            may_change=system.id not in of_others,
        )
        for system in systems
    )
