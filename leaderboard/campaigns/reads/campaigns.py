"""Campaigns and their evaluations: what there is, whether it is open, and who leads."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Sight, known_campaigns, known_evaluations, may_see, rounding_seen, subset_seen
from leaderboard.boards.reads.columns import Column, at_level, column
from leaderboard.boards.reads.entries import Entry, told_apart
from leaderboard.boards.reads.ranking import Show, choose, load_candidates, ranks
from leaderboard.boards.rules import Rounding
from leaderboard.campaigns.models import Campaign
from leaderboard.db import snapshot
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import find_campaign
from leaderboard.evaluations.reads.headings import (
    CampaignHeading,
    EvaluationHeading,
    campaign_heading,
    evaluation_heading,
)
from leaderboard.evaluations.rules import Phase, Split
from leaderboard.judgments.models import Query
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import on_boards
from leaderboard.submissions.rules import UNFINISHED
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import current_sets

EVALUATION_ORDER = (Evaluation.period_key.desc(), Evaluation.condition, Evaluation.title, Evaluation.id)


@dataclass(frozen=True, slots=True)
class Leader:
    """The first run of an evaluation's board by the primary measure. name: what its system is called among the others
    there; tied: how many others share its rank."""

    entry: Entry
    name: str
    mean: float
    column: Column
    tied: int


@dataclass(frozen=True, slots=True)
class EvaluationSummary:
    """queries: those that this reader may know of; systems, leader: 0 and None until they may see results.

    rounding: how this reader sees figures; None: with all digits, or nothing is scored yet.
    """

    evaluation: EvaluationHeading
    queries: int
    runs: int
    systems: int
    leader: Leader | None
    rounding: Rounding | None


@dataclass(frozen=True, slots=True)
class CampaignSummary:
    campaign: CampaignHeading
    primary: Column
    evaluations: int
    open: tuple[EvaluationHeading, ...]
    runs: int
    periods: tuple[str, ...]
    latest: EvaluationSummary | None


@dataclass(frozen=True, slots=True)
class CampaignPage:
    """evaluations: the newest period first; organised: whether this reader organises the campaign."""

    campaign: CampaignHeading
    primary: Column
    beta: float | None
    cost: float | None
    value: float | None
    prior: float | None
    locked: bool
    contact: str
    links: tuple[tuple[str, str], ...]
    guidelines: str
    organised: bool
    evaluations: tuple[EvaluationSummary, ...]

    @property
    def conditions(self) -> tuple[str, ...]:
        return tuple(sorted({evaluation.evaluation.condition for evaluation in self.evaluations}))

    @property
    def periods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(evaluation.evaluation.period for evaluation in self.evaluations))


def campaigns(session: Session, actor: Actor, now: dt.datetime) -> tuple[CampaignSummary, ...]:
    """Every campaign that the reader may know of: with an open evaluation, then the newest; archived ones last."""
    known = known_to(session, actor)
    candidates = primary_candidates(session, actor, [evaluation for own in known.values() for evaluation in own], now)
    return campaign_summaries(session, actor, known, candidates, now)


def known_to(session: Session, actor: Actor) -> dict[Campaign, list[Evaluation]]:
    """Every campaign that the reader may know of, the newest first, with what `evaluations_of` gives of it; in one
    statement."""
    known_of_it = sa.and_(Evaluation.campaign_id == Campaign.id, known_evaluations(actor))
    rows = session.execute(
        sa.select(Campaign, Evaluation)
        .outerjoin(Evaluation, known_of_it)
        .where(known_campaigns(actor))
        .order_by(Campaign.created_at.desc(), Campaign.id, *EVALUATION_ORDER)
    )
    known: dict[Campaign, list[Evaluation]] = {}
    for campaign, evaluation in rows:
        own = known.setdefault(campaign, [])
        if evaluation is not None:
            own.append(evaluation)
    return known


def campaign_summaries(
    session: Session,
    actor: Actor,
    known: Mapping[Campaign, Sequence[Evaluation]],
    candidates: Sequence[Entry],
    now: dt.datetime,
) -> tuple[CampaignSummary, ...]:
    """`campaigns`, given what `known_to` and `primary_candidates` give."""
    summaries = _summaries(
        session, actor, [evaluation for own in known.values() for evaluation in own], candidates, now
    )
    rows = []
    for campaign, evaluations in known.items():
        own = [summaries[evaluation.id] for evaluation in evaluations]
        rows.append(
            CampaignSummary(
                campaign=campaign_heading(campaign),
                primary=column(campaign.primary_measure),
                evaluations=len(own),
                open=tuple(
                    each.evaluation for each in own if each.evaluation.phase == Phase.OPEN and not each.evaluation.draft
                ),
                runs=sum(each.runs for each in own),
                periods=tuple(dict.fromkeys(each.evaluation.period for each in reversed(own))),
                latest=next((each for each in own if each.leader), None),
            )
        )
    return tuple(sorted(rows, key=lambda summary: (summary.campaign.archived, not summary.open)))


def is_loading(session: Session) -> bool:
    """Whether a run that came from the command line, as seeds do, is not scored yet."""
    return bool(
        session.scalar(
            sa.select(
                sa.exists().where(
                    Scoring.submission_id == Submission.id,
                    Scoring.state.in_(UNFINISHED),
                    Submission.submitter_id.is_(None),
                    on_boards(),
                )
            )
        )
    )


def campaign(session: Session, actor: Actor, slug: str, now: dt.datetime) -> CampaignPage:
    """Raises NotFound."""
    record = find_campaign(session, actor, slug)
    evaluations = evaluations_of(session, actor, record.id)
    return campaign_page(session, actor, record, evaluations, primary_candidates(session, actor, evaluations, now), now)


def campaign_page(
    session: Session,
    actor: Actor,
    record: Campaign,
    evaluations: Sequence[Evaluation],
    candidates: Sequence[Entry],
    now: dt.datetime,
) -> CampaignPage:
    """`campaign`, given what `evaluations_of` and `primary_candidates` give."""
    summaries = _summaries(session, actor, evaluations, candidates, now)
    return snapshot(
        CampaignPage,
        record,
        campaign=campaign_heading(record),
        primary=column(record.primary_measure),
        locked=record.locked_at is not None,
        links=tuple((title, address) for title, address in record.links),
        organised=actor.may_organise(record.id),
        evaluations=tuple(summaries[evaluation.id] for evaluation in evaluations),
    )


def evaluations_of(session: Session, actor: Actor, campaign_id: int) -> Sequence[Evaluation]:
    """Those of a campaign that the reader may know of, the newest period first, then by condition."""
    statement = (
        sa.select(Evaluation)
        .join(Evaluation.campaign)
        .options(sa.orm.contains_eager(Evaluation.campaign))
        .where(known_evaluations(actor), Evaluation.campaign_id == campaign_id)
        .order_by(*EVALUATION_ORDER)
    )
    return session.scalars(statement).all()


def primary_columns(sets: Mapping[int, ScoringSet]) -> dict[int, Column]:
    """Evaluation id -> the column of its primary measure, whose name holds the evaluation's relevance level.

    sets  what `current_sets` gives
    """
    return {evaluation_id: column(current.settings.measures[0]) for evaluation_id, current in sets.items()}


def primary_candidates(
    session: Session, actor: Actor, evaluations: Sequence[Evaluation], now: dt.datetime
) -> list[Entry]:
    """What `load_candidates` gives with the figures of each evaluation's primary measure: that of its current set, and
    the campaign's, which may have been changed since."""
    sets = current_sets(session, [evaluation.id for evaluation in evaluations])
    by = {
        evaluation.id: {
            current.settings.measures[0],
            at_level(evaluation.campaign.primary_measure, current.settings.relevance_level),
        }
        for evaluation in evaluations
        if (current := sets.get(evaluation.id))
    }
    return load_candidates(session, actor, evaluations, now, set().union(*by.values()), by=by)


