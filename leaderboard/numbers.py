"""What is written as a number, wherever one is read: in a file, a form, an address, an option or a setting.

Python's own int() and float() take `1_0`, digits of any script, blanks around, inf and nan as well, which no file
format and no person means by a number.

And how a number of things is told, and a size in bytes.
"""

import math
import re
from collections.abc import Sequence

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
ANY_WHOLE = re.compile(r"[+-]?[0-9]+")
DIGITS = re.compile(r"([0-9]{1,18})")
GRADE_LIMIT = 1000  # of either sign: the gain 2^g − 1 is still finite, over ten million documents too
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
PREFIXES = {"": 1, "n": 1e-9, "µ": 1e-6, "u": 1e-6, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
BASES = {"s": 1, "J": 1, "W": 1, "Wh": 3600, "Hz": 1, "B": 1, "g": 1e-3}  # SI's unit of mass is the kilogram
IN_SI = {f"{prefix}{base}": factor * PREFIXES[prefix] for base, factor in BASES.items() for prefix in PREFIXES} | {
    "": 1, "min": 60, "h": 3600, "d": 86400, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
}  # fmt: skip


def is_number(text: str) -> bool:
    """Whether it is written as a decimal number; it may be too large for one.

    >>> [is_number(text) for text in ("-.5e3", "1_0", "٣", " 1", "inf")]
    [True, False, False, False, False]
    """
    return NUMBER.fullmatch(text) is not None


def read_number(text: str) -> float:
    """A decimal number. Raises ValueError for what is none, or too large for one."""
    value = float(text) if is_number(text) else math.nan
    if not math.isfinite(value):
        raise ValueError("no finite number")
    return value


def read_ratio(text: str) -> float:
    """A decimal number, or one divided by another, as people state a share. Raises ValueError for anything else.

    >>> read_ratio("0.25"), read_ratio("1/600"), read_ratio("3 / 4")
    (0.25, 0.0016666666666666668, 0.75)
    """
    above, slash, below = (part.strip(" ") for part in text.partition("/"))
    divided, divisor = read_number(above), read_number(below) if slash else 1.0
    if divisor == 0 or not math.isfinite(divided / divisor):
        raise ValueError("no finite number")
    return divided / divisor


def read_quantity(text: str) -> float:
    """A decimal number, which may have a unit of time, energy, power, frequency, memory or mass: that is converted to
    s, J, W, Hz, bytes or kg. Raises ValueError for anything else.

    >>> read_quantity("690906302 J"), read_quantity("3 h"), read_quantity("0.5kWh"), read_quantity("12.5")
    (690906302.0, 10800.0, 1800000.0, 12.5)
    """
    number = NUMBER.match(text)
    value = float(number[0]) * IN_SI.get(text[number.end() :].strip(" "), math.nan) if number else math.nan
    if not math.isfinite(value):
        raise ValueError("no finite number, or one with an unknown unit")
    return value


def written(number: float) -> str:
    """A number with all of its digits, so that the same one is read again.

    >>> written(20.0), written(1 / 600), written(7)
    ('20', '0.0016666666666666668', '7')
    """
    return repr(number).removesuffix(".0")


def is_whole(text: str) -> bool:
    """Whether it is written as a whole number; it may have more digits than `read_whole` takes."""
    return ANY_WHOLE.fullmatch(text) is not None


def read_whole(text: str) -> int:
    """A whole number of up to 18 digits. Raises ValueError for anything else.

    >>> read_whole("-07")
    -7
    """
    if not WHOLE.fullmatch(text):
        raise ValueError("no whole number of at most 18 digits")
    return int(text)


def natural(text: str) -> tuple[tuple[bool, int, str], ...]:
    """Sorts texts with numbers as people do.

    >>> sorted(["q11", "q2", "q1", "301"], key=natural)
    ['301', 'q1', 'q2', 'q11']
    """
    parts = DIGITS.split(text)
    return tuple(
        (position % 2 == 0, int(part) if position % 2 else 0, part) for position, part in enumerate(parts) if part
    )


def counted(number: int, noun: str, many: str = "") -> str:
    """A number of things in words. many: the plural, where it is neither the noun with an s nor -ies for a -y.

    >>> counted(1, "run"), counted(2000, "query"), counted(2, "query is", "queries are")
    ('1 run', '2,000 queries', '2 queries are')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many or plural}"


def first_of(names: Sequence[str], most: int, number: int | None = None) -> str:
    """The first `most` of them, and how many more there are. number: of all, where only some are given.

    >>> first_of(["q1", "q2", "q3"], 2), first_of(["q1"], 2), first_of(["q1"], 2, 1500)
    ('q1, q2 and 1 more', 'q1', 'q1 and 1,499 more')
    """
    shown = names[:most]
    more = (len(names) if number is None else number) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def together(names: Sequence[str], most: int = 4) -> str:
    """All of them, or as many as fit, with the number of others.

    >>> together(["A"]), together(["A", "B", "C"]), together(["A", "B", "C", "D"], 3)
    ('A', 'A, B and C', 'A, B and 2 others')
    """
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} others"]
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def size(number: int) -> str:
    """`512 MiB`: in powers of 1,024, as limits are set; three digits.

    >>> size(1000), size(1 << 30)
    ('1,000 bytes', '1 GiB')
    """
    value = float(number)
    for unit in UNITS:
        if value < 1023.5 or unit == UNITS[-1]:
            break
        value /= 1024
    if unit == "bytes":
        return f"{number:,} bytes"
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
