"""What one run scored: its means, its rank, its values query by query beside the median of all systems, loaded from
packed vectors; and its receipt: everything that its figures follow from, and the command that computes them again from
its file and the judgments."""

import shlex
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import compress
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard import db, metrics
from leaderboard.access import Actor, Content, may_see
from leaderboard.boards.reads import entries as table
from leaderboard.boards.reads.entries import NO_FIGURE, Column, Disclosure, Figure, per_query_columns
from leaderboard.boards.reads.ranking import load_standing, ranks, sorted_rows
from leaderboard.evaluations.reads import evaluations as reads
from leaderboard.evaluations.rules import JUDGED, Judging, NoRelevant, ScoringSettings, Subset, download_name
from leaderboard.frozen import frozen
from leaderboard.metrics import Columns, Floats, Ints, Measure
from leaderboard.metrics.families.detection import AQWV, MQWV, columns_from_values
from leaderboard.results.reads.curves import RunCurves, load_curves
from leaderboard.results.reads.holes import Holes, holes_of, measures_of_holes
from leaderboard.submissions.models import Submission
from leaderboard.submissions.reads.selection import holders_against
from leaderboard.submissions.reads.status import ScoredSubmission, find_scored, label_of
from leaderboard.submissions.rules import run_file_name
from leaderboard.worker.models import Score, Scoring


@frozen
class Spread:
    """The values of all systems on each query.

    median, best, worst  float64[positions], NaN where no system has a value
    first                int64[positions], the index of the system with the best value

    There are no positions where there is no system.
    """

    median: Floats
    best: Floats
    worst: Floats
    first: Ints


def value_in(values: Floats | None, position: int) -> float | None:
    """The value at a position; None where it is undefined, and for a query that came after the values were computed."""
    if values is None or position >= len(values) or np.isnan(values[position]):
        return None
    return float(values[position])


def load_vectors(
    session: Session,
    scorings: Collection[int] | sa.SelectBase,
    measures: Collection[str],
    subset: Subset,
    values: Any = Score.values,
) -> dict[int, dict[str, Floats]]:
    """Scoring -> measure -> float64[positions], in one statement, of those that have them.

    scorings  their ids, or a statement that finds them
    values    a part of them instead
    """
    wanted = Score.scoring_id.in_(scorings), Score.measure.in_(measures), Score.subset == subset
    vectors = defaultdict[int, dict[str, Floats]](dict)
    for scoring, measure, own in session.execute(sa.select(Score.scoring_id, Score.measure, values).where(*wanted)):
        vectors[scoring][measure] = own
    return vectors


def load_slices(
    session: Session, scorings: Collection[int], measures: Collection[str], subset: Subset, position: int
) -> dict[tuple[int, str], float | None]:
    """(scoring, measure) -> the value at one position, None where undefined. Only its 8 bytes are read."""
    slices = load_vectors(session, scorings, measures, subset, db.value_at(Score.values, position))
    return {(scoring, name): value_in(values, 0) for scoring, own in slices.items() for name, values in own.items()}


def less(value: float | None, other: float | None) -> float | None:
    """The first less the second; None where one of them is undefined."""
    return None if value is None or other is None else value - other


def columns_over(
    measure: Measure, vectors: dict[str, Floats], positions: Sequence[int], settings: ScoringSettings
) -> Columns | None:
    """What a measure is aggregated from, of one run over some of the queries; None where that is not per-query values
    (MQWV has one threshold for all queries), or the run has none.

    vectors    measure -> float64[all positions], with the measures that another one is computed from
    positions  of the queries, in the order in which values are added up (`metrics.query_order` of their ids)
    """
    columns = columns_from_values(measure, vectors, no_relevant=settings.no_relevant.value, beta=settings.beta)
    return None if columns is None else tuple(values[np.array(positions, dtype=np.int64)] for values in columns)


def figure_over(
    measure: Measure, vectors: dict[str, Floats], positions: Sequence[int], settings: ScoringSettings
) -> Figure:
    """One run's figure over some of the queries, aggregated as the measure does it; arguments as of `columns_over`."""
    columns = columns_over(measure, vectors, positions, settings)
    if columns is None or not len(positions):
        return NO_FIGURE
    mean = measure.aggregate(columns)
    return Figure(None if np.isnan(mean) else float(mean), count=int(np.count_nonzero(~np.isnan(columns[-1]))))


