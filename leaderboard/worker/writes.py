"""Whose run is scored next: the teams of each campaign take turns, so that one with many runs in the queue holds up
nobody else's, nor its own in another campaign.

Every queue entry is given a turn when it is queued, and of equal priority those of lower turns go first. A team's
entries of a campaign have turns one after the other; its first begins at the turn that is being served. So a team that
sends one run waits for at most one run of each other team of a campaign, however many those have queued, and nothing
has to be counted when a worker claims one.

Scoring sets: every setting that changes a figure, frozen, and which set an evaluation's boards read.

A set is made whenever one of its settings changes, one for each source of judgments. Results that stand stay on the
boards until the new set has a result for every run; then one update switches. That of the official source becomes the
current one, which the evaluation's boards read; those of others stand beside it.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor, require_organiser
from leaderboard.audit.models import Event
from leaderboard.audit.stored_events import stored_events
from leaderboard.audit.writes import is_replay, present, record
from leaderboard.boards.models import Board
from leaderboard.campaigns.models import Campaign
from leaderboard.db import exists, locked
from leaderboard.errors import Conflict
from leaderboard.evaluations.models import Evaluation
from leaderboard.judgments.models import JudgmentRevision
from leaderboard.judgments.reads import require_source
from leaderboard.mail.rules import MailKind
from leaderboard.mail.writes import members_taking_part, put_wanted
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import lost_in
from leaderboard.submissions.rules import STANDING, UNFINISHED, SetState, State
from leaderboard.worker.models import IN_QUEUE, Scoring, ScoringSet
from leaderboard.worker.reads import settings_by, standing_set


def next_turns(session: Session, evaluation_id: int, teams: Collection[int], priority: int) -> dict[int, int]:
    """Team id -> the turn of the next entry that it queues with this priority in the evaluation's campaign; those after
    it count on from there."""
    session.flush()
    of_priority = sa.and_(sa.text(IN_QUEUE), Scoring.priority == priority)
    scoring = sa.func.max(sa.case((Scoring.state == State.SCORING, Scoring.turn)))
    served = sa.select(sa.func.coalesce(scoring, sa.func.min(Scoring.turn))).where(of_priority)
    first = session.scalar(served) or 0
    campaign = sa.select(Evaluation.campaign_id).where(Evaluation.id == evaluation_id).scalar_subquery()
    last = session.execute(
        sa.select(Submission.team_id, sa.func.max(Scoring.turn))
        .join(Scoring.submission)
        .join(Submission.evaluation)
        .where(of_priority, Submission.team_id.in_(teams), Evaluation.campaign_id == campaign)
        .group_by(Submission.team_id)
    )
    return dict.fromkeys(teams, first) | {team: max(turn + 1, first) for team, turn in last}


SUBMITTED, RESCORING, BESIDE, STOOD = 0, 10, 20, 30  # priorities: what people wait for goes first


def live_sets(session: Session, evaluation_id: int) -> list[ScoringSet]:
    """The sets that a new run enters: those that stand, of each source of judgments, and any that is building."""
    live = ScoringSet.evaluation_id == evaluation_id, ScoringSet.state != SetState.SUPERSEDED
    return list(session.scalars(sa.select(ScoringSet).where(*live).order_by(ScoringSet.id)))


def make_set(session: Session, actor: Actor, evaluation: Evaluation) -> None:
    """Makes the set for the evaluation as it is now, with a scoring of every run in it; none before its first
    judgments.

    It becomes the current one at once when there is no result yet to go on showing. The like is made for every other
    source of judgments, after that of the official one. Raises InvalidFields when a shown measure needs what the
    evaluation does not have.
    """
    session.flush()
    # Runs that are being submitted hold this row shared, so that none of them misses the new set.
    evaluation = locked(session, Evaluation, evaluation.id)
    finished = JudgmentRevision.evaluation_id == evaluation.id, JudgmentRevision.finished_at.is_not(None)
    in_use = sa.select(JudgmentRevision).where(*finished, JudgmentRevision.source.not_in(evaluation.set_aside))
    newest_last = session.scalars(in_use.order_by(JudgmentRevision.number))
    revisions = {revision.source: revision for revision in newest_last}
    for source in sorted(revisions, key=lambda source: (source != evaluation.official_source, source)):
        _make(session, actor, evaluation, revisions[source])


def _make(session: Session, actor: Actor, evaluation: Evaluation, revision: JudgmentRevision) -> None:
    settings = settings_by(session, evaluation, revision)
    key = {"evaluation_id": evaluation.id, "revision_id": revision.id, "settings_hash": settings.hash}
    key["metric_version"] = metrics.MEASURES_VERSION
    made = session.scalar(sa.select(ScoringSet).filter_by(**key))
    if made is None:
        now, primary = present(), settings.measures[0]
        made = ScoringSet(**key, source=revision.source, frozen=settings, primary_measure=primary, created_at=now)
        made.state = SetState.BUILDING
        session.add(made)
        session.flush()
    outdated = [
        other
        for other in live_sets(session, evaluation.id)
        if other.state is SetState.BUILDING and other.source == made.source and other is not made
    ]
    for other in outdated:
        supersede(session, other)
    _rank_as_its_campaign(session, actor, made)
    # What became of the others has to have its event, too.
    if made.state in STANDING and not outdated and of_its_event(session, made):
        return
    # A worker scores by the set only where these facts are the set's (`of_its_event`).
    record(session, actor, "make set", made, **_facts_of_making(made, revision, made.settings_hash))
    if made.state in STANDING:
        return
    made.state = SetState.BUILDING
    session.flush()
    entered = sa.select(Scoring.submission_id).where(Scoring.scoring_set_id == made.id)
    missing = Submission.evaluation_id == evaluation.id, Submission.id.not_in(entered)
    runs = session.scalars(sa.select(Submission).where(*missing).order_by(Submission.id)).all()
    _queue(session, made, runs, RESCORING if made.source == evaluation.official_source else BESIDE)
    session.flush()
    standing = standing_set(session, evaluation.id, made.source)
    has_results = Scoring.scoring_set_id == (standing and standing.id), Scoring.state == State.SCORED
    if standing is None or not exists(session, *has_results):
        switch(session, actor, made)


def _rank_as_its_campaign(session: Session, actor: Actor, scoring_set: ScoringSet) -> None:
    """Lets the boards of a set rank by its campaign's primary measure, where it has figures by that already. Those that
    have ceased to be shown go on ranking by their own."""
    campaign = session.get_one(Campaign, session.get_one(Evaluation, scoring_set.evaluation_id).campaign_id)
    settings, before = scoring_set.settings, scoring_set.primary_measure
    primary = str(metrics.parse(campaign.primary_measure).at_relevance(settings.relevance_level))
    if scoring_set.shown_until is not None or primary == before or primary not in settings.measures:
        return
    scoring_set.primary_measure = primary
    # On large boards pairs are compared under the primary measure only: what is kept by these two is worked out anew.
    boards = Board.scoring_set_id == scoring_set.id, Board.measure.in_((before, primary))
    session.execute(sa.update(Board).where(*boards).values(version=0))
    record(session, actor, "rank by", scoring_set, evaluation=scoring_set.evaluation_id, measure=primary, before=before)


def _facts_of_making(made: ScoringSet, revision: JudgmentRevision, settings: str) -> dict[str, Any]:
    return {"evaluation": made.evaluation_id, "revision": revision.number, "settings": settings}


def of_its_event(session: Session, made: ScoringSet) -> bool:
    """Whether a set is what the last event of its making says: of that evaluation and revision, with those settings.

    A set that somebody made or changed past this program is not.
    """
    revision = session.get_one(JudgmentRevision, made.revision_id)
    facts = next(_facts_of(session, "make set", "scoring_set", made.id), None)
    return facts == _facts_of_making(made, revision, made.settings.hash)


def imported(session: Session, revision: JudgmentRevision) -> bool:
    """Whether an event tells of the import of this revision, with as many judgments and this hash of them. What its
    source is called may be another by now."""
    facts = {"revision": revision.number, "judgments": revision.judgments, "sha256": revision.sha256}
    events = _facts_of(session, "import judgments", "evaluation", revision.evaluation_id)
    return any({name: facts_of_event.get(name) for name in facts} == facts for facts_of_event in events)


def _facts_of(session: Session, action: str, subject: str, subject_id: int) -> Iterator[dict[str, Any]]:
    """What the events of an action say, the last one first: those that can be read and give their own hash."""
    of_it = (Event.subject == subject, Event.subject_id == subject_id, Event.action == action)
    with closing(stored_events(session, *of_it, newest_first=True)) as events:
        for stored in events:
            if stored.event is not None and stored.computed == stored.hash:
                yield stored.event.facts


def enqueue(session: Session, submission: Submission, scoring_set: ScoringSet) -> None:
    """Queues one run in one set, in its team's turn."""
    official = session.get_one(Evaluation, submission.evaluation_id).official_source
    _queue(session, scoring_set, [submission], SUBMITTED if scoring_set.source == official else BESIDE)


