"""Ranks, graded: cumulated gain, discounted and normalised."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from leaderboard.metrics.families.binary import RANK, TREC_CUTOFFS
from leaderboard.metrics.measure import COUNT, JUDGED_ONLY, Family, Measure, Range, TrecEval
from leaderboard.metrics.parameters import Gains, Parameter, Value, read_value, write
from leaderboard.metrics.ranking import Ranking, Setting
from leaderboard.metrics.segments import Bools, Floats, Ints, count, share, total


@dataclass(frozen=True, eq=False, slots=True)
class Gained:
    """Documents with a gain other than 0, by query and rank: query, rank int64[n], gain float64[n]."""

    query: Ints
    rank: Ints
    gain: Floats

    def top(self, cutoff: int | None) -> "Gained":
        if cutoff is None:
            return self
        top = self.rank <= cutoff
        return Gained(self.query[top], self.rank[top], self.gain[top])


def gain_of(grade: Ints, gain: str, gains: Gains | None) -> Floats:
    """float64, the gain of each grade: the grade itself (linear) or 2^grade − 1 (exp), unless `gains` names another.

    A grade below 0 gains nothing.
    """
    grade = np.maximum(grade, 0)
    values = np.exp2(grade) - 1.0 if gain == "exp" else grade.astype(np.float64)
    for level, other in gains or ():
        values[grade == level] = other
    return values


def gained(ranking: Ranking, gain: str, gains: Gains | None) -> Gained:
    """The run's hits with their gains, in rank order."""

    def make() -> Gained:
        # A negative grade reads as 0 in gain_of, but must not take the gain that `gains` gives to grade 0.
        hits = np.flatnonzero(ranking.grade >= 0)
        values = gain_of(ranking.grade[hits], gain, gains)
        nonzero = values != 0
        return Gained(ranking.query[hits][nonzero], ranking.rank[hits][nonzero], values[nonzero])

    return ranking.keep(("gained", gain, gains), make)


def ideal(ranking: Ranking, gain: str, gains: Gains | None) -> Gained:
    """All judged documents with a positive gain, each query's highest gains first."""

    def make() -> Gained:
        judged = np.flatnonzero(ranking.judged_grade >= 0)
        values = gain_of(ranking.judged_grade[judged], gain, gains)
        query, rank = ranking.judged_query[judged], ranking.judged_place[judged]
        if gains:
            order = np.lexsort((-values, query))
            values = values[order]
        positive = values > 0
        return Gained(query[positive], rank[positive], values[positive])

    return ranking.keep(("ideal", gain, gains), make)


def with_gain(ranking: Ranking, *, gains: Gains | None, gain: str = "linear", rel: int = 1, **_others: object) -> Bools:
    """bool[Q]: whether a document of the query is judged worth something: there is an ideal list."""
    if gain == "binary":
        return ranking.relevant(rel).judged > 0
    return count(ideal(ranking, gain if gain == "exp" else "linear", gains).query, ranking.queries) > 0


def discounted(documents: Gained, discount: str) -> Gained:
    """Gains divided by what the discount takes off at their ranks."""
    by = np.log2(documents.rank + 1.0) if discount == "log2" else np.maximum(np.log2(documents.rank), 1.0)
    return Gained(documents.query, documents.rank, documents.gain / by)


def summed(documents: Gained, cutoff: int | None, queries: int) -> Floats:
    top = documents.top(cutoff)
    return total(top.query, top.gain, queries)


def cumulated_gain(ranking: Ranking, *, gain: str, gains: Gains | None, cutoff: int | None) -> Floats:
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


def discounted_gain(ranking: Ranking, *, gain: str, gains: Gains | None, discount: str, cutoff: int | None) -> Floats:
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
    weighted = ranking.keep(
        ("discounted", gain, gains, discount), lambda: discounted(gained(ranking, gain, gains), discount)
    )
    return summed(weighted, cutoff, ranking.queries)


def ideal_gain(ranking: Ranking, *, gain: str, gains: Gains | None, discount: str, cutoff: int | None) -> Floats:
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
    best = ranking.keep(
        ("discounted ideal", gain, gains, discount), lambda: discounted(ideal(ranking, gain, gains), discount)
    )
    return summed(best, cutoff, ranking.queries)


