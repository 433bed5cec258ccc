"""What whoever may not see single queries is told of a figure: few enough digits that it says little of one judgment.

docs/disclosure.md has the reasons and the arithmetic.
"""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

import numpy as np

from leaderboard.frozen import frozen
from leaderboard.metrics import Floats
from leaderboard.statistics import LEAST_QUERIES

NEARLY = 1e-6
SHARES = ("share", "false alarms", "correlation")  # units whose values lie between −1 and 1


class Rounded(float):
    """A figure with fewer digits than it has; `decimals` are those that it is written with."""

    __slots__ = ("decimals",)
    decimals: int

    def __new__(cls, value: float, decimals: int) -> "Rounded":
        made = super().__new__(cls, value)
        made.decimals = decimals
        return made


def decimals_for(queries: int) -> int:
    """How many decimals a mean over so many queries (0 or more) has; at least 1.

    Its last place is the largest power of ten that is not above 0.5 / √queries: no mean of so many values between 0 and
    1 has a larger standard error, so no digit is left out that the queries support whatever the values are.

    >>> [decimals_for(queries) for queries in (1, 25, 26, 50, 2500, 7000)]
    [1, 1, 2, 2, 2, 3]
    """
    decimals = 1
    while 100**decimals < 4 * queries:
        decimals += 1
    return decimals


@frozen
class Rounding:
    """How the figures of an evaluation are rounded for a reader who may not see single queries.

    queries  those that this reader may know of and that count if they are judged; never how many are judged, which the
             digits would give away then
    """

    queries: int

    @property
    def decimals(self) -> int:
        """Of a mean of values between 0 and 1."""
        return decimals_for(self.queries)

    def mean(self, value: float | None, unit: str) -> Rounded | None:
        """A finite mean, rounded; `unit` is its measure's. None stays None.

        Shares and correlations have `decimals`. All others have two significant digits and no finer ones than that.

        >>> rounding = Rounding(50)
        >>> rounding.mean(0.41349, "share"), rounding.mean(1234.0, "documents"), rounding.mean(-3.274, "value")
        (0.41, 1200.0, -3.3)
        """
        return None if value is None else self._round(value, unit, ROUND_HALF_EVEN)

    def means(self, values: Floats, unit: str) -> Floats:
        """The same of an array, in which NaN is undefined.

        >>> Rounding(50).means(np.array([0.41349, np.nan]), "share").tolist()
        [0.41, nan]
        """
        rounded = values.copy()
        at = np.flatnonzero(~np.isnan(values))
        if unit in SHARES:
            parts = values[at] * 10.0**self.decimals
            nearest = np.rint(parts)
            rounded[at] = nearest / 10.0**self.decimals + 0.0
            at = at[np.abs(np.abs(parts - nearest) - 0.5) < NEARLY]  # which of two is decided by all digits
        rounded[at] = [self._round(value, unit, ROUND_HALF_EVEN) for value in values[at].tolist()]
        return rounded

    def interval(self, low: float | None, high: float | None, unit: str) -> tuple[Rounded | None, Rounded | None]:
        """The ends of an interval, rounded outward; none over fewer than LEAST_QUERIES queries.

        >>> Rounding(50).interval(0.3871, 0.4401, "share")
        (0.38, 0.45)
        """
        if low is None or high is None or self.queries < LEAST_QUERIES:
            return None, None
        return self._round(low, unit, ROUND_FLOOR), self._round(high, unit, ROUND_CEILING)

    def _round(self, value: float, unit: str, direction: str) -> Rounded:
        places = self.decimals
        if unit not in SHARES and value:
            places = min(places, 1 - math.floor(math.log10(abs(value))))
        rounded = Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-places), direction)
        return Rounded(float(rounded) + 0.0, max(0, places))  # + 0.0: zero has no sign
