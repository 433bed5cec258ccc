"""Rows printed in aligned columns, and a few names out of many."""

from collections.abc import Collection, Iterable, Sequence

import click

__all__ = ["aligned", "named", "print_table"]

NAMED = 10


def aligned(rows: Sequence[Sequence[str]], left: Collection[int]) -> str:
    """The rows as lines, the columns of `left` (numbered from 0) flush left and the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def named(queries: Sequence[str]) -> str:
    """`q1, q2, …, q10 and 1,234 more`."""
    more = f" and {len(queries) - NAMED:,} more" if len(queries) > NAMED else ""
    return f"{', '.join(queries[:NAMED])}{more}"


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
    """Where there is no row, `empty` is said on stderr: what to do to get one."""
    lines = [[str(cell) for cell in row] for row in rows]
    if lines:
        click.echo(aligned([head, *lines], range(len(head))), nl=False)
    else:
        click.echo(empty, err=True)
