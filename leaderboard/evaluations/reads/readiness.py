"""What an evaluation still lacks before it can open, and before its runs can be scored and shown."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor
from leaderboard.campaigns.models import CampaignTeam
from leaderboard.campaigns.reads.organised import organised_campaign, organised_evaluation
from leaderboard.campaigns.rules import Visibility
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.effects import TAKES_RUNS, revealed_in_words
from leaderboard.evaluations.reads.form_fields import file_rules
from leaderboard.evaluations.reads.headings import campaign_measures
from leaderboard.evaluations.reads.visibility import once_revealed
from leaderboard.evaluations.rules.phases import Opening, Phase, phase_of
from leaderboard.evaluations.rules.scoring_settings import Judging, Split, lacks
from leaderboard.judgments.models import Judgment, JudgmentRevision, KnownDocument, Query, SubtopicJudgment
from leaderboard.metrics.measure import NEEDED, Need
from leaderboard.moments import moment_in_words
from leaderboard.numbers import counted
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams.models import System
from leaderboard.worker.reads import current_set, newest_revision


class Urgency(StrEnum):
    """How far a point stands in the way."""

    TO_DO = "to do"  # without it the evaluation can't do what it is there for
    LOOK = "worth a look"  # it may be meant so
    DONE = "done"


class Mend(StrEnum):
    """Where a point is mended."""

    QUERIES = "queries"
    JUDGMENTS = "judgments"
    SETTINGS = "settings of the evaluation"
    CAMPAIGN = "settings of the campaign"
    ORGANISERS = "teams let in"
    SYSTEMS = "systems"
    FORM = "form and file rules"


@dataclass(frozen=True, slots=True)
class Point:
    about: str
    urgency: Urgency
    words: str
    mend: Mend


# Where it is mended that a measure lacks something.
MENDS: dict[Need, Mend] = {
    "documents": Mend.SETTINGS,
    "beta": Mend.CAMPAIGN,
    "known": Mend.JUDGMENTS,
    "subtopics": Mend.JUDGMENTS,
}
TO_DO, LOOK, DONE = Urgency
Points = Iterator[tuple[Urgency, str, Mend]]


def readiness(session: Session, actor: Actor, campaign_slug: str, slug: str, now: dt.datetime) -> tuple[Point, ...]:
    """Every point, what is to do first. Raises NotFound."""
    evaluation = organised_evaluation(session, actor, campaign_slug, slug)
    order = list(Urgency)
    return tuple(sorted(_points(session, evaluation, now), key=lambda point: order.index(point.urgency)))


def left_to_do(session: Session, actor: Actor, campaign_slug: str, now: dt.datetime) -> dict[str, int]:
    """Evaluation -> how many points are to do, of those that have not closed and of drafts. Raises NotFound."""
    campaign = organised_campaign(session, actor, campaign_slug)
    evaluations = session.scalars(sa.select(Evaluation).where(Evaluation.campaign_id == campaign.id)).all()
    return {
        evaluation.slug: sum(point.urgency is TO_DO for point in _points(session, evaluation, now))
        for evaluation in evaluations
        if evaluation.draft or phase_of(evaluation, now) is not Phase.CLOSED
    }


def _points(session: Session, evaluation: Evaluation, now: dt.datetime) -> Iterator[Point]:
    checks: dict[str, Points] = {
        "Queries": _queries(session, evaluation),
        "Judgments": _judgments(session, evaluation),
        "Measures": _measures(session, evaluation),
        "Dates": _dates(session, evaluation, now),
        "Who knows of it": _knowledge(session, evaluation),
        "What is public": _openings(evaluation, now),
        "Quotas": _quotas(evaluation),
        "Documents": _document_list(session, evaluation),
        "Baselines": _baselines(session, evaluation),
        "Words": _words(evaluation),
    }
    return (Point(about, urgency, words, mend) for about, of_it in checks.items() for urgency, words, mend in of_it)


def _queries(session: Session, evaluation: Evaluation) -> Points:
    columns = Query.split, Query.excluded_at.is_not(None), Query.text == ""
    rows = session.execute(sa.select(*columns).where(Query.evaluation_id == evaluation.id)).all()
    counting = [(split, textless) for split, excluded, textless in rows if not excluded]
    textless = sum(empty for _, empty in counting)
    if not counting:
        yield TO_DO, "All queries are excluded." if rows else "There are no queries yet.", Mend.QUERIES
    elif all(split is Split.HIDDEN for split, _ in counting):
        yield TO_DO, "All queries are hidden: nobody can make a run.", Mend.QUERIES
    elif textless:
        of_all = f"{counted(textless, 'query', 'queries')} of {len(counting):,}"
        yield LOOK, f"{of_all} without a text: participants see ids only.", Mend.QUERIES
    else:
        yield DONE, f"{counted(len(counting), 'query', 'queries')}.", Mend.QUERIES


def _judgments(session: Session, evaluation: Evaluation) -> Points:
    revision = newest_revision(session, evaluation, evaluation.official_source)
    if revision is None:
        yield TO_DO, "There are no judgments yet. Runs are taken, and scored once there are.", Mend.JUDGMENTS
        return
    best_grades = session.scalars(
        sa.select(sa.func.max(Judgment.grade))
        .select_from(Query)
        .outerjoin(Judgment, sa.and_(Judgment.query_id == Query.id, Judgment.revision_id == revision.id))
        .where(Query.evaluation_id == evaluation.id, Query.excluded_at.is_(None))
        .group_by(Query.id)
    ).all()
    unjudged = sum(grade is None for grade in best_grades) if evaluation.judging is Judging.POOLED else 0
    barren = sum(grade is None or grade < evaluation.relevance_level for grade in best_grades)
    if unjudged:
        of_all = f"{counted(unjudged, 'query', 'queries')} of {len(best_grades):,}"
        yield LOOK, f"{of_all} without judgments: left out of all means.", Mend.JUDGMENTS
    elif barren:
        of_all = f"{counted(barren, 'query', 'queries')} of {len(best_grades):,}"
        yield LOOK, f"{of_all} without a relevant document.", Mend.JUDGMENTS
    else:
        yield DONE, f"{counted(revision.judgments, 'judgment')}.", Mend.JUDGMENTS


def _measures(session: Session, evaluation: Evaluation) -> Points:
    revision = newest_revision(session, evaluation, evaluation.official_source)
    known, subtopics = (_has(session, table, revision) for table in (KnownDocument, SubtopicJudgment))
    documents, beta = evaluation.documents, evaluation.campaign.beta
    missing: dict[Need, list[str]] = {}
    for name in campaign_measures(evaluation.campaign):
        for need in lacks(metrics.parse(name), documents=documents, beta=beta, known=known, subtopics=subtopics):
            missing.setdefault(need, []).append(name)
    for need, names in missing.items():
        yield TO_DO, f"{', '.join(names)} {'needs' if len(names) == 1 else 'need'} {NEEDED[need]}.", MENDS[need]
    if revision is not None and current_set(session, evaluation.id) is None:
        yield TO_DO, "No run can be scored with these settings.", Mend.JUDGMENTS
    elif not missing:
        yield DONE, "Every measure has what it needs.", Mend.CAMPAIGN


def _has(session: Session, table: type[KnownDocument | SubtopicJudgment], revision: JudgmentRevision | None) -> bool:
    """Whether the judgments come with rows of this table; before there are any, they may."""
    return revision is None or bool(session.scalar(sa.select(sa.exists().where(table.revision_id == revision.id))))


def _dates(session: Session, evaluation: Evaluation, now: dt.datetime) -> Points:
    phase = phase_of(evaluation, now)
    runs, imported = session.execute(
        sa.select(sa.func.count(), sa.func.count(Submission.imported_at)).where(
            Submission.evaluation_id == evaluation.id
        )
    ).one()
    urgency = DONE
    if evaluation.closes_at is None:
        waiting = [name for name in ("results", "details", "texts") if getattr(evaluation, name) is Opening.CLOSED]
        words = "It never closes."
        if runs and runs == imported:
            missing = " and no opening date" if evaluation.opens_at is None else ""
            takes = "once it is no draft any more, it takes new runs" if evaluation.draft else "it takes new runs"
            words = (
                f"Its runs were brought in and it has no closing date{missing}: {takes}. Give the dates that it had."
            )
            urgency = TO_DO
        elif waiting:
            words = f"It never closes, so what is to open when it closes stays closed: {', '.join(waiting)}."
            urgency = LOOK
    elif phase in (Phase.CLOSED, Phase.GRACE):
        late = "late runs" if evaluation.late_allowed else "no runs any more"
        words = f"It closed on {moment_in_words(evaluation.closes_at)}, and takes {late}."
        if evaluation.draft or not runs:
            urgency = TO_DO
            words += "" if evaluation.draft else " No run ever came: give it dates to come."
    else:
        opens = f"Opens on {moment_in_words(evaluation.opens_at)}" if evaluation.opens_at else "Is open"
        if phase is Phase.OPEN:
            opens = "Opens as soon as you publish it" if evaluation.draft else "Is open"
        words = f"{opens}, closes on {moment_in_words(evaluation.closes_at)}."
    yield urgency, words, Mend.SETTINGS
    if phase in TAKES_RUNS and (revealed := once_revealed(session, evaluation)):
        before = revealed_in_words(revealed)
        yield (
            LOOK,
            f"It takes runs again, and ranks them, although everybody could read before: {before}.",
            Mend.SETTINGS,
        )


def _knowledge(session: Session, evaluation: Evaluation) -> Points:
    """Who knows of it."""
    visibility = evaluation.campaign.visibility
    if evaluation.draft:
        yield TO_DO, "It is a draft: for everybody but organisers it is not there.", Mend.SETTINGS
    elif visibility is Visibility.DRAFT:
        yield TO_DO, "Its campaign is a draft: for everybody but organisers it is not there.", Mend.CAMPAIGN
    elif visibility is Visibility.PRIVATE:
        of_campaign = CampaignTeam.campaign_id == evaluation.campaign_id
        teams = session.scalar(sa.select(sa.func.count()).where(of_campaign)) or 0
        words = f"The campaign is private: {counted(teams, 'team') if teams else 'no team'} let in."
        yield DONE if teams else TO_DO, words, Mend.ORGANISERS
    else:
        yield DONE, "Everybody.", Mend.SETTINGS


def _openings(evaluation: Evaluation, now: dt.datetime) -> Points:
    until, closes = evaluation.anonymous_until, evaluation.closes_at
    doubts = {
        "Results by query are public while runs are taken: they reveal the judgments.": (
            phase_of(evaluation, now) is not Phase.CLOSED and evaluation.details is Opening.ALWAYS
        ),
        "The judgments are published when it has closed, and it never closes: give it a closing date.": (
            evaluation.judgments_published and closes is None
        ),
        "Texts of queries are never public: give them to participants in another way.": (
            evaluation.texts is Opening.NEVER
        ),
        f"Names of teams are shown from {moment_in_words(until) if until else ''} on, before it closes.": (
            until is not None and closes is not None and until < closes
        ),
    }
    for words, is_so in doubts.items():
        if is_so:
            yield LOOK, words, Mend.SETTINGS
    if not any(doubts.values()):
        board = {Opening.NEVER: "to organisers only", Opening.CLOSED: "to all once it has closed"}
        yield DONE, f"The board is shown {board.get(evaluation.results, 'to all')}.", Mend.SETTINGS


def _quotas(evaluation: Evaluation) -> Points:
    quotas = {"a day": evaluation.daily_quota, "in all": evaluation.total_quota}
    bounds = [f"{bound:,} {when}" for when, bound in quotas.items() if bound is not None]
    if not bounds:
        words = "No limit of submissions: the figures of many runs tell something of the judgments."
        yield LOOK, words, Mend.SETTINGS
    elif 0 in quotas.values():
        words = "The quota is 0: no team can submit a run. Left empty, there is no limit."
        yield LOOK, words, Mend.SETTINGS
    else:
        yield DONE, f"A team submits {' and '.join(bounds)} at most.", Mend.SETTINGS


def _document_list(session: Session, evaluation: Evaluation) -> Points:
    """Whether the list of documents can be the collection's: by its length, since each look at a page asks."""
    listed, documents = file_rules(evaluation).documents, evaluation.documents
    if not listed:
        return
    has = f"The list of documents has {counted(listed, 'document')}"
    refused = "Runs that name others are rejected."
    if documents is not None and documents != listed:
        yield TO_DO, f"{has}, and the collection {documents:,} (N_total). {refused}", Mend.FORM
    elif documents is None and (judged := _judged_documents(session, evaluation)) > listed:
        yield TO_DO, f"{has}, and {judged:,} are judged. {refused}", Mend.FORM
    else:
        yield DONE, f"{has}.", Mend.FORM


