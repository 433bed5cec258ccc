"""What one run scored: its means, its rank, and its values query by query beside the median of all systems."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import metrics
from leaderboard.access import Actor, Sight, may_see, require, subset_seen
from leaderboard.errors import NotFound
from leaderboard.lookup import current_set
from leaderboard.metrics.families.detection import AQWV
from leaderboard.metrics.families.sweep import MQWV
from leaderboard.metrics.ranking import Floats
from leaderboard.models import Score, Scoring, ScoringSet, Submission
from leaderboard.reads.columns import Column, per_query_columns, pick
from leaderboard.reads.entries import Entry, Figure, SystemLabel, figures_of, rounded
from leaderboard.reads.headings import (
    CLOSED_RESULTS,
    EvaluationHeading,
    JudgedQuery,
    Terms,
    closed_details,
    evaluation_heading,
    judged_queries,
    queries_of,
    terms,
)
from leaderboard.reads.paging import Paging, paged
from leaderboard.reads.query_values import load_vectors, spread_of, value_in
from leaderboard.reads.standings import choose, known_order, load_candidates, ranks, show_of
from leaderboard.reads.submissions import find_submission, label_of
from leaderboard.rules.settings import Subset
from leaderboard.rules.states import State
from leaderboard.statistics import LEAST_QUERIES

__all__ = ["QueryValues", "SubmissionResults", "ThresholdCost", "results"]

PAGE = 500  # queries
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class QueryValues:
    """A run on one query: its values in the columns' order, and the median over all systems of the page's measure.

    `counted` is False for a query that is excluded, or left out for want of judgments.
    """

    external_id: str
    text: str
    tags: tuple[str, ...]
    position: int
    missing: bool
    counted: bool
    values: tuple[float | None, ...]
    median: float | None


@dataclass(frozen=True, slots=True)
class ThresholdCost:
    """What the choice of threshold cost a run: MQWV − AQWV, at one relevance level.

    name     of the difference: "MQWV − AQWV"
    figure   rounded for its reader as all figures are; None where no single θ gives the run's decisions: these may be
             better than any θ, and the difference negative
    """

    name: str
    figure: Figure | None


@dataclass(frozen=True, slots=True)
class SubmissionResults:
    """The means of a scored run, and its values query by query where those may be seen.

    columns, figures  every measure with its mean; value_columns: those that have values on single queries
    queries, shown   all of them as sorted, and those of this page
    threshold_costs  for each MQWV whose AQWV is shown too
    rank     on the board by the primary measure; None when another run stands for its system, or it is not ranked
    ranked   how many runs are ranked
    compared_with  how many systems the medians are over, this one included; 0 where other runs may not be seen
    standing  the run that stands for its system on the board, this one or another; None where its place is empty
    empty_because  then, what became of the run that stood
    missing   external ids of the queries that this reader may know of and that the run has no list for
    nothing_relevant  those of them that are judged, and without a relevant document; None where this reader may not
                      know which
    not_judged        those of them that nobody judged, where these are left out; None likewise
    """

    id: int
    evaluation: EvaluationHeading
    system: SystemLabel
    terms: Terms
    columns: tuple[Column, ...]
    value_columns: tuple[Column, ...]
    figures: tuple[Figure, ...]
    threshold_costs: tuple[ThresholdCost, ...]
    rank: int | None
    ranked: int
    details_open: bool
    details_closed_because: str
    column: Column
    sort: str
    queries: tuple[QueryValues, ...]
    shown: tuple[QueryValues, ...]
    paging: Paging
    missing: tuple[str, ...]
    nothing_relevant: tuple[str, ...] | None
    not_judged: tuple[str, ...] | None
    standing: Entry | None
    empty_because: str
    compared_with: int


def results(
    session: Session,
    actor: Actor,
    submission_id: int,
    now: dt.datetime,
    *,
    measure: str | None = None,
    sort: str | None = None,
    page: int = 1,
) -> SubmissionResults:
    """Raises NotFound when the run is not scored, or this reader may not know of it; NotAllowed where its results
    are not open.
    """
    run, scoring = find_submission(session, actor, submission_id, now)
    evaluation = run.evaluation
    scoring_set = current_set(session, evaluation.id)
    if scoring is None or scoring_set is None or scoring.state != State.SCORED:
        raise NotFound(f"submission {submission_id} has no results")
    require(may_see(actor, evaluation, Sight.RESULTS, now, run.team_id), CLOSED_RESULTS)
    subset = subset_seen(actor, evaluation, now)
    held = terms(session, actor, evaluation, scoring_set, now, run.team_id)
    value_columns = per_query_columns(scoring_set)
    column = pick(value_columns, measure)
    names = [one.name for one in held.columns]
    details = may_see(actor, evaluation, Sight.DETAILS, now, run.team_id)
    scores = _scores(session, scoring, subset, details)
    has_place = run.holds_place or (run.withdrawn_at is None and run.ruling is None)
    figures = figures_of(scores.values(), held.rounding) if has_place else {}
    candidates = load_candidates(session, actor, [evaluation], now, names[:1])
    on_board = choose(candidates, show_of(None, evaluation.campaign.run_choice), held.primary)
    standing = next((one for one in on_board if (one.system_id, one.late) == (run.system_id, run.late)), None)
    public = may_see(actor, evaluation, Sight.RESULTS, now)
    places = ranks(on_board, held.primary) if public else {}
    rows: tuple[QueryValues, ...] = ()
    if details:
        texts = may_see(actor, evaluation, Sight.TEXTS, now)
        known = [one for one in queries_of(session, [scoring_set])[scoring_set.id] if not subset.leaves_out(one.split)]
        others = load_vectors(session, [one.scoring_id for one in on_board if public], [column.name], subset)
        medians = spread_of(list(others.values()), column).median
        rows = _values(known, scoring, scores, medians, value_columns, texts)
    missing = tuple(scoring_set.settings.counted(scoring.missing, subset))
    unjudged = set(scoring.unjudged)
    judged = [one for one in missing if one not in unjudged]
    queries = _sorted(rows, value_columns, column, sort or "")
    shown, paging = paged(queries, page, PAGE)
    return SubmissionResults(
        id=run.id,
        evaluation=evaluation_heading(evaluation, now),
        system=label_of(session, actor, run, now),
        terms=held,
        columns=held.columns,
        value_columns=value_columns,
        figures=tuple(figures.get(one.name, Figure(None)) for one in held.columns),
        threshold_costs=_threshold_costs(scoring, scores, held),
        rank=places.get(run.id),
        ranked=len(places),
        details_open=details,
        details_closed_because="" if details else closed_details(evaluation),
        column=column,
        sort=sort or "",
        queries=queries,
        shown=shown,
        paging=paging,
        missing=missing,
        nothing_relevant=_nothing_relevant(session, scoring_set, judged) if details else None,
        not_judged=tuple(one for one in missing if one in unjudged) if details else None,
        standing=standing,
        empty_because="" if standing else _why_empty(session, run),
        compared_with=len(on_board) if public else 0,
    )


def _why_empty(session: Session, run: Submission) -> str:
    """What became of the run that stood for a run's system, of those that hold their place though they are gone."""
    own = Submission.evaluation_id == run.evaluation_id, Submission.system_id == run.system_id
    gone = session.scalars(
        sa.select(Submission.ruling).where(*own, Submission.late == run.late, Submission.holds_place)
    )
    why = {"was withdrawn after closing" if ruling is None else "was taken off by the organisers" for ruling in gone}
    return " or ".join(sorted(why, reverse=True))


