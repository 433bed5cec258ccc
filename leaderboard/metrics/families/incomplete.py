"""Ranks, incomplete judgments: measures that tell an unjudged document from one that is not relevant.

A document with a negative grade is in the judgments' list but unjudged; the C sources of trec_eval call it that too.
"""

from functools import partial

import numpy as np

from leaderboard.metrics.aggregation import GEOMETRIC_MEAN
from leaderboard.metrics.families.binary import RANK_NEEDED, at_cutoffs
from leaderboard.metrics.measure import REL, measured
from leaderboard.metrics.ranking import Ranking, kept
from leaderboard.metrics.segments import Floats, Ints, count, share, total

INFAP_EPSILON = 0.00001

incomplete = partial(measured, "Ranks, incomplete judgments")


@kept
def hits_before(ranking: Ranking, rel: int, chosen: str) -> Ints:
    """int64[n], for each relevant hit: hits of its query at earlier ranks that are `listed` or judged `wrong`."""
    kind = ranking.grade < rel
    if chosen == "wrong":
        kind &= ranking.grade >= 0
    before = np.cumsum(kind)
    return (before - np.concatenate(([0], before))[ranking.hit_start[ranking.query]])[ranking.grade >= rel]


@incomplete("Bpref", "Binary preference", REL, trec_eval="bpref")
def binary_preference(ranking: Ranking, rel: int) -> Floats:
    """How seldom documents judged not relevant stand above relevant ones; unjudged documents do not matter.

    Formula: Bpref = (1 / R) · sum_{r} (1 − min(n_r, R) / min(N, R))
    Symbols: r runs over the relevant documents retrieved; n_r documents judged not relevant stand above r; N were
        judged not relevant in all.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: the whole list counts.
    Unjudged documents: An unjudged document (or one with a negative grade) is passed over.
    trec_eval and ir_measures: Both compute the same.
    Source: C. Buckley, E. M. Voorhees: Retrieval Evaluation with Incomplete Information, SIGIR 2004

    Bpref, float64[Q] in [0, 1]; 0 where nothing is relevant.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> binary_preference(graded_lists([1, None, 0, 2], missed=[1]), rel=1).round(4)
    array([0.3333])
    """
    relevant = ranking.relevant(rel)
    wrong = (ranking.judged_grade >= 0) & (ranking.judged_grade < rel)
    bound = np.minimum(count(ranking.judged_query[wrong], ranking.queries), relevant.judged)[relevant.query]
    before = np.minimum(hits_before(ranking, rel, "wrong"), relevant.judged[relevant.query])
    return share(total(relevant.query, 1.0 - share(before, bound), ranking.queries), relevant.judged)


@incomplete("GMBpref", "Geometric mean of binary preference", REL, aggregation=GEOMETRIC_MEAN, trec_eval="gm_bpref")
def geometric_binary_preference(ranking: Ranking, rel: int) -> Floats:
    """Bpref with a geometric mean over queries, so that the worst queries weigh most.

    Formula: GMBpref = exp(mean(ln(max(Bpref, 0.00001))))
    Symbols: Bpref is the value of a query.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: Under pooled judgments 0, and the query counts with 0.00001; under complete ones it is left
        out.
    Missing query: Scored as an empty list: it counts with 0.00001.
    Cutoff beyond the list: It takes no cutoff: the whole list counts.
    Unjudged documents: An unjudged document (or one with a negative grade) is passed over.
    trec_eval and ir_measures: trec_eval computes the same and prints it for the run only; ir_measures does not name it.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    float64[Q] in [0, 1]: Bpref of each query.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> geometric_binary_preference(graded_lists([1, None, 0, 2], missed=[1]), rel=1).round(4)
    array([0.3333])
    """
    return binary_preference(ranking, rel)


