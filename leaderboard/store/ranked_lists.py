"""A scored run's ranked lists as one file, of which one query is read without the rest.

A copy of a run's ranked lists has one block of bytes for each query. It begins with `MAGIC`, the number of positions
(uint64) and for each position where its block starts, how many bytes it has and their checksum (uint64 each; 0, 0 and
0: the run has no list there), then the checksum of all this. A block is compressed with zlib and holds the number of
lines and whether there are decisions (uint64 each), the scores, the decisions and the ids, parted by newlines. Of the
scores the first bytes come first, then the second ones and so on: they compress better so. Numbers are little-endian.
Checksums are CRC-32 and begin with the owner, so that a copy of another run is no more taken than a damaged one.
"""

import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from leaderboard.frozen import frozen

MAGIC = b"RANKED02"
NUMBER = np.dtype("<u8")
SCORE = np.dtype("<f8")
ENTRY = 3 * NUMBER.itemsize  # bytes for one position: the start, the size and the checksum of its block
NUMBERS = 2 * NUMBER.itemsize  # bytes of a block before its scores
HEAD = len(MAGIC) + NUMBER.itemsize
MOST_POSITIONS = 2**24  # a larger number is a damaged one, and is not read for
BEGINNING = 1 << 13  # bytes read at first: the index of some 300 queries
FAST = 1  # isal's level, which takes a third of the time of zlib's for as much


Reading = Callable[[int, int], bytes]  # bytes of a file by where they start and how many


@frozen
class RankedList:
    """What a run lists for one query, in rank order.

    documents  n ids; none holds a newline
    scores     float64[n]
    decisions  bool[n], returned or not; None where the run holds no decisions
    """

    documents: tuple[str, ...]
    scores: NDArray[np.float64]
    decisions: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.documents)


def write_lists(path: Path, owner: str, positions: int, lists: Iterable[tuple[int, RankedList]]) -> None:
    """Writes lists, each with its query's position, in any order."""
    index = np.zeros((positions, 3), NUMBER)
    with path.open("wb") as file:
        file.write(bytes(HEAD + index.nbytes + NUMBER.itemsize))
        for position, ranked in lists:
            block = _block(ranked)
            index[position] = file.tell(), len(block), _checksum(owner, block)
            file.write(block)
        file.seek(0)
        head = MAGIC + np.array(positions, NUMBER).tobytes() + index.tobytes()
        file.write(head + np.array(_checksum(owner, head), NUMBER).tobytes())


def read_list(read: Reading, owner: str, position: int) -> RankedList:
    """The list at this position, empty where the run has none. Raises ValueError or zlib.error for a damaged file."""
    index = _index(read, owner)
    start, size, checksum = index[position].tolist() if position < len(index) else (0, 0, 0)
    if not size:
        return RankedList((), np.empty(0, SCORE))
    block = read(start, size)
    if _checksum(owner, block) != checksum:
        raise ValueError("a damaged block")
    return _list(zlib.decompress(block))


def is_sound(path: Path, owner: str) -> bool:
    """Whether all of a file is as it was written: the head, every block, and nothing behind the last one."""
    with path.open("rb") as file:

        def read(start: int, size: int) -> bytes:
            file.seek(start)
            return file.read(size)

        try:
            index = _index(read, owner)
        except ValueError:
            return False
        end = HEAD + index.nbytes + NUMBER.itemsize
        for start, size, checksum in index.tolist():
            if size and _checksum(owner, read(start, size)) != checksum:
                return False
            end = max(end, start + size)
        return path.stat().st_size == end


def _index(read: Reading, owner: str) -> NDArray[np.uint64]:
    """uint64[positions, 3]: where each block is. Raises ValueError for a damaged head."""
    content = read(0, BEGINNING)
    (positions,) = _numbers(content[len(MAGIC) : HEAD])
    if content.startswith(MAGIC) and positions <= MOST_POSITIONS:
        end = HEAD + positions * ENTRY
        missing = end + NUMBER.itemsize - len(content)
        if missing > 0:
            content += read(len(content), missing)
        head = content[:end]
        if _numbers(content[end : end + NUMBER.itemsize]) == [_checksum(owner, head)]:
            return np.frombuffer(head, NUMBER, offset=HEAD).reshape(-1, 3)
    raise ValueError("a damaged head")


def _checksum(owner: str, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(owner.encode()))


def _block(ranked: RankedList) -> bytes:
    decided = ranked.decisions is not None
    content = [
        np.array([len(ranked), decided], NUMBER).tobytes(),
        ranked.scores.astype(SCORE, copy=False).view(np.uint8).reshape(-1, SCORE.itemsize).T.tobytes(),
        ranked.decisions.tobytes() if ranked.decisions is not None else b"",
        "\n".join(ranked.documents).encode(),
    ]
    return isal_zlib.compress(b"".join(content), FAST)


def _list(content: bytes) -> RankedList:
    lines, decided = _numbers(content[:NUMBERS])
    at = NUMBERS + SCORE.itemsize * lines
    scores = np.frombuffer(np.frombuffer(content[NUMBERS:at], np.uint8).reshape(SCORE.itemsize, -1).T.tobytes(), SCORE)
    decisions = np.frombuffer(content, np.bool_, lines, at) if decided else None
    documents = content[at + lines * decided :].decode()
    return RankedList(tuple(documents.split("\n")) if lines else (), scores, decisions)


def _numbers(content: bytes) -> list[int]:
    numbers: list[int] = np.frombuffer(content, NUMBER).tolist()
    return numbers
