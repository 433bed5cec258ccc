"""Ranks: a reader who goes on from rank to rank, with a fixed probability (RBP), with one that the gain so far may
change (C/W/L), or until satisfied (ERR).

Each measure of C/W/L is the expected gain of a document that this reader looks at: rank i is weighed by the probability
of getting there, W_i = C_1 · … · C_{i − 1} over the sum of all these. They differ in C_i, the probability of going on
from rank i to the next.

Source: A. Moffat, P. Bailey, F. Scholer, P. Thomas: Incorporating User Expectations and Behavior into the Measurement
of Search Effectiveness, ACM Transactions on Information Systems 35 (3), 2017.
"""

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any

import numpy as np

from leaderboard.metrics import measure as metric_measure
from leaderboard.metrics.families.binary import RANK, RANK_NEEDED
from leaderboard.metrics.families.graded import GAINS, Gained, Gains, gained, graded, read_gains, summed, with_gain
from leaderboard.metrics.ranking import Ranking, Setting, kept
from leaderboard.metrics.segments import Bools, Floats, running, share, total
from leaderboard.numbers import GRADE_LIMIT

PERSISTENCE = "the probability of going on to the next rank"


@kept
def powers(ranking: Ranking, p: float) -> Floats:
    """float64[longest list + 1]: p^0, p^1 …, each the one before times p."""
    longest = int(ranking.retrieved.max(initial=0))
    return np.cumprod(np.concatenate(([1.0], np.full(longest, p))), dtype=np.float64)


def read_pairs(text: str) -> dict[str, metric_measure.Value]:
    """trec_eval's p=0.8,1=0.5 as our p and gains."""
    parts = [part.split("=") for part in text.split(",")]
    pairs = dict(parts)
    if len(pairs) < len(parts):
        raise ValueError("a name is given twice")
    values = {"p": metric_measure.read_value(pairs.pop("p"))} if "p" in pairs else {}
    return values | (read_gains(",".join(map("=".join, pairs.items()))) if pairs else {})


def gains_only_scaled(arguments: Mapping[str, metric_measure.Value]) -> str | None:
    """With binary gains every relevant document is worth 1, whatever `gains` says."""
    is_unused = arguments.get("gains") is not None and arguments.get("gain") != "scaled"
    return "gains says what grades are worth, so it goes with gain=scaled only" if is_unused else None


@metric_measure.measured(
    "Ranks, binary",
    "RBP",
    "Rank-biased precision",
    metric_measure.REL,
    metric_measure.fraction("p", 0.8, PERSISTENCE),
    metric_measure.choice(
        "gain",
        ("binary", "scaled"),
        "1 for a relevant document, or its grade over the query's highest (then rel does not matter)",
    ),
    GAINS,
    cutoff=RANK,
    defined_where=with_gain,
    check=gains_only_scaled,
    trec_eval=metric_measure.TrecEval(
        "rbp", given=(("p", 0.9), ("gain", "scaled")), read=read_pairs, example="p=0.8,1=0.5"
    ),
)
def rank_biased_precision(ranking: Ranking, rel: int, p: float, gain: str, gains: Gains, cutoff: int | None) -> Floats:
    """What a reader gains on average who goes on from rank to rank with probability p.

    Formula: RBP = (1 − p) · sum_{i} gain_i · p^{i − 1}
    Symbols: gain_i is what the document at rank i is worth: 1 when relevant, else 0; or its scaled grade.
    Range: 0 to 1; 1 is approached, never reached
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: 0, and the query counts, under pooled judgments; undefined, and left out of the mean, under
        complete ones.
    Missing query: Scored as an empty list: 0, and it counts towards the mean.
    Cutoff beyond the list: Without one, the whole list counts. Ranks that a list lacks gain nothing.
    Unjudged documents: An unjudged document counts as not relevant.
    trec_eval and ir_measures: trec_eval 10's rbp is RBP(p=0.9, gain=scaled): graded, whatever -l says. ir_measures has
        p=0.8 and binary gains, as here.
    Source: A. Moffat, J. Zobel: Rank-Biased Precision for Measurement of Retrieval Effectiveness, ACM Transactions on
        Information Systems 27 (1), 2008

    (1 − p) Σ gain · p^(rank − 1), float64[Q] in [0, 1].

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> ranking = graded_lists([1, None, 0, 2], missed=[1])
    >>> rank_biased_precision(ranking, rel=1, p=0.8, gain='binary', gains=None, cutoff=None)
    array([0.3024])
    """
    if gain == "binary":
        relevant = ranking.relevant(rel)
        worth = Gained(relevant.query, relevant.rank, np.ones(len(relevant.rank)))
    else:
        actual = gained(ranking, "linear", gains)
        scale = np.maximum(largest(ranking, gains), 1.0)[actual.query]
        worth = Gained(actual.query, actual.rank, actual.gain / scale)
    top = worth.top(cutoff)
    return (1.0 - p) * total(top.query, top.gain * powers(ranking, p)[top.rank - 1], ranking.queries)