def normalised_discounted_gain(
    ranking: Ranking, *, gain: str, gains: Gains | None, discount: str, cutoff: int | None
) -> Floats:
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
    reached = discounted_gain(ranking, gain=gain, gains=gains, discount=discount, cutoff=cutoff)
    return share(reached, ideal_gain(ranking, gain=gain, gains=gains, discount=discount, cutoff=cutoff))


def normalised_gain(ranking: Ranking, *, gain: str, gains: Gains | None, cutoff: int | None) -> Floats:
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
    reached = cumulated_gain(ranking, gain=gain, gains=gains, cutoff=cutoff)
    return share(reached, summed(ideal(ranking, gain, gains), cutoff, ranking.queries))


def span(_setting: Setting, measure: Measure) -> Range:
    """0 and up, unless `gains` names a negative one."""
    low = -np.inf if loses(measure) else 0.0
    return low, COUNT[1]


def normalised_span(_setting: Setting, measure: Measure) -> Range:
    """0 to 1, unless `gains` names a negative one."""
    return (-np.inf if loses(measure) else 0.0), 1.0


def loses(measure: Measure) -> bool:
    gains = measure.arguments["gains"]
    return bool(gains) and min(gain for _, gain in gains) < 0


def read_gains(text: str) -> dict[str, Value]:
    """trec_eval's 1=3.5,2=9 as our gains."""
    return {"gains": read_value("{" + text.replace("=", ":") + "}")}


def write_gains(arguments: Mapping[str, Any]) -> str | None:
    """Our gains as trec_eval writes them; None without any, when another parameter sets the measure apart."""
    return write(arguments["gains"]).strip("{}").replace(":", "=") if arguments["gains"] else None


GAIN = Parameter(
    "gain",
    "choice",
    "linear",
    choices=("linear", "exp"),
    meaning="the gain of grade g: g, or 2^g − 1",
)
GAINS = Parameter("gains", "gains", meaning="the gain of single grades, in place of what `gain` says")
DISCOUNT = Parameter(
    "discount",
    "choice",
    "log2",
    choices=("log2", "jk"),
    meaning="divide by log2(rank + 1); or, as Järvelin and Kekäläinen first did, by log2(rank) from rank 2 on",
)


CG = Family(
    name="CG",
    title="Cumulated gain",
    compute=cumulated_gain,
    defined_where=with_gain,
    parameters=(GAIN, GAINS),
    cutoff=RANK,
    span=span,
    unit="gain",
)
DCG = Family(
    name="DCG",
    title="Discounted cumulated gain",
    compute=discounted_gain,
    defined_where=with_gain,
    parameters=(GAIN, GAINS, DISCOUNT),
    cutoff=RANK,
    span=span,
    unit="gain",
    trec_eval=(TrecEval("dcg", read=read_gains, write=write_gains),),
)
NDCG = Family(
    name="nDCG",
    title="Normalised discounted cumulated gain",
    compute=normalised_discounted_gain,
    defined_where=with_gain,
    parameters=(GAIN, GAINS, DISCOUNT, JUDGED_ONLY),
    cutoff=RANK,
    span=normalised_span,
    trec_eval=(
        TrecEval("ndcg", read=read_gains, write=write_gains),
        TrecEval("ndcg_cut", takes="cutoff", values=TREC_CUTOFFS),
    ),
)
NCG = Family(
    name="NCG",
    title="Normalised cumulated gain",
    compute=normalised_gain,
    defined_where=with_gain,
    parameters=(GAIN, GAINS),
    cutoff=RANK,
    span=normalised_span,
)

IDCG = Family(
    name="IDCG",
    title="Ideal discounted cumulated gain",
    compute=ideal_gain,
    of_judgments=True,
    defined_where=with_gain,
    parameters=(GAIN, GAINS, DISCOUNT),
    cutoff=RANK,
    span=COUNT,
    unit="gain",
    direction="none",
    trec_eval=(TrecEval("ideal_dcg", read=read_gains, write=write_gains),),
)

FAMILIES = (NDCG, DCG, IDCG, NCG, CG)
