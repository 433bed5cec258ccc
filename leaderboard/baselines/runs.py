"""The ranked lists that a system of ours gives, in the product's order, and as a run.

Fusion: one run made of several, by their ranks (reciprocal-rank fusion) or their scores (CombSUM).

The threshold that brings the best value on queries that are judged already.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from leaderboard.errors import BadInput
from leaderboard.formats import Ids, QueryRow, Run, Texts
from leaderboard.formats.plain_text import shown
from leaderboard.metrics import Floats, Ints, Setting, sweep
from leaderboard.numbers import first_of
from leaderboard.scoring import JudgedQueries, RankedLines, join, ranked_lines


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


RRF_K = 60.0
Normalisation = Literal["minmax", "none"]
Worth = Callable[[Floats, Floats], Floats]


def reciprocal_rank_fusion(runs: Sequence[Run], *, k: float = RRF_K, depth: int = 1000) -> Iterator[RankedList]:
    """Each query's documents by the sum, over the runs that list them, of 1 / (k + rank).

    Ranks are those of the product: score, then document id, both falling; ranks in the file don't count. A query is
    answered that any of the runs has.

    Source: G. V. Cormack, C. L. A. Clarke, S. Büttcher: Reciprocal Rank Fusion Outperforms Condorcet and Individual
    Rank Learning Methods, SIGIR 2009.

    >>> import io
    >>> from leaderboard.formats import read_run
    >>> runs = [read_run(io.BytesIO(text)) for text in (b"q 0 a 1 9 x\\nq 0 b 2 8 x\\n", b"q 0 b 1 1 y\\n")]
    >>> [fused] = reciprocal_rank_fusion(runs, k=1)
    >>> fused.document.tolist(), fused.score.round(3).tolist()
    ([b'b', b'a'], [0.833, 0.5])
    """
    return _fuse(runs, lambda _, rank: 1.0 / (k + rank), depth)


def combsum(runs: Sequence[Run], *, normalise: Normalisation = "minmax", depth: int = 1000) -> Iterator[RankedList]:
    """Each query's documents by the sum of their scores in the runs that list them.

    normalise  "minmax": the scores of each run and query are moved to 0 … 1 first, (s − min) / (max − min), and to 1
               where all are equal; "none": they are added as they are

    Raises BadInput where scores that are added as they are become too large for a number.

    Source: E. A. Fox, J. A. Shaw: Combination of Multiple Searches, TREC-2, 1994; min-max: J. H. Lee: Analyses of
    Multiple Evidence Combination, SIGIR 1997.

    >>> import io
    >>> from leaderboard.formats import read_run
    >>> runs = [read_run(io.BytesIO(text)) for text in (b"q 0 a 1 9 x\\nq 0 b 2 8 x\\n", b"q 0 b 1 7 y\\n")]
    >>> [fused] = combsum(runs)
    >>> fused.document.tolist(), fused.score.tolist()
    ([b'b', b'a'], [1.0, 1.0])
    """
    return _fuse(runs, lambda score, _: _to_unit(score) if normalise == "minmax" else score, depth)


def _to_unit(score: Floats) -> Floats:
    low, high = score.min(), score.max()
    if low == high:
        return np.ones(len(score))
    # Halved first: the largest numbers are further apart than a number can be.
    unit: Floats = (score / 2 - low / 2) / (high / 2 - low / 2)
    return unit


def _fuse(runs: Sequence[Run], worth: Worth, depth: int) -> Iterator[RankedList]:
    """worth: what a run's lines of one query add, given their scores and ranks, float64[n] both."""
    lists: list[tuple[RankedLines, dict[str, slice]]] = []
    for run in runs:
        lines = ranked_lines(run)
        lists.append((lines, dict(zip(run.queries, map(slice, lines.start[:-1], lines.start[1:]), strict=True))))
    for query in dict.fromkeys(query for run in runs for query in run.queries):
        having = [(lines, of[query]) for lines, of in lists if query in of]
        ids, slot = np.unique(np.concatenate([lines.document[at] for lines, at in having]), return_inverse=True)
        shares = np.zeros((len(having), len(ids)))
        ends = np.cumsum([at.stop - at.start for _, at in having])
        for of_run, places, (lines, at) in zip(shares, np.split(slot, ends[:-1]), having, strict=True):
            of_run[places] = worth(lines.score[at], lines.rank[at].astype(np.float64))
        # The smallest first: so documents with the same shares from different runs tie, and the order of the runs on
        # the command line changes no digit.
        total = np.zeros(len(ids))
        with np.errstate(over="ignore"):
            for row in np.sort(shares, axis=0):
                total += row
        if not np.isfinite(total).all():
            raise BadInput(f"query {shown(query)}: scores add up to more than a number can hold; normalise them")
        yield best_first(query, total, ids.__getitem__, depth)


class Tuned(NamedTuple):
    """θ, +inf where returning nothing is best; the value it brings on the queries that it was tuned on, and how many
    these are.
    """

    theta: float
    qwv: float
    queries: int


def tune(lists: Sequence[RankedList], judged: JudgedQueries, setting: Setting, level: int = 1) -> Tuned:
    """The single θ that maximises the value of these lists, by the sweep that MQWV is found with.

    setting  with the number of documents and β
    level    the lowest relevant grade

    Raises BadInput where none of the queries has a value.

    >>> import io
    >>> import numpy as np
    >>> from leaderboard.formats import read_judgments
    >>> from leaderboard.scoring import prepare
    >>> judged = prepare(read_judgments(io.BytesIO(b"q 0 a 1")))
    >>> lists = [RankedList("q", np.array([b"a", b"b"], "S8"), np.array([2.5, 1.0]))]
    >>> tune(lists, judged, Setting(documents=10, beta=20.0))
    Tuned(theta=2.5, qwv=1.0, queries=1)
    """
    thresholds = sweep(join(as_run(lists), judged, setting).ranking, level)
    best = thresholds.best
    qwv = float(thresholds.qwv[best])
    if math.isnan(qwv):
        raise BadInput("no query to tune the threshold on has a relevant document; θ can't be found from these")
    return Tuned(float(thresholds.theta[best]), qwv, len(judged.queries))


def require_other_queries(run: Sequence[QueryRow], tuning: Sequence[QueryRow]) -> None:
    """Raises BadInput where a query that θ is tuned on is one of the run's, by its id or its text.

    >>> require_other_queries([QueryRow("q1", "fees", ())], [QueryRow("t1", "ships", ())])
    """
    ids, texts = {row.id for row in run}, {_key(row.text) for row in run}
    same = [row.id for row in tuning if row.id in ids or _key(row.text) in texts]
    if same:
        some = first_of([*map(shown, same)], 5)
        raise BadInput(
            f"{len(same):,} of the queries to tune the threshold on are queries of the run, by id or by text ({some}): "
            "θ would be tuned on what it is then judged by, which MQWV shows anyway. Leave them out; where two sets of "
            "queries only number alike, rename those of one"
        )


def _key(text: str) -> str:
    return " ".join(text.casefold().split())
