"""What the curves of a run's page are drawn from, small enough to be kept with its figures: the sweep over the
threshold, thinned to some hundred points, three points that matter on it, and P_miss and P_fa of each query.

The whole sweep is `families.detection.sweep`, the precision–recall curve `families.binary.over_recall`.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from leaderboard.metrics.aggregation import VALUE_OF_MEANS, mean
from leaderboard.metrics.families import detection
from leaderboard.metrics.measure import Measure
from leaderboard.metrics.ranking import Ranking
from leaderboard.metrics.segments import Floats, Ints

STEPS = 40  # of each axis, in which both points around a step's end stay
SMALLEST = 1e-7  # share below which a normal-deviate axis ends
SWEEP = ("theta", "p_miss", "p_fa")
MARKS = ("actual", "maximum", "optimum")
OF_QUERIES = ("query_p_miss", "query_p_fa")
PRECISION = "precision"


class Mark(NamedTuple):
    """A point of the sweep, or off it: then θ is NaN. p_miss and p_fa are means over queries."""

    theta: float
    p_miss: float
    p_fa: float
    qwv: float


def value_level(measures: Iterable[Measure]) -> int | None:
    """The relevance level of the first measure that values decisions, as AQWV does; None where none does."""
    return next((int(each.arguments["rel"]) for each in measures if "beta" in each.family.needs), None)


def value_curves(ranking: Ranking, rel: int, threshold: float | None = None) -> dict[str, Floats]:
    """The curves of a run with decisions. Needs scores, documents and beta; {} where the policy leaves no query to
    average over.

    threshold  the θ that the run states; NaN where no single one gives its decisions

    SWEEP       float64[T] each, T at most some 400; the strictest threshold, +inf, comes first
    MARKS       float64[4] each, as Mark: at the run's decisions (θ is the lowest score that is returned, where none
                is stated; NaN where no single θ gives them), at the best single θ, and with the best θ of each query
                (θ is NaN). Their values are AQWV, MQWV and OQWV to the last digit.
    OF_QUERIES  float64[Q] each, at the decisions, as `losses` gives them

    >>> from leaderboard.metrics.ranking import Setting, graded_lists
    >>> ranking = graded_lists([1, None, 0, 2], missed=[1], returned=2, setting=Setting(documents=103, beta=20.0))
    >>> curves = value_curves(ranking, rel=1)
    >>> curves["actual"].round(4), curves["maximum"].round(4)
    (array([3.    , 0.6667, 0.01  , 0.1333]), array([4.    , 0.6667, 0.    , 0.3333]))
    """
    whole = detection.sweep(ranking, rel)
    if np.isnan(whole.qwv).any():
        return {}
    hits, returned = detection.found_returned(ranking, rel), ranking.returned
    own, best = threshold, float(whole.theta[whole.best])
    if own is None:
        own = np.partition(ranking.scores, -returned.sum())[-returned.sum()] if returned.any() else np.inf
    points = thinned(whole, whole.best, int(np.searchsorted(-whole.theta, -own, side="right")) - 1)
    marks = (
        _mark(ranking, rel, own, hits, returned),
        _mark(ranking, rel, best, *detection.returned_above(ranking, best, rel)),
        _mark(ranking, rel, np.nan, *detection.best_of_each(ranking, rel)[:2]),
    )
    p_miss = np.where(points.p_miss < detection.ROUNDING, 0.0, points.p_miss)
    of_queries = detection.losses(ranking, hits, returned, rel)
    columns = (points.theta, p_miss, points.p_fa, *marks, *of_queries)
    return dict(zip((*SWEEP, *MARKS, *OF_QUERIES), columns, strict=True))


def thinned(whole: detection.Sweep, *also: int) -> detection.Sweep:
    """The sweep's ends, the points `also`, and enough others: whatever is left out lies within 1/STEPS of an axis,
    linear or of normal deviates, of both neighbours that stay, so that no step of the curve is cut off.

    >>> share = np.linspace(0, 1, 10_001)
    >>> whole = detection.Sweep(np.append(np.inf, 1 - share[1:]), 1 - share, share**2, share - 20 * share**2)
    >>> len(thinned(whole).theta), round(float(np.diff(thinned(whole).p_fa).max()), 4)
    (259, 0.0249)
    """
    last = len(whole.theta) - 1
    if last < 10 * STEPS:
        return whole
    kept = {0, 1, last, *also}
    inside = [np.clip(share, SMALLEST, 1.0 - SMALLEST) for share in (whole.p_miss, whole.p_fa)]
    p_miss, p_fa = (np.log(share / (1.0 - share)) for share in inside)  # nearly as far apart as normal deviates are
    for axis in (-whole.theta, -whole.p_miss, whole.p_fa, -p_miss, p_fa):
        rising = axis[1:]  # nothing returned has no finite θ
        after = 1 + np.searchsorted(rising, np.linspace(rising[0], rising[-1], STEPS + 1))
        kept.update(after.tolist(), (after - 1).tolist())
    of_those = [index for index in sorted(kept) if index <= last]
    return detection.Sweep(*(column[of_those] for column in whole))


def _mark(ranking: Ranking, rel: int, theta: float, hits: Ints, returned: Ints) -> Floats:
    p_miss, p_fa = detection.losses(ranking, hits, returned, rel)
    p_fa = detection.counted(ranking, p_miss, p_fa)
    value = VALUE_OF_MEANS.combine((p_miss, (ranking.setting.beta or 0.0) * p_fa), None)
    return np.array(Mark(theta, mean(p_miss), mean(p_fa), value))
