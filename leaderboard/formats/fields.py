"""Where the fields of a text stand, for all of its lines at once."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.texts import Codes

__all__ = ["Field", "Places", "part"]

Places = NDArray[np.int64]
Field = tuple[Places, Places]  # int64[lines] each: where it starts, and its length

TAB, NEWLINE, BLANK = b"\t\n "
ALLOWED = np.isin(np.arange(BLANK + 1), [*b"\t\n\v\f\r "])  # what parts fields and lines, of all that is no sign


def part(codes: Codes, width: int, wanted: Iterable[int]) -> list[Field] | None:
    """Some fields of whole lines, by their places in a line.

    None when any line has more or fewer than `width` fields, or the text holds a control character that is no blank.
    Most files have single blanks, each the end of a field; in the others the edges of fields are looked for.
    """
    low = codes <= BLANK
    if not len(low) or low[0] or (low[1:] & low[:-1]).any():
        return _part_by_edges(codes, low, width, wanted)
    ends = np.flatnonzero(low)
    lines, rest = divmod(len(ends), width)
    kinds = codes[ends]
    newlines = kinds == NEWLINE
    if rest or not newlines[width - 1 :: width].all() or np.count_nonzero(newlines) != lines:
        return None
    if not ALLOWED.take(kinds).all():
        return None
    end = ends.reshape(lines, width)
    fields = []
    for place in wanted:
        if place:
            start = end[:, place - 1] + 1
        else:
            start = np.zeros(lines, np.int64)
            start[1:] = end[:-1, -1] + 1
        fields.append((start, end[:, place] - start))
    return fields


def _part_by_edges(codes: Codes, low: NDArray[np.bool_], width: int, wanted: Iterable[int]) -> list[Field] | None:
    edges = np.flatnonzero(low[1:] != low[:-1]) + 1
    if len(low) and not low[0]:
        edges = np.concatenate((np.zeros(1, np.int64), edges))
    newlines = np.flatnonzero(codes == NEWLINE)
    if len(edges) != 2 * width * len(newlines) or not len(edges):
        return None
    by_line = edges.reshape(len(newlines), 2 * width)
    if (by_line[:, -1] > newlines).any() or (by_line[1:, 0] < newlines[:-1]).any():
        return None  # some line has more fields, and another one fewer
    if not ALLOWED.take(codes[low]).all():
        return None
    return [(by_line[:, 2 * place], by_line[:, 2 * place + 1] - by_line[:, 2 * place]) for place in wanted]
