r"""Patterns of ids and tags, in a small language that can't be made to run away.

A pattern is made into an automaton once, under caps. From then on it takes one step for each byte of a text, whatever
pattern and text are: there is nothing to go back to. It must match the whole text.

    letters, digits and most signs   themselves
    .                                any character
    [a-z0-9_]  [^.]                  one of these, any but these
    \d  \w                           a digit; a letter, digit or _
    \. \( \[ …                       the sign itself
    x* x+ x?                         any number of x, at least one, one or none
    x{4} x{2,5} x{2,}                so many of x
    (…)  x|y                         a group; one or the other

Characters are bytes: one beyond ASCII counts as two to four of them, which only `.` and `[^…]` match.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from leaderboard.errors import BadInput
from leaderboard.formats.ids import Texts, byte_strings

__all__ = ["LONGEST_PATTERN", "Pattern"]

LONGEST_PATTERN = 200  # characters
DEEPEST = 20  # groups within groups
MOST_PLACES = 200  # single characters of the pattern, once {n} is written out
MOST_STATES = 256  # so that a state is one byte
MOST_STEPS = 300_000  # of making the automaton
MOST_TIMES = 200  # of {n}
ROWS_AT_ONCE = 1 << 14  # what stays in the processor's cache

DIGITS = frozenset(b"0123456789")
WORD_SIGNS = DIGITS | frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
ANY = frozenset(range(1, 256))  # 0 fills up short ids
SHORT = {"d": DIGITS, "w": WORD_SIGNS}
INVOLVED = "this pattern is too involved; write it with fewer repetitions"

States = NDArray[np.uint8]
# Whether nothing matches, which places may come first and which last: a bit for each place.
Ends = tuple[bool, int, int]


class Pattern:
    r"""A pattern ready to be held against any number of ids.

    >>> Pattern(r"doc-\d{1,5}").matches("doc-17"), Pattern("[a-z]+").matches("d7")
    (True, False)
    """

    def __init__(self, text: str) -> None:
        """Raises BadInput that says what is wrong with the pattern."""
        self.text = text
        self._next, self._accepts = _automaton(text)
        self._rows = [row.tobytes() for row in self._next.reshape(-1, 256)]

    def matches(self, text: str) -> bool:
        return bool(self.matching(byte_strings([text.encode()]))[0])

    def matching(self, texts: Texts) -> NDArray[np.bool_]:
        """bool[n]: which of the texts it matches."""
        parts = [texts[start : start + ROWS_AT_ONCE] for start in range(0, len(texts), ROWS_AT_ONCE)]
        return np.concatenate([np.empty(0, np.bool_), *map(self._matching, parts)])

    def _matching(self, texts: Texts) -> NDArray[np.bool_]:
        columns = np.ascontiguousarray(
            np.ascontiguousarray(texts).view(np.uint8).reshape(len(texts), texts.dtype.itemsize).T
        )
        state = np.ones(len(texts), np.uint8)
        for column in columns:
            state = self._step(state, column)
        found: NDArray[np.bool_] = self._accepts.take(state)
        return found

    def _step(self, state: States, column: States) -> States:
        """Where each text is after its byte. Most texts of a block are in one state, and bytes.translate is far
        faster than looking up pairs of a state and a byte.
        """
        first = int(state[0])
        others = np.flatnonzero(state != first)
        moved = np.frombuffer(column.tobytes().translate(self._rows[first]), np.uint8)
        if len(others):
            moved = moved.copy()
            moved[others] = self._next.take((state[others].astype(np.intp) << 8) | column[others])
        return moved


@lru_cache(maxsize=64)
def _automaton(text: str) -> tuple[States, NDArray[np.bool_]]:
    """(uint8[states · 256], bool[states]): from each state by each byte to which; and which states accept.

    State 0 is where nothing can match any more, 1 the start. A byte of 0 fills up short ids and moves nothing.
    """
    places = _Places()
    nullable, first, last = _Parser(text).read()(places)
    signs: dict[int, list[int]] = {}  # the places that a byte may stand on -> the bytes
    for byte in range(1, 256):
        mask = sum(1 << place for place, taken in enumerate(places.taken) if byte in taken)
        signs.setdefault(mask, []).append(byte)
    numbers = {(0, False): 0, (first, nullable): 1}
    waiting = [(first, nullable)]
    moves: list[tuple[int, int, list[int]]] = []
    for reach, accepting in waiting:
        for mask, bytes_ in signs.items():
            stood = reach & mask
            after, left = 0, stood
            while left:
                lowest = left & -left
                after |= places.follow[lowest.bit_length() - 1]
                left ^= lowest
                places.count_step()
            target = (after, bool(stood & last)) if stood else (0, False)
            if target not in numbers:
                if len(numbers) == MOST_STATES:
                    raise BadInput(INVOLVED)
                numbers[target] = len(numbers)
                waiting.append(target)
            moves.append((numbers[reach, accepting], numbers[target], bytes_))
    table = np.zeros((len(numbers), 256), np.uint8)
    for source, to, bytes_ in moves:
        table[source, bytes_] = to
    table[:, 0] = np.arange(len(numbers))
    return table.ravel(), np.array([accepting for _, accepting in numbers])


@dataclass(slots=True)
class _Places:
    """The single characters of a pattern: which bytes each takes, and which places may follow it."""

    taken: list[frozenset[int]] = field(default_factory=list)
    follow: list[int] = field(default_factory=list)
    _steps: int = 0

    def add(self, taken: frozenset[int]) -> Ends:
        self.count_step()
        if len(self.taken) == MOST_PLACES:
            raise BadInput(INVOLVED)
        self.taken.append(taken)
        self.follow.append(0)
        own = 1 << (len(self.taken) - 1)
        return False, own, own

    def link(self, before: int, after: int) -> None:
        """Lets each place of `after` follow each of `before`."""
        while before:
            lowest = before & -before
            self.follow[lowest.bit_length() - 1] |= after
            before ^= lowest
            self.count_step()

    def count_step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise BadInput(INVOLVED)


# A part of a pattern: adds its places, and says which of them begin and end it.
Part = Callable[[_Places], Ends]


def _one(taken: frozenset[int]) -> Part:
    return lambda places: places.add(taken)


def _in_turn(parts: Sequence[Part]) -> Part:
    def add(places: _Places) -> Ends:
        nullable, first, last = True, 0, 0
        for part in parts:
            places.count_step()
            own_nullable, own_first, own_last = part(places)
            places.link(last, own_first)
            first |= own_first if nullable else 0
            last = own_last | (last if own_nullable else 0)
            nullable = nullable and own_nullable
        return nullable, first, last

    return add


def _either(parts: Sequence[Part]) -> Part:
    def add(places: _Places) -> Ends:
        ends = [part(places) for part in parts]
        first = last = 0
        for _, own_first, own_last in ends:
            first, last = first | own_first, last | own_last
        return any(nullable for nullable, _, _ in ends), first, last

    return add


def _optional(part: Part) -> Part:
    return lambda places: (True, *part(places)[1:])


def _again(part: Part) -> Part:
    """Once or more."""

    def add(places: _Places) -> Ends:
        nullable, first, last = part(places)
        places.link(last, first)
        return nullable, first, last

    return add


def _times(part: Part, least: int, most: int | None) -> Part:
    if most is None:
        return _in_turn([*[part] * least, _optional(_again(part))])
    return _in_turn([*[part] * least, *[_optional(part)] * (most - least)])


class _Parser:
    """Reads a pattern."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST_PATTERN:
            raise BadInput(f"a pattern has at most {LONGEST_PATTERN} characters")
        if not all("!" <= sign <= "~" for sign in text):
            raise BadInput("a pattern holds ASCII letters, digits and signs only, and no blank")
        self._text = text
        self._at = 0
        self._depth = 0

    def read(self) -> Part:
        part = self._alternatives()
        if self._at < len(self._text):
            raise self._wrong("this bracket closes nothing")
        return part

    def _alternatives(self) -> Part:
        self._depth += 1
        if self._depth > DEEPEST:
            raise BadInput(INVOLVED)
        parts = [self._sequence()]
        while self._take("|"):
            parts.append(self._sequence())
        self._depth -= 1
        return _either(parts)

    def _sequence(self) -> Part:
        parts: list[Part] = []
        while self._here and self._here not in "|)":
            parts.append(self._repeated(self._single()))
        return _in_turn(parts)

    def _repeated(self, part: Part) -> Part:
        if self._take("*"):
            part = _optional(_again(part))
        elif self._take("+"):
            part = _again(part)
        elif self._take("?"):
            part = _optional(part)
        elif self._take("{"):
            part = _times(part, *self._bounds())
        if self._here and self._here in "*+?{":
            raise self._wrong("a repetition is repeated; put brackets around it")
        return part

    def _bounds(self) -> tuple[int, int | None]:
        inside, closed, _ = self._text[self._at :].partition("}")
        least, comma, most = inside.partition(",")
        if not closed or not _is_number(least) or not (most == "" or _is_number(most)):
            raise self._wrong("expected a number of times such as {3}, {1,5} or {2,}")
        if any(len(number) > 3 or int(number or 0) > MOST_TIMES for number in (least, most)):
            raise self._wrong(f"a sign is repeated at most {MOST_TIMES} times")
        self._at += len(inside) + 1
        upper = (int(most) if most else None) if comma else int(least)
        if upper is not None and upper < int(least):
            raise self._wrong("the second number of {…} is smaller than the first")
        return int(least), upper

    def _single(self) -> Part:
        if self._take("("):
            if self._here == "?":
                raise self._wrong("nothing begins with (? here, no look-ahead either: brackets hold alternatives")
            part = self._alternatives()
            if not self._take(")"):
                raise self._wrong("a bracket ( is not closed")
            return part
        if self._take("["):
            return _one(self._class())
        if self._take("."):
            return _one(ANY)
        if self._here in "*+?{":
            raise self._wrong("there is nothing before this sign to repeat")
        if self._here in "]}^$":
            raise self._wrong(f"write \\{self._here} for the sign itself; a pattern matches from start to end anyway")
        return _one(self._sign())

    def _class(self) -> frozenset[int]:
        negated = self._take("^")
        taken: frozenset[int] = frozenset()
        while not self._take("]"):
            if not self._here:
                raise self._wrong("a bracket [ is not closed")
            own = self._sign()
            if self._here == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                end = self._sign()
                if len(own) != 1 or len(end) != 1 or max(end) < min(own):
                    raise self._wrong("a range such as a-z has its ends in order")
                own = frozenset(range(min(own), max(end) + 1))
            taken |= own
        if not taken:
            raise self._wrong("there is nothing between [ and ]")
        return ANY - taken if negated else taken

    def _sign(self) -> frozenset[int]:
        sign = self._here
        self._at += 1
        if sign != "\\":
            return frozenset(sign.encode())
        escaped = self._here
        if not escaped:
            raise self._wrong("\\ stands before a sign")
        self._at += 1
        if escaped in SHORT:
            return SHORT[escaped]
        if escaped.isalnum():
            raise self._wrong(f"\\{escaped} means nothing here; there are \\d and \\w")
        return frozenset(escaped.encode())

    @property
    def _here(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, sign: str) -> bool:
        if self._here != sign:
            return False
        self._at += 1
        return True

    def _wrong(self, message: str) -> BadInput:
        return BadInput(f"at character {self._at + 1}: {message}")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()
