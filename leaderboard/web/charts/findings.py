"""What a progress chart shows, in a sentence."""

from collections.abc import Sequence

from leaderboard.reads.lines import Line, Point
from leaderboard.reads.progress import ProgressPage
from leaderboard.web.formatting import plain_figure

__all__ = ["finding", "finding_of_one", "written"]


def finding(page: ProgressPage, kind: str = "system") -> str:
    """What the best of each period did from the first period to the last."""
    lines = page.systems if kind == "system" else page.teams
    places = {period.slug: place for place, period in enumerate(page.periods)}
    best = [(point, line.name) for line in lines for point in line.points if point.best]
    best.sort(key=lambda pair: places[pair[0].period.slug])
    name = page.column.name
    if not best:
        return f"No {kind} has a {name} yet."
    (first, early), (last, late) = best[0], best[-1]
    if first.period is last.period:
        return f"The best {name} of {last.period.label} is {written(last)}, by {late}."
    return (
        f"The best {name} {_moved(first, last)} from {written(first)} in {first.period.label} ({early}) "
        f"to {written(last)} in {last.period.label} ({late})."
    )


def finding_of_one(page: ProgressPage, lines: Sequence[Line], only: int) -> str:
    line = next(line for line in lines if line.system is not None and line.system.id == only)
    first, last = line.points[0], line.points[-1]
    name = page.column.name
    if first is last:
        return f"{line.name} took part once, in {last.period.label}, with {name} {written(last)}."
    return (
        f"{name} of {line.name} {_moved(first, last)} from {written(first)} in {first.period.label} "
        f"to {written(last)} in {last.period.label}; the other systems are grey."
    )


def written(point: Point) -> str:
    return plain_figure(point.figure.mean)


def _moved(first: Point, last: Point) -> str:
    start, end = first.figure.mean or 0.0, last.figure.mean or 0.0
    return "rose" if end > start else "fell" if end < start else "stayed"
