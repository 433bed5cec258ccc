"""The parameters of a measure: what each takes, and how a value is read and written."""

import math
import re
from dataclasses import dataclass
from typing import Literal

from leaderboard.errors import UnknownMeasure

Gains = tuple[tuple[int, float], ...]
Points = tuple[float, ...]
Value = int | float | str | Gains | Points | None
Given = tuple[tuple[str, Value], ...]
Kind = Literal["int", "float", "choice", "gains", "points"]

# Grades lie within ±GRADE_LIMIT, so that the gain 2^g − 1 stays finite, over ten million documents too.
GRADE_LIMIT = 1000
# Every number that a measure takes is 0 or of a size between these two. None that means anything lies beyond them, and
# within them no measure overflows or divides by what rounding has made of a number.
SMALLEST, LARGEST = 1e-9, 1e9
LONGEST_NUMBER = 100  # signs; Python refuses to read whole numbers of thousands of digits

# Patterns are compiled when first used: compiling them took a third of this package's import.
INT = r"[+-]?[0-9]+\Z"
FLOAT = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z"
WORD = r"[A-Za-z][\w-]*\Z"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a family, or its cutoff.

    default  None: not given (the measure then does without)
    low, high  bounds of a number, both included (low is left out when `above` is true), beside those of all numbers
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
        extreme = _extreme(value)
        read = None if extreme else self._read(value)
        if read is None:
            label = f"@{write(value)}" if self.name == "cutoff" else f"{self.name}={write(value)}"
            raise UnknownMeasure(f"{of}: {label} is not allowed; {extreme or f'expected {self.expected}'}")
        return read

    def _read(self, value: Value) -> Value:
        """None: not allowed."""
        if isinstance(value, str):
            return value if self.kind == "choice" and value in self.choices else None
        if isinstance(value, tuple):
            return self._read_braces(value)
        if value is None or self.kind not in {"int", "float"} or not (math.isfinite(value) and self._in_bounds(value)):
            return None
        if self.kind == "float":
            return float(value)
        return int(value) if value == int(value) else None

    def _read_braces(self, value: Gains | Points) -> Value:
        pairs = tuple(each for each in value if isinstance(each, tuple))
        numbers = tuple(float(each) for each in value if not isinstance(each, tuple))
        if self.kind == "gains" and pairs and not numbers and min(pairs)[0] >= 0 and max(pairs)[0] <= GRADE_LIMIT:
            return tuple(sorted(pairs))
        if self.kind == "points" and numbers and not pairs and all(map(self._in_bounds, numbers)):
            return tuple(sorted(numbers))
        return None

    def _in_bounds(self, value: float) -> bool:
        return (self.low < value if self.above else self.low <= value) and value <= self.high

    @property
    def expected(self) -> str:
        """What it takes, in words."""
        if self.kind == "choice":
            return " or ".join(self.choices)
        if self.kind == "gains":
            return f"a gain for each grade from 0 on, up to {GRADE_LIMIT}, like {{1:3.5,2:9}}"
        if self.kind == "points":
            return f"numbers from {write(self.low)} to {write(self.high)}, like {{0.25,0.5,0.75}}"
        noun = "a whole number" if self.kind == "int" else "a number"
        if math.isinf(self.low):
            return noun
        lowest = f"above {write(self.low)}" if self.above else f"of at least {write(self.low)}"
        return f"{noun} {lowest}" + ("" if math.isinf(self.high) else f" and at most {write(self.high)}")

    def write(self, value: Value) -> str:
        return write(value)


def _extreme(value: Value) -> str | None:
    """What is wrong with the size of a number, or of one between braces; None: nothing."""
    if isinstance(value, tuple):
        inside = (each[1] if isinstance(each, tuple) else each for each in value)
        return next(filter(None, map(_extreme, inside)), None)
    if not isinstance(value, (int, float)) or value == 0 or value != value or SMALLEST <= abs(value) <= LARGEST:
        return None
    if abs(value) < SMALLEST:
        return f"a number this small must be 0, or at least {SMALLEST:.9f} in size"
    return f"numbers go up to {LARGEST:,.0f}"


def write(value: Value) -> str:
    """As it stands in a name; read_value gives it back.

    >>> write(0.5), write(2.0), write(((1, 3.5), (2, 9.0)))
    ('0.5', '2', '{1:3.5,2:9}')
    """
    if isinstance(value, float):
        return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(value)
    if isinstance(value, tuple):
        parts = (f"{each[0]}:{write(each[1])}" if isinstance(each, tuple) else write(each) for each in value)
        return "{" + ",".join(parts) + "}"
    return str(value)


def read_value(text: str) -> Value:
    """A number, a word (bare or in quotes), {grade:gain,…} or {number,…}. Raises UnknownMeasure for anything else.

    >>> read_value("0.5"), read_value("exp"), read_value("{1:3.5,2:9}")
    (0.5, 'exp', ((1, 3.5), (2, 9.0)))
    """
    text = text.strip()
    if re.match(INT, text):
        return int(_readable(text))
    if re.match(FLOAT, text):
        return float(_readable(text))
    if re.match(WORD, text):
        return text
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and re.match(WORD, text[1:-1]):
        return text[1:-1]
    if text.startswith("{") and text.endswith("}"):
        parts = [part.strip() for part in text[1:-1].split(",")]
        return _read_gains(parts) if ":" in text else _read_points(parts)
    raise UnknownMeasure(f"{text!r} is no value; expected a number, a word or gains like {{1:3.5,2:9}}")


def _readable(number: str) -> str:
    """The digits of a number, as long as they make a finite one."""
    if len(number) > LONGEST_NUMBER:
        raise UnknownMeasure(f"{number[:20]}… has {len(number):,} signs; a number has at most {LONGEST_NUMBER}")
    if math.isinf(float(number)):
        raise UnknownMeasure(f"{number} is too large; numbers go up to {LARGEST:,.0f}")
    return number


def _read_points(parts: list[str]) -> Points:
    for part in parts:
        if not re.match(FLOAT, part):
            raise UnknownMeasure(f"{part!r} is no number")
    return tuple(sorted({float(_readable(part)) for part in parts}))


def _read_gains(parts: list[str]) -> Gains:
    gains: dict[int, float] = {}
    for part in parts:
        grade, _, gain = (piece.strip() for piece in part.partition(":"))
        if not re.match(INT, grade) or not re.match(FLOAT, gain):
            raise UnknownMeasure(f"{part!r} is no gain; expected grade:gain, like 2:3.5")
        level = int(_readable(grade))
        if level in gains:
            raise UnknownMeasure(f"grade {level} has two gains")
        gains[level] = float(_readable(gain))
    return tuple(sorted(gains.items()))