def spread_of(vectors: Sequence[Floats], column: Column) -> Spread:
    """The spread over systems, given each system's float64[positions]."""
    rows = np.vstack(vectors or [np.empty(0)])
    sign = -1.0 if column.direction == "lower" else 1.0
    first = np.where(np.isnan(rows), -np.inf, sign * rows).argmax(axis=0)
    best = rows[first, np.arange(len(first))]
    known, median = ~np.isnan(best), np.full(len(best), np.nan)
    median[known] = np.nanmedian(rows[:, known], axis=0)
    return Spread(median, best, sign * np.fmin.reduce(sign * rows, axis=0), first)


FILES = "run", "judgments", "queries", "known", "subtopics"


def score_command(
    settings: ScoringSettings,
    files: Mapping[str, str],
    threshold: float | None,
    excluded: Sequence[str],
    highest_grade: int | None,
) -> str:
    """`leaderboard score …` with every option that the settings ask for, for a shell.

    files          run, judgments, queries, known, subtopics -> the name of the file, of those that are needed
    excluded       queries of the files that don't count
    highest_grade  of the evaluation's judgments, where a measure takes it from them, as ERR(max=data) does
    """
    options: dict[str, object] = {
        "--judging": settings.judging.value,
        **{f"--{name}": files.get(name) for name in ("queries", "known", "subtopics")},
        "--documents": settings.documents,
        "--beta": settings.beta,
        "--no-relevant": settings.no_relevant.value,
        "--compat": settings.compat,
        "--relevance": settings.relevance_level,
        "--highest-grade": highest_grade,
    }
    words = ["leaderboard", "score", files["run"], "--judgments", files["judgments"]]
    words += [word for option, value in options.items() if value is not None for word in (option, str(value))]
    words += [f"--threshold={threshold!r}"] if threshold is not None else []
    words += [f"--exclude={query}" for query in excluded]
    return shlex.join([*words, "--measures", " ".join(settings.measures), "--format", "json"])


PAGE = 500  # queries
ROUNDING = 1e-12


@frozen
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


@frozen
class ThresholdCost:
    """What the choice of threshold cost a run: MQWV − AQWV, at one relevance level.

    name     of the difference: "MQWV − AQWV"
    figure   rounded for its reader as all figures are; None where no single θ gives the run's decisions: these may be
             better than any θ, and the difference negative
    """

    name: str
    figure: Figure | None


