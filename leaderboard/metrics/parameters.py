"""What names with parameters have in common: `Name(parameter=value, …)@cutoff`, of measures and of agreements."""

from collections.abc import Mapping
from typing import Protocol

from leaderboard.errors import UnknownMeasure
from leaderboard.metrics.values import Parameter, Value, write

__all__ = ["Given", "Parametrised", "canonical", "described", "read_arguments", "read_cutoff"]

Given = tuple[tuple[str, Value], ...]


class Parametrised(Protocol):
    """A name that takes these parameters, and a cutoff unless that is None."""

    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> tuple[Parameter, ...]: ...
    @property
    def cutoff(self) -> Parameter | None: ...


def described(what: Parametrised) -> list[str]:
    """A line of plain text for each parameter, and for the cutoff."""
    lines = []
    for parameter in what.parameters:
        default = "" if parameter.default is None else f" (default {parameter.write(parameter.default)})"
        lines.append(f"  {parameter.name}: {parameter.meaning}; {parameter.expected}{default}")
    if what.cutoff is not None:
        lines.append(f"  @{what.cutoff.example}: {what.cutoff.meaning}; {what.cutoff.expected}")
    return lines


def read_arguments(what: Parametrised, given: Mapping[str, Value]) -> Given:
    """The parameters that are not at their defaults, in order. Raises UnknownMeasure for what it does not take."""
    known = {parameter.name: parameter for parameter in what.parameters}
    for name in given:
        if name not in known:
            takes = ", ".join(known) or "none"
            raise UnknownMeasure(f"{what.name} takes no parameter {name!r}; it takes {takes}")
    values = {name: parameter.read(given[name], what.name) for name, parameter in known.items() if name in given}
    return tuple((name, value) for name, value in values.items() if value != known[name].default)


def read_cutoff(what: Parametrised, cutoff: Value) -> Value:
    """The cutoff in its type. Raises UnknownMeasure when it is missing, or not taken, or out of bounds."""
    if cutoff is None:
        if what.cutoff is not None and what.cutoff.required:
            raise UnknownMeasure(f"{what.name} needs a cutoff, for example {what.name}@{what.cutoff.example}")
        return None
    if what.cutoff is None:
        raise UnknownMeasure(f"{what.name} takes no cutoff (@{write(cutoff)})")
    return what.cutoff.read(cutoff, what.name)


def canonical(what: Parametrised, given: Given, cutoff: Value) -> str:
    """The one name of it with these parameters."""
    inside = ", ".join(f"{name}={write(value)}" for name, value in given)
    name = f"{what.name}({inside})" if inside else what.name
    return name if cutoff is None else f"{name}@{write(cutoff)}"
