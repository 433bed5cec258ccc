"""A run joined with its judgments: for each judged document that it lists, the query, the rank and the grade.

Whether a run is refused because it names more documents than the collection has (N_total) depends on the run alone. If
it depended on the judgments too, a team could find out by submitting which documents are judged
(docs/decisions/0009-a-refusal-does-not-depend-on-judgments.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from leaderboard.errors import BadInput, FileRejected, Problem
from leaderboard.formats import Run
from leaderboard.metrics import Bools, Floats, Ints, Measure, Ranking, Setting
from leaderboard.scoring.judged_queries import JudgedQueries, JudgmentIndex
from leaderboard.scoring.order import Order, order, places_in, require_threshold, returned, returned_by


@dataclass(frozen=True, slots=True)
class JoinedRun:
    """A run joined with its judgments.

    ranking  what every measure is computed from
    missing  queries that count and that the run lacks: each is an empty list in `ranking`
    unknown  queries of the run that don't count; `ranking` does not have them
    """

    ranking: Ranking
    missing: tuple[str, ...]
    unknown: tuple[str, ...]


def join(
    run: Run,
    judged: JudgedQueries,
    setting: Setting | None = None,
    *,
    threshold: float | None = None,
    depth: int | None = None,
    judged_only: bool = False,
) -> JoinedRun:
    """Orders a run's lists and looks up the grade of every document in them.

    setting: what the evaluation fixes; its compatibility rule decides how scores tie.
    threshold: θ. In a run without decisions the documents with score >= θ count as returned; None: all of them do.
    depth: cut each list after so many documents (trec_eval's -M).
    judged_only: then take documents without a grade of 0 or more out of the lists (trec_eval's -J).

    Raises BadInput when θ is no finite number.

    >>> import io
    >>> from leaderboard.formats import read_judgments, read_run
    >>> from leaderboard.scoring import prepare
    >>> judged = prepare(read_judgments(io.BytesIO(b"q1 0 a 1\\nq1 0 c 2\\n")))
    >>> run = read_run(io.BytesIO(b"q1 Q0 a 1 0.5 tag\\nq1 Q0 b 2 0.9 tag\\nq1 Q0 c 3 0.5 tag\\n"))
    >>> ranking = join(run, judged, threshold=0.9).ranking
    >>> ranking.rank, ranking.grade  # c before a: equal scores, and its id sorts last
    (array([2, 3]), array([2, 1]))
    >>> ranking.retrieved, ranking.returned
    (array([3]), array([1]))
    """
    require_threshold(threshold)
    setting = setting or Setting()
    places = order(run, setting.compat)
    numbers = np.array([judged.number.get(query, -1) for query in run.queries], np.int64)
    lists = _Lists(run, places, numbers, len(judged.queries), threshold, setting.compat, depth)
    hits = _find(run, judged.index, numbers, places, depth)
    ranking = Ranking(
        retrieved=lists.retrieved,
        returned=lists.returned,
        in_run=lists.in_run,
        query=hits.number,
        rank=hits.rank,
        grade=judged.grade[hits.place],
        is_returned=lists.is_returned(hits.line),
        judged_start=judged.judged_start,
        judged_grade=judged.judged_grade,
        setting=setting,
        load_scores=lists.scores,
        known_start=judged.known_start,
        known_grade=judged.known_grade,
        is_known=None if judged.known_start is None else judged.known[hits.place],
        undefined_without_relevant=judged.undefined_without_relevant,
        subtopics=judged.subtopics,
        subtopic_rank=_subtopic_rank(run, judged, numbers, places, depth),
    )
    return JoinedRun(
        ranking.judged_only() if judged_only else ranking,
        missing=tuple(query for query, there in zip(judged.queries, lists.in_run.tolist(), strict=True) if not there),
        unknown=tuple(query for query, number in zip(run.queries, numbers.tolist(), strict=True) if number < 0),
    )


@dataclass(frozen=True, slots=True)
class _Hits:
    """The judged documents that the run lists, by query and rank, int64[n] each.

    number  the query's place among those that count
    rank    1-based
    line    of the run, in the order of the file
    place   of the judgment in `JudgedQueries.grade`
    """

    number: Ints
    rank: Ints
    line: Ints
    place: Ints

    def where(self, chosen: Bools | Ints) -> "_Hits":
        return _Hits(self.number[chosen], self.rank[chosen], self.line[chosen], self.place[chosen])


def _find(run: Run, index: JudgmentIndex, numbers: Ints, places: Order, depth: int | None) -> _Hits:
    """The hits of a run down to `depth`; numbers: the place of each of its queries among those that count, -1 for the
    others.
    """
    line = index.may_hold(run.document)
    number = numbers[run.query[line]]
    position = index.find(number, run.document.take(line))
    line, number, position = (column[position >= 0] for column in (line, number, position))
    rank = places.rank(line)
    hits = _Hits(number, rank, line, position).where(np.lexsort((rank, number)))
    return hits if depth is None else hits.where(hits.rank <= depth)


def _subtopic_rank(run: Run, judged: JudgedQueries, numbers: Ints, places: Order, depth: int | None) -> Ints | None:
    """int64[T]: the rank of the document of each judgment of a subtopic, 0 where the run lacks it."""
    if judged.subtopics is None or judged.subtopic_index is None:
        return None
    hits = _find(run, judged.subtopic_index, numbers, places, depth)
    rank = np.zeros(int(judged.subtopics.document.max(initial=-1)) + 1, np.int64)
    rank[hits.place] = hits.rank
    return rank[judged.subtopics.document]


@dataclass(frozen=True)
class _Lists:
    """The lists of the queries that count, cut at `depth`. numbers: as `_find` takes them; queries: Q"""

    run: Run
    places: Order
    numbers: Ints
    queries: int
    threshold: float | None
    compat: Literal[9, 10]
    depth: int | None

    @cached_property
    def of_run(self) -> Ints:
        """int64[Q]: which query of the run each one is, -1 for none."""
        of_run = np.full(self.queries, -1)
        counted = np.flatnonzero(self.numbers >= 0)
        of_run[self.numbers[counted]] = counted
        return of_run

    @property
    def in_run(self) -> Bools:
        """bool[Q], whether the run has the query."""
        return self.of_run >= 0

    @cached_property
    def retrieved(self) -> Ints:
        """int64[Q], how many documents it lists there."""
        return self._per_query(np.diff(self.places.start))

    @cached_property
    def returned(self) -> Ints:
        """int64[Q], how many of them count as returned."""
        start = self.places.start
        by = returned_by(self.run.decision, self.threshold)
        if by == "all":
            return self.retrieved
        if by == "decisions" and self.depth is not None:  # else those with the highest scores are the first
            position = np.arange(len(self.run)) - np.repeat(start[:-1], np.diff(start))
            lines = self.places.all_lines()[position < self.depth]
            lines = lines[self.is_returned(lines)]
        else:
            lines = np.flatnonzero(self.is_returned(slice(None)))
        return self._per_query(np.bincount(self.run.query[lines], minlength=len(start) - 1))

    def _per_query(self, of_run: Ints) -> Ints:
        """int64[Q] from int64[run queries], at most `depth`; 0 for a missing query."""
        values = np.append(of_run, 0)[self.of_run]
        return values if self.depth is None else np.minimum(values, self.depth)

    def is_returned(self, lines: Ints | slice) -> Bools:
        """bool[n]: whether these lines of the file count as returned."""
        decision = None if self.run.decision is None else self.run.decision[lines]
        return returned(self.places.score[lines], decision, self.threshold, self.compat)

    def scores(self) -> Floats:
        """float64[L]: every line's score in rank order, query after query as they count."""
        start = self.places.start[self.of_run[self.in_run]]
        _, position = places_in(start, start + self.retrieved[self.in_run])
        return self.places.falling[position].astype(np.float64)


NAMED = 10  # queries that a message names


def require_run_fits(
    run: Run, documents: int | None, measures: Sequence[Measure], depth: int | None, name: str
) -> None:
    """Raises FileRejected when the run, called `name`, lists more documents for a query than the collection has.

    Only where one of the measures needs their number, and for every query of the run, judged or not.

    documents  N_total, None when it is not given
    depth      how many documents of each list count, None for all
    """
    if documents is None or not _needing(measures):
        return
    listed = np.bincount(run.query, minlength=len(run.queries))
    listed = listed if depth is None else np.minimum(listed, depth)
    long = np.flatnonzero(listed > documents).tolist()
    if long:
        has = f"documents, but the collection has {documents:,}"
        named = [Problem(None, f"query {run.queries[query]} lists {listed[query]:,} {has}") for query in long[:NAMED]]
        raise FileRejected(named, len(long), name)


def require_judgments_fit(ranking: Ranking, judged: JudgedQueries, measures: Sequence[Measure]) -> None:
    """Raises BadInput when the judgments alone name more documents than the collection has, or leave no other one.

    Only where one of the measures needs N_total.
    """
    needing = _needing(measures)
    documents = ranking.setting.documents
    if not needing or documents is None:
        return
    judgments = np.diff(judged.judged_start)
    _require_judgments(
        judgments > documents, judgments, judged, f"judged documents, but the collection has {documents:,}"
    )
    for level in {measure.arguments.get("rel", 1) for measure in needing}:
        relevant = ranking.relevant(level).judged
        what = f"relevant documents of the collection's {documents:,}: no other is left, so P_fa is undefined"
        _require_judgments(relevant >= documents, relevant, judged, what)


def crowded_queries(ranking: Ranking, judged: JudgedQueries, measures: Sequence[Measure]) -> tuple[str, ...]:
    """The queries for which the documents judged and those listed are together more than the collection has.

    Then N_total is too low, or the run lists documents that the collection lacks. Only where one of the measures needs
    N_total. For whoever may see the judgments, since it tells of them.
    """
    documents = ranking.setting.documents
    if documents is None or not _needing(measures):
        return ()
    named = ranking.retrieved + np.diff(judged.judged_start) - np.diff(ranking.hit_start)
    return tuple(judged.queries[query] for query in np.flatnonzero(named > documents).tolist())


def _needing(measures: Sequence[Measure]) -> list[Measure]:
    return [measure for measure in measures if "documents" in measure.needs]


def _require_judgments(wrong: Bools, counts: Ints, judged: JudgedQueries, what: str) -> None:
    if wrong.any():
        query = int(np.argmax(wrong))
        raise BadInput(f"query {judged.queries[query]} has {counts[query]:,} {what}")
