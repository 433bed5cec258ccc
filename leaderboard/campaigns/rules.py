"""Who may know of a campaign at all.

The prior of Value = 1 − (P_miss + β · P_fa): β, and the cost, value and prior that it follows from."""

import math
from enum import StrEnum

from leaderboard.errors import InvalidFields


class Visibility(StrEnum):
    """For everybody whom it leaves out, a campaign is absent: no page, file, list or message tells of it."""

    PUBLIC = "public"
    PRIVATE = "private"  # its organisers, and members of the teams that they let in
    DRAFT = "draft"  # its organisers only


def is_known(visibility: Visibility, *, let_in: bool) -> bool:
    """Whether such a campaign is there for those who don't organise it. let_in: its organisers let their team in."""
    return visibility is Visibility.PUBLIC or (visibility is Visibility.PRIVATE and let_in)


ROUNDED = 1e-3  # relative difference up to which a β beside cost, value and prior is theirs, printed with few digits


PRIOR_FIELDS = ("cost", "value", "prior", "beta")


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

    Raises InvalidFields by the names of the arguments: for some of cost, value and prior without the others or out of
    their bounds, and for a β that differs from theirs by more than rounding.
    """
    parts = {"cost": cost, "value": value, "prior": prior}
    if cost is None or value is None or prior is None:
        if set(parts.values()) == {None}:
            return beta
        together = ["give cost, value and prior (C, V and P) together, or none of them"]
        raise InvalidFields({name: together for name, number in parts.items() if number is None})
    wrong = {
        "cost": cost < 0 and "C must not be negative",
        "value": value <= 0 and "V must be above 0",
        "prior": not 0 < prior < 1 and "P must be between 0 and 1",
    }
    if any(wrong.values()):
        raise InvalidFields({name: [words] for name, words in wrong.items() if words})
    derived = beta_of(cost, value, prior)
    if not math.isfinite(derived):
        raise InvalidFields({"beta": ["cost, value and prior give a β beyond what a number can hold"]})
    if beta is not None and not is_beta_of(beta, cost, value, prior):
        raise InvalidFields({"beta": [f"cost, value and prior give {derived:.6g}; leave β out, or leave them out"]})
    return derived if beta is None else beta
