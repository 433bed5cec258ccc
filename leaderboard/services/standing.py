"""Which runs stand for their systems, kept as rows: found again in the transaction that may have changed it.

Sessions note whose rows they flush; `settle_standing` runs in their commit, behind the lock that every writing
transaction takes last (`services.events`), so that of two at once the second sees what the first one did.

The rows of a set that boards have ceased to show, or that was set aside (`HAS_CEASED`), stay as they are: they say what
stood then, which an old board reads.
"""

from collections.abc import Iterable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.db import Base
from leaderboard.lookup import select_scored_runs
from leaderboard.metrics.measure import Family
from leaderboard.models import Participation, Score, Scoring, ScoringSet, Standing, Submission
from leaderboard.rules.disclosure import Rounding, is_told_rounded
from leaderboard.rules.settings import Subset
from leaderboard.rules.standings import KeptChoice, RunChoice, ScoredRun, kept_choices, standing_runs
from leaderboard.rules.states import UNFINISHED, SetState, State
from leaderboard.services.locking import insert_unless_there

__all__ = [
    "HAS_CEASED",
    "Place",
    "keep_as_it_stood",
    "kept_standing",
    "note_standing",
    "settle_standing",
    "standing_by_rule",
]

RUNS, SYSTEMS = "runs whose system may stand otherwise", "systems that lost a run or gained one of another"
SETS = "sets that came back, or rank by another measure"
HAS_CEASED = sa.or_(ScoringSet.state == SetState.SUPERSEDED, ScoringSet.shown_until.is_not(None))
# Columns that decide which run stands.
OF_RUN = (
    "system_id", "late", "received_at", "scored_at", "chosen_at", "withdrawn_at", "ruling", "holds_place",
)  # fmt: skip


class Place(NamedTuple):
    """Where a run stands: by which way of choosing (`rules.standings.KeptChoice`) in which set, for which system, and
    whether its late run is meant."""

    scoring_set_id: int
    run_choice: RunChoice
    subset: Subset
    rounded: bool
    system_id: int
    late: bool

    @property
    def kept(self) -> KeptChoice:
        return KeptChoice(self.run_choice, self.subset, self.rounded)


COLUMNS = tuple(getattr(Standing, name) for name in Place._fields)


def note_standing(session: Session, row: Base) -> None:
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
        if State.SCORED in (*(history.added or ()), *(history.deleted or ())):
            runs.add(row.submission_id)
    elif isinstance(row, Participation):
        history = state.attrs["primary_submission_id"].history
        runs.update(run for run in (*(history.added or ()), *(history.deleted or ())) if run is not None)
    elif isinstance(row, ScoringSet) and state.persistent:
        was_set_aside = SetState.SUPERSEDED in (state.attrs["state"].history.deleted or ())
        ranks_otherwise = state.attrs["primary_measure"].history.has_changes()
        if was_set_aside or ranks_otherwise or any(state.attrs["shown_until"].history.deleted or ()):
            session.info.setdefault(SETS, set()).add(row.id)


def keep_as_it_stood(
    session: Session, scoring: Scoring, submission: Submission, scoring_set: ScoringSet, ways: Iterable[KeptChoice]
) -> None:
    """Keeps by which ways of choosing a run stood for its system on an old board, which an import says of a scoring.

    Of two runs whose systems are one here the first stays. Nothing is kept in a set whose boards go on again.
    """
    if scoring_set.state is not SetState.SUPERSEDED and scoring_set.shown_until is None:
        return
    session.flush()
    for kept in ways:
        place = Place(scoring_set.id, *kept, submission.system_id, submission.late)
        insert_unless_there(session, Standing, **place._asdict(), scoring_id=scoring.id)


def settle_standing(session: Session) -> None:
    """Finds again what stands for the systems of the runs that were noted, and in sets noted as well."""
    runs, moved, sets = (session.info.pop(noted, set()) for noted in (RUNS, SYSTEMS, SETS))
    systems = set(moved)
    if runs:
        of_runs = sa.select(Submission.evaluation_id, Submission.system_id).where(Submission.id.in_(runs))
        systems |= {(evaluation, system) for evaluation, system in session.execute(of_runs.distinct())}
    for evaluation, own in _by_evaluation(systems):
        _settle(session, evaluation, own)
    for evaluation, own in _by_evaluation(moved):
        _unite(session, evaluation, own)
    if sets:
        back = sa.and_(ScoringSet.id.in_(sets), ~HAS_CEASED)
        before = kept_standing(session, Standing.scoring_set_id.in_(sa.select(ScoringSet.id).where(back)))
        _keep(session, before, standing_by_rule(session, of_sets=back))


def standing_by_rule(
    session: Session, *which: sa.ColumnElement[bool], of_sets: sa.ColumnElement[bool]
) -> dict[Place, int]:
    """The scoring that stands at each place, by the rule, of all runs that are scored.

    which    conditions on Submission or Scoring
    of_sets  a condition on ScoringSet: in which sets
    """
    found: dict[Place, int] = {}
    for scoring_set in session.scalars(sa.select(ScoringSet).where(of_sets).order_by(ScoringSet.id)).all():
        measure = metrics.parse(scoring_set.settings.measures[0])
        runs, means = _runs_with_means(session, scoring_set, *which)
        for kept in kept_choices(scoring_set.settings):
            own = means[kept.subset]
            if kept.rounded:
                own = _rounded(own, measure.family, Rounding(scoring_set.settings.size(kept.subset)))
            mean = partial(_mean_of, own)
            for run in standing_runs(runs, kept.run_choice, mean, measure.direction):
                found[Place(scoring_set.id, *kept, run.system_id, run.late)] = run.scoring_id
    return found


