"""What leaves the site: how a board is cited, what a campaign's feed tells, and where a system stands for its badge."""

from collections import defaultdict
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, known_evaluations, may_see, subset_seen
from leaderboard.boards.reads import history
from leaderboard.boards.reads.board import BoardPage, BoardQuery, BoardRow, board
from leaderboard.campaigns.models import Campaign
from leaderboard.errors import NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.evaluations.rules import Subset
from leaderboard.frozen import frozen
from leaderboard.submissions.reads.status import find_scored
from leaderboard.worker.models import ScoringSet
from leaderboard.worker.reads import WITH_REVISION

RANKS = BoardQuery(page=1)  # every row has its rank and the figure that ranks it; those of a page only all others


@frozen
class Citation:
    """A board as it is cited.

    at                as of when: `stood_from`, or now
    judgments_sha256  of its judgments, where these are open; else empty
    """

    evaluation: reads.EvaluationHeading
    board: history.BoardVersion
    at: datetime
    judgments_sha256: str


def citation(
    session: Session, actor: Actor, campaign_slug: str, slug: str, scoring_set: int, now: datetime
) -> Citation:
    """Raises NotFound for no such board, also where `actor` may not see it."""
    evaluation = reads.find_evaluation(session, actor, campaign_slug, slug)
    [(cited, _)] = history.visible_sets(session, actor, evaluation, [scoring_set], now)
    is_open = may_see(actor, evaluation, Content.JUDGMENTS, now) and subset_seen(actor, evaluation, now) is Subset.ALL
    heading, version = reads.evaluation_heading(evaluation, now), history.board_version(evaluation, cited)
    return Citation(
        evaluation=heading,
        board=version,
        at=history.stood_from(heading, version, now) or now,
        judgments_sha256=cited.revision.sha256 if is_open else "",
    )


@frozen
class FeedEvent:
    """kind: opened, closed or board. board: of the last kind, the one that began to stand."""

    evaluation: reads.EvaluationHeading
    kind: str
    at: datetime
    board: history.BoardVersion | None = None


@frozen
class Feed:
    """events: the newest first. updated: when the last one was, or the campaign was made."""

    campaign: reads.CampaignHeading
    events: tuple[FeedEvent, ...]
    updated: datetime


def feed(session: Session, actor: Actor, slug: str, now: datetime) -> Feed:
    """Openings and closings that have happened; and what the board has gone by since, where `actor` sees results and
    there are some, not what stands beside it. Raises NotFound.
    """
    campaign = reads.find_campaign(session, actor, slug)
    own = sa.select(Evaluation).join(Campaign).where(Campaign.id == campaign.id, known_evaluations(actor))
    evaluations = {evaluation.id: evaluation for evaluation in session.scalars(own)}
    sets = defaultdict[int, list[ScoringSet]](list)
    for stood in session.scalars(WITH_REVISION.where(ScoringSet.evaluation_id.in_(evaluations), history.SCORED)):
        sets[stood.evaluation_id].append(stood)
    events = []
    for number, evaluation in evaluations.items():
        heading = reads.evaluation_heading(evaluation, now)
        dates = {"opened": heading.opens_at, "closed": heading.closed_from}
        events += [FeedEvent(heading, kind, at) for kind, at in dates.items() if at and at <= now]
        opened = heading.opens_at or datetime.min.replace(tzinfo=now.tzinfo)
        if opened <= now and may_see(actor, evaluation, Content.RESULTS, now):
            boards = [board for board in history.versions_of(actor, evaluation, sets[number], now) if board.shown]
            events += [FeedEvent(heading, "board", max(opened, each.shown[-1].since), each) for each in boards]
    events.sort(key=lambda event: event.at, reverse=True)
    updated = max((event.at for event in events), default=campaign.created_at)
    return Feed(reads.campaign_heading(campaign), tuple(events), updated)


def badge(session: Session, actor: Actor, submission_id: int, now: datetime) -> tuple[BoardPage, BoardRow]:
    """The board of the run's evaluation, and the row of its system. Raises NotFound where there is none for `actor`."""
    run = find_scored(session, actor, submission_id, now).run
    page = board(session, actor, run.evaluation.campaign.slug, run.evaluation.slug, now, RANKS)
    for row in (*page.rows, *page.baselines):
        if row.entry.system.id == run.system_id:
            return page, row
    raise NotFound
