"""Documents to be searched, one at a time: JSON lines, TSV, TREC's SGML, or a folder of texts; plain or gzipped."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

from leaderboard.errors import BadInput
from leaderboard.formats import ByteSource, Limits, open_plain
from leaderboard.formats.plain_text import MIB, CappedReader, rejection, shown
from leaderboard.formats.problems import Problems, Wrong, not_utf8, numbered_lines
from leaderboard.formats.records import json_object
from leaderboard.formats.values import identifier

# A collection is its searcher's own: nothing bounds it but the size of a single document.
LIMITS = Limits(expanded_bytes=1 << 60, expanded_times=1 << 30, lines=1 << 60, line_bytes=64 * MIB)
HEAD_BYTES = 1 << 16  # of a file, which tell its format

ID_NAMES = ("id", "_id", "pid", "docno", "docid", "doc_id", "document_id", "document", "doc")
TEXT_NAMES = (
    "title", "headline", "headings", "abstract", "text", "contents", "content", "body", "passage", "segment",
    "paragraph",
)  # fmt: skip
UTF_8 = "utf-8"

START = re.compile(r"<doc(?=[\s>])[^>]*>", re.IGNORECASE)
BYTE_START, BYTE_END = re.compile(rb"<doc(?=[\s>])", re.IGNORECASE), re.compile(rb"</doc\s*>", re.IGNORECASE)
NUMBER = re.compile(r"<docno\s*>([^<]*)", re.IGNORECASE)
DOCID = re.compile(r"<docid\s*>([^<]*)", re.IGNORECASE)
ATTRIBUTE = re.compile(r"<doc\s[^>]*?\bid\s*=\s*[\"']?([^\s\"'>]*)", re.IGNORECASE)
NO_TEXT = re.compile(
    r"<(docno|docid|docoldno|fileid|dochdr|script|style)\b[^>]*>.*?</\1\s*>|<docno\s*>[^<]*|<!--.*?-->",
    re.IGNORECASE | re.DOTALL,
)
TAG = re.compile(r"</?[a-z!?][^<>]*>", re.IGNORECASE)  # a lone < is one


class Document(NamedTuple):
    """One document: its id and its text."""

    id: str
    text: str


class DocumentFile(NamedTuple):
    """A file of documents; `id` is that of the document where the file may be one, "" where it must hold several."""

    path: Path
    id: str = ""

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self.path)


def document_files(paths: Sequence[Path]) -> list[DocumentFile]:
    """The files that are meant: of a folder all below it, in the order of their names, but hidden ones.

    A file in a folder may be one document, called as the file is without .gz and .txt, or hold many in JSON lines or
    SGML. Raises BadInput for a folder without files.

    >>> document_files([Path("docs.jsonl.gz")])[0].name
    'docs.jsonl.gz'
    """
    files: list[DocumentFile] = []
    for path in paths:
        if not path.is_dir():
            files.append(DocumentFile(path))
            continue
        below = [file for file in sorted(path.rglob("*")) if file.is_file()]
        inside = [file for file in below if "/." not in f"/{file.relative_to(path)}"]
        if not inside:
            raise BadInput(f"{path}: there is no file in this folder")
        files += [DocumentFile(file, file.name.removesuffix(".gz").removesuffix(".txt")) for file in inside]
    return files


def read_documents(file: DocumentFile, source: Path | ByteSource | None = None) -> Iterator[Document]:
    """The documents of one file, as it is read.

    JSON lines: an id and one or more texts, by their usual names (ID_NAMES, TEXT_NAMES; capitals don't matter).
    TSV: the id and then texts; a first line is a header if it begins with a name of ID_NAMES and another column's name.
    SGML: <DOC> with a <DOCNO> (or a <DOCID>, or an id within <DOC>); its text is everything else but tags, headers of
    web pages and scripts.

    source: where the bytes come from, the file's path when not given. The text is UTF-8.

    Raises FileRejected at the end with every problem's line, or at once where the file is of no such format.

    >>> import io
    >>> list(read_documents(DocumentFile(Path("docs.tsv")), io.BytesIO(b"d1\\tharbour fees\\n")))
    [Document(id='d1', text='harbour fees\\n')]
    """
    problems = Problems(file.name, LIMITS)
    with open_plain(source or file.path, LIMITS, file.name) as text:
        head = text.peek(HEAD_BYTES)
        if b"\0" in head:
            raise rejection(file.name, "is binary data, not text")
        cut, parse = _reader(head, file)
        for line, content in cut(text, problems):
            try:
                document = parse(content)
            except UnicodeDecodeError as error:
                problems.add_unread(line, not_utf8(error))
            except Wrong as wrong:
                problems.add_unread(line, wrong)
            else:
                problems.lines += 1
                yield document
    problems.raise_if_any()
    if not problems.lines:
        problems.raise_empty("has no document" if head.strip() else "is empty")


# What cuts a file into documents, each with its line, and what makes one of such a piece.
Reader = tuple[Callable[[CappedReader, Problems], Iterable[tuple[int, Any]]], Callable[[Any], Document]]


def _reader(head: bytes, file: DocumentFile) -> Reader:
    """What reads a file that starts so. Raises FileRejected where nothing does."""
    start = head.lstrip()
    if start.startswith(b"<") and BYTE_START.search(head):
        return _sgml_pieces, _of_sgml
    if start.startswith(b"{"):
        return _lines, _of_record
    if file.id:
        return _whole, lambda content: Document(_id(file.id), content.decode())
    if start.startswith(b"["):
        raise rejection(file.name, "is one JSON array; write one JSON object a line")
    if start.startswith(b"<"):
        raise rejection(file.name, "begins with a tag and has no <DOC>; expected TREC's SGML, JSON lines or TSV")
    return _rows, _of_row


def _lines(text: CappedReader, problems: Problems) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in numbered_lines(text, problems) if line.strip())


def _rows(text: CappedReader, problems: Problems) -> Iterator[tuple[int, str]]:
    """The lines, without a header."""
    return ((number, line) for number, line in _lines(text, problems) if number > 1 or not _is_header(line))


def _whole(text: CappedReader, _: Problems) -> Iterator[tuple[int, bytes]]:
    yield 1, b"".join(iter(lambda: text.read(MIB), b""))


def _of_record(line: str) -> Document:
    fields = {name.lower(): value for name, value in json_object(line).items()}
    present = shown(", ".join(fields)) or "nothing"
    named = next((name for name in ID_NAMES if name in fields), None)
    if named is None:
        raise Wrong(f"has no id ({', '.join(ID_NAMES)}); found {present}", "has no id")
    texts = [_text(name, fields[name]) for name in TEXT_NAMES if name in fields]
    if not texts:
        raise Wrong(f"has no text ({', '.join(TEXT_NAMES)}); found {present}", "has no text")
    value = fields[named]
    if type(value) not in (str, int):
        raise Wrong("document id is neither a text nor a whole number")
    return Document(_id(str(value)), "\n".join(texts))


def _id(text: str) -> str:
    return identifier("document", text.strip(), LIMITS.id_bytes)


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise Wrong(f"{name} is no text")
    return value


def _of_row(line: str) -> Document:
    first, tab, rest = line.partition("\t")
    if not tab:
        raise Wrong("has no TAB; expected id TAB text, JSON lines or TREC's SGML", "has no TAB (id TAB text)")
    return Document(_id(first), rest)


def _is_header(line: str) -> bool:
    """Whether a first line names its columns: a document may be called `doc`, but its text is hardly `title`."""
    first, second = (name.strip().lower() for name in [*line.split("\t", 2), ""][:2])
    return first in ID_NAMES and second in (*TEXT_NAMES, *ID_NAMES, "url")


def _sgml_pieces(text: CappedReader, problems: Problems) -> Iterator[tuple[int, bytes]]:
    """Each <DOC> with its line, up to its </DOC>; up to the next <DOC> or the end where that is missing."""
    held, at, line, at_end = b"", 0, 1, False
    while True:
        start = BYTE_START.search(held, at)
        first = start.start() if start else max(len(held) - len(b"<doc "), at)
        line += held.count(b"\n", at, first)
        at = first
        if start:
            ends = [match.start() for match in (BYTE_END.search(held, at), BYTE_START.search(held, at + 1)) if match]
            if ends or at_end:
                end = min(ends, default=len(held))
                yield line, held[at:end]
                line += held.count(b"\n", at, end)
                at = end
                continue
        if at_end:
            return
        if len(held) - at > LIMITS.line_bytes:
            most = f"{LIMITS.line_bytes:,} bytes, the most allowed"
            raise rejection(problems.name, f"this <DOC> is longer than {most}", line)
        piece = text.read(MIB)
        at_end = not piece
        held, at = held[at:] + piece, 0


def _of_sgml(piece: bytes) -> Document:
    content = piece.decode()
    located = next((match for pattern in (NUMBER, DOCID, ATTRIBUTE) if (match := pattern.search(content))), None)
    if located is None:
        raise Wrong("this <DOC> has no <DOCNO>")
    body = NO_TEXT.sub(" ", START.sub("", content, count=1))
    return Document(_id(unescape(located[1])), unescape(TAG.sub(" ", body)))
