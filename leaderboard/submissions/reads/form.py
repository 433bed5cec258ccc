"""What quotas leave to a team or a person.

What a run is held against before it is submitted: what its evaluation expects, as far as the reader may know.

What the submission form needs to know: the evaluation, and what each team of the reader may still do there.
"""

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import VISITOR, Actor, Content, may_see, submission_refusal, subset_seen
from leaderboard.boards.models import Standing
from leaderboard.db import snapshot
from leaderboard.evaluations.models import Acceptance, Agreement, Evaluation
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.evaluations.rules import FormField, Split, Subset, is_late
from leaderboard.formats import NO_RULES, FileRules, Run, RunRules
from leaderboard.frozen import frozen
from leaderboard.judgments.models import Judgment, Query
from leaderboard.scoring import ranked_lines
from leaderboard.submissions import rules as submission_rules
from leaderboard.submissions.models import Arrival, Participation, PersonalUse, Submission
from leaderboard.submissions.reads.selection import standing_runs
from leaderboard.submissions.rules import Checked, Expected, Quota, RunChoice
from leaderboard.teams.models import Membership, System, Team
from leaderboard.teams.reads import merged
from leaderboard.worker.models import ScoringSet
from leaderboard.worker.reads import current_set


def quotas_of(
    session: Session, evaluation: Evaluation, team_ids: Sequence[int], user_id: int | None, now: datetime
) -> tuple[dict[int, Quota], Quota]:
    """What each team has used of the evaluation's quotas, and one person over all of their teams.

    user_id  None: the command line, which is no person: nothing bounds it, and files that arrive, or are not checked
             yet, are not held against the team
    """
    pending, nobody = user_id is not None, user_id or 0
    teams = _quotas(session, evaluation, team_ids, now, pending=pending)
    return teams, _quotas(session, evaluation, [nobody], now, pending=pending, of_person=True)[nobody]


def _quotas(
    session: Session,
    evaluation: Evaluation,
    ids: Sequence[int],
    now: datetime,
    *,
    pending: bool,
    of_person: bool = False,
) -> dict[int, Quota]:
    """pending: files that arrive, or are not checked yet, count too. They are looked up first: one that takes its
    next step meanwhile is counted twice then, never missed.
    """
    table: Any = PersonalUse if of_person else Participation
    key, sender = ("user_id", Submission.submitter_id) if of_person else ("team_id", Submission.team_id)
    today, quotas = submission_rules.day_of(now), {}

    def counted(of: Any, column: Any, *which: sa.ColumnElement[bool]) -> dict[int, int]:
        if not pending:
            return {}
        own = of.evaluation_id == evaluation.id, column.in_(ids)
        rows = session.execute(sa.select(column, sa.func.count()).where(*own, *which).group_by(column))
        return dict(rows.all())

    arriving = counted(Arrival, getattr(Arrival, key), Arrival.expires_at > now)
    open_now = Submission.charged.is_(True), Submission.scored_at.is_(None)
    unchecked = counted(Submission, sender, Submission.received_at >= submission_rules.start_of(today), *open_now)
    own = table.evaluation_id == evaluation.id, getattr(table, key).in_(ids)
    asked = session.scalars(sa.select(table).where(*own)) if pending or not of_person else ()
    rows = {getattr(row, key): row for row in asked}
    for number in ids:
        row = rows.get(number) or table(day=today, used=0, used_today=0, rejected_today=0)
        is_of_today = row.day == today
        quotas[number] = Quota(
            daily=evaluation.daily_quota,
            used_today=row.used_today * is_of_today,
            total=evaluation.total_quota,
            used=row.used,
            rejected_today=row.rejected_today * is_of_today,
            unchecked_today=unchecked.get(number, 0),
            arriving=arriving.get(number, 0),
            resets_at=submission_rules.start_of(today + timedelta(days=1)),
            of_person=of_person,
        )
    return quotas


FIRST = 10  # documents of a query whose judgments are counted


