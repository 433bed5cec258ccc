"""What a run's curves are drawn from: its value over the threshold, P_miss and P_fa of each query, precision over
recall.

The worker kept the points with the run's figures (`metrics.curves`): a page reads a few rows and no ranked list.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.evaluations.reads.evaluations import queries_of_subset
from leaderboard.frozen import frozen
from leaderboard.metrics import Floats
from leaderboard.metrics.curves import MARKS, OF_QUERIES, PRECISION, SWEEP, Mark, value_level
from leaderboard.metrics.families.detection import AQWV, MQWV, OQWV
from leaderboard.submissions.reads.status import ScoredSubmission
from leaderboard.worker.models import Curve


@frozen
class ValueCurves:
    """The value of a run over the threshold.

    names    AQWV, MQWV and OQWV at the relevance level of the curves; marks: the points that have these values
    theta, p_miss, p_fa, qwv  float64[T] of the thinned sweep, the strictest threshold, +inf, first
    queries  external id -> P_miss, P_fa and value at the run's decisions, of those that the policy gives all three
    """

    names: Sequence[str]
    marks: Sequence[Mark]
    theta: Floats
    p_miss: Floats
    p_fa: Floats
    qwv: Floats
    queries: Mapping[str, Mark]

    @property
    def one_threshold(self) -> bool:
        """Whether a single θ gives the run's decisions."""
        return not math.isnan(self.marks[0].theta)


class RunCurves(NamedTuple):
    """value: None without decisions to value; precision: float64[11] at the recalls 0, 0.1, … 1, or None."""

    value: ValueCurves | None = None
    precision: Floats | None = None


def load_curves(session: Session, scored: ScoredSubmission) -> RunCurves:
    """Of a run whose single queries the reader may see, over those that they know of."""
    settings = scored.scoring_set.settings
    of_run = Curve.scoring_id == scored.scoring.id, Curve.subset == settings.subset_kept(scored.subset)
    columns: dict[str, Floats] = dict(session.execute(sa.select(Curve.name, Curve.values).where(*of_run)).all())
    level, beta, value = value_level(settings.scored), settings.beta or 0.0, None
    if level is not None and SWEEP[0] in columns:
        known = queries_of_subset(session, scored.scoring_set, scored.subset, texts=False)
        own = {query.external_id: query.position for query in known if query.position < settings.queries}
        losses = zip(own, *(columns[name][[*own.values()]].tolist() for name in OF_QUERIES), strict=True)
        theta, p_miss, p_fa = (columns[name] for name in SWEEP)
        value = ValueCurves(
            [str(family(rel=level)) for family in (AQWV, MQWV, OQWV)],
            [Mark(*columns[name].tolist()) for name in MARKS],
            *(theta, p_miss, p_fa, 1.0 - p_miss - beta * p_fa),
            {query: Mark(math.nan, miss, fa, 1.0 - miss - beta * fa) for query, miss, fa in losses if miss + fa >= 0},
        )
    return RunCurves(value, columns.get(PRECISION))
