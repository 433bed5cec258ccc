"""Long tables page by page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["Paging", "paged"]

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page of how many, 1-based; `rows` over all of them."""

    page: int
    pages: int
    rows: int


def paged(rows: Sequence[Row], page: int | None, size: int) -> tuple[tuple[Row, ...], Paging]:
    """The rows of one page, or all of them (`page` None). A page past the last is the last."""
    pages = max(1, -(-len(rows) // size))
    if page is None:
        return tuple(rows), Paging(1, 1, len(rows))
    number = min(max(page, 1), pages)
    return tuple(rows[(number - 1) * size : number * size]), Paging(number, pages, len(rows))
