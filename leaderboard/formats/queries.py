"""Queries: an id, its text and its tags; separated by tabs, as JSON lines, or as TREC's topics: the SGML of its first
decades and XML.

Neither reader of topics reads a DTD or an entity of its own: a few lines of these can stand for gigabytes, or for
another file.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from leaderboard.formats import plain_text
from leaderboard.formats.problems import HEAD_BYTES, Problems, Wrong, guess_content, numbered_lines, wrong_width
from leaderboard.formats.records import json_object
from leaderboard.formats.tables import our_name
from leaderboard.formats.values import control_character, identifier
from leaderboard.frozen import frozen

TOPICS = ("topic", "top", "query")  # elements that are one topic each
IDS = ("number", "num", "id", "qid", "identifier", "query_id", "queryid")
# The first of them that a topic has is its text.
TEXTS = ("query", "title", "question", "text", "content", "description", "desc")
TAGS = ("tags", "tag", "type")
TOLD = (*TEXTS, "narrative", "narr", "smry", "con", "def")  # what a topic says of itself, all but the text
LEFT_OUT = ("subtopic",)
# What classic topics write before a field's content, in the words of the first TRECs.
PREFIX = re.compile(r"\s*(?:number|topic|domain|description|narrative|title)\s*:", re.IGNORECASE)
PREFIXED = {"num", "title", "desc", "narr", "dom"}
# Fields of classic topics. Any other tag is a part of the text and left out of it.
FIELDS = frozenset({*IDS, *TAGS, *TOLD, "head", "dom", "fac", "nat", "time"})
LANGUAGE = re.compile(r"[a-z]{2}-(?=title$|desc$|narr$)")  # CLEF's <EN-title>
TAG = re.compile(r"<(/?)([A-Za-z][\w:-]*)(?:\s[^<>]*)?>")
COMMENT = re.compile(r"<!--.*?-->")
DECLARATION = re.compile(r"<!\s*(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION|\[)", re.IGNORECASE)
ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}  # those of every XML; no other is read
ENTITY = re.compile(f"&({'|'.join(ENTITIES)});")
DECLARED = "declares a DTD or entities, which are not read; take the declaration out"
HINT = "close every tag, write &amp; for & and &lt; for <, and put one element around all topics"
PARAGRAPHS = re.compile(r"\n\s*\n")
STARTS_SGML = re.compile(rb"\s*(?:<!--.*?-->\s*)*<top[\s>]", re.IGNORECASE | re.DOTALL)

PIECE = 1 << 16  # bytes handed to the XML parser at once
STALLED = 1 << 20  # bytes of one tag: each piece more of it is looked at from the tag's beginning
DEEPEST = 50  # elements in one another
LONGEST = 100_000  # characters of one topic that are collected


@dataclass(slots=True)
class Record:
    """A query as it stands in the file.

    line    of its beginning
    fields  name in lower case -> text; "" of what stands in no field
    """

    line: int
    fields: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, text: str, goes_on: bool = False) -> None:
        """Adds to a field, after a blank unless the text goes on; too much is cut, and refused by `_checked`."""
        self.fields[name] = f"{self.fields.get(name, '')}{'' if goes_on else ' '}{text}"[:LONGEST]

    def first(self, names: tuple[str, ...]) -> tuple[str, str]:
        """The first of some fields that says something, and what it says; ("", "") where none does."""
        return next(((name, text) for name in names if (text := _joined(self.fields.get(name, "")))), ("", ""))


def starts_sgml(head: bytes) -> bool:
    """Whether the first tag is `<top>`: what follows need not have one root, nor tags that are closed."""
    return STARTS_SGML.match(head) is not None


def starts_xml(head: bytes) -> bool:
    """Whether it begins with a tag, and not with that of an HTML page."""
    start = head.lstrip().lower()
    return start.startswith(b"<") and not start.startswith((b"<html", b"<!doctype html"))


def read_sgml(text: plain_text.CappedReader, problems: Problems) -> Iterator[Record]:
    """Classic topics: `<top>`, then fields such as `<num> Number: 301` and `<title>`, closed or not."""
    record, name = None, ""
    for line, written in numbered_lines(text, problems):
        content = COMMENT.sub(" ", written)
        if DECLARATION.search(content):
            raise problems.rejection(DECLARED, line)
        parts = ["", "", *TAG.split(content)]
        for closes, tag, words in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            meant = LANGUAGE.sub("", tag.lower())
            if meant == "top":
                if record is not None:
                    yield _without_prefixes(record)
                record, name = None if closes else Record(line), ""
            elif meant in FIELDS:
                name = "" if closes else meant
            if not words.strip():
                continue
            if record is None:
                outside = "stands outside of a topic (<top> … </top>)"
                problems.add(line, Wrong(f"{plain_text.shown(words.strip())!r} {outside}", f"text that {outside}"))
            else:
                record.add(name, ENTITY.sub(lambda match: ENTITIES[match[1]], words))
    if record is not None:
        yield _without_prefixes(record)


def _without_prefixes(record: Record) -> Record:
    """Without the words before a field's content; classic topics write `Number: 051` for the number 51."""
    for name in PREFIXED & record.fields.keys():
        record.fields[name] = PREFIX.sub("", record.fields[name], count=1)
    number = _joined(record.fields.get("num", ""))
    if number.isascii() and number.isdigit():
        record.fields["num"] = number.lstrip("0") or "0"
    return record


