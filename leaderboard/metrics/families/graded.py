"""Ranks, graded: cumulated gain, discounted and normalised; trec_eval's experimental relatives of nDCG; and how much a
list looks like the ideal list that is nearest to it.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from leaderboard.metrics import measure as metric_measure
from leaderboard.metrics.families.binary import RANK, at_cutoffs
from leaderboard.metrics.ranking import Ranking, Setting, kept
from leaderboard.metrics.segments import Bools, Floats, Ints, count, running, share, starts, total

Gains = metric_measure.Gains | None  # what the parameter `gains` holds


class Gained(NamedTuple):
    """Documents with a gain other than 0, by query and rank: query, rank int64[n], gain float64[n]."""

    query: Ints
    rank: Ints
    gain: Floats

    def top(self, cutoff: int | None) -> "Gained":
        rows = slice(None) if cutoff is None else self.rank <= cutoff
        return Gained(self.query[rows], self.rank[rows], self.gain[rows])


def gain_of(grade: Ints, gain: str, gains: Gains) -> Floats:
    """float64, the gain of each grade: the grade itself (linear) or 2^grade − 1 (exp), unless `gains` names another.

    A grade below 0 gains nothing.
    """
    grade = np.maximum(grade, 0)
    values = np.exp2(grade) - 1.0 if gain == "exp" else grade.astype(np.float64)
    for level, other in gains or ():
        values[grade == level] = other
    return values


@kept
def gained(ranking: Ranking, gain: str, gains: Gains) -> Gained:
    """The run's hits with their gains, in rank order."""
    # A negative grade reads as 0 in gain_of, but must not take the gain that `gains` gives to grade 0.
    hits = np.flatnonzero(ranking.grade >= 0)
    values = gain_of(ranking.grade[hits], gain, gains)
    hits, values = hits[values != 0], values[values != 0]
    return Gained(ranking.query[hits], ranking.rank[hits], values)


@kept
def ideal(ranking: Ranking, gain: str, gains: Gains) -> Gained:
    """All judged documents with a positive gain, each query's highest gains first."""
    judged = np.flatnonzero(ranking.judged_grade >= 0)
    values = gain_of(ranking.judged_grade[judged], gain, gains)
    query, rank = ranking.judged_query[judged], ranking.judged_place[judged]
    if gains:
        values = values[np.lexsort((-values, query))]
    positive = values > 0
    return Gained(query[positive], rank[positive], values[positive])


def with_gain(ranking: Ranking, gains: Gains, gain: str = "linear", rel: int = 1, **_others: object) -> Bools:
    """bool[Q]: whether a document of the query is judged worth something: there is an ideal list."""
    if gain == "binary":
        return ranking.relevant(rel).judged > 0
    return count(ideal(ranking, gain if gain == "exp" else "linear", gains).query, ranking.queries) > 0


@kept
def discounted(ranking: Ranking, documents: Callable[..., Gained], gain: str, gains: Gains, discount: str) -> Gained:
    """Those of the run (`gained`) or of the judgments (`ideal`), over what the discount takes off at their ranks."""
    query, rank, gain_at = documents(ranking, gain, gains)
    by = np.log2(rank + 1.0) if discount == "log2" else np.maximum(np.log2(rank), 1.0)
    return Gained(query, rank, gain_at / by)


def summed(documents: Gained, cutoff: int | None, queries: int) -> Floats:
    """float64[Q]: the gains down to the cutoff, added up."""
    top = documents.top(cutoff)
    return total(top.query, top.gain, queries)


def span(_setting: Setting, measure: metric_measure.Measure) -> metric_measure.Range:
    """0 and up, unless `gains` names a negative one."""
    gains = measure.arguments["gains"] or ()
    return (-np.inf if min((gain for _, gain in gains), default=0.0) < 0 else 0.0), np.inf


