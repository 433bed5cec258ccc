"""Scoring sets: every setting that changes a figure, frozen, and which set an evaluation's boards read.

A set is made whenever one of its settings changes. Results that stand stay on the boards until the new set has a
result for every run; then one update switches.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor
from leaderboard.errors import InvalidFields
from leaderboard.lookup import current_set, lost_in, stored_events
from leaderboard.metrics.measure import NEEDED
from leaderboard.metrics.stored import measures_beside
from leaderboard.models import (
    Campaign,
    Evaluation,
    Event,
    Judgment,
    JudgmentRevision,
    KnownDocument,
    Query,
    Scoring,
    ScoringSet,
    Submission,
    SubtopicJudgment,
)
from leaderboard.rules.settings import OF_CAMPAIGN, OF_EVALUATION, ScoringSettings, Split
from leaderboard.rules.states import UNFINISHED, SetState, State
from leaderboard.services.events import present, record
from leaderboard.services.locking import locked
from leaderboard.services.turns import next_turns

__all__ = ["enqueue", "imported", "live_sets", "make_set", "of_its_event", "of_older_version", "ready_sets", "switch"]

SUBMITTED, RESCORING = 0, 10  # priorities: what people wait for goes first


def live_sets(session: Session, evaluation_id: int) -> list[ScoringSet]:
    """The sets that a new run enters: the current one and any that is building."""
    return list(
        session.scalars(
            sa.select(ScoringSet)
            .where(ScoringSet.evaluation_id == evaluation_id, ScoringSet.state != SetState.SUPERSEDED)
            .order_by(ScoringSet.id)
        )
    )


def make_set(session: Session, actor: Actor, evaluation: Evaluation) -> ScoringSet | None:
    """The set for the evaluation as it is now, with a scoring of every run in it; None before its first judgments.

    It becomes the current one at once when there is no result yet to go on showing. Raises InvalidFields when a shown
    measure needs what the evaluation does not have.
    """
    session.flush()
    # Runs that are being submitted hold this row shared, so that none of them misses the new set.
    evaluation = locked(session, Evaluation, evaluation.id)
    revision = session.scalar(
        sa.select(JudgmentRevision)
        .where(JudgmentRevision.evaluation_id == evaluation.id, JudgmentRevision.finished_at.is_not(None))
        .order_by(JudgmentRevision.number.desc())
        .limit(1)
    )
    if revision is None:
        return None
    campaign = session.get_one(Campaign, evaluation.campaign_id)
    settings = _settings_of(session, campaign, evaluation, revision)
    current = current_set(session, evaluation.id)
    made = _find_or_add(session, evaluation, revision, settings)
    for other in live_sets(session, evaluation.id):
        if other.state is SetState.BUILDING and other is not made:
            _supersede(session, other)
    # A worker scores by the set only where these facts are the set's (`of_its_event`).
    record(session, actor, "make set", made, evaluation=evaluation.id, revision=revision.number, settings=settings.hash)
    if made.state is SetState.CURRENT:
        return made
    made.state = SetState.BUILDING
    session.flush()
    _enqueue_all(session, made)
    if current is None or not _has_results(session, current):
        switch(session, actor, made)
    return made


def of_its_event(session: Session, made: ScoringSet) -> bool:
    """Whether a set is what the last event of its making says: of that evaluation and revision, with those settings.

    A set that somebody made or changed past this program is not.
    """
    revision = session.get_one(JudgmentRevision, made.revision_id)
    facts = {"evaluation": made.evaluation_id, "revision": revision.number, "settings": made.settings.hash}
    return next(_facts_of(session, "make set", "scoring_set", made.id), None) == facts


def imported(session: Session, revision: JudgmentRevision) -> bool:
    """Whether an event tells of the import of this revision, with as many judgments and this hash of them."""
    facts = {"revision": revision.number, "judgments": revision.judgments, "sha256": revision.sha256}
    events = _facts_of(session, "import judgments", "evaluation", revision.evaluation_id)
    return any(told == facts for told in events)


def _facts_of(session: Session, action: str, subject: str, subject_id: int) -> Iterator[dict[str, Any]]:
    """What the events of an action say, the last one first: those that can be read and give their own hash."""
    of_it = (Event.subject == subject, Event.subject_id == subject_id, Event.action == action)
    with closing(stored_events(session, *of_it, newest_first=True)) as events:
        for stored in events:
            if stored.event is not None and stored.computed == stored.hash:
                yield stored.event.facts


def enqueue(session: Session, submission: Submission, scoring_set: ScoringSet) -> None:
    """Queues one run in one set, in its team's turn."""
    turn = next_turns(session, [submission.team_id], SUBMITTED)[submission.team_id]
    session.add(_entry(submission, scoring_set, SUBMITTED, turn))


