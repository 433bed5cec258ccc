import io

from leaderboard.formats import Limits, QueryRow, read_queries
from tests.formats.files import problems_of, text


def test_queries_have_an_id_a_text_and_tags() -> None:
    assert read_queries(text("q1\twhat is it\tshort, hard", "# no query", "", "q2\tand this", "q3")) == (
        QueryRow("q1", "what is it", ("short", "hard")),
        QueryRow("q2", "and this", ()),
        QueryRow("q3", "", ()),
    )


def test_every_problem_is_told_with_its_line() -> None:
    source = io.BytesIO(b"q\ta\nq\tb\nmy id\tc\n\td\na\tb\tc\td\n\xff\te\nlonger\tf\n")
    assert problems_of(read_queries, source, limits=Limits(id_bytes=5)) == [
        (2, "query q is there twice (first on line 1)"),
        (3, "query id 'my id' is empty or holds blanks (id TAB text TAB tags)"),
        (4, "query id '' is empty or holds blanks (id TAB text TAB tags)"),
        (5, "expected up to 3 columns, found 4 (id TAB text TAB tags)"),
        (6, "byte 1 is no UTF-8 text; save the file as UTF-8"),
        (7, "query id longer than 5 bytes: longer"),
    ]


def test_a_tag_with_a_blank_is_told_with_its_line() -> None:
    assert problems_of(read_queries, text("q1\tone\tshort", "q2\ttwo\thard,very  short")) == [
        (2, "tag 'very  short' holds a blank; write 'very-short'")
    ]


def test_an_empty_file_is_refused() -> None:
    assert problems_of(read_queries, text("# nothing")) == [(None, "is empty")]


class _Counting(io.BytesIO):
    """A file that counts how often it is read from."""

    reads = 0

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # of the one kind we use
        self.reads += 1
        return super().readinto(buffer)

    def read(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        return super().read(size)


def test_a_file_is_read_in_blocks_and_not_byte_by_byte() -> None:
    source = _Counting(b"".join(b"q%d\twhat is it\n" % number for number in range(1000)))
    assert len(read_queries(source)) == 1000
    assert source.reads < 20


def test_the_limits_on_lines_hold() -> None:
    assert problems_of(read_queries, text("q1", "q2", "q3"), limits=Limits(lines=2)) == [
        (None, "more than 2 lines, the most allowed")
    ]
    assert problems_of(read_queries, text("q1", "q2\tlong"), limits=Limits(line_bytes=5)) == [
        (2, "longer than 5 bytes, the most allowed")
    ]