def _judged_documents(session: Session, evaluation: Evaluation) -> int:
    """How many different ones."""
    revision = newest_revision(session, evaluation, evaluation.official_source)
    if revision is None:
        return 0
    different = sa.func.count(sa.distinct(Judgment.document))
    return session.scalar(sa.select(different).where(Judgment.revision_id == revision.id)) or 0


def _baselines(session: Session, evaluation: Evaluation) -> Points:
    of_evaluation = Submission.evaluation_id == evaluation.id, Submission.withdrawn_at.is_(None)
    count = session.scalar(
        sa.select(sa.func.count(sa.distinct(Submission.system_id)))
        .join(System, System.id == Submission.system_id)
        .where(*of_evaluation, System.kind == SystemKind.BASELINE)
    )
    if count:
        yield DONE, f"{counted(count, 'baseline')}.", Mend.SYSTEMS
    else:
        words = "No baseline yet: participants see better where they stand beside one. Mark a system with runs as one."
        yield LOOK, words, Mend.SYSTEMS


def _words(evaluation: Evaluation) -> Points:
    lacking = [name for name in ("contact", "guidelines") if not getattr(evaluation.campaign, name)]
    if lacking:
        yield LOOK, f"The campaign's page has no {' and no '.join(lacking)}.", Mend.CAMPAIGN
    else:
        yield DONE, "The campaign's page has guidelines and a contact.", Mend.CAMPAIGN