def _queue(session: Session, scoring_set: ScoringSet, runs: Sequence[Submission], priority: int) -> None:
    turns = next_turns(session, scoring_set.evaluation_id, {run.team_id for run in runs}, priority)
    now = datetime.now(UTC)  # in a replay of the past, too: it waits from now on
    for run in runs:
        entry = {"submission_id": run.id, "turn": turns[run.team_id], "queued_at": now}
        session.add(Scoring(scoring_set_id=scoring_set.id, priority=priority, **entry))
        turns[run.team_id] += 1


def drop_scorings(session: Session, actor: Actor, evaluations: Collection[int], action: str) -> None:
    """Takes away how the test runs of drafts were scored, with their boards. The trail calls it this action on each
    run."""
    of_sets = Scoring.scoring_set_id.in_(sa.select(ScoringSet.id).where(ScoringSet.evaluation_id.in_(evaluations)))
    scorings: dict[int, list[Scoring]] = {}
    for scoring in session.scalars(sa.select(Scoring).where(of_sets).order_by(Scoring.id).with_for_update(of=Scoring)):
        scorings.setdefault(scoring.submission_id, []).append(scoring)
    runs = sa.select(Submission).where(Submission.evaluation_id.in_(evaluations)).order_by(Submission.id)
    for run in session.scalars(runs).all():
        facts = {"evaluation": run.evaluation_id, "system": run.system_id, "sha256": run.sha256}
        record(session, actor, action, run, about=scorings.get(run.id, ()), **facts)
    boards = sa.select(ScoringSet.id).where(ScoringSet.evaluation_id.in_(evaluations))
    for statement in (sa.delete(Board).where(Board.scoring_set_id.in_(boards)), sa.delete(Scoring).where(of_sets)):
        session.execute(statement, execution_options={"synchronize_session": False})
    for scoring in (each for own in scorings.values() for each in own):
        session.expunge(scoring)  # SQLite may give its number anew