def _summaries(
    session: Session,
    actor: Actor,
    evaluations: Sequence[Evaluation],
    candidates: Sequence[Entry],
    now: dt.datetime,
) -> dict[int, EvaluationSummary]:
    sets = current_sets(session, [evaluation.id for evaluation in evaluations])
    columns = primary_columns(sets)
    queries, runs = _counts(session)
    by_evaluation: dict[int, list[Entry]] = {}
    for entry in candidates:
        by_evaluation.setdefault(entry.evaluation_id, []).append(entry)
    summaries = {}
    for evaluation in evaluations:
        leader, systems = None, 0
        if evaluation.id in columns and may_see(actor, evaluation, Sight.RESULTS, now):
            leader, systems = _leader(evaluation, by_evaluation.get(evaluation.id, []), columns[evaluation.id])
        heading = evaluation_heading(evaluation, now)
        summaries[evaluation.id] = EvaluationSummary(
            heading,
            sum(
                queries[evaluation.id, split]
                for split in Split
                if not subset_seen(actor, evaluation, now).leaves_out(split)
            ),
            runs.get(evaluation.id, 0),
            systems,
            leader,
            rounding_seen(actor, evaluation, sets[evaluation.id].settings, now) if evaluation.id in sets else None,
        )
    return summaries


def _leader(evaluation: Evaluation, entries: Sequence[Entry], column: Column) -> tuple[Leader | None, int]:
    chosen = choose(entries, Show(evaluation.campaign.run_choice.value), column)
    systems = len({entry.system.id for entry in chosen})
    places = ranks(chosen, column)
    first = [entry for entry in chosen if places.get(entry.submission_id) == 1]
    if not first:
        return None, systems
    mean, name = first[0].figure(column.name).mean, told_apart(entry.system for entry in chosen)[first[0].system.id]
    return (Leader(first[0], name, mean, column, len(first) - 1) if mean is not None else None), systems


def _counts(session: Session) -> tuple[Counter[tuple[int, Split]], dict[int, int]]:
    """(evaluation, split) -> how many of its queries are not excluded; evaluation -> how many of its runs are not
    withdrawn. In one statement."""
    which, of = (Query.evaluation_id, Query.split), Submission.evaluation_id
    of_queries = sa.select(*which, sa.func.count()).where(Query.excluded_at.is_(None)).group_by(*which)
    of_runs = sa.select(of, sa.null(), sa.func.count()).where(on_boards()).group_by(of)
    queries: Counter[tuple[int, Split]] = Counter()
    runs: dict[int, int] = {}
    rows: Sequence[Any] = session.execute(sa.union_all(of_queries, of_runs)).all()
    for row in rows:
        if row[1] is None:
            runs[row[0]] = row[2]
        else:
            queries[row[0], row[1]] = row[2]
    return queries, runs
