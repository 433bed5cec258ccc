"""How much of what runs list first is judged, beside the field: what nobody judged counts as not relevant, so a run
with many such holes may be better than its figures."""

from collections.abc import Iterable, Mapping

import numpy as np

from leaderboard.access import Content, may_see
from leaderboard.boards.reads.entries import Disclosure, Entry
from leaderboard.boards.rules import least_judged
from leaderboard.evaluations.rules import JUDGED, Judging
from leaderboard.frozen import frozen


@frozen
class Holes:
    """Means of Judged@10.

    median  of the field
    least   what is below it is far less than the field's (`boards.rules.least_judged`)
    marked  submission -> its mean, of those of the field that are below it
    """

    median: float
    least: float
    marked: Mapping[int, float]


def judged_beside(disclosure: Disclosure) -> tuple[str, ...]:
    """The measure that `holes_of` needs of each entry; none under complete judgments, and while single queries are
    closed to the reader."""
    details = may_see(disclosure.actor, disclosure.evaluation, Content.DETAILS, disclosure.moment)
    return (JUDGED,) if details and disclosure.scoring_set.settings.judging is Judging.POOLED else ()


def holes_of(field: Iterable[Entry]) -> Holes | None:
    """field: the runs that say what is usual, with figures of `judged_beside`; None where none has one"""
    shares = {entry.submission_id: mean for entry in field if (mean := entry.figure(JUDGED).mean) is not None}
    if not shares:
        return None
    median, least = least_judged(np.array([*shares.values()]))
    return Holes(median, least, {run: share for run, share in shares.items() if share < least})
