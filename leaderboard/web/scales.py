"""The scale of the thin bars in a table's cells.

They are drawn as SVG attributes, since the site's security policy allows no inline style.
"""

from collections.abc import Iterable
from dataclasses import dataclass

WIDTH = 100.0  # of the drawing, in its own units


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of one column, from `lowest` to `highest`; zero is always on it, since a bar starts there."""

    lowest: float
    highest: float

    def at(self, value: float) -> float:
        """Where a value lies on the scale, from 0 to 100."""
        span = self.highest - self.lowest
        inside = min(max(value, self.lowest), self.highest)
        return round(WIDTH * (inside - self.lowest) / span, 2) if span > 0 else 0.0

    def ends_below(self, value: float) -> bool:
        """Whether the bar of this value goes on to the left of the scale; it is marked then."""
        return value < self.lowest

    @property
    def zero(self) -> float:
        return self.at(0.0)

    @property
    def crosses_zero(self) -> bool:
        return self.lowest < 0.0


def scale_of(values: Iterable[float | None]) -> Scale:
    """The scale that holds all of these, means and ends of intervals alike; None is left out.

    Below zero it reaches no further than above: one AQWV of −4 would leave no room for those between 0 and 1.
    """
    known = [value for value in values if value is not None]
    highest, lowest = max([0.0, *known]), min([0.0, *known])
    return Scale(max(lowest, -highest) if highest > 0 else lowest, highest)
