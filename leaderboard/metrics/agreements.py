"""The ways to compare two rankings that have a name, each with its reference."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from leaderboard.metrics.agreement import (
    Agreed,
    Items,
    kendall_distance,
    kendall_tau,
    rank_biased_overlap,
    spearman_rho,
    tau_ap,
)
from leaderboard.metrics.measure import Direction, Range
from leaderboard.metrics.parameters import Given, canonical, described, read_arguments, read_cutoff
from leaderboard.metrics.reference import Reference
from leaderboard.metrics.values import Parameter, Value

__all__ = ["AGREEMENTS", "Agreement", "Comparison", "find_agreement"]

DEPTH = Parameter("cutoff", "int", low=1, meaning="only the first k ranks of either list count")


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Agreement:
    """One way to compare two rankings, with its reference, for the page of measures.

    compute  (first, second, *, one keyword per parameter, cutoff when it takes one) -> Agreed
    """

    name: str
    title: str
    summary: str
    compute: Callable[..., Agreed]
    span: Range
    direction: Direction
    reference: Reference
    parameters: tuple[Parameter, ...] = ()
    cutoff: Parameter | None = None
    group: str = "Agreement between two rankings"

    @property
    def text(self) -> str:
        """The whole reference as plain text: name, summary, parameters and every heading."""
        return "\n".join([f"{self.name}: {self.title}", self.summary, *described(self), self.reference.text()])

    def __call__(self, *, cutoff: Value = None, **given: Value) -> "Comparison":
        """This agreement with parameters and cutoff. Raises UnknownMeasure for what it does not take."""
        return Comparison(self, read_arguments(self, given), read_cutoff(self, cutoff))


@dataclass(frozen=True, slots=True)
class Comparison:
    """An agreement with its parameters: `str(comparison)` is its canonical name.

    given   (name, value) of each parameter that is not at its default
    cutoff  the depth after the @, or None
    """

    agreement: Agreement
    given: Given = ()
    cutoff: Value = None

    def __str__(self) -> str:
        return canonical(self.agreement, self.given, self.cutoff)

    def compute(self, first: Items, second: Items) -> Agreed:
        """How much two lists of ids in rank order agree."""
        arguments: dict[str, Any] = dict(self.given)
        if self.cutoff is not None:
            arguments["cutoff"] = self.cutoff
        return self.agreement.compute(first, second, **arguments)


CORRELATED = Reference(
    formula="",
    where="n items are in both lists; C and D are the numbers of their pairs in the same and in the other order.",
    range="−1 to 1: 1 the same order, −1 reversed",
    unit="A correlation, without unit.",
    direction="Neither: it compares two rankings.",
    ties="Items in rank order have none; equal scores, where scores are given, tie.",
    no_relevant="Judgments play no part.",
    missing="Undefined below two common items; their number is given beside it.",
    beyond="It takes no cutoff: all common items count.",
    unjudged="Judgments play no part.",
    elsewhere="Neither has it.",
    source="M. G. Kendall: Rank Correlation Methods, 4th edition, Griffin, 1970",
)

KENDALL_DISTANCE = Agreement(
    name="KendallDistance",
    title="Kendall distance at k",
    summary="The share of the pairs of common items that the two lists put in different order.",
    compute=kendall_distance,
    span=(0.0, 1.0),
    direction="lower",
    cutoff=DEPTH,
    reference=replace(
        CORRELATED,
        formula="KendallDistance@k = D / (n · (n − 1) / 2)",
        range="0 to 1: 0 the same order, 1 reversed",
        unit="A share, without unit.",
        direction="Lower is closer.",
        beyond="Only items in both top k lists count.",
        source="R. Fagin, R. Kumar, D. Sivakumar: Comparing top k lists, SIAM Journal on Discrete Mathematics 17, 2003",
    ),
)
SPEARMAN_RHO = Agreement(
    name="SpearmanRho",
    title="Spearman's ρ",
    summary="The correlation of the ranks that the common items have among themselves.",
    compute=spearman_rho,
    span=(-1.0, 1.0),
    direction="higher",
    cutoff=DEPTH,
    reference=replace(
        CORRELATED,
        formula="SpearmanRho = cov(x, y) / (σ_x · σ_y)",
        where="x and y are the ranks of the common items in the two lists, tied ones at their average rank.",
        beyond="With a cutoff only items in both top k lists count.",
        source="C. Spearman: The proof and measurement of association between two things, 1904",
    ),
)
KENDALL_TAU = Agreement(
    name="KendallTau",
    title="Kendall's τ-b",
    summary="Pairs in the same order less pairs in the other, corrected for ties.",
    compute=kendall_tau,
    span=(-1.0, 1.0),
    direction="higher",
    reference=replace(
        CORRELATED,
        formula="KendallTau = (C − D) / sqrt((N − T_x) · (N − T_y))",
        where=f"{CORRELATED.where} N is the number of all pairs, T_x and T_y those that are tied in either list.",
    ),
)
RBO = Agreement(
    name="RBO",
    title="Rank-biased overlap",
    summary="How much the two lists share at each depth, the top weighted most; extrapolated beyond what is seen.",
    compute=rank_biased_overlap,
    span=(0.0, 1.0),
    direction="higher",
    parameters=(
        Parameter("p", "float", 0.9, low=0.01, high=0.9999, meaning="the probability of looking one rank deeper"),
    ),
    reference=replace(
        CORRELATED,
        formula="RBO = ((1 − p) / p) · sum_{d=1}^{∞} (X_d / d) · p^d",
        where="X_d is the number of items in both lists down to depth d; p (default 0.9) says how deep one looks.",
        range="0 to 1: 1 the same list, 0 nothing in common",
        unit="A share, without unit.",
        missing="Undefined for two empty lists; 0 where one is empty.",
        beyond="It takes no cutoff: overlap beyond the lists is taken to go on as at their end.",
        source="W. Webber, A. Moffat, J. Zobel: A Similarity Measure for Indefinite Rankings, ACM TOIS 28 (4), 2010",
    ),
)
TAU_AP = Agreement(
    name="TauAP",
    title="AP correlation",
    summary="Like Kendall's τ, but errors near the top of the second list cost most; the first list is the reference.",
    compute=tau_ap,
    span=(-1.0, 1.0),
    direction="higher",
    reference=replace(
        CORRELATED,
        formula="TauAP = (2 / (n − 1)) · sum_{i=2}^{n} (C_i / (i − 1)) − 1",
        where="C_i of the items above rank i of the second list stand above that item in the first list too.",
        ties="Items in rank order have none.",
        source="E. Yilmaz, J. A. Aslam, S. Robertson: A New Rank Correlation Coefficient for IR, SIGIR 2008",
    ),
)

AGREEMENTS = (KENDALL_DISTANCE, SPEARMAN_RHO, KENDALL_TAU, RBO, TAU_AP)
_BY_NAME = {each.name.casefold(): each for each in AGREEMENTS}


def find_agreement(name: str) -> Agreement | None:
    """The agreement of this name, in whatever case, or None."""
    return _BY_NAME.get(name.casefold())
