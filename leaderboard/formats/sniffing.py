"""Tells the forms of a file apart by how it starts."""

from collections.abc import Mapping, Sequence
from typing import Literal

__all__ = ["ARCHIVE_START", "RecordKind", "is_archive", "our_name", "record_kind"]

RecordKind = Literal["csv", "json"]

MAGIC, MAGIC_AT = b"ustar", 257
ARCHIVE_START = MAGIC_AT + len(MAGIC)  # bytes that tell an archive

OTHER_NAMES: Mapping[str, Sequence[str]] = {
    "query": ("query_id", "qid", "topic"),
    "document": ("document_id", "doc_id", "docid", "docno", "doc"),
    "score": ("sim",),
    "grade": ("relevance", "rel", "label"),
}


def is_archive(start: bytes) -> bool:
    """Whether a file that starts so is a tar archive; one without files starts with its end, all NULs.

    Its first header has the magic and, unlike any text, NULs before it.
    """
    before = start[:MAGIC_AT]
    empty = len(start) >= ARCHIVE_START and not any(start[:ARCHIVE_START])
    return empty or (b"\0" in before and start[MAGIC_AT:].startswith(MAGIC))


def record_kind(start: bytes) -> RecordKind | None:
    """What a file that starts so is: JSON lines, CSV with a header that names a query and a document, or neither."""
    text = start.decode(errors="replace").lstrip()
    if text.startswith("{"):
        return "json"
    names = {our_name(name.strip().strip('"')) for name in text.partition("\n")[0].split(",")}
    return "csv" if {"query", "document"} <= names else None


def our_name(column: str) -> str:
    """What we call a column that others call otherwise."""
    column = column.strip().lower()
    return next((ours for ours, others in OTHER_NAMES.items() if column in others), column)
