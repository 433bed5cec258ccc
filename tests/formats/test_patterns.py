"""Patterns of ids: they match what a regular expression of the same meaning matches, and none runs away."""

import re
import time

import pytest
from hypothesis import given, strategies as st

from leaderboard.errors import BadInput
from leaderboard.formats.ids import LONGEST_PATTERN, Pattern, as_texts

SINGLE = st.sampled_from(["a", "b", "7", ".", r"\d", r"\w", "[ab]", "[^a]", "[a-c7]", r"\.", "-"])
REPEATED = st.sampled_from(["", "*", "+", "?", "{2}", "{0,2}", "{1,}", "{0}"])


def _joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = st.tuples(st.lists(parts, min_size=1, max_size=3).map("|".join), REPEATED)
    in_turn = st.lists(parts, min_size=1, max_size=3).map("".join)
    return in_turn | group.map(lambda both: f"({both[0]}){both[1]}")


PATTERNS = st.recursive(st.tuples(SINGLE, REPEATED).map("".join), _joined, max_leaves=6)


@given(PATTERNS, st.lists(st.text("ab7.-c", max_size=6), min_size=1, max_size=6))
def test_a_pattern_matches_whole_ids_as_a_regular_expression_does(pattern: str, texts: list[str]) -> None:
    expected = [re.fullmatch(pattern, text, re.ASCII) is not None for text in texts]
    assert Pattern(pattern).matching(as_texts(texts)).tolist() == expected


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("(a", "missing )"),
        ("a)|(b", "unexpected )"),
        ("d(?=1)", "invalid perl operator"),
        ("a{9999}", "invalid repetition size"),
        (r"(\pL?){100}\pL{100}", "too large"),
        (r"\C", r"no \C"),
        (r"\Qa", "missing )"),
        ("a b", "no blank"),
        ("é", "ASCII"),
        ("a" * (LONGEST_PATTERN + 1), "at most 200 characters"),
    ],
)
def test_what_is_no_pattern_is_refused_with_the_reason(pattern: str, says: str) -> None:
    with pytest.raises(BadInput, match=re.escape(says)):
        Pattern(pattern)


@pytest.mark.parametrize("pattern", ["a?", "[^.]*", r"\W*a", "(?s)a.*", "^a$|b", r"\Aa\z"])
def test_each_id_is_matched_by_itself(pattern: str) -> None:
    texts = ["a", "", "ab", "a", "b", ".", "ü"] * 2000
    expected = [re.fullmatch(pattern.replace(r"\z", r"\Z"), text, re.ASCII) is not None for text in texts]
    assert Pattern(pattern).matching(as_texts(texts)).tolist() == expected
    matched = [text for text, fits in zip(texts, expected, strict=True) if fits]
    assert Pattern(pattern).matching(as_texts(matched)).all()


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|aa)+", "(x+x+)+y", "(.*a){9}"])
def test_what_runs_away_elsewhere_takes_no_longer_than_another_pattern_here(pattern: str) -> None:
    texts = as_texts(["a" * 200 + "!"] * 2000)
    hostile, plain = Pattern(pattern), Pattern("a*")

    def seconds(pattern: Pattern) -> float:
        started = time.perf_counter()
        pattern.matching(texts)
        return time.perf_counter() - started

    assert not hostile.matching(texts).any()
    assert min(seconds(hostile) for _ in range(3)) < 20 * min(seconds(plain) for _ in range(3)) + 0.05
