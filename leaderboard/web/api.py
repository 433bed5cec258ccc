"""The measures of this installation."""

from collections.abc import Mapping

from leaderboard import db, errors
from leaderboard.frozen import frozen
from leaderboard.metrics import RUN_MEASURES, parse
from leaderboard.metrics.measure import Direction, Family
from leaderboard.web.endpoints import get


@frozen
class MeasureEntry:
    """A measure as the registry lists it, before parameters and cutoff are filled in.

    sections  its reference: formula, ties, what a missing query is worth, source and so on, by their headings
    """

    name: str
    title: str
    summary: str
    unit: str
    direction: Direction
    sections: Mapping[str, str]


@get("/measures")
def list_measures() -> tuple[MeasureEntry, ...]:
    """Every measure of this installation."""
    return tuple(map(_entry, RUN_MEASURES))


@get("/measures/<name>")
def measure(name: str) -> MeasureEntry:
    """One measure, by its name or that of trec_eval, with or without parameters."""
    return _entry(family_of(name))


def family_of(name: str) -> Family:
    """The listed measure behind a name with parameters or a cutoff, ours or trec_eval's. Raises NotFound."""
    try:
        return parse(name).family
    except errors.UnknownMeasure as error:
        raise errors.NotFound(error.message) from None


def _entry(family: Family) -> MeasureEntry:
    return db.snapshot(MeasureEntry, family, sections=family.reference.sections)
