"""What is wrong with what a manifest means, told with its place; and what is made, is there and goes unsaid.

What a problem is in the way of is undone, or made of what can be used, so that what comes after it is looked at too.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from leaderboard.db import Base
from leaderboard.errors import BadInput, Conflict, FileRejected, InvalidFields, LeaderboardError, NotFound, Problem

__all__ = ["TELLABLE", "Telling"]

MOST_PROBLEMS = 100
TELLABLE = (BadInput, Conflict, NotFound)  # what is wrong with a manifest; anything else is not its fault

Row = TypeVar("Row", bound=Base)


class Telling:
    """What one walk through a manifest has to say.

    problems     what was wrong so far, each with its place: `evaluation 2 (round1): slug: …`
    made, there  what was made and what is here already, in words
    notes        what holds because the manifest says nothing of it, and what of it is left out or stays as it is here
    effects      what happens to boards that are here already, in sentences
    """

    def __init__(self, session: Session, name: str, problems: list[str]) -> None:
        """name: of the manifest. problems: those that reading it gave."""
        self.problems = problems
        self.made: list[str] = []
        self.there: list[str] = []
        self.notes: list[str] = []
        self.effects: list[str] = []
        self._session = session
        self._name = name

    @contextmanager
    def telling(self, place: str) -> Iterator[None]:
        """Notes what is wrong in this block, and undoes it."""
        try:
            with self._session.begin_nested():
                yield
        except TELLABLE as error:
            self.note(place, error)

    def note(self, place: str, error: LeaderboardError) -> None:
        """Adds what is wrong to the problems."""
        match error:
            case InvalidFields(fields=fields):
                told = [(f"{place}: {name}", message) for name, messages in fields.items() for message in messages]
            case FileRejected(problems=problems, count=count, name=name):
                told = [(f"{place}: {name}", str(one)) for one in problems]
                rest = count - sum(one.lines for one in problems)
                told += [(f"{place}: {name}", f"and {rest:,} more problems")] if rest > 0 else []
            case _:
                told = [(place, error.message)]
        already = tuple(self.problems)
        for where, message in told:
            # What was no text or number when it was read was left out: it is not missing as well.
            if not isinstance(error, InvalidFields) or not any(one.startswith(f"{where}: ") for one in already):
                self.problems.append(f"{where}: {message}")

    def row(self, place: str, make: Callable[..., Row], given: dict[str, Any], instead: Mapping[str, Any]) -> Row:
        """What `make` makes of the settings, or of what can be used of them; `instead` of those that it needs.

        Raises FileRejected where that is not enough.
        """
        while True:
            try:
                with self._session.begin_nested():
                    return make(**given)
            except InvalidFields as error:
                self.note(place, error)
                wrong = {name: instead[name] for name in error.fields if name in instead}
                left = {name: value for name, value in given.items() if name not in error.fields} | wrong
                if left == given:
                    raise self._rejected() from None
                given = left

    def require_none(self) -> None:
        """Raises FileRejected with every problem where there was one."""
        if self.problems:
            raise self._rejected()

    def _rejected(self) -> FileRejected:
        found = [Problem(None, problem) for problem in self.problems]
        return FileRejected(found[:MOST_PROBLEMS], len(found), self._name)
