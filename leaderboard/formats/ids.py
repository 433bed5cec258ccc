"""Ids as numpy byte strings, padded with zeros to the width of the longest; the search for rows that say twice what
document a query has; and patterns of ids and tags.

In this form millions of them are cut out of a file, compared, hashed and sorted at once, eight bytes at a time.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.errors import BadInput

Codes = NDArray[np.uint8]  # the bytes of a file
Texts = NDArray[np.bytes_]  # their width is a multiple of WORD; no text ends with a zero
Keys = NDArray[np.uint64]
Places = NDArray[np.int64]  # in the bytes of a file, or lengths there

WORD = 8  # bytes
PADDING = 2 * WORD  # bytes that must follow texts which are cut out
LITTLE, BIG = np.dtype("<u8"), np.dtype(">u8")
LOW_BYTES = np.array([(1 << 8 * size) - 1 for size in range(WORD + 1)], np.uint64)
ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: every bit of a word reaches the highest ones
HALF = np.uint64(32)
BITS = np.uint64(8 * WORD)


def cut_out(codes: Codes, start: Places, length: Places) -> Texts:
    """The texts codes[start : start + length], int64[n] both; at least PADDING bytes must follow the last of them."""
    words = [word & LOW_BYTES.take(left) for word, left in words_of(codes, start, length)]
    if len(words) == 1:
        return words[0].astype(LITTLE, copy=False).view(f"S{WORD}")
    return np.stack(words, axis=1).astype(LITTLE, copy=False).view(f"S{WORD * len(words)}")[:, 0]


def words_of(codes: Codes, start: Places, length: Places) -> Iterator[tuple[Keys, Places]]:
    """The same texts eight bytes at a time, the first one lowest, and how many of these bytes are each text's: the
    others are what follows it.
    """
    aligned = codes[: len(codes) // WORD * WORD].view(LITTLE)
    longest = int(length.max(initial=0))
    yield _words_at(aligned, start), length if longest <= WORD else np.minimum(length, WORD)
    for first in range(WORD, longest, WORD):
        left = np.clip(length - first, 0, WORD)
        yield _words_at(aligned, np.where(left > 0, start + first, start)), left  # no further than the text goes


def _words_at(aligned: Keys, offset: Places) -> Keys:
    """uint64[n]: the eight bytes from each place on, which lie in one word or two: numpy is slow to take what is not
    aligned.
    """
    index = offset >> 3
    shift = (offset & (WORD - 1)).astype(np.uint64) << np.uint64(3)
    word = aligned.take(index) >> shift
    word |= aligned[1:].take(index) << (BITS - shift)  # nothing of it where all 64 bits are shifted out
    return word


def as_texts(texts: Iterable[str]) -> Texts:
    """The texts in UTF-8."""
    return byte_strings([text.encode() for text in texts])


def byte_strings(encoded: Sequence[bytes]) -> Texts:
    """The texts, in UTF-8 already."""
    return np.array(encoded, f"S{WORD * max(-(-max(map(len, encoded), default=0) // WORD), 1)}")


def keys(texts: Texts) -> Keys:
    """uint64[n]: a hash of each text, the same however wide the array.

    >>> bool(keys(as_texts(["d7"]))[0] == keys(as_texts(["d7", "a document of more words"]))[0])
    True
    """
    key = np.zeros(len(texts), np.uint64)
    for word in reversed(_words(texts).T):  # from the back: zeros there leave the key at 0
        key ^= word
        key *= ODD
        key ^= key >> HALF
    return key


def pair_keys(number: NDArray[np.integer[Any]], key: Keys) -> Keys:
    """uint64[n]: a hash of each pair of a query's number and a text, given the text's hash.

    >>> len(set(pair_keys(np.array([0, 1]), keys(as_texts(["d7", "d7"]))).tolist()))
    2
    """
    return number.astype(np.uint64) * ODD ^ key


def slots(key: Keys) -> Places:
    """int64[n]: where each hash has its place in a table of 2^SLOT_BITS."""
    return (key >> SLOT_SHIFT).view(np.int64)


def rising_words(texts: Texts) -> list[Keys]:
    """The texts as columns of uint64[n], eight bytes in each, so that sorting by them in order sorts the texts.

    >>> [first] = rising_words(as_texts(["b", "a"]))
    >>> bool(first[0] > first[1])
    True
    """
    return list(_words(texts).view(BIG).astype(np.uint64).T)


def stretches(texts: Texts) -> Places:
    """int64[n]: the first row of each stretch of one text.

    >>> stretches(as_texts(["q1", "q1", "q2"]))
    array([0, 2])
    """
    return starts_of(*_words(texts).T)


def starts_of(*columns: NDArray[Any]) -> Places:
    """int64[n]: the first row of each stretch of rows that are the same in all columns."""
    opens = np.ones(len(columns[0]), np.bool_)
    np.not_equal(columns[0][1:], columns[0][:-1], out=opens[1:])
    for column in columns[1:]:
        opens[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(opens)


def _words(texts: Texts) -> Keys:
    """uint64[n, words]: the texts' bytes, the first one lowest."""
    return np.ascontiguousarray(texts).view(LITTLE).reshape(len(texts), texts.dtype.itemsize // WORD)


class Ids:
    """Ids, one a line. A part is as wide as its own longest id, so that one long id does not widen millions.

    >>> Ids.of(["d7", "d3"]).take(np.array([1])).tolist()
    [b'd3']
    """

    def __init__(self, parts: Sequence[Texts]) -> None:
        self.parts = tuple(part for part in parts if len(part))
        self._starts = np.array([0, *accumulate(map(len, self.parts))], np.int64)

    @classmethod
    def of(cls, ids: Iterable[str]) -> "Ids":
        return cls([as_texts(ids)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    def keys(self, start: int, end: int) -> Keys:
        """uint64[end - start]: a hash of each id of the rows from `start` to `end`."""
        first, last = np.searchsorted(self._starts, (start, end - 1), side="right").tolist()
        parts = zip(self.parts[first - 1 : last], self._starts[first - 1 : last].tolist(), strict=True)
        hashed = [keys(part[max(start - before, 0) : end - before]) for part, before in parts]
        return np.concatenate([np.empty(0, np.uint64), *hashed])

    def take(self, rows: NDArray[np.int64]) -> Texts:
        """S[n]: the ids of some rows, in any order."""
        part = np.searchsorted(self._starts, rows, side="right") - 1
        order = np.argsort(part, kind="stable")
        bounds = np.searchsorted(part[order], np.arange(len(self.parts) + 1))
        chosen = [
            (order[first:last], self.parts[number])
            for number, (first, last) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
            if first < last
        ]
        taken = np.empty(len(rows), max((ids.dtype for _, ids in chosen), key=lambda kind: kind.itemsize, default="S8"))
        for wanted, ids in chosen:
            taken[wanted] = ids[rows[wanted] - self._starts[part[wanted[0]]]]
        return taken

    def to_list(self) -> list[str]:
        """All of them, decoded."""
        return [id_.decode() for part in self.parts for id_ in part.tolist()]


Queries = NDArray[np.uint32]

ROWS_AT_ONCE = 1 << 15
SLOT_BITS = 18  # all slots stay in the processor's cache
SLOT_SHIFT = np.uint64(64 - SLOT_BITS)


def repeated_rows(query: Queries, document: Ids) -> tuple[Places, Places]:
    """(int64[n], int64[n]): the rows whose query and document an earlier row has too, in order, and the first such row.

    As long as queries come one after the other, some whole queries are searched at a time.
    """
    grouped = bool((query[1:] >= query[:-1]).all())
    suspects, start = [np.empty(0, np.int64)], 0
    while start < len(query):
        end = min(start + ROWS_AT_ONCE, len(query)) if grouped else len(query)
        if end < len(query):
            end = int(np.searchsorted(query, query[end - 1], side="right"))
        suspects.append(_suspects(query, document, start, end))
        start = end
    return _confirmed(np.concatenate(suspects), query, document)


def _suspects(query: Queries, document: Ids, start: int, end: int) -> Places:
    """Rows from `start` to `end` whose query and hash some other of these rows has too."""
    pair = pair_keys(query[start:end], document.keys(start, end))
    ordered = np.sort(pair)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.arange(start, end)[np.isin(pair, again)] if len(again) else np.empty(0, np.int64)


def _confirmed(rows: Places, query: Queries, document: Ids) -> tuple[Places, Places]:
    """Of these rows, as `repeated_rows` gives them, by their documents as texts."""
    documents = document.take(rows)
    order = np.lexsort((rows, documents, query[rows]))
    rows, documents = rows[order], documents[order]
    starts = starts_of(query[rows], documents)
    first = np.repeat(rows[starts], np.diff(starts, append=len(rows)))
    later = np.flatnonzero(rows > first)
    later = later[np.argsort(rows[later])]
    return rows[later], first[later]


LONGEST_PATTERN = 200  # characters
MOST_MEMORY = 1 << 20  # bytes of what RE2 makes of a pattern; longer ones are refused
IDS_AT_ONCE = 4096


class Pattern:
    r"""A pattern ready to be held against any number of ids: a regular expression of RE2, which matches the whole text
    in time linear in its length.

    >>> Pattern(r"doc-\d{1,5}").matching(byte_strings([b"doc-17", b"d7"]))
    array([ True, False])
    """

    def __init__(self, text: str) -> None:
        """Raises BadInput that says what is wrong with the pattern."""
        if len(text) > LONGEST_PATTERN:
            raise BadInput(f"a pattern has at most {LONGEST_PATTERN} characters")
        if not all("!" <= sign <= "~" for sign in text):
            raise BadInput("a pattern holds ASCII letters, digits and signs only, and no blank")
        if r"\C" in text:  # the one sign that would match a line end, below
            raise BadInput(r"a pattern holds no \C: it would match parts of characters")
        self.text = text
        self._id = _compiled(text)
        # Whole lines, each with its end: nothing in the pattern matches a line end, so that \C after $ is one.
        self._lines = _compiled(rf"(?:(?:{text})(?m:$)\C)*")

    def matching(self, texts: Texts) -> NDArray[np.bool_]:
        """bool[n]: which of the texts it matches. None of them holds a line end.

        Many texts are matched by one call; only where one of them is wrong, each by its own.
        """
        matching = np.ones(len(texts), np.bool_)
        for start in range(0, len(texts), IDS_AT_ONCE):
            block = texts[start : start + IDS_AT_ONCE].tolist()
            if not self._lines.fullmatch(b"\n".join([*block, b""])):
                matching[start : start + len(block)] = [bool(self._id.fullmatch(text)) for text in block]
        return matching


def _compiled(text: str) -> Any:
    import re2  # loads a library, which most files can do without

    options = re2.Options()
    options.never_nl = True
    options.never_capture = True
    options.log_errors = False
    options.max_mem = MOST_MEMORY
    try:
        return re2.compile(text, options)
    except re2.error as error:
        raise BadInput(f"this is no pattern: {error.args[0].decode()}") from None
