"""An export as an archive, made while it is read: what of it is in memory is a piece, however large it is."""

import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leaderboard.access import Actor
from leaderboard.db import Database
from leaderboard.lookup import find_campaign
from leaderboard.store import RunStore
from leaderboard.transfer.exporting import Export, ExportedFile, begin_export

__all__ = ["exporting", "packed"]

PIECE = 1 << 20
LEVEL = 1  # of compression: the fastest, since somebody waits
GZIP = 31  # zlib's number for a gzip head and 32 KiB of window


@contextmanager
def exporting(database: Database, actor: Actor, slug: str, beside: Path | None = None) -> Iterator[Export]:
    """An export of the campaign, whose files lie in a private folder (in `beside`, where given) while the block runs.

    Raises NotFound where there is no such campaign for `actor`, and NotAllowed for whoever does not organise it.
    """
    with tempfile.TemporaryDirectory(dir=beside, prefix=".export-") as folder:
        with database.read() as session:
            export = begin_export(session, actor, find_campaign(session, actor, slug), Path(folder))
        yield export


def packed(export: Export, store: RunStore) -> Iterator[bytes]:
    """The bytes of a .tar.gz of the export, in a folder of the campaign's name, piece by piece."""
    packing = zlib.compressobj(LEVEL, wbits=GZIP)
    for file in export.files(store):
        for piece in _entry(export.slug, file):
            yield packing.compress(piece)
    yield packing.compress(bytes(2 * tarfile.BLOCKSIZE))
    yield packing.flush()


def _entry(folder: str, file: ExportedFile) -> Iterator[bytes]:
    """The file as tar has it: its head, its bytes, zeros to the end of a block."""
    head = tarfile.TarInfo(f"{folder}/{file.path}")
    head.size = file.place.stat().st_size
    yield head.tobuf(tarfile.PAX_FORMAT)
    with file.place.open("rb") as content:
        while piece := content.read(PIECE):
            yield piece
    yield bytes(-head.size % tarfile.BLOCKSIZE)