def largest(ranking: Ranking, gains: Gains) -> Floats:
    """float64[Q]: the largest gain of a query's judged documents, or that `gains` names."""
    values = np.full(ranking.queries, max((gain for _, gain in gains or ()), default=0.0))
    unmapped = ~np.isin(ranking.judged_grade, [grade for grade, _ in gains or ()])
    np.maximum.at(values, ranking.judged_query[unmapped], ranking.judged_grade[unmapped].astype(np.float64))
    return values


@metric_measure.measured(
    "Ranks, incomplete judgments",
    "RBPResidual",
    "Residual of rank-biased precision",
    metric_measure.fraction("p", 0.9, PERSISTENCE),
    defined_where=None,
    direction="lower",
    trec_eval=metric_measure.TrecEval("rbp_resid", read=read_pairs, example="p=0.8"),
)
def residual(ranking: Ranking, p: float) -> Floats:
    """How much higher RBP could be if every unjudged document were relevant.

    Formula: RBPResidual = p^n + (1 − p) · sum_{i unjudged} p^{i − 1}
    Symbols: n is the length of the list; the sum runs over the ranks of unjudged documents.
    Range: 0 to 1
    Ties: Equal scores are ordered by document id, descending, compared as bytes (trec_eval's rule).
    No relevant document: It does not matter.
    Missing query: An empty list has no unjudged document: 0.
    Cutoff beyond the list: It takes no cutoff: the whole list counts.
    Unjudged documents: They are what it measures; a negative grade counts as unjudged. 0 where all are judged.
    trec_eval and ir_measures: trec_eval 10 computes the same; ir_measures does not name it.
    Source: A. Moffat, J. Zobel: Rank-Biased Precision for Measurement of Retrieval Effectiveness, ACM Transactions on
        Information Systems 27 (1), 2008

    What RBP could still gain, float64[Q] in [0, 1]: every unjudged rank, and all beyond the list, were relevant.

    0 where no retrieved document is unjudged, an empty list too.

    >>> from leaderboard.metrics.ranking import graded_lists
    >>> residual(graded_lists([1, None, 0, 2], missed=[1]), p=0.9)
    array([0.7461])
    """
    judged = ranking.relevant(0)
    step = powers(ranking, p)
    up_to = np.concatenate(([0.0], np.cumsum(step[:-1])))
    known = total(judged.query, step[judged.rank - 1], ranking.queries)
    rest = step[ranking.retrieved] + (1.0 - p) * (up_to[ranking.retrieved] - known)
    return np.where(judged.found < ranking.retrieved, rest, 0.0)


def grade_above(setting: Setting, arguments: Mapping[str, Any]) -> str | None:
    """gdeval refuses grades above its maximum too: cutting them off would give a figure under a name that it isn't."""
    gmax, highest = arguments["gmax"], setting.highest_grade or 0
    if arguments["max"] == "data" or highest <= gmax:
        return None
    return f"takes grades up to {gmax}, and grade {highest} was judged: write gmax={highest}, or max=data"


@graded(
    "ERR",
    "Expected reciprocal rank",
    metric_measure.Parameter("gmax", "int", "the highest grade that there can be", 4, low=1, high=GRADE_LIMIT),
    metric_measure.Parameter("max", "choice", "data: gmax is the highest grade of the evaluation", choices=("data",)),
    cutoff=RANK,
    check=metric_measure.only_one_of("gmax", "max"),
    refuse=grade_above,
)
def expected_reciprocal_rank(ranking: Ranking, gmax: int, max: str | None, cutoff: int | None) -> Floats:  # noqa: A002  # as in ERR(max=data)
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
    worth = Gained(content.query, content.rank, arrives * stops / content.rank)
    return summed(worth, cutoff, ranking.queries)


@graded("ADR", "Average dynamic recall", metric_measure.REL)
def average_dynamic_recall(ranking: Ranking, rel: int) -> Floats:
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


DEPTH = 1000  # ranks that the reader may look at; what a list lacks of them gains nothing (cwl_eval's default)
ROWS = 256  # queries at a time: a table of 2 MB
MIN_REL = metric_measure.Parameter(
    "min_rel", "int", "the grade up to which nothing is gained", 0, low=0, high=GRADE_LIMIT - 1
)
FROM_THERE = "the grade from which on 1 is gained; the evaluation's highest grade unless given"
MAX_REL = metric_measure.Parameter("max_rel", "int", FROM_THERE, low=1, high=GRADE_LIMIT)
WANTED = metric_measure.Parameter("T", "float", "the gain that the reader wants in all", 1.0, low=0.0, above=True)
PATIENCE = metric_measure.fraction("p", 0.9, "the probability of going on where nothing is gained")


