import gzip
import io
import threading

from hypothesis import given, settings, strategies as st

from leaderboard.formats import Limits, read_run
from leaderboard.formats.plain_text import CappedReader, cut, side_by_side
from tests.formats.files import problems_of


class Drop(io.BytesIO):
    """A source that gives little at a time, as a network does."""

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # of the one kind we use
        return super().readinto(memoryview(buffer)[:3])


@settings(deadline=None)
@given(
    lines=st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line), max_size=20), size=st.integers(21, 90)
)
def test_pieces_are_whole_lines_and_together_the_file(lines: list[bytes], size: int) -> None:
    content = b"\n".join(lines)
    pieces = list(cut(CappedReader(Drop(content), 1 << 30, "file"), Limits(line_bytes=20), size))
    whole = b"".join(piece.text for piece in pieces)
    assert whole == (content + b"\n" if content and not content.endswith(b"\n") else content)
    first = 1
    for piece in pieces:
        assert piece.text.endswith(b"\n")
        assert list(piece.numbers) == list(range(first, first + piece.text.count(b"\n")))
        assert [line[:-1] for line in piece.lines()] == piece.text.split(b"\n")[:-1]
        assert piece.first_line() + b"\n" == next(piece.lines())
        assert piece.last_line() == list(piece.lines())[-1]
        first += piece.text.count(b"\n")


@given(lengths=st.lists(st.integers(0, 25), max_size=9), size=st.integers(1, 60))
def test_a_line_longer_than_allowed_is_refused_however_much_is_read_at_once(lengths: list[int], size: int) -> None:
    content = b"\n".join(b"x" * length for length in lengths)

    def read(source: io.BytesIO) -> bytes:
        return b"".join(piece.text for piece in cut(CappedReader(source, 99999, "file"), Limits(line_bytes=20), size))

    if max(lengths, default=0) <= 20:
        assert read(io.BytesIO(content)).rstrip() == content.rstrip()
    else:
        line = 1 + [length > 20 for length in lengths].index(True)
        assert problems_of(read, io.BytesIO(content)) == [(line, "longer than 20 bytes, the most allowed")]


def test_work_goes_on_side_by_side_and_comes_back_in_order() -> None:
    both = threading.Barrier(2)

    def work(number: int) -> int:
        if number < 2:
            both.wait(timeout=30)  # only passed when two are at work together
        return number * number

    assert list(side_by_side(work, iter(range(40)), at_once=2)) == [number * number for number in range(40)]


def test_only_text_that_is_inflated_is_read_beside_parsing() -> None:
    """Reading plain text takes too little time to be worth another thread."""
    lines = b"".join(b"q1 Q0 document-%07d 1 1 mine\n" % number for number in range(100_000))  # three pieces
    before = threading.active_count()
    assert max(_threads_while_reading(lines)) == before
    assert max(_threads_while_reading(gzip.compress(lines))) > before


def _threads_while_reading(file: bytes) -> list[int]:
    """How many threads there are at each read of the file."""
    content, seen = io.BytesIO(file), []

    class Source:
        def read(self, size: int, /) -> bytes:
            seen.append(threading.active_count())
            return content.read(size)

    read_run(Source())
    return seen