@incomplete("infAP", "Inferred average precision", REL, trec_eval="infAP")
def inferred_average_precision(ranking: Ranking, rel: int) -> Floats:
    """Average precision estimated from judgments of a random part of the pool.

    Formula: infAP = (1 / R) · sum_{i} (1 / i + (p_i / i) · ((s_i + ε) / (s_i + n_i + 2 · ε)))
    Symbols: i runs over the ranks of relevant documents; above i stand p_i documents of the pool, s_i judged relevant
        and n_i judged not relevant; ε = 0.00001.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: the whole list counts.
    Unjudged documents: A document without judgment counts as not relevant; one with a negative grade was pooled but not
        judged, and is taken to be relevant as often as the judged ones.
    trec_eval and ir_measures: Both compute the same.
    Source: E. Yilmaz, J. A. Aslam: Estimating Average Precision with Incomplete and Imperfect Judgments, CIKM 2006

    infAP, float64[Q] in [0, 1]; 0 where nothing is relevant.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> inferred_average_precision(graded_lists([1, None, 0, 2], missed=[1]), rel=1)
    array([0.5])
    """
    relevant = ranking.relevant(rel)
    above = relevant.rank - 1.0
    right = relevant.nth - 1.0
    listed = right + hits_before(ranking, rel, "listed")
    judged = right + hits_before(ranking, rel, "wrong")
    expected = share(listed, above) * ((right + INFAP_EPSILON) / (judged + 2.0 * INFAP_EPSILON))
    at_rank = 1.0 / relevant.rank + (above / relevant.rank) * expected
    return share(total(relevant.query, at_rank, ranking.queries), relevant.judged)


def judged_within(ranking: Ranking, k: int | Ints) -> Ints:
    """int64[Q]: judged documents in the top k."""
    return ranking.relevant(0).within(k)


@incomplete("Judged", "Judged at k", defined_where=None, cutoff=RANK_NEEDED)
def judged(ranking: Ranking, cutoff: int) -> Floats:
    """The share of the first k ranks that was judged: how far the other figures can be trusted.

    Formula: Judged@k = |judged in the top k| / min(k, |retrieved|)
    Symbols: |retrieved| is the length of the list.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: It does not matter.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: A list shorter than k is measured over its own length.
    Unjudged documents: They are what it measures; a negative grade counts as unjudged.
    trec_eval and ir_measures: ir_measures computes the same, except that it orders equal scores by document id,
        ascending, and takes a negative grade as judged. trec_eval has unj instead.
    Source: ir_measures, https://ir-measur.es/

    Judged in the top k / min(k, retrieved), float64[Q] in [0, 1]; 0 for an empty list.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> judged(graded_lists([1, None, 0, 2], missed=[1]), cutoff=2)
    array([0.5])
    """
    return share(judged_within(ranking, cutoff), np.minimum(ranking.retrieved, cutoff))


@incomplete(
    "Unjudged",
    "Unjudged at k",
    defined_where=None,
    cutoff=RANK_NEEDED,
    direction="lower",
    trec_eval=at_cutoffs("unj", values=(5, 10, 20)),
)
def unjudged(ranking: Ranking, cutoff: int) -> Floats:
    """The share of the first k ranks that nobody judged.

    Formula: Unjudged@k = |unjudged in the top k| / k
    Symbols: k is the cutoff.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: It does not matter.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Ranks that the list lacks do not count as unjudged.
    Unjudged documents: They are what it measures; a negative grade counts as unjudged.
    trec_eval and ir_measures: trec_eval 10 computes the same, as unj; ir_measures has only the opposite, Judged.
    Source: trec_eval, https://github.com/usnistgov/trec_eval

    Unjudged in the top k / k, float64[Q] in [0, 1]: ranks that the list lacks are not unjudged.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> unjudged(graded_lists([1, None, 0, 2], missed=[1]), cutoff=2)
    array([0.5])
    """
    return (np.minimum(ranking.retrieved, cutoff) - judged_within(ranking, cutoff)) / cutoff
