"""TREC's topics: the SGML of its first decades and XML. Gives records; `formats/queries.py` checks what they hold.

Neither reads a DTD or an entity of its own: a few lines of these can stand for gigabytes, or for another file.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from leaderboard.formats.chunks import numbered_lines
from leaderboard.formats.plain_text import CappedReader, rejection
from leaderboard.formats.problems import Problems, Wrong
from leaderboard.formats.sanitise import shown

TOPICS = ("topic", "top", "query")  # elements that are one topic each
IDS = ("number", "num", "id", "qid", "identifier", "query_id", "queryid")
TEXTS = (
    "query",
    "title",
    "question",
    "text",
    "content",
    "description",
    "desc",
)  # the first that a topic has is its text
TAGS = ("tags", "tag", "type")
TOLD = (*TEXTS, "narrative", "narr", "smry", "con", "def")  # what a topic says of itself, all but the text
LEFT_OUT = ("subtopic",)
# What classic topics write before a field's content, in the words of the first TRECs.
PREFIX = re.compile(r"\s*(?:number|topic|domain|description|narrative|title)\s*:", re.IGNORECASE)
PREFIXED = {"num", "title", "desc", "narr", "dom"}
# Fields of classic topics. Any other tag is a part of the text and left out of it.
FIELDS = frozenset(
    {*IDS, *TEXTS, *TAGS, "head", "dom", "narr", "narrative", "smry", "con", "fac", "def", "nat", "time"}
)
LANGUAGE = re.compile(r"[a-z]{2}-(?=title$|desc$|narr$)")  # CLEF's <EN-title>
TAG = re.compile(r"<(/?)([A-Za-z][\w:-]*)(?:\s[^<>]*)?>")
COMMENT = re.compile(r"<!--.*?-->")
DECLARATION = re.compile(r"<!\s*(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION|\[)", re.IGNORECASE)
DECLARED = "declares a DTD or entities, which are not read; take the declaration out"
HINTS = {
    "not well-formed (invalid token)": "write &amp; for & and &lt; for <",
    "mismatched tag": "every tag has to be closed",
    "no element found": "every tag has to be closed",
    "junk after document element": "put one element around all topics",
    "undefined entity": "no entities are read but those of XML itself",
}
PARAGRAPHS = re.compile(r"\n\s*\n")
STARTS_SGML = re.compile(rb"\s*(?:<!--.*?-->\s*)*<top[\s>]", re.IGNORECASE | re.DOTALL)

PIECE = 1 << 16  # bytes handed to the XML parser at once
STALLED = 1 << 20  # bytes of one tag: each piece more of it is looked at from the tag's beginning
DEEPEST = 50  # elements in one another
LONGEST = 100_000  # characters of one topic that are collected


@dataclass(slots=True)
class Record:
    """A topic as it stands in the file. line: of its beginning; fields: name in lower case -> text."""

    line: int
    fields: dict[str, str] = field(default_factory=dict)
    text: str = ""  # that stands in no field

    @property
    def id(self) -> str:
        """The first that is given of IDS; classic topics write `Number: 051` for the number 51."""
        return self._first(IDS)

    @property
    def words(self) -> str:
        """The first that is given of TEXTS, else what stands in no field, else all fields but TOLD together."""
        others = (text for name, text in self.fields.items() if name not in (*IDS, *TAGS, *TOLD))
        return self._first(TEXTS) or _joined(self.text) or "; ".join(filter(None, map(_joined, others)))

    @property
    def description(self) -> str:
        """What else it says, for who reads and judges: a paragraph for each field of TOLD but the text's, in order."""
        return description_of(self.fields)

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(tag for tag in map(str.strip, self._first(TAGS).split(",")) if tag)

    def _first(self, names: tuple[str, ...]) -> str:
        return next((text for name in names if (text := _joined(self.fields.get(name, "")))), "")


def description_of(fields: Mapping[str, str]) -> str:
    """The fields of TOLD but for the one that is the query's text, a paragraph each, in the order of the file."""
    text = next((name for name in TEXTS if _joined(fields.get(name, ""))), None)
    details = (
        part for name, value in fields.items() if name in TOLD and name != text for part in PARAGRAPHS.split(value)
    )
    return "\n\n".join(filter(None, map(_joined, details)))


def starts_sgml(head: bytes) -> bool:
    """Whether the first tag is `<top>`: what follows need not have one root, nor tags that are closed."""
    return STARTS_SGML.match(head) is not None


def starts_xml(head: bytes) -> bool:
    """Whether it begins with a tag, and not with that of an HTML page."""
    start = head.lstrip().lower()
    return start.startswith(b"<") and not start.startswith((b"<html", b"<!doctype html"))


def read_sgml(text: CappedReader, problems: Problems) -> Iterator[Record]:
    """Classic topics: `<top>`, then fields such as `<num> Number: 301` and `<title>`, closed or not."""
    reader = _Sgml(problems)
    for line, content in numbered_lines(text, problems):
        yield from reader.take(line, content)
    yield from reader.end()


