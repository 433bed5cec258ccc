"""Which runs stand for their systems, kept as rows: found again in the transaction that may have changed it.

Sessions note whose rows they flush; `settle_selection` runs in their commit, behind the lock that every writing
transaction takes last (`audit.writes`), so that of two at once the second sees what the first one did.

The rows of a set that boards have ceased to show, or that was set aside (`HAS_CEASED`), stay as they are: they say what
stood then, which an old board reads.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import db, metrics
from leaderboard.boards.models import Standing
from leaderboard.boards.rules import Rounding
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import ScoringSettings, Subset
from leaderboard.generations.writes import OF_BOARDS, raise_generations
from leaderboard.submissions import rules
from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.reads.selection import select_scored_runs
from leaderboard.teams.models import System
from leaderboard.worker.models import Score, Scoring, ScoringSet

NOTES = "what which run stands may depend on"
HAS_CEASED = sa.or_(ScoringSet.state == rules.SetState.SUPERSEDED, ScoringSet.shown_until.is_not(None))
# Columns that decide which run stands.
OF_RUN = (
    "system_id", "late", "received_at", "scored_at", "chosen_at", "withdrawn_at", "ruling", "holds_place",
)  # fmt: skip


class Stands(NamedTuple):
    """A row of Standing: by which way of choosing (`StoredChoice`) in which set, for which system, and whether its late
    run is meant; and the scoring that stands there, from how many."""

    scoring_set_id: int
    run_choice: rules.RunChoice
    subset: Subset
    rounded: bool
    system_id: int
    late: bool
    scoring_id: int
    chosen_of: int

    @property
    def way(self) -> rules.StoredChoice:
        return rules.StoredChoice(self.run_choice, self.subset, self.rounded)


COLUMNS = {name: getattr(Standing, name) for name in Stands._fields}


def note_selection(session: Session, row: db.Base) -> None:
    """Notes a row that was just flushed, where which run stands may depend on what changed."""
    notes: defaultdict[str, set[Any]] = session.info.setdefault(NOTES, defaultdict(set))
    state: sa.orm.InstanceState[db.Base] = sa.inspect(row)

    def of(name: str) -> set[Any]:
        """What the column held before and holds now, where it changed."""
        history = state.attrs[name].history
        return {*(history.added or ()), *(history.deleted or ())}

    if isinstance(row, Submission) and state.persistent:
        if any(map(of, OF_RUN)):
            notes["runs"].add(row.id)
        notes["moved"] |= {(row.evaluation_id, system) for system in of("system_id")}
    elif isinstance(row, Scoring) and rules.State.SCORED in of("state"):
        notes["runs"].add(row.submission_id)
        if row.of_the_past:
            notes["past"].add((row.scoring_set_id, row.submission_id))
    elif isinstance(row, Participation):
        notes["runs"] |= of("primary_submission_id") - {None}
    elif isinstance(row, ScoringSet) and state.persistent:
        came_back = any(state.attrs["shown_until"].history.deleted or ())
        was_set_aside = rules.SetState.SUPERSEDED in (state.attrs["state"].history.deleted or ())
        if came_back or was_set_aside or of("primary_measure"):
            notes["sets"].add(row.id)
            notes["ranked"].add(row.evaluation_id)
    elif isinstance(row, (Campaign, System)) and of("run_choice" if isinstance(row, Campaign) else "kind"):
        notes[row.__tablename__].add(row.id)


def settle_selection(session: Session) -> None:
    """Finds again what stands for the systems of the runs that were noted, and in sets noted as well; raises the
    numbers of boards over other runs, or over the same in other roles or by another measure."""
    notes: Mapping[str, set[Any]] = session.info.pop(NOTES, defaultdict(set))
    systems = set(notes["moved"])
    if notes["runs"]:
        runs = sa.select(Submission.evaluation_id, Submission.system_id).where(Submission.id.in_(notes["runs"]))
        systems.update((evaluation, system) for evaluation, system in session.execute(runs))
    of_boards = sa.select(Evaluation.id).where(Evaluation.campaign_id.in_(notes["campaign"]))
    of_kinds = sa.select(Submission.evaluation_id).where(Submission.system_id.in_(notes["system"])).distinct()
    others = set(session.scalars(of_boards.union(of_kinds))) if notes["campaign"] | notes["system"] else set()
    raise_generations(session, {evaluation for evaluation, _ in systems} | others | notes["ranked"], OF_BOARDS)
    for evaluation, own in _grouped(systems):  # in the sets whose boards go on
        _renew(session, sa.and_(ScoringSet.evaluation_id == evaluation, ~HAS_CEASED), own)
    for evaluation, own in _grouped(notes["moved"]):
        _unite(session, evaluation, own)
    if notes["sets"]:
        back = sa.and_(ScoringSet.id.in_(notes["sets"]), ~HAS_CEASED)
        _keep(session, stored_selection(session, _of_sets(back)), selection_by_rule(session, of_sets=back))
    for set_id, submissions in _grouped(notes["past"]):
        _settle_past(session, set_id, submissions)


def selection_by_rule(
    session: Session, *which: sa.ColumnElement[bool], of_sets: sa.ColumnElement[bool], at: datetime | None = None
) -> set[Stands]:
    """What stands, by the rule, of all runs that are scored.

    which    conditions on Submission or Scoring
    of_sets  a condition on ScoringSet: in which sets
    at       as runs were chosen, withdrawn and taken off the boards by then; as they are now when not given
    """
    selected: set[Stands] = set()
    for scoring_set in session.scalars(sa.select(ScoringSet).where(of_sets).order_by(ScoringSet.id)).all():
        runs, means = _runs_with_means(session, scoring_set, *which, at=at)
        counts = Counter((run.system_id, run.late) for run in runs)
        for way in rules.stored_choices(scoring_set.settings):
            by_mean = way.run_choice is rules.RunChoice.BEST
            for run in _chosen(scoring_set.settings, way, runs, means[way.subset]):
                place = run.system_id, run.late
                number = counts[place] if by_mean else 1
                selected.add(Stands(scoring_set.id, *way, *place, run.scoring_id, number))
    return selected


def _chosen(
    settings: ScoringSettings, way: rules.StoredChoice, runs: list[rules.ScoredRun], means: Mapping[int, float | None]
) -> list[rules.ScoredRun]:
    """Those of the runs that stand by this way of choosing. means: of each by the primary measure."""
    family, rounding = metrics.parse(settings.measures[0]).family, Rounding(settings.size(way.subset))

    def mean(run: rules.ScoredRun) -> float | None:
        if not way.rounded:
            return means[run.scoring_id]
        return None if family.of_judgments else rounding.mean(means[run.scoring_id], family.unit)

    return rules.selected_runs(runs, way.run_choice, mean, family.direction)


def stored_selection(session: Session, *which: sa.ColumnElement[bool]) -> set[Stands]:
    """The same as the rows say it. which: conditions on Standing."""
    return {Stands(*row) for row in session.execute(sa.select(*COLUMNS.values()).where(*which))}


def _of_sets(sets: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """Condition on Standing: of these sets."""
    return Standing.scoring_set_id.in_(sa.select(ScoringSet.id).where(sets))


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
    session: Session, scoring_set: ScoringSet, *which: sa.ColumnElement[bool], at: datetime | None
) -> tuple[list[rules.ScoredRun], dict[Subset, dict[int, float | None]]]:
    """The set's scored runs, and the mean of each under its primary measure by subset and scoring."""
    subsets = scoring_set.settings.subsets
    values = {"of_set": scoring_set.id, "by_measure": scoring_set.settings.measures[0]} | ({"at": at} if at else {})
    rows = session.execute(_select_runs_with_means(subsets, at is not None).where(*which), values).all()
    runs = [rules.ScoredRun(*row[: -len(subsets)]) for row in rows]
    of_each = {run.scoring_id: row[-len(subsets) :] for run, row in zip(runs, rows, strict=True)}
    return runs, {subset: {run: means[place] for run, means in of_each.items()} for place, subset in enumerate(subsets)}


