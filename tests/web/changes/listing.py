"""What a change is, and how one is listed."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from tests.web.play import Play

OF_CAMPAIGN = "the campaign's"
OF_ALL = "the installation's"
NONE = "none"

BOARD = "/campaigns/harbour/2025"
ALPHA = "/teams/alpha"

Do = Callable[[Session, Play], object]


@dataclass(frozen=True)
class Change:
    """What a service changes.

    raises  whose generation
    at      a page that shows it, None where no kept page does; `who` asks for it
    """

    services: tuple[str, ...]
    raises: str
    at: str | None
    who: str
    do: Do


class Changes(list[Change]):
    """Changes in the order in which they are made; called, it gives the decorator that lists one."""

    def __call__(
        self, *services: str, raises: str = OF_CAMPAIGN, at: str | None = None, who: str = ""
    ) -> Callable[[Do], Do]:
        def add(do: Do) -> Do:
            self.append(Change(services, raises, at, who, do))
            return do

        return add
