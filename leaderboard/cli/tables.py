"""How commands print: aligned columns, CSV, JSON, and a few names out of many."""

import csv
import io
import json
import math
from collections.abc import Collection, Iterable, Sequence

import click

from leaderboard.numbers import first_of

UNDEFINED = "–"
NAMED = 10


def aligned(rows: Sequence[Sequence[str]], left: Collection[int]) -> str:
    """The rows as lines, the columns of `left` (numbered from 0) flush left and the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if column_number in left else cell.rjust(width)
            for column_number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """The rows as CSV; None is an empty cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def json_text(document: object) -> str:
    """The document as indented JSON. NaN and infinity have no place in it: raises ValueError."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def defined(value: float) -> float | None:
    """The value, or None for NaN, which stands for what is undefined."""
    return None if math.isnan(value) else value


def named(queries: Sequence[str]) -> str:
    """`q1, q2, …, q10 and 1,234 more`."""
    return first_of(queries, NAMED)


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
    """Prints the rows below their head. Without a row it prints `empty` on stderr: what to do to get one."""
    lines = [[str(cell) for cell in row] for row in rows]
    if lines:
        click.echo(aligned([head, *lines], range(len(head))), nl=False)
    else:
        click.echo(empty, err=True)
