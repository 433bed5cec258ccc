"""What an evaluation still lacks before it can open, and before its runs can be scored and shown."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor
from leaderboard.lookup import current_set, file_rules, newest_revision, once_revealed
from leaderboard.metrics.measure import NEEDED, Need
from leaderboard.models import (
    CampaignTeam,
    Evaluation,
    Judgment,
    JudgmentRevision,
    KnownDocument,
    Query,
    Submission,
    SubtopicJudgment,
    System,
)
from leaderboard.numbers import counted
from leaderboard.reads.headings import campaign_measures
from leaderboard.reads.organising.effects import TAKES_RUNS, revealed_in_words
from leaderboard.reads.organising.rooms import organised_campaign, organised_evaluation
from leaderboard.rules.moments import moment_in_words
from leaderboard.rules.phases import Opening, Phase, closed_from, phase_of
from leaderboard.rules.settings import Judging, Split, lacks
from leaderboard.rules.standings import SystemKind
from leaderboard.rules.visibility import Visibility


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
        one.slug: sum(point.urgency is Urgency.TO_DO for point in _points(session, one, now))
        for one in evaluations
        if one.draft or phase_of(one, now) is not Phase.CLOSED
    }


def _points(session: Session, evaluation: Evaluation, now: dt.datetime) -> Iterator[Point]:
    yield _queries(session, evaluation)
    yield from _judgments(session, evaluation)
    yield from _measures(session, evaluation)
    yield _dates(session, evaluation, now)
    yield from _opened_again(session, evaluation, now)
    yield _knowledge(session, evaluation)
    yield from _openings(evaluation, now)
    yield _quotas(evaluation)
    yield from _document_list(session, evaluation)
    yield _baselines(session, evaluation)
    words = [name for name in ("contact", "guidelines") if not getattr(evaluation.campaign, name)]
    if words:
        yield Point("Words", Urgency.LOOK, f"The campaign's page has no {' and no '.join(words)}.", Mend.CAMPAIGN)
    else:
        yield Point("Words", Urgency.DONE, "The campaign's page has guidelines and a contact.", Mend.CAMPAIGN)


def _queries(session: Session, evaluation: Evaluation) -> Point:
    rows = session.execute(
        sa.select(Query.split, Query.excluded_at.is_not(None), Query.text == "").where(
            Query.evaluation_id == evaluation.id
        )
    ).all()
    counting = [row for row in rows if not row[1]]
    if not counting:
        words = "All queries are excluded." if rows else "There are no queries yet."
        return Point("Queries", Urgency.TO_DO, words, Mend.QUERIES)
    if all(split is Split.HIDDEN for split, _, _ in counting):
        return Point("Queries", Urgency.TO_DO, "All queries are hidden: nobody can make a run.", Mend.QUERIES)
    textless = sum(empty for _, _, empty in counting)
    if textless:
        words = (
            f"{counted(textless, 'query', 'queries')} of {len(counting):,} without a text: participants see ids only."
        )
        return Point("Queries", Urgency.LOOK, words, Mend.QUERIES)
    return Point("Queries", Urgency.DONE, f"{counted(len(counting), 'query', 'queries')}.", Mend.QUERIES)


def _judgments(session: Session, evaluation: Evaluation) -> Iterator[Point]:
    revision = newest_revision(session, evaluation, evaluation.official_source)
    if revision is None:
        words = "There are no judgments yet. Runs are taken, and scored once there are."
        yield Point("Judgments", Urgency.TO_DO, words, Mend.JUDGMENTS)
        return
    queries = session.execute(
        sa.select(Query.id, sa.func.max(Judgment.grade))
        .outerjoin(Judgment, sa.and_(Judgment.query_id == Query.id, Judgment.revision_id == revision.id))
        .where(Query.evaluation_id == evaluation.id, Query.excluded_at.is_(None))
        .group_by(Query.id)
    ).all()
    unjudged = sum(grade is None for _, grade in queries)
    if unjudged and evaluation.judging is Judging.POOLED:
        words = f"{counted(unjudged, 'query', 'queries')} of {len(queries):,} without judgments: left out of all means."
        yield Point("Judgments", Urgency.LOOK, words, Mend.JUDGMENTS)
        return
    barren = sum(grade is None or grade < evaluation.relevance_level for _, grade in queries)
    if barren:
        words = f"{counted(barren, 'query', 'queries')} of {len(queries):,} without a relevant document."
        yield Point("Judgments", Urgency.LOOK, words, Mend.JUDGMENTS)
        return
    yield Point("Judgments", Urgency.DONE, f"{counted(revision.judgments, 'judgment')}.", Mend.JUDGMENTS)


def _measures(session: Session, evaluation: Evaluation) -> Iterator[Point]:
    revision = newest_revision(session, evaluation, evaluation.official_source)
    missing: dict[Need, list[str]] = {}
    for name in campaign_measures(evaluation.campaign):
        for need in lacks(
            metrics.parse(name),
            documents=evaluation.documents,
            beta=evaluation.campaign.beta,
            known=_has(session, KnownDocument, revision),
            subtopics=_has(session, SubtopicJudgment, revision),
        ):
            missing.setdefault(need, []).append(name)
    for need, names in missing.items():
        verb = "needs" if len(names) == 1 else "need"
        yield Point("Measures", Urgency.TO_DO, f"{', '.join(names)} {verb} {NEEDED[need]}.", MENDS[need])
    if revision is not None and current_set(session, evaluation.id) is None:
        yield Point("Measures", Urgency.TO_DO, "No run can be scored with these settings.", Mend.JUDGMENTS)
    elif not missing:
        yield Point("Measures", Urgency.DONE, "Every measure has what it needs.", Mend.CAMPAIGN)


def _has(session: Session, table: type[KnownDocument | SubtopicJudgment], revision: JudgmentRevision | None) -> bool:
    """Whether the judgments come with rows of this table; before there are any, they may."""
    return revision is None or bool(session.scalar(sa.select(sa.exists().where(table.revision_id == revision.id))))


def _dates(session: Session, evaluation: Evaluation, now: dt.datetime) -> Point:
    phase, end = phase_of(evaluation, now), closed_from(evaluation)
    if evaluation.closes_at is None or end is None:
        if _is_of_the_past(session, evaluation):
            missing = " and no opening date" if evaluation.opens_at is None else ""
            takes = "once it is no draft any more, it takes new runs" if evaluation.draft else "it takes new runs"
            words = (
                f"Its runs were brought in and it has no closing date{missing}: {takes}. Give the dates that it had."
            )
            return Point("Dates", Urgency.TO_DO, words, Mend.SETTINGS)
        waiting = [name for name in ("results", "details", "texts") if getattr(evaluation, name) is Opening.CLOSED]
        if waiting:
            words = f"It never closes, so what is to open when it closes stays closed: {', '.join(waiting)}."
            return Point("Dates", Urgency.LOOK, words, Mend.SETTINGS)
        return Point("Dates", Urgency.DONE, "It never closes.", Mend.SETTINGS)
    if phase in (Phase.CLOSED, Phase.GRACE):
        late = ", and takes late runs" if evaluation.late_allowed else ", and takes no runs any more"
        words = f"It closed on {moment_in_words(evaluation.closes_at)}{late}."
        own = sa.select(sa.exists().where(Submission.evaluation_id == evaluation.id))
        if evaluation.draft or session.scalar(own):
            return Point("Dates", Urgency.TO_DO if evaluation.draft else Urgency.DONE, words, Mend.SETTINGS)
        return Point("Dates", Urgency.TO_DO, f"{words} No run ever came: give it dates to come.", Mend.SETTINGS)
    closes = f"closes on {moment_in_words(evaluation.closes_at)}"
    if evaluation.draft and phase is Phase.OPEN:
        words = f"It is a draft. Once it is none, it is open at once; it {closes}."
        return Point("Dates", Urgency.DONE, words, Mend.SETTINGS)
    if evaluation.opens_at is not None and phase is Phase.UPCOMING:
        return Point(
            "Dates", Urgency.DONE, f"Opens on {moment_in_words(evaluation.opens_at)}, {closes}.", Mend.SETTINGS
        )
    return Point("Dates", Urgency.DONE, f"Is open, {closes}.", Mend.SETTINGS)


def _opened_again(session: Session, evaluation: Evaluation, now: dt.datetime) -> Iterator[Point]:
    """Whether it takes runs of people who may have read its judgments."""
    if phase_of(evaluation, now) in TAKES_RUNS and (revealed := once_revealed(session, evaluation)):
        words = (
            f"It takes runs again, and ranks them, although everybody could read before: {revealed_in_words(revealed)}."
        )
        yield Point("Dates", Urgency.LOOK, words, Mend.SETTINGS)


def _is_of_the_past(session: Session, evaluation: Evaluation) -> bool:
    """Whether it has runs, and all of them were brought in."""
    own = sa.select(sa.func.count(), sa.func.count(Submission.imported_at))
    runs, imported = session.execute(own.where(Submission.evaluation_id == evaluation.id)).one()
    return bool(runs) and runs == imported


def _knowledge(session: Session, evaluation: Evaluation) -> Point:
    """Who knows of it."""
    campaign = evaluation.campaign
    if evaluation.draft:
        words = "It is a draft: for everybody but organisers it is not there."
        return Point("Who knows of it", Urgency.TO_DO, words, Mend.SETTINGS)
    if campaign.visibility is Visibility.DRAFT:
        words = "Its campaign is a draft: for everybody but organisers it is not there."
        return Point("Who knows of it", Urgency.TO_DO, words, Mend.CAMPAIGN)
    if campaign.visibility is Visibility.PRIVATE:
        teams = session.scalar(sa.select(sa.func.count()).where(CampaignTeam.campaign_id == campaign.id)) or 0
        words = f"The campaign is private: {counted(teams, 'team') if teams else 'no team'} let in."
        return Point("Who knows of it", Urgency.DONE if teams else Urgency.TO_DO, words, Mend.ORGANISERS)
    return Point("Who knows of it", Urgency.DONE, "Everybody.", Mend.SETTINGS)


def _openings(evaluation: Evaluation, now: dt.datetime) -> Iterator[Point]:
    about = "What is public"
    found = []
    if phase_of(evaluation, now) is not Phase.CLOSED and evaluation.details is Opening.ALWAYS:
        found.append("Results by query are public while runs are taken: they reveal the judgments.")
    if evaluation.judgments_published and evaluation.closes_at is None:
        found.append("The judgments are published when it has closed, and it never closes: give it a closing date.")
    if evaluation.texts is Opening.NEVER:
        found.append("Texts of queries are never public: give them to participants in another way.")
    until = evaluation.anonymous_until
    if until is not None and evaluation.closes_at is not None and until < evaluation.closes_at:
        found.append(f"Names of teams are shown from {moment_in_words(until)} on, before it closes.")
    for words in found:
        yield Point(about, Urgency.LOOK, words, Mend.SETTINGS)
    if not found:
        board = {Opening.NEVER: "to organisers only", Opening.CLOSED: "to all once it has closed"}
        words = f"The board is shown {board.get(evaluation.results, 'to all')}."
        yield Point(about, Urgency.DONE, words, Mend.SETTINGS)


def _quotas(evaluation: Evaluation) -> Point:
    if evaluation.daily_quota is None and evaluation.total_quota is None:
        words = "No limit of submissions: the figures of many runs tell something of the judgments."
        return Point("Quotas", Urgency.LOOK, words, Mend.SETTINGS)
    if 0 in (evaluation.daily_quota, evaluation.total_quota):
        words = "The quota is 0: no team can submit a run. Left empty, there is no limit."
        return Point("Quotas", Urgency.LOOK, words, Mend.SETTINGS)
    bounds = [
        f"{bound:,} {when}"
        for bound, when in ((evaluation.daily_quota, "a day"), (evaluation.total_quota, "in all"))
        if bound is not None
    ]
    return Point("Quotas", Urgency.DONE, f"A team submits {' and '.join(bounds)} at most.", Mend.SETTINGS)


def _document_list(session: Session, evaluation: Evaluation) -> Iterator[Point]:
    """Whether the list of documents can be the collection's: by its length, since each look at a page asks."""
    listed = file_rules(evaluation).documents
    if not listed:
        return
    has = f"The list of documents has {counted(listed, 'document')}"
    refused = "Runs that name others are rejected."
    if evaluation.documents is not None and evaluation.documents != listed:
        words = f"{has}, and the collection {evaluation.documents:,} (N_total). {refused}"
        yield Point("Documents", Urgency.TO_DO, words, Mend.FORM)
    elif evaluation.documents is None and (judged := _judged_documents(session, evaluation)) > listed:
        yield Point("Documents", Urgency.TO_DO, f"{has}, and {judged:,} are judged. {refused}", Mend.FORM)
    else:
        yield Point("Documents", Urgency.DONE, f"{has}.", Mend.FORM)


def _judged_documents(session: Session, evaluation: Evaluation) -> int:
    """How many different ones."""
    revision = newest_revision(session, evaluation, evaluation.official_source)
    if revision is None:
        return 0
    documents = sa.select(Judgment.document).where(Judgment.revision_id == revision.id).distinct()
    return session.scalar(sa.select(sa.func.count()).select_from(documents.subquery())) or 0


def _baselines(session: Session, evaluation: Evaluation) -> Point:
    count = session.scalar(
        sa.select(sa.func.count(sa.distinct(Submission.system_id)))
        .join(System, System.id == Submission.system_id)
        .where(
            Submission.evaluation_id == evaluation.id,
            Submission.withdrawn_at.is_(None),
            System.kind == SystemKind.BASELINE,
        )
    )
    if not count:
        words = "No baseline yet: participants see better where they stand beside one. Mark a system with runs as one."
        return Point("Baselines", Urgency.LOOK, words, Mend.SYSTEMS)
    return Point("Baselines", Urgency.DONE, f"{counted(count, 'baseline')}.", Mend.SYSTEMS)
