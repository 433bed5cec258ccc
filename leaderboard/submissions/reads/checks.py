"""What a run is held against before it is submitted: what its evaluation expects, as far as the reader may know."""

import datetime as dt
import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Sight, may_see, submission_refusal, subset_seen
from leaderboard.errors import NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import find_evaluation, of_subset
from leaderboard.evaluations.reads.form_fields import collection_list, file_rules, form_fields
from leaderboard.evaluations.reads.headings import EvaluationHeading, evaluation_heading, measures_of_returned
from leaderboard.evaluations.rules.phases import is_late
from leaderboard.evaluations.rules.scoring_settings import Split, Subset
from leaderboard.formats import NO_RULES, FileRules, Run, RunRules
from leaderboard.judgments.models import Judgment, Query
from leaderboard.scoring import ranked_lines
from leaderboard.store import Received
from leaderboard.submissions.models import StagedRun, Submission
from leaderboard.submissions.reads.quotas import personal_quota, team_quotas
from leaderboard.submissions.rules.checks import Checked, Expected
from leaderboard.teams.models import System
from leaderboard.worker.reads.scoring_sets import current_set

FIRST = 10  # documents of a query whose judgments are counted
READY = 3  # evaluations whose rules are kept ready; a list of documents may take 100 MB


@dataclass(frozen=True, slots=True)
class Checking:
    """The page of a check. rules_in_words: what the organisers ask of the file, a sentence each."""

    evaluation: EvaluationHeading
    expected: Expected
    rules_in_words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Staged:
    """A run that waits for its sender's yes, as the form said it.

    system      its name
    submission  what a yes has made of it; None while it waits
    taken_back  whether its sender changes it in the form: it waits no longer
    """

    id: int
    team_id: int
    system: str
    designation: str
    threshold: float | None
    upload: Received
    expires_at: dt.datetime
    submission: int | None
    taken_back: bool


class _Ready:
    """Rules that are made ready, the last few of them: a list of documents takes a second to read."""

    def __init__(self) -> None:
        self._rules: OrderedDict[tuple[int, FileRules, tuple[str, ...]], RunRules] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, session: Session, evaluation: Evaluation, queries: tuple[str, ...]) -> RunRules | None:
        rules = file_rules(evaluation)
        if rules == NO_RULES:
            return None
        key = evaluation.id, rules, queries
        with self._lock:
            if key not in self._rules:
                packed = collection_list(session, evaluation.id) if rules.documents else None
                self._rules[key] = RunRules(rules, queries, packed)
            self._rules.move_to_end(key)
            while len(self._rules) > READY:
                self._rules.popitem(last=False)
            return self._rules[key]


READY_RULES = _Ready()


def checking(session: Session, actor: Actor, campaign_slug: str, slug: str, now: dt.datetime) -> Checking:
    """Raises NotFound."""
    evaluation = find_evaluation(session, actor, campaign_slug, slug)
    expected = expected_of(session, actor, evaluation, now)
    return Checking(evaluation_heading(evaluation, now), expected, file_rules(evaluation).in_words)


def expected_of(
    session: Session, actor: Actor, evaluation: Evaluation, now: dt.datetime, *, to_submit: bool = False
) -> Expected:
    """What the evaluation expects of a run, as far as `actor` may know.

    to_submit  hold the run against all its queries, hidden ones too, as the worker will: only where a run is submitted,
               and a refusal by a query that `actor` may not know of counts as a rejected file (`tells_of_hidden`).
               What the form and the moment would be refused for is left to who takes the run in
    """
    seen = _queries(session, actor, evaluation, now)
    knows_all = subset_seen(actor, evaluation, now) is Subset.ALL
    shown = tuple(query.external_id for query in seen if query.split is Split.SHOWN and not query.excluded_at)
    expected = Expected(
        title=evaluation.title,
        queries=tuple(query.external_id for query in seen if not query.excluded_at),
        excluded=tuple(query.external_id for query in seen if query.excluded_at),
        allowed=_all_ids(session, evaluation) if to_submit or knows_all else None,
        verdict_only=to_submit and not knows_all,
        rules=READY_RULES.of(session, evaluation, shown),
        returned_by=measures_of_returned(evaluation.campaign),
    )
    if to_submit:
        return expected
    refused = _refused_now(session, actor, evaluation, now)
    late = not refused and is_late(evaluation, now, now)
    return replace(expected, fields=form_fields(evaluation), refused_now=refused, late_now=late)


