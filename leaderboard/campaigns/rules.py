"""Who may know of a campaign at all.

The prior of Value = 1 − (P_miss + β · P_fa): β, and the cost, value and prior that it follows from."""

import math
import sys
from enum import StrEnum

from leaderboard.errors import InvalidFields
from leaderboard.frozen import frozen


class Visibility(StrEnum):
    """For everybody whom it leaves out, a campaign is absent: no page, file, list or message tells of it."""

    PUBLIC = "public"
    PRIVATE = "private"  # its organisers, and members of the teams that they let in
    DRAFT = "draft"  # its organisers only


def is_known(visibility: Visibility, *, let_in: bool) -> bool:
    """Whether such a campaign is there for those who don't organise it. let_in: its organisers let their team in."""
    return visibility is Visibility.PUBLIC or (visibility is Visibility.PRIVATE and let_in)


ROUNDED = 1e-3  # relative difference up to which a β beside cost, value and prior is theirs, printed with few digits


@frozen
class Bound:
    """The numbers that a field may hold: from `low` on, or above it, and below `below`; never NaN or infinity."""

    low: float
    words: str
    low_allowed: bool = True
    below: float = math.inf

    def holds(self, number: float) -> bool:
        above = number >= self.low if self.low_allowed else number > self.low
        return above and number < self.below

    def sql(self, column: str) -> str:
        """The same as a condition on a column, in SQL that SQLite and PostgreSQL read alike."""
        above = ">=" if self.low_allowed else ">"
        upper = f"<= {sys.float_info.max!r}" if self.below == math.inf else f"< {self.below!r}"
        return f'"{column}" {above} {self.low!r} AND "{column}" {upper}'


BOUNDS = {
    "cost": Bound(0.0, "give a number that is not negative: the cost of a false alarm"),
    "value": Bound(0.0, "give a number above 0: the value of a correct detection", low_allowed=False),
    "prior": Bound(
        0.0, "give a share between 0 and 1: of all documents, those relevant to a query", low_allowed=False, below=1.0
    ),
    "beta": Bound(0.0, "give a number that is not negative"),
}
PRIOR_FIELDS = tuple(BOUNDS)


def beta_of(cost: float, value: float, prior: float) -> float:
    """β = (C / V) · (1 / P_relevant − 1)."""
    return cost / value * (1 / prior - 1)


def is_beta_of(beta: float | None, cost: float | None, value: float | None, prior: float | None) -> bool:
    """Whether β is that of cost, value and prior, but for rounding; never where one of them is not given."""
    if beta is None or cost is None or value is None or prior is None:
        return False
    return math.isclose(beta, beta_of(cost, value, prior), rel_tol=ROUNDED)


def checked_beta(
    beta: float | None = None, *, cost: float | None = None, value: float | None = None, prior: float | None = None
) -> float | None:
    """β as it is stated, or else as it follows from cost, value and prior; None when neither is given.

    Raises InvalidFields by the names of the arguments: for a number out of its bounds, for some of cost, value and
    prior without the others, and for a β that differs from theirs by more than rounding.
    """
    parts = {"cost": cost, "value": value, "prior": prior}
    given = {name: number for name, number in {**parts, "beta": beta}.items() if number is not None}
    fields = {name: [BOUNDS[name].words] for name, number in given.items() if not BOUNDS[name].holds(number)}
    missing = parts.keys() - given.keys()
    if missing and missing != parts.keys():
        fields |= {name: ["give cost, value and prior (C, V and P) together, or none of them"] for name in missing}
    if fields:
        raise InvalidFields(fields)
    if cost is None or value is None or prior is None:
        return beta
    derived = beta_of(cost, value, prior)
    if not BOUNDS["beta"].holds(derived):
        raise InvalidFields({"beta": ["cost, value and prior give a β beyond what a number can hold"]})
    if beta is not None and not is_beta_of(beta, cost, value, prior):
        raise InvalidFields({"beta": [f"cost, value and prior give {derived:.6g}; leave β out, or leave them out"]})
    return derived if beta is None else beta
