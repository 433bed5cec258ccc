"""Which runs stand for their systems, kept as rows: found again in the transaction that may have changed it.

Sessions note whose rows they flush; `settle_selection` runs in their commit, behind the lock that every writing
transaction takes last (`audit.writes`), so that of two at once the second sees what the first one did.

The rows of a set that boards have ceased to show, or that was set aside (`HAS_CEASED`), stay as they are: they say what
stood then, which an old board reads.
"""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.boards.models import Standing
from leaderboard.boards.rules import Rounding
from leaderboard.db import Base
from leaderboard.evaluations.rules import Subset
from leaderboard.metrics.measure import Family
from leaderboard.submissions import rules
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.selection import select_scored_runs
from leaderboard.worker.models import Score, Scoring, ScoringSet

RUNS, SYSTEMS = "runs whose system may stand otherwise", "systems that lost a run or gained one of another"
SETS, PAST = "sets that came back, or rank by another measure", "scorings that an import's old boards had"
HAS_CEASED = sa.or_(ScoringSet.state == rules.SetState.SUPERSEDED, ScoringSet.shown_until.is_not(None))
# Columns that decide which run stands.
OF_RUN = (
    "system_id", "late", "received_at", "scored_at", "chosen_at", "withdrawn_at", "ruling", "holds_place",
)  # fmt: skip


class BoardSlot(NamedTuple):
    """Where a run stands: by which way of choosing (`StoredChoice`) in which set, for which system, and
    whether its late run is meant."""

    scoring_set_id: int
    run_choice: rules.RunChoice
    subset: Subset
    rounded: bool
    system_id: int
    late: bool

    @property
    def kept(self) -> rules.StoredChoice:
        return rules.StoredChoice(self.run_choice, self.subset, self.rounded)


COLUMNS = tuple(getattr(Standing, name) for name in BoardSlot._fields)


def note_selection(session: Session, row: Base) -> None:
    """Notes a row that was just flushed, where which run stands may depend on what changed."""
    runs: set[int] = session.info.setdefault(RUNS, set())
    state: sa.orm.InstanceState[Base] = sa.inspect(row)
    if isinstance(row, Submission) and state.persistent:
        changed = [name for name in OF_RUN if state.attrs[name].history.has_changes()]
        if changed:
            runs.add(row.id)
        if "system_id" in changed:
            history = state.attrs["system_id"].history
            of_both = {(row.evaluation_id, system) for system in (*history.added, *(history.deleted or ()))}
            session.info.setdefault(SYSTEMS, set()).update(of_both)
    elif isinstance(row, Scoring):
        history = state.attrs["state"].history
        if rules.State.SCORED in (*(history.added or ()), *(history.deleted or ())):
            runs.add(row.submission_id)
            if row.of_the_past:
                session.info.setdefault(PAST, set()).add((row.scoring_set_id, row.submission_id))
    elif isinstance(row, Participation):
        history = state.attrs["primary_submission_id"].history
        runs.update(run for run in (*(history.added or ()), *(history.deleted or ())) if run is not None)
    elif isinstance(row, ScoringSet) and state.persistent:
        was_set_aside = rules.SetState.SUPERSEDED in (state.attrs["state"].history.deleted or ())
        ranks_otherwise = state.attrs["primary_measure"].history.has_changes()
        if was_set_aside or ranks_otherwise or any(state.attrs["shown_until"].history.deleted or ()):
            session.info.setdefault(SETS, set()).add(row.id)


def settle_selection(session: Session) -> None:
    """Finds again what stands for the systems of the runs that were noted, and in sets noted as well."""
    runs, moved, sets, past = (session.info.pop(noted, set()) for noted in (RUNS, SYSTEMS, SETS, PAST))
    systems = set(moved)
    if runs:
        of_runs = sa.select(Submission.evaluation_id, Submission.system_id).where(Submission.id.in_(runs))
        systems |= {(evaluation, system) for evaluation, system in session.execute(of_runs.distinct())}
    for evaluation, own in _grouped(systems):
        _settle(session, evaluation, own)
    for evaluation, own in _grouped(moved):
        _unite(session, evaluation, own)
    if sets:
        back = sa.and_(ScoringSet.id.in_(sets), ~HAS_CEASED)
        before = stored_selection(session, Standing.scoring_set_id.in_(sa.select(ScoringSet.id).where(back)))
        _keep(session, before, selection_by_rule(session, of_sets=back))
    for set_id, submissions in _grouped(past):
        _settle_past(session, set_id, submissions)


