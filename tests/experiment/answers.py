"""What an installation answered, and how the answers of two installations differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from werkzeug.test import TestResponse

Key = tuple[str, str, str, str]  # when, who, the method, the address

SHOWN = 8  # differences that are listed


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that a reader receives: the status, all headers in their order, every byte of the body."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @classmethod
    def of(cls, response: TestResponse) -> "Answer":
        with response:  # what is sent from a file keeps it open
            made = cls(response.status_code, tuple(response.headers), response.get_data())
        response.close()  # a download has its file open
        return made


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two installations told a reader different things.

    part  "status", "body", or the name of a header
    """

    key: Key
    part: str
    first: str
    second: str

    def __str__(self) -> str:
        moment, *question = self.key
        return f"{moment}: {' '.join(question)}: {self.part}\n  one:   {self.first}\n  other: {self.second}"


def differences(one: Mapping[Key, Answer], other: Mapping[Key, Answer]) -> list[Difference]:
    """Every difference, in the order of the answers; an address that only one of them has is one as well."""
    found = []
    for key in dict.fromkeys([*one, *other]):
        first, second = one.get(key), other.get(key)
        if first is None or second is None:
            found.append(Difference(key, "address", *("there" if each else "not there" for each in (first, second))))
        elif first != second:
            found += [Difference(key, *parts) for parts in _parts(first, second)]
    return found


def said(found: Sequence[Difference]) -> str:
    """The first ones in words."""
    return "\n".join([f"{len(found)} differences:", *map(str, found[:SHOWN])])


def _parts(first: Answer, second: Answer) -> list[tuple[str, str, str]]:
    parts = []
    if first.status != second.status:
        parts.append(("status", str(first.status), str(second.status)))
    for left, right in zip_longest(first.headers, second.headers, fillvalue=("no header", "")):
        if left != right:
            parts.append((left[0] if left[0] == right[0] else f"{left[0]} / {right[0]}", left[1], right[1]))
    if first.body != second.body:
        parts.append(("body", *_first_lines(first.body, second.body)))
    return parts


def _first_lines(first: bytes, second: bytes) -> tuple[str, str]:
    """The first lines that differ."""
    lines = (body.decode("utf-8", "replace").splitlines() for body in (first, second))
    for left, right in zip_longest(*lines, fillvalue="(the end)"):
        if left != right:
            return left.strip(), right.strip()
    return "(ends of lines)", "(ends of lines)"
