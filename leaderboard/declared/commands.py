"""What an endpoint says of the command that is made from it (`cli.operations` makes it)."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from leaderboard.frozen import frozen

Answer = Any  # of the endpoint, as JSON
PART = re.compile(r"<(?:(?P<converter>\w+):)?(?P<name>\w+)>")  # of an address


@frozen
class Table:
    """An answer as a table: rows gives its rows, row the cells of one; empty says what to do where there is none."""

    head: Sequence[str]
    row: Callable[[Any], Sequence[Any]]
    empty: str
    rows: Callable[[Answer], Sequence[Any]] = lambda answer: answer


@frozen
class Find:
    """How an argument that people write stands for a part of the address that is a number.

    address  where it can be looked up: its parts are arguments
    of       what is answered there, and the arguments -> the part of the address; None where nothing has the name
    lacks    what is said then
    """

    address: str
    of: Callable[[Answer, Mapping[str, str]], Any]
    lacks: str


def account_named(rows: Sequence[Any], name: str) -> int | None:
    """The number of the account of this name among the rows of an answer."""
    return next((row["user_id"] for row in rows if row["name"].casefold() == name.casefold()), None)


@frozen
class Other:
    """What a command does in place of its own where an option is given.

    address  asked by POST; its parts are the arguments and the option, where that is a number
    done     what is said after it, with {names} of them and of the answer
    help     of the option
    """

    address: str
    done: str
    help: str


@frozen
class Command:
    """The command of an endpoint; its options are the endpoint's arguments and the fields of its body.

    usage    its words, then its arguments in capitals: parts of the address, or fields of the body; one in brackets may
             be left out, one with … be given several times. CAMPAIGN/EVALUATION is one argument; FILE is the body
    done     one table or several, or what is said after it: a text with {names} of its arguments and of the
             answer, or a function of answer and arguments
    example  what follows its words in the help's example
    sends    what it sends unless another option says otherwise
    asks     a question before it is done, with {names} of the answer of the address above it: what it removes;
             or a function of that answer and the arguments, "" where it is refused anyway
    status   the exit status that an answer makes
    finds    part of the address -> the argument that stands for it, and how it is found
    preview  of an endpoint that takes files: what its preview (at the same address below `/preview`) says, in lines
    without  arguments of the address, or fields of a form, that are no options
    also     other commands of the same endpoint
    instead  option -> what it does instead
    """

    usage: str
    done: str | Table | tuple[Table, ...] | Callable[[Answer, Mapping[str, Any]], str]
    example: str = ""
    sends: Mapping[str, Any] = field(default_factory=dict)
    asks: str | Callable[[Answer, Mapping[str, Any]], str] = ""
    status: Callable[[Answer], int] = lambda _: 0
    finds: Mapping[str, Find] = field(default_factory=dict)
    preview: Callable[[Answer], Sequence[str]] | None = None
    without: Sequence[str] = ()
    also: Sequence["Command"] = ()
    instead: Mapping[str, Other] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """`["evaluation", "change"]`"""
        return [word for word in self.usage.split() if word.strip("[]") != word.strip("[]").upper()]

    @property
    def arguments(self) -> list[str]:
        """`["CAMPAIGN/EVALUATION"]`"""
        return self.usage.split()[len(self.words) :]


def moment(text: str | None) -> str:
    """A moment of an answer, as tables have it."""
    return "–" if text is None else f"{text[:10]} {text[11:16]}"


def number(value: float | None) -> str:
    """A number of an answer, as tables have it."""
    return "–" if value is None else f"{value:.6g}"
