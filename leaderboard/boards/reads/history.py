"""The scoring sets that an evaluation's boards have gone by, what was different from one to the next, and what moved
between two boards of one evaluation: by two revisions, two settings, or two sources of judgments.

Everything here is worked out from the figures and ranks of the two boards as their reader sees them, rounded where
these are: so it tells nothing that the two boards don't.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import errors, metrics, numbers
from leaderboard.access import Actor, Content, effective_time, may_see, subset_seen
from leaderboard.boards.reads import entries as table
from leaderboard.boards.reads.ranking import ComparedBoard, Orders, Shared, load_boards, orders, shared
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.evaluations.rules import OF_CAMPAIGN, OF_EVALUATION, ScoringSettings, Subset
from leaderboard.frozen import frozen
from leaderboard.judgments.models import Judgment, Query
from leaderboard.submissions.rules import STANDING, SetState, State
from leaderboard.worker.models import Scoring, ScoringSet
from leaderboard.worker.reads import find_sets, sets_of

NAMED = 10  # queries and measures that a sentence names


@frozen
class Shown:
    """From when to when boards went by a set; until: None where they do."""

    since: datetime
    until: datetime | None


@frozen
class BoardVersion:
    """A scoring set whose board can be read.

    current   whether the evaluation's board goes by it now
    beside    whether it stands beside that, by another source of judgments
    since     when it last began to stand
    until     when boards last ceased to show it; None while they do, and where they never did
    shown     every time that boards went by it
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
    since: datetime | None
    until: datetime | None
    shown: tuple[Shown, ...] = ()
    changes: tuple[str, ...] = ()
    before: int | None = None

    @property
    def words(self) -> str:
        """`revision 2 by llm`: the source where it is not the official one."""
        return f"revision {self.revision}" if self.official else f"revision {self.revision} by {self.source}"


@frozen
class BoardVersionsPage:
    """sets: those that this reader may see, the newest first."""

    evaluation: reads.EvaluationHeading
    sets: tuple[BoardVersion, ...]
    several_sources: bool


def visible_sets(
    session: Session, actor: Actor, evaluation: Evaluation, ids: Sequence[int], now: datetime
) -> list[tuple[ScoringSet, datetime]]:
    """Each set and the moment by whose rules its figures are seen. Raises NotFound where one's are not seen at all."""
    visible = []
    for each in find_sets(session, evaluation, ids):
        moment = effective_time(actor, evaluation, each, now)
        if moment is None:
            raise errors.NotFound
        visible.append((each, moment))
    return visible


def board_version(evaluation: Evaluation, scoring_set: ScoringSet) -> BoardVersion:
    """A set as pages name it."""
    return BoardVersion(
        id=scoring_set.id,
        source=scoring_set.source,
        official=scoring_set.source == evaluation.official_source,
        revision=scoring_set.revision.number,
        metric_version=scoring_set.metric_version,
        current=scoring_set.state is SetState.CURRENT,
        beside=scoring_set.state is SetState.BESIDE,
        since=scoring_set.switched_at,
        until=scoring_set.shown_until,
        shown=tuple(Shown(since, until) for since, until in scoring_set.shown),
    )


def stood_from(evaluation: reads.EvaluationHeading, version: BoardVersion, now: datetime) -> datetime | None:
    """The date that a citation of the board has: since when its ranks have stood; None while runs are taken."""
    if not (version.current or version.beside):
        return version.since
    closed = evaluation.closed_from
    return None if closed is None or closed > now else max(closed, version.since or closed)


SCORED = sa.exists().where(Scoring.scoring_set_id == ScoringSet.id, Scoring.state == State.SCORED)
HAS_STOOD = ScoringSet.switched_at.is_not(None) & (ScoringSet.state.in_(STANDING) | SCORED)


def board_versions(session: Session, actor: Actor, campaign_slug: str, slug: str, now: datetime) -> BoardVersionsPage:
    """The sets that boards went by, and those that stood beside, of which `actor` may see the board, the one that last
    began to stand first. Raises NotFound for no such evaluation.

    An old one by which no run was ever scored had no board.
    """
    evaluation = reads.find_evaluation(session, actor, campaign_slug, slug)
    versions = versions_of(actor, evaluation, sets_of(session, evaluation, HAS_STOOD), now)
    return BoardVersionsPage(
        evaluation=reads.evaluation_heading(evaluation, now),
        sets=tuple(reversed(versions)),
        several_sources=len({each.source for each in versions if each.current or each.beside}) > 1,
    )


def versions_of(actor: Actor, evaluation: Evaluation, stood: Sequence[ScoringSet], now: datetime) -> list[BoardVersion]:
    """Those of the evaluation's sets that have stood of which `actor` may see the board, the earliest first."""
    sets = [(row, moment) for row in stood if (moment := effective_time(actor, evaluation, row, now)) is not None]
    versions, last = list[BoardVersion](), dict[str, ScoringSet]()
    for row, moment in sorted(sets, key=lambda each: (each[0].switched_at, each[0].id)):
        version = board_version(evaluation, row)
        version = replace(version, beside=version.beside and moment == now)  # else it is told as it was
        lines = ("", row.source) if row.shown else (row.source,)  # "": what boards went by
        if before := last.get(lines[0]):
            version = replace(version, changes=differences(actor, evaluation, before, row, now), before=before.id)
        versions.append(version)
        last |= dict.fromkeys(lines, row)
    return versions