class _Sgml:
    """Takes topics line by line. record: the one at hand; name: the field that text goes into."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.record: Record | None = None
        self.name: str | None = None

    def take(self, line: int, content: str) -> Iterator[Record]:
        content = COMMENT.sub(" ", content)
        if DECLARATION.search(content):
            raise rejection(self.problems.name, DECLARED, line)
        start = 0
        for tag in TAG.finditer(content):
            self._add(line, content[start : tag.start()])
            start = tag.end()
            closes, name = tag[1] == "/", LANGUAGE.sub("", tag[2].lower())
            if name == "top":
                yield from self.end()
                if not closes:
                    self.record = Record(line)
            elif name in FIELDS:
                self.name = None if closes else name
        self._add(line, content[start:])

    def end(self) -> Iterator[Record]:
        """The record at hand, which the next one, its closing tag or the end of the file ends."""
        if self.record is not None:
            for name in PREFIXED & self.record.fields.keys():
                self.record.fields[name] = PREFIX.sub("", self.record.fields[name], count=1)
            number = _joined(self.record.fields.get("num", ""))
            if number.isascii() and number.isdigit():
                self.record.fields["num"] = number.lstrip("0") or "0"
            yield self.record
        self.record = self.name = None

    def _add(self, line: int, text: str) -> None:
        if not text.strip():
            return
        text = _unescaped(text)
        if self.record is None:
            outside = "stands outside of a topic (<top> … </top>)"
            self.problems.add(line, Wrong(f"{shown(text.strip())!r} {outside}", f"text that {outside}"))
        elif self.name is None:
            self.record.text = _more(self.record.text, text)
        else:
            self.record.fields[self.name] = _more(self.record.fields.get(self.name, ""), text)


def read_xml(text: CappedReader, problems: Problems) -> Iterator[Record]:
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
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            hint = f"; {HINTS[reason]}" if reason in HINTS else ""
            raise rejection(problems.name, f"is no well-formed XML ({reason}){hint}", error.lineno) from None
        except (LookupError, ValueError):
            raise rejection(problems.name, "declares an encoding that is not read; save it as UTF-8", 1) from None
        fed += len(piece)
        if piece and fed - parser.CurrentByteIndex > STALLED:
            raise rejection(problems.name, f"a tag longer than {STALLED:,} bytes", parser.CurrentLineNumber)
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
        self._goes_on = (
            False  # whether no tag stands between the text that comes and the one before: the parser cuts it
        )
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._add
        for handler in ("StartDoctypeDeclHandler", "EntityDeclHandler", "ExternalEntityRefHandler"):
            setattr(parser, handler, self._refuse)

    def _refuse(self, *_: object) -> int:
        raise rejection(self._problems.name, DECLARED, self._parser.CurrentLineNumber)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line = self._parser.CurrentLineNumber
        if len(self._open) >= DEEPEST:
            raise rejection(self._problems.name, f"elements more than {DEEPEST} deep in one another", line)
        if line > self._problems.limits.lines:
            raise rejection(self._problems.name, f"more than {self._problems.limits.lines:,} lines, the most allowed")
        name = name.rpartition(":")[2].lower()
        if self._record is None and name in TOPICS and self._is_topic(name):
            self._record = Record(line, {each.lower(): value for each, value in attributes.items()})
            self._of_record = len(self._open)
        self._open.append(name)
        self._goes_on = False

    def _is_topic(self, name: str) -> bool:
        """The root is none, unless it is called one itself."""
        return bool(self._open) or name != "query"

    def _end(self, _: str) -> None:
        self._open.pop()
        self._goes_on = False
        if self._record is not None and len(self._open) == self._of_record:
            self.records.append(self._record)
            self._record = None

    def _add(self, text: str) -> None:
        if self._record is None:
            return
        inside = self._open[self._of_record + 1 :]
        if not inside:
            self._record.text = _more(self._record.text, text, self._goes_on)
        elif inside[0] not in LEFT_OUT:
            name = LANGUAGE.sub("", inside[0])
            self._record.fields[name] = _more(self._record.fields.get(name, ""), text, self._goes_on)
        self._goes_on = True


def _more(before: str, text: str, goes_on: bool = False) -> str:
    """Both, with a blank between them unless the text goes on; what is too much is cut, and refused by the check of a
    text's length.
    """
    return f"{before}{'' if goes_on else ' '}{text}"[:LONGEST]


def _joined(text: str) -> str:
    return " ".join(text.split())


def _unescaped(text: str) -> str:
    """The five characters that have a name in every XML; no other entity."""
    from html import unescape  # brings a large table, see formats/problems.py

    return re.sub(r"&(?:amp|lt|gt|quot|apos);", lambda match: unescape(match[0]), text)
