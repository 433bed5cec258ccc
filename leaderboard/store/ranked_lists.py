"""Copies of scored runs, one block of bytes for each query, so that one query's list is read without the rest.

A file begins with `MAGIC`, the number of positions (uint64) and for each position where its block starts, how many
bytes it has and their checksum (uint64 each; 0, 0 and 0: the run has no list there), then the checksum of all this. A
block is compressed with zlib and holds the number of lines and whether there are decisions (uint64 each), the scores,
the decisions and the ids, parted by newlines. Of the scores the first bytes come first, then the second ones and so on:
they compress better so. Numbers are little-endian. Checksums are CRC-32 and begin with the owner, so that a copy of
another run is no more taken than a damaged one.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from leaderboard.errors import Damaged

MAGIC = b"RANKED02"
NUMBER = np.dtype("<u8")
SCORE = np.dtype("<f8")
PLACE = 3  # numbers: the start, the size and the checksum of one block
NUMBERS = 2 * NUMBER.itemsize  # bytes of a block before its scores
HEAD = len(MAGIC) + NUMBER.itemsize
MOST_POSITIONS = 2**24  # a larger number is a damaged one, and is not read for
FAST = 1  # isal's level, which takes a third of the time of zlib's for as much


@dataclass(frozen=True, slots=True)
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


DAMAGED = (
    "The copy of this run's ranked lists is damaged or missing. It is made again by itself: try again in a minute."
)
LOST = (
    "The copy of this run's ranked lists is damaged or missing, and making it again from the run's stored file failed. "
    "The run's figures are not touched. The organisers find the reason in the worker's log."
)
NO_LIST = RankedList((), np.empty(0, SCORE))


def write_lists(path: Path, owner: str, positions: int, lists: Iterable[tuple[int, RankedList]]) -> None:
    """Writes lists, each with its query's position (0 <= position < `positions`), in any order.

    owner: names whose copy it is; the same must be given to read it.
    """
    index = np.zeros((positions, PLACE), NUMBER)
    with path.open("wb") as file:
        file.write(bytes(HEAD + index.nbytes + NUMBER.itemsize))
        for position, ranked in lists:
            block = _block(ranked)
            index[position] = file.tell(), len(block), _checksum(owner, block)
            file.write(block)
        file.seek(0)
        head = MAGIC + np.array(positions, NUMBER).tobytes() + index.tobytes()
        file.write(head + np.array(_checksum(owner, head), NUMBER).tobytes())


def read_list(path: Path, owner: str, position: int) -> RankedList:
    """The list of the query at this position, empty where the run has none. Raises Damaged for a damaged file."""
    try:
        with path.open("rb") as file:
            head, positions = _head(file, owner)
            if position >= positions:
                return NO_LIST
            start, size, checksum = np.frombuffer(
                head, NUMBER, PLACE, HEAD + PLACE * NUMBER.itemsize * position
            ).tolist()
            if not size:
                return NO_LIST
            file.seek(start)
            block = file.read(size)
            if _checksum(owner, block) != checksum:
                raise ValueError("a damaged block")
            return _list(zlib.decompress(block))
    except (zlib.error, ValueError) as error:
        raise Damaged(DAMAGED) from error


def is_sound(path: Path, owner: str) -> bool:
    """Whether all of a file is as `write_lists` wrote it: the head, every block, and nothing behind the last one."""
    with path.open("rb") as file:
        try:
            head, positions = _head(file, owner)
        except ValueError:
            return False
        end = file.tell()
        places = np.frombuffer(head, NUMBER, PLACE * positions, HEAD).reshape(-1, PLACE)
        for start, size, checksum in places.tolist():
            file.seek(start)
            if size and _checksum(owner, file.read(size)) != checksum:
                return False
            end = max(end, start + size)
        return path.stat().st_size == end


def _head(file: BinaryIO, owner: str) -> tuple[bytes, int]:
    """The head, without its checksum, and how many positions it has. Raises ValueError for a damaged one."""
    head = file.read(HEAD)
    if head[: len(MAGIC)] != MAGIC:
        raise ValueError("another kind of file")
    (positions,) = _numbers(head[len(MAGIC) :])
    if positions > MOST_POSITIONS:
        raise ValueError("a damaged head")
    head += file.read(positions * PLACE * NUMBER.itemsize)
    if _numbers(file.read(NUMBER.itemsize)) != [_checksum(owner, head)]:
        raise ValueError("a damaged head")
    return head, positions


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