def normalised_span(setting: Setting, measure: metric_measure.Measure) -> metric_measure.Range:
    """0 to 1, unless `gains` names a negative one."""
    return span(setting, measure)[0], 1.0


def read_gains(text: str) -> dict[str, metric_measure.Value]:
    """trec_eval's 1=3.5,2=9 as our gains."""
    return {"gains": metric_measure.read_value("{" + text.replace("=", ":") + "}")}


GAIN = metric_measure.choice("gain", ("linear", "exp"), "the gain of grade g: g, or 2^g − 1")
GAINS = metric_measure.Parameter("gains", "gains", "the gain of single grades, in place of what `gain` says")
DISCOUNT = metric_measure.choice(
    "discount",
    ("log2", "jk"),
    "divide by log2(rank + 1); or, as Järvelin and Kekäläinen first did, by log2(rank) from rank 2 on",
)

graded = partial(metric_measure.measured, "Ranks, graded")
of_gains = partial(graded, defined_where=with_gain)
with_gains = partial(metric_measure.TrecEval, read=read_gains, example="1=3.5,2=9")


@of_gains(
    "nDCG",
    "Normalised discounted cumulated gain",
    GAIN,
    GAINS,
    DISCOUNT,
    metric_measure.JUDGED_ONLY,
    cutoff=RANK,
    span=normalised_span,
    trec_eval=(with_gains("ndcg"), at_cutoffs("ndcg_cut")),
)
def normalised_discounted_gain(ranking: Ranking, gain: str, gains: Gains, discount: str, cutoff: int | None) -> Floats:
    """DCG as a share of the DCG of the best order of all judged documents.

    Formula: nDCG@k = DCG@k / IDCG@k
    Symbols: gain_i is the gain of the document at rank i; ICG and IDCG are CG and DCG of the ideal list: all judged
        documents, highest gain first.
    Range: 0 to 1 (below 0 only with negative gains)
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: Where no document has a gain: 0, and the query counts, under pooled judgments; undefined, and
        left out of the mean, under complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Without one, the whole list counts. A list shorter than k is not excused: the ranks that it
        lacks gain nothing.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: Both compute the same with linear gains. trec_eval's ndcg_cut takes no gains, and its
        ndcg takes gains that differ by less than 1 as equal when it orders the ideal list. ir_measures writes gain=exp
        as dcg='exp-log2'.
    Source: K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques, ACM Transactions on
        Information Systems 20 (4), 2002; gain=exp: C. Burges and others: Learning to Rank using Gradient Descent, ICML
        2005

    DCG / DCG of the ideal order of all judged documents, float64[Q]; 0 where nothing has a gain.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> ranking = graded_lists([1, None, 0, 2], missed=[1])
    >>> normalised_discounted_gain(ranking, gain='linear', gains=None, discount='log2', cutoff=None).round(4)
    array([0.5945])
    """
    reached = discounted_gain(ranking, gain, gains, discount, cutoff)
    return share(reached, ideal_gain(ranking, gain, gains, discount, cutoff))


@of_gains(
    "DCG",
    "Discounted cumulated gain",
    GAIN,
    GAINS,
    DISCOUNT,
    cutoff=RANK,
    span=span,
    unit="gain",
    trec_eval=with_gains("dcg"),
)
def discounted_gain(ranking: Ranking, gain: str, gains: Gains, discount: str, cutoff: int | None) -> Floats:
    """Gains in the first k ranks, each worth less the lower its rank.

    Formula: DCG@k = sum_{i=1}^{k} gain_i / log_2(i + 1)
    Symbols: gain_i is the gain of the document at rank i; ICG and IDCG are CG and DCG of the ideal list: all judged
        documents, highest gain first.
    Range: 0 and up (below 0 only with negative gains)
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: Where no document has a gain: 0, and the query counts, under pooled judgments; undefined, and
        left out of the mean, under complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Without one, the whole list counts. A list shorter than k is not excused: the ranks that it
        lacks gain nothing.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: trec_eval 10 prints it when asked for dcg, with linear gains and without a cutoff;
        ir_measures has only the normalised one.
    Source: K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques, ACM Transactions on
        Information Systems 20 (4), 2002; gain=exp: C. Burges and others: Learning to Rank using Gradient Descent, ICML
        2005

    Σ gain / discount(rank), float64[Q].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> ranking = graded_lists([1, None, 0, 2], missed=[1])
    >>> discounted_gain(ranking, gain='linear', gains=None, discount='log2', cutoff=None).round(4)
    array([1.8614])
    """
    return summed(discounted(ranking, gained, gain, gains, discount), cutoff, ranking.queries)