@frozen
class Checking:
    """The page of a check. rules_in_words: what the organisers ask of the file, a sentence each."""

    evaluation: reads.EvaluationHeading
    expected: Expected
    rules_in_words: tuple[str, ...]


READY = 3  # evaluations whose rules are kept ready: a list of documents takes a second to read, and may take 100 MB
_READY: dict[tuple[int, FileRules, tuple[str, ...]], RunRules] = {}
_LOCK = threading.Lock()


def _ready_rules(session: Session, evaluation: Evaluation, queries: tuple[str, ...]) -> RunRules | None:
    rules = reads.file_rules(evaluation)
    if rules == NO_RULES:
        return None
    key = evaluation.id, rules, queries
    with _LOCK:
        if key not in _READY:
            if len(_READY) == READY:
                del _READY[next(iter(_READY))]
            _READY[key] = RunRules(rules, queries, reads.collection_list(session, evaluation.id))
        return _READY[key]


def checking(session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime) -> Checking:
    """Raises NotFound."""
    evaluation = reads.find_evaluation(session, actor, campaign_slug, slug)
    expected = expected_of(session, actor, evaluation, now)
    return Checking(reads.evaluation_heading(evaluation, now), expected, reads.file_rules(evaluation).in_words)


def expected_of(
    session: Session, actor: Actor, evaluation: Evaluation, now: datetime, *, to_submit: bool = False
) -> Expected:
    """What the evaluation expects of a run, as far as `actor` may know.

    to_submit  hold the run against all its queries, hidden ones too, as the worker will: only where a run is submitted,
               and a refusal by a query that `actor` may not know of counts as a rejected file (`tells_of_hidden`).
               What the form and the moment would be refused for is left to who takes the run in
    """
    seen = subset_seen(actor, evaluation, now)
    columns = sa.select(Query.external_id, Query.split, Query.excluded_at)
    queries = session.execute(columns.where(*reads.of_subset(evaluation.id, seen)).order_by(Query.position)).all()
    shown = tuple(name for name, split, excluded in queries if split is Split.SHOWN and not excluded)
    names: Iterable[str] = (name for name, *_ in queries) if seen is Subset.ALL else ()
    if to_submit and seen is not Subset.ALL:
        names = session.scalars(sa.select(Query.external_id).where(Query.evaluation_id == evaluation.id))
    refused = "" if to_submit else _refused_now(session, actor, evaluation, now)
    return Expected(
        evaluation_id=evaluation.id,
        seen=seen,
        details_open=may_see(actor, evaluation, Content.DETAILS, now),
        queries=tuple(name for name, _, excluded in queries if not excluded),
        excluded=tuple(name for name, _, excluded in queries if excluded),
        allowed=frozenset(names) or None,  # as long as there are no queries, that says nothing of any run
        verdict_only=to_submit and seen is not Subset.ALL,
        rules=_ready_rules(session, evaluation, shown),
        returned_by=reads.measures_of_returned(evaluation.campaign),
        fields=() if to_submit else reads.form_fields(evaluation),
        refused_now=refused,
        late_now=not (to_submit or refused) and is_late(evaluation, now, now),
    )


def _refused_now(session: Session, actor: Actor, evaluation: Evaluation, now: datetime) -> str:
    """Why no run of theirs would be taken now, as `reserve_quota` would say; "" where one would. Of a
    reader without a team, and of the command line, only the evaluation is asked.
    """
    refused = submission_refusal(evaluation, now, now)
    if refused is None and actor.user_id is not None and actor.teams:
        quotas, own = quotas_of(session, evaluation, sorted(actor.teams), actor.user_id, now)
        spent = [quota.spent for quota in quotas.values()]
        refused = own.spent if None in spent else spent[0]
    return refused or ""


