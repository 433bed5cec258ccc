"""Where an organiser is: the campaigns that they organise, and the room of one and of its evaluations.

The settings of a campaign and of an evaluation as their organisers change them, and who organises.

Campaigns and their evaluations: what there is, whether it is open, and who leads.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, known_campaigns, known_evaluations, may_see, rounding_seen, subset_seen
from leaderboard.accounts.models import User
from leaderboard.boards.models import Board
from leaderboard.boards.reads.entries import Column, Entry, at_level, column, disambiguate
from leaderboard.boards.reads.ranking import Show, choose, load_candidates, ranks
from leaderboard.boards.rules import Rounding
from leaderboard.campaigns.inputs import SiteSettings
from leaderboard.campaigns.models import Campaign, CampaignOrganiser, CampaignTeam, Site
from leaderboard.campaigns.rules import Visibility
from leaderboard.db import exists, snapshot
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.evaluations.rules import Phase, Split, Subset, phase_of
from leaderboard.frozen import frozen
from leaderboard.judgments.models import JudgmentRevision, Query
from leaderboard.metrics import parse
from leaderboard.numbers import counted
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import on_boards, with_current_scoring
from leaderboard.submissions.rules import UNFINISHED
from leaderboard.teams.models import Team
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import IS_CURRENT, current_sets

EVALUATION_ORDER = (
    Evaluation.period_key.desc(), Evaluation.campaign_id, Evaluation.condition, Evaluation.title, Evaluation.id
)  # fmt: skip


@frozen
class Room:
    """evaluation, evaluation_title: empty in a campaign's room."""

    campaign: str
    campaign_title: str
    evaluation: str = ""
    evaluation_title: str = ""


@frozen
class Counts:
    """submissions: all on record; waiting: queued or being scored, since when the oldest."""

    submissions: int = 0
    waiting: int = 0
    oldest_waiting: datetime | None = None


@frozen
class EvaluationRow:
    """campaign: its slug; queries: how many there are."""

    campaign: str
    slug: str
    title: str
    period: str
    condition: str
    phase: Phase
    opens_at: datetime | None
    closes_at: datetime | None
    draft: bool
    queries: int
    counts: Counts


@frozen
class OrganisedCampaign:
    """phases: of its evaluations that are no drafts, each once, the open ones first; drafts: how many are drafts."""

    heading: reads.CampaignHeading
    primary_measure: str
    beta: float | None
    evaluations: int
    phases: tuple[Phase, ...]
    drafts: int
    counts: Counts


@frozen
class CampaignRoom:
    """evaluations: the newest period first."""

    heading: reads.CampaignHeading
    organisers: tuple[str, ...]
    evaluations: tuple[EvaluationRow, ...]


def room(session: Session, actor: Actor, campaign_slug: str, slug: str | None, _: datetime) -> Room:
    """The room of a campaign, or of one of its evaluations. Raises NotFound."""
    if slug is None:
        campaign = reads.organised_campaign(session, actor, campaign_slug)
        return Room(campaign.slug, campaign.title)
    evaluation = reads.organised_evaluation(session, actor, campaign_slug, slug)
    return Room(evaluation.campaign.slug, evaluation.campaign.title, evaluation.slug, evaluation.title)


def organised_campaigns(session: Session, actor: Actor, now: datetime) -> tuple[OrganisedCampaign, ...]:
    """The campaigns that `actor` organises (an admin: all), the newest first and archived ones last."""
    own = sa.select(Campaign).where(_organised_by(actor))
    order = Campaign.archived_at.is_not(None), Campaign.created_at.desc(), Campaign.id.desc()
    campaigns = session.scalars(own.order_by(*order)).all()
    evaluations = _evaluations(session, [campaign.id for campaign in campaigns], now)
    return tuple(_organised(campaign, evaluations[campaign.id]) for campaign in campaigns)