def with_player_gain(ranking: Ranking, min_rel: int, **_others: object) -> Bools:
    """bool[Q]: whether a document of the query is judged to gain anything."""
    return ranking.relevant(min_rel + 1).judged > 0


def rising(arguments: Mapping[str, metric_measure.Value]) -> str | None:
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


player = partial(graded, defined_where=with_player_gain, check=rising, refuse=nothing_above)


def expected_gain(
    *named: Any, cutoff: metric_measure.Parameter | None = None
) -> Callable[[Callable[..., Floats]], Callable[..., Floats]]:
    """The measure, float64[Q] in [0, 1], that is the expected gain of a document that a reader looks at.

    named: its name, its title and its own parameters. Of a function goes_on: (rank float64[depth], gains
    float64[rows, depth], own parameters by name) -> C, which broadcasts to float64[rows, depth]; what it gives for the
    last rank is not used.
    """

    def measure(goes_on: Callable[..., Floats]) -> Callable[..., Floats]:
        @player(*named, MIN_REL, MAX_REL, cutoff=cutoff)
        @wraps(goes_on)
        def compute(
            ranking: Ranking, *, min_rel: int, max_rel: int | None, cutoff: int = DEPTH, **parameters: float
        ) -> Floats:
            top = ranking.highest_grade if max_rel is None else max_rel
            depth = min(cutoff, DEPTH)
            hits = np.flatnonzero((ranking.grade > min_rel) & (ranking.rank <= depth))
            query, column = ranking.query[hits], ranking.rank[hits] - 1
            gain = (np.minimum(ranking.grade[hits], top) - min_rel) / max(top - min_rel, 1)
            rank = np.arange(1.0, depth + 1.0)
            expected = np.zeros(ranking.queries)
            for first in range(0, ranking.queries, ROWS):
                here = slice(*np.searchsorted(query, (first, first + ROWS)))
                gains = np.zeros((min(ROWS, ranking.queries - first), depth))
                gains[query[here] - first, column[here]] = gain[here]
                going = np.broadcast_to(goes_on(rank, gains, **parameters), gains.shape)
                reaches = np.ones_like(gains)
                reaches[:, 1:] = np.cumprod(going[:, :-1], axis=1)
                expected[first : first + ROWS] = (reaches * gains).sum(axis=1) / reaches.sum(axis=1)
            return expected

        return compute

    return measure


@expected_gain("SDCG", "Scaled discounted cumulative gain", cutoff=RANK_NEEDED)
def scaled_dcg(rank: Floats, _gains: Floats) -> Floats:
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
    return np.asarray(np.log2(rank + 1.0) / np.log2(rank + 2.0))


@expected_gain("BPM", "Bejeweled Player Model", WANTED, cutoff=RANK_NEEDED)
def bejeweled_player(_rank: Floats, gains: Floats, T: float) -> Floats:
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
    return (np.cumsum(gains, axis=1) < T).astype(np.float64)


@expected_gain("INSQ", "INSQ", WANTED)
def insq(rank: Floats, _gains: Floats, T: float) -> Floats:
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
    return ((rank + 2.0 * T - 1.0) / (rank + 2.0 * T)) ** 2


@expected_gain("INST", "INST", WANTED)
def inst(rank: Floats, gains: Floats, T: float) -> Floats:
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
    reach = rank + 2.0 * T - np.cumsum(gains, axis=1)  # at least 2T: no gain is above 1
    return ((reach - 1.0) / reach) ** 2


@expected_gain("NERR8", "Nearly ERR, stopped by gain", cutoff=RANK_NEEDED)
def nearly_err_8(_rank: Floats, gains: Floats) -> Floats:
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
    return 1.0 - gains


@expected_gain("NERR9", "Nearly ERR, stopped by gain and rank", cutoff=RANK_NEEDED)
def nearly_err_9(rank: Floats, gains: Floats) -> Floats:
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
    return (1.0 - gains) * rank / (rank + 1.0)


@expected_gain("NERR10", "Nearly ERR, stopped by gain and impatience", PATIENCE)
def nearly_err_10(_rank: Floats, gains: Floats, p: float) -> Floats:
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
    return p * (1.0 - gains)


@expected_gain("NERR11", "Nearly ERR, stopped by gain or going on as in INSQ", WANTED)
def nearly_err_11(rank: Floats, gains: Floats, T: float) -> Floats:
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
    return (1.0 - gains) * ((rank + 2.0 * T - 1.0) / (rank + 2.0 * T)) ** 2
