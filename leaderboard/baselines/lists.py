"""The ranked lists that a system of ours gives, in the product's order, and as a run."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from leaderboard.formats import Ids, Run, Texts
from leaderboard.metrics import Floats, Ints
from leaderboard.scoring import ranked_lines


class RankedList(NamedTuple):
    """One query's documents with their scores, best first: S[n] and float64[n]."""

    query: str
    document: Texts
    score: Floats


def best_first(query: str, score: Floats, ids_of: Callable[[Ints], Texts], depth: int) -> RankedList:
    """The `depth` best documents, in the order of every run here: by score, then by id, both falling.

    score   float64[n], finite
    ids_of  gives the ids of some of the n documents, by their places: of those that may be among the best

    >>> ids = np.array([b"a", b"b", b"c"], "S8")
    >>> best_first("q", np.array([1.0, 2.0, 2.0]), ids.__getitem__, depth=2).document.tolist()
    [b'c', b'b']
    """
    position = np.arange(len(score))
    if len(score) > depth:
        lowest = np.partition(score, len(score) - depth)[len(score) - depth]
        position = np.flatnonzero(score >= lowest)  # with all that tie for the last rank
    lines = ranked_lines(as_run([RankedList(query, ids_of(position), score[position])]))
    return RankedList(query, lines.document[:depth], lines.score[:depth])


def as_run(lists: Sequence[RankedList]) -> Run:
    """The lists as a run without decisions; one without documents is no part of it.

    >>> as_run([RankedList("q", np.array([b"a"], "S8"), np.array([1.5])), RankedList("r", *np.empty((2, 0)))]).queries
    ('q',)
    """
    lists = [each for each in lists if len(each.score)]
    return Run(
        queries=tuple(each.query for each in lists),
        query=np.repeat(np.arange(len(lists), dtype=np.uint32), [len(each.score) for each in lists]),
        document=Ids([each.document for each in lists]),
        score=np.concatenate([np.empty(0), *(each.score for each in lists)]),
        decision=None,
        tag="",
    )
