"""Finds where the fields of a text start and how long they are, for all of its lines at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.ids import Codes, Places

Field = tuple[Places, Places]  # int64[lines] each: where it starts, and its length

FEW_BLANKS = 3
TAB, NEWLINE, RETURN, BLANK = b"\t\n\r "
ALLOWED = np.isin(np.arange(BLANK + 1), [*b"\t\n\v\f\r "])  # by character code: may it separate fields or lines?


def find_fields(codes: Codes, width: int, wanted: Sequence[int]) -> list[Field] | None:
    """The fields at the places `wanted` (0 is the first of a line), for every line of a text that ends with a newline.

    None when any line has more or fewer than `width` fields, or when the text holds a control character other than a
    blank. Most files have single blanks between fields, so that every blank ends a field; where several blanks come
    together, the ends of fields are searched for.

    >>> [(start, length)] = find_fields(np.frombuffer(b"q1 d7\\nq1 d30\\n", np.uint8), 2, [1]) or []
    >>> start.tolist(), length.tolist()
    ([3, 9], [2, 3])
    """
    low = codes <= BLANK
    if not len(low) or low[0] or (low[1:] & low[:-1]).any():
        return _split_at_ends(codes, low, width, wanted)
    ends = np.flatnonzero(low)
    lines, rest = divmod(len(ends), width)
    if rest or (codes[ends[width - 1 :: width]] != NEWLINE).any():
        return None
    if np.count_nonzero(codes == BLANK) != len(ends) - lines:
        kinds = codes[ends]  # tabs perhaps, or a control character, or a newline within a line
        if not ALLOWED.take(kinds).all() or np.count_nonzero(kinds == NEWLINE) != lines:
            return None
    end = ends.reshape(lines, width)
    starts = [_behind_the_last(end, end[:, -1], column) for column in wanted]
    return [(start, end[:, column] - start) for start, column in zip(starts, wanted, strict=True)]


def _split_at_ends(codes: Codes, low: NDArray[np.bool_], width: int, wanted: Sequence[int]) -> list[Field] | None:
    ends = np.flatnonzero(low[1:] > low[:-1]) + 1
    newlines = np.flatnonzero(codes == NEWLINE)
    lines = len(newlines)
    if not lines or len(ends) != width * lines:
        return None
    end = ends.reshape(lines, width)
    if (end[:, -1] > newlines).any() or (end[1:, 0] <= newlines[:-1]).any():
        return None  # some line has more fields, and another one fewer
    if np.count_nonzero(codes < BLANK) != np.count_nonzero(codes - np.uint8(TAB) <= RETURN - TAB):
        return None
    fields = []
    for column in wanted:
        start = _behind_the_last(end, newlines, column)
        _skip_blanks(low, start)
        fields.append((start, end[:, column] - start))
    return fields


def _behind_the_last(end: Places, newline: Places, column: int) -> Places:
    """int64[lines]: one past the end of the previous field, or of the previous line for the first field."""
    if column:
        return end[:, column - 1] + 1
    start = np.zeros(len(end), np.int64)
    start[1:] = newline[:-1] + 1
    return start


def _skip_blanks(low: NDArray[np.bool_], start: Places) -> None:
    """Moves each place on to the next character that is no blank: a few steps at first, then by a search."""
    rows = np.flatnonzero(low[start])
    for _ in range(FEW_BLANKS):
        start[rows] += 1
        rows = rows[low[start[rows]]]
    if len(rows):
        signs = np.flatnonzero(low[:-1] > low[1:]) + 1
        start[rows] = signs[np.searchsorted(signs, start[rows])]
