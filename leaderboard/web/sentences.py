"""What a progress chart shows, in a sentence."""

from collections.abc import Sequence

from leaderboard.reads.progress import Line, Point, ProgressPage
from leaderboard.web.formatting import plain_figure

__all__ = ["best_over_periods", "one_system_over_periods", "written"]

NAMED = 3  # systems that share a place and are all named


def best_over_periods(page: ProgressPage, kind: str = "system") -> str:
    """What the best of each period did from the first period to the last."""
    lines = page.systems if kind == "system" else page.teams
    places = {period.slug: place for place, period in enumerate(page.periods)}
    best: dict[str, list[tuple[Point, str]]] = {}
    for line in lines:
        for point in line.points:
            if point.best:
                best.setdefault(point.period.slug, []).append((point, line.name))
    name = page.column.name
    if not best:
        return f"No {kind} has a {name} yet."
    slugs = sorted(best, key=places.__getitem__)
    first, last = best[slugs[0]][0][0], best[slugs[-1]][0][0]
    early, late = (_together([name for _, name in best[slug]]) for slug in (slugs[0], slugs[-1]))
    if first.period is last.period:
        return f"The best {name} of {last.period.label} is {written(last)}, by {late}."
    return (
        f"The best {name} {_moved(first, last)} from {written(first)} in {first.period.label} ({early}) "
        f"to {written(last)} in {last.period.label} ({late})."
    )


def one_system_over_periods(page: ProgressPage, lines: Sequence[Line], only: int) -> str:
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


def _together(names: Sequence[str]) -> str:
    """Those who share a place: `Alder`, `Alder and Birch`, `Alder, Birch and 3 others`."""
    if len(names) > NAMED:
        names = [*names[: NAMED - 1], f"{len(names) - NAMED + 1} others"]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _moved(first: Point, last: Point) -> str:
    start, end = first.figure.mean or 0.0, last.figure.mean or 0.0
    return "rose" if end > start else "fell" if end < start else "stayed"
