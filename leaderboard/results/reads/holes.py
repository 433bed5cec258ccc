"""How much of what runs list first is judged, beside the field: what nobody judged counts as not relevant, so a run
with many such holes may be better than its figures."""

from collections.abc import Iterable, Mapping

import numpy as np

from leaderboard.access import Content, may_see
from leaderboard.boards.reads.entries import Disclosure, Entry
from leaderboard.evaluations.rules import JUDGED, Judging
from leaderboard.frozen import frozen

BELOW_MEDIAN = 0.2  # two of ten documents; how much the field differs in itself says nothing of a run's own holes


@frozen
class Holes:
    """Means of Judged@10.

    median  of the field
    least   what is below it is far less than the field's
    shares  submission -> its mean, of those of the field that are below it, and of the run that is asked about
    """

    median: float
    least: float
    shares: Mapping[int, float]


def measures_of_holes(disclosure: Disclosure) -> tuple[str, ...]:
    """The measure that `holes_of` needs of each entry; none under complete judgments, and while single queries are
    closed to the reader."""
    details = may_see(disclosure.actor, disclosure.evaluation, Content.DETAILS, disclosure.moment)
    return (JUDGED,) if details and disclosure.scoring_set.settings.judging is Judging.POOLED else ()


def holes_of(field: Iterable[Entry], run: int = 0, mean: float | None = None) -> Holes | None:
    """field: the runs that say what is usual, with figures of `measures_of_holes`; None where none has one. run: the
    submission that is asked about, with its mean"""
    means = {entry.submission_id: entry.figure(JUDGED).mean for entry in field}
    usual = [own for own in means.values() if own is not None]
    if not usual:
        return None
    median = float(np.median(usual))
    least = median - BELOW_MEDIAN
    shares = {number: own for number, own in means.items() if own is not None and own < least}
    return Holes(median, least, shares if mean is None else shares | {run: mean})
