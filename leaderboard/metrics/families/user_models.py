"""Ranks, graded: a reader who goes on from rank to rank with a probability that the gain so far may change (C/W/L).

Each measure is the expected gain of a document that this reader looks at: rank i is weighed by the probability of
getting there, W_i = C_1 · … · C_{i − 1} over the sum of all these. They differ in C_i, the probability of going on from
rank i to the next.

Source: A. Moffat, P. Bailey, F. Scholer, P. Thomas: Incorporating User Expectations and Behavior into the Measurement
of Search Effectiveness, ACM Transactions on Information Systems 35 (3), 2017.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from leaderboard.metrics.families.binary import RANK_NEEDED
from leaderboard.metrics.measure import Family
from leaderboard.metrics.parameters import GRADE_LIMIT, Parameter, Value
from leaderboard.metrics.ranking import Ranking, Setting
from leaderboard.metrics.segments import Bools, Floats

DEPTH = 1000  # ranks that the reader may look at; what a list lacks of them gains nothing (cwl_eval's default)
ROWS = 256  # queries at a time: a table of 2 MB


def expected_gain(
    ranking: Ranking, min_rel: int, max_rel: int | None, depth: int, goes_on: Callable[[Floats, Floats], Floats]
) -> Floats:
    """float64[Q] in [0, 1], the expected gain of a document that the reader looks at.

    goes_on: (rank float64[depth], gains float64[rows, depth]) -> C, which broadcasts to float64[rows, depth]; what it
    gives for the last rank is not used.
    """
    top = ranking.highest_grade if max_rel is None else max_rel
    hits = np.flatnonzero((ranking.grade > min_rel) & (ranking.rank <= depth))
    query, column = ranking.query[hits], ranking.rank[hits] - 1
    gain = (np.minimum(ranking.grade[hits], top) - min_rel) / max(top - min_rel, 1)
    rank = np.arange(1.0, depth + 1.0)
    expected = np.zeros(ranking.queries)
    for first in range(0, ranking.queries, ROWS):
        here = slice(*np.searchsorted(query, (first, first + ROWS)))
        gains = np.zeros((min(ROWS, ranking.queries - first), depth))
        gains[query[here] - first, column[here]] = gain[here]
        reaches = np.ones_like(gains)
        reaches[:, 1:] = np.cumprod(np.broadcast_to(goes_on(rank, gains), gains.shape)[:, :-1], axis=1)
        expected[first : first + ROWS] = (reaches * gains).sum(axis=1) / reaches.sum(axis=1)
    return expected


def scaled_dcg(ranking: Ranking, *, min_rel: int, max_rel: int | None, cutoff: int) -> Floats:
    """DCG as a share of what a list of nothing but highest grades would have, however few of those are judged.

    Formula: SDCG@k = (sum_{i=1}^{k} gain_i / log_2(i + 1)) / (sum_{i=1}^{k} 1 / log_2(i + 1))
    Symbols: gain_i is (grade − min_rel) / (max_rel − min_rel) at rank i, within 0 and 1.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Ranks that a list lacks gain nothing; nobody looks beyond rank 1,000.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: ir_measures' SDCG (cwl_eval) is the same; there max_rel has to be given.
        trec_eval has none.
    Source: L. Azzopardi, P. Thomas, A. Moffat: cwl_eval: An Evaluation Tool for Information Retrieval, SIGIR 2019

    Σ gain / log2(rank + 1) over Σ 1 / log2(rank + 1), float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> scaled_dcg(graded_lists([1, None, 0, 2], missed=[1]), min_rel=0, max_rel=2, cutoff=4).round(4)
    array([0.3633])
    """

    def goes_on(rank: Floats, _gains: Floats) -> Floats:
        return np.log2(rank + 1.0) / np.log2(rank + 2.0)

    return expected_gain(ranking, min_rel, max_rel, min(cutoff, DEPTH), goes_on)


def bejeweled_player(ranking: Ranking, *, T: float, min_rel: int, max_rel: int | None, cutoff: int) -> Floats:
    """What each document brings to a reader who stops once the gain T is reached, or at rank k.

    Formula: BPM@k = (sum_{i=1}^{s} gain_i) / s
    Symbols: s is the first rank at which the gains add up to T, k at most; gain_i is
        (grade − min_rel) / (max_rel − min_rel) at rank i, within 0 and 1.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Ranks that a list lacks gain nothing; nobody looks beyond rank 1,000.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: ir_measures' BPM (cwl_eval, the static model) is the same; there max_rel has to be given.
        trec_eval has none.
    Source: F. Zhang and others: Evaluating Web Search with a Bejeweled Player Model, SIGIR 2017

    The mean gain of the ranks looked at, float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> bejeweled_player(graded_lists([1, None, 0, 2], missed=[1]), T=0.5, min_rel=0, max_rel=2, cutoff=4)
    array([0.5])
    """

    def goes_on(_rank: Floats, gains: Floats) -> Floats:
        return (np.cumsum(gains, axis=1) < T).astype(np.float64)

    return expected_gain(ranking, min_rel, max_rel, min(cutoff, DEPTH), goes_on)


def insq(ranking: Ranking, *, T: float, min_rel: int, max_rel: int | None) -> Floats:
    """The expected gain of a document for a reader who wants T of them and goes on more readily the further down.

    Formula: INSQ = sum_{i} W_i · gain_i
    Symbols: W_i, the share of rank i, is proportional to C_1 · … · C_{i − 1} with
        C_i = ((i + 2T − 1) / (i + 2T))²; gain_i is (grade − min_rel) / (max_rel − min_rel), within 0 and 1.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: 1,000 ranks are looked at, and those that a list lacks gain nothing.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: ir_measures' INSQ (cwl_eval) is the same; there max_rel has to be given.
        trec_eval has none.
    Source: A. Moffat, F. Scholer, P. Thomas: Models and Metrics: IR Evaluation as a User Process, ADCS 2012

    Σ W · gain over the first 1,000 ranks, float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> insq(graded_lists([1, None, 0, 2], missed=[1]), T=1.0, min_rel=0, max_rel=2).round(4)
    array([0.2562])
    """

    def goes_on(rank: Floats, _gains: Floats) -> Floats:
        return ((rank + 2.0 * T - 1.0) / (rank + 2.0 * T)) ** 2

    return expected_gain(ranking, min_rel, max_rel, DEPTH, goes_on)


def inst(ranking: Ranking, *, T: float, min_rel: int, max_rel: int | None) -> Floats:
    """INSQ for a reader who stops the sooner the more of the wanted gain T is there already.

    Formula: INST = sum_{i} W_i · gain_i
    Symbols: W_i, the share of rank i, is proportional to C_1 · … · C_{i − 1} with
        C_i = ((i + T + T_i − 1) / (i + T + T_i))², where T_i = T − gain_1 − … − gain_i is what is still wanted after
        rank i; gain_i is (grade − min_rel) / (max_rel − min_rel), within 0 and 1.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: 1,000 ranks are looked at, and those that a list lacks gain nothing.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: ir_measures' INST (cwl_eval) is the same; there max_rel has to be given.
        trec_eval has none.
    Source: P. Bailey, A. Moffat, F. Scholer, P. Thomas: User Variability and IR System Evaluation, SIGIR 2015

    Σ W · gain over the first 1,000 ranks, float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> inst(graded_lists([1, None, 0, 2], missed=[1]), T=1.0, min_rel=0, max_rel=2).round(4)
    array([0.3068])
    """

    def goes_on(rank: Floats, gains: Floats) -> Floats:
        reach = rank + 2.0 * T - np.cumsum(gains, axis=1)  # at least 2T: no gain is above 1
        return ((reach - 1.0) / reach) ** 2

    return expected_gain(ranking, min_rel, max_rel, DEPTH, goes_on)


def nearly_err_8(ranking: Ranking, *, min_rel: int, max_rel: int | None, cutoff: int) -> Floats:
    """Nearly ERR: the expected gain of a document for a reader whom gain alone stops, or rank k.

    Formula: NERR8@k = sum_{i=1}^{k} W_i · gain_i
    Symbols: W_i, the share of rank i, is proportional to C_1 · … · C_{i − 1} with C_i = 1 − gain_i; gain_i is
        (grade − min_rel) / (max_rel − min_rel), within 0 and 1.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Ranks that a list lacks gain nothing; nobody looks beyond rank 1,000.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: ir_measures' NERR8 (cwl_eval) is the same; there max_rel has to be given.
        trec_eval has none.
    Source: L. Azzopardi, J. Mackenzie, A. Moffat: ERR is not C/W/L, ICTIR 2021, equation 8

    Σ W · gain over the first k ranks, float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> nearly_err_8(graded_lists([1, None, 0, 2], missed=[1]), min_rel=0, max_rel=2, cutoff=4)
    array([0.4])
    """

    def goes_on(_rank: Floats, gains: Floats) -> Floats:
        return 1.0 - gains

    return expected_gain(ranking, min_rel, max_rel, min(cutoff, DEPTH), goes_on)


def nearly_err_9(ranking: Ranking, *, min_rel: int, max_rel: int | None, cutoff: int) -> Floats:
    """Nearly ERR: the expected gain of a document for a reader whom gain stops, and the way down, or rank k.

    Formula: NERR9@k = sum_{i=1}^{k} W_i · gain_i
    Symbols: W_i, the share of rank i, is proportional to C_1 · … · C_{i − 1} with
        C_i = (1 − gain_i) · i / (i + 1); gain_i is (grade − min_rel) / (max_rel − min_rel), within 0 and 1.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Ranks that a list lacks gain nothing; nobody looks beyond rank 1,000.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: ir_measures' NERR9 (cwl_eval) is the same; there max_rel has to be given.
        trec_eval has none.
    Source: L. Azzopardi, J. Mackenzie, A. Moffat: ERR is not C/W/L, ICTIR 2021, equation 9

    Σ W · gain over the first k ranks, float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> nearly_err_9(graded_lists([1, None, 0, 2], missed=[1]), min_rel=0, max_rel=2, cutoff=4).round(4)
    array([0.4054])
    """

    def goes_on(rank: Floats, gains: Floats) -> Floats:
        return (1.0 - gains) * rank / (rank + 1.0)

    return expected_gain(ranking, min_rel, max_rel, min(cutoff, DEPTH), goes_on)


def nearly_err_10(ranking: Ranking, *, p: float, min_rel: int, max_rel: int | None) -> Floats:
    """Nearly ERR: the expected gain of a document for a reader whom gain stops, and impatience as in RBP.

    Formula: NERR10 = sum_{i} W_i · gain_i
    Symbols: W_i, the share of rank i, is proportional to C_1 · … · C_{i − 1} with C_i = p · (1 − gain_i); gain_i is
        (grade − min_rel) / (max_rel − min_rel), within 0 and 1.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: 1,000 ranks are looked at, and those that a list lacks gain nothing.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: ir_measures' NERR10 (cwl_eval) is the same; there max_rel has to be given.
        trec_eval has none.
    Source: L. Azzopardi, J. Mackenzie, A. Moffat: ERR is not C/W/L, ICTIR 2021, equation 10

    Σ W · gain over the first 1,000 ranks, float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> nearly_err_10(graded_lists([1, None, 0, 2], missed=[1]), p=0.9, min_rel=0, max_rel=2).round(4)
    array([0.3895])
    """

    def goes_on(_rank: Floats, gains: Floats) -> Floats:
        return p * (1.0 - gains)

    return expected_gain(ranking, min_rel, max_rel, DEPTH, goes_on)


def nearly_err_11(ranking: Ranking, *, T: float, min_rel: int, max_rel: int | None) -> Floats:
    """Nearly ERR: the expected gain of a document for a reader whom gain stops, and who else goes on as in INSQ.

    Formula: NERR11 = sum_{i} W_i · gain_i
    Symbols: W_i, the share of rank i, is proportional to C_1 · … · C_{i − 1} with
        C_i = (1 − gain_i) · ((i + 2T − 1) / (i + 2T))²; gain_i is (grade − min_rel) / (max_rel − min_rel), within 0
        and 1.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: It takes no cutoff: 1,000 ranks are looked at, and those that a list lacks gain nothing.
    Unjudged documents: An unjudged document gains nothing.
    trec_eval and ir_measures: ir_measures' NERR11 (cwl_eval) is the same; there max_rel has to be given.
        trec_eval has none.
    Source: L. Azzopardi, J. Mackenzie, A. Moffat: ERR is not C/W/L, ICTIR 2021, equation 11

    Σ W · gain over the first 1,000 ranks, float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> nearly_err_11(graded_lists([1, None, 0, 2], missed=[1]), T=1.0, min_rel=0, max_rel=2).round(4)
    array([0.4064])
    """

    def goes_on(rank: Floats, gains: Floats) -> Floats:
        return (1.0 - gains) * ((rank + 2.0 * T - 1.0) / (rank + 2.0 * T)) ** 2

    return expected_gain(ranking, min_rel, max_rel, DEPTH, goes_on)


def with_gain(ranking: Ranking, *, min_rel: int, **_others: object) -> Bools:
    """bool[Q]: whether a document of the query is judged to gain anything."""
    return ranking.relevant(min_rel + 1).judged > 0


def rising(arguments: Mapping[str, Value]) -> str | None:
    """Gains lie between two grades, so these must be two."""
    low, high = arguments.get("min_rel") or 0, arguments.get("max_rel")
    if isinstance(low, int) and isinstance(high, int) and high <= low:
        return f"max_rel={high} must be above min_rel={low}"
    return None


def nothing_above(setting: Setting, arguments: Mapping[str, Any]) -> str | None:
    """Without max_rel the evaluation's highest grade stands for it, and must be above min_rel too."""
    min_rel, highest = arguments["min_rel"], setting.highest_grade or 0
    if arguments["max_rel"] is not None or min_rel == 0 or highest > min_rel:
        return None
    return f"needs grades above min_rel={min_rel}, and {highest} is the highest judged: give max_rel"