def switch(session: Session, actor: Actor, scoring_set: ScoringSet) -> None:
    """Makes a set the one that stands for its source: the boards show that of the official source from here on."""
    evaluation = session.get_one(Evaluation, scoring_set.evaluation_id)
    standing = standing_set(session, scoring_set.evaluation_id, scoring_set.source)
    now = present()
    if standing is not None:
        supersede(session, standing, now)
        session.flush()  # there is never more than one
    official = scoring_set.source == evaluation.official_source
    scoring_set.state = SetState.CURRENT if official else SetState.BESIDE
    if official:
        _show_from(scoring_set, now)
        _rank_as_its_campaign(session, actor, scoring_set)
    elif scoring_set.shown_until is None:  # else since when boards showed it stays on record
        scoring_set.switched_at = now
    record(session, actor, "switch", scoring_set, evaluation=scoring_set.evaluation_id)
    is_new = standing is not None and standing.revision_id != scoring_set.revision_id
    if official and is_new and not is_replay():
        revision = session.get_one(JudgmentRevision, scoring_set.revision_id)
        members = members_taking_part(session, scoring_set.evaluation_id)
        put_wanted(session, MailKind.REJUDGED, members, evaluation=scoring_set.evaluation_id, revision=revision.number)


def _show_from(scoring_set: ScoringSet, now: datetime) -> None:
    """Boards show it from now on; when they did so before stays on record."""
    if scoring_set.switched_at is not None and scoring_set.shown_until is not None:
        before = [scoring_set.switched_at.isoformat(), scoring_set.shown_until.isoformat()]
        scoring_set.shown_before = [*scoring_set.shown_before, before]
    scoring_set.switched_at, scoring_set.shown_until = now, None