def _entry(submission: Submission, scoring_set: ScoringSet, priority: int, turn: int) -> Scoring:
    return Scoring(
        submission_id=submission.id,
        scoring_set_id=scoring_set.id,
        priority=priority,
        turn=turn,
        queued_at=present(),
    )


def switch(session: Session, actor: Actor, scoring_set: ScoringSet) -> None:
    """Makes a set the current one: from here on the evaluation's boards show it."""
    current = current_set(session, scoring_set.evaluation_id)
    if current is not None:
        _supersede(session, current)
        session.flush()  # there is never more than one current set
    scoring_set.state = SetState.CURRENT
    scoring_set.switched_at = present()
    record(session, actor, "switch", scoring_set, evaluation=scoring_set.evaluation_id)


def ready_sets(session: Session) -> list[ScoringSet]:
    """Building sets that may become current: no run waits in them any more, and no board would lose one by our fault.

    A run that has figures in the current set and failed in the new one holds the switch up, until it is scored there
    (`leaderboard rescore --failed`) or withdrawn. Two kinds of failed runs don't: one that no board shows now, and one
    whose stored file is damaged, because no new attempt can score that, unless more runs of the set are damaged than
    scored. See `lookup.lost_in`.
    """
    waiting = sa.exists().where(Scoring.scoring_set_id == ScoringSet.id, Scoring.state.in_(UNFINISHED))
    return list(
        session.scalars(
            sa.select(ScoringSet)
            .where(ScoringSet.state == SetState.BUILDING, ~waiting, ~lost_in(ScoringSet).exists())
            .order_by(ScoringSet.id)
            .with_for_update(skip_locked=True)
        )
    )


def of_older_version(session: Session) -> list[int]:
    """Ids of evaluations whose sets are all of another metric version: this version's figures could differ."""
    newest = sa.select(ScoringSet.evaluation_id).where(
        ScoringSet.state != SetState.SUPERSEDED, ScoringSet.metric_version == metrics.MEASURES_VERSION
    )
    return list(
        session.scalars(
            sa.select(ScoringSet.evaluation_id)
            .where(ScoringSet.state == SetState.CURRENT, ScoringSet.evaluation_id.not_in(newest))
            .order_by(ScoringSet.evaluation_id)
        )
    )


def _find_or_add(
    session: Session, evaluation: Evaluation, revision: JudgmentRevision, settings: ScoringSettings
) -> ScoringSet:
    found = session.scalar(
        sa.select(ScoringSet).where(
            ScoringSet.evaluation_id == evaluation.id,
            ScoringSet.revision_id == revision.id,
            ScoringSet.metric_version == metrics.MEASURES_VERSION,
            ScoringSet.settings_hash == settings.hash,
        )
    )
    if found is not None:
        return found
    made = ScoringSet(
        evaluation_id=evaluation.id,
        revision_id=revision.id,
        metric_version=metrics.MEASURES_VERSION,
        settings=settings,
        settings_hash=settings.hash,
        state=SetState.BUILDING,
        created_at=present(),
    )
    session.add(made)
    session.flush()
    return made


def _enqueue_all(session: Session, scoring_set: ScoringSet) -> None:
    """A scoring for every run that has none in the set yet."""
    entered = sa.select(Scoring.submission_id).where(Scoring.scoring_set_id == scoring_set.id)
    missing = session.scalars(
        sa.select(Submission)
        .where(Submission.evaluation_id == scoring_set.evaluation_id, Submission.id.not_in(entered))
        .order_by(Submission.id)
    )
    runs = missing.all()
    turns = next_turns(session, {run.team_id for run in runs}, RESCORING)
    for run in runs:
        session.add(_entry(run, scoring_set, RESCORING, turns[run.team_id]))
        turns[run.team_id] += 1
    session.flush()


def _has_results(session: Session, scoring_set: ScoringSet) -> bool:
    scored = sa.exists().where(Scoring.scoring_set_id == scoring_set.id, Scoring.state == State.SCORED)
    return bool(session.scalar(sa.select(scored)))


