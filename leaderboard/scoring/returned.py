"""What counts as returned: the one rule for the scorer and for the page that shows a ranked list."""

import math
from typing import Literal

import numpy as np

from leaderboard.errors import BadInput
from leaderboard.metrics import Bools
from leaderboard.scoring.order import Scores, compared_scores

ReturnedBy = Literal["decisions", "threshold", "all"]


def returned_by(decision: Bools | None, threshold: float | None) -> ReturnedBy:
    """What decides which documents of a run count as returned: its decisions, else its θ, else all of them do.

    decision: bool[n], True for Y; None for a run without decisions. threshold: θ, None without one.

    >>> returned_by(None, 0.5)
    'threshold'
    >>> returned_by(None, None)
    'all'
    """
    if decision is not None:
        return "decisions"
    return "all" if threshold is None else "threshold"


def returned(
    score: Scores, decision: Bools | None, threshold: float | None = None, compat: Literal[9, 10] = 10
) -> Bools:
    """Which lines of a run count as returned.

    Parameters
    ----------
    score: float64[n], as the file has them.
    decision: bool[n], True for Y; None for a run without decisions.
    threshold: θ; lines with score >= θ are returned. It plays no part where there are decisions.
    compat: trec_eval's version. Under 9 scores and θ are compared as 32-bit numbers.

    Returns
    -------
    bool[n].

    Examples
    --------
    >>> import numpy as np
    >>> returned(np.array([0.9, 0.3]), None, threshold=0.5)
    array([ True, False])
    >>> returned(np.array([0.9, 0.3]), np.array([False, True]), threshold=0.5)
    array([False,  True])
    >>> returned(np.array([0.9, 0.3]), None, threshold=0.3 + 1e-9, compat=9)
    array([ True,  True])
    """
    match returned_by(decision, threshold):
        case "decisions":
            return np.asarray(decision, np.bool_)
        case "threshold":
            at_least = compared_scores(np.array(threshold, np.float64), compat)
            return np.asarray(compared_scores(score, compat) >= at_least, np.bool_)
        case "all":
            return np.ones(len(score), np.bool_)


def by_one_threshold(score: Scores, decision: Bools | None, compat: Literal[9, 10] = 10) -> bool:
    """Whether a single θ for all queries returns what the run returns: True without decisions of its own.

    score, decision, compat: as `returned` takes them.

    >>> score = np.array([0.9, 0.3, 0.8])
    >>> by_one_threshold(score, np.array([True, False, True])), by_one_threshold(score, np.array([True, True, False]))
    (True, False)
    """
    if decision is None or decision.all() or not decision.any():
        return True
    compared = compared_scores(score, compat)
    return bool(compared[decision].min() > compared[~decision].max())


def require_threshold(threshold: float | None) -> None:
    """Raises BadInput for a θ that is no finite number."""
    if threshold is not None and not math.isfinite(threshold):
        raise BadInput(f"the threshold θ can't be {threshold}; expected a finite number")