def differences(
    actor: Actor, evaluation: Evaluation, before: ScoringSet, after: ScoringSet, now: datetime
) -> tuple[str, ...]:
    """What is different from one set to another, in words, as far as `actor` may know of it.

    Only settings: what is different in the judgments themselves is told to whoever may see single queries.
    """
    sets, settings = (before, after), (before.settings, after.settings)
    by_source = before.source != after.source
    subset = subset_seen(actor, evaluation, now)
    # Of hidden queries nothing is told to whoever may not know of them.
    hidden = {query for each in settings for query in each.hidden} if subset is Subset.SHOWN else set[str]()

    def alone(name: str) -> list[object]:
        """What stands in this setting of the one set and not of the other."""
        was, now_is = ({*getattr(each, name)} - hidden for each in settings)
        return [numbers.first_of(sorted(own), NAMED) or None for own in (was - now_is, now_is - was)]

    values: dict[str, list[object]] = {
        "judgments by": [each.source for each in sets],
        "judgments of revision": [by_source or each.revision.number for each in sets],
        "the version of the measures:": [each.metric_version for each in sets],
        **{
            f"{setting}:": [getattr(each, name) for each in settings]
            for name, setting in (OF_CAMPAIGN | OF_EVALUATION).items()
        },
        "queries that count:": [each.size(subset) for each in settings],
        "excluded queries:": alone("excluded"),
        "hidden queries:": alone("hidden"),
        "measures:": alone("measures"),
    }
    return tuple(f"{what} {_shown(new)} instead of {_shown(old)}" for what, (old, new) in values.items() if old != new)


def same_measures(before: ScoringSettings, after: ScoringSettings) -> dict[str, str]:
    """Measures of a set -> what each is called in the set before it, for those that both have.

    Names hold the evaluation's relevance level: what is AP at level 1 is AP(rel=2) at level 2.
    """
    names = {_without_level(name, before.relevance_level): name for name in before.measures}
    return {name: was for name in after.measures if (was := names.get(_without_level(name, after.relevance_level)))}


def _without_level(name: str, level: int) -> metrics.Measure:
    measure = metrics.parse(name)
    given = {key: value for key, value in measure.given if (key, value) != ("rel", level)}
    return measure.family(cutoff=measure.cutoff, **given)


