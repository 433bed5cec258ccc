"""What an organiser asks of run files beyond their format, and what breaks it, line by line.

All of it follows from the file and the rules: never from a judgment.
"""

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import asdict, fields
from io import BytesIO
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.formats.columns import read_piece
from leaderboard.formats.ids import Ids, Keys, Pattern, Places, Texts, as_texts, keys
from leaderboard.formats.plain_text import MIB, ByteSource, Limits, cut, open_plain, rejection, shown, source_name
from leaderboard.formats.problems import Problems, Wrong
from leaderboard.formats.rows import Rows, Tags
from leaderboard.formats.tables import DOCUMENT, Schema
from leaderboard.frozen import frozen
from leaderboard.numbers import counted, first_of, natural

LISTED = Schema((DOCUMENT,))
LIST_LIMITS = Limits(expanded_bytes=512 * MIB, lines=10_000_000)
MOST_PACKED = 64 * MIB
NAMED = 5  # queries that a message names


@frozen
class FileRules:
    """The rules as they are stored; None, False and "" ask for nothing.

    most_documents, least_documents  that a list of one query may have
    every_query       every query that everybody may see has a list
    document_pattern  what every document id looks like (`patterns`)
    tag_pattern       what the run tag of every line looks like; a run of a format without tags passes
    documents, documents_sha256  how many ids the collection's list has, and the hash of its text; 0 and "": no list
    """

    most_documents: int | None = None
    least_documents: int | None = None
    every_query: bool = False
    document_pattern: str = ""
    tag_pattern: str = ""
    documents: int = 0
    documents_sha256: str = ""

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "FileRules":
        """What `as_json` gave; names that there are no more are left out."""
        return cls(**{field.name: content[field.name] for field in fields(cls) if field.name in content})

    def as_json(self) -> dict[str, Any]:
        """The rules that ask for something."""
        return {name: value for name, value in asdict(self).items() if value}

    @property
    def in_words(self) -> tuple[str, ...]:
        """What they ask, for whoever makes a run: a sentence each."""
        tags = "The run tag of every line, in a format that has tags, has the form"
        asked = (
            (self.least_documents, f"Documents in a query's list: at least {self.least_documents or 0:,}."),
            (self.most_documents, f"Documents in a query's list: at most {self.most_documents or 0:,}."),
            (self.every_query, "Every query that you may see has a list."),
            (self.documents, f"Documents are those of the collection's list, which has {self.documents:,}."),
            (self.document_pattern, f"Every document id has the form {self.document_pattern}"),
            (self.tag_pattern, f"{tags} {self.tag_pattern}"),
        )
        return tuple(words for rule, words in asked if rule)


NO_RULES = FileRules()


@frozen
class DocumentList:
    """A collection's document ids, packed as they are stored.

    packed  gzipped text, an id a line
    sha256  of the text
    count   of different ids
    """

    packed: bytes
    sha256: str
    count: int

    def lacks(self, documents: Iterable[str]) -> list[str]:
        """Those of the documents that are not in the list, in their order.

        >>> document_list(BytesIO(b"d1\\nd2\\n")).lacks(["d3", "d2", "d4"])
        ['d3', 'd4']
        """
        ids = list(documents)
        lacking = ~_are_among(keys(as_texts(ids)), _keys_of(self.packed))
        return [*compress(ids, lacking.tolist())]


def _are_among(key: Keys, known: Keys) -> NDArray[np.bool_]:
    """bool[n]: which of the keys are among the known ones, which rise."""
    order = np.argsort(key)  # one near the other, they are found several times as fast
    rising = key[order]
    result = np.empty(len(key), np.bool_)
    result[order] = known.take(np.searchsorted(known, rising), mode="clip") == rising
    return result