def _organised(campaign: Campaign, evaluations: Sequence[EvaluationRow]) -> OrganisedCampaign:
    phases = {row.phase for row in evaluations if not row.draft}
    counts = [row.counts for row in evaluations]
    return snapshot(
        OrganisedCampaign,
        campaign,
        heading=reads.campaign_heading(campaign),
        evaluations=len(evaluations),
        phases=tuple(phase for phase in (Phase.OPEN, Phase.GRACE, Phase.UPCOMING, Phase.CLOSED) if phase in phases),
        drafts=sum(row.draft for row in evaluations),
        counts=Counts(
            sum(each.submissions for each in counts),
            sum(each.waiting for each in counts),
            min((each.oldest_waiting for each in counts if each.oldest_waiting), default=None),
        ),
    )


def _organised_by(actor: Actor) -> sa.ColumnElement[bool]:
    return sa.true() if actor.all_powerful else Campaign.id.in_(actor.organises)


def organised_evaluations(session: Session, actor: Actor, campaign: str, now: datetime) -> tuple[EvaluationRow, ...]:
    """Those of one campaign, or of all that `actor` organises, by campaign and period. Raises NotFound."""
    own = Campaign.id == reads.organised_campaign(session, actor, campaign).id if campaign else _organised_by(actor)
    campaigns = session.scalars(sa.select(Campaign).where(own).order_by(Campaign.slug)).all()
    rows = _evaluations(session, [row.id for row in campaigns], now)
    return tuple(row for of_it in campaigns for row in reversed(rows[of_it.id]))


def campaign_room(session: Session, actor: Actor, slug: str, now: datetime) -> CampaignRoom:
    """Raises NotFound."""
    campaign = reads.organised_campaign(session, actor, slug)
    organisers = tuple(organiser.name for organiser in _organisers(session, actor, campaign))
    evaluations = _evaluations(session, [campaign.id], now)[campaign.id]
    return CampaignRoom(reads.campaign_heading(campaign), organisers, tuple(evaluations))


def _evaluations(session: Session, campaigns: Sequence[int], now: datetime) -> defaultdict[int, list[EvaluationRow]]:
    """Campaign -> its evaluations, the newest period first, then by condition. Submissions without a scoring, because
    nothing is judged yet, wait for nobody.
    """
    waiting = sa.and_(Scoring.state.in_(UNFINISHED), Submission.withdrawn_at.is_(None))
    of_runs = with_current_scoring(
        sa.select(
            Submission.evaluation_id,
            sa.func.count(),
            sa.func.count(sa.case((waiting, 1))),
            sa.func.min(sa.case((waiting, Scoring.queued_at))),
        )
    )
    own = sa.select(Evaluation).where(Evaluation.campaign_id.in_(campaigns))
    ids = own.with_only_columns(Evaluation.id)
    grouped = of_runs.where(Submission.evaluation_id.in_(ids)).group_by(Submission.evaluation_id)
    counts = {evaluation: Counts(*numbers) for evaluation, *numbers in session.execute(grouped)}
    rows = defaultdict[int, list[EvaluationRow]](list)
    queries = sa.select(sa.func.count()).where(Query.evaluation_id == Evaluation.id).scalar_subquery()
    for evaluation, number in session.execute(own.add_columns(queries).order_by(*EVALUATION_ORDER)):
        of_it = {"campaign": evaluation.campaign.slug, "counts": counts.get(evaluation.id, Counts()), "queries": number}
        rows[evaluation.campaign_id].append(
            snapshot(EvaluationRow, evaluation, phase=phase_of(evaluation, now), **of_it)
        )
    return rows


@frozen
class EvaluationSettings:
    """values: by column. stays: why it can't be removed, in words; empty when it can. goes: what goes with it then."""

    values: Mapping[str, Any]
    stays: str
    goes: str


@frozen
class CampaignSettings(EvaluationSettings):
    """organisers, teams, evaluations: by their names; teams: those that are let in."""

    organisers: tuple[str, ...]
    teams: tuple[str, ...]
    evaluations: tuple[str, ...]


@frozen
class Person:
    """is_self: whether it is the reader's."""

    user_id: int
    name: str
    is_self: bool


@frozen
class LetIn:
    slug: str
    name: str


@frozen
class People:
    """Who organises a campaign, and which teams were let into it while it is private."""

    visibility: Visibility
    organisers: tuple[Person, ...]
    teams: tuple[LetIn, ...]


