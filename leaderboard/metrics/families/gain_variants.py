"""Ranks, graded: trec_eval's experimental relatives of nDCG."""

import numpy as np

from leaderboard.metrics.families.graded import GAINS, discounted, gained, ideal, read_gains, with_gain, write_gains
from leaderboard.metrics.measure import REL, Family, TrecEval
from leaderboard.metrics.parameters import Gains
from leaderboard.metrics.ranking import Ranking
from leaderboard.metrics.segments import Floats, Ints, running, share, starts, total


class RunningGain:
    """A running sum over each query's ranks, which can be asked for at any rank."""

    def __init__(self, query: Ints, rank: Ints, amount: Floats, queries: int) -> None:
        self._span = int(rank.max(initial=0)) + 1
        self._place = query * self._span + rank
        self._start = starts(query, queries)
        self._reached = np.concatenate(([0.0], running(query, amount)))

    def at(self, query: Ints, rank: Ints) -> Floats:
        """float64, for each pair: the sum over that query's ranks up to and with `rank`."""
        last = np.searchsorted(self._place, query * self._span + np.minimum(rank, self._span - 1), side="right")
        return self._reached[np.where(last > self._start[query], last, 0)]

    def end(self) -> Floats:
        """float64[Q]: the whole sum of each query."""
        first, last = self._start[:-1], self._start[1:]
        return self._reached[np.where(last > first, last, 0)]


def running_gains(ranking: Ranking, gains: Gains | None) -> tuple[RunningGain, RunningGain]:
    """The run's DCG and the ideal DCG, at any rank."""

    def make() -> tuple[RunningGain, RunningGain]:
        both = (discounted(each(ranking, "linear", gains), "log2") for each in (gained, ideal))
        reached, best = (
            RunningGain(gained_part.query, gained_part.rank, gained_part.gain, ranking.queries) for gained_part in both
        )
        return reached, best

    return ranking.keep(("running_gains", gains), make)


def at_relevant(ranking: Ranking, *, gains: Gains | None) -> Floats:
    """nDCG at the rank of each relevant document; those not retrieved count with the list's final nDCG.

    Formula: nDCGRel = (1 / R) · sum_{r} nDCG@rank_r
    Symbols: r runs over the R documents with a gain above 0; rank_r is infinite for one that is not retrieved.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: Where no document has a gain: 0, and the query counts, under pooled judgments; undefined, and
        left out of the mean, under complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: the whole list counts.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: trec_eval computes the same; ir_measures does not name it.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    nDCG averaged over the relevant documents, float64[Q]; one not retrieved counts with the list's final nDCG.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> at_relevant(graded_lists([1, None, 0, 2], missed=[1]), gains=None).round(4)
    array([0.563])
    """
    reached, best = running_gains(ranking, gains)
    gains_found = gained(ranking, "linear", gains)
    right = gains_found.gain > 0
    query, rank = gains_found.query[right], gains_found.rank[right]
    relevant = np.bincount(ideal(ranking, "linear", gains).query, minlength=ranking.queries)
    missed = relevant - np.bincount(query, minlength=ranking.queries)
    summed = total(query, share(reached.at(query, rank), best.at(query, rank)), ranking.queries)
    summed = summed + share(missed * reached.end(), best.end())
    return np.where(summed > 0, share(summed, relevant), 0.0)


def at_levels(ranking: Ranking, *, rel: int, gains: Gains | None) -> Floats:
    """nDCG at the ranks where the ideal list passes from one grade to the next, and at the end of the list.

    Formula: RnDCG = mean_{k ∈ K} nDCG@k
    Symbols: K holds the ranks where a gain of the ideal list ends, and the list's own length when it goes beyond.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones. Only for this is rel asked.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: the whole list counts.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: trec_eval computes the same; ir_measures does not name it.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    nDCG averaged over the ranks where the ideal gain falls, float64[Q], and the end of a list that goes beyond.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> at_levels(graded_lists([1, None, 0, 2], missed=[1]), rel=1, gains=None).round(4)
    array([0.4097])
    """
    reached, best = running_gains(ranking, gains)
    perfect = ideal(ranking, "linear", gains)
    changes = (perfect.query[1:] != perfect.query[:-1]) | (perfect.gain[1:] != perfect.gain[:-1])
    edge = np.append(changes, True) if len(perfect.query) else np.zeros(0, dtype=bool)
    query, rank = perfect.query[edge], perfect.rank[edge]
    summed = total(query, share(reached.at(query, rank), best.at(query, rank)), ranking.queries)
    points = np.bincount(query, minlength=ranking.queries)
    # trec_eval takes the end of the list too, but only where more than one rank lies beyond the ideal list.
    beyond = (ranking.retrieved > np.bincount(perfect.query, minlength=ranking.queries) + 1) & (points > 0)
    summed = summed + np.where(beyond, share(reached.end(), best.end()), 0.0)
    return np.where(ranking.relevant(rel).judged > 0, share(summed, points + beyond), 0.0)


