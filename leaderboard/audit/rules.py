"""Digests of what is on record, the same on every engine: of an event, of a row, of a scoring's figures, of judgments.

They find changes; they stop none. None of them holds a secret, so whoever can write to the database can compute them
too: what makes a change visible is that digests hang together, one event on the one before it, up to a head that
somebody has noted down elsewhere.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import Enum
from itertools import chain
from typing import Any

from leaderboard.evaluations.rules import ScoringSettings
from leaderboard.formats import Judgments, SubtopicJudgments
from leaderboard.frozen import frozen

FIRST = "0" * 64  # what the first event has as the hash of the one before it
SHORT = 16  # hexadecimal digits


@frozen
class ScoreLine:
    """One row of score. `values` are the bytes as stored: eight little-endian ones a position."""

    measure: str
    subset: str
    mean: float | None
    count: int
    values: bytes

    @property
    def digest(self) -> str:
        # Adding 0 makes -0 0, which is what SQLite gives back for it.
        head = (
            f"{self.measure}\n{self.subset}\n{None if self.mean is None else float(self.mean) + 0.0!r}\n{self.count}\n"
        )
        return hashlib.sha256(head.encode() + self.values).hexdigest()


def canonical(value: Any) -> str:
    """A value as one line of JSON: keys sorted, moments in UTC with microseconds, every number as a float's shortest
    digits, since PostgreSQL's JSON has one kind of number and makes 20.0 and 1e20 other texts than SQLite does.

    >>> canonical({"b": 20, "a": datetime(2026, 1, 2, tzinfo=UTC)})
    '{"a": "2026-01-02T00:00:00.000000+00:00", "b": 20.0}'
    """
    return json.dumps(_plain(value), sort_keys=True)


def digest(value: Any) -> str:
    """SHA-256 of the canonical form, in hexadecimal digits."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def short(value: Any) -> str:
    """The first digits of `digest`: to say which of many rows differ, beside a whole digest of all of them."""
    return digest(value)[:SHORT]


def event_hash(previous_hash: str, number: int, *content: Any) -> str:
    """The hash of an event: of the hash of the event before it, and of everything it says, in the order of the columns
    of its table, from the date on."""
    return digest([previous_hash, number, *content])


def scoring_digest(
    submission_id: int,
    sha256: str,
    scoring_set_id: int,
    beta: float | None,
    settings: Mapping[str, Any],
    lines: Iterable[ScoreLine],
) -> str:
    """Of the run, the set, β and every figure, in the order of measure and subset.

    sha256    of the run's file
    settings  what else a page shows of the scoring: queries that the run lacks or that nobody judged, facts of the file
    """
    rows = [line.digest for line in sorted(lines, key=lambda line: (line.measure, line.subset))]
    return digest([submission_id, sha256, scoring_set_id, beta, settings, rows])


def rows_of(judgments: Judgments) -> Iterator[tuple[str, str, int]]:
    """(query, document, grade) of each."""
    queries = map(judgments.queries.__getitem__, judgments.query.tolist())
    return zip(queries, judgments.document.to_list(), judgments.grade.tolist(), strict=True)


def rows_of_subtopics(judged: SubtopicJudgments) -> Iterator[tuple[str, str, str, int]]:
    """(query, subtopic, document, grade) of each."""
    queries = map(judged.queries.__getitem__, judged.query.tolist())
    subtopics = map(judged.subtopics.__getitem__, judged.subtopic.tolist())
    return zip(queries, subtopics, judged.document.to_list(), judged.grade.tolist(), strict=True)


def judgments_sha256(
    judged: Iterable[tuple[str, str, int]],
    known: Iterable[tuple[str, str]],
    subtopics: Iterable[tuple[str, str, str, int]],
) -> str:
    """Of (query, document, grade), (query, document) and (query, subtopic, document, grade), whatever their order."""
    digest = hashlib.sha256()
    for row in chain(sorted(judged), ((*row, "known") for row in sorted(known)), sorted(subtopics)):
        digest.update(("\t".join(map(str, row)) + "\n").encode())
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float)):
        return float(value) + 0.0  # -0 becomes 0, which is what SQLite gives back for it
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, ScoringSettings):
        return _plain(value.as_json())
    raise TypeError(f"no canonical form of a {type(value).__name__}")
