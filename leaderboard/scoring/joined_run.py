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
from leaderboard.frozen import frozen
from leaderboard.metrics import Bools, Floats, Ints, Measure, Ranking, Setting
from leaderboard.scoring.judged_queries import JudgedQueries, JudgmentIndex
from leaderboard.scoring.order import Order, order, places_in, require_threshold, returned, returned_by


@frozen
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
    """
    require_threshold(threshold)
    setting = setting or Setting()
    places = order(run, setting.compat)
    numbers = np.array([judged.number.get(query, -1) for query in run.queries], np.int64)
    of_run = np.full(len(judged.queries), -1)
    of_run[numbers[numbers >= 0]] = np.flatnonzero(numbers >= 0)
    lists = _Lists(run, places, of_run, threshold, setting.compat, depth)
    query, rank, line, judgment = _hits(run, judged.index, numbers, places, depth)
    ranking = Ranking(
        retrieved=lists.retrieved,
        returned=lists.returned(),
        query=query,
        rank=rank,
        grade=judged.judged_grade[judgment],
        is_returned=lists.is_returned(line),
        judged_start=judged.judged_start,
        judged_grade=judged.judged_grade,
        setting=setting,
        load_scores=lists.scores,
        judged_known=judged.judged_known,
        is_known=None if judged.judged_known is None else judged.judged_known[judgment],
        undefined_without_relevant=judged.undefined_without_relevant,
        subtopics=judged.subtopics,
        subtopic_rank=_subtopic_rank(run, judged, numbers, places, depth),
    )
    return JoinedRun(
        ranking.judged_only() if judged_only else ranking,
        missing=tuple(judged.queries[number] for number in np.flatnonzero(of_run < 0).tolist()),
        unknown=tuple(run.queries[number] for number in np.flatnonzero(numbers < 0).tolist()),
    )


def judged_within(run: Run, judged: JudgedQueries, compat: Literal[9, 10], depth: int) -> Ints:
    """int64[n]: the judged documents that the run lists among the first `depth` of a query, as places of
    `judged.judged_grade`."""
    numbers = np.array([judged.number.get(query, -1) for query in run.queries], np.int64)
    places: Ints = _hits(run, judged.index, numbers, order(run, compat), depth)[3]
    return places


def _hits(run: Run, index: JudgmentIndex, numbers: Ints, places: Order, depth: int | None) -> Ints:
    """int64[4, n]: the judged documents that the run lists down to `depth`, by query and rank: each one's query, its
    1-based rank, its line in the order of the file, and the place of its judgment in `JudgedQueries.judged_grade`.

    numbers  the place of each query of the run among those that count, -1 for the others
    """
    line = index.may_hold(run.document)
    query = numbers[run.query[line]]
    judgment = index.find(query, run.document.take(line))
    query, line, judgment = np.stack((query, line, judgment))[:, judgment >= 0]
    rank = places.rank(line)
    hits = np.stack((query, rank, line, judgment))[:, np.lexsort((rank, query))]
    return hits if depth is None else hits[:, hits[1] <= depth]


def _subtopic_rank(run: Run, judged: JudgedQueries, numbers: Ints, places: Order, depth: int | None) -> Ints | None:
    """int64[T]: the rank of the document of each judgment of a subtopic, 0 where the run lacks it."""
    if judged.subtopics is None or judged.subtopic_index is None:
        return None
    _, listed_at, _, document = _hits(run, judged.subtopic_index, numbers, places, depth)
    rank = np.zeros(int(judged.subtopics.document.max(initial=-1)) + 1, np.int64)
    rank[document] = listed_at
    return rank[judged.subtopics.document]


@dataclass(frozen=True)
class _Lists:
    """The lists of the Q queries that count, cut at `depth`. of_run: int64[Q], each one's place in the run, or -1."""

    run: Run
    places: Order
    of_run: Ints
    threshold: float | None
    compat: Literal[9, 10]
    depth: int | None

    @cached_property
    def retrieved(self) -> Ints:
        """int64[Q], how many documents each lists."""
        return self._per_query(np.diff(self.places.start))

    def returned(self) -> Ints:
        """int64[Q], how many of them count as returned."""
        by = returned_by(self.run.decision, self.threshold)
        if by == "all":
            return self.retrieved
        lines: Ints | slice = slice(None)
        if by == "decisions" and self.depth is not None:  # else those with the highest scores are the first
            lines = self.places.all_lines()[self.places.ranks() <= self.depth]
        query = self.run.query[lines][self.is_returned(lines)]
        return self._per_query(np.bincount(query, minlength=len(self.run.queries)))

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
        in_run = self.of_run >= 0
        start = self.places.start[self.of_run[in_run]]
        _, position = places_in(start, start + self.retrieved[in_run])
        return self.places.falling[position].astype(np.float64)


NAMED = 10  # queries that a message names


def require_run_fits(run: Run, documents: int, depth: int | None, name: str) -> None:
    """Raises FileRejected when the run, called `name`, lists more documents for a query, judged or not, than the
    collection has.

    documents  N_total
    depth      how many documents of each list count, None for all
    """
    listed = np.bincount(run.query, minlength=len(run.queries))
    listed = listed if depth is None else np.minimum(listed, depth)
    long = np.flatnonzero(listed > documents).tolist()
    if long:
        has = f"documents, but the collection has {documents:,}"
        named = [Problem(None, f"query {run.queries[query]} lists {listed[query]:,} {has}") for query in long[:NAMED]]
        raise FileRejected(named, len(long), name)


def require_judgments_fit(ranking: Ranking, judged: JudgedQueries, documents: int, measures: Sequence[Measure]) -> None:
    """Raises BadInput when the judgments alone name more documents than the collection has, or leave no other one that
    is not relevant to these measures.
    """
    judgments = np.diff(judged.judged_start)
    counts = [(judgments > documents, judgments, f"judged documents, but the collection has {documents:,}")]
    for level in {measure.arguments.get("rel", 1) for measure in measures}:
        relevant = ranking.relevant(level).judged
        what = f"relevant documents of the collection's {documents:,}: no other is left, so P_fa is undefined"
        counts.append((relevant >= documents, relevant, what))
    for wrong, count, what in counts:
        if wrong.any():
            query = int(np.argmax(wrong))
            raise BadInput(f"query {judged.queries[query]} has {count[query]:,} {what}")


def crowded_queries(ranking: Ranking, judged: JudgedQueries, documents: int) -> tuple[str, ...]:
    """The queries for which the documents judged and those listed are together more than the collection has.

    Then N_total is too low, or the run lists documents that the collection lacks. For whoever may see the judgments,
    since it tells of them.
    """
    named = ranking.retrieved + np.diff(judged.judged_start) - np.diff(ranking.hit_start)
    return tuple(judged.queries[query] for query in np.flatnonzero(named > documents).tolist())