def make_official(session: Session, actor: Actor, evaluation: Evaluation, source: str) -> None:
    """Lets the boards go by another source of judgments from here on; the old one stays beside it.

    Raises Conflict where it is the official one, has judged nothing, or its runs are still being scored, and
    InvalidFields where a shown measure needs what its judgments lack.
    """
    require_organiser(actor, evaluation.campaign_id)
    evaluation = locked(session, Evaluation, evaluation.id)
    if source == evaluation.official_source:
        raise Conflict(f"{source} is the official source of judgments already.")
    require_source(session, evaluation, source)
    if source in evaluation.set_aside:
        raise Conflict(f"{source} is set aside, so no run is scored by it: import judgments by it to take it up again.")
    live = [scoring_set for scoring_set in live_sets(session, evaluation.id) if scoring_set.source == source]
    waiting = Scoring.scoring_set_id.in_([scoring_set.id for scoring_set in live]), Scoring.state.in_(UNFINISHED)
    if any(scoring_set.state is SetState.BUILDING for scoring_set in live) or exists(session, *waiting):
        raise Conflict(f"Runs are still being scored by the judgments of {source}; try again when all are.")
    before, evaluation.official_source = evaluation.official_source, source
    former, own, now = standing_set(session, evaluation.id, before), live[0], present()
    if former is not None:
        former.state = SetState.BESIDE
        former.shown_until = now
        session.flush()  # there is never more than one current set
    own.state = SetState.CURRENT
    _show_from(own, now)
    record(session, actor, "switch", own, evaluation=evaluation.id)
    record(session, actor, "make official", evaluation, source=source, before=before)
    make_set(session, actor, evaluation)  # a shown measure that these judgments lack something for is refused now


def ready_sets(session: Session, *which: sa.ColumnElement[bool]) -> list[ScoringSet]:
    """Building sets that may become current: no run waits in them any more, and no board would lose one by our fault.

    A run that has figures in the current set and failed in the new one holds the switch up, until it is scored there
    (`leaderboard rescore --failed`) or withdrawn. Two kinds of failed runs don't: one that no board shows now, and one
    whose stored file is damaged, because no new attempt can score that, unless more runs of the set are damaged than
    scored. See `lost_in`. which: conditions on ScoringSet.
    """
    waiting = sa.exists().where(Scoring.scoring_set_id == ScoringSet.id, Scoring.state.in_(UNFINISHED))
    ready = sa.select(ScoringSet).where(*which, ScoringSet.state == SetState.BUILDING, ~waiting, ~lost_in().exists())
    return list(session.scalars(ready.order_by(ScoringSet.id).with_for_update(skip_locked=True)))


def of_older_version(session: Session) -> list[int]:
    """Ids of evaluations where all sets of a source are of another metric version: this one's figures could differ."""
    newer = sa.orm.aliased(ScoringSet)
    of_this_version = sa.exists().where(
        newer.evaluation_id == ScoringSet.evaluation_id,
        newer.source == ScoringSet.source,
        newer.state != SetState.SUPERSEDED,
        newer.metric_version == metrics.MEASURES_VERSION,
    )
    older = sa.select(ScoringSet.evaluation_id).where(ScoringSet.state.in_(STANDING), ~of_this_version)
    return list(session.scalars(older.distinct().order_by(ScoringSet.evaluation_id)))


def supersede(session: Session, scoring_set: ScoringSet, now: datetime | None = None) -> None:
    """Sets a set aside. What still waits in it is never claimed, so it leaves the queue.

    In a replay of the past it stays, to be scored last: boards showed it once, if only for a moment.
    """
    now = now or present()
    if scoring_set.state is SetState.CURRENT:
        scoring_set.shown_until = now
    scoring_set.state = SetState.SUPERSEDED
    session.flush()
    waiting = Scoring.scoring_set_id == scoring_set.id, Scoring.state == State.QUEUED, ~Scoring.of_the_past
    change: sa.Delete | sa.Update = sa.delete(Scoring)
    if is_replay() and scoring_set.switched_at is not None and scoring_set.switched_at < now:
        change = sa.update(Scoring).values(of_the_past=True, priority=STOOD)
    session.execute(change.where(*waiting), execution_options={"synchronize_session": False})
