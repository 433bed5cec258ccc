"""What one value of a file may be: an id, a score, a grade, a decision. Each check gives the value or raises Wrong."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.ids import WORD, Texts, byte_strings
from leaderboard.formats.plain_text import Limits, shown
from leaderboard.formats.problems import Wrong
from leaderboard.numbers import GRADE_LIMIT, is_whole, read_number

LONGEST_GRADE = 18  # characters: Python reads no number of any length
NUMBER_SIGNS = re.compile(r"[0-9.eE+-]*")
# What turns the order of writing around, or takes no room: two ids that differ in nothing else look alike on a page.
STEERING = re.compile(r"[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
# What identifier() refuses beyond ASCII and its blanks: control characters, blanks, and what can't be seen. A plain set
# is searched for ten times faster than a class like \s.
ODD_IN_ID = re.compile(
    r"[\x7f-\xa0\u061c\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f\u2060\u2066-\u2069\u3000\ufeff]"
)
ODD_BUT_NEWLINE = re.compile(ODD_IN_ID.pattern.replace("[", r"[\x00-\x09\x0b-\x20", 1))
PLAIN = re.compile(r"[!-~]+")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def control_character(what: str, text: str) -> Wrong:
    """A field with a control character; `what` names it."""
    return Wrong.value(what, text, "holds a control character")


def identifier(what: str, text: str, most_bytes: int) -> str:
    """The id of a query or a document (`what`), wherever it comes from: a column, a record, an archive's file name."""
    if len(text) <= most_bytes and PLAIN.fullmatch(text):
        return text
    if not text:
        raise Wrong(f"{what} id is empty")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise Wrong.value(f"{what} id", text, "is no UTF-8 text") from None
    if size > most_bytes:
        longer = f"{what} id longer than {most_bytes} bytes"
        raise Wrong(f"{longer}: {shown(text)}", longer)
    if CONTROL.search(text):
        raise control_character(f"{what} id", text)
    if unseen := STEERING.search(text):
        raise Wrong.value(f"{what} id", text, "holds a character that can't be seen", f", U+{ord(unseen[0]):04X}")
    if any(map(str.isspace, text)):
        raise Wrong.value(f"{what} id", text, "holds a blank")
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


def read_score(text: str) -> float:
    """The score that a field holds. Raises Wrong for what is no finite number."""
    try:
        return read_number(text)
    except ValueError:
        raise Wrong.value("score", text, "is no finite number") from None


def read_grade(text: str) -> int:
    """The grade that a field holds. Raises Wrong for what is no integer or beyond ±GRADE_LIMIT."""
    if not is_whole(text):
        raise Wrong.value("grade", text, "is no integer")
    if len(text) > LONGEST_GRADE or abs(int(text)) > GRADE_LIMIT:
        raise Wrong.value("grade", text, f"is beyond ±{GRADE_LIMIT:,}, the largest allowed")
    return int(text)


def read_decision(text: str) -> bool:
    """Whether a field says Y. Raises Wrong for what is neither Y nor N."""
    if text not in ("Y", "N"):
        raise Wrong.value("decision", text, "is neither Y nor N")
    return text == "Y"


Kind = Literal["id", "score", "grade", "decision", "tag"]

# By what a column holds: the type of its array, and the check of one value, given its column's name and the limits.
HOLDS: Mapping[Kind | None, tuple[str, Callable[[str, str, Limits], Any]]] = {
    "id": (f"S{WORD}", lambda text, name, limits: identifier(name, text, limits.id_bytes)),
    "score": ("f8", lambda text, _, __: read_score(text)),
    "grade": ("i8", lambda text, _, __: read_grade(text)),
    "decision": ("?", lambda text, _, __: read_decision(text)),
    "tag": (f"S{WORD}", lambda text, _, __: text),
}


def values_of(kind: Kind | None, name: str, texts: Sequence[str], limits: Limits) -> NDArray[Any]:
    """The values of a column. Raises ValueError where one of them is wrong, and only then."""
    dtype, check = HOLDS[kind]
    if not texts:
        return np.empty(0, dtype)
    if kind == "id":
        return identifiers(texts, limits.id_bytes)
    if kind == "tag":
        return byte_strings([text.encode()[: limits.id_bytes + 1] for text in texts])
    if kind == "score" and NUMBER_SIGNS.fullmatch("".join(texts)):
        values = np.array(list(map(float, texts)))
        if np.isfinite(values).all():
            return values
    return np.array([check(text, name, limits) for text in texts], dtype)