def _scores(session: Session, scoring: Scoring, subset: Subset, details: bool) -> dict[str, Score]:
    """Measure -> the run's score over a subset of the queries, with its values on each where `details`."""
    statement = sa.select(Score).where(Score.scoring_id == scoring.id, Score.subset == subset)
    if details:
        statement = statement.options(sa.orm.undefer(Score.values))
    return {one.measure: one for one in session.scalars(statement)}


def _threshold_costs(scoring: Scoring, scores: Mapping[str, Score], held: Terms) -> tuple[ThresholdCost, ...]:
    shown = {metrics.parse(column.name): column for column in held.columns}
    pairs = [
        (column, shown[beside])
        for measure, column in shown.items()
        if measure.family is MQWV and (beside := AQWV(rel=measure.arguments["rel"])) in shown
    ]
    found = []
    for maximum, actual in pairs:
        best, own, name = scores[maximum.name], scores[actual.name], f"{maximum.name} − {actual.name}"
        if not scoring.facts["one_threshold"]:
            found.append(ThresholdCost(name, None))
        elif best.mean is not None and own.mean is not None:
            difference = best.mean - own.mean
            lost = difference if difference > ROUNDING else 0.0  # below 0 by rounding only
            ends = (best.lost_low, best.lost_high) if best.count >= LEAST_QUERIES else (None, None)
            found.append(ThresholdCost(name, rounded(Figure(lost, *ends, best.count), maximum.unit, held.rounding)))
    return tuple(found)


def _nothing_relevant(session: Session, scoring_set: ScoringSet, queries: Sequence[str]) -> tuple[str, ...]:
    """Those of the queries, by external id, for which no document is judged relevant."""
    grades = {one.external_id: one.best_grade for one in judged_queries(session, [scoring_set])[scoring_set.id]}
    level = scoring_set.settings.relevance_level
    return tuple(query for query in queries if (best := grades[query]) is None or best < level)


def _values(
    queries: Sequence[JudgedQuery],
    scoring: Scoring,
    scores: Mapping[str, Score],
    medians: Floats,
    columns: Sequence[Column],
    texts: bool,
) -> tuple[QueryValues, ...]:
    own = {one.name: scores[one.name].values if one.name in scores else None for one in columns}
    missing, unjudged = set(scoring.missing), set(scoring.unjudged)
    return tuple(
        QueryValues(
            external_id=query.external_id,
            text=query.text if texts else "",
            tags=tuple(query.tags) if texts else (),
            position=query.position,
            missing=query.external_id in missing,
            counted=not query.excluded and query.external_id not in unjudged,
            values=tuple(value_in(own[one.name], query.position) for one in columns),
            median=value_in(medians, query.position),
        )
        for query in queries
    )


def _sorted(
    rows: Sequence[QueryValues], columns: Sequence[Column], column: Column, sort: str
) -> tuple[QueryValues, ...]:
    """By position; by a column, best first; or by the `difference` to the median; "-" the other way."""
    wanted, backwards = known_order(sort, ("position", *(one.name for one in columns), "difference"))
    by = next((one for one in columns if one.name == wanted), None)
    place = columns.index(by or column)
    if by is not None:
        return tuple(by.sort(rows, lambda row: row.values[place], backwards))
    if wanted == "difference":
        return tuple(column.sort(rows, lambda row: _difference(row, place), backwards))
    return tuple(rows)


def _difference(row: QueryValues, place: int) -> float | None:
    value = row.values[place]
    return None if value is None or row.median is None else value - row.median
