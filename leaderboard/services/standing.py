"""Which runs stand for their systems, kept as rows: found again in the transaction that may have changed it.

Sessions note whose rows they flush; `settle_standing` runs in their commit, behind the lock that every writing
transaction takes last (`services.events`), so that of two at once the second sees what the first one did.

The rows of a set that boards have ceased to show, or that was set aside (`HAS_CEASED`), stay as they are: they say what
stood then, which an old board reads.
"""

from collections.abc import Iterable, Mapping

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.db import Base
from leaderboard.lookup import scored_runs
from leaderboard.models import Participation, Scoring, ScoringSet, Standing, Submission
from leaderboard.rules.standings import RunChoice, standing_runs
from leaderboard.rules.states import SetState, State

__all__ = ["HAS_CEASED", "Place", "kept_standing", "note_standing", "settle_standing", "standing_by_rule"]

Place = tuple[int, int, bool]  # a scoring set, a system, and whether its late run is meant
RUNS, SYSTEMS = "runs whose system may stand otherwise", "systems that lost a run or gained one of another"
SETS = "sets that came back"
HAS_CEASED = sa.or_(ScoringSet.state == SetState.SUPERSEDED, ScoringSet.shown_until.is_not(None))
# Columns that decide which run stands.
OF_RUN = (
    "system_id", "late", "received_at", "scored_at", "chosen_at", "withdrawn_at", "ruling", "holds_place",
)  # fmt: skip


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
        if was_set_aside or any(state.attrs["shown_until"].history.deleted or ()):
            session.info.setdefault(SETS, set()).add(row.id)


def settle_standing(session: Session) -> None:
    """Finds again what stands for the systems of the runs that were noted, and in sets that came back."""
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
    """The scoring that stands at each place, by the rule, of all runs that are scored; see `lookup.scored_runs`."""
    return {
        (scoring_set, run.system_id, run.late): run.scoring_id
        for scoring_set, runs in scored_runs(session, *which, of_sets=of_sets).items()
        for run in standing_runs(runs, RunChoice.PRIMARY, lambda _: None, "none")
    }


def kept_standing(session: Session, *which: sa.ColumnElement[bool]) -> dict[Place, int]:
    """The same as the rows say it. which: conditions on Standing."""
    columns = Standing.scoring_set_id, Standing.system_id, Standing.late, Standing.scoring_id
    return {(row[0], row[1], row[2]): row[3] for row in session.execute(sa.select(*columns).where(*which))}


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
    if before:
        _keep(session, before, standing_by_rule(session, Scoring.id.in_(before.values()), of_sets=past))


def _keep(session: Session, before: Mapping[Place, int], stands: Mapping[Place, int]) -> None:
    """Writes what is different."""
    changed = {key for key in before.keys() | stands.keys() if before.get(key) != stands.get(key)}
    for scoring_set, system, late in sorted(changed & before.keys()):
        key = Standing.scoring_set_id == scoring_set, Standing.system_id == system, Standing.late.is_(late)
        session.execute(sa.delete(Standing).where(*key), execution_options={"synchronize_session": False})
    new = [
        {
            "scoring_set_id": scoring_set,
            "system_id": system,
            "late": late,
            "scoring_id": stands[scoring_set, system, late],
        }
        for scoring_set, system, late in sorted(changed & stands.keys())
    ]
    if new:
        session.execute(sa.insert(Standing), new)
