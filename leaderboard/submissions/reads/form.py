"""What quotas leave to a team or a person.

What a run is held against before it is submitted: what its evaluation expects, as far as the reader may know.

What the submission form needs to know: the evaluation, and what each team of the reader may still do there.
"""

import datetime as dt
import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import Actor, Content, may_see, submission_refusal, subset_seen
from leaderboard.db import snapshot
from leaderboard.evaluations.models import Acceptance, Agreement, Evaluation
from leaderboard.evaluations.reads import (
    EvaluationHeading,
    collection_list,
    evaluation_heading,
    file_rules,
    find_evaluation,
    form_fields,
    measures_of_returned,
    of_subset,
    standing_agreements,
)
from leaderboard.evaluations.rules import FormField, Split, Subset, is_late
from leaderboard.formats import NO_RULES, FileRules, Run, RunRules
from leaderboard.judgments.models import Judgment, Query
from leaderboard.scoring import ranked_lines
from leaderboard.submissions.models import Arrival, Participation, PersonalUse, Submission
from leaderboard.submissions.reads.selection import scored_runs
from leaderboard.submissions.rules import Quota, RunChoice, SystemKind, day_of, quota_of, selected_runs, start_of
from leaderboard.submissions.rules.checks import Checked, Expected
from leaderboard.teams.models import Membership, System, Team
from leaderboard.worker.reads import current_set


def team_quotas(
    session: Session, evaluation: Evaluation, team_ids: Sequence[int], now: dt.datetime, *, count_pending: bool = True
) -> dict[int, Quota]:
    """What each team has used of the evaluation's quotas.

    count_pending: files that arrive, or are not checked yet, count too. They are looked up first: one that takes its
    next step meanwhile is counted twice then, never missed.
    """
    arriving, unchecked = dict[int, int](), dict[int, int]()
    if count_pending:
        arriving = _arriving(session, evaluation, now, Arrival.team_id, team_ids)
        of_day = sa.select(Submission.team_id, sa.func.count()).where(*_unchecked(evaluation, now))
        own = of_day.where(Submission.team_id.in_(team_ids)).group_by(Submission.team_id)
        unchecked.update(session.execute(own).all())
    used = _participations(session, evaluation, team_ids)
    return {
        team: quota_of(
            evaluation, used.get(team), now, unchecked=unchecked.get(team, 0), arriving=arriving.get(team, 0)
        )
        for team in team_ids
    }


def _participations(session: Session, evaluation: Evaluation, team_ids: Sequence[int]) -> dict[int, Participation]:
    own = Participation.evaluation_id == evaluation.id, Participation.team_id.in_(team_ids)
    return {row.team_id: row for row in session.scalars(sa.select(Participation).where(*own))}


def personal_quota(session: Session, evaluation: Evaluation, user_id: int, now: dt.datetime) -> Quota:
    """What one person has used of the evaluation's quotas over all of their teams."""
    arriving = _arriving(session, evaluation, now, Arrival.user_id, [user_id]).get(user_id, 0)
    unchecked = session.scalar(
        sa.select(sa.func.count()).where(*_unchecked(evaluation, now), Submission.submitter_id == user_id)
    )
    used = session.get(PersonalUse, (user_id, evaluation.id))
    return quota_of(evaluation, used, now, unchecked=unchecked or 0, arriving=arriving, of_person=True)


def _arriving(
    session: Session, evaluation: Evaluation, now: dt.datetime, column: Any, keys: Sequence[int]
) -> dict[int, int]:
    """By team or by person: how many files are being read."""
    own = Arrival.evaluation_id == evaluation.id, Arrival.expires_at > now, column.in_(keys)
    return dict(session.execute(sa.select(column, sa.func.count()).where(*own).group_by(column)).all())


def _unchecked(evaluation: Evaluation, now: dt.datetime) -> tuple[sa.ColumnElement[bool], ...]:
    """Submissions of the day whose file was neither scored nor rejected nor given up yet."""
    return (
        Submission.evaluation_id == evaluation.id,
        Submission.received_at >= start_of(day_of(now)),
        Submission.charged.is_(True),
        Submission.scored_at.is_(None),
    )