@frozen
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
    holes    how much of its first ten documents is judged, beside the field; None where that can't be said
    """

    id: int
    evaluation: reads.EvaluationHeading
    system: table.SystemLabel
    terms: reads.Terms
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
    paging: table.Paging
    missing: tuple[str, ...]
    nothing_relevant: tuple[str, ...] | None
    not_judged: tuple[str, ...] | None
    standing: table.Entry | None
    empty_because: str
    compared_with: int
    holes: Holes | None
    curves: RunCurves


def results(
    session: Session,
    actor: Actor,
    submission_id: int,
    now: datetime,
    *,
    measure: str | None = None,
    sort: str | None = None,
    page: int = 1,
) -> SubmissionResults:
    """Raises NotFound when the run is not scored, or this reader may not know of it; NotAllowed where its results
    are not open.
    """
    scored = find_scored(session, actor, submission_id, now)
    run, scoring, scoring_set = scored.run, scored.scoring, scored.scoring_set
    evaluation, details, level = run.evaluation, scored.details, scoring_set.settings.relevance_level
    held = reads.terms_of(session, actor, [(evaluation, scoring_set)], now, run.team_id)[evaluation.id]
    column = table.pick(value_columns := per_query_columns(scoring_set), measure)
    of_run = sa.select(Score).where(Score.scoring_id == scoring.id, Score.subset == scored.subset)
    scores = {score.measure: score for score in session.scalars(of_run.options(sa.orm.undefer(Score.values)))}
    disclosure, own = Disclosure(actor, evaluation, scoring_set, now), actor.is_in(run.team_id)
    on_board = load_standing(session, actor, evaluation, now, held.primary, more=measures_of_holes(disclosure))
    standing = next((entry for entry in on_board if (entry.system_id, entry.late) == (run.system_id, run.late)), None)
    others = on_board if disclosure.sees(Content.RESULTS, own=False) else []
    places, judged = ranks(others, held.primary), scores.get(JUDGED)
    rows = _values(session, scored, scores, column, others, disclosure) if details else ()
    orders = {each.name: (each, lambda row, at=at: row.values[at]) for at, each in enumerate(value_columns)}
    by_difference = column, lambda row: less(orders[column.name][1](row), row.median)
    queries = sorted_rows(rows, sort or "", {**orders, "difference": by_difference})
    shown, paging = table.paged(queries, page, PAGE)
    missing = tuple(scoring_set.settings.counted(scoring.missing, scored.subset))
    known = reads.judged_queries(session, scoring_set) if details else ()
    barren = {query.external_id for query in known if (query.best_grade or 0) < level}.difference(scoring.unjudged)
    return SubmissionResults(
        id=run.id,
        evaluation=reads.evaluation_heading(evaluation, now),
        system=label_of(session, actor, run, now),
        terms=held,
        columns=held.columns,
        value_columns=value_columns,
        figures=_figures(run, scores, held.columns, disclosure, own),
        threshold_costs=_threshold_costs(scoring, scores, held, disclosure, own),
        rank=places.get(scoring.id),
        ranked=len(places),
        details_open=details,
        details_closed_because="" if details else reads.closed_details(evaluation),
        column=column,
        sort=sort or "",
        queries=queries,
        shown=shown,
        paging=paging,
        missing=missing,
        nothing_relevant=tuple(query for query in missing if query in barren) if details else None,
        not_judged=tuple(query for query in missing if query in scoring.unjudged) if details else None,
        standing=standing,
        empty_because="" if standing else _why_empty(session, run),
        compared_with=len(others),
        holes=holes_of(others, run.id, judged.mean if judged else None),
        curves=load_curves(session, scored) if details and _has_figures(run) else RunCurves(),
    )


def _has_figures(run: Submission) -> bool:
    """Whether a scored run shows its figures: not once it was taken off the boards and holds no place."""
    return run.holds_place or not (run.withdrawn_at or run.ruling)


def _figures(
    run: Submission, scores: Mapping[str, Score], columns: Sequence[Column], disclosure: Disclosure, own: bool
) -> tuple[Figure, ...]:
    """One for each column; none of a run without figures."""
    shown = scores if _has_figures(run) else {}
    return tuple(
        disclosure.figure(each.name, own, score.mean, score.low, score.high, score.count)
        if (score := shown.get(each.name))
        else NO_FIGURE
        for each in columns
    )


def _why_empty(session: Session, run: Submission) -> str:
    """What became of the run that stood for the run's system, of those that hold their place though they are gone."""
    ways = {
        "was taken off by the organisers" if holder.ruling else "was withdrawn after closing"
        for holder in holders_against(session, run)
    }
    return " or ".join(sorted(ways))


def _threshold_costs(
    scoring: Scoring, scores: Mapping[str, Score], held: reads.Terms, disclosure: Disclosure, own: bool
) -> tuple[ThresholdCost, ...]:
    shown = {metrics.parse(column.name): column.name for column in held.columns}
    costs = []
    for measure, maximum in shown.items():
        actual = shown.get(AQWV(rel=measure.arguments["rel"])) if measure.family is MQWV else None
        if actual is None:
            continue
        best, chosen, name = scores[maximum], scores[actual], f"{maximum} − {actual}"
        if not scoring.facts["one_threshold"]:
            costs.append(ThresholdCost(name, None))
        elif best.mean is not None and chosen.mean is not None:
            difference = best.mean - chosen.mean
            lost = difference if difference > ROUNDING else 0.0  # below 0 by rounding only
            figure = disclosure.figure(maximum, own, lost, best.lost_low, best.lost_high, best.count)
            costs.append(ThresholdCost(name, figure))
    return tuple(costs)


