"""What a reader sees of runs that are given as arrays: which of them, whose, and with how many digits.

`own` says everywhere which of the runs are of teams of the reader's.
"""

import datetime as dt
import math
from collections.abc import Callable

import numpy as np

from leaderboard import metrics
from leaderboard.access import Actor
from leaderboard.metrics import Floats
from leaderboard.metrics.ranking import Bools
from leaderboard.models import Evaluation, ScoringSet
from leaderboard.reads.entries import NO_FIGURE, Figure, Sights, figure_as_seen
from leaderboard.rules.disclosure import is_told_rounded

__all__ = ["figures_as_seen", "means_as_seen", "names_seen", "results_seen"]


def results_seen(actor: Actor, evaluation: Evaluation, now: dt.datetime, own: Bools) -> Bools:
    """Of which runs `actor` may see the means."""
    return _by_owner(own, lambda is_own: Sights(actor, evaluation, None, now, is_own).results)


def names_seen(actor: Actor, evaluation: Evaluation, now: dt.datetime, own: Bools) -> Bools:
    """Of which runs `actor` may know whose they are; of baselines everybody may."""
    return _by_owner(own, lambda is_own: Sights(actor, evaluation, None, now, is_own).names)


def _by_owner(own: Bools, sight: Callable[[bool], bool]) -> Bools:
    found = np.zeros(len(own), dtype=bool)
    for is_own in {*own.tolist()}:
        found[own == is_own] = sight(is_own)
    return found


def means_as_seen(
    actor: Actor,
    evaluation: Evaluation,
    scoring_set: ScoringSet,
    now: dt.datetime,
    own: Bools,
    measure: str,
    means: Floats,
) -> Floats:
    """The means by one measure of runs of that set, which `actor` may see, with as many digits as `load_entries` gives
    them; NaN is none."""
    family, found = metrics.parse(measure).family, means
    for is_own in {*own.tolist()}:
        if rounding := Sights(actor, evaluation, scoring_set, now, is_own).rounding:
            if found is means:
                found = means.copy()
            of_these = own == is_own
            told = is_told_rounded(family)
            found[of_these] = rounding.means(means[of_these], family.unit) if told else np.nan
    return found


def figures_as_seen(
    actor: Actor,
    evaluation: Evaluation,
    scoring_set: ScoringSet,
    now: dt.datetime,
    own: Bools,
    measure: str,
    figures: Floats,
) -> list[Figure]:
    """The same of whole figures: float64[4, runs], as `load_figures` gives them."""
    family = metrics.parse(measure).family
    rounding = {is_own: Sights(actor, evaluation, scoring_set, now, is_own).rounding for is_own in {*own.tolist()}}
    found = []
    for is_own, *numbers in zip(own.tolist(), *figures.tolist(), strict=True):
        mean, count, low, high = (None if math.isnan(number) else number for number in numbers)
        if count is None:
            found.append(NO_FIGURE)
        else:
            found.append(figure_as_seen(mean, low, high, int(count), family, rounding[is_own]))
    return found
