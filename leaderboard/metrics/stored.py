"""A measure's columns worked out from stored per-query values.

The database keeps one value per query, measure and run; an interval or a comparison needs the columns that the
measure's aggregate takes. Most measures aggregate the values themselves. AQWV aggregates P_miss and β · P_fa apart:
under `pfa_only` a query without relevant documents has no value of its own and still counts in the mean of P_fa, so
that the run's Pmiss and Pfa have to be stored beside AQWV.
"""

from collections.abc import Mapping

import numpy as np

from leaderboard.metrics.aggregation import VALUE_OF_MEANS, Columns
from leaderboard.metrics.families.detection import AQWV, PFA, PMISS
from leaderboard.metrics.measure import Measure
from leaderboard.metrics.ranking import NoRelevant
from leaderboard.metrics.segments import Floats


def measures_beside(measure: Measure, no_relevant: NoRelevant) -> tuple[Measure, ...]:
    """The measures whose values must be stored beside this one's: Pmiss and Pfa for AQWV under `pfa_only`.

    >>> from leaderboard.metrics import parse
    >>> measures_beside(parse("AQWV"), "pfa_only"), measures_beside(parse("AP"), "pfa_only")
    ((<Measure Pmiss>, <Measure Pfa>), ())
    """
    if measure.family is not AQWV or no_relevant != "pfa_only":
        return ()
    rel = dict(measure.given)
    return PMISS(**rel), PFA(**rel)


def columns_from_values(
    measure: Measure, values: Mapping[str, Floats], *, no_relevant: NoRelevant, beta: float | None
) -> Columns | None:
    """What `measure.aggregate` takes, float64[Q] each, NaN where a query has no value; None when the values don't say.

    values: canonical name -> float64[Q] of one run, for the measure and its `measures_beside`. A measure of the whole
    run (MQWV) has no columns; nor has OQWV under `pfa_only`, whose P_miss and P_fa are at thresholds of its own.

    >>> from leaderboard.metrics import parse
    >>> columns_from_values(parse("AP"), {"AP": np.array([0.5, 0.25])}, no_relevant="exclude", beta=None)
    (array([0.5 , 0.25]),)
    """
    own = values.get(str(measure))
    if own is None or not measure.has_interval:
        return None
    if measure.family.aggregation is not VALUE_OF_MEANS:
        return (own,)
    if no_relevant != "pfa_only":
        # Every query that counts has both of its parts: 1 − mean(1 − value) − mean(0) is the aggregate.
        return 1.0 - own, np.where(np.isnan(own), np.nan, 0.0)
    values_beside = [values.get(str(each)) for each in measures_beside(measure, no_relevant)]
    if beta is None or len(values_beside) != 2 or values_beside[0] is None or values_beside[1] is None:
        return None
    return values_beside[0], beta * values_beside[1]