@of_gains(
    "IDCG",
    "Ideal discounted cumulated gain",
    GAIN,
    GAINS,
    DISCOUNT,
    cutoff=RANK,
    of_judgments=True,
    span=metric_measure.COUNT,
    unit="gain",
    direction="none",
    trec_eval=with_gains("ideal_dcg"),
)
def ideal_gain(ranking: Ranking, gain: str, gains: Gains, discount: str, cutoff: int | None) -> Floats:
    """DCG of the best order of all judged documents: the same for every run, and what nDCG divides by.

    Formula: IDCG@k = sum_{i=1}^{k} ideal_i / log_2(i + 1)
    Symbols: ideal_i is the i-th highest gain of a judged document of the query.
    Range: 0 and up
    Ties: The run plays no part.
    No relevant document: Where no document has a gain: 0, and the query counts, under pooled judgments; undefined, and
        left out of the mean, under complete ones.
    Missing query: The run plays no part: the query counts like any other.
    Cutoff beyond the list: Without one, all judged documents count.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: trec_eval 10 prints it when asked for ideal_dcg; ir_measures has only the normalised one.
    Source: K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques, ACM Transactions on
        Information Systems 20 (4), 2002

    float64[Q] of at least 0.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> ideal_gain(graded_lists([0, 1, 3]), gain="linear", gains=None, discount="jk", cutoff=2)
    array([4.])
    """
    return summed(discounted(ranking, ideal, gain, gains, discount), cutoff, ranking.queries)


@of_gains("NCG", "Normalised cumulated gain", GAIN, GAINS, cutoff=RANK, span=normalised_span)
def normalised_gain(ranking: Ranking, gain: str, gains: Gains, cutoff: int | None) -> Floats:
    """CG as a share of the CG of the best order of all judged documents: recall with grades.

    Formula: NCG@k = CG@k / ICG@k
    Symbols: gain_i is the gain of the document at rank i; ICG and IDCG are CG and DCG of the ideal list: all judged
        documents, highest gain first.
    Range: 0 to 1 (below 0 only with negative gains)
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: Where no document has a gain: 0, and the query counts, under pooled judgments; undefined, and
        left out of the mean, under complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Without one, the whole list counts. A list shorter than k is not excused: the ranks that it
        lacks gain nothing.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: Neither has it.
    Source: K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques, ACM Transactions on
        Information Systems 20 (4), 2002

    CG / CG of the ideal order of all judged documents, float64[Q]; 0 where nothing has a gain.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> normalised_gain(graded_lists([1, None, 0, 2], missed=[1]), gain='linear', gains=None, cutoff=None)
    array([0.75])
    """
    reached = cumulated_gain(ranking, gain, gains, cutoff)
    return share(reached, summed(ideal(ranking, gain, gains), cutoff, ranking.queries))


