"""Queries: an id, its text and its tags, parted by tabs."""

from dataclasses import dataclass
from pathlib import Path

from leaderboard.formats import checks
from leaderboard.formats.guessing import guess_content
from leaderboard.formats.plain_text import ByteSource, Limits, open_plain, refuse
from leaderboard.formats.problems import Problems
from leaderboard.formats.reading import HEAD_BYTES, source_name

__all__ = ["QueryRow", "read_queries"]

MOST_COLUMNS = 3
COLUMNS = "id TAB text TAB tags"


@dataclass(frozen=True, slots=True)
class QueryRow:
    """One query: its id, its text ("" where the file gives none) and its tags."""

    id: str
    text: str
    tags: tuple[str, ...]


def read_queries(
    source: Path | ByteSource, *, name: str | None = None, limits: Limits | None = None
) -> tuple[QueryRow, ...]:
    """Reads queries, one a line: `id TAB text TAB tags`. Text and tags may be left out; commas part the tags.

    Blanks around a field don't count, `#` starts a comment line. Raises FileRejected with every problem's line.

    >>> import io
    >>> read_queries(io.BytesIO(b"q1\\tharbour fees\\tlaw,port\\n"))
    (QueryRow(id='q1', text='harbour fees', tags=('law', 'port')),)
    """
    limits = limits or Limits()
    name = source_name(source, name)
    problems = Problems(name, limits)
    rows: dict[str, QueryRow] = {}
    lines: dict[str, int] = {}
    with open_plain(source, limits, name) as text:
        problems.guess = guess_content(text.peek(HEAD_BYTES), "queries")
        for number, line in enumerate(text.readlines(), 1):
            if not line.strip() or line.startswith(b"#"):
                continue
            problems.lines += 1
            try:
                row = _read_line(line, limits)
            except checks.Wrong as wrong:
                problems.add(number, wrong)
                continue
            if row.id in rows:
                twice = f"query {checks.shown(row.id)} is there twice (first on line {lines[row.id]})"
                problems.add(number, checks.Wrong(twice, "the query is there twice"))
            else:
                rows[row.id] = row
                lines[row.id] = number
    problems.raise_if_any()
    if not rows:
        raise refuse(name, "is empty")
    return tuple(rows.values())


def _read_line(line: bytes, limits: Limits) -> QueryRow:
    try:
        fields = [field.strip() for field in line.decode().split("\t")]
    except UnicodeDecodeError as error:
        raise checks.not_utf8(error) from None
    if len(fields) > MOST_COLUMNS:
        expected = f"expected up to {MOST_COLUMNS} columns, found"
        raise checks.Wrong(f"{expected} {len(fields)} ({COLUMNS})", f"{expected} more ({COLUMNS})")
    query, text, tags = [*fields, "", ""][:MOST_COLUMNS]
    if not query or len(query.split()) != 1:
        odd = f"is empty or holds blanks ({COLUMNS})"
        raise checks.Wrong(f"query id {checks.shown(query)!r} {odd}", f"the query id {odd}")
    checks.identifier("query", query, limits.id_bytes)
    return QueryRow(query, text, tuple(_tag(tag) for tag in map(str.strip, tags.split(",")) if tag))


def _tag(tag: str) -> str:
    """Tags are listed with blanks between them: none may hold one."""
    if len(tag.split()) != 1:
        joined = checks.shown("-".join(tag.split()))
        raise checks.Wrong(f"tag {checks.shown(tag)!r} holds a blank; write {joined!r}", "a tag holds a blank")
    return tag
