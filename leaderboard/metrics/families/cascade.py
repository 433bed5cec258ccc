"""Ranks, graded: ERR, a reader who stops when satisfied, and ADR, recall against the ideal order of grades."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from leaderboard.metrics.families.binary import RANK
from leaderboard.metrics.measure import REL, Family
from leaderboard.metrics.parameters import GRADE_LIMIT, Parameter, Value
from leaderboard.metrics.ranking import Ranking, Setting
from leaderboard.metrics.segments import Floats, running, share, total


def expected_reciprocal_rank(ranking: Ranking, *, gmax: int, max: str | None, cutoff: int | None) -> Floats:  # noqa: A002  # as in ERR(max=data)
    """The expected inverse rank at which a reader stops, who stops more readily at higher grades.

    Formula: ERR@k = sum_{i=1}^{k} (1 / i) · R_i · prod_{j<i} (1 − R_j), R_i = (2^{g_i} − 1) / 2^{gmax}
    Symbols: g_i is the grade at rank i, 0 where unjudged or negative; gmax is 4 unless given, or the evaluation's
        highest grade with max=data. A higher grade than gmax is an error.
    Range: 0 to 1; the highest grade at rank 1 gives 1 − 2^{−gmax}
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Without one, the whole list counts. Ranks that a list lacks add nothing.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval has none; ir_measures' ERR@k is gdeval's, which is this one: gmax is 4, and
        higher grades are refused.
    Source: O. Chapelle and others: Expected Reciprocal Rank for Graded Relevance, CIKM 2009

    Σ (1 / i) · R_i · Π_{j < i} (1 − R_j), float64[Q] in [0, 1), R = (2^g − 1) / 2^gmax.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> expected_reciprocal_rank(graded_lists([1, None, 0, 2], missed=[1]), gmax=4, max=None, cutoff=None).round(4)
    array([0.1064])
    """
    top = gmax if max is None else ranking.highest_grade
    content = ranking.relevant(1)
    grade = ranking.grade[ranking.grade >= 1]
    stops = (np.exp2(grade) - 1.0) / np.exp2(top)
    # The probability of getting here: that of going on past each relevant document before.
    goes_on = running(content.query, 1.0 - stops, np.multiply)
    arrives = np.ones(len(goes_on))
    arrives[1:] = np.where(content.query[1:] == content.query[:-1], goes_on[:-1], 1.0)
    worth = arrives * stops / content.rank
    if cutoff is not None:
        worth = np.where(content.rank <= cutoff, worth, 0.0)
    return total(content.query, worth, ranking.queries)


def grade_above(setting: Setting, arguments: Mapping[str, Any]) -> str | None:
    """gdeval refuses grades above its maximum too: cutting them off would give a figure under a name that it isn't."""
    gmax, highest = arguments["gmax"], setting.highest_grade or 0
    if arguments["max"] == "data" or highest <= gmax:
        return None
    return f"takes grades up to {gmax}, and grade {highest} was judged: write gmax={highest}, or max=data"


def one_maximum(arguments: Mapping[str, Value]) -> str | None:
    """gmax and max are two ways to say what the highest grade is."""
    return (
        "gmax and max=data both say what the highest grade is; give one" if {"gmax", "max"} <= set(arguments) else None
    )


def average_dynamic_recall(ranking: Ranking, *, rel: int) -> Floats:
    """Recall at each rank against the documents that the ideal list could have shown by then.

    Formula: ADR = (1 / R) · sum_{i=1}^{R} |top_i ∩ {d : g_d ≥ ideal_i}| / i
    Symbols: top_i are the first i documents, g_d is the grade of d, ideal_i the i-th highest grade judged.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: the whole list counts down to rank R.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: Neither has it.
    Source: R. Typke, R. C. Veltkamp, F. Wiering: A measure for evaluating retrieval techniques based on partially
        ordered ground truth lists, ICME 2006

    Mean over i <= R of |top i ∩ documents graded at least as high as the i-th ideal one| / i, float64[Q].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> average_dynamic_recall(graded_lists([1, None, 0, 2], missed=[1]), rel=1).round(4)
    array([0.2778])
    """
    summed = np.zeros(ranking.queries)
    for level in np.unique(ranking.judged_grade[ranking.judged_grade >= rel]):
        here = ranking.judged_grade == level
        query, rank = ranking.judged_query[here], ranking.judged_place[here]
        summed += total(query, ranking.relevant(int(level)).at(query, rank) / rank, ranking.queries)
    return share(summed, ranking.relevant(rel).judged)


ERR = Family(
    name="ERR",
    title="Expected reciprocal rank",
    compute=expected_reciprocal_rank,
    parameters=(
        Parameter("gmax", "int", 4, low=1, high=GRADE_LIMIT, meaning="the highest grade that there can be"),
        Parameter("max", "choice", choices=("data",), meaning="data: gmax is the highest grade of the evaluation"),
    ),
    check=one_maximum,
    refuse=grade_above,
    cutoff=RANK,
)
ADR = Family(
    name="ADR",
    title="Average dynamic recall",
    compute=average_dynamic_recall,
    parameters=(REL,),
)

FAMILIES = (ERR, ADR)