def selection_by_rule(
    session: Session,
    *which: sa.ColumnElement[bool],
    of_sets: sa.ColumnElement[bool],
    at: dt.datetime | None = None,
) -> dict[BoardSlot, int]:
    """The scoring that stands at each place, by the rule, of all runs that are scored.

    which    conditions on Submission or Scoring
    of_sets  a condition on ScoringSet: in which sets
    at       as runs were chosen, withdrawn and taken off the boards by then; as they are now when not given
    """
    selected: dict[BoardSlot, int] = {}
    for scoring_set in session.scalars(sa.select(ScoringSet).where(of_sets).order_by(ScoringSet.id)).all():
        measure = metrics.parse(scoring_set.settings.measures[0])
        runs, means = _runs_with_means(session, scoring_set, *which, at=at)
        for choice in rules.stored_choices(scoring_set.settings):
            own = means[choice.subset]
            if choice.rounded:
                own = _rounded(own, measure.family, Rounding(scoring_set.settings.size(choice.subset)))
            mean = partial(_mean_of, own)
            for run in rules.selected_runs(runs, choice.run_choice, mean, measure.direction):
                selected[BoardSlot(scoring_set.id, *choice, run.system_id, run.late)] = run.scoring_id
    return selected


def stored_selection(session: Session, *which: sa.ColumnElement[bool]) -> dict[BoardSlot, int]:
    """The same as the rows say it. which: conditions on Standing."""
    rows = session.execute(sa.select(*COLUMNS, Standing.scoring_id).where(*which))
    return {BoardSlot(*slot): scoring for *slot, scoring in rows}


@cache
def _select_runs_with_means(subsets: tuple[Subset, ...], of_past: bool) -> sa.Select[*tuple[Any, ...]]:
    """The statement on a set's scored runs, each with its means under a measure over these subsets. Made once, since
    putting it together takes longer than running it."""
    scores = {subset: sa.orm.aliased(Score) for subset in subsets}
    means = (score.mean for score in scores.values())
    at = sa.bindparam("at", type_=Submission.received_at.type) if of_past else None
    statement = select_scored_runs(*means, of_sets=ScoringSet.id == sa.bindparam("of_set"), at=at)
    for subset, score in scores.items():
        its_own = score.scoring_id == Scoring.id, score.measure == sa.bindparam("by_measure"), score.subset == subset
        statement = statement.outerjoin(score, sa.and_(*its_own))
    return statement.order_by(Scoring.id)


def _runs_with_means(
    session: Session, scoring_set: ScoringSet, *which: sa.ColumnElement[bool], at: dt.datetime | None
) -> tuple[list[rules.ScoredRun], dict[Subset, dict[int, float | None]]]:
    """The set's scored runs, and the mean of each under its primary measure by subset and scoring."""
    subsets = scoring_set.settings.subsets
    runs: list[rules.ScoredRun] = []
    means: dict[Subset, dict[int, float | None]] = {subset: {} for subset in subsets}
    values = {"of_set": scoring_set.id, "by_measure": scoring_set.settings.measures[0]} | ({"at": at} if at else {})
    for row in session.execute(_select_runs_with_means(subsets, at is not None).where(*which), values):
        runs.append(rules.ScoredRun(*row[: -len(subsets)]))
        for subset, mean in zip(subsets, row[-len(subsets) :], strict=True):
            means[subset][runs[-1].scoring_id] = mean
    return runs, means


def _mean_of(means: Mapping[int, float | None], run: rules.ScoredRun) -> float | None:
    return means[run.scoring_id]