@of_gains("CG", "Cumulated gain", GAIN, GAINS, cutoff=RANK, span=span, unit="gain")
def cumulated_gain(ranking: Ranking, gain: str, gains: Gains, cutoff: int | None) -> Floats:
    """The sum of the gains of the documents in the first k ranks.

    Formula: CG@k = sum_{i=1}^{k} gain_i
    Symbols: gain_i is the gain of the document at rank i; ICG and IDCG are CG and DCG of the ideal list: all judged
        documents, highest gain first.
    Range: 0 and up (below 0 only with negative gains)
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: Where no document has a gain: 0, and the query counts, under pooled judgments; undefined, and
        left out of the mean, under complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Without one, the whole list counts. A list shorter than k is not excused: the ranks that it
        lacks gain nothing.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: Neither has it.
    Source: K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques, ACM Transactions on
        Information Systems 20 (4), 2002

    Σ gain, float64[Q].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> cumulated_gain(graded_lists([1, None, 0, 2], missed=[1]), gain='linear', gains=None, cutoff=None)
    array([3.])
    """
    return summed(gained(ranking, gain, gains), cutoff, ranking.queries)


class RunningGain:
    """A running sum over each query's ranks, which can be asked for at any rank."""

    def __init__(self, documents: Gained, queries: int) -> None:
        self._span = int(documents.rank.max(initial=0)) + 1
        self._place = documents.query * self._span + documents.rank
        self._start = starts(documents.query, queries)
        self._reached = np.concatenate(([0.0], running(documents.query, documents.gain)))

    def at(self, query: Ints, rank: Ints) -> Floats:
        """float64, for each pair: the sum over that query's ranks up to and with `rank`."""
        last = np.searchsorted(self._place, query * self._span + np.minimum(rank, self._span - 1), side="right")
        return self._reached[np.where(last > self._start[query], last, 0)]

    def end(self) -> Floats:
        """float64[Q]: the whole sum of each query."""
        return self.at(np.arange(len(self._start) - 1), np.array(self._span))


@kept
def running_gains(ranking: Ranking, gains: Gains) -> tuple[RunningGain, RunningGain]:
    """The run's DCG and the ideal DCG, at any rank."""
    reached, best = (discounted(ranking, documents, "linear", gains, "log2") for documents in (gained, ideal))
    return RunningGain(reached, ranking.queries), RunningGain(best, ranking.queries)


@of_gains("nDCGRel", "nDCG averaged over relevant documents", GAINS, trec_eval=with_gains("ndcg_rel"))
def at_relevant(ranking: Ranking, gains: Gains) -> Floats:
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
    relevant = count(ideal(ranking, "linear", gains).query, ranking.queries)
    missed = relevant - count(query, ranking.queries)
    summed = total(query, share(reached.at(query, rank), best.at(query, rank)), ranking.queries)
    summed = summed + share(missed * reached.end(), best.end())
    return np.where(summed > 0, share(summed, relevant), 0.0)


@graded("RnDCG", "nDCG averaged over grade levels", metric_measure.REL, GAINS, trec_eval=with_gains("Rndcg"))
def at_levels(ranking: Ranking, rel: int, gains: Gains) -> Floats:
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
    points = count(query, ranking.queries)
    # trec_eval takes the end of the list too, but only where more than one rank lies beyond the ideal list.
    beyond = (ranking.retrieved > count(perfect.query, ranking.queries) + 1) & (points > 0)
    summed = summed + np.where(beyond, share(reached.end(), best.end()), 0.0)
    return np.where(ranking.relevant(rel).judged > 0, share(summed, points + beyond), 0.0)


