"""Systems and teams over the periods of a campaign: points joined to lines, and which colour a line has."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leaderboard.reads.columns import Column, column
from leaderboard.reads.entries import Entry, Figure, SystemLabel
from leaderboard.reads.headings import Terms
from leaderboard.reads.standings import Show, choose, ranks

__all__ = ["Line", "Period", "Point", "colour_numbers", "points", "system_lines", "team_lines"]


@dataclass(frozen=True, slots=True)
class Period:
    """One evaluation of a condition. `label` is its period's `name`, with its title where a period has several.

    measures: the campaign's measure -> its name here, which holds the evaluation's relevance level.
    """

    evaluation_id: int
    name: str
    label: str
    slug: str
    title: str
    terms: Terms
    measures: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Point:
    """A line in one period. `rank`: of the run on the board; `best`: no other run is better there, baselines apart."""

    period: Period
    entry: Entry
    figure: Figure
    rank: int | None
    best: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A system over the periods, or the best of a team's systems in each. `number` fixes its colour in the campaign."""

    name: str
    system: SystemLabel | None
    team: str
    team_slug: str
    number: int
    own: bool
    points: tuple[Point, ...]

    def at(self, period: Period) -> Point | None:
        return next((point for point in self.points if point.period is period), None)


def points(entries: Iterable[Entry], periods: Sequence[Period], by: Column, shown: Show) -> list[Point]:
    """A point for each system in each period that it has a mean in."""
    found = []
    for period in periods:
        here = column(period.measures[by.name])
        chosen = choose((one for one in entries if one.evaluation_id == period.evaluation_id), shown, here)
        places = ranks(chosen, here)
        for entry in chosen:
            figure = entry.figure(here.name)
            rank = places.get(entry.submission_id)
            if figure.mean is not None:
                found.append(Point(period, entry, figure, rank, rank == 1))
    return found


def colour_numbers(entries: Sequence[Entry], periods: Iterable[Period], primary: Column, shown: Show) -> dict[int, int]:
    """System -> its number over all conditions: those in the most evaluations first, then those that ranked best.

    It depends on the whole campaign and on its primary measure only, so that a system has one colour on every page.
    """
    places: dict[int, list[int]] = {}
    for point in points(entries, list(periods), primary, shown):
        if point.rank is not None:
            places.setdefault(point.entry.system.id, []).append(point.rank)
    ordered = sorted(places, key=lambda system: (-len(places[system]), min(places[system]), system))
    return {system: number for number, system in enumerate(ordered)}


def system_lines(points: Iterable[Point], numbers: Mapping[int, int]) -> tuple[Line, ...]:
    """One line a system, in the order of their numbers."""
    by_system: dict[int, list[Point]] = {}
    for point in points:
        by_system.setdefault(point.entry.system.id, []).append(point)
    lines = []
    for system, own in by_system.items():
        label = own[-1].entry.system
        number = numbers.get(system, len(numbers))
        lines.append(Line(label.name, label, label.team, label.team_slug, number, own[-1].entry.own, tuple(own)))
    return tuple(sorted(lines, key=lambda line: (line.number, line.name)))


def team_lines(points: Sequence[Point], by: Column, numbers: Mapping[int, int]) -> tuple[Line, ...]:
    """One line a team: the best of its systems in each period. A team's number is that of its systems' lowest."""
    best: dict[str, dict[int, Point]] = {}
    lowest: dict[str, int] = {}
    for point in points:
        system = point.entry.system
        lowest[system.team_slug] = min(lowest.get(system.team_slug, len(numbers)), numbers.get(system.id, len(numbers)))
        of_team = best.setdefault(system.team_slug, {})
        standing = of_team.get(point.period.evaluation_id)
        if standing is None or by.key(point.figure.mean) < by.key(standing.figure.mean):
            of_team[point.period.evaluation_id] = point
    lines = []
    for number, slug in enumerate(sorted(best, key=lambda slug: (lowest[slug], slug))):
        own = tuple(best[slug].values())
        team = own[-1].entry.system.team
        lines.append(Line(team, None, team, slug, number, own[-1].entry.own, own))
    return tuple(lines)
