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
    """The scale of one column, from `lowest` to `highest`; zero is always on it, for a bar is never cut."""

    lowest: float
    highest: float

    def at(self, value: float) -> float:
        """0 … 100."""
        span = self.highest - self.lowest
        return round(WIDTH * (value - self.lowest) / span, 2) if span > 0 else 0.0

    @property
    def zero(self) -> float:
        return self.at(0.0)

    @property
    def crosses_zero(self) -> bool:
        return self.lowest < 0.0


def bars(figures: Iterable[Figure], *, least: float = 0.0) -> Bars:
    """The scale for these figures with their intervals. `least`: how far it reaches at any rate."""
    ends = [end for figure in figures for end in (figure.mean, figure.low, figure.high) if end is not None]
    return Bars(min([0.0, *ends]), max([0.0, least, *ends]))


def bars_of(values: Iterable[float | None]) -> Bars:
    return bars(Figure(value) for value in values)
