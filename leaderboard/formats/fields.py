"""Where the fields of a text stand, for all of its lines at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.texts import Codes, Places

__all__ = ["Field", "find_fields"]

Field = tuple[Places, Places]  # int64[lines] each: where it starts, and its length

FEW_BLANKS = 3
TAB, NEWLINE, RETURN, BLANK = b"\t\n\r "
ALLOWED = np.isin(np.arange(BLANK + 1), [*b"\t\n\v\f\r "])  # what parts fields and lines, of all that is no sign


def find_fields(codes: Codes, width: int, wanted: Sequence[int]) -> list[Field] | None:
    """Some fields of whole lines, by their places in a line.

    None when any line has more or fewer than `width` fields, or the text holds a control character that is no blank.
    Most files have single blanks, each the end of a field; in the others the ends of fields are looked for.
    """
    low = codes <= BLANK
    if not len(low) or low[0] or (low[1:] & low[:-1]).any():
        return _part_by_ends(codes, low, width, wanted)
    ends = np.flatnonzero(low)
    lines, rest = divmod(len(ends), width)
    if rest or (codes[ends[width - 1 :: width]] != NEWLINE).any():
        return None
    if np.count_nonzero(codes == BLANK) != len(ends) - lines and not _are_blanks(codes[ends], lines):
        return None
    end = ends.reshape(lines, width)
    starts = [_behind_the_last(end, end[:, -1], place) for place in wanted]
    return [(start, end[:, place] - start) for start, place in zip(starts, wanted, strict=True)]


def _are_blanks(kinds: Codes, lines: int) -> bool:
    """Whether all of these part fields but so many, which end lines."""
    return bool(ALLOWED.take(kinds).all()) and np.count_nonzero(kinds == NEWLINE) == lines


def _part_by_ends(codes: Codes, low: NDArray[np.bool_], width: int, wanted: Sequence[int]) -> list[Field] | None:
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
    for place in wanted:
        start = _behind_the_last(end, newlines, place)
        _skip_blanks(low, start)
        fields.append((start, end[:, place] - start))
    return fields


def _behind_the_last(end: Places, newline: Places, place: int) -> Places:
    """int64[lines]: the place behind the field before a field, or behind the line before its line."""
    if place:
        return end[:, place - 1] + 1
    start = np.zeros(len(end), np.int64)
    start[1:] = newline[:-1] + 1
    return start


def _skip_blanks(low: NDArray[np.bool_], start: Places) -> None:
    """Moves each place on to the next sign: step by step over a few blanks, by a search over many."""
    rows = np.flatnonzero(low[start])
    for _ in range(FEW_BLANKS):
        start[rows] += 1
        rows = rows[low[start[rows]]]
    if len(rows):
        signs = np.flatnonzero(low[:-1] > low[1:]) + 1
        start[rows] = signs[np.searchsorted(signs, start[rows])]
