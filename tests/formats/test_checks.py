import sys
import unicodedata

from leaderboard.formats.checks import ODD_IN_ID


def test_every_blank_and_control_character_beyond_ascii_is_odd_in_an_id() -> None:
    beyond = [chr(code) for code in range(0x7F, sys.maxunicode + 1)]
    odd = [sign for sign in beyond if sign.isspace() or unicodedata.category(sign) == "Cc"]
    assert ODD_IN_ID.findall("".join(beyond)) == odd
    assert ODD_IN_ID.search("".join(map(chr, range(0x7F)))) is None
