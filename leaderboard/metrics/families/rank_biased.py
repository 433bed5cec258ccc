"""Ranks: a reader who goes on to the next rank with a fixed probability."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from leaderboard.errors import UnknownMeasure
from leaderboard.metrics.families.binary import RANK
from leaderboard.metrics.families.graded import GAINS, gained, with_gain
from leaderboard.metrics.measure import REL, Family, TrecEval
from leaderboard.metrics.parameters import Gains, Parameter, Value, read_value, write
from leaderboard.metrics.ranking import Ranking
from leaderboard.metrics.segments import Floats, total


def powers(ranking: Ranking, p: float) -> Floats:
    """float64[longest list + 1]: p^0, p^1 …, each the one before times p."""
    longest = int(ranking.retrieved.max(initial=0))

    def make() -> Floats:
        return np.cumprod(np.concatenate(([1.0], np.full(longest, p))), dtype=np.float64)

    return ranking.keep(("powers", p), make)


def rank_biased_precision(
    ranking: Ranking, *, rel: int, p: float, gain: str, gains: Gains | None, cutoff: int | None
) -> Floats:
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
        query, rank, worth = relevant.query, relevant.rank, np.ones(len(relevant.rank))
    else:
        actual = gained(ranking, "linear", gains)
        query, rank = actual.query, actual.rank
        worth = actual.gain / np.maximum(largest(ranking, gains), 1.0)[query]
    if cutoff is not None:
        top = rank <= cutoff
        query, rank, worth = query[top], rank[top], worth[top]
    return (1.0 - p) * total(query, worth * powers(ranking, p)[rank - 1], ranking.queries)


def largest(ranking: Ranking, gains: Gains | None) -> Floats:
    """float64[Q]: the largest gain of a query's judged documents, or that `gains` names."""
    values = np.full(ranking.queries, max((gain for _, gain in gains or ()), default=0.0))
    unmapped = ~np.isin(ranking.judged_grade, [grade for grade, _ in gains or ()])
    np.maximum.at(values, ranking.judged_query[unmapped], ranking.judged_grade[unmapped].astype(np.float64))
    return values


def residual(ranking: Ranking, *, p: float) -> Floats:
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


def read_pairs(text: str) -> dict[str, Value]:
    """trec_eval's p=0.8,1=0.5 as our p and gains."""
    pairs = [part.partition("=") for part in text.split(",")]
    for name, sign, value in pairs:
        if not (name and sign and value):
            raise UnknownMeasure(f"{text!r} is no p and no gain; expected p=0.8, or grade=gain, or p=0.8,1=0.5,2=1")
    values: dict[str, Value] = {name: read_value(value) for name, _, value in pairs if name == "p"}
    gains = ",".join(f"{grade}:{gain}" for grade, _, gain in pairs if grade != "p")
    if gains:
        values["gains"] = read_value("{" + gains + "}")
    return values


def read_p(text: str) -> dict[str, Value]:
    values = read_pairs(text)
    if list(values) != ["p"]:
        raise UnknownMeasure(f"trec_eval's rbp_resid takes p, as in rbp_resid.p=0.8, not {text!r}")
    return values


def write_pairs(arguments: Mapping[str, Any]) -> str:
    gains = write(arguments.get("gains") or ()).strip("{}").replace(":", "=")
    return f"p={write(arguments['p'])}" + (f",{gains}" if gains else "")


def gains_only_scaled(arguments: Mapping[str, Value]) -> str | None:
    """With binary gains every relevant document is worth 1, whatever `gains` says."""
    if arguments.get("gains") is None or arguments.get("gain") == "scaled":
        return None
    return "gains says what grades are worth, so it goes with gain=scaled only"


PERSISTENCE = "the probability of going on to the next rank"

RBP = Family(
    name="RBP",
    title="Rank-biased precision",
    compute=rank_biased_precision,
    defined_where=with_gain,
    parameters=(
        REL,
        Parameter("p", "float", 0.8, low=0.0, high=1.0, meaning=PERSISTENCE),
        Parameter(
            "gain",
            "choice",
            "binary",
            choices=("binary", "scaled"),
            meaning="1 for a relevant document, or its grade over the query's highest (then rel does not matter)",
        ),
        GAINS,
    ),
    cutoff=RANK,
    check=gains_only_scaled,
    trec_eval=(TrecEval("rbp", given=(("p", 0.9), ("gain", "scaled")), read=read_pairs, write=write_pairs),),
)
RBP_RESIDUAL = Family(
    name="RBPResidual",
    title="Residual of rank-biased precision",
    compute=residual,
    defined_where=None,
    parameters=(Parameter("p", "float", 0.9, low=0.0, high=1.0, meaning=PERSISTENCE),),
    direction="lower",
    trec_eval=(TrecEval("rbp_resid", read=read_p, write=write_pairs),),
)

FAMILIES = (RBP,)