def _supersede(session: Session, scoring_set: ScoringSet) -> None:
    """Sets a set aside. What still waits in it is never claimed, so it leaves the queue."""
    scoring_set.state = SetState.SUPERSEDED
    session.execute(
        sa.delete(Scoring).where(Scoring.scoring_set_id == scoring_set.id, Scoring.state == State.QUEUED),
        execution_options={"synchronize_session": False},
    )


def _settings_of(
    session: Session, campaign: Campaign, evaluation: Evaluation, revision: JudgmentRevision
) -> ScoringSettings:
    """The settings of the evaluation as it is now.

    Raises InvalidFields when a shown measure needs what the evaluation does not have.
    """
    queries = list(session.scalars(sa.select(Query).where(Query.evaluation_id == evaluation.id)))
    shown = (campaign.primary_measure, *campaign.measures)
    measures = list(dict.fromkeys(metrics.parse(name).at_relevance(evaluation.relevance_level) for name in shown))
    beside = [other for measure in measures for other in measures_beside(measure, campaign.no_relevant.value)]
    settings = ScoringSettings(
        **{name: getattr(campaign, name) for name in OF_CAMPAIGN},
        **{name: getattr(evaluation, name) for name in OF_EVALUATION},
        highest_grade=revision.highest_grade,
        queries=len(queries),
        known=_has(session, KnownDocument, revision),
        subtopics=_has(session, SubtopicJudgment, revision),
        excluded=tuple(sorted(query.external_id for query in queries if query.excluded_at is not None)),
        hidden=tuple(sorted(query.external_id for query in queries if query.split is Split.HIDDEN)),
        measures=tuple(map(str, measures)),
        kept=tuple(str(measure) for measure in beside if measure not in measures),
    )
    _require_needs(session, evaluation, revision, settings, measures)
    return settings


def _has(session: Session, table: type[KnownDocument | SubtopicJudgment], revision: JudgmentRevision) -> bool:
    """Whether the revision has rows of this table."""
    return bool(session.scalar(sa.select(sa.exists().where(table.revision_id == revision.id))))


def _require_needs(
    session: Session,
    evaluation: Evaluation,
    revision: JudgmentRevision,
    settings: ScoringSettings,
    measures: Sequence[metrics.Measure],
) -> None:
    fields: dict[str, list[str]] = {}
    for measure in measures:
        for need in settings.lacks(measure):
            fields.setdefault(need, []).append(f"{measure} needs {NEEDED[need]}")
        if problem := measure.problem(settings.metric):
            fields.setdefault("measures", []).append(problem)
    crowded = _query_without_other_documents(session, evaluation, revision, measures)
    if crowded is not None:
        fields.setdefault("documents", []).append(
            f"query {crowded} has as many relevant documents as the collection has documents, so P_fa is undefined"
        )
    overfull = _query_with_too_many_judgments(session, evaluation, revision)
    if overfull is not None:
        fields.setdefault("documents", []).append(
            f"query {overfull} has more judged documents than the collection has documents"
        )
    if fields:
        raise InvalidFields(fields)


def _query_without_other_documents(
    session: Session, evaluation: Evaluation, revision: JudgmentRevision, measures: Sequence[metrics.Measure]
) -> str | None:
    """A query whose relevant documents leave no other one in the collection; None when there is none such."""
    if evaluation.documents is None:
        return None
    levels = [measure.arguments.get("rel", evaluation.relevance_level) for measure in measures]
    return session.scalar(
        sa.select(Query.external_id)
        .join(Judgment, Judgment.query_id == Query.id)
        .where(Judgment.revision_id == revision.id, Judgment.grade >= min(levels))
        .group_by(Query.id, Query.external_id)
        .having(sa.func.count() >= evaluation.documents)
        .limit(1)
    )


def _query_with_too_many_judgments(session: Session, evaluation: Evaluation, revision: JudgmentRevision) -> str | None:
    """A query that has more judged documents than the collection has; None when there is none such."""
    if evaluation.documents is None:
        return None
    return session.scalar(
        sa.select(Query.external_id)
        .join(Judgment, Judgment.query_id == Query.id)
        .where(Judgment.revision_id == revision.id)
        .group_by(Query.id, Query.external_id)
        .having(sa.func.count() > evaluation.documents)
        .limit(1)
    )