def _shown(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


SYSTEMS_NAMED = 5  # systems that a sentence names


@frozen
class SystemDifference:
    """A system on two boards; None and NO_FIGURE where it is on one of them only, or has no rank there.

    places   how many it went up among the systems that are compared (`Orders`), below 0 down; None for others
    submission_id  the run that stands for it on the later board, else on the earlier one
    another_run    whether another one stood for it on the earlier board
    """

    system: table.SystemLabel
    submission_id: int
    another_run: bool
    rank_before: int | None
    rank: int | None
    places: int | None
    before: table.Figure
    after: table.Figure

    @property
    def difference(self) -> float | None:
        """Of the means as they are shown."""
        if self.before.mean is None or self.after.mean is None:
            return None
        return float(self.after.mean) - float(self.before.mean)


@frozen
class Rejudged:
    """Judgments of the queries that a reader may know of: new ones, those that are there no longer, those with another
    grade, and those that stayed the same."""

    added: int
    removed: int
    regraded: int
    same: int


@frozen
class BoardDifference:
    """rows: the order after, systems without a rank last. rounded: whether means of one of the boards are.

    judgments  how many are different; None where the two are of one revision, and for whom single queries are closed
    apart  what else than judgments and settings is different, in sentences: systems that are not compared
    column_before  what the measure of the table was called before: names hold the lowest relevant grade
    """

    evaluation: reads.EvaluationHeading
    before: BoardVersion
    after: BoardVersion
    changes: tuple[str, ...]
    apart: tuple[str, ...]
    judgments: Rejudged | None
    results_open: bool
    columns: tuple[table.Column, ...]
    column: table.Column
    column_before: table.Column
    rows: tuple[SystemDifference, ...]
    orders: tuple[Orders, ...]
    rounded: bool

    @property
    def order(self) -> Orders:
        """By the measure of the table."""
        return next(order for order in self.orders if order.column == self.column)


def board_difference(
    session: Session,
    actor: Actor,
    campaign_slug: str,
    slug: str,
    before: int,
    after: int,
    now: datetime,
    *,
    measure: str | None = None,
) -> BoardDifference:
    """From the board by one set to that by another. Raises NotFound where one of them is not to be seen."""
    evaluation = reads.find_evaluation(session, actor, campaign_slug, slug)
    sets = visible_sets(session, actor, evaluation, (before, after), now)
    earlier, later = (scoring_set for scoring_set, _ in sets)
    called = same_measures(earlier.settings, later.settings) or {name: name for name in later.settings.measures}
    columns, columns_before = ([table.column(name) for name in names] for names in (called, called.values()))
    by = table.pick(columns, measure)
    by_before = table.column(called[by.name])
    shown = (table.Disclosure(actor, evaluation, scoring_set, moment) for scoring_set, moment in sets)
    asked = zip(shown, (by_before, by), (columns_before, columns), strict=True)
    former, board = boards = load_boards(session, asked)
    compared = shared(former, by_before, board, by)
    labels = labels_on(session, boards)
    names = names_of(labels)
    return BoardDifference(
        evaluation=reads.evaluation_heading(evaluation, now),
        before=board_version(evaluation, earlier),
        after=board_version(evaluation, later),
        changes=differences(actor, evaluation, earlier, later, now),
        apart=_apart(former, board, compared, names),
        judgments=_rejudged(session, actor, evaluation, earlier, later, now),
        results_open=former.results_open and board.results_open,
        columns=tuple(columns),
        column=by,
        column_before=by_before,
        rows=_rows(former, board, compared, labels),
        orders=tuple(
            orders(each, shared(former, was, board, each), names)
            for each, was in zip(columns, columns_before, strict=True)
        ),
        rounded=not all(may_see(actor, evaluation, Content.DETAILS, moment) for _, moment in sets),
    )


def _apart(former: ComparedBoard, board: ComparedBoard, compared: Shared, names: Mapping[int, str]) -> tuple[str, ...]:
    """Which systems are not compared, for what somebody did, or because they came."""
    apart = (former.ranks.keys() | board.ranks.keys()) - set(compared[0].tolist())
    listed = [name for system, name in names.items() if system in apart]
    return (f"Not ranked by the same run on both boards: {numbers.first_of(listed, SYSTEMS_NAMED)}.",) if listed else ()


def names_of(labels: Mapping[int, table.SystemLabel]) -> dict[int, str]:
    """What sentences call the systems of the boards, in the order of the names."""
    return dict(sorted(table.disambiguate(labels.values()).items(), key=lambda item: (item[1].casefold(), item[0])))


def _rows(
    former: ComparedBoard, board: ComparedBoard, compared: Shared, labels: Mapping[int, table.SystemLabel]
) -> tuple[SystemDifference, ...]:
    before, after, rank_before, rank = former.lines, board.lines, former.ranks, board.ranks
    systems, places_before, places = compared
    moves = dict(zip(systems.tolist(), (places_before - places).tolist(), strict=True))
    rows = []
    for system in {**after, **before}:
        run_before, figure_before = before.get(system, (None, table.NO_FIGURE))
        run, figure = after.get(system, (run_before, table.NO_FIGURE))
        rows.append(
            SystemDifference(
                system=labels[system],
                submission_id=run or 0,
                another_run=run_before not in (None, run),
                rank_before=rank_before.get(system),
                rank=rank.get(system),
                places=moves.get(system) if len(moves) > 1 else None,
                before=figure_before,
                after=figure,
            )
        )
    rows.sort(key=lambda row: (row.system.name.casefold(), row.system.id))
    return tuple(sorted(rows, key=lambda row: (row.rank is None, row.rank or 0)))


def _rejudged(
    session: Session, actor: Actor, evaluation: Evaluation, before: ScoringSet, after: ScoringSet, now: datetime
) -> Rejudged | None:
    """From the judgments of one set to those of another; None where they are of one revision.

    None as well for whoever may not see single queries: these counts tell of the judgments themselves.
    """
    if before.revision_id == after.revision_id or not may_see(actor, evaluation, Content.DETAILS, now):
        return None
    known = sa.select(Query.id).where(*reads.of_subset(evaluation.id, subset_seen(actor, evaluation, now)))
    was, now_is = (
        sa.func.max(sa.case((Judgment.revision_id == each.revision_id, Judgment.grade))) for each in (before, after)
    )
    of_both = Judgment.revision_id.in_([before.revision_id, after.revision_id]), Judgment.query_id.in_(known)
    grades = (
        sa.select(was.label("was"), now_is.label("now"))
        .where(*of_both)
        .group_by(Judgment.query_id, Judgment.document)
        .subquery()
        .c
    )
    kinds = grades.was.is_(None), grades.now.is_(None), grades.was != grades.now, grades.was == grades.now
    counts = session.execute(sa.select(*(sa.func.count(sa.case((kind, 1))) for kind in kinds))).one()
    return Rejudged(*map(int, counts))


def labels_on(session: Session, boards: Sequence[ComparedBoard]) -> dict[int, table.SystemLabel]:
    """System -> how the reader finds it named on these boards, of all that one of them lists. Boards of several
    evaluations must not hide names, as a system is another one in each then."""
    listed, named = set[int](), set[int]()
    for board in boards:
        systems, is_named = board.runs.systems, board.disclosure.sees_each(Content.NAMES, board.runs.own)
        listed.update(systems.tolist())
        named.update(systems[board.runs.baseline | is_named].tolist())
    return table.labels_of(session, {board.disclosure.evaluation.id for board in boards}, listed, named)
