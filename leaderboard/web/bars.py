"""Thin bars inside table cells: where on the column's one scale a figure lies.

They are drawn as SVG attributes, since the site's security policy allows no inline style.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from leaderboard.reads.entries import Figure

__all__ = ["Bars", "bars", "bars_of"]

WIDTH = 100.0  # of the drawing, in its own units


@dataclass(frozen=True, slots=True)
class Bars:
    """The scale of one column, from `lowest` to `highest`; zero is always on it, since a bar starts there."""

    lowest: float
    highest: float

    def at(self, value: float) -> float:
        """0 … 100."""
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


def bars(figures: Iterable[Figure], *, least: float = 0.0) -> Bars:
    """The scale for these figures with their intervals. `least`: how far it reaches at any rate.

    Below zero it reaches no further than above: one AQWV of −4 would leave no room for those between 0 and 1.
    """
    ends = [end for figure in figures for end in (figure.mean, figure.low, figure.high) if end is not None]
    highest = max([0.0, least, *ends])
    lowest = min([0.0, *ends])
    return Bars(max(lowest, -highest) if highest > 0 else lowest, highest)


def bars_of(values: Iterable[float | None]) -> Bars:
    return bars(Figure(value) for value in values)