def _values(
    session: Session,
    scored: ScoredSubmission,
    scores: Mapping[str, Score],
    column: Column,
    others: Sequence[table.Entry],
    disclosure: Disclosure,
) -> tuple[QueryValues, ...]:
    """others: the runs that the medians by `column` are over"""
    texts = disclosure.sees(Content.TEXTS, own=False)
    vectors = load_vectors(session, [entry.scoring_id for entry in others], [column.name], scored.subset)
    medians = spread_of([own[column.name] for own in vectors.values()], column).median
    columns = per_query_columns(scored.scoring_set)
    own = [scores[each.name].values if each.name in scores else None for each in columns]
    missing, unjudged = set(scored.scoring.missing), set(scored.scoring.unjudged)
    return tuple(
        db.snapshot(
            QueryValues,
            query,
            missing=query.external_id in missing,
            counted=not query.excluded and query.external_id not in unjudged,
            values=tuple(value_in(values, query.position) for values in own),
            median=value_in(medians, query.position),
        )
        for query in reads.queries_of_subset(session, scored.scoring_set, scored.subset, texts)
    )


@frozen
class Receipt:
    """What a scored run's figures follow from, as far as the reader may know it.

    sha256, md5            of the file as received; empty for readers to whom the run's team is not named: a team that
                           gives its hashes elsewhere would be known by them
    filename               as it was sent; empty for readers outside the team
    revision               the number of the judgments' revision
    judgments_sha256       its hash, and settings_sha256 that of the scoring set's settings: both depend on judgments
                           and hidden queries, and are None for readers to whom these are closed
    judgments_published    whether the reader may fetch the judgments, whose page has the hash of the file too
    queries                whether the reader's figures are over all queries or over the shown ones
    command                for a shell; "" where the reader could not run it or would not get the figures that they see,
                           and `no_command` says why then
    files                  run, judgments, queries, known, subtopics -> the file that the command reads, as the site
                           names its download; those that the figures need
    """

    submission: int
    sha256: str
    md5: str
    filename: str
    scored_at: datetime | None
    metric_version: str
    revision: int
    judgments_sha256: str | None
    judgments_published: bool
    settings_sha256: str | None
    queries: Subset
    beta: float | None
    no_relevant: NoRelevant
    compat: int
    relevance_level: int
    judging: Judging
    documents: int | None
    threshold: float | None
    command: str
    no_command: str
    files: dict[str, str]


def receipt(session: Session, actor: Actor, submission_id: int, now: datetime) -> Receipt:
    """Raises NotFound for no such run, for one that is not scored, and for one that the reader may not know of;
    NotAllowed where its results are not open.
    """
    scored = find_scored(session, actor, submission_id, now)
    run, scoring, scoring_set, subset = scored.run, scored.scoring, scored.scoring_set, scored.subset
    evaluation, settings = run.evaluation, scoring_set.settings
    inside = actor.answers_for(run.team_id, evaluation.campaign_id)
    arguments = [measure.arguments for measure in settings.scored]  # of those that take the highest grade, ERR's max
    from_judgments = any(own.get("max") == "data" or own.get("max_rel", 0) is None for own in arguments)
    needed = True, True, settings.judging is Judging.COMPLETE, settings.known, settings.subtopics
    files = {name: download_name(evaluation.campaign.slug, evaluation.slug, name) for name in compress(FILES, needed)}
    files["run"] = run_file_name(run.id, run.filename)
    command = no_command = ""
    if not scored.details:
        no_command = (
            "The command that computes these figures again stands here once single queries are open: until then the "
            "figures are rounded and the judgments closed."
        )
    elif from_judgments and subset is Subset.SHOWN:
        no_command = "A measure takes the highest grade of all judgments, those of hidden queries too."
    else:
        known = reads.queries_of_subset(session, scoring_set, subset, texts=False)
        in_set = [query.external_id for query in known if query.position < settings.queries]
        counted = set(settings.counted(in_set, subset))
        excluded = [query.external_id for query in known if query.external_id not in counted]
        highest = settings.highest_grade if from_judgments else None
        command = score_command(settings, files, run.threshold, excluded, highest)
    whole = scored.details and subset is Subset.ALL
    return db.snapshot(
        Receipt,
        settings,
        submission=run.id,
        sha256=run.sha256 if scored.named else "",
        md5=run.md5 if scored.named else "",
        filename=run.filename if inside else "",
        scored_at=scoring.finished_at,
        metric_version=scoring_set.metric_version,
        revision=scoring_set.revision.number,
        judgments_sha256=scoring_set.revision.sha256 if whole else None,
        judgments_published=may_see(actor, evaluation, Content.JUDGMENTS, now),
        settings_sha256=scoring_set.settings_hash if whole else None,
        queries=subset,
        threshold=run.threshold,
        command=command,
        no_command=no_command,
        files=files if command else {},
    )
