"""Long tables page by page."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["ROWS", "WHOLE", "Paging", "found_on_page", "paged", "paging_of"]

ROWS = 100  # of a page of a table of systems
WHOLE = 200  # rows: up to so many stand on one page

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


def found_on_page(
    rows: Sequence[Row], names: Callable[[Row], Iterable[str]], text: str, page: int | None
) -> tuple[tuple[Row, ...], Paging]:
    """The rows of one page of a table of more than WHOLE systems, or those with this text in one of their names."""
    wanted = text.casefold()
    found = [row for row in rows if any(wanted in name.casefold() for name in names(row))] if wanted else rows
    return paged(found, page if len(found) > WHOLE else None, ROWS)
