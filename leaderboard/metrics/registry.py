"""Every measure, in the order of the reference page. A new one is written in its room and listed there."""

from leaderboard.metrics.binary import BINARY
from leaderboard.metrics.detection import DETECTION
from leaderboard.metrics.graded import GRADED
from leaderboard.metrics.measure import Family
from leaderboard.metrics.sets import COUNTS, SET_MEASURES
from leaderboard.metrics.sweep import SWEEPS

__all__ = ["families", "family", "find"]

_FAMILIES: tuple[Family, ...] = (
    *DETECTION,
    *SWEEPS,
    *BINARY,
    *GRADED,
    *SET_MEASURES,
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