def _refused_now(session: Session, actor: Actor, evaluation: Evaluation, now: dt.datetime) -> str:
    """Why no run of theirs would be taken now, as `services.submissions.admit` would say; "" where one would. Of a
    reader without a team, and of the command line, only the evaluation is asked.
    """
    refused = submission_refusal(evaluation, now, now)
    if refused is not None or actor.user_id is None or not actor.teams:
        return refused or ""
    teams = [quota.spent for quota in team_quotas(session, evaluation, sorted(actor.teams), now).values()]
    own = personal_quota(session, evaluation, actor.user_id, now).spent
    return (teams[0] if None not in teams else own) or ""


def completed(
    session: Session,
    actor: Actor,
    evaluation_id: int,
    checked: Checked,
    run: Run | None,
    text_sha256: str,
    teams: Collection[int],
    now: dt.datetime,
) -> Checked:
    """The check with what is on record: what is judged, and whether it was sent before.

    teams  whose submissions are looked through for the same text
    """
    evaluation = session.get_one(Evaluation, evaluation_id)
    twins = session.scalars(
        sa.select(Submission)
        .where(
            Submission.evaluation_id == evaluation.id,
            Submission.text_sha256 == text_sha256,
            Submission.team_id.in_(teams),
            Submission.withdrawn_at.is_(None),
        )
        .order_by(Submission.id)
    )
    checked = replace(checked, twins=tuple(twin.name for twin in twins))
    if run is None or not checked.is_read:
        return checked
    if checked.whole and may_see(actor, evaluation, Sight.DETAILS, now):
        checked = replace(checked, judged=_judged(session, actor, evaluation, run, now))
    return checked


def waiting_runs(session: Session, actor: Actor, evaluation_id: int, now: dt.datetime) -> tuple[Staged, ...]:
    """The reader's own runs that wait for their yes in an evaluation, the oldest first."""
    own = _own(actor, evaluation_id, now).where(StagedRun.submission_id.is_(None), ~StagedRun.taken_back)
    return tuple(_staged(session, staged) for staged in session.scalars(own.order_by(StagedRun.id)))


def waiting_run(session: Session, actor: Actor, evaluation_id: int, staged_id: int, now: dt.datetime) -> Staged:
    """One of `waiting_runs`, or one that got its yes or was taken back a moment ago. Raises NotFound for all others."""
    own = session.scalar(_own(actor, evaluation_id, now).where(StagedRun.id == staged_id))
    if own is None:
        raise NotFound("No run of yours waits for a yes here: it was given up, or its time is over.")
    return _staged(session, own)


def _own(actor: Actor, evaluation_id: int, now: dt.datetime) -> sa.Select[StagedRun]:
    of_reader = StagedRun.user_id == actor.user_id, StagedRun.evaluation_id == evaluation_id
    return sa.select(StagedRun).where(*of_reader, StagedRun.expires_at > now)


def _staged(session: Session, row: StagedRun) -> Staged:
    given = row.given
    own = session.get(System, given["system"]) if given["system"] is not None else None
    system = own.name if own is not None else given["new_system"]
    return Staged(
        id=row.id,
        team_id=row.team_id,
        system=system,
        designation=given["designation"],
        threshold=given["threshold"],
        upload=Received(**row.upload),
        expires_at=row.expires_at,
        submission=row.submission_id,
        taken_back=row.taken_back,
    )


def _queries(session: Session, actor: Actor, evaluation: Evaluation, now: dt.datetime) -> Sequence[Query]:
    seen = of_subset(evaluation.id, subset_seen(actor, evaluation, now))
    return session.scalars(sa.select(Query).where(*seen).order_by(Query.position)).all()


def _all_ids(session: Session, evaluation: Evaluation) -> frozenset[str] | None:
    """The external ids of all queries; None as long as there are none, which says nothing of any run."""
    ids = session.scalars(sa.select(Query.external_id).where(Query.evaluation_id == evaluation.id))
    return frozenset(ids) or None


def _judged(session: Session, actor: Actor, evaluation: Evaluation, run: Run, now: dt.datetime) -> float | None:
    """The mean share of judged documents among the first ten of each judged query that the reader knows of."""
    scoring_set = current_set(session, evaluation.id)
    if scoring_set is None:
        return None
    seen = of_subset(evaluation.id, subset_seen(actor, evaluation, now))
    judged: dict[str, set[str]] = {}
    for query, name in session.execute(
        sa.select(Query.external_id, Judgment.document)
        .join(Query, Query.id == Judgment.query_id)
        .where(Judgment.revision_id == scoring_set.revision_id, *seen)
    ):
        judged.setdefault(query, set()).add(name)
    lines = ranked_lines(run, scoring_set.settings.compat)
    shares = []
    for query, first, last in zip(run.queries, lines.start[:-1].tolist(), lines.start[1:].tolist(), strict=True):
        if query in judged and last > first:
            top = lines.document[first : min(last, first + FIRST)].tolist()
            shares.append(sum(document.decode() in judged[query] for document in top) / len(top))
    return float(np.mean(shares)) if shares else None
