"""Fields are those that bytes.split() finds, line by line."""

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from leaderboard.formats.columns import find_fields

WIDTH = 3
texts = st.lists(st.sampled_from([b"a", b"bc", b"def", b"#", b" ", b" ", b"\t", b"\r", b"\n", b"\n"]), max_size=40)
rows = st.lists(st.tuples(*[st.sampled_from([b"a", b"bc", b"d" * 20])] * WIDTH), min_size=1, max_size=6)


def parted(content: bytes) -> list[list[bytes]] | None:
    try:
        fields = find_fields(np.frombuffer(content, np.uint8), WIDTH, range(WIDTH))
    except ValueError:
        return None
    by_column = [
        [content[first : first + size] for first, size in zip(start.tolist(), length.tolist(), strict=True)]
        for start, length in fields
    ]
    return [list(line) for line in zip(*by_column, strict=True)]


@settings(max_examples=500)
@given(content=texts.map(b"".join))
@example(content=b"a a a a\na a")
@example(content=b"a  a a a\na a")
@example(content=b"a a\n a a a a")
def test_lines_of_so_many_fields_are_parted_and_no_others(content: bytes) -> None:
    content += b"\n"
    lines = [line.split() for line in content.split(b"\n")[:-1]]
    assert parted(content) == (lines if all(len(line) == WIDTH for line in lines) else None)


@given(
    lines=rows,
    blanks=st.lists(st.sampled_from([b" ", b"\t", b"  ", b" \t ", b"\v\f", b" " * 9]), min_size=1, max_size=5),
)
def test_any_blanks_part_fields(lines: list[tuple[bytes, ...]], blanks: list[bytes]) -> None:
    content = b"".join(
        b"".join(field + blanks[(number + place) % len(blanks)] for place, field in enumerate(line)) + b"\r\n"
        for number, line in enumerate(lines)
    )
    assert parted(content) == [list(line) for line in lines]


@pytest.mark.parametrize("control", [b"\0", b"\x1f", b"\b", b"\x0e"])
@pytest.mark.parametrize("blank", [b" ", b"  "])
def test_another_control_character_is_not_parted_at(control: bytes, blank: bytes) -> None:
    assert parted(blank.join([b"a", b"b", b"c"]) + b"\n") == [[b"a", b"b", b"c"]]
    assert parted(b"a" + control + b"b" + blank + b"c\n") is None