def completed(session: Session, checked: Checked, run: Run | None, teams: Collection[int], but: int = 0) -> Checked:
    """The check with what is on record: what is judged, and whether it was sent before.

    teams  whose submissions, but one, are looked through for the same text
    """
    expected = checked.expected
    same = Submission.evaluation_id == expected.evaluation_id, Submission.text_sha256 == checked.text_sha256
    own = Submission.id != but, Submission.team_id.in_(teams), Submission.withdrawn_at.is_(None)
    twins = session.scalars(sa.select(Submission).where(*same, *own).order_by(Submission.id)) if teams else ()
    may_tell = checked.lines and checked.whole and expected.details_open
    judged = _judged(session, expected, run) if run is not None and may_tell else checked.judged
    return replace(checked, twins=tuple(twin.name for twin in twins), judged=judged)


def _judged(session: Session, expected: Expected, run: Run) -> float | None:
    """The mean share of judged documents among the first ten of each judged query that the reader knows of."""
    scoring_set = current_set(session, expected.evaluation_id)
    if scoring_set is None:
        return None
    of_reader = reads.of_subset(expected.evaluation_id, expected.seen)
    judged: dict[str, set[str]] = {}
    for query, name in session.execute(
        sa.select(Query.external_id, Judgment.document)
        .join(Query, Query.id == Judgment.query_id)
        .where(Judgment.revision_id == scoring_set.revision_id, *of_reader)
    ):
        judged.setdefault(query, set()).add(name)
    lines = ranked_lines(run, scoring_set.settings.compat)
    shares = []
    for query, documents in zip(run.queries, np.split(lines.document, lines.start[1:-1]), strict=True):
        if query in judged and len(documents):
            shares.append(np.mean([document.decode() in judged[query] for document in documents[:FIRST].tolist()]))
    return float(np.mean(shares)) if shares else None


@frozen
class OwnSystem:
    """A system that a member may submit runs of.

    standing        the name of the run that stands for it here, "" without one; None where the campaign shows the best
                    or the latest run of each system, so that there is nothing to choose
    primary_stands  whether that is its primary run, which no contrastive run replaces
    """

    id: int
    name: str
    standing: str | None
    primary_stands: bool


@frozen
class TeamSubmitting:
    """One team of the reader. `primary` is the name of its primary run in this evaluation, empty without one."""

    id: int
    slug: str
    name: str
    systems: tuple[OwnSystem, ...]
    quota: Quota
    primary: str


@frozen
class AskedAgreement:
    """A version of an agreement that the reader has not accepted yet. again: whether they accepted an earlier one."""

    id: int
    key: str
    version: int
    title: str
    text: str
    again: bool


@frozen
class Submitting:
    """What the form offers.

    preview     whether nothing can be sent from it
    closed      says in words why nothing can be submitted now; None when it can
    personal    what the reader has used over all of their teams
    fields      what the organisers ask of every run
    from_metadata  what they read from the metadata of every run instead of asking it
    agreements  what the reader still has to accept
    rules       what the organisers ask of the file; rules_in_words: a sentence each
    returned_by  measures of the campaign that count what was returned, for which θ is asked; empty where none does
    """

    evaluation: reads.EvaluationHeading
    run_choice: RunChoice
    preview: bool
    closed: str | None
    teams: tuple[TeamSubmitting, ...]
    personal: Quota
    fields: tuple[FormField, ...]
    from_metadata: tuple[FormField, ...]
    agreements: tuple[AskedAgreement, ...]
    rules: FileRules
    rules_in_words: tuple[str, ...]
    returned_by: tuple[str, ...]

    @property
    def is_baseline(self) -> bool:
        """Whether the run is a baseline of the organisers."""
        return [team.id for team in self.teams] == [0]

    @property
    def teams_with_quota(self) -> tuple[TeamSubmitting, ...]:
        """Those that the reader may submit something of now."""
        return tuple(team for team in self.teams if team.quota.left != 0) if self.personal.left != 0 else ()