def campaign_settings(session: Session, actor: Actor, slug: str, _: datetime) -> CampaignSettings:
    """Raises NotFound."""
    campaign = reads.organised_campaign(session, actor, slug)
    own = sa.select(Evaluation.slug).where(Evaluation.campaign_id == campaign.id)
    return CampaignSettings(
        **_stored(session, campaign),
        organisers=tuple(organiser.name for organiser in _organisers(session, actor, campaign)),
        teams=tuple(team.name for team in _teams_let_in(session, campaign)),
        evaluations=tuple(session.scalars(own.order_by(Evaluation.period_key, Evaluation.slug))),
    )


def evaluation_settings(
    session: Session, actor: Actor, campaign_slug: str, slug: str, _: datetime
) -> EvaluationSettings:
    """Raises NotFound."""
    evaluation = reads.organised_evaluation(session, actor, campaign_slug, slug)
    return EvaluationSettings(**_stored(session, evaluation))


def _stored(session: Session, row: Campaign | Evaluation) -> dict[str, Any]:
    return {
        "values": {column.name: getattr(row, column.name) for column in row.__table__.columns},
        "stays": reads.removal_refusal(session, row) or "",
        "goes": what_goes(session, row),
    }


def what_goes(session: Session, which: Campaign | Evaluation) -> str:
    """What goes with a campaign, or an evaluation, when it is removed: `50 queries and 69,318 judgments`."""
    own = (Evaluation.campaign_id if isinstance(which, Campaign) else Evaluation.id) == which.id
    evaluations = sa.select(sa.func.count(Evaluation.id))
    queries = sa.select(sa.func.count(Query.id)).join(Evaluation)
    judgments = sa.select(sa.func.sum(JudgmentRevision.judgments)).join(Evaluation)
    runs = sa.select(sa.func.count(Submission.id)).join(Evaluation)
    counts = [session.scalar(count.where(own)) or 0 for count in (evaluations, queries, judgments, runs)]
    words = [*map(counted, counts, ("evaluation", "query", "judgment", "test run"))]
    named = words[not isinstance(which, Campaign) : 4 if counts[3] else 3]
    return f"{', '.join(named[:-1])} and {named[-1]}"


def people(session: Session, actor: Actor, slug: str, _: datetime) -> People:
    """Raises NotFound."""
    campaign = reads.organised_campaign(session, actor, slug)
    return People(campaign.visibility, _organisers(session, actor, campaign), _teams_let_in(session, campaign))


def _organisers(session: Session, actor: Actor, campaign: Campaign) -> tuple[Person, ...]:
    """By name."""
    users = sa.select(User.id, User.name, User.id == actor.user_id).join(CampaignOrganiser)
    own = CampaignOrganiser.campaign_id == campaign.id
    return tuple(Person(*row) for row in session.execute(users.where(own).order_by(User.name, User.id)))


def _teams_let_in(session: Session, campaign: Campaign) -> tuple[LetIn, ...]:
    """The teams that a private campaign was opened to, by name."""
    teams = sa.select(Team.slug, Team.name).join(CampaignTeam)
    own = CampaignTeam.campaign_id == campaign.id
    return tuple(LetIn(*row) for row in session.execute(teams.where(own).order_by(Team.name, Team.id)))


def site_settings(session: Session) -> SiteSettings:
    """What the site is called and says about itself: as an admin has set it, else the defaults."""
    row = session.get(Site, 1)
    return SiteSettings.model_construct(**{name: getattr(row, name) for name in SiteSettings.model_fields if row})


@frozen
class Leader:
    """The first run of an evaluation's board by the primary measure. name: what its system is called among the others
    there; tied: how many others share its rank."""

    entry: Entry
    name: str
    mean: float
    column: Column
    tied: int


@frozen
class EvaluationSummary:
    """queries: those that this reader may know of; runs: `_counts_by_evaluation`; systems, leader: 0 and None until
    they may see results.

    rounding: how this reader sees figures; None: with all digits, or nothing is scored yet.
    """

    evaluation: reads.EvaluationHeading
    queries: int
    runs: int
    systems: int
    leader: Leader | None
    rounding: Rounding | None


@frozen
class CampaignSummary:
    campaign: reads.CampaignHeading
    primary: Column
    evaluations: int
    open: tuple[reads.EvaluationHeading, ...]
    runs: int
    periods: tuple[str, ...]
    latest: EvaluationSummary | None


