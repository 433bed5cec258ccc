"""Values: dataclasses that nothing changes, with slots."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Kind = TypeVar("Kind")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(kind: type[Kind]) -> type[Kind]:
    """Makes a class a frozen dataclass with slots, as `@dataclass(frozen=True, slots=True)` does."""
    return dataclass(frozen=True, slots=True)(kind)
