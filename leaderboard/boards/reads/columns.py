"""The measures as a page's columns: name, title, which way is better, and how to find the one a reader asks for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from leaderboard import metrics
from leaderboard.errors import BadInput, UnknownMeasure
from leaderboard.evaluations.rules import ScoringSettings
from leaderboard.metrics.measure import Direction
from leaderboard.submissions.rules import leads, places
from leaderboard.worker.models import ScoringSet

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Column:
    """A measure as a column. direction: which way is better; lowest, highest: the bounds of its values.

    per_query: whether it has a value for a single query; MQWV has one for the whole run only.
    """

    name: str
    title: str
    summary: str
    unit: str
    direction: Direction
    lowest: float
    highest: float
    per_query: bool

    def places(self, values: Sequence[float | None]) -> list[int]:
        """The place of each value under this measure; see `rules.standings.places`."""
        return places(values, self.direction)

    def is_better(self, mean: float | None, other: float | None) -> bool:
        """Whether of two values the first has the better place."""
        return leads(mean, other, self.direction)

    def sort(self, rows: Sequence[Row], value: Callable[[Row], float | None], backwards: bool = False) -> list[Row]:
        """The rows, the best value first (or last, if `backwards`). Ties keep their order; undefined ones are last."""
        values = [value(row) for row in rows]
        keys = [
            (number is None, -place if backwards else place)
            for number, place in zip(values, self.places(values), strict=True)
        ]
        return [rows[index] for index in sorted(range(len(rows)), key=keys.__getitem__)]


def column(name: str) -> Column:
    """The column of a measure, by its name with parameters. Raises UnknownMeasure."""
    measure = metrics.parse(name)
    family = measure.family
    lowest, highest = measure.range()
    return Column(
        name, family.title, family.summary, family.unit, family.direction, lowest, highest, measure.has_interval
    )


def columns_of(settings: ScoringSettings) -> tuple[Column, ...]:
    """The columns of the measures that these settings show, the primary one first."""
    return tuple(column(name) for name in settings.measures)


def at_level(name: str, level: int) -> str:
    """What a measure of the campaign is called in an evaluation with this relevance level."""
    return str(metrics.parse(name).at_relevance(level)) if level != 1 else name


def pick(columns: Sequence[Column], asked: str | None) -> Column:
    """The column that the reader names, in any of its spellings; the first when none is named.

    Raises BadInput that lists the columns when it isn't among them.
    """
    if not asked:
        return columns[0]
    by_name = {column.name: column for column in columns}
    if asked in by_name:
        return by_name[asked]
    try:
        wanted = metrics.parse(asked)
    except UnknownMeasure as error:
        raise BadInput(f"{error.message}; this page shows {', '.join(by_name)}") from None
    for column in columns:
        shown = metrics.parse(column.name)
        # The evaluation's relevance level is part of the names it keeps: AP stands for AP(rel=2) there.
        level = dict(shown.given).get("rel")
        if shown == wanted or (isinstance(level, int) and shown == wanted.at_relevance(level)):
            return column
    raise BadInput(f"{wanted} isn't shown here; this page shows {', '.join(by_name)}")


def per_query_columns(scoring_set: ScoringSet) -> tuple[Column, ...]:
    """The set's measures that have a value on one query; all of them in the odd case that none has."""
    columns = columns_of(scoring_set.settings)
    return tuple(column for column in columns if column.per_query) or columns
