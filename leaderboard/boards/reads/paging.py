"""Long tables page by page."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

ROWS = 100  # of a page of a table of systems
WHOLE = 200  # rows: up to so many stand on one page

NEAR = 2  # pages before and after the one that is shown

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page of how many, 1-based; `rows` over all of them."""

    page: int
    pages: int
    rows: int

    @property
    def near(self) -> tuple[int, ...]:
        """The pages that this one links to, itself among them: the first, the last, and those around it.

        >>> Paging(7, 20, 2000).near
        (1, 5, 6, 7, 8, 9, 20)
        """
        around = range(max(self.page - NEAR, 1), min(self.page + NEAR, self.pages) + 1)
        return tuple(sorted({1, *around, self.pages}))

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
    listed = [row for row in rows if is_found(text, names(row))]
    return paged(listed, page if len(listed) > WHOLE else None, ROWS)


def is_found(text: str, names: Iterable[str]) -> bool:
    """Whether a reader who looks for this text means one of these names: blanks at its ends, several together and
    capitals are nothing to look for.

    >>> is_found(" okapi  bm25 ", ["Okapi BM25, stemmed"])
    True
    """
    wanted = " ".join(text.casefold().split())
    return not wanted or any(wanted in " ".join(name.casefold().split()) for name in names)
