"""Queries: an id, its text and its tags, separated by tabs."""

import re
from dataclasses import dataclass
from pathlib import Path

from leaderboard.formats.checks import identifier
from leaderboard.formats.guessing import HEAD_BYTES, guess_content
from leaderboard.formats.harmless import shown
from leaderboard.formats.pieces import numbered_lines
from leaderboard.formats.plain_text import ByteSource, Limits, open_plain, rejection, source_name
from leaderboard.formats.problems import Problems, Wrong, wrong_width
from leaderboard.formats.tables import our_name
from leaderboard.numbers import is_number

__all__ = ["QueryRow", "read_queries"]

MOST_COLUMNS = 3
COLUMNS = "id TAB text TAB tags"
# What the lines of CSV, JSON, XML or prose hold and an id alone does not.
NO_ID_ALONE = re.compile(r'[\s,;|"<>{}\[\]]')


@dataclass(frozen=True, slots=True)
class QueryRow:
    """One query: its id, its text ("" where the file gives none) and its tags."""

    id: str
    text: str
    tags: tuple[str, ...]


def read_queries(
    source: Path | ByteSource, *, name: str | None = None, limits: Limits | None = None
) -> tuple[QueryRow, ...]:
    """Reads queries, one a line: `id TAB text TAB tags`. Text and tags may be left out; commas separate the tags.

    Blanks around a field don't count, `#` starts a comment line. A line without TAB is an id alone, which holds nothing
    of NO_ID_ALONE; before a TAB an id may hold anything but blanks. Raises FileRejected with every problem's line, and
    for a file whose texts are all numbers or Y or N: a run's list for one query.

    >>> import io
    >>> read_queries(io.BytesIO(b"q1\\tharbour fees\\tlaw,port\\n"))
    (QueryRow(id='q1', text='harbour fees', tags=('law', 'port')),)
    """
    problems = Problems(source_name(source, name), limits or Limits())
    rows: dict[str, tuple[int, QueryRow]] = {}
    with open_plain(source, problems.limits, problems.name) as text:
        problems.guess = guess_content(text.peek(HEAD_BYTES), "queries")
        for number, line in numbered_lines(text, problems):
            if not line.strip() or line.startswith("#"):
                continue
            problems.lines += 1
            try:
                row = _read_line(line, problems.lines == 1, problems.limits)
            except Wrong as wrong:
                problems.add(number, wrong)
                continue
            first, _ = rows.setdefault(row.id, (number, row))
            if first != number:
                twice = f"query {shown(row.id)} is there twice (first on line {first})"
                problems.add(number, Wrong(twice, "the query is there twice"))
    problems.raise_if_any()
    if not rows:
        problems.raise_empty()
    if all(row.text in ("Y", "N") or is_number(row.text) for _, row in rows.values()) and len(rows) > 1:
        words = "looks like a run's list for one query (document TAB score): no query has a text of words"
        raise rejection(problems.name, words)
    return tuple(row for _, row in rows.values())


def _read_line(line: str, is_first: bool, limits: Limits) -> QueryRow:
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
    identifier("query", query, limits.id_bytes)
    return QueryRow(query, text, tuple(_tag(tag) for tag in map(str.strip, tags.split(",")) if tag))


def _tag(tag: str) -> str:
    """Tags are listed with blanks between them: none may hold one."""
    if len(tag.split()) != 1:
        joined = shown("-".join(tag.split()))
        raise Wrong(f"tag {shown(tag)!r} holds a blank; write {joined!r}", "a tag holds a blank")
    return tag