@frozen
class CampaignPage:
    """evaluations: the newest period first; organised: whether this reader organises the campaign."""

    campaign: reads.CampaignHeading
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


@frozen
class Overview:
    """Campaigns with their evaluations, as far as the reader may know of them, the newest first.

    candidates: what `load_candidates` gives with the figures of each evaluation's primary measure: that of its current
    set, and the campaign's, which may have been changed since; summaries: of the same evaluations, in their order
    """

    evaluations: Mapping[Campaign, Sequence[Evaluation]]
    candidates: Sequence[Entry]
    summaries: Mapping[Campaign, tuple[EvaluationSummary, ...]]


def overview(session: Session, actor: Actor, now: datetime, slug: str = "") -> Overview:
    """Of every campaign that the reader may know of, or of this one. Raises NotFound."""
    known = _known_to(session, actor, slug)
    if slug and not known:
        reads.find_campaign(session, actor, slug)
    evaluations = [*chain(*known.values())]
    sets = current_sets(session, [evaluation.id for evaluation in evaluations])
    columns = {evaluation_id: column(current.settings.measures[0]) for evaluation_id, current in sets.items()}
    by = {
        evaluation.id: {
            columns[evaluation.id].name,
            at_level(evaluation.campaign.primary_measure, sets[evaluation.id].settings.relevance_level),
        }
        for evaluation in evaluations
        if evaluation.id in sets
    }
    candidates = load_candidates(session, actor, evaluations, now, by)
    entries = defaultdict[int, list[Entry]](list)
    for entry in candidates:
        entries[entry.evaluation_id].append(entry)
    queries, runs = _counts_by_evaluation(session, [evaluation.id for evaluation in evaluations])

    def summary(evaluation: Evaluation) -> EvaluationSummary:
        own, subset = sets.get(evaluation.id), subset_seen(actor, evaluation, now)
        leader, systems = None, 0
        if own and may_see(actor, evaluation, Content.RESULTS, now):
            leader, systems = _leader(evaluation, entries[evaluation.id], columns[evaluation.id])
        return EvaluationSummary(
            reads.evaluation_heading(evaluation, now),
            sum(queries[evaluation.id, split] for split in Split if not subset.leaves_out(split)),
            runs.get(evaluation.id, 0),
            systems,
            leader,
            rounding_seen(actor, evaluation, own.settings, now) if own else None,
        )

    return Overview(known, candidates, {campaign: tuple(map(summary, own)) for campaign, own in known.items()})


def _known_to(session: Session, actor: Actor, slug: str) -> dict[Campaign, list[Evaluation]]:
    """Every campaign that the reader may know of, or this one, with what `evaluations_of` gives of it; in one
    statement.
    """
    known_of_it = sa.and_(Evaluation.campaign_id == Campaign.id, known_evaluations(actor))
    rows = session.execute(
        sa.select(Campaign, Evaluation)
        .outerjoin(Evaluation, known_of_it)
        .where(known_campaigns(actor), Campaign.slug == slug if slug else sa.true())
        .order_by(Campaign.created_at.desc(), Campaign.id, *EVALUATION_ORDER)
    )
    grouped = groupby(rows, key=itemgetter(0))
    return {campaign: [row[1] for row in own if row[1] is not None] for campaign, own in grouped}


def campaigns(session: Session, actor: Actor, now: datetime) -> tuple[CampaignSummary, ...]:
    """Every campaign that the reader may know of: with an open evaluation, then the newest; archived ones last."""
    return campaign_summaries(overview(session, actor, now))


def campaign_summaries(known: Overview) -> tuple[CampaignSummary, ...]:
    """The campaigns: with an open evaluation, then the newest; archived ones last."""
    rows = []
    for campaign, own in known.summaries.items():
        headings = [each.evaluation for each in own]
        row = CampaignSummary(
            campaign=reads.campaign_heading(campaign),
            primary=column(campaign.primary_measure),
            evaluations=len(own),
            open=tuple(heading for heading in headings if heading.phase is Phase.OPEN and not heading.draft),
            runs=sum(each.runs for each in own),
            periods=tuple(dict.fromkeys(heading.period for heading in reversed(headings))),
            latest=next((each for each in own if each.leader), None),
        )
        rows.append(row)
    return tuple(sorted(rows, key=lambda summary: (summary.campaign.archived, not summary.open)))


