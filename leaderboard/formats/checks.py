"""Checks of single values, for what reads a file line by line: each gives the value or raises Wrong."""

import math
import re

from leaderboard.formats.harmless import shown
from leaderboard.formats.problems import Wrong

__all__ = ["GRADE_LIMIT", "ODD_IN_ID", "decision", "grade", "identifier", "is_number", "not_utf8", "score"]

GRADE_LIMIT = 1000  # of either sign: far above any in use, and 2 to its power is still a finite number

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
# What identifier() refuses beyond ASCII and its blanks: control characters and blanks. A plain set is searched for ten
# times faster than a class like \s.
ODD_IN_ID = re.compile(r"[\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def not_utf8(error: UnicodeDecodeError) -> Wrong:
    """A line that can't be decoded."""
    kind = "no UTF-8 text; save the file as UTF-8"
    return Wrong(f"byte {error.start + 1} is {kind}", kind)


def identifier(what: str, text: str, most_bytes: int) -> str:
    """The id of a query or a document (`what`), wherever it comes from: a column, a record, an archive's file name."""
    if not text:
        raise Wrong(f"{what} id is empty")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise Wrong(f"{what} id {shown(text)} is no UTF-8 text", f"a {what} id is no UTF-8 text") from None
    if size > most_bytes:
        longer = f"{what} id longer than {most_bytes} bytes"
        raise Wrong(f"{longer}: {shown(text)}", longer)
    if CONTROL.search(text):
        raise Wrong(f"{what} id {shown(text)} holds a control character", f"a {what} id holds a control character")
    if any(character.isspace() for character in text):
        raise Wrong(f"{what} id '{shown(text)}' holds a blank", f"a {what} id holds a blank")
    return text


def is_number(text: str) -> bool:
    """Whether it is written as a decimal number; it may be too large for one."""
    return NUMBER.fullmatch(text) is not None


def score(text: str) -> float:
    """The score that a field holds. Raises Wrong for what is no finite number."""
    value = float(text) if is_number(text) else math.nan
    if not math.isfinite(value):
        raise Wrong(f"score {_quoted(text)} is no finite number", "the score is no finite number")
    return value


def _quoted(text: str) -> str:
    """In quotes where it would not be seen otherwise what is wrong with it."""
    return shown(text) if text and text == text.strip() else f"'{shown(text)}'"


def grade(text: str) -> int:
    """The grade that a field holds. Raises Wrong for what is no integer or beyond ±GRADE_LIMIT."""
    if not INTEGER.fullmatch(text):
        raise Wrong(f"grade {_quoted(text)} is no integer", "the grade is no integer")
    value = int(text)
    if abs(value) > GRADE_LIMIT:
        beyond = f"is beyond ±{GRADE_LIMIT:,}, the largest allowed"
        raise Wrong(f"grade {value} {beyond}", f"the grade {beyond}")
    return value


def decision(text: str) -> bool:
    """Whether a field says Y. Raises Wrong for what is neither Y nor N."""
    if text not in ("Y", "N"):
        raise Wrong(f"decision {_quoted(text)} is neither Y nor N", "the decision is neither Y nor N")
    return text == "Y"
