"""Ids as numpy holds them, and the characters that are odd in one."""

import sys
import unicodedata

import numpy as np
from hypothesis import given, strategies as st

from leaderboard.formats.ids import PADDING, WORD, Ids, as_texts, cut_out, keys, rising_words
from leaderboard.formats.values import ODD_IN_ID

ids = st.text(st.characters(min_codepoint=33, exclude_categories=["Cs"]), min_size=1, max_size=30)


@given(texts=st.lists(ids, min_size=1))
def test_texts_are_cut_out_as_they_stand(texts: list[str]) -> None:
    encoded = [text.encode() for text in texts]
    length = np.array([len(text) for text in encoded])
    codes = np.frombuffer(b" ".join(encoded) + bytes(PADDING), np.uint8)
    assert cut_out(codes, np.cumsum(length + 1) - length - 1, length).tolist() == encoded


@given(texts=st.lists(ids, min_size=1), longer=st.integers(0, 3))
def test_a_key_is_the_same_however_wide_the_array(texts: list[str], longer: int) -> None:
    narrow = as_texts(texts)
    wide = narrow.astype(f"S{narrow.dtype.itemsize + WORD * longer}")
    assert keys(wide).tolist() == keys(narrow).tolist()


@given(texts=st.lists(ids, min_size=1))
def test_words_rise_as_the_bytes_do(texts: list[str]) -> None:
    words = rising_words(as_texts(texts))
    order = np.lexsort(tuple(reversed(words)))
    assert [texts[place].encode() for place in order] == sorted(text.encode() for text in texts)


@given(parts=st.lists(st.lists(ids), min_size=1), data=st.data())
def test_ids_held_in_parts_are_taken_in_any_order(parts: list[list[str]], data: st.DataObject) -> None:
    together = [text for part in parts for text in part]
    column = Ids([as_texts(part) for part in parts])
    rows = data.draw(st.lists(st.integers(0, len(together) - 1))) if together else []
    assert len(column) == len(together)
    assert column.to_list() == together
    assert column.take(np.array(rows, np.int64)).tolist() == [together[row].encode() for row in rows]


# Zero-width space, word joiner and byte order mark; marks, embeddings, overrides and isolates of the order of writing.
# The joiners, which some scripts need, are not among them.
UNSEEN = {
    chr(point)
    for point in (0x200B, 0x2060, 0xFEFF, 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


def test_every_blank_and_control_character_and_what_can_t_be_seen_beyond_ascii_is_odd_in_an_id() -> None:
    beyond = [chr(code) for code in range(0x7F, sys.maxunicode + 1)]
    odd = [sign for sign in beyond if sign.isspace() or unicodedata.category(sign) == "Cc" or sign in UNSEEN]
    assert ODD_IN_ID.findall("".join(beyond)) == odd
    assert ODD_IN_ID.search("".join(map(chr, range(0x7F)))) is None