def normalised_gain(ranking: Ranking, *, gains: Gains | None) -> Floats:
    """Gains discounted by how far the list lags behind the ideal one, not by rank.

    Formula: G = (sum_{i} gain_i / log_2(2 + c_i − g_i)) / (sum_{i} ideal_i)
    Symbols: g_i is the sum of the gains down to rank i, c_i that of the ideal list, each rank taken as 1 at least;
        ideal_i is the gain at rank i of the ideal list.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: Where no document has a gain: 0, and the query counts, under pooled judgments; undefined, and
        left out of the mean, under complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: the whole list counts.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: trec_eval computes the same; ir_measures does not name it.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    G, float64[Q]: each gain over log2(2 + how far the list lags behind the ideal one), over the sum of all gains.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> normalised_gain(graded_lists([1, None, 0, 2], missed=[1]), gains=None).round(4)
    array([0.4077])
    """
    actual, perfect = gained(ranking, "linear", gains), ideal(ranking, "linear", gains)
    cost = RunningGain(perfect.query, perfect.rank, np.maximum(perfect.gain, 1.0), ranking.queries)
    size = np.bincount(perfect.query, minlength=ranking.queries)
    lag = cost.at(actual.query, actual.rank) + np.maximum(actual.rank - size[actual.query], 0)
    lag = lag - running(actual.query, actual.gain)
    return share(
        total(actual.query, actual.gain / np.log2(2.0 + lag), ranking.queries),
        total(perfect.query, perfect.gain, ranking.queries),
    )


def binary_gain(ranking: Ranking, *, rel: int) -> Floats:
    """G with gains of 0 and 1: each relevant document discounted by the others ranked before it.

    Formula: binG = (1 / R) · sum_{r} 1 / log_2(2 + n_r)
    Symbols: r runs over the relevant documents retrieved; n_r documents that are not relevant stand above r.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: the whole list counts.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval computes the same; ir_measures does not name it.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    binG, float64[Q] in [0, 1]: the mean over relevant documents of 1 / log2(2 + others ranked before).

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> binary_gain(graded_lists([1, None, 0, 2], missed=[1]), rel=1)
    array([0.5])
    """
    relevant = ranking.relevant(rel)
    before = relevant.rank - relevant.nth
    return share(total(relevant.query, 1.0 / np.log2(2.0 + before), ranking.queries), relevant.judged)


NDCG_REL = Family(
    name="nDCGRel",
    title="nDCG averaged over relevant documents",
    compute=at_relevant,
    defined_where=with_gain,
    parameters=(GAINS,),
    trec_eval=(TrecEval("ndcg_rel", read=read_gains, write=write_gains),),
)
RNDCG = Family(
    name="RnDCG",
    title="nDCG averaged over grade levels",
    compute=at_levels,
    parameters=(REL, GAINS),
    trec_eval=(TrecEval("Rndcg", read=read_gains, write=write_gains),),
)
G = Family(
    name="G",
    title="Normalised gain",
    compute=normalised_gain,
    defined_where=with_gain,
    parameters=(GAINS,),
    trec_eval=(TrecEval("G", read=read_gains, write=write_gains),),
)
BIN_G = Family(
    name="binG",
    title="Binary normalised gain",
    compute=binary_gain,
    parameters=(REL,),
    trec_eval=(TrecEval("binG"),),
)

FAMILIES = (NDCG_REL, RNDCG, G, BIN_G)