def kept_standing(session: Session, *which: sa.ColumnElement[bool]) -> dict[Place, int]:
    """The same as the rows say it. which: conditions on Standing."""
    rows = session.execute(sa.select(*COLUMNS, Standing.scoring_id).where(*which))
    return {Place(*place): scoring for *place, scoring in rows}


@cache
def _select_runs_with_means(subsets: tuple[Subset, ...]) -> sa.Select[*tuple[Any, ...]]:
    """The statement on a set's scored runs, each with its means under a measure over these subsets. Made once, since
    putting it together takes longer than running it."""
    scores = {subset: sa.orm.aliased(Score) for subset in subsets}
    means = (score.mean for score in scores.values())
    statement = select_scored_runs(*means, of_sets=ScoringSet.id == sa.bindparam("of_set"))
    for subset, score in scores.items():
        its_own = score.scoring_id == Scoring.id, score.measure == sa.bindparam("by_measure"), score.subset == subset
        statement = statement.outerjoin(score, sa.and_(*its_own))
    return statement.order_by(Scoring.id)


def _runs_with_means(
    session: Session, scoring_set: ScoringSet, *which: sa.ColumnElement[bool]
) -> tuple[list[ScoredRun], dict[Subset, dict[int, float | None]]]:
    """The set's scored runs, and the mean of each under its primary measure by subset and scoring."""
    subsets = scoring_set.settings.subsets
    runs: list[ScoredRun] = []
    found: dict[Subset, dict[int, float | None]] = {subset: {} for subset in subsets}
    values = {"of_set": scoring_set.id, "by_measure": scoring_set.settings.measures[0]}
    for row in session.execute(_select_runs_with_means(subsets).where(*which), values):
        runs.append(ScoredRun(*row[: -len(subsets)]))
        for subset, mean in zip(subsets, row[-len(subsets) :], strict=True):
            found[subset][runs[-1].scoring_id] = mean
    return runs, found


def _mean_of(means: Mapping[int, float | None], run: ScoredRun) -> float | None:
    return means[run.scoring_id]


def _rounded(means: Mapping[int, float | None], family: Family, rounding: Rounding) -> dict[int, float | None]:
    told = is_told_rounded(family)
    return {scoring: rounding.mean(mean, family.unit) if told else None for scoring, mean in means.items()}


def _by_evaluation(systems: Iterable[tuple[int, int]]) -> list[tuple[int, set[int]]]:
    found: dict[int, set[int]] = {}
    for evaluation, system in systems:
        found.setdefault(evaluation, set()).add(system)
    return sorted(found.items())


def _settle(session: Session, evaluation: int, systems: Iterable[int]) -> None:
    """In the sets whose boards go on."""
    live = sa.and_(ScoringSet.evaluation_id == evaluation, ~HAS_CEASED)
    entered = Submission.evaluation_id == evaluation, Submission.system_id.in_(systems)
    ids = session.scalars(sa.select(Submission.id).where(*entered)).all()
    stands = standing_by_rule(session, Submission.id.in_(ids), of_sets=live)
    of_sets = Standing.scoring_set_id.in_(sa.select(ScoringSet.id).where(live))
    _keep(session, kept_standing(session, of_sets, Standing.system_id.in_(systems)), stands)


def _unite(session: Session, evaluation: int, systems: Iterable[int]) -> None:
    """On old boards, of systems whose runs changed hands: of the runs that stood for them then, the rule of today says
    which one stands for each. Which it would have been then nobody has chosen."""
    past = sa.and_(ScoringSet.evaluation_id == evaluation, HAS_CEASED)
    of_sets = Standing.scoring_set_id.in_(sa.select(ScoringSet.id).where(past))
    before = kept_standing(session, of_sets, Standing.system_id.in_(systems))
    unfinished = Scoring.id.in_(before.values()), Scoring.state.in_(UNFINISHED)  # as an import says that they stood
    waiting = dict(
        session.execute(sa.select(Scoring.id, Submission.system_id).join(Submission).where(*unfinished)).all()
    )
    for kept in {place.kept for place in before}:
        own = {place: scoring for place, scoring in before.items() if place.kept == kept}
        stands = standing_by_rule(session, Scoring.id.in_(own.values()), of_sets=past)
        kept_on = {place: scoring for place, scoring in stands.items() if place.kept == kept}
        for place, scoring in own.items():
            if scoring in waiting:
                kept_on.setdefault(place._replace(system_id=waiting[scoring]), scoring)
        _keep(session, own, kept_on)


def _keep(session: Session, before: Mapping[Place, int], stands: Mapping[Place, int]) -> None:
    """Writes what is different."""
    changed = {place for place in before.keys() | stands.keys() if before.get(place) != stands.get(place)}
    gone, new = sorted(changed & before.keys()), sorted(changed & stands.keys())
    if gone:
        its_key = (column == sa.bindparam(f"its_{name}") for name, column in zip(Place._fields, COLUMNS, strict=True))
        keys = [{f"its_{name}": value for name, value in place._asdict().items()} for place in gone]
        session.connection().execute(sa.delete(Standing).where(*its_key), keys)
    if new:
        session.execute(sa.insert(Standing), [{**place._asdict(), "scoring_id": stands[place]} for place in new])
