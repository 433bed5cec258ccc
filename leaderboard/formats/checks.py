"""Checks of single values, for what reads a file line by line: each gives the value or raises Wrong."""

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.ids import Texts, byte_strings
from leaderboard.formats.problems import Wrong
from leaderboard.formats.sanitise import shown
from leaderboard.numbers import is_whole, read_number, read_whole

GRADE_LIMIT = 1000  # of either sign: far above any in use, and 2 to its power is still a finite number

NUMBER_SIGNS = re.compile(r"[0-9.eE+-]*")
# What turns the order of writing around, or takes no room: two ids that differ in nothing else look alike on a page.
UNSEEN = re.compile(r"[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
# What identifier() refuses beyond ASCII and its blanks: control characters, blanks, and what can't be seen. A plain set
# is searched for ten times faster than a class like \s.
ODD_IN_ID = re.compile(
    r"[\x7f-\xa0\u061c\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f\u2060\u2066-\u2069\u3000\ufeff]"
)
ODD_BUT_NEWLINE = re.compile(ODD_IN_ID.pattern.replace("[", r"[\x00-\x09\x0b-\x20", 1))
PLAIN = re.compile(r"[!-~]+")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@cache  # not when this is imported, which would take longer than reading most runs
def odd_points() -> NDArray[np.uint32]:
    """The code points of ODD_IN_ID."""
    return np.array([point for point in range(0x10000) if ODD_IN_ID.match(chr(point))], np.uint32)


def not_utf8(error: UnicodeDecodeError) -> Wrong:
    """A line that can't be decoded."""
    kind = "no UTF-8 text; save the file as UTF-8"
    return Wrong(f"byte {error.start + 1} is {kind}", kind)


def control_character(what: str, text: str) -> Wrong:
    """A field with a control character; `what` names it."""
    return Wrong(f"{what} {shown(text)} holds a control character", f"a {what} holds a control character")


def identifier(what: str, text: str, most_bytes: int) -> str:
    """The id of a query or a document (`what`), wherever it comes from: a column, a record, an archive's file name."""
    if len(text) <= most_bytes and PLAIN.fullmatch(text):
        return text
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
        raise control_character(f"{what} id", text)
    if unseen := UNSEEN.search(text):
        named = f"holds a character that can't be seen, U+{ord(unseen[0]):04X}"
        raise Wrong(f"{what} id {shown(text)} {named}", f"a {what} id holds a character that can't be seen")
    if any(character.isspace() for character in text):
        raise Wrong(f"{what} id '{shown(text)}' holds a blank", f"a {what} id holds a blank")
    return text


def identifiers(texts: Sequence[str], most_bytes: int) -> Texts:
    """Ids as `identifier` takes them, many at once. Raises ValueError where it would refuse one of them."""
    joined = "\n".join(texts)
    if ODD_BUT_NEWLINE.search(joined) or joined.count("\n") >= len(texts) or not all(texts):
        raise ValueError("an odd character, or an empty id")
    encoded = joined.encode().split(b"\n")
    if max(map(len, encoded)) > most_bytes:
        raise ValueError("an id is too long")
    return byte_strings(encoded)


def scores(texts: Sequence[str]) -> NDArray[np.float64]:
    """Scores as `score` takes them, many at once. Raises ValueError where it would refuse one of them."""
    if not NUMBER_SIGNS.fullmatch("".join(texts)):
        raise ValueError("a sign that no number has")
    values = np.array(list(map(float, texts)))
    if not np.isfinite(values).all():
        raise ValueError("a number is too large")
    return values


def score(text: str) -> float:
    """The score that a field holds. Raises Wrong for what is no finite number."""
    try:
        return read_number(text)
    except ValueError:
        raise Wrong(f"score {_quoted(text)} is no finite number", "the score is no finite number") from None


def _quoted(text: str) -> str:
    """In quotes where it would not be seen otherwise what is wrong with it."""
    return shown(text) if text and text == text.strip() else f"'{shown(text)}'"


def grade(text: str) -> int:
    """The grade that a field holds. Raises Wrong for what is no integer or beyond ±GRADE_LIMIT."""
    try:
        value = read_whole(text)
    except ValueError:
        if not is_whole(text):
            raise Wrong(f"grade {_quoted(text)} is no integer", "the grade is no integer") from None
        value = GRADE_LIMIT + 1  # it has too many digits to be read
    if abs(value) > GRADE_LIMIT:
        beyond = f"is beyond ±{GRADE_LIMIT:,}, the largest allowed"
        raise Wrong(f"grade {_quoted(text)} {beyond}", f"the grade {beyond}")
    return value


def decision(text: str) -> bool:
    """Whether a field says Y. Raises Wrong for what is neither Y nor N."""
    if text not in ("Y", "N"):
        raise Wrong(f"decision {_quoted(text)} is neither Y nor N", "the decision is neither Y nor N")
    return text == "Y"