MIN_REL = Parameter("min_rel", "int", 0, low=0, high=GRADE_LIMIT - 1, meaning="the grade up to which nothing is gained")
MAX_REL = Parameter(
    "max_rel",
    "int",
    low=1,
    high=GRADE_LIMIT,
    meaning="the grade from which on 1 is gained; the evaluation's highest grade unless given",
)
WANTED = Parameter("T", "float", 1.0, low=0.0, above=True, meaning="the gain that the reader wants in all")
PERSISTENCE = Parameter(
    "p", "float", 0.9, low=0.0, high=1.0, meaning="the probability of going on where nothing is gained"
)


def _family(name: str, title: str, compute: Callable[..., Floats], *own: Parameter, cut: bool) -> Family:
    return Family(
        name=name,
        title=title,
        compute=compute,
        parameters=(*own, MIN_REL, MAX_REL),
        cutoff=RANK_NEEDED if cut else None,
        defined_where=with_gain,
        check=rising,
        refuse=nothing_above,
    )


FAMILIES = (
    _family("SDCG", "Scaled discounted cumulative gain", scaled_dcg, cut=True),
    _family("BPM", "Bejeweled Player Model", bejeweled_player, WANTED, cut=True),
    _family("INSQ", "INSQ", insq, WANTED, cut=False),
    _family("INST", "INST", inst, WANTED, cut=False),
    _family("NERR8", "Nearly ERR, stopped by gain", nearly_err_8, cut=True),
    _family("NERR9", "Nearly ERR, stopped by gain and rank", nearly_err_9, cut=True),
    _family("NERR10", "Nearly ERR, stopped by gain and impatience", nearly_err_10, PERSISTENCE, cut=False),
    _family("NERR11", "Nearly ERR, stopped by gain or going on as in INSQ", nearly_err_11, WANTED, cut=False),
)
