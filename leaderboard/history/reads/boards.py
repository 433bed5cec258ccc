"""The scoring sets that an evaluation's boards have gone by, and what was different from one to the next."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor, as_of, subset_seen
from leaderboard.errors import NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.find import find_evaluation
from leaderboard.evaluations.reads.headings import EvaluationHeading, evaluation_heading
from leaderboard.evaluations.rules import OF_CAMPAIGN, OF_EVALUATION, ScoringSettings, Subset
from leaderboard.numbers import counted, first_of
from leaderboard.submissions.rules import STANDING, SetState, State
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import find_sets

NAMED = 10  # queries that a sentence names


@dataclass(frozen=True, slots=True)
class Shown:
    """From when to when boards went by a set; until: None where they do."""

    since: dt.datetime
    until: dt.datetime | None


@dataclass(frozen=True, slots=True)
class StoodSet:
    """A scoring set whose board can be read. In a list of boards as they stood, one time that boards went by it.

    current   whether the evaluation's board goes by it now
    beside    whether it stands beside that, by another source of judgments
    since     when it last began to stand, or that time
    until     when boards ceased to show it; None while it stands, and where they never did
    replaced  of one that only stood beside them: when the next one of its source took its place
    shown     every time that boards went by it
    goes_on   of such a time that is over: whether its set stands today, so that its board shows the runs of today
    changes   what is different from what boards went by before, or from the set of its source, in words; empty for
              the first
    before    the id of that one
    """

    id: int
    source: str
    official: bool
    revision: int
    metric_version: str
    current: bool
    beside: bool
    since: dt.datetime | None
    until: dt.datetime | None
    replaced: dt.datetime | None = None
    shown: tuple[Shown, ...] = ()
    goes_on: bool = False
    changes: tuple[str, ...] = ()
    before: int | None = None

    @property
    def words(self) -> str:
        """`revision 2 by llm`: the source where it is not the official one."""
        return f"revision {self.revision}" if self.official else f"revision {self.revision} by {self.source}"


@dataclass(frozen=True, slots=True)
class StoodPage:
    """sets: those that this reader may see, the newest first."""

    evaluation: EvaluationHeading
    sets: tuple[StoodSet, ...]
    several_sources: bool


def seen_set(
    session: Session, actor: Actor, evaluation: Evaluation, set_id: int, now: dt.datetime
) -> tuple[ScoringSet, dt.datetime]:
    """The set and the moment by whose rules its figures are seen. Raises NotFound where they are not seen at all."""
    return seen_sets(session, actor, evaluation, [set_id], now)[0]


def seen_sets(
    session: Session, actor: Actor, evaluation: Evaluation, ids: Sequence[int], now: dt.datetime
) -> list[tuple[ScoringSet, dt.datetime]]:
    """The same of several sets, in one statement."""
    sets = []
    for scoring_set in find_sets(session, evaluation, ids):
        moment = as_of(actor, evaluation, scoring_set, now)
        if moment is None:
            raise NotFound
        sets.append((scoring_set, moment))
    return sets


def replaced_beside(session: Session, evaluation: Evaluation) -> dict[int, dt.datetime]:
    """Set -> when the next one of its source began to stand, of those that stood beside the official source only."""
    own = ScoringSet.evaluation_id == evaluation.id, ScoringSet.switched_at.is_not(None)
    rows = session.scalars(sa.select(ScoringSet).where(*own).order_by(ScoringSet.switched_at, ScoringSet.id)).all()
    ends, following = dict[int, dt.datetime](), dict[str, dt.datetime]()
    for row in reversed(rows):
        if row.state is SetState.SUPERSEDED and not row.shown and row.source in following:
            ends[row.id] = following[row.source]
        if row.switched_at is not None:
            following[row.source] = row.switched_at
    return ends


def stood_set(evaluation: Evaluation, scoring_set: ScoringSet, replaced: dt.datetime | None = None) -> StoodSet:
    """A set as pages name it. replaced: as of `replaced_beside`, where that is told."""
    return StoodSet(
        id=scoring_set.id,
        source=scoring_set.source,
        official=scoring_set.source == evaluation.official_source,
        revision=scoring_set.revision.number,
        metric_version=scoring_set.metric_version,
        current=scoring_set.state is SetState.CURRENT,
        beside=scoring_set.state is SetState.BESIDE,
        since=scoring_set.switched_at,
        until=scoring_set.shown_until,
        replaced=replaced,
        shown=tuple(Shown(since, until) for since, until in scoring_set.shown),
    )


def stood_sets(session: Session, actor: Actor, campaign_slug: str, slug: str, now: dt.datetime) -> StoodPage:
    """The times that boards went by a set, and the sets that stood beside, of those that `actor` may see the board of:
    a change of the official source begins a new time. Raises NotFound for no such evaluation.

    An old one by which no run was ever scored had no board.
    """
    evaluation = find_evaluation(session, actor, campaign_slug, slug)
    scored = sa.exists().where(Scoring.scoring_set_id == ScoringSet.id, Scoring.state == State.SCORED)
    rows = session.scalars(
        sa.select(ScoringSet)
        .join(ScoringSet.revision)
        .options(sa.orm.contains_eager(ScoringSet.revision))
        .where(
            ScoringSet.evaluation_id == evaluation.id,
            ScoringSet.switched_at.is_not(None),
            sa.or_(ScoringSet.state.in_(STANDING), scored),
        )
        .order_by(ScoringSet.switched_at, ScoringSet.id)
    )
    moments = {row: as_of(actor, evaluation, row, now) for row in rows}
    seen = {one: moment for one, moment in moments.items() if moment is not None}
    ends = replaced_beside(session, evaluation)
    times = [
        time
        for scoring_set, moment in seen.items()
        for time in _times(
            stood_set(evaluation, scoring_set, ends.get(scoring_set.id)), scoring_set, goes_on=moment == now
        )
    ]
    by_id, times_shown = {scoring_set.id: scoring_set for scoring_set in seen}, list[StoodSet]()
    official, last = None, dict[str, ScoringSet]()
    for time in sorted(times, key=lambda time: (time.since, not time.beside, time.id)):
        one, is_official = by_id[time.id], time.current or time.until is not None
        before = official if is_official else last.get(one.source)
        if before is None or before is one:
            times_shown.append(time)
        else:
            changes = differences(actor, evaluation, before, one, now)
            times_shown.append(replace(time, changes=changes, before=before.id))
        last[one.source] = one
        official = one if is_official else official
    return StoodPage(
        evaluation=evaluation_heading(evaluation, now),
        sets=tuple(reversed(times_shown)),
        several_sources=len({time.source for time in times_shown if time.current or time.beside}) > 1,
    )


def _times(known: StoodSet, scoring_set: ScoringSet, *, goes_on: bool) -> Iterator[StoodSet]:
    """Every time that boards went by a set; and of one that stands beside, or only did so, since when.

    known    the set as pages name it
    goes_on  whether the reader sees it as it stands today, where it does
    """
    stands = goes_on and scoring_set.state in STANDING
    for time in known.shown:
        over = time.until is not None
        yield replace(
            known, current=not over, beside=False, since=time.since, until=time.until, goes_on=over and stands
        )
    if (known.beside and goes_on) or not known.shown:
        yield replace(known, since=scoring_set.shown_until or scoring_set.switched_at, until=None)


def differences(
    actor: Actor, evaluation: Evaluation, before: ScoringSet, after: ScoringSet, now: dt.datetime
) -> tuple[str, ...]:
    """What is different from one set to another, in words, as far as `actor` may know of it.

    Only settings: what is different in the judgments themselves is told to whoever may see single queries.
    """
    told = []
    if before.source != after.source:
        told.append(f"judgments by {after.source} instead of {before.source}")
    elif before.revision_id != after.revision_id:
        told.append(f"judgments of revision {after.revision.number} instead of {before.revision.number}")
    if before.metric_version != after.metric_version:
        told.append(f"version {after.metric_version} of the measures instead of {before.metric_version}")
    for name, words in (OF_CAMPAIGN | OF_EVALUATION).items():
        was, changed = getattr(before.settings, name), getattr(after.settings, name)
        if was != changed:
            told.append(f"{words}: {_shown(changed)} instead of {_shown(was)}")
    told += _of_queries(before.settings, after.settings, subset_seen(actor, evaluation, now))
    shown = same_measures(before.settings, after.settings)
    for word, measures, both in (
        ("with", after.settings.measures, shown.keys()),
        ("without", before.settings.measures, shown.values()),
    ):
        if others := [name for name in measures if name not in both]:
            told.append(f"{word} {', '.join(others)}")
    return tuple(told)


def same_measures(before: ScoringSettings, after: ScoringSettings) -> dict[str, str]:
    """Measures of a set -> what each is called in the set before it, for those that both have.

    Names hold the evaluation's relevance level: what is AP at level 1 is AP(rel=2) at level 2.
    """
    names = {name: _at_level(name, after.relevance_level, before.relevance_level) for name in after.measures}
    named = {name: name if name in before.measures else was for name, was in names.items()}
    return {name: was for name, was in named.items() if was in before.measures}


def _at_level(name: str, level: int, other: int) -> str:
    """The measure at another level; itself where it is not at this level."""
    measure = metrics.parse(name)
    if measure.arguments.get("rel") != level:
        return name
    return str(measure.family(cutoff=measure.cutoff, **{**dict(measure.given), "rel": other}))


def _of_queries(before: ScoringSettings, after: ScoringSettings, subset: Subset) -> list[str]:
    """Which queries count no more, count again, or are new; of hidden ones nothing to whoever may not know of them."""
    hidden = {*before.hidden, *after.hidden} if subset is Subset.SHOWN else set()
    excluded = sorted({*after.excluded} - {*before.excluded} - hidden)
    included = sorted({*before.excluded} - {*after.excluded} - hidden)
    told = [f"without {_queries(excluded)}"] if excluded else []
    if included:
        told.append(f"with {_queries(included)} again")
    added = after.size(subset) - before.size(subset) + len(excluded) - len(included)
    if added > 0:
        told.append(counted(added, "more query", "more queries"))
    if subset is Subset.ALL and before.hidden != after.hidden:
        told.append("other hidden queries")
    return told


def _shown(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _queries(ids: list[str]) -> str:
    return f"{'query' if len(ids) == 1 else 'queries'} {first_of(ids, NAMED)}"
