import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leaderboard.formats import Limits, read_run
from tests.formats.files import problems_of

CONTENT = b"q Q0 d 1 2 t\nq Q0 e 2 1 t\n"


def test_gzip_is_read_like_plain_text(tmp_path: Path) -> None:
    file = tmp_path / "run.gz"
    file.write_bytes(gzip.compress(CONTENT))
    assert read_run(file).document.to_list() == ["d", "e"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(gzip.compress(CONTENT, mtime=0), mtime=0), "is compressed twice; compress it once"),
        (bz2.compress(CONTENT), "is compressed with bzip2; give plain text or gzip"),
        (lzma.compress(CONTENT), "is compressed with xz; give plain text or gzip"),
        (b"%PDF-1.7\nrest", "is a PDF document; give plain text or gzip"),
        (b"PK\x03\x04rest", "is a zip archive or an office document; give plain text or gzip"),
        ("\ufeffq Q0".encode("utf-16-le"), "is UTF-16 text; save it as UTF-8"),
    ],
)
def test_what_is_neither_plain_text_nor_gzip_is_named(content: bytes, message: str) -> None:
    assert problems_of(read_run, io.BytesIO(content)) == [(None, message)]


@pytest.mark.parametrize("wrong", [lambda whole: whole[:-9], lambda whole: whole + b"junk\n"])
def test_gzip_that_was_cut_off_or_goes_on_as_something_else_is_refused(wrong: Callable[[bytes], bytes]) -> None:
    assert problems_of(read_run, io.BytesIO(wrong(gzip.compress(CONTENT)))) == [
        (None, "ends in the middle of its gzip data, or has something else behind it; compress it and send it again")
    ]


def _with_byte_changed(place: int) -> bytes:
    content = bytearray(gzip.compress(CONTENT))
    content[place] ^= 0xFF
    return bytes(content)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(_with_byte_changed(-6), id="the checksum"),
        pytest.param(_with_byte_changed(12), id="the data"),
        pytest.param(gzip.compress(CONTENT) + CONTENT, id="what follows"),
        pytest.param(b"\x1f\x8b\x08\x08" + b"x" * 1_000_000, id="a name without end"),
    ],
)
def test_damaged_gzip_is_refused_in_plain_words(content: bytes) -> None:
    assert problems_of(read_run, io.BytesIO(content)) == [(None, "is damaged; compress it again")]


def test_a_small_file_that_expands_past_the_cap_is_refused_while_it_is_read() -> None:
    bomb = gzip.compress(b"q Q0 d 1 2 t\n" * 5_000_000, 1)
    read: list[int] = []

    class Counting(io.BytesIO):
        def readinto(self, buffer: Any) -> int:
            given = super().readinto(buffer)
            read.append(given)
            return given

    [(line, message)] = problems_of(read_run, Counting(bomb), limits=Limits(expanded_bytes=1 << 20))
    assert (line, message) == (None, "holds more than 1 MiB of text, the most allowed")
    assert 0 < sum(read) < len(bomb) / 2
