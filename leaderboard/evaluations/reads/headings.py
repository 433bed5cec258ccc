"""The headings of pages: the campaign, the evaluation, and the settings that its figures depend on."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, rounding_seen, subset_seen
from leaderboard.boards.reads.entries import Column, columns_of
from leaderboard.boards.rules import Rounding
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.rules import Visibility, is_beta_of
from leaderboard.db import read_so_far, snapshot
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Judging, Opening, Phase, ScoringSettings, Split, Subset, closed_from, phase_of
from leaderboard.judgments.models import Judgment, Query
from leaderboard.metrics import parse
from leaderboard.moments import moment_in_words
from leaderboard.submissions.rules import State
from leaderboard.worker.models import Scoring, ScoringSet


@dataclass(frozen=True, slots=True)
class CampaignHeading:
    slug: str
    title: str
    description: str
    simulated: bool
    visibility: Visibility
    archived: bool


@dataclass(frozen=True, slots=True)
class EvaluationHeading:
    """What a page shows of its evaluation.

    results, details  when they open to the public; each page's own fields say whether this reader sees them
    closed_from       the end of the grace after closing: when what closing opens is open
    """

    id: int
    campaign: CampaignHeading
    slug: str
    title: str
    description: str
    period: str
    period_key: int
    condition: str
    collection: str
    phase: Phase
    opens_at: dt.datetime | None
    closes_at: dt.datetime | None
    grace_seconds: int
    closed_from: dt.datetime | None
    late_allowed: bool
    results: Opening
    details: Opening
    draft: bool


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query and what a scoring set's judgments say of it. best_grade: None without any; beta: that the set's runs
    were scored with, None where there was none."""

    position: int
    external_id: str
    text: str
    split: Split
    tags: Sequence[str]
    excluded: bool
    best_grade: int | None
    beta: float | None


@dataclass(frozen=True, slots=True)
class Terms:
    """The settings that all figures of an evaluation depend on: figures under equal terms can be compared.

    cost, value, prior  as the campaign gives them; None when β is not theirs
    queries             all that this reader may know of: counted + excluded + unjudged
    counted             those that may have a value: judged and not excluded
    nothing_relevant    counted ones without a relevant document, which measures may leave out
    unjudged            left out because nothing is judged (pooled judging)
    rounding            how this reader sees figures; None: with all digits. Where they are rounded, how many queries
                        are judged is not told: `counted` is then those that count if they are judged, `unjudged` None
    """

    settings: ScoringSettings
    cost: float | None
    value: float | None
    prior: float | None
    metric_version: str
    revision: int
    revision_at: dt.datetime
    queries: int
    counted: int
    nothing_relevant: int
    excluded: int
    unjudged: int | None
    rounding: Rounding | None
    columns: tuple[Column, ...]

    @property
    def primary(self) -> Column:
        return self.columns[0]


def campaign_measures(campaign: Campaign) -> tuple[str, ...]:
    """The measures that the campaign shows, the primary one first."""
    return tuple(dict.fromkeys((campaign.primary_measure, *campaign.measures)))


def measures_of_returned(campaign: Campaign) -> tuple[str, ...]:
    """Those of them that count what was returned, for which θ is asked."""
    return tuple(name for name in campaign_measures(campaign) if parse(name).family.of_returned)


def campaign_heading(campaign: Campaign) -> CampaignHeading:
    """What a page shows of its campaign."""
    return snapshot(CampaignHeading, campaign, archived=campaign.archived_at is not None)


def evaluation_heading(evaluation: Evaluation, now: dt.datetime) -> EvaluationHeading:
    """What a page shows of its evaluation at the moment `now`."""
    return snapshot(
        EvaluationHeading,
        evaluation,
        campaign=campaign_heading(evaluation.campaign),
        phase=phase_of(evaluation, now),
        closed_from=closed_from(evaluation),
    )


def closed_details(evaluation: Evaluation) -> str:
    """Why single queries can't be seen, and from when."""
    never = Opening.NEVER in (evaluation.details, evaluation.results)
    closed = closed_from(evaluation)
    if closed is None or never:
        return "Single queries would give the judgments away; the organisers keep them to themselves."
    moment = moment_in_words(closed)
    return f"Single queries would give the judgments away; they open when the evaluation closes, {moment}."


def terms_of(
    session: Session,
    actor: Actor,
    sets: Sequence[tuple[Evaluation, ScoringSet]],
    now: dt.datetime,
    team_id: int | None = None,
) -> dict[int, Terms]:
    """Evaluation id -> the terms of the scoring set that comes with it, as `actor` sees them, or of `team_id`'s own
    runs; in two statements.
    """
    roundings = {own.id: rounding_seen(actor, evaluation, own.settings, now, team_id) for evaluation, own in sets}
    judged = judged_queries(session, [own for _, own in sets if roundings[own.id] is None])
    betas = _betas(session, [own for _, own in sets if roundings[own.id] is not None])
    betas |= {set_id: queries[0].beta for set_id, queries in judged.items() if queries}
    terms_by_id = {}
    for evaluation, scoring_set in sets:
        campaign, revision, settings = evaluation.campaign, scoring_set.revision, scoring_set.settings
        if (used := betas.get(scoring_set.id)) is not None:
            settings = replace(settings, beta=used)
        parts = {name: getattr(campaign, name) for name in ("cost", "value", "prior")}
        terms_by_id[evaluation.id] = Terms(
            settings=settings,
            **(parts if is_beta_of(settings.beta, **parts) else dict.fromkeys(parts)),
            metric_version=scoring_set.metric_version,
            revision=revision.number,
            revision_at=revision.released_at or revision.imported_at,
            rounding=roundings[scoring_set.id],
            columns=columns_of(settings),
            **_counts(settings, subset_seen(actor, evaluation, now), judged.get(scoring_set.id)),
        )
    return terms_by_id


