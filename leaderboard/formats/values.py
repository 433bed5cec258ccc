"""Checks of single values for the line-by-line reader: each gives the value or raises ValueError with what is wrong."""

import math
import re

from leaderboard.formats.opening import GRADE_LIMIT

__all__ = ["ODD_IN_ID", "decision", "grade", "identifier", "is_number", "score", "shown"]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
# What identifier() refuses beyond ASCII and its blanks: control characters and blanks. A plain set is searched for ten
# times faster than a class like \s.
ODD_IN_ID = re.compile(r"[\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
SHOWN_CHARACTERS = 60


def shown(text: str) -> str:
    """A value as a message shows it: on one line and not too long."""
    text = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"


def identifier(what: str, text: str, most_bytes: int) -> str:
    """The id of a query or a document (`what`), wherever it comes from: a column, a record, an archive's file name."""
    if not text:
        raise ValueError(f"{what} id is empty")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ValueError(f"{what} id {shown(text)} is no UTF-8 text") from None
    if size > most_bytes:
        raise ValueError(f"{what} id longer than {most_bytes} bytes: {shown(text)}")
    if CONTROL.search(text):
        raise ValueError(f"{what} id {shown(text)} holds a control character")
    if any(character.isspace() for character in text):
        raise ValueError(f"{what} id '{shown(text)}' holds a blank")
    return text


def is_number(text: str) -> bool:
    """Whether it is written as a decimal number; it may be too large for one."""
    return NUMBER.fullmatch(text) is not None


def score(text: str) -> float:
    value = float(text) if is_number(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"score {_quoted(text)} is no finite number")
    return value


def _quoted(text: str) -> str:
    """In quotes where it would not be seen otherwise what is wrong with it."""
    return shown(text) if text and text == text.strip() else f"'{shown(text)}'"


def grade(text: str) -> int:
    if not INTEGER.fullmatch(text):
        raise ValueError(f"grade {_quoted(text)} is no integer")
    value = int(text)
    if abs(value) > GRADE_LIMIT:
        raise ValueError(f"grade {value} is beyond ±{GRADE_LIMIT:,}, the largest allowed")
    return value


def decision(text: str) -> bool:
    if text not in ("Y", "N"):
        raise ValueError(f"decision {_quoted(text)} is neither Y nor N")
    return text == "Y"
