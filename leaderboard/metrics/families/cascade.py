"""Ranks, graded: the reader who stops once content, and recall against a ladder of grades."""

from dataclasses import replace

import numpy as np

from leaderboard.metrics.families.binary import RANK
from leaderboard.metrics.measure import REL, Family
from leaderboard.metrics.parameters import GRADE_LIMIT, Parameter
from leaderboard.metrics.ranking import Ranking
from leaderboard.metrics.segments import Floats, running, share, total
from leaderboard.metrics.wording import NO_CUTOFF, RANKED

__all__ = ["FAMILIES"]

GROUP = "Ranks, graded"


def expected_reciprocal_rank(ranking: Ranking, *, gmax: int | None, cutoff: int | None) -> Floats:
    """Σ (1 / i) · R_i · Π_{j < i} (1 − R_j), float64[Q] in [0, 1), R = (2^g − 1) / 2^gmax."""
    highest = gmax if gmax is not None else ranking.setting.highest_grade
    if highest is None:
        highest = int(ranking.judged_grade.max(initial=0))
    content = ranking.relevant(1)
    grade = ranking.grade[ranking.grade >= 1]
    stops = (np.exp2(np.minimum(grade, highest)) - 1.0) / np.exp2(highest)
    # The probability of getting here: that of going on past each relevant document before.
    goes_on = running(content.query, 1.0 - stops, np.multiply)
    arrives = np.ones(len(goes_on))
    arrives[1:] = np.where(content.query[1:] == content.query[:-1], goes_on[:-1], 1.0)
    worth = arrives * stops / content.rank
    if cutoff is not None:
        worth = np.where(content.rank <= cutoff, worth, 0.0)
    return total(content.query, worth, ranking.queries)


def average_dynamic_recall(ranking: Ranking, *, rel: int) -> Floats:
    """Mean over i <= R of |top i ∩ documents graded at least as high as the i-th ideal one| / i, float64[Q]."""
    summed = np.zeros(ranking.queries)
    for level in np.unique(ranking.judged_grade[ranking.judged_grade >= rel]):
        here = ranking.judged_grade == level
        query, place = ranking.judged_query[here], ranking.judged_place[here]
        summed += total(query, ranking.relevant(int(level)).at(query, place) / place, ranking.queries)
    return share(summed, ranking.relevant(rel).judged)


ERR = Family(
    name="ERR",
    title="Expected reciprocal rank",
    summary="The expected inverse rank at which a reader stops, who stops more readily at higher grades.",
    group=GROUP,
    compute=expected_reciprocal_rank,
    parameters=(
        Parameter(
            "gmax",
            "int",
            low=1,
            high=GRADE_LIMIT,
            meaning="the highest grade there can be; the evaluation's own by default",
        ),
    ),
    cutoff=RANK,
    reference=replace(
        RANKED,
        formula="ERR@k = sum_{i=1}^{k} (1 / i) · R_i · prod_{j<i} (1 − R_j), R_i = (2^{g_i} − 1) / 2^{gmax}",
        where="g_i is the grade at rank i, 0 where unjudged or negative; gmax the highest grade there can be.",
        range="0 to 1; the highest grade at rank 1 gives 1 − 2^{−gmax}",
        beyond="Without one, the whole list counts. Ranks that a list lacks add nothing.",
        elsewhere="trec_eval has none; ir_measures calls gdeval, where gmax is 4 and 20 ranks count by default.",
        source="O. Chapelle and others: Expected Reciprocal Rank for Graded Relevance, CIKM 2009",
    ),
)
ADR = Family(
    name="ADR",
    title="Average dynamic recall",
    summary="Recall at each rank against the documents that the ideal list could have shown by then.",
    group=GROUP,
    compute=average_dynamic_recall,
    parameters=(REL,),
    reference=replace(
        RANKED,
        formula="ADR = (1 / R) · sum_{i=1}^{R} |top_i ∩ {d : g_d ≥ ideal_i}| / i",
        where="top_i are the first i documents, g_d is the grade of d, ideal_i the i-th highest grade judged.",
        beyond=NO_CUTOFF[:-1] + " down to rank R.",
        elsewhere="Neither has it.",
        source=(
            "R. Typke, R. C. Veltkamp, F. Wiering: A measure for evaluating retrieval techniques based on partially "
            "ordered ground truth lists, ICME 2006"
        ),
    ),
)

FAMILIES = (ERR, ADR)
