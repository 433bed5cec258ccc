"""The values of a measure's parameters: what each takes, how it is read and how it is written."""

import math
import re
from dataclasses import dataclass
from typing import Literal

from leaderboard.errors import UnknownMeasure

__all__ = ["Gains", "Parameter", "Value", "read_value", "write"]

Gains = tuple[tuple[int, float], ...]
Value = int | float | str | Gains | None
Kind = Literal["int", "float", "choice", "gains"]

INT = re.compile(r"[+-]?\d+\Z")
FLOAT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")
WORD = re.compile(r"[A-Za-z][\w-]*\Z")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a family, or its cutoff.

    default  None: not given (the measure then does without)
    low, high  bounds of a number, both included (low is left out when `above` is true)
    choices  of a choice
    required of a cutoff: the measure has no meaning without
    example  for messages
    """

    name: str
    kind: Kind
    default: Value = None
    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    choices: tuple[str, ...] = ()
    required: bool = False
    example: str = "10"
    meaning: str = ""

    def read(self, value: Value, of: str) -> Value:
        """The value in this parameter's type. Raises UnknownMeasure that says what is allowed."""
        if value is None:
            return None
        if self.kind == "choice":
            if value in self.choices:
                return value
        elif self.kind == "gains":
            if isinstance(value, tuple):
                return tuple(sorted(value))
        elif isinstance(value, (int, float)) and math.isfinite(value) and self._in_bounds(value):
            if self.kind == "float":
                return float(value)
            if value == int(value):
                return int(value)
        label = f"@{write(value)}" if self.name == "cutoff" else f"{self.name}={write(value)}"
        raise UnknownMeasure(f"{of}: {label} is not allowed; expected {self.expected}")

    def _in_bounds(self, value: float) -> bool:
        return (self.low < value if self.above else self.low <= value) and value <= self.high

    @property
    def expected(self) -> str:
        """What it takes, in words."""
        if self.kind == "choice":
            return " or ".join(self.choices)
        if self.kind == "gains":
            return "a gain for each grade, like {1:3.5,2:9}"
        noun = "a whole number" if self.kind == "int" else "a number"
        lowest = f"above {write(self.low)}" if self.above else f"of at least {write(self.low)}"
        if math.isinf(self.low):
            return noun
        return f"{noun} {lowest}" + ("" if math.isinf(self.high) else f" and at most {write(self.high)}")

    def write(self, value: Value) -> str:
        return write(value)


def write(value: Value) -> str:
    """As it stands in a name; read_value gives it back."""
    if isinstance(value, float):
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    if isinstance(value, tuple):
        return "{" + ",".join(f"{grade}:{write(gain)}" for grade, gain in value) + "}"
    return str(value)


def read_value(text: str) -> Value:
    """A number, a word (bare or in quotes) or {grade:gain,…}. Raises UnknownMeasure."""
    text = text.strip()
    if INT.match(text):
        return int(text)
    if FLOAT.match(text):
        return float(text)
    if WORD.match(text):
        return text
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and WORD.match(text[1:-1]):
        return text[1:-1]
    if text.startswith("{") and text.endswith("}"):
        return _read_gains(text[1:-1])
    raise UnknownMeasure(f"{text!r} is no value; expected a number, a word or gains like {{1:3.5,2:9}}")


def _read_gains(text: str) -> Gains:
    gains: dict[int, float] = {}
    for part in text.split(","):
        grade, _, gain = (piece.strip() for piece in part.partition(":"))
        if not INT.match(grade) or not FLOAT.match(gain):
            raise UnknownMeasure(f"{part.strip()!r} is no gain; expected grade:gain, like 2:3.5")
        if int(grade) in gains:
            raise UnknownMeasure(f"grade {int(grade)} has two gains")
        gains[int(grade)] = float(gain)
    return tuple(sorted(gains.items()))
