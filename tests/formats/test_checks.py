import sys
import unicodedata

from leaderboard.formats.tables import ODD_IN_ID

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
