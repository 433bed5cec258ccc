"""Detection: the value of returning a document, at the system's own decisions."""

from dataclasses import replace

import numpy as np

from leaderboard.metrics.aggregation import VALUE_OF_MEANS, Columns
from leaderboard.metrics.measure import REL, Family, Measure, Range
from leaderboard.metrics.ranking import Ranking, Setting
from leaderboard.metrics.reference import Reference
from leaderboard.metrics.segments import Floats, Ints, count
from leaderboard.metrics.wording import HIGHER, LOWER, NO_CUTOFF_SET, NO_ORDER, NOT_RELEVANT, SHARE

__all__ = ["AQWV", "FAMILIES", "PFA", "PMISS", "VALUE", "losses", "value_range", "weighted_losses"]

GROUP = "Detection"


def losses(ranking: Ranking, found: Ints, returned: Ints, rel: int) -> Columns:
    """(P_miss, P_fa), each float64[Q], for `found` relevant ones among `returned` documents of each query.

    P_miss of a query without relevant documents is NaN, under `pmiss_zero` 0. Where every document is relevant nothing
    can be a false alarm, and P_fa is NaN.
    """
    relevant = ranking.relevant(rel).judged
    others = (ranking.setting.documents or 0) - relevant
    none = 0.0 if ranking.setting.no_relevant == "pmiss_zero" else np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        p_miss = np.where(relevant > 0, 1.0 - found / relevant, none)
        p_fa = np.where(others > 0, (returned - found) / others, np.nan)
    return p_miss, p_fa


def weighted_losses(ranking: Ranking, found: Ints, returned: Ints, rel: int) -> Columns:
    """(P_miss, β · P_fa), NaN where the policy leaves the query out: what Value and AQWV are made of."""
    p_miss, p_fa = losses(ranking, found, returned, rel)
    weighted = (ranking.setting.beta or 0.0) * p_fa
    if ranking.setting.no_relevant == "exclude":
        weighted = np.where(np.isnan(p_miss), np.nan, weighted)
    return p_miss, weighted


def found_returned(ranking: Ranking, rel: int) -> Ints:
    """int64[Q]: relevant documents among those that count as returned."""

    def make() -> Ints:
        hits = ranking.is_returned & (ranking.grade >= rel)
        return count(ranking.query[hits], ranking.queries)

    return ranking.keep(("found returned", rel), make)


def miss(ranking: Ranking, *, rel: int) -> Floats:
    """P_miss, float64[Q] in [0, 1]; NaN without relevant documents (0 under `pmiss_zero`)."""
    return losses(ranking, found_returned(ranking, rel), ranking.returned, rel)[0]


def false_alarm(ranking: Ranking, *, rel: int) -> Floats:
    """P_fa, float64[Q] in [0, 1]; NaN where every document of the collection is relevant."""
    return losses(ranking, found_returned(ranking, rel), ranking.returned, rel)[1]


def value(ranking: Ranking, *, rel: int) -> Floats:
    """1 − (P_miss + β · P_fa), float64[Q] in [−β, 1]; NaN where the policy leaves the query without a value."""
    p_miss, weighted = actual(ranking, rel=rel)
    return 1.0 - p_miss - weighted


def actual(ranking: Ranking, *, rel: int) -> Columns:
    """(P_miss, β · P_fa) at the decisions, as the policy counts them."""
    return weighted_losses(ranking, found_returned(ranking, rel), ranking.returned, rel)


def value_range(setting: Setting, _measure: Measure) -> Range:
    """−β (nothing right returned and everything wrong) to 1."""
    return -(setting.beta if setting.beta is not None else np.inf), 1.0


POLICIES = (
    "The campaign's policy. exclude (default): the query is left out. pfa_only: it counts in the mean of P_fa but not "
    "in that of P_miss. pmiss_zero: it counts with P_miss = 0, which raises scores."
)
RETURNED = (
    "What counts as returned: documents with decision Y; without decisions, those with a score of at least the "
    "submission's θ; without either, every document listed."
)

BASE = Reference(
    formula="",
    where=(
        "N_correct is the number of relevant documents returned, N_fa that of others returned, N_relevant that of "
        "relevant documents, N_total that of documents in the collection; β = (C / V) · (1 / P_relevant − 1) from the "
        "campaign's cost, value and prior, or as the campaign states it."
    ),
    range="−β to 1: 1 perfect, 0 nothing returned, 1 − β everything returned, −β worst",
    unit="Value of a correct detection: β is the cost of returning every wrong document in this unit.",
    direction=HIGHER,
    ties=NO_ORDER,
    no_relevant=POLICIES,
    missing="An empty list: P_miss 1, P_fa 0, Value 0.",
    beyond=NO_CUTOFF_SET,
    unjudged=NOT_RELEVANT,
    elsewhere="Neither has it.",
    source=(
        "MATERIAL evaluation plan (NIST, 2017–2021); J. G. Fiscus and others: Results of the 2006 Spoken Term "
        "Detection Evaluation, SSCS 2007"
    ),
)

VALUE = Family(
    name="Value",
    title="Query weighted value of one query",
    summary=f"What the decisions on a query are worth: found documents less false alarms. {RETURNED}",
    group=GROUP,
    compute=value,
    defined_where=None,
    parameters=(REL,),
    span=value_range,
    unit="value",
    needs=frozenset({"documents", "beta"}),
    reference=replace(BASE, formula="Value = 1 − (P_miss + β · P_fa)"),
)
AQWV = Family(
    name="AQWV",
    title="Actual query weighted value",
    summary=f"The value of the system's own decisions over all queries. {RETURNED}",
    group=GROUP,
    compute=actual,
    defined_where=None,
    parameters=(REL,),
    span=value_range,
    unit="value",
    aggregation=VALUE_OF_MEANS,
    needs=frozenset({"documents", "beta"}),
    reference=replace(BASE, formula="AQWV = 1 − mean(P_miss) − β · mean(P_fa)"),
)
PMISS = Family(
    name="Pmiss",
    title="Probability of a miss",
    summary=f"The share of the relevant documents that is not returned. {RETURNED}",
    group=GROUP,
    compute=miss,
    defined_where=None,
    parameters=(REL,),
    direction="lower",
    reference=replace(
        BASE,
        formula="P_miss = 1 − N_correct / N_relevant",
        range="0 to 1",
        unit=SHARE,
        direction=LOWER,
        no_relevant="Undefined, and left out of the mean; 0 under pmiss_zero.",
        missing="An empty list: 1.",
    ),
)
PFA = Family(
    name="Pfa",
    title="Probability of a false alarm",
    summary=f"The share of the collection's other documents that is returned. {RETURNED}",
    group=GROUP,
    compute=false_alarm,
    defined_where=None,
    parameters=(REL,),
    direction="lower",
    needs=frozenset({"documents"}),
    reference=replace(
        BASE,
        formula="P_fa = N_fa / (N_total − N_relevant)",
        range="0 to 1",
        unit=SHARE,
        direction=LOWER,
        no_relevant="Defined: every document returned is a false alarm.",
        missing="An empty list: 0.",
    ),
)

FAMILIES = (AQWV, VALUE, PMISS, PFA)
