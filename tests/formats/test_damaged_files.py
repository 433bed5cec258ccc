"""Files with random damage are read, or refused line by line, just as a plain reader does that goes line by line."""

import io
import math
import re

from hypothesis import given, settings, strategies as st

from leaderboard.errors import FileRejected
from leaderboard.formats import Limits, read_run

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
LIMITS = Limits(id_bytes=6, problems=50)

Row = tuple[str, str, float]


def plainly(content: bytes) -> tuple[list[Row], set[int]]:
    """(rows, lines with a problem), the obvious way."""
    rows: list[Row] = []
    wrong: set[int] = set()
    seen: set[tuple[str, str]] = set()
    for number, line in enumerate(content.split(b"\n"), 1):
        fields = line.split()
        if not fields or fields[0].startswith(b"#"):
            continue
        try:
            texts = [field.decode() for field in fields]
            line.decode()
        except UnicodeDecodeError:
            wrong.add(number)
            continue
        if len(texts) != 6:
            wrong.add(number)
            continue
        query, _, document, _, score, _ = texts
        value = float(score) if NUMBER.fullmatch(score) else math.nan
        too_long = max(len(fields[0]), len(fields[2])) > LIMITS.id_bytes
        controls = any(ord(sign) < 32 for text in texts for sign in text)
        if not math.isfinite(value) or too_long or controls:
            wrong.add(number)
            continue
        if (query, document) in seen:
            wrong.add(number)
        seen.add((query, document))
        rows.append((query, document, value))
    return rows, wrong


GOOD = [f"q{number // 4} Q0 d{number} {number} {9.5 - number} t".encode() for number in range(12)]
PIECES = st.sampled_from(
    [
        *(b" ", b"  ", b"\t", b"\r", b"\n", b"\n\n", b"\v", b"", b"\0", b"\x1f", b"\xff", b"\xc3\xa9"),
        *(b"#", b"x", b" x", b'"', b"inf", b"1e400"),
    ]
)
DAMAGE = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3), PIECES), max_size=4)


@settings(deadline=None, max_examples=400)
@given(damage=DAMAGE, lines=st.lists(st.sampled_from(GOOD), min_size=1, max_size=8), end=st.sampled_from([b"\n", b""]))
def test_damage_is_told_just_as_a_plain_reader_sees_it(
    damage: list[tuple[int, int, bytes]], lines: list[bytes], end: bytes
) -> None:
    content = b"\n".join(lines) + end
    for place, length, piece in damage:
        content = content[:place] + piece + content[place + length :]
    expected, wrong = plainly(content)
    try:
        run = read_run(io.BytesIO(content), format="trec", limits=LIMITS)
    except FileRejected as error:
        told = {problem.line for problem in error.problems if problem.line is not None}
        assert told == wrong
        assert wrong or not expected
        return
    assert not wrong
    queries = [run.queries[number] for number in run.query]
    assert list(zip(queries, run.document.to_list(), run.score.tolist(), strict=True)) == expected
