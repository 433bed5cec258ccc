"""What an evaluation still lacks before it can open, and before its runs can be scored and shown."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import access, db, metrics, moments
from leaderboard.campaigns.models import CampaignTeam
from leaderboard.campaigns.rules import Visibility
from leaderboard.evaluations import rules
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.evaluations.rules import TAKES_RUNS, Opening, Phase, Split, phase_of
from leaderboard.frozen import frozen
from leaderboard.judgments.models import Judgment, JudgmentRevision, KnownDocument, Query, SubtopicJudgment
from leaderboard.metrics.measure import NEEDED, Need
from leaderboard.numbers import counted
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams.models import System
from leaderboard.worker.reads import current_set, newest_revision


class Urgency(StrEnum):
    """How far a point stands in the way."""

    TO_DO = "to do"  # without it the evaluation does not work
    LOOK = "worth a look"  # it may be meant so
    DONE = "done"


class Mend(StrEnum):
    """Where a point is mended."""

    QUERIES = "queries"
    JUDGMENTS = "judgments"
    DOCUMENTS = "number of documents"
    DATES = "dates"
    SETTINGS = "settings of the evaluation"
    BETA = "β"
    CAMPAIGN = "settings of the campaign"
    PUBLISH = "publish"
    ORGANISERS = "teams let in"
    BASELINE = "add a baseline run"
    FORM = "form and file rules"


@frozen
class Point:
    about: str
    urgency: Urgency
    words: str
    mend: Mend


# Where a point is mended when a measure lacks something.
MENDS: dict[Need, Mend] = {
    "documents": Mend.DOCUMENTS, "beta": Mend.BETA, "known": Mend.JUDGMENTS, "subtopics": Mend.JUDGMENTS,
}  # fmt: skip
TO_DO, LOOK, DONE = Urgency
# Of one check: what is done comes last, and counts where nothing else is said. Without a place where it is mended it is
# mended at the check's.
Points = Iterator[tuple[Urgency, str] | tuple[Urgency, str, Mend]]


def readiness(session: Session, actor: access.Actor, campaign_slug: str, slug: str, now: datetime) -> tuple[Point, ...]:
    """Every point, what is to do first. Raises NotFound."""
    points = _points(session, reads.organised_evaluation(session, actor, campaign_slug, slug), now)
    return tuple(sorted(points, key=lambda point: [*Urgency].index(point.urgency)))


def left_to_do(session: Session, actor: access.Actor, campaign_slug: str, now: datetime) -> dict[str, int]:
    """Evaluation -> how many points are to do, of those that have not closed and of drafts. Raises NotFound."""
    campaign = reads.organised_campaign(session, actor, campaign_slug)
    own = sa.select(Evaluation).where(Evaluation.campaign_id == campaign.id)
    return {
        evaluation.slug: sum(point.urgency is TO_DO for point in _points(session, evaluation, now))
        for evaluation in session.scalars(own).all()
        if evaluation.draft or phase_of(evaluation, now) is not Phase.CLOSED
    }


def actions(session: Session, actor: access.Actor, campaign_slug: str, slug: str, now: datetime) -> Mapping[str, Any]:
    """What can be done at once now, publish, close, reveal (the names): each with the setting that it changes, and its
    value. Raises NotFound.
    """
    evaluation = reads.organised_evaluation(session, actor, campaign_slug, slug)
    is_draft = evaluation.draft or evaluation.campaign.visibility is Visibility.DRAFT
    until, moment = evaluation.anonymous_until, now.replace(microsecond=0)
    possible = {
        "publish": (is_draft, {"draft": False}),
        "close": (not is_draft and phase_of(evaluation, now) is Phase.OPEN, {"closes_at": moment}),
        "reveal": (until and now < until, {"anonymous_until": moment}),
    }
    return {name: change for name, (can, change) in possible.items() if can}


def _points(session: Session, evaluation: Evaluation, now: datetime) -> Iterator[Point]:
    revision = newest_revision(session, evaluation, evaluation.official_source)
    for about, mend, check in (
        ("Queries", Mend.QUERIES, _queries(session, evaluation)),
        ("Measures", Mend.CAMPAIGN, _measures(session, evaluation, revision)),  # without documents none are judged
        ("Judgments", Mend.JUDGMENTS, _judgments(session, evaluation, revision)),
        ("Dates", Mend.DATES, _dates(session, evaluation, now)),
        ("What is public", Mend.SETTINGS, _openings(evaluation, now)),
        ("Quotas", Mend.SETTINGS, _quotas(evaluation)),
        ("Documents", Mend.FORM, _document_list(evaluation)),
        ("Baselines", Mend.BASELINE, _baselines(session, evaluation, now)),
        ("Campaign's page", Mend.CAMPAIGN, _words(evaluation)),
        ("Visible to", Mend.PUBLISH, _knowledge(session, evaluation)),
    ):
        points = [Point(about, urgency, words, *more or [mend]) for urgency, words, *more in check]
        yield from [point for point in points if point.urgency is not DONE] or points


def _queries(session: Session, evaluation: Evaluation) -> Points:
    own = Query.evaluation_id == evaluation.id, Query.excluded_at.is_(None)
    counting = session.execute(sa.select(Query.split, Query.text).where(*own)).all()
    if not counting:
        yield TO_DO, "There are no queries, or all are excluded."
    elif all(split is Split.HIDDEN for split, _ in counting):
        yield TO_DO, "All queries are hidden: nobody can make a run."
    if textless := sum(not text for _, text in counting):
        yield LOOK, f"{_of_all(textless, counting)} without a text: participants see ids only."
    yield DONE, f"{counted(len(counting), 'query')}."


def _of_all(count: int, queries: Sequence[Any]) -> str:
    return f"{counted(count, 'query')} of {len(queries):,}"


def _judgments(session: Session, evaluation: Evaluation, revision: JudgmentRevision | None) -> Points:
    if not revision:
        yield TO_DO, "There are no judgments yet. Runs are accepted, and scored once there are judgments."
        return
    grades = session.scalars(
        sa.select(sa.func.max(Judgment.grade))
        .select_from(Query)
        .outerjoin(Judgment, sa.and_(Judgment.query_id == Query.id, Judgment.revision_id == revision.id))
        .where(Query.evaluation_id == evaluation.id, Query.excluded_at.is_(None))
        .group_by(Query.id)
    ).all()
    unjudged = grades.count(None) if evaluation.judging is rules.Judging.POOLED else 0
    barren = sum((grade or 0) < evaluation.relevance_level for grade in grades) - unjudged
    if unjudged:
        yield LOOK, f"{_of_all(unjudged, grades)} without judgments: left out of all means."
    if barren:
        yield LOOK, f"{_of_all(barren, grades)} without a relevant document."
    yield DONE, f"{counted(revision.judgments, 'judgment')}."


def _measures(session: Session, evaluation: Evaluation, revision: JudgmentRevision | None) -> Points:
    known, subtopics = (
        revision is not None and db.exists(session, table.revision_id == revision.id)
        for table in (KnownDocument, SubtopicJudgment)
    )
    has = {"documents": evaluation.documents, "beta": evaluation.campaign.beta, "known": known, "subtopics": subtopics}
    lacking = {name: rules.lacks(metrics.parse(name), **has) for name in reads.campaign_measures(evaluation.campaign)}
    for need, mend in MENDS.items():
        if names := [name for name, needs in lacking.items() if need in needs]:
            yield TO_DO, f"{', '.join(names)} {'need' if names[1:] else 'needs'} {NEEDED[need]}.", mend
    if revision and not current_set(session, evaluation.id):
        yield TO_DO, "No run can be scored with these settings.", Mend.JUDGMENTS
    yield DONE, "Every measure has what it needs."


def _dates(session: Session, evaluation: Evaluation, now: datetime) -> Points:
    takes_runs = phase_of(evaluation, now) in TAKES_RUNS
    own = Submission.evaluation_id == evaluation.id
    has_runs = db.exists(session, own)
    all_imported = has_runs and not db.exists(session, own, Submission.imported_at.is_(None))
    parts = {"results": "the board", "details": "results by query", "texts": "texts of queries"}
    waiting = [words for name, words in parts.items() if getattr(evaluation, name) is Opening.CLOSED]
    start, end = (moment and moments.moment_in_words(moment) for moment in (evaluation.opens_at, evaluation.closes_at))
    if not end and all_imported:
        yield TO_DO, "Its runs were imported, and it accepts new runs without end: give it the dates that it had."
    elif waiting and not end:
        yield LOOK, f"It never closes, so these never become public: {', '.join(waiting)}."
    elif not takes_runs and not has_runs:
        yield TO_DO, f"It closed on {end}. No run ever came: give it dates to come."
    if takes_runs and (revealed := reads.revealed_in_words(reads.once_revealed(session, evaluation))):
        yield LOOK, f"It accepts and ranks runs again, although this was public before: {revealed}."
    late = "; late runs are taken" if evaluation.late_allowed else ""
    yield DONE, f"Open from {start or 'the start'} {f'to {end}{late}' if end else 'on; it never closes'}."


def _knowledge(session: Session, evaluation: Evaluation) -> Points:
    """Who knows of it."""
    visibility, own = evaluation.campaign.visibility, CampaignTeam.campaign_id == evaluation.campaign_id
    drafts = ["evaluation"] * evaluation.draft + ["campaign"] * (visibility is Visibility.DRAFT)
    if drafts:
        yield TO_DO, f"Draft {' and '.join(drafts)}: visible to organisers only."
    if visibility is Visibility.PRIVATE:
        teams = session.scalar(sa.select(sa.func.count()).where(own)) or 0
        words = f"The campaign is private: {counted(teams, 'team')} let in."
        yield DONE if teams else TO_DO, words, Mend.ORGANISERS
    else:
        yield DONE, "Everybody."


def _openings(evaluation: Evaluation, now: datetime) -> Points:
    until, closes = evaluation.anonymous_until, evaluation.closes_at
    if phase_of(evaluation, now) is not Phase.CLOSED and evaluation.details is Opening.ALWAYS:
        yield LOOK, "Results by query are public while runs are accepted: they reveal the judgments."
    if evaluation.judgments_published and not closes:
        yield LOOK, "The judgments are published after closing, and it never closes: give it a closing date."
    if evaluation.texts is Opening.NEVER:
        yield LOOK, "Texts of queries are never public: send them to participants yourself."
    if until and closes and until < closes:
        yield LOOK, f"Names of teams are shown from {moments.moment_in_words(until)} on, before it closes."
    board = {Opening.NEVER: "to organisers only", Opening.CLOSED: "to all once it has closed"}
    start = "Once published, the" if evaluation.draft else "The"
    yield DONE, f"{start} board is shown {board.get(evaluation.results, 'to all')}."


def _quotas(evaluation: Evaluation) -> Points:
    quotas = {"a day": evaluation.daily_quota, "in all": evaluation.total_quota}
    bounds = [f"{bound:,} {when}" for when, bound in quotas.items() if bound is not None]
    if not bounds:
        yield LOOK, "No limit of submissions: the figures of many runs tell something of the judgments."
    if 0 in quotas.values():
        yield LOOK, "The quota is 0: no team can submit a run. Left empty, there is no limit."
    yield DONE, f"A team submits {' and '.join(bounds)} at most."


def _document_list(evaluation: Evaluation) -> Points:
    """Whether the list of documents can be the collection's: by its length, since each look at a page asks."""
    listed, documents = reads.file_rules(evaluation).documents, evaluation.documents
    if not listed:
        return
    has = f"The list of documents has {counted(listed, 'document')}"
    if documents not in (None, listed):
        yield TO_DO, f"{has}, and the collection {documents:,} (N_total). Runs that name others are rejected."
    yield DONE, f"{has}."


def _baselines(session: Session, evaluation: Evaluation, now: datetime) -> Points:
    own = Submission.evaluation_id == evaluation.id, Submission.withdrawn_at.is_(None)
    has_runs = sa.exists().where(Submission.system_id == System.id, *own)
    systems = sa.select(sa.func.count(System.id)).where(System.kind == SystemKind.BASELINE, has_runs)
    words = "No baseline yet. Beside a baseline participants see better where they stand."
    count = session.scalar(systems)
    if count or not access.submission_refusal(evaluation, now, now):
        yield (DONE, f"{counted(count, 'baseline')}.") if count else (LOOK, words)


def _words(evaluation: Evaluation) -> Points:
    lacking = [f"no {name}" for name in ("contact", "guidelines") if not getattr(evaluation.campaign, name)]
    words = " and ".join(lacking) or "guidelines and a contact"
    yield LOOK if lacking else DONE, f"It has {words}."
