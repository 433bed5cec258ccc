"""Agreement between two rankings, of two runs on a query or of two leaderboards, with the name of each measure.

Each function takes two arrays of item ids in rank order. Where items may tie (systems with equal means), `scores` holds
the score of each item, in the same order, for both lists.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leaderboard.metrics.measure import Direction, Range
from leaderboard.metrics.parameters import Given, Parameter, Value, canonical, described, read_arguments, read_cutoff
from leaderboard.metrics.reference import Reference
from leaderboard.metrics.segments import Floats

__all__ = [
    "AGREEMENTS",
    "Agreed",
    "Agreement",
    "AgreementFamily",
    "Items",
    "find_agreement",
    "kendall_distance",
    "kendall_tau",
    "rank_biased_overlap",
    "spearman_rho",
    "tau_ap",
]

Items = NDArray[Any]
Scores = tuple[Floats, Floats]

ROWS_AT_ONCE = 1 << 22  # comparisons held in memory at a time


class Agreed(NamedTuple):
    """value: the agreement, NaN when undefined. items: how many items it was computed over."""

    value: float
    items: int


def common(first: Items, second: Items, cutoff: int | None, scores: Scores | None) -> tuple[Floats, Floats]:
    """The places of the items in both lists, in the order of the first list; from scores, equal scores place equal."""
    first, second = np.asarray(first)[:cutoff], np.asarray(second)[:cutoff]
    _, here, there = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    order = np.argsort(here)
    here, there = here[order], there[order]
    if scores is None:
        return here.astype(np.float64), there.astype(np.float64)
    return -np.asarray(scores[0], dtype=np.float64)[here], -np.asarray(scores[1], dtype=np.float64)[there]


def pairs(x: Floats, y: Floats) -> tuple[int, int]:
    """(concordant, discordant) pairs; a pair that is tied in either is neither."""
    concordant = discordant = 0
    rows = max(1, ROWS_AT_ONCE // max(len(x), 1))
    for start in range(0, len(x), rows):
        stop = start + rows
        product = np.sign(x[start:stop, None] - x[None, :]) * np.sign(y[start:stop, None] - y[None, :])
        concordant += int(np.count_nonzero(product > 0))
        discordant += int(np.count_nonzero(product < 0))
    return concordant // 2, discordant // 2


def kendall_distance(first: Items, second: Items, *, cutoff: int | None = None) -> Agreed:
    """Discordant pairs / all pairs of the items in both (top k) lists: 0 same order, 1 reversed."""
    x, y = common(first, second, cutoff, None)
    n = len(x)
    return Agreed(pairs(x, y)[1] / (n * (n - 1) / 2) if n > 1 else math.nan, n)


def kendall_tau(first: Items, second: Items, *, scores: Scores | None = None) -> Agreed:
    """tau-b of the items in both lists, in [−1, 1]; undefined below 2 items or where one list ties them all."""
    x, y = common(first, second, None, scores)
    n = len(x)
    concordant, discordant = pairs(x, y)
    untied = [n * (n - 1) // 2 - tied_pairs(each) for each in (x, y)]
    product = untied[0] * untied[1]
    return Agreed((concordant - discordant) / math.sqrt(product) if product else math.nan, n)


def tied_pairs(x: Floats) -> int:
    sizes = np.unique(x, return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())


def spearman_rho(first: Items, second: Items, *, cutoff: int | None = None, scores: Scores | None = None) -> Agreed:
    """Pearson correlation of the ranks among the items in both lists, tied ones at their average rank; in [−1, 1]."""
    x, y = (average_ranks(each) for each in common(first, second, cutoff, scores))
    dx, dy = x - x.mean() if len(x) else x, y - y.mean() if len(y) else y
    spread = math.sqrt(float(dx @ dx) * float(dy @ dy))
    return Agreed(float(dx @ dy) / spread if spread else math.nan, len(x))


def average_ranks(x: Floats) -> Floats:
    """1 for the smallest; equal values share the mean of their ranks."""
    _, place, sizes = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    return np.asarray((last - (sizes - 1) / 2.0)[place], dtype=np.float64)


def rank_biased_overlap(first: Items, second: Items, *, p: float = 0.9) -> Agreed:
    """RBO, extrapolated from lists that may differ in length, in [0, 1]; undefined for two empty lists."""
    short, long = sorted((np.asarray(first), np.asarray(second)), key=len)
    s, n = len(short), len(long)
    if not n:
        return Agreed(math.nan, 0)
    _, here, there = np.intersect1d(short, long, assume_unique=True, return_indices=True)
    if not s:
        return Agreed(0.0, 0)
    depth = np.arange(1, n + 1)
    # An item is in both lists from the deeper of its two places on.
    overlap = np.cumsum(np.bincount(np.maximum(here, there), minlength=n))
    weight = p**depth
    beyond = depth[s:]
    seen = float(np.sum(overlap / depth * weight))
    unseen = float(np.sum(overlap[s - 1] * (beyond - s) / (s * beyond) * weight[s:]))
    tail = (overlap[-1] - overlap[s - 1]) / n + overlap[s - 1] / s
    return Agreed(float((1 - p) / p * (seen + unseen) + tail * p**n), len(here))


def tau_ap(first: Items, second: Items) -> Agreed:
    """AP correlation of the second list with the first, the reference, over the items in both; in [−1, 1].

    Errors near the top of the second list cost most.
    """
    reference, place = common(first, second, None, None)
    n = len(place)
    if n < 2:
        return Agreed(math.nan, n)
    listed = reference[np.argsort(place)]
    above = np.array([np.count_nonzero(listed[:i] < listed[i]) for i in range(1, n)])
    return Agreed(float(2.0 * np.mean(above / np.arange(1, n)) - 1.0), n)


DEPTH = Parameter("cutoff", "int", low=1, meaning="only the first k ranks of either list count")


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class AgreementFamily:
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

    def __call__(self, *, cutoff: Value = None, **given: Value) -> "Agreement":
        """This agreement with parameters and cutoff. Raises UnknownMeasure for what it does not take."""
        return Agreement(self, read_arguments(self, given), read_cutoff(self, cutoff))


@dataclass(frozen=True, slots=True)
class Agreement:
    """A family with its parameters: `str(agreement)` is its canonical name.

    given   (name, value) of each parameter that is not at its default
    cutoff  the depth after the @, or None
    """

    family: AgreementFamily
    given: Given = ()
    cutoff: Value = None

    def __str__(self) -> str:
        return canonical(self.family, self.given, self.cutoff)

    def compute(self, first: Items, second: Items) -> Agreed:
        """How much two lists of ids in rank order agree."""
        arguments: dict[str, Any] = dict(self.given)
        if self.cutoff is not None:
            arguments["cutoff"] = self.cutoff
        return self.family.compute(first, second, **arguments)


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

KENDALL_DISTANCE = AgreementFamily(
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
SPEARMAN_RHO = AgreementFamily(
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
KENDALL_TAU = AgreementFamily(
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
RBO = AgreementFamily(
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
TAU_AP = AgreementFamily(
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


def find_agreement(name: str) -> AgreementFamily | None:
    """The agreement of this name, in whatever case, or None."""
    return _BY_NAME.get(name.casefold())