def submitting(
    session: Session, actor: Actor, campaign: str, slug: str, now: datetime,
    *, baseline: bool = False, preview: bool = False,
) -> Submitting:  # fmt: skip
    """Raises NotFound when there is no such evaluation.

    baseline  of an organiser: for the team of the campaign's baselines, whose id is 0 here, there or not yet
    preview   for an organiser: as a new team sees it while the evaluation takes runs
    """
    find = reads.organised_evaluation if baseline or preview else reads.find_evaluation
    evaluation = find(session, actor, campaign, slug)
    actor = VISITOR if preview else actor
    if preview:
        teams = [Team(id=-1, slug="", name="your team")]
    elif baseline:
        pinned = evaluation.campaign.baseline_team_id
        teams = [merged(session, session.get_one(Team, pinned)) if pinned else Team(id=0, slug="", name="")]
    else:
        own = sa.select(Team).join(Membership).where(Membership.user_id == actor.user_id)
        teams = [*session.scalars(own.order_by(Team.name, Team.id))]
    ids = [team.id for team in teams]
    rules = reads.file_rules(evaluation)
    asked = () if baseline else reads.form_fields(evaluation)
    quotas, personal = quotas_of(session, evaluation, ids, actor.user_id, now)
    entered = Participation.evaluation_id == evaluation.id, Participation.team_id.in_(ids)
    primaries = sa.select(Submission).join(Participation, Participation.primary_submission_id == Submission.id)
    primary = {run.team_id: run for run in session.scalars(primaries.where(*entered))}
    systems = _systems(session, evaluation, ids, {run.id for run in primary.values()}, baseline)
    return Submitting(
        evaluation=reads.evaluation_heading(evaluation, now),
        run_choice=evaluation.campaign.run_choice,
        preview=preview,
        closed=None if preview else submission_refusal(evaluation, now, now),
        teams=tuple(
            snapshot(
                TeamSubmitting,
                team,
                id=0 if baseline else team.id,
                systems=systems.get(team.id, ()),
                quota=quotas[team.id],
                primary=primary[team.id].name if team.id in primary else "",
            )
            for team in teams
        ),
        personal=personal,
        fields=tuple(field for field in asked if field.in_form),
        from_metadata=tuple(field for field in asked if field.asked and field.header),
        agreements=() if baseline else _agreements(session, actor, evaluation),
        rules=rules,
        rules_in_words=rules.in_words,
        returned_by=reads.measures_of_returned(evaluation.campaign),
    )


def _agreements(session: Session, actor: Actor, evaluation: Evaluation) -> tuple[AskedAgreement, ...]:
    own = Agreement.evaluation_id == evaluation.id, Acceptance.user_id == actor.user_id
    before = session.scalars(sa.select(Agreement).join(Acceptance).where(*own)).all()
    ids, keys = {agreement.id for agreement in before}, {agreement.key for agreement in before}
    return tuple(
        snapshot(AskedAgreement, agreement, again=agreement.key in keys)
        for agreement in reads.standing_agreements(session, evaluation.id).values()
        if agreement.id not in ids
    )


def _systems(
    session: Session, evaluation: Evaluation, team_ids: list[int], primaries: Collection[int], baseline: bool
) -> dict[int, tuple[OwnSystem, ...]]:
    """The systems of each team that its members may submit runs of, or its baselines. primaries: runs that are their
    teams' primary ones"""
    is_chosen = evaluation.campaign.run_choice is RunChoice.PRIMARY
    of_teams = Standing.system_id.in_(sa.select(System.id).where(System.team_id.in_(team_ids)))
    own = ScoringSet.evaluation_id == evaluation.id, of_teams, Standing.late.is_(False)
    standing = {run.system_id: run for run in standing_runs(session, *own)} if is_chosen else {}
    systems: dict[int, tuple[OwnSystem, ...]] = {}
    for system in session.scalars(
        sa.select(System)
        .where(System.team_id.in_(team_ids), (System.kind == submission_rules.SystemKind.BASELINE).is_(baseline))
        .order_by(System.name, System.id)
    ):
        run = standing.get(system.id)
        name = run.name if run else "" if is_chosen else None
        listed = OwnSystem(system.id, system.name, name, run is not None and run.id in primaries)
        systems[system.team_id] = (*systems.get(system.team_id, ()), listed)
    return systems
