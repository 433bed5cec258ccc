"""Ranks, binary: a document is relevant or it is not, and the earlier the better."""

from dataclasses import replace

import numpy as np

from leaderboard.metrics.aggregation import GEOMETRIC_MEAN
from leaderboard.metrics.measure import REL, Family, TrecEval
from leaderboard.metrics.parameters import Parameter
from leaderboard.metrics.ranking import Ranking
from leaderboard.metrics.segments import Floats, share, total
from leaderboard.metrics.wording import NO_CUTOFF, RANKED, TREC_EVAL

__all__ = ["AP", "FAMILIES", "RANK", "RANK_NEEDED", "TREC_CUTOFFS"]

GROUP = "Ranks, binary"

RANK = Parameter("cutoff", "int", low=1, meaning="only the first k ranks count")
RANK_NEEDED = Parameter("cutoff", "int", low=1, required=True, meaning="only the first k ranks count")

TREC_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


def precision(ranking: Ranking, *, rel: int, cutoff: int) -> Floats:
    """Relevant in the top k / k, float64[Q] in [0, 1]."""
    return ranking.relevant(rel).within(cutoff) / cutoff


def recall(ranking: Ranking, *, rel: int, cutoff: int) -> Floats:
    """Relevant in the top k / all relevant, float64[Q] in [0, 1]; 0 where nothing is relevant."""
    relevant = ranking.relevant(rel)
    return share(relevant.within(cutoff), relevant.judged)


def success(ranking: Ranking, *, rel: int, cutoff: int) -> Floats:
    """1 where a relevant document is in the top k, else 0, float64[Q]."""
    return (ranking.relevant(rel).within(cutoff) > 0).astype(np.float64)


def reciprocal_rank(ranking: Ranking, *, rel: int, cutoff: int | None) -> Floats:
    """1 / rank of the first relevant document (within the cutoff), else 0, float64[Q] in [0, 1]."""
    relevant = ranking.relevant(rel)
    values = np.zeros(ranking.queries)
    hit = relevant.found > 0
    first = relevant.rank[relevant.start[:-1][hit]]
    values[hit] = 1.0 / first
    if cutoff is not None:
        values[values < 1.0 / cutoff] = 0.0
    return values


def average_precision(ranking: Ranking, *, rel: int, norm: str, cutoff: int | None) -> Floats:
    """Σ precision at the ranks of relevant documents / what `norm` names, float64[Q] in [0, 1].

    norm: all relevant documents; hits, those within the cutoff; min, min(all relevant, k).
    """
    relevant = ranking.relevant(rel)
    if cutoff is None:
        summed = total(relevant.query, relevant.precision, ranking.queries)
    else:
        top = relevant.rank <= cutoff
        summed = total(relevant.query[top], relevant.precision[top], ranking.queries)
    if norm == "hits":
        return share(summed, relevant.found if cutoff is None else relevant.within(cutoff))
    if norm == "min" and cutoff is not None:
        return share(summed, np.minimum(relevant.judged, cutoff))
    return share(summed, relevant.judged)


def average_precision_of_all(ranking: Ranking, *, rel: int) -> Floats:
    return average_precision(ranking, rel=rel, norm="all", cutoff=None)


P = Family(
    name="P",
    title="Precision at k",
    summary="The share of the first k ranks that holds relevant documents.",
    group=GROUP,
    compute=precision,
    parameters=(REL,),
    cutoff=RANK_NEEDED,
    trec_eval=(TrecEval("P", takes="cutoff", values=TREC_CUTOFFS),),
    reference=replace(RANKED, formula="P@k = (sum_{i=1}^{k} rel_i) / k"),
)
R = Family(
    name="R",
    title="Recall at k",
    summary="The share of all relevant documents that is in the first k ranks.",
    group=GROUP,
    compute=recall,
    parameters=(REL,),
    cutoff=RANK_NEEDED,
    trec_eval=(TrecEval("recall", takes="cutoff", values=TREC_CUTOFFS),),
    reference=replace(RANKED, formula="R@k = (sum_{i=1}^{k} rel_i) / R"),
)
SUCCESS = Family(
    name="Success",
    title="Success at k",
    summary="Whether a relevant document is in the first k ranks; its mean is the share of the queries where one is.",
    group=GROUP,
    compute=success,
    parameters=(REL,),
    cutoff=RANK_NEEDED,
    trec_eval=(TrecEval("success", takes="cutoff", values=(1, 5, 10)),),
    reference=replace(
        RANKED,
        formula="Success@k = min(1, sum_{i=1}^{k} rel_i)",
        range="0 or 1 for a query, 0 to 1 for the mean",
        source=TREC_EVAL,
    ),
)
RR = Family(
    name="RR",
    title="Reciprocal rank",
    summary="One over the rank of the first relevant document; its mean is known as MRR.",
    group=GROUP,
    compute=reciprocal_rank,
    parameters=(REL,),
    cutoff=RANK,
    trec_eval=(TrecEval("recip_rank"),),
    reference=replace(
        RANKED,
        formula="RR = 1 / min{i : rel_i = 1}",
        beyond="A cutoff beyond the list changes nothing.",
        elsewhere="trec_eval knows no cutoff here; ir_measures has RR@k with the same meaning.",
        source="E. M. Voorhees: The TREC-8 Question Answering Track Report, TREC 1999",
    ),
)
AP = Family(
    name="AP",
    title="Average precision",
    summary="Precision at the rank of each relevant document, averaged over the relevant ones. Its mean is MAP.",
    group=GROUP,
    compute=average_precision,
    parameters=(
        REL,
        Parameter(
            "norm",
            "choice",
            "all",
            choices=("all", "hits", "min"),
            meaning="divide by all relevant documents, by those found within the cutoff, or by min(all relevant, k)",
        ),
    ),
    cutoff=RANK,
    trec_eval=(TrecEval("map"), TrecEval("map_cut", takes="cutoff", values=TREC_CUTOFFS)),
    reference=replace(
        RANKED,
        formula="AP@k = (sum_{i=1}^{k} rel_i · P@i) / R",
        beyond=f"Without one, the whole list counts. {RANKED.beyond}",
        elsewhere="Both compute norm=all; the other norms are known to neither.",
        source="C. Buckley, E. M. Voorhees: Evaluating Evaluation Measure Stability, SIGIR 2000",
    ),
)

GMAP = Family(
    name="GMAP",
    title="Geometric mean of average precision",
    summary="AP with a geometric mean over queries, so that the worst queries weigh most.",
    group=GROUP,
    compute=average_precision_of_all,
    parameters=(REL,),
    aggregation=GEOMETRIC_MEAN,
    trec_eval=(TrecEval("gm_map"),),
    reference=replace(
        RANKED,
        formula="GMAP = exp(mean(ln(max(AP, 0.00001))))",
        no_relevant="Under pooled judgments 0, and the query counts with 0.00001; under complete ones it is left out.",
        missing="Scored as an empty list: it counts with 0.00001.",
        beyond=NO_CUTOFF,
        elsewhere="trec_eval computes the same and prints it for the run only; ir_measures does not name it.",
        source="S. E. Robertson: On GMAP and other transformations, CIKM 2006",
    ),
)

FAMILIES = (AP, GMAP, RR, P, R, SUCCESS)
