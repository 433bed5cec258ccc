"""Fusion: one run made of several, by their ranks (reciprocal-rank fusion) or their scores (CombSUM)."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np

from leaderboard.baselines.lists import RankedList, best_first
from leaderboard.errors import BadInput
from leaderboard.formats import Run
from leaderboard.formats.sanitise import shown
from leaderboard.metrics import Floats
from leaderboard.scoring import RankedLines, ranked_lines

Normalisation = Literal["minmax", "none"]
Worth = Callable[[Floats, Floats], Floats]


def reciprocal_rank_fusion(runs: Sequence[Run], *, k: float = 60.0, depth: int = 1000) -> Iterator[RankedList]:
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


class _Lists:
    """A run's lists, by query."""

    def __init__(self, run: Run) -> None:
        self.lines: RankedLines = ranked_lines(run)
        starts = self.lines.start.tolist()
        self.of = dict(zip(run.queries, map(slice, starts[:-1], starts[1:]), strict=True))


def _fuse(runs: Sequence[Run], worth: Worth, depth: int) -> Iterator[RankedList]:
    """worth: what a run's lines of one query add, given their scores and ranks, float64[n] both."""
    lists = [_Lists(run) for run in runs]
    for query in dict.fromkeys(query for run in runs for query in run.queries):
        having = [(each.lines, each.of[query]) for each in lists if query in each.of]
        documents = np.concatenate([lines.document[at] for lines, at in having])
        ids, slot = np.unique(documents, return_inverse=True)
        shares = np.zeros((len(having), len(ids)))
        first = 0
        for of_run, (lines, at) in zip(shares, having, strict=True):
            last = first + at.stop - at.start
            of_run[slot[first:last]] = worth(lines.score[at], lines.rank[at].astype(np.float64))
            first = last
        # The smallest first: so documents with the same shares from different runs tie, and the order of the runs on
        # the command line changes no digit.
        total = np.zeros(len(ids))
        with np.errstate(over="ignore"):
            for row in np.sort(shares, axis=0):
                total += row
        if not np.isfinite(total).all():
            raise BadInput(f"query {shown(query)}: scores add up to more than a number can hold; normalise them")
        yield best_first(query, total, ids.__getitem__, depth)
