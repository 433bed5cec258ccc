"""Queries: an id, its text and its tags; separated by tabs, as JSON lines, or as TREC's topics in SGML or XML."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from leaderboard.formats.checks import control_character, identifier
from leaderboard.formats.chunks import numbered_lines
from leaderboard.formats.guessing import HEAD_BYTES, guess_content
from leaderboard.formats.members import is_archive
from leaderboard.formats.plain_text import ByteSource, CappedReader, Limits, open_plain, rejection, source_name
from leaderboard.formats.problems import Problems, Wrong, wrong_width
from leaderboard.formats.readers import READERS
from leaderboard.formats.sanitise import TURNING, shown
from leaderboard.formats.tables import our_name
from leaderboard.formats.topics import (
    IDS,
    TAGS,
    TEXTS,
    TOLD,
    Record,
    description_of,
    read_sgml,
    read_xml,
    starts_sgml,
    starts_xml,
)
from leaderboard.numbers import is_number

QUERY_FORMATS = "TSV (id, text, tags), JSON lines, or TREC topics in SGML or XML; plain or gzipped"
MOST_COLUMNS = 3
COLUMNS = "id TAB text TAB tags"
LONGEST_TEXT = 10_000  # characters
LONGEST_TAG = 100
# What the lines of CSV, JSON, XML or prose hold and an id alone does not.
NO_ID_ALONE = re.compile(r'[\s,;|"<>{}\[\]]')
# Control characters, and halves of a character, which JSON may write and no database keeps.
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class QueryRow:
    """One query: its id, its text ("" where the file gives none) and its tags.

    description  what else is said of it, for who reads and judges: TREC's description and narrative; no system gets it
    """

    id: str
    text: str
    tags: tuple[str, ...]
    description: str = ""


class _Given(NamedTuple):
    """A query as it stands in the file, before anything of it is checked."""

    line: int
    id: str
    text: str
    tags: Sequence[str]
    description: str = ""


def read_queries(
    source: Path | ByteSource, *, name: str | None = None, limits: Limits | None = None
) -> tuple[QueryRow, ...]:
    """Reads queries, plain or gzipped, in one of four forms, which the beginning of the file tells apart.

    Columns: `id TAB text TAB tags`, one query a line. Text and tags may be left out; commas separate the tags. Blanks
    around a field don't count, `#` starts a comment line. A line without TAB is an id alone, which holds nothing of
    NO_ID_ALONE; before a TAB an id may hold anything but blanks.

    JSON lines: objects with an id, a text, tags (a list, or separated by commas) and a description.

    TREC's topics, as SGML with `<top>` and fields that need not be closed, or as XML: `formats/topics.py`.

    Raises FileRejected with every problem's line, and for a file whose texts are all numbers or Y or N: a run's list
    for one query.

    >>> import io
    >>> read_queries(io.BytesIO(b"q1\\tharbour fees\\tlaw,port\\n"))
    (QueryRow(id='q1', text='harbour fees', tags=('law', 'port'), description=''),)
    >>> read_queries(io.BytesIO(b"<top>\\n<num> Number: 301\\n<title> Organized Crime\\n</top>\\n"))
    (QueryRow(id='301', text='Organized Crime', tags=(), description=''),)
    """
    problems = Problems(source_name(source, name), limits or Limits())
    rows: dict[str, tuple[int, QueryRow]] = {}
    with open_plain(source, problems.limits, problems.name) as text:
        head = text.peek(HEAD_BYTES)
        if is_archive(head):
            raise rejection(problems.name, READERS["archive"].refusal)
        for entry in _given(text, head, problems):
            try:
                row = _checked(entry, problems.limits)
            except Wrong as wrong:
                problems.add(entry.line, wrong)
                continue
            if row.id in rows:
                twice = f"query {shown(row.id)} is there twice (first on line {rows[row.id][0]})"
                problems.add(entry.line, Wrong(twice, "the query is there twice"))
                continue
            rows[row.id] = entry.line, row
            if len(rows) > problems.limits.queries:
                raise rejection(problems.name, f"more than {problems.limits.queries:,} queries, the most allowed")
    problems.raise_if_any()
    if not rows:
        problems.raise_empty()
    if all(row.text in ("Y", "N") or is_number(row.text) for _, row in rows.values()) and len(rows) > 1:
        words = "looks like a run's list for one query (document TAB score): no query has a text of words"
        raise rejection(problems.name, words)
    return tuple(row for _, row in rows.values())


def _given(text: CappedReader, head: bytes, problems: Problems) -> Iterator[_Given]:
    if starts_sgml(head):
        return _topics(read_sgml(text, problems), problems)
    if starts_xml(head):
        return _topics(read_xml(text, problems), problems)
    problems.guess = guess_content(head, "queries")  # topics are marked: what holds one is of this kind
    return _lines(text, _object if head.lstrip().startswith(b"{") else _fields, problems)


def _lines(text: CappedReader, read: Callable[[int, str, bool], _Given], problems: Problems) -> Iterator[_Given]:
    for number, line in numbered_lines(text, problems):
        if not line.strip() or (read is _fields and line.startswith("#")):
            continue
        problems.lines += 1
        try:
            yield read(number, line, problems.lines == 1)
        except Wrong as wrong:
            problems.add(number, wrong)


def _fields(number: int, line: str, is_first: bool) -> _Given:
    fields = [field.strip() for field in line.split("\t")]
    if len(fields) > MOST_COLUMNS:
        raise wrong_width(f"up to {MOST_COLUMNS}", len(fields), COLUMNS)
    query, text, tags = [*fields, "", ""][:MOST_COLUMNS]
    if len(fields) == 1 and NO_ID_ALONE.search(query):
        raise Wrong(f"no TAB, and no id alone either ({COLUMNS})")
    if is_first and our_name(query) in ("id", "query"):
        raise Wrong("is a header, not a query; leave it out")
    if query.startswith('"'):
        raise Wrong(f"query id {shown(query)!r} is in quotes; leave them out", "the query id is in quotes")
    if not query or len(query.split()) != 1:
        odd = f"is empty or holds blanks ({COLUMNS})"
        raise Wrong(f"query id {shown(query)!r} {odd}", f"the query id {odd}")
    return _Given(number, query, text, tags.split(","))


def _object(number: int, line: str, _is_first: bool) -> _Given:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise Wrong("is no JSON object; write one a line") from None
    if not isinstance(value, dict):
        raise Wrong("is no JSON object; write one a line")
    members = {name.lower().lstrip("_"): member for name, member in value.items()}
    query = next((members[name] for name in IDS if name in members), None)
    if isinstance(query, int) and not isinstance(query, bool):
        query = str(query)
    if not isinstance(query, str):
        raise Wrong('the object has no id; write "id": "…"')
    words = next((members[name] for name in TEXTS if name in members), "")
    if not isinstance(words, str):
        raise Wrong(f"the text of query {shown(query)} is no text; put it in quotes", "the text of a query is no text")
    tags = _list_of_tags(query, next((members[name] for name in TAGS if name in members), ()))
    details = {name: value for name, value in members.items() if name in TOLD and isinstance(value, str)}
    return _Given(number, query, words, tags, description_of(details))


def _list_of_tags(query: str, value: Any) -> Sequence[str]:
    tags = value.split(",") if isinstance(value, str) else value
    if not isinstance(tags, (list, tuple)) or not all(isinstance(tag, str) for tag in tags):
        raise Wrong(
            f"the tags of query {shown(query)} are no list of texts", "the tags of a query are no list of texts"
        )
    return tags


def _topics(records: Iterator[Record], problems: Problems) -> Iterator[_Given]:
    for topic in records:
        problems.lines += 1
        yield _Given(topic.line, topic.id, topic.words, topic.tags, topic.description)
    if not problems.lines:
        raise rejection(problems.name, "holds no topics: expected elements <topic> with a number and a query or title")


def _checked(entry: _Given, limits: Limits) -> QueryRow:
    """Raises Wrong for an id, a text or a tag that none may be."""
    if not entry.id:
        raise Wrong("the topic has no number or id")
    query = identifier("query", entry.id, limits.id_bytes)
    if query in (".", ".."):
        raise Wrong(f"query id {query!r} can't stand in the address of a page", "a query id is made of dots alone")
    text = " ".join(entry.text.split())
    for what, words in (("text", text), ("description", entry.description.replace("\n", ""))):
        if len(words) > LONGEST_TEXT:
            long = f"is longer than {LONGEST_TEXT:,} characters"
            raise Wrong(f"the {what} of query {shown(query)} {long}", f"the {what} of a query {long}")
        _require_seen(what, words)
    return QueryRow(query, text, tuple(_tag(tag) for tag in map(str.strip, entry.tags) if tag), entry.description)


def _tag(tag: str) -> str:
    """Tags are listed with blanks between them: none may hold one."""
    if len(tag.split()) != 1:
        joined = shown("-".join(tag.split()))
        raise Wrong(f"tag {shown(tag)!r} holds a blank; write {joined!r}", "a tag holds a blank")
    if len(tag) > LONGEST_TAG:
        raise Wrong(f"tag {shown(tag)!r} is longer than {LONGEST_TAG} characters", "a tag is too long")
    _require_seen("tag", tag)
    return tag


def _require_seen(what: str, text: str) -> None:
    if UNSEEN.search(text) or TURNING.search(text):
        raise control_character(what, text)