@of_gains("G", "Normalised gain", GAINS, trec_eval=with_gains("G"))
def normalised_gain_variant(ranking: Ranking, gains: Gains) -> Floats:
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
    >>> normalised_gain_variant(graded_lists([1, None, 0, 2], missed=[1]), gains=None).round(4)
    array([0.4077])
    """
    actual, perfect = gained(ranking, "linear", gains), ideal(ranking, "linear", gains)
    cost = RunningGain(Gained(perfect.query, perfect.rank, np.maximum(perfect.gain, 1.0)), ranking.queries)
    size = count(perfect.query, ranking.queries)
    lag = cost.at(actual.query, actual.rank) + np.maximum(actual.rank - size[actual.query], 0)
    lag = lag - running(actual.query, actual.gain)
    return share(
        total(actual.query, actual.gain / np.log2(2.0 + lag), ranking.queries),
        total(perfect.query, perfect.gain, ranking.queries),
    )


@graded("binG", "Binary normalised gain", metric_measure.REL, trec_eval="binG")
def binary_gain(ranking: Ranking, rel: int) -> Floats:
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


@graded(
    "Compat",
    "Compatibility",
    metric_measure.fraction("p", 0.95, "how much the ranks further down count"),
    metric_measure.choice("normalize", ("True", "False"), "whether the ideal list itself reaches 1 although it ends"),
)
def compatibility(ranking: Ranking, p: float, normalize: str) -> Floats:
    """Rank-biased overlap of the list with the ideal list that is nearest to it.

    Formula: Compat = (sum_{i=1}^{n} p^{i − 1} · |top_i ∩ ideal_i| / i) / (sum_{i=1}^{n} p^{i − 1} · |ideal_i| / i)
    Symbols: top_i are the first i documents of the list, ideal_i those of the ideal one: all relevant documents, the
        highest grades first, equal grades in the order of the list; n is the length of the longer of the two. With
        normalize=False the denominator is the sum of p^{i − 1}, as if the ideal list did not end.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: the whole list counts, and ranks that it lacks add no document.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: ir_measures' Compat is the same, except that it orders equal scores by document id
        ascending, and relevant documents that the list lacks as if they had the score 0, so before those with a
        negative score. trec_eval has none.
    Source: C. L. A. Clarke, A. Vtyurina, M. D. Smucker: Assessing Top-k Preferences, ACM Transactions on Information
        Systems 39 (3), 2021

    Overlap with the nearest ideal list, float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> compatibility(graded_lists([1, None, 0, 2], missed=[1]), p=0.5, normalize="True").round(4)
    array([0.2147])
    """
    relevant = ranking.relevant(1)
    length = np.maximum(ranking.retrieved, relevant.judged)
    step = np.cumprod(np.concatenate(([1.0], np.full(int(length.max(initial=0)), p))))  # p^0, p^1, …
    weight = step[:-1] / np.arange(1, len(step))
    # A document in both lists counts from the rank on at which both have shown it.
    worth = np.concatenate(([0.0], np.cumsum(weight)))
    shown = np.maximum(relevant.rank, _place_in_ideal(ranking))
    overlap = total(relevant.query, worth[length[relevant.query]] - worth[shown - 1], ranking.queries)
    if normalize == "False":
        return share(overlap, np.concatenate(([0.0], np.cumsum(step[:-1])))[length])
    judged = np.flatnonzero(ranking.judged_grade >= 1)
    query, position = ranking.judged_query[judged], ranking.judged_place[judged]
    return share(overlap, total(query, worth[length[query]] - worth[position - 1], ranking.queries))


def _place_in_ideal(ranking: Ranking) -> Ints:
    """int64[n]: the rank in the ideal list of each relevant hit, in the order of `ranking.relevant(1)`."""
    relevant = ranking.relevant(1)
    grade = ranking.grade[ranking.grade >= 1]
    by_grade = np.lexsort((relevant.rank, -grade, relevant.query))
    query, grade = relevant.query[by_grade], grade[by_grade]
    # Places of a query's judgments are numbered by falling grade: where a grade begins among them, and how many of its
    # documents the list has shown before this one.
    span = int(ranking.judged_grade.max(initial=0)) + 1
    key = query * span - grade
    begins = np.searchsorted(ranking.judged_query * span - np.maximum(ranking.judged_grade, 0), key)
    before = np.arange(len(key)) - np.searchsorted(key, key)
    position = np.empty(len(key), np.int64)
    position[by_grade] = begins - ranking.judged_start[query] + before + 1
    return position
