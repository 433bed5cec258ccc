"""Every measure, in the order of the reference page. A new one is written in its room and listed there."""

from leaderboard.metrics.binary import BINARY
from leaderboard.metrics.cascade import CASCADE
from leaderboard.metrics.counts import COUNTS
from leaderboard.metrics.detection import DETECTION
from leaderboard.metrics.gain_variants import GAIN_VARIANTS
from leaderboard.metrics.graded import GRADED
from leaderboard.metrics.incomplete import INCOMPLETE
from leaderboard.metrics.known import KNOWN
from leaderboard.metrics.measure import Family
from leaderboard.metrics.rank_biased import RANK_BIASED
from leaderboard.metrics.recall_levels import RECALL_LEVELS
from leaderboard.metrics.sets import SET_MEASURES
from leaderboard.metrics.sweep import SWEEPS

__all__ = ["families", "family", "find"]

_FAMILIES: tuple[Family, ...] = (
    *DETECTION,
    *SWEEPS,
    *BINARY,
    *RECALL_LEVELS,
    *RANK_BIASED,
    *GRADED,
    *CASCADE,
    *GAIN_VARIANTS,
    *INCOMPLETE,
    *SET_MEASURES,
    *KNOWN,
    *COUNTS,
)
_BY_NAME = {each.name: each for each in _FAMILIES}


def families() -> tuple[Family, ...]:
    """Every measure, in the order of the reference page."""
    return _FAMILIES


def family(name: str) -> Family:
    """The family of this name. Raises KeyError."""
    return _BY_NAME[name]


def find(name: str) -> Family | None:
    """The family of this name, or None."""
    return _BY_NAME.get(name)