def _rounded(means: Mapping[int, float | None], family: Family, rounding: Rounding) -> dict[int, float | None]:
    if family.of_judgments:
        return dict.fromkeys(means)
    return {scoring: rounding.mean(mean, family.unit) for scoring, mean in means.items()}


def _grouped(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, set[int]]]:
    """By the first of each."""
    groups: dict[int, set[int]] = {}
    for first, second in pairs:
        groups.setdefault(first, set()).add(second)
    return sorted(groups.items())


def _settle(session: Session, evaluation: int, systems: Iterable[int]) -> None:
    """In the sets whose boards go on."""
    live = sa.and_(ScoringSet.evaluation_id == evaluation, ~HAS_CEASED)
    entered = Submission.evaluation_id == evaluation, Submission.system_id.in_(systems)
    ids = session.scalars(sa.select(Submission.id).where(*entered)).all()
    stands = selection_by_rule(session, Submission.id.in_(ids), of_sets=live)
    of_sets = Standing.scoring_set_id.in_(sa.select(ScoringSet.id).where(live))
    _keep(session, stored_selection(session, of_sets, Standing.system_id.in_(systems)), stands)


def _settle_past(session: Session, set_id: int, submissions: Collection[int]) -> None:
    """On an old board that an import replayed, whose runs are scored afterwards: what stood when boards ceased to show
    it."""
    scoring_set = session.get_one(ScoringSet, set_id)
    following = sa.select(sa.func.min(ScoringSet.switched_at)).where(
        ScoringSet.evaluation_id == scoring_set.evaluation_id,
        ScoringSet.source == scoring_set.source,
        ScoringSet.switched_at > scoring_set.switched_at,
    )
    at = scoring_set.shown_until or session.scalar(following) or dt.datetime.now(dt.UTC)
    systems = set(session.scalars(sa.select(Submission.system_id).where(Submission.id.in_(submissions))))
    own = sa.and_(ScoringSet.id == set_id, HAS_CEASED)
    stands = selection_by_rule(session, Submission.system_id.in_(systems), of_sets=own, at=at)
    if scoring_set.state is rules.SetState.SUPERSEDED or scoring_set.shown_until is not None:
        before = stored_selection(session, Standing.scoring_set_id == set_id, Standing.system_id.in_(systems))
        _keep(session, before, stands)


def _unite(session: Session, evaluation: int, systems: Iterable[int]) -> None:
    """On old boards, of systems whose runs changed hands: of the runs that stood for them then, the rule of today says
    which one stands for each. Which it would have been then nobody has chosen."""
    past = sa.and_(ScoringSet.evaluation_id == evaluation, HAS_CEASED)
    of_sets = Standing.scoring_set_id.in_(sa.select(ScoringSet.id).where(past))
    before = stored_selection(session, of_sets, Standing.system_id.in_(systems))
    for choice in {slot.kept for slot in before}:
        own = {slot: scoring for slot, scoring in before.items() if slot.kept == choice}
        stands = selection_by_rule(session, Scoring.id.in_(own.values()), of_sets=past)
        _keep(session, own, {slot: scoring for slot, scoring in stands.items() if slot.kept == choice})


def _keep(session: Session, before: Mapping[BoardSlot, int], stands: Mapping[BoardSlot, int]) -> None:
    """Writes what is different."""
    changed = {slot for slot in before.keys() | stands.keys() if before.get(slot) != stands.get(slot)}
    gone, new = sorted(changed & before.keys()), sorted(changed & stands.keys())
    if gone:
        its_key = (
            column == sa.bindparam(f"its_{name}") for name, column in zip(BoardSlot._fields, COLUMNS, strict=True)
        )
        keys = [{f"its_{name}": value for name, value in slot._asdict().items()} for slot in gone]
        session.connection().execute(sa.delete(Standing).where(*its_key), keys)
    if new:
        session.execute(sa.insert(Standing), [{**slot._asdict(), "scoring_id": stands[slot]} for slot in new])