def _used(scoring_set: ScoringSet) -> sa.ColumnElement[float | None]:
    """The β that the set's runs were scored with, as a part of a statement; none where the set has none."""
    if scoring_set.settings.beta is None:  # else all of its scorings would be read to find none
        return sa.cast(sa.null(), sa.Double)
    return (
        sa.select(Scoring.beta)
        .where(Scoring.scoring_set_id == scoring_set.id, Scoring.state == State.SCORED, Scoring.beta.is_not(None))
        .limit(1)
        .scalar_subquery()
    )


def _betas(session: Session, sets: Sequence[ScoringSet]) -> dict[int, float | None]:
    """Set id -> the β that its runs were scored with, of those sets that have one; at most one statement."""
    wanted = [scoring_set for scoring_set in sets if scoring_set.settings.beta is not None]
    row = session.execute(sa.select(*map(_used, wanted))).one() if wanted else ()
    return dict(zip((scoring_set.id for scoring_set in wanted), row, strict=True))


def judged_queries(session: Session, sets: Iterable[ScoringSet]) -> dict[int, list[JudgedQuery]]:
    """Set id -> its queries, in the order of their positions; at most one statement for all sets."""
    wanted = {scoring_set.id: scoring_set for scoring_set in sets}
    # One that came after the set has no place in its vectors.
    return {
        set_id: [query for query in queries if query.position < wanted[set_id].settings.queries]
        for set_id, queries in queries_of(session, wanted.values()).items()
    }


def queries_of(session: Session, sets: Iterable[ScoringSet]) -> dict[int, list[JudgedQuery]]:
    """Set id -> all queries of its evaluation, those too that came after it; as `judged_queries` gives them."""
    wanted = list(sets)
    known: dict[int, list[JudgedQuery]] = read_so_far(session, "judged queries")
    if unread := {scoring_set.id: scoring_set for scoring_set in wanted if scoring_set.id not in known}:
        known.update((set_id, []) for set_id in unread)
        of_query = Judgment.revision_id == ScoringSet.revision_id, Judgment.query_id == Query.id
        columns = (
            *(Query.position, Query.external_id, Query.text, Query.split, Query.tags, Query.excluded_at.is_not(None)),
            sa.select(sa.func.max(Judgment.grade)).where(*of_query).scalar_subquery(),
            sa.case(*((ScoringSet.id == set_id, _used(scoring_set)) for set_id, scoring_set in unread.items())),
        )
        rows = session.execute(
            sa.select(ScoringSet.id, *columns)
            .join(Query, Query.evaluation_id == ScoringSet.evaluation_id)
            .where(ScoringSet.id.in_(unread))
            .order_by(Query.position)
        )
        for set_id, *row in rows:
            known[set_id].append(JudgedQuery(*row))
    return {scoring_set.id: known[scoring_set.id] for scoring_set in wanted}


def queries_of_subset(session: Session, scoring_set: ScoringSet, subset: Subset, texts: bool) -> list[JudgedQuery]:
    """All queries of a set's evaluation that are in the subset; `texts`: whether their texts and tags may be seen."""
    queries = queries_of(session, [scoring_set])[scoring_set.id]
    known = [query for query in queries if not subset.leaves_out(query.split)]
    return known if texts else [replace(query, text="", tags=()) for query in known]


def _counts(settings: ScoringSettings, subset: Subset, judged: Sequence[JudgedQuery] | None) -> dict[str, Any]:
    """The counts of queries. judged: None for a reader who may not know which are."""
    if judged is None:
        counted, hidden = settings.size(subset), set(settings.hidden) if subset is Subset.SHOWN else set()
        excluded = len(set(settings.excluded) - hidden)
        return {
            "queries": counted + excluded,
            "counted": counted,
            "nothing_relevant": 0,
            "excluded": excluded,
            "unjudged": None,
        }
    excluded_ids = {*settings.excluded}
    known = [query for query in judged if not subset.leaves_out(query.split)]
    left = [query for query in known if query.external_id not in excluded_ids]
    grades = [
        query.best_grade for query in left if query.best_grade is not None or settings.judging is Judging.COMPLETE
    ]
    return {
        "queries": len(known),
        "counted": len(grades),
        "nothing_relevant": sum(grade is None or grade < settings.relevance_level for grade in grades),
        "excluded": len(known) - len(left),
        "unjudged": len(left) - len(grades),
    }
