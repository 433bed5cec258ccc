"""Ranks, graded: cumulated gain, discounted and normalised."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leaderboard.metrics.families.binary import RANK, TREC_CUTOFFS
from leaderboard.metrics.measure import COUNT, Family, Measure, Range, TrecEval
from leaderboard.metrics.parameters import Gains, Parameter, Value, read_value, write
from leaderboard.metrics.ranking import Ranking, Setting
from leaderboard.metrics.segments import Bools, Floats, Ints, count, share, total
from leaderboard.metrics.wording import RANKED, ZERO

__all__ = ["FAMILIES", "Gained", "gain_of", "gained", "ideal", "with_gain"]

GROUP = "Ranks, graded"


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
        kept = values != 0
        return Gained(ranking.query[hits][kept], ranking.rank[hits][kept], values[kept])

    return ranking.keep(("gained", gain, gains), make)


def ideal(ranking: Ranking, gain: str, gains: Gains | None) -> Gained:
    """All judged documents with a positive gain, each query's highest gains first."""

    def make() -> Gained:
        judged = np.flatnonzero(ranking.judged_grade >= 0)
        values = gain_of(ranking.judged_grade[judged], gain, gains)
        query, place = ranking.judged_query[judged], ranking.judged_place[judged]
        if gains:
            order = np.lexsort((-values, query))
            values = values[order]
        kept = values > 0
        return Gained(query[kept], place[kept], values[kept])

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
    """Σ gain, float64[Q]."""
    return summed(gained(ranking, gain, gains), cutoff, ranking.queries)


def discounted_gain(ranking: Ranking, *, gain: str, gains: Gains | None, discount: str, cutoff: int | None) -> Floats:
    """Σ gain / discount(rank), float64[Q]."""
    found = ranking.keep(
        ("discounted", gain, gains, discount), lambda: discounted(gained(ranking, gain, gains), discount)
    )
    return summed(found, cutoff, ranking.queries)


def normalised_discounted_gain(
    ranking: Ranking, *, gain: str, gains: Gains | None, discount: str, cutoff: int | None
) -> Floats:
    """DCG / DCG of the ideal order of all judged documents, float64[Q]; 0 where nothing has a gain."""
    best = ranking.keep(
        ("discounted ideal", gain, gains, discount), lambda: discounted(ideal(ranking, gain, gains), discount)
    )
    reached = discounted_gain(ranking, gain=gain, gains=gains, discount=discount, cutoff=cutoff)
    return share(reached, summed(best, cutoff, ranking.queries))


def normalised_gain(ranking: Ranking, *, gain: str, gains: Gains | None, cutoff: int | None) -> Floats:
    """CG / CG of the ideal order of all judged documents, float64[Q]; 0 where nothing has a gain."""
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

KEKALAINEN = (
    "K. Järvelin, J. Kekäläinen: Cumulated gain-based evaluation of IR techniques, ACM Transactions on Information "
    "Systems 20 (4), 2002"
)
BURGES = "gain=exp: C. Burges and others: Learning to Rank using Gradient Descent, ICML 2005"

BASE = replace(
    RANKED,
    where=(
        "gain_i is the gain of the document at rank i; ICG and IDCG are CG and DCG of the ideal list: all judged "
        "documents, highest gain first."
    ),
    no_relevant=f"Where no document has a gain: {ZERO}",
    beyond=f"Without one, the whole list counts. {RANKED.beyond.replace('count as not relevant', 'gain nothing')}",
    unjudged="An unjudged document gains nothing.",
    source=f"{KEKALAINEN}; {BURGES}",
)

CG = Family(
    name="CG",
    title="Cumulated gain",
    summary="The sum of the gains of the documents in the first k ranks.",
    group=GROUP,
    compute=cumulated_gain,
    defined_where=with_gain,
    parameters=(GAIN, GAINS),
    cutoff=RANK,
    span=span,
    unit="gain",
    reference=replace(
        BASE,
        formula="CG@k = sum_{i=1}^{k} gain_i",
        range="0 and up (below 0 only with negative gains)",
        unit="Gain.",
        elsewhere="Neither has it.",
        source=KEKALAINEN,
    ),
)
DCG = Family(
    name="DCG",
    title="Discounted cumulated gain",
    summary="Gains in the first k ranks, each worth less the lower its rank.",
    group=GROUP,
    compute=discounted_gain,
    defined_where=with_gain,
    parameters=(GAIN, GAINS, DISCOUNT),
    cutoff=RANK,
    span=span,
    unit="gain",
    reference=replace(
        BASE,
        formula="DCG@k = sum_{i=1}^{k} gain_i / log_2(i + 1)",
        range="0 and up (below 0 only with negative gains)",
        unit="Gain.",
        elsewhere="trec_eval and ir_measures offer only the normalised one.",
    ),
)
NDCG = Family(
    name="nDCG",
    title="Normalised discounted cumulated gain",
    summary="DCG as a share of the DCG of the best order of all judged documents.",
    group=GROUP,
    compute=normalised_discounted_gain,
    defined_where=with_gain,
    parameters=(GAIN, GAINS, DISCOUNT),
    cutoff=RANK,
    span=normalised_span,
    trec_eval=(
        TrecEval("ndcg", read=read_gains, write=write_gains),
        TrecEval("ndcg_cut", takes="cutoff", values=TREC_CUTOFFS),
    ),
    reference=replace(
        BASE,
        formula="nDCG@k = DCG@k / IDCG@k",
        range="0 to 1 (below 0 only with negative gains)",
        elsewhere=(
            "Both compute the same with linear gains. trec_eval's ndcg_cut takes no gains, and its ndcg takes gains "
            "that differ by less than 1 as equal when it orders the ideal list. ir_measures writes gain=exp as "
            "dcg='exp-log2'."
        ),
    ),
)
NCG = Family(
    name="NCG",
    title="Normalised cumulated gain",
    summary="CG as a share of the CG of the best order of all judged documents: recall with grades.",
    group=GROUP,
    compute=normalised_gain,
    defined_where=with_gain,
    parameters=(GAIN, GAINS),
    cutoff=RANK,
    span=normalised_span,
    reference=replace(
        BASE,
        formula="NCG@k = CG@k / ICG@k",
        range="0 to 1 (below 0 only with negative gains)",
        elsewhere="Neither has it.",
        source=KEKALAINEN,
    ),
)

FAMILIES = (NDCG, DCG, NCG, CG)
