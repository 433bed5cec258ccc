"""A measure's columns from per-query values, where these are all that was kept of a run.

Most measures aggregate the values themselves. AQWV aggregates P_miss and β · P_fa apart: under `pfa_only` a query
without relevant documents has no value of its own and still counts in the mean of P_fa, so that the values alone
don't give the figure, but the run's Pmiss and Pfa beside them do.
"""

from collections.abc import Mapping

import numpy as np

from leaderboard.metrics.aggregation import VALUE_OF_MEANS, Columns
from leaderboard.metrics.detection import AQWV, PFA, PMISS
from leaderboard.metrics.measure import Measure
from leaderboard.metrics.ranking import Floats, NoRelevant

__all__ = ["parts", "rebuilt"]


def parts(measure: Measure, no_relevant: NoRelevant) -> tuple[Measure, ...]:
    """The measures whose values are needed besides the measure's own: Pmiss and Pfa for AQWV under `pfa_only`."""
    if measure.family is not AQWV or no_relevant != "pfa_only":
        return ()
    level = dict(measure.given)
    return PMISS(**level), PFA(**level)


def rebuilt(
    measure: Measure, values: Mapping[str, Floats], *, no_relevant: NoRelevant, beta: float | None
) -> Columns | None:
    """What `measure.aggregate` takes, float64[Q] each, NaN where a query has no value; None when the values don't say.

    values: canonical name -> float64[Q] of one run, the measure's own and those of its `parts`. A measure of the whole
    run (MQWV) has no columns; nor has OQWV under `pfa_only`, whose P_miss and P_fa are at thresholds of its own.
    """
    own = values.get(str(measure))
    if own is None or not measure.has_interval:
        return None
    if measure.family.aggregation is not VALUE_OF_MEANS:
        return (own,)
    if no_relevant != "pfa_only":
        # Every query that counts has both of its parts: 1 − mean(1 − value) − mean(0) is the aggregate.
        return 1.0 - own, np.where(np.isnan(own), np.nan, 0.0)
    kept = [values.get(str(part)) for part in parts(measure, no_relevant)]
    if beta is None or len(kept) != 2 or kept[0] is None or kept[1] is None:
        return None
    return kept[0], beta * kept[1]