def measures_used(session: Session, actor: Actor, _: datetime) -> set[str]:
    """Names, without parameters, of the measures of all campaigns that the reader may know of."""
    lists = session.scalars(sa.select(Campaign.measures).where(known_campaigns(actor)))
    return {parse(name).family.name for names in lists for name in names}


def is_loading(session: Session) -> bool:
    """Whether a run that came from the command line, as seeds do, is not scored yet."""
    own = Scoring.submission_id == Submission.id, Submission.submitter_id.is_(None)
    return exists(session, *own, Scoring.state.in_(UNFINISHED), on_boards())


def campaign(session: Session, actor: Actor, slug: str, now: datetime) -> CampaignPage:
    """Raises NotFound."""
    return campaign_page(actor, overview(session, actor, now, slug))


def campaign_page(actor: Actor, known: Overview) -> CampaignPage:
    """The page of the one campaign that it is of."""
    [(record, evaluations)] = known.summaries.items()
    return snapshot(
        CampaignPage,
        record,
        campaign=reads.campaign_heading(record),
        primary=column(record.primary_measure),
        locked=record.locked_at is not None,
        links=tuple((title, address) for title, address in record.links),
        organised=actor.may_organise(record.id),
        evaluations=evaluations,
    )


def evaluations_of(session: Session, actor: Actor, campaign_id: int) -> Sequence[Evaluation]:
    """Those of a campaign that the reader may know of, the newest period first, then by condition."""
    return evaluations_where(session, known_evaluations(actor), Evaluation.campaign_id == campaign_id)


def evaluations_where(session: Session, *which: sa.ColumnElement[bool]) -> Sequence[Evaluation]:
    """Those of these conditions with their campaigns, the newest period first, then by campaign and condition."""
    return session.scalars(
        sa.select(Evaluation)
        .join(Evaluation.campaign)
        .options(sa.orm.contains_eager(Evaluation.campaign))
        .where(*which)
        .order_by(*EVALUATION_ORDER)
    ).all()


def _leader(evaluation: Evaluation, entries: Sequence[Entry], column: Column) -> tuple[Leader | None, int]:
    """The leader, and how many systems are on the board."""
    chosen = choose(entries, Show(evaluation.campaign.run_choice.value), column)
    systems = len({entry.system.id for entry in chosen})
    places = ranks(chosen, column)
    first = [entry for entry in chosen if places.get(entry.scoring_id) == 1]
    if not first or (mean := first[0].figure(column.name).mean) is None:
        return None, systems
    name = disambiguate(entry.system for entry in chosen)[first[0].system.id]
    return Leader(first[0], name, mean, column, len(first) - 1), systems


def _counts_by_evaluation(
    session: Session, evaluations: Sequence[int]
) -> tuple[Counter[tuple[int, Split]], dict[int, int]]:
    """(evaluation, split) -> how many of its queries are not excluded; evaluation -> how many runs its board was last
    refreshed over or, before it has one, were received and not withdrawn."""
    which = Query.evaluation_id, Query.split
    own = Query.evaluation_id.in_(evaluations), Query.excluded_at.is_(None)
    of_queries = sa.select(*which, sa.func.count()).where(*own).group_by(*which)
    queries = Counter({(evaluation, split): count for evaluation, split, count in session.execute(of_queries)})
    its_board = Board.scoring_set_id == ScoringSet.id, Board.measure == ScoringSet.primary_measure
    on_board = sa.select(Board.figures["runs"].as_integer()).join(ScoringSet, sa.and_(*its_board))
    on_board = on_board.where(ScoringSet.evaluation_id == Evaluation.id, IS_CURRENT, Board.subset == Subset.ALL)
    received = sa.select(sa.func.count()).where(Submission.evaluation_id == Evaluation.id, on_boards())
    runs = sa.func.coalesce(on_board.scalar_subquery(), received.scalar_subquery())
    return queries, dict(session.execute(sa.select(Evaluation.id, runs).where(Evaluation.id.in_(evaluations))).all())
