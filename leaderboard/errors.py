"""Every error that the product raises on purpose.

    LeaderboardError
    ├── BadInput                 400  what the person gave can't be used as it is
    │   ├── InvalidFields        400  one or more named fields, each with its messages
    │   │   └── Unconfirmed      400  does more than it says, or is most likely a slip: listed, and to be confirmed
    │   ├── FileRejected         400  a file, each problem with its line
    │   └── UnknownMeasure       400  no such measure or parameter; lists the nearest
    ├── NotIdentified            401  a program has to show a token, or another one
    ├── NotAllowed               403  this person may not do this
    ├── NotFound                 404  nothing there, or nothing this person may know of
    ├── TooSlow                  408  what is sent arrives more slowly than the site waits for
    ├── Conflict                 409  true of the request, but not of the state it meets
    │   └── PriorLocked          409  the campaign has results; its prior can't change
    ├── TooLarge                 413  over a cap
    ├── TooManyAttempts          429  too many wrong passwords, or registrations, for now
    │   └── QuotaSpent           429  no submission left for now
    └── Unavailable              503  ours: a part that we need does not answer; try again
        ├── NoDatabase           503  the database: away, locked, full or read-only
        │   └── OtherBuild       503  it has other tables than this version needs
        ├── NoStore              503  the run store: away, full or read-only
        │   └── OtherStore       503  the folder is the store of another database, or no store
        └── Damaged              503  a file of the run store is not what was put there

A class's docstring is its default message. `status` is the HTTP status. Commands print the message on stderr and leave
with exit status 2.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import ClassVar

from leaderboard.frozen import frozen
from leaderboard.numbers import counted


class LeaderboardError(Exception):
    """Something went wrong."""

    status: ClassVar[int] = 500
    retry_seconds: int | None = None  # after which the same may work, where waiting helps
    fields: Mapping[str, list[str]] = MappingProxyType({})  # messages by the field that they are about

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip())

    @property
    def message(self) -> str:
        """What a person reads."""
        return str(self.args[0])


class BadInput(LeaderboardError):
    """This input can't be used."""

    status = 400


class InvalidFields(BadInput):
    """Some fields need another value."""

    def __init__(self, fields: Mapping[str, Sequence[str]]) -> None:
        self.fields = {name: list(messages) for name, messages in fields.items()}
        super().__init__(
            "; ".join(f"{name}: {message}" for name, messages in self.fields.items() for message in messages)
        )


class Unconfirmed(InvalidFields):
    """Nothing is done yet: what it does at once, or what is most likely a slip, has to be confirmed.

    The field `confirm` lists it.
    """

    def __init__(self, effects: Sequence[str]) -> None:
        super().__init__({"confirm": effects})
        self.effects = tuple(effects)
        meant = 'If it is meant so, confirm it: confirm=yes in a form, "confirm": true in JSON, --confirm in a command.'
        self.args = (f"Nothing is done yet: {' '.join(effects)} {meant}",)


class Gathered:
    """What several checks refuse, so that all of it is said at once: each check stands in a `with` of the same one."""

    def __init__(self) -> None:
        self.fields: dict[str, list[str]] = {}

    def __enter__(self) -> None:
        """Before a check."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if not isinstance(error, InvalidFields):
            return False
        for name, messages in error.fields.items():
            self.fields.setdefault(name, []).extend(messages)
        return True

    def raise_any(self) -> None:
        """Raises InvalidFields with all that was refused, where something was."""
        if self.fields:
            raise InvalidFields(self.fields)


@frozen
class Problem:
    """One thing that is wrong with a file.

    line   1-based; None when it is the file as a whole
    lines  how many mistakes this stands for: more than one where it sums up many lines, 0 for an example of such a sum
    """

    line: int | None
    message: str
    lines: int = 1

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


class FileRejected(BadInput):
    """This file can't be used.

    `problems` holds sums over many lines first, then single lines in their order. `count` is the number of mistakes in
    all, unless given those that `problems` stand for; `name` is what the file is called; `lines` say all of it.
    """

    def __init__(self, problems: Sequence[Problem], count: int | None = None, name: str = "file") -> None:
        self.problems = tuple(problems)
        listed = sum(problem.lines for problem in self.problems)
        self.count = listed if count is None else count
        self.name = name
        more = self.count - listed
        self.lines = [*map(str, self.problems)]
        if more > 0:
            self.lines.append(f"and {counted(more, 'more problem')}")
        super().__init__("\n".join(f"{name}: {line}" for line in self.lines))


@contextmanager
def file_of(field: str) -> Iterator[None]:
    """Raises InvalidFields for `field` where a file is rejected within, for who names what they send."""
    try:
        yield
    except FileRejected as rejected:
        raise InvalidFields({field: rejected.lines}) from None


class UnknownMeasure(BadInput):
    """There is no measure of this name."""


class NotIdentified(LeaderboardError):
    """A token is needed; make one on your account's page and send it as `Authorization: Bearer …`."""

    status = 401


class NotAllowed(LeaderboardError):
    """You may not do this."""

    status = 403


class NotFound(LeaderboardError):
    """There is nothing here."""

    status = 404


class TooSlow(LeaderboardError):
    """What you sent arrived too slowly; nothing of it is kept."""

    status = 408


class Conflict(LeaderboardError):
    """This no longer fits the state of things; look again."""

    status = 409


class PriorLocked(Conflict):
    """This campaign has scored submissions: its cost, value, prior, β and policy are fixed for good."""


class TooLarge(LeaderboardError):
    """This is larger than allowed."""

    status = 413

    def __init__(self, message: str | None = None, field: str = "") -> None:
        super().__init__(message)
        self.fields = {field: [self.message]} if field else {}


class TooManyAttempts(LeaderboardError):
    """There were too many attempts; try again later."""

    status = 429

    def __init__(self, message: str | None = None, retry_seconds: int = 60) -> None:
        super().__init__(message)
        self.retry_seconds = retry_seconds


class QuotaSpent(TooManyAttempts):
    """No submission is left for now."""


class Unavailable(LeaderboardError):
    """A part that is needed does not answer; try again in a moment."""

    status = 503
    retry_seconds = 30
    reason = ""  # for the log and for commands: it may name files and hosts

    @property
    def in_full(self) -> str:
        """What the log and commands say."""
        return f"{self.message} ({self.reason})" if self.reason else self.message


class _Away(Unavailable):
    """What we need is not there."""

    def __init__(self, reason: str = "") -> None:
        super().__init__()
        self.reason = reason


class NoDatabase(_Away):
    """The database does not answer at the moment. Nothing was changed; try again in a minute."""


class OtherBuild(NoDatabase):
    """The database belongs to another version of this program. The log of this site says what to do."""


class NoStore(_Away):
    """The store of run files does not answer or is full. Nothing of the file was kept; try again in a minute."""

    @property
    def in_full(self) -> str:  # most commands keep no file
        return f"the store of run files: {self.reason}" if self.reason else self.message


class OtherStore(NoStore):
    """The store of run files is not that of the database. Nothing was kept; the log of this site says what to do."""

    @property
    def in_full(self) -> str:
        return self.reason


class Damaged(Unavailable):
    """A stored file is not what was put there."""


class Missing(Damaged):
    """A stored file is not there any more."""
