"""Long tables page by page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["Paging", "paged", "paging_of"]

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page of how many, 1-based; `rows` over all of them."""

    page: int
    pages: int
    rows: int

    def before(self, size: int) -> int:
        """How many rows stand on the pages before this one."""
        return (self.page - 1) * size


def paging_of(rows: int, page: int | None, size: int) -> Paging:
    """Where page `page` of so many rows is; None: all of them on one. A page past the last is the last."""
    pages = 1 if page is None else max(1, -(-rows // size))
    return Paging(min(max(page or 1, 1), pages), pages, rows)


def paged(rows: Sequence[Row], page: int | None, size: int) -> tuple[tuple[Row, ...], Paging]:
    """The rows of one page, or all of them (`page` None). A page past the last is the last."""
    paging = paging_of(len(rows), page, size)
    before = paging.before(size)
    return tuple(rows if page is None else rows[before : before + size]), paging
