"""Judgments made ready once for many runs: which queries count, in which order, and the grade of any document."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from leaderboard.formats import Ids, Judgments, SubtopicJudgments, Texts, keys, pair_keys
from leaderboard.formats.ids import starts_of
from leaderboard.metrics import Bools, Ints, Subtopics, query_order

Judging = Literal["pooled", "complete"]

SLOTS_PER_JUDGMENT = 64  # of the table: one unjudged document in so many takes the slow way
FEWEST_BITS, MOST_BITS = 16, 26
ROWS_AT_ONCE = 1 << 16  # what stays within the processor's cache


class JudgmentIndex:
    """Finds the judgment of a query and a document: by hash first, and by the ids where hashes agree.

    number    int64[J], each judgment's query
    document  S[J], its document's id; no pair of query and document occurs twice
    """

    def __init__(self, number: Ints, document: Texts) -> None:
        key = keys(document)
        pair = pair_keys(number, key)
        self._order = np.argsort(pair)
        self._pair = pair[self._order]
        self._number = number[self._order]
        self._document = document[self._order]
        self._key = key

    @cached_property
    def _slots(self) -> tuple[np.uint64, Bools]:
        bits = (max(len(self._key), 1) * SLOTS_PER_JUDGMENT).bit_length()
        shift = np.uint64(64 - min(max(bits, FEWEST_BITS), MOST_BITS))
        taken = np.zeros(1 << (64 - int(shift)), np.bool_)
        taken[self._key >> shift] = True
        return shift, taken

    @property
    def judgments(self) -> tuple[Ints, Texts]:
        """The query and the document of each judgment, in their order."""
        back = np.argsort(self._order)
        return self._number[back], self._document[back]

    def may_hold(self, document: Ids) -> Ints:
        """int64[n]: which of the documents may be judged: all that are, and a few that are not."""
        shift, taken = self._slots

        def hits(start: int) -> Ints:
            slot = document.keys(start, min(start + ROWS_AT_ONCE, len(document))) >> shift
            return start + np.flatnonzero(taken.take(slot.view(np.int64)))

        return np.concatenate([np.empty(0, np.int64), *map(hits, range(0, len(document), ROWS_AT_ONCE))])

    def find(self, number: Ints, document: Texts) -> Ints:
        """int64[n]: the judgment of each query and document, -1 where there is none.

        number, document: each pair's query, and its document's id.
        """
        position = np.full(len(number), -1)
        pair = pair_keys(number, keys(document))
        at = np.searchsorted(self._pair, pair)
        rows = np.flatnonzero(at < len(self._pair))
        while len(rows):
            rows = rows[self._pair[at[rows]] == pair[rows]]
            there = at[rows]
            same = (self._number[there] == number[rows]) & (self._document[there] == document[rows])
            position[rows[same]] = self._order[there[same]]
            rows = rows[~same]  # another pair with the same hash: the next one may be it
            at[rows] += 1
            rows = rows[at[rows] < len(self._pair)]
        return position


@dataclass(frozen=True)
class JudgedQueries:
    """The queries that count and their judgments.

    queries      ids of the Q queries that count, in the order in which sums run (`metrics.query_order`)
    left_out     queries asked for that don't count: pooled judgments say nothing about them
    index        finds a document's judgment: its place in `judged_grade` and `judged_known`
    subtopic_index  finds a document that is judged for a subtopic: its number in `subtopics`; None together with it
    judged_start, judged_grade, judged_known, undefined_without_relevant, subtopics   as in `metrics.Ranking`
    """

    queries: tuple[str, ...]
    left_out: tuple[str, ...]
    index: JudgmentIndex
    judged_start: Ints
    judged_grade: Ints
    judged_known: Bools | None
    undefined_without_relevant: bool
    subtopics: Subtopics | None = None
    subtopic_index: JudgmentIndex | None = None

    @cached_property
    def number(self) -> dict[str, int]:
        """Query id -> its place in `queries`."""
        return {query: number for number, query in enumerate(self.queries)}


def prepare(
    judgments: Judgments,
    queries: Iterable[str] | None = None,
    *,
    judging: Judging = "pooled",
    known: Judgments | None = None,
    subtopics: SubtopicJudgments | None = None,
    zero_without_relevant: bool = False,
) -> JudgedQueries:
    """Makes an evaluation's judgments ready for any number of runs.

    queries: the evaluation's queries, in any order; None: those with judgments. Values are added up, and come out, in
        the order of `metrics.query_order`.
    judging: "pooled": a query without judgments is left out. "complete": every query counts, and a document that is
        not listed is not relevant.
    known: the documents known to the user, for Coverage and Novelty; their grades don't matter.
    subtopics: documents judged for one aspect of a query each, for the measures of diversity.
    zero_without_relevant: what a query without relevant documents gets from ranked and set measures under complete
        judgments: False, no value, so that it is left out of their means; True, 0, as trec_eval has it. Under pooled
        judgments it gets 0 either way.

    >>> import io
    >>> from leaderboard.formats import read_judgments
    >>> judgments = read_judgments(io.BytesIO(b"q10 0 a 1\\nq2 0 b 0\\n"))
    >>> prepare(judgments).queries
    ('q10', 'q2')
    >>> prepare(judgments, ["q2", "q3"]).left_out
    ('q3',)
    >>> prepare(judgments, ["q2", "q3"], judging="complete").queries
    ('q2', 'q3')
    """
    judged = frozenset(judgments.queries)
    asked = tuple(query_order(judged if queries is None else queries))
    counted = tuple(query for query in asked if judging == "complete" or query in judged)
    numbers = {query: number for number, query in enumerate(counted)}
    number, document, grade, _ = _of_queries(judgments, numbers)
    falling = np.lexsort((-grade, number))
    index = JudgmentIndex(number[falling], document[falling])
    is_known = None
    if known is not None:
        known_number, known_document, _, _ = _of_queries(known, numbers)
        at = index.find(known_number, known_document)
        is_known = np.isin(np.arange(len(grade)), at)
    of_subtopics, subtopic_index = (None, None) if subtopics is None else _by_document(subtopics, numbers)
    return JudgedQueries(
        queries=counted,
        left_out=tuple(query for query in asked if query not in numbers),
        index=index,
        judged_start=np.concatenate(([0], np.cumsum(np.bincount(number, minlength=len(counted))))),
        judged_grade=grade[falling],
        judged_known=is_known,
        undefined_without_relevant=judging == "complete" and not zero_without_relevant,
        subtopics=of_subtopics,
        subtopic_index=subtopic_index,
    )


def without(judged: JudgedQueries, places: Ints) -> JudgedQueries:
    """The same queries without the judgments at these places of `judged_grade`: their documents are unjudged then, and
    relevant to no subtopic. A query without a judgment left counts still, as one without relevant documents."""
    gone = np.isin(np.arange(len(judged.judged_grade)), places)
    number, document = judged.index.judgments
    subtopics = judged.subtopics
    if subtopics is not None and judged.subtopic_index is not None:
        lost = judged.subtopic_index.find(number[gone], document[gone])
        subtopics = replace(subtopics, grade=np.where(np.isin(subtopics.document, lost), 0, subtopics.grade))
    return replace(
        judged,
        index=JudgmentIndex(number[~gone], document[~gone]),
        judged_start=np.concatenate(([0], np.cumsum(~gone)))[judged.judged_start],
        judged_grade=judged.judged_grade[~gone],
        judged_known=None if judged.judged_known is None else judged.judged_known[~gone],
        subtopics=subtopics,
    )


def _of_queries(judgments: Judgments, numbers: dict[str, int]) -> tuple[Ints, Texts, Ints, Ints]:
    """The judgments on these queries: each one's query, document and grade, and its place in `judgments`."""
    number = np.array([numbers.get(query, -1) for query in judgments.queries], np.int64)[judgments.query]
    rows = np.flatnonzero(number >= 0)
    return number[rows], judgments.document.take(rows), judgments.grade[rows], rows


def _by_document(judged: SubtopicJudgments, numbers: dict[str, int]) -> tuple[Subtopics, JudgmentIndex]:
    """The judgments of subtopics on these queries, and where a document is found among them."""
    number, document, grade, rows = _of_queries(judged, numbers)
    subtopic = judged.subtopic[rows].astype(np.int64)
    by_id = np.argsort(document, kind="stable")[::-1]
    order = by_id[np.argsort(number[by_id], kind="stable")]
    number, document, grade, subtopic = number[order], document[order], grade[order], subtopic[order]
    first = starts_of(number, document)
    of_document = np.repeat(np.arange(len(first)), np.diff(first, append=len(order)))
    subtopic_grades = Subtopics(query=number, subtopic=subtopic, document=of_document, grade=grade)
    return subtopic_grades, JudgmentIndex(number[first], document[first])
