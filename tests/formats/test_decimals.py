"""Numbers read many at once are those that Python reads one by one."""

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from leaderboard.formats.columns import floats, integers
from leaderboard.formats.ids import PADDING, Codes

digits = st.text("0123456789", max_size=21)
exponents = st.tuples(st.sampled_from("eE"), st.sampled_from(["", "+", "-"]), st.text("0123456789", max_size=3))
written = st.tuples(st.sampled_from(["", "+", "-"]), digits, st.sampled_from(["", "."]), digits).map("".join)
numbers = st.tuples(written, st.one_of(st.just(""), exponents.map("".join))).map("".join)
anything = st.text("0123456789+-.eEinfax_/:,", min_size=1, max_size=30)


def laid_out(texts: list[str]) -> tuple[Codes, np.ndarray, np.ndarray]:
    content = " ".join(texts).encode() + bytes(PADDING)
    length = np.array([len(text) for text in texts])
    return np.frombuffer(content, np.uint8), np.cumsum(length + 1) - length - 1, length


def to_float(text: str) -> float:
    """As Python has it, but neither names of numbers nor underscores; NaN for what is none."""
    try:
        return float(text) if set(text) <= set("0123456789+-.eE") else math.nan
    except ValueError:
        return math.nan


@given(texts=st.lists(st.one_of(numbers.filter(bool), anything), min_size=1, max_size=30))
@example(texts=["9007199254740993", "9007199254740992.5", "0.1", "-0", "18446744073709551615", "1e22", "1.5e-7"])
def test_what_is_read_as_a_number_is_the_nearest_float(texts: list[str]) -> None:
    values, sure = floats(*laid_out(texts))
    for text, value, is_sure in zip(texts, values.tolist(), sure.tolist(), strict=True):
        if is_sure:
            assert value == to_float(text), text
            assert math.copysign(1, value) == math.copysign(1, float(text))


@given(value=st.floats(0.001, 1e6), digits=st.integers(16, 19))
def test_long_numbers_near_the_middle_between_two_floats_are_rounded_right_or_left_to_the_caller(
    value: float, digits: int
) -> None:
    middle = (Decimal(value) + Decimal(math.nextafter(value, math.inf))) / 2
    texts = [f"{middle:.{places}f}" for places in range(digits)]
    read, sure = floats(*laid_out(texts))
    assert [number for number, is_sure in zip(read.tolist(), sure.tolist(), strict=True) if is_sure] == [
        float(text) for text, is_sure in zip(texts, sure.tolist(), strict=True) if is_sure
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "-", "+.", "1.2.3", "--1", "1e", "e5", "1e5.0", "inf", "nan", "1_0", "0x1", "1" * 20, "1e400"),
        *("1/5", "1,5", "1:5", "1-5", "/", "12345678.12345.1", "1.23456781234567."),
    ],
)
def test_what_is_no_plain_number_is_left_to_the_caller(text: str) -> None:
    _, sure = floats(*laid_out(["1.5", text, "2"]))
    assert sure.tolist() == [True, False, True]


@given(texts=st.lists(st.one_of(st.integers(-2000, 2000).map(str), numbers.filter(bool), anything), min_size=1))
def test_whole_numbers_are_read_as_such_only(texts: list[str]) -> None:
    values, sure = integers(*laid_out(texts))
    for text, value, is_sure in zip(texts, values.tolist(), sure.tolist(), strict=True):
        plain = text.lstrip("+-") if text[:1] + text[1:].lstrip("+-") == text else ""
        whole = plain.isdigit() and len(plain) <= 19 and int(plain) < 10**18
        assert is_sure == whole
        if whole:
            assert value == int(text)