def _grouped(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, set[int]]]:
    """By the first of each."""
    by_first = groupby(sorted(pairs), itemgetter(0))
    return [(first, {second for _, second in own}) for first, own in by_first]


def _settle_past(session: Session, set_id: int, submissions: Collection[int]) -> None:
    """On an old board that an import replayed, whose runs are scored afterwards: what stood when boards ceased to show
    it."""
    scoring_set = session.get_one(ScoringSet, set_id)
    following = sa.select(sa.func.min(ScoringSet.switched_at)).where(
        ScoringSet.evaluation_id == scoring_set.evaluation_id,
        ScoringSet.source == scoring_set.source,
        ScoringSet.switched_at > scoring_set.switched_at,
    )
    at = scoring_set.shown_until or session.scalar(following) or datetime.now(UTC)
    systems = set(session.scalars(sa.select(Submission.system_id).where(Submission.id.in_(submissions))))
    _renew(session, sa.and_(ScoringSet.id == set_id, HAS_CEASED), systems, at)


def _renew(session: Session, sets: sa.ColumnElement[bool], systems: Iterable[int], at: datetime | None = None) -> None:
    """What stands for these systems in these sets."""
    before = stored_selection(session, _of_sets(sets), Standing.system_id.in_(systems))
    _keep(session, before, selection_by_rule(session, Submission.system_id.in_(systems), of_sets=sets, at=at))


def _unite(session: Session, evaluation: int, systems: Iterable[int]) -> None:
    """On old boards, of systems whose runs changed hands: of the runs that stood for them then, the rule of today says
    which one stands for each. Which it would have been then nobody has chosen."""
    past = sa.and_(ScoringSet.evaluation_id == evaluation, HAS_CEASED)
    before = stored_selection(session, _of_sets(past), Standing.system_id.in_(systems))
    for way in {row.way for row in before}:
        own = {row for row in before if row.way == way}
        stands = selection_by_rule(session, Scoring.id.in_([row.scoring_id for row in own]), of_sets=past)
        _keep(session, own, {row for row in stands if row.way == way})


def _keep(session: Session, before: set[Stands], stands: set[Stands]) -> None:
    """Writes what is different."""
    if gone := sorted(before - stands):
        its_row = (column == sa.bindparam(f"its_{name}") for name, column in COLUMNS.items())
        rows = [{f"its_{name}": value for name, value in row._asdict().items()} for row in gone]
        session.connection().execute(sa.delete(Standing).where(*its_row), rows)
    if new := sorted(stands - before):
        session.execute(sa.insert(Standing), [row._asdict() for row in new])