FIRST = 10  # documents of a query whose judgments are counted
READY = 3  # evaluations whose rules are kept ready; a list of documents may take 100 MB


@dataclass(frozen=True, slots=True)
class Checking:
    """The page of a check. rules_in_words: what the organisers ask of the file, a sentence each."""

    evaluation: EvaluationHeading
    expected: Expected
    rules_in_words: tuple[str, ...]


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
    queries = _queries(session, actor, evaluation, now)
    knows_all = subset_seen(actor, evaluation, now) is Subset.ALL
    shown = tuple(query.external_id for query in queries if query.split is Split.SHOWN and not query.excluded_at)
    expected = Expected(
        title=evaluation.title,
        queries=tuple(query.external_id for query in queries if not query.excluded_at),
        excluded=tuple(query.external_id for query in queries if query.excluded_at),
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
    """Why no run of theirs would be taken now, as `writes.submissions.admit` would say; "" where one would. Of a
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
    same = Submission.evaluation_id == evaluation.id, Submission.text_sha256 == text_sha256
    own = Submission.team_id.in_(teams), Submission.withdrawn_at.is_(None)
    twins = session.scalars(sa.select(Submission).where(*same, *own).order_by(Submission.id))
    checked = replace(checked, twins=tuple(twin.name for twin in twins))
    if run is None or not checked.is_read or not checked.whole or not may_see(actor, evaluation, Content.DETAILS, now):
        return checked
    return replace(checked, judged=_judged(session, actor, evaluation, run, now))


def _queries(session: Session, actor: Actor, evaluation: Evaluation, now: dt.datetime) -> Sequence[Query]:
    of_reader = of_subset(evaluation.id, subset_seen(actor, evaluation, now))
    return session.scalars(sa.select(Query).where(*of_reader).order_by(Query.position)).all()


def _all_ids(session: Session, evaluation: Evaluation) -> frozenset[str] | None:
    """The external ids of all queries; None as long as there are none, which says nothing of any run."""
    ids = session.scalars(sa.select(Query.external_id).where(Query.evaluation_id == evaluation.id))
    return frozenset(ids) or None


def _judged(session: Session, actor: Actor, evaluation: Evaluation, run: Run, now: dt.datetime) -> float | None:
    """The mean share of judged documents among the first ten of each judged query that the reader knows of."""
    scoring_set = current_set(session, evaluation.id)
    if scoring_set is None:
        return None
    of_reader = of_subset(evaluation.id, subset_seen(actor, evaluation, now))
    judged: dict[str, set[str]] = {}
    for query, name in session.execute(
        sa.select(Query.external_id, Judgment.document)
        .join(Query, Query.id == Judgment.query_id)
        .where(Judgment.revision_id == scoring_set.revision_id, *of_reader)
    ):
        judged.setdefault(query, set()).add(name)
    lines = ranked_lines(run, scoring_set.settings.compat)
    shares = []
    for query, first, last in zip(run.queries, lines.start[:-1].tolist(), lines.start[1:].tolist(), strict=True):
        if query in judged and last > first:
            top = lines.document[first : min(last, first + FIRST)].tolist()
            shares.append(sum(document.decode() in judged[query] for document in top) / len(top))
    return float(np.mean(shares)) if shares else None


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class TeamSubmitting:
    """One team of the reader. `primary` is the name of its primary run in this evaluation, empty without one."""

    id: int
    slug: str
    name: str
    systems: tuple[OwnSystem, ...]
    quota: Quota
    primary: str


@dataclass(frozen=True, slots=True)
class AskedAgreement:
    """A version of an agreement that the reader has not accepted yet. again: whether they accepted an earlier one."""

    id: int
    key: str
    version: int
    title: str
    text: str
    again: bool


@dataclass(frozen=True, slots=True)
class Submitting:
    """What the form offers.

    closed      says in words why nothing can be submitted now; None when it can
    personal    what the reader has used over all of their teams
    fields      what the organisers ask of every run
    from_metadata  what they read from the metadata of every run instead of asking it
    agreements  what the reader still has to accept
    rules       what the organisers ask of the file; rules_in_words: a sentence each
    returned_by  measures of the campaign that count what was returned, for which θ is asked; empty where none does
    """

    evaluation: EvaluationHeading
    run_choice: RunChoice
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
    def teams_with_quota(self) -> tuple[TeamSubmitting, ...]:
        """Those that the reader may submit something of now."""
        return tuple(team for team in self.teams if team.quota.left != 0) if self.personal.left != 0 else ()

    @property
    def quotas(self) -> tuple[Quota, ...]:
        """Those that bound the reader: of each team, and their own."""
        return (*(team.quota for team in self.teams), self.personal)

    @property
    def is_spent_for_good(self) -> bool:
        """Whether no other day brings submissions again."""
        return self.personal.is_spent_for_good or all(team.quota.is_spent_for_good for team in self.teams)


def submitting(
    session: Session, actor: Actor, campaign_slug: str, evaluation_slug: str, now: dt.datetime
) -> Submitting:
    """Raises NotFound when there is no such evaluation."""
    evaluation = find_evaluation(session, actor, campaign_slug, evaluation_slug)
    heading = evaluation_heading(evaluation, now)
    teams = session.scalars(
        sa.select(Team).join(Membership).where(Membership.user_id == actor.user_id).order_by(Team.name, Team.id)
    ).all()
    systems = _systems(session, evaluation, [team.id for team in teams])
    parts = _participations(session, evaluation, [team.id for team in teams])
    rules = file_rules(evaluation)
    quotas = team_quotas(session, evaluation, [team.id for team in teams], now)
    return Submitting(
        evaluation=heading,
        run_choice=evaluation.campaign.run_choice,
        closed=submission_refusal(evaluation, now, now),
        teams=tuple(
            snapshot(
                TeamSubmitting,
                team,
                systems=systems.get(team.id, ()),
                quota=quotas[team.id],
                primary=_name_of_run(session, part.primary_submission_id if (part := parts.get(team.id)) else None),
            )
            for team in teams
        ),
        personal=quota_of(evaluation, None, now, of_person=True)
        if actor.user_id is None
        else personal_quota(session, evaluation, actor.user_id, now),
        fields=tuple(field for field in form_fields(evaluation) if field.in_form),
        from_metadata=tuple(field for field in form_fields(evaluation) if field.asked and field.header),
        agreements=_agreements(session, actor, evaluation),
        rules=rules,
        rules_in_words=rules.in_words,
        returned_by=measures_of_returned(evaluation.campaign),
    )


def _agreements(session: Session, actor: Actor, evaluation: Evaluation) -> tuple[AskedAgreement, ...]:
    own = Agreement.evaluation_id == evaluation.id, Acceptance.user_id == actor.user_id
    before = session.scalars(sa.select(Agreement).join(Acceptance).where(*own)).all()
    ids, keys = {agreement.id for agreement in before}, {agreement.key for agreement in before}
    return tuple(
        snapshot(AskedAgreement, agreement, again=agreement.key in keys)
        for agreement in standing_agreements(session, evaluation.id)
        if agreement.id not in ids
    )


def _systems(session: Session, evaluation: Evaluation, team_ids: list[int]) -> dict[int, tuple[OwnSystem, ...]]:
    """The systems of each team that its members may submit runs of."""
    choice = evaluation.campaign.run_choice
    of_teams = Submission.evaluation_id == evaluation.id, Submission.team_id.in_(team_ids), ~Submission.late
    runs = chain.from_iterable(scored_runs(session, *of_teams).values()) if choice is RunChoice.PRIMARY else ()
    standing = {run.system_id: run for run in selected_runs(runs, choice, lambda _: None, "none")}
    systems: dict[int, tuple[OwnSystem, ...]] = {}
    for system in session.scalars(
        sa.select(System)
        .where(System.team_id.in_(team_ids), System.kind != SystemKind.BASELINE)
        .order_by(System.name, System.id)
    ):
        run = standing.get(system.id)
        name = _name_of_run(session, run.submission_id if run else None) if choice is RunChoice.PRIMARY else None
        own = OwnSystem(system.id, system.name, name, run is not None and run.is_primary)
        systems[system.team_id] = (*systems.get(system.team_id, ()), own)
    return systems


def _name_of_run(session: Session, submission_id: int | None) -> str:
    return session.get_one(Submission, submission_id).name if submission_id is not None else ""
