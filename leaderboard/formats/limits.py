"""How much one file may hold: what bounds the memory and the time that a stranger's file can take."""

from dataclasses import dataclass

__all__ = ["GRADE_LIMIT", "MIB", "Limits"]

MIB = 1024 * 1024
GRADE_LIMIT = 1000  # of either sign: far above any in use, and 2 to its power is still a finite number


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps on one file. The defaults fit the largest public runs (7 million lines) several times over.

    expanded_bytes  bytes of text, after decompression
    lines           lines of text
    line_bytes      bytes of one line; in columns, lines up to a piece (1 MiB) are taken whatever it says
    id_bytes        bytes of a query's or a document's id
    members         files in an archive
    problems        problems that are told one by one; the rest is counted
    """

    expanded_bytes: int = 4096 * MIB
    lines: int = 50_000_000
    line_bytes: int = MIB
    id_bytes: int = 255
    members: int = 100_000
    problems: int = 50
