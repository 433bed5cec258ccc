"""One system over all periods, in every campaign that it took part in."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, known_evaluations, may_change_kind
from leaderboard.boards.reads.entries import load_entries
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.reads.campaigns import evaluations_of
from leaderboard.errors import NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import removal_refusal
from leaderboard.progress.reads import Line, ProgressPage, progress_in
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import on_boards
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams.models import System
from leaderboard.teams.reads.find import find_known_team, find_system
from leaderboard.teams.reads.team import OwnRun, own_runs


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class SystemYears:
    """The system in one condition of a campaign; page: with the other systems' lines."""

    page: ProgressPage
    line: Line


@dataclass(frozen=True, slots=True)
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


def system(session: Session, actor: Actor, team_slug: str, slug: str, now: dt.datetime) -> SystemPage:
    """Raises NotFound for no such system, and for one that this reader sees on no board."""
    try:
        record = find_system(session, team_slug, slug)
    except NotFound:
        _absent(session, actor, team_slug, slug, now)
    team = record.team
    pages, evaluations = _pages(session, actor, record, now)
    lines = [(page, line) for page in pages for line in (*page.systems, *page.baselines)]
    own_lines = [(page, line) for page, line in lines if line.system and line.system.id == record.id]
    years = _with_all_figures(session, actor, own_lines, evaluations, now)
    own = actor.is_in(team.id) or actor.all_powerful
    if not (years or own):
        _absent(session, actor, team_slug, slug, now)
    others = {line.system.slug: line.name for _, line in lines if line.system and line.team_slug == team.slug}
    if own:
        others |= dict(session.execute(sa.select(System.slug, System.name).where(System.team_id == team.id)).all())
    others.pop(record.slug, None)
    return SystemPage(
        *facts_of(record),
        own=own,
        may_edit=own or may_change_kind(session, actor, record.id),
        may_remove=own and removal_refusal(session, record) is None,
        others=tuple(sorted(others.items(), key=lambda pair: pair[1].casefold())),
        years=tuple(years),
        runs=own_runs(session, actor, [team.id], now, system_id=record.id) if own else (),
    )


def _absent(session: Session, actor: Actor, team_slug: str, slug: str, now: dt.datetime) -> NoReturn:
    """Raises NotFound: for outsiders in the same words for one on no board and for one that never was."""
    team = find_known_team(session, actor, team_slug, now)
    if actor.is_in(team.id) or actor.all_powerful:
        find_system(session, team_slug, slug)  # its own team is told the nearest names
    raise NotFound(f"there is no system {slug!r} of {team.name} on a board")


def facts_of(record: System) -> tuple[int, str, str, str, str, SystemKind, str, str, str]:
    """The fields of SystemFacts, in their order."""
    team, links = record.team, (record.code_url, record.paper_url)
    return record.id, record.name, record.slug, team.name, team.slug, record.kind, record.description, *links


def _with_all_figures(
    session: Session,
    actor: Actor,
    lines: Sequence[tuple[ProgressPage, Line]],
    evaluations: Sequence[Evaluation],
    now: dt.datetime,
) -> list[SystemYears]:
    """The lines of one system with what its runs have under every measure: progress reads those that rank only.

    evaluations: those that the lines have points in, perhaps others too
    """
    runs = [point.entry.submission_id for _, line in lines for point in line.points]
    ids = {point.period.evaluation_id for _, line in lines for point in line.points}
    own = [evaluation for evaluation in evaluations if evaluation.id in ids]
    entries = {entry.submission_id: entry for entry in load_entries(session, actor, own, now, runs=runs)}

    def whole(line: Line) -> Line:
        return replace(
            line, points=tuple(replace(point, entry=entries[point.entry.submission_id]) for point in line.points)
        )

    return [SystemYears(page, whole(line)) for page, line in lines]


def _pages(
    session: Session, actor: Actor, record: System, now: dt.datetime
) -> tuple[list[ProgressPage], list[Evaluation]]:
    """The progress of every condition that the system has a run in, the newest campaign first; and the evaluations of
    these campaigns."""
    entered = session.execute(
        sa.select(Campaign.id, Evaluation.condition, Campaign.created_at, Campaign.slug)
        .join(Evaluation, Evaluation.campaign_id == Campaign.id)
        .join(Submission, Submission.evaluation_id == Evaluation.id)
        .where(Submission.system_id == record.id, on_boards(), known_evaluations(actor))
        .distinct()
        .order_by(Campaign.created_at.desc(), Campaign.slug, Evaluation.condition)
    )
    conditions: dict[int, list[str]] = {}
    for campaign_id, condition, *_ in entered:
        conditions.setdefault(campaign_id, []).append(condition)
    pages: list[ProgressPage] = []
    evaluations: list[Evaluation] = []
    for campaign_id, own in conditions.items():
        of_it = evaluations_of(session, actor, campaign_id)
        pages += progress_in(session, actor, of_it[0].campaign, of_it, now, own)
        evaluations += of_it
    return pages, evaluations