class RunRules:
    """Rules made ready for any number of runs.

    queries   external ids of those that must have a list where every query must; no hidden one is among them, since
              messages name them
    packed    the collection's list, where the rules have one
    """

    def __init__(self, rules: FileRules, queries: Collection[str] = (), packed: bytes | None = None) -> None:
        """Raises BadInput for a pattern that is none."""
        self.rules = rules
        self._whole = True
        self._queries = tuple(queries)
        self._document = Pattern(rules.document_pattern) if rules.document_pattern else None
        self._tag = Pattern(rules.tag_pattern) if rules.tag_pattern else None
        self._known = _keys_of(packed) if packed is not None else None

    def of_beginning(self) -> "RunRules":
        """Those that the beginning of a file can break: what is missing there may follow."""
        some = copy(self)
        some._whole = False
        return some

    def foreign(self, document: Ids) -> Places:
        """int64[n]: the rows whose document is not of the collection, in order."""
        strange = np.zeros(len(document), np.bool_)
        if self._known is not None:
            strange = ~_are_among(document.keys(0, len(document)), self._known)
        if self._document is not None and len(document):
            strange |= ~np.concatenate([self._document.matching(part) for part in document.parts])
        return np.flatnonzero(strange)

    def tags(self) -> Tags | None:
        """What looks at the run tags of a file while it is read; None where nothing is asked of them."""
        return Tags(self._tag) if self._tag is not None else None

    def check(self, rows: Rows) -> None:
        """Adds what breaks the other rules to the problems of the rows."""
        sound = self._whole and not rows.problems.count  # lines that can't be read are not counted
        if self.rules.document_pattern or self.rules.documents:
            what = "is not of this collection"
            if not self.rules.documents:
                what = f"does not fit the pattern of ids in this collection, {self.rules.document_pattern}"
            strange = self.foreign(rows.document)
            rows.add_each(strange, f"the document {what}", lambda _, document: f"document {document} {what}")
        _, first, count = np.unique(rows.column("query"), return_index=True, return_counts=True)
        most, least = self.rules.most_documents, self.rules.least_documents
        if most is not None:
            _add_queries(rows, first[count > most], f"more than {most:,} documents, the most allowed here")
        if least is not None and sound:
            _add_queries(rows, first[count < least], f"fewer than {least:,} documents, the least asked for here")
        lacking = sorted(set(self._queries).difference(rows.queries), key=natural)
        if self.rules.every_query and sound and lacking:
            some = first_of([*map(shown, lacking)], NAMED)
            lists = f"{counted(len(lacking), 'query has', 'queries have')} no list, and here every query must have one"
            rows.problems.add(0, Wrong(f"{lists}: {some}"))


def document_list(source: Path | ByteSource, *, name: str | None = None, limits: Limits | None = None) -> DocumentList:
    """Reads a collection's document ids, one a line, plain or gzipped, and packs them.

    Raises FileRejected with the problems by line, and for more than 10 million ids or 64 MiB packed.

    >>> document_list(BytesIO(b"d1\\nd2\\nd1\\n")).count
    2
    """
    import hashlib  # loads a library, which whoever only scores can do without

    name = source_name(source, name)
    packer, sha256 = zlib.compressobj(6, wbits=16 + zlib.MAX_WBITS), hashlib.sha256()
    pieces, key = [], []
    for documents in _listed(source, name, limits or LIST_LIMITS):
        key.append(keys(documents))
        lines = b"".join(id_ + b"\n" for id_ in documents.tolist())
        sha256.update(lines)
        pieces.append(packer.compress(lines))
    packed = b"".join([*pieces, packer.flush()])
    if len(packed) > MOST_PACKED:
        most = f"{MOST_PACKED // MIB} MiB packed, the most kept"
        raise rejection(name, f"takes more than {most}; give a pattern of the ids instead")
    return DocumentList(packed, sha256.hexdigest(), len(np.unique(np.concatenate(key))))


def read_document_list(packed: bytes) -> bytes:
    """The text of a packed list, an id a line.

    >>> read_document_list(document_list(BytesIO(b"d1\\r\\nd2")).packed)
    b'd1\\nd2\\n'
    """
    return zlib.decompress(packed, wbits=16 + zlib.MAX_WBITS)


def _keys_of(packed: bytes) -> Keys:
    """The ids by their hash, rising."""
    return np.sort(np.concatenate([*map(keys, _listed(BytesIO(packed), "the list of documents", LIST_LIMITS))]))


def _listed(source: Path | ByteSource, name: str, limits: Limits) -> Iterator[Texts]:
    """The ids of a list, piece by piece; once all are given, FileRejected is raised where a line can't be read."""
    problems = Problems(name, limits)
    count = 0
    with open_plain(source, limits, name) as text:
        for piece in cut(text, limits):
            table = read_piece(piece.without_comments(), LISTED, limits)
            problems.add_lines(table.wrong, len(table))
            problems.raise_if_hopeless()
            count += len(table)
            yield table.columns["document"]
    problems.raise_if_any()
    if not count:
        problems.raise_empty()


def _add_queries(rows: Rows, first: Places, has: str) -> None:
    """Adds what queries have too many or too few of, with the line on which each begins."""
    rows.add_each(first, f"a query has {has}", lambda query, _: f"query {query} has {has}")