def read_xml(text: plain_text.CappedReader, problems: Problems) -> Iterator[Record]:
    """Topics as XML: elements of TOPICS, whose id and text are attributes or elements of IDS and TEXTS.

    Raises FileRejected for a DTD, entities, and what is not well-formed.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    reader = _Xml(parser, problems)
    fed = 0
    while True:
        piece = text.read(PIECE)
        try:
            parser.Parse(piece, not piece)
        except (expat.ExpatError, LookupError, ValueError) as error:  # the last two are about its encoding
            raise problems.rejection(f"is no well-formed XML ({error}); {HINT}", parser.CurrentLineNumber) from None
        fed += len(piece)
        if piece and fed - parser.CurrentByteIndex > STALLED:
            raise problems.rejection(f"a tag longer than {STALLED:,} bytes", parser.CurrentLineNumber)
        yield from reader.records
        reader.records.clear()
        if not piece:
            return


class _Xml:
    """Collects topics while the parser reads: records are the finished ones."""

    def __init__(self, parser: expat.XMLParserType, problems: Problems) -> None:
        self.records: list[Record] = []
        self._parser = parser
        self._problems = problems
        self._record: Record | None = None
        self._open: list[str] = []
        self._of_record = 0  # how many elements were open before it
        self._goes_on = False  # whether no tag is between the text that comes and the one before: the parser cuts it
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._add
        for handler in ("StartDoctypeDeclHandler", "EntityDeclHandler", "ExternalEntityRefHandler"):
            setattr(parser, handler, self._refuse)

    def _refuse(self, *_: object) -> int:
        raise self._problems.rejection(DECLARED, self._parser.CurrentLineNumber)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line, most = self._parser.CurrentLineNumber, self._problems.limits.lines
        if len(self._open) >= DEEPEST:
            raise self._problems.rejection(f"elements more than {DEEPEST} deep in one another", line)
        if line > most:
            raise self._problems.rejection(f"more than {most:,} lines, the most allowed")
        name = name.rpartition(":")[2].lower()
        if self._record is None and name in TOPICS and (self._open or name != "query"):  # else the root
            self._record = Record(line, {each.lower(): value for each, value in attributes.items()})
            self._of_record = len(self._open)
        self._open.append(name)
        self._goes_on = False

    def _end(self, _: str) -> None:
        self._open.pop()
        self._goes_on = False
        if self._record is not None and len(self._open) == self._of_record:
            self.records.append(self._record)
            self._record = None

    def _add(self, text: str) -> None:
        name = "".join(self._open[self._of_record + 1 : self._of_record + 2])
        if self._record is not None and name not in LEFT_OUT:
            self._record.add(LANGUAGE.sub("", name), text, self._goes_on)
            self._goes_on = True


def _joined(text: str) -> str:
    return " ".join(text.split())


QUERY_FORMATS = "TSV (id, text, tags), JSON lines, or TREC topics in SGML or XML; plain or gzipped"
MOST_COLUMNS = 3
COLUMNS = "id TAB text TAB tags"
LONGEST_TEXT = 10_000  # characters
LONGEST_TAG = 100
# What the lines of CSV, JSON, XML or prose hold and an id alone does not.
NO_ID_ALONE = re.compile(r'[\s,;|"<>{}\[\]]')
# Control characters, and halves of a character, which JSON may write and no database keeps.
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@frozen
class QueryRow:
    """One query: its id, its text ("" where the file gives none) and its tags.

    description  what else is said of it, for who reads and judges: TREC's description and narrative; no system gets it
    """

    id: str
    text: str
    tags: tuple[str, ...]
    description: str = ""


def read_queries(
    source: Path | plain_text.ByteSource, *, name: str | None = None, limits: plain_text.Limits | None = None
) -> tuple[QueryRow, ...]:
    """Reads queries, plain or gzipped, in one of four forms, which the beginning of the file tells apart.

    Columns: `id TAB text TAB tags`, one query a line. Text and tags may be left out; commas separate the tags. Blanks
    around a field don't count, `#` starts a comment line. A line without TAB is an id alone, which holds nothing of
    NO_ID_ALONE; before a TAB an id may hold anything but blanks.

    JSON lines: objects with an id, a text, tags (a list, or separated by commas) and a description.

    TREC's topics, as SGML with `<top>` and fields that need not be closed, or as XML: `formats/queries.py`.

    Raises FileRejected with every problem's line.

    >>> import io
    >>> read_queries(io.BytesIO(b"q1\\tharbour fees\\tlaw,port\\n"))
    (QueryRow(id='q1', text='harbour fees', tags=('law', 'port'), description=''),)
    >>> read_queries(io.BytesIO(b"<top>\\n<num> Number: 301\\n<title> Organized Crime\\n</top>\\n"))
    (QueryRow(id='301', text='Organized Crime', tags=(), description=''),)
    """
    problems = Problems(plain_text.source_name(source, name), limits or plain_text.Limits())
    lines: dict[str, int] = {}
    rows: list[QueryRow] = []
    with plain_text.open_plain(source, problems.limits, problems.name) as text:
        head = text.peek(HEAD_BYTES)
        for record in _records(text, head, problems):
            try:
                row = _checked(record, problems.limits)
                if row.id in lines:
                    raise Wrong.value("query", row.id, "is there twice", f" (first on line {lines[row.id]})")
            except Wrong as wrong:
                problems.add(record.line, wrong)
                continue
            rows.append(row)
            lines[row.id] = record.line
            if len(rows) > problems.limits.queries:
                raise problems.rejection(f"more than {problems.limits.queries:,} queries, the most allowed")
    problems.raise_if_any()
    if not rows:
        problems.raise_empty()
    return tuple(rows)


def _records(text: plain_text.CappedReader, head: bytes, problems: Problems) -> Iterator[Record]:
    if starts_sgml(head) or starts_xml(head):
        for topic in (read_sgml if starts_sgml(head) else read_xml)(text, problems):
            problems.lines += 1
            yield topic
        if not problems.lines:
            words = "holds no topics: expected elements <topic> with a number and a query or title"
            raise problems.rejection(words)
        return
    problems.guess = guess_content(head, "queries")  # topics are marked: what holds one is of this kind
    read = _object if head.lstrip().startswith(b"{") else _fields
    for number, line in numbered_lines(text, problems):
        if not line.strip() or (read is _fields and line.startswith("#")):
            continue
        problems.lines += 1
        try:
            yield Record(number, read(line, problems.lines == 1))
        except Wrong as wrong:
            problems.add(number, wrong)


def _fields(line: str, is_first: bool) -> dict[str, str]:
    fields = [field.strip() for field in line.split("\t")]
    query = fields[0]
    if len(fields) > MOST_COLUMNS:
        raise wrong_width(f"up to {MOST_COLUMNS}", len(fields), COLUMNS)
    if len(fields) == 1 and NO_ID_ALONE.search(query):
        raise Wrong(f"no TAB, and no id alone either ({COLUMNS})")
    if is_first and our_name(query) in ("id", "query"):
        raise Wrong("is a header, not a query; leave it out")
    if query.startswith('"'):
        raise Wrong.value("query id", query, "is in quotes; leave them out")
    if len(query.split()) != 1:
        raise Wrong.value("query id", query, f"is empty or holds blanks ({COLUMNS})")
    return dict(zip(("id", "text", "tags"), fields, strict=False))


def _object(line: str, _is_first: bool) -> dict[str, str]:
    members = {name.lower().lstrip("_"): member for name, member in json_object(line).items()}

    def first(names: Sequence[str], default: Any = None) -> Any:
        return next((members[name] for name in names if name in members), default)

    query, text, tags = first(IDS), first(TEXTS, ""), first(TAGS, [])
    if not isinstance(query, str | int) or isinstance(query, bool):
        raise Wrong('the object has no id; write "id": "…"')
    if not isinstance(text, str):
        raise Wrong.value("the text of query", str(query), "is no text; put it in quotes")
    tags = tags.split(",") if isinstance(tags, str) else tags
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise Wrong.value("the tags of query", str(query), "are no list of texts")
    details = {name: value for name, value in members.items() if name in TOLD and isinstance(value, str)}
    return {"id": str(query), **details, "tags": ",".join(tags)}


def _checked(record: Record, limits: plain_text.Limits) -> QueryRow:
    """Raises Wrong for an id, a text or a tag that none may be."""
    _, number = record.first(IDS)
    if not number:
        raise Wrong("the topic has no number or id")
    query = identifier("query", number, limits.id_bytes)
    if query in (".", ".."):
        raise Wrong.value("query id", query, "can't stand in the address of a page")
    words_of, text = record.first(TEXTS)
    others = (_joined(value) for name, value in record.fields.items() if name not in ("", *IDS, *TAGS, *TOLD))
    text = text or _joined(record.fields.get("", "")) or "; ".join(filter(None, others))
    # For who reads and judges: a paragraph for each field of TOLD but the text's, in order.
    told = (value for name, value in record.fields.items() if name in TOLD and name != words_of)
    paragraphs = [_joined(part) for value in told for part in PARAGRAPHS.split(value)]
    description = "\n\n".join(filter(None, paragraphs))
    for what, words in (("text", text), ("description", "".join(paragraphs))):
        if len(words) > LONGEST_TEXT:
            raise Wrong.value(f"the {what} of query", query, f"is longer than {LONGEST_TEXT:,} characters")
        _require_seen(what, words)
    _, tags = record.first(TAGS)
    return QueryRow(query, text, tuple(_tag(tag) for tag in map(str.strip, tags.split(",")) if tag), description)


def _tag(tag: str) -> str:
    """Tags are listed with blanks between them: none may hold one."""
    if len(tag.split()) != 1:
        raise Wrong.value("tag", tag, "holds a blank")
    if len(tag) > LONGEST_TAG:
        raise Wrong.value("tag", tag, f"is longer than {LONGEST_TAG} characters")
    _require_seen("tag", tag)
    return tag


def _require_seen(what: str, text: str) -> None:
    if CONTROLS.search(text) or plain_text.TURNING.search(text):
        raise control_character(what, text)
