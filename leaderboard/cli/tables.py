"""Rows printed in aligned columns."""

from collections.abc import Iterable, Sequence

import click

__all__ = ["print_table"]


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
    """`empty` is said, on stderr, where there is no row: what to do to get one."""
    lines = [[str(cell) for cell in row] for row in rows]
    if not lines:
        click.echo(empty, err=True)
        return
    widths = [max(len(line[column]) for line in [list(head), *lines]) for column in range(len(head))]
    for line in [list(head), *lines]:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
