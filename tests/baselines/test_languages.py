"""Text to terms."""

import pytest

from leaderboard.baselines.languages import Analyser, language_of, languages


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("none", "The B-52's  fees_of 3.5%", ["the", "b", "52", "s", "fees", "of", "3", "5"]),
        # Snowball's own sample vocabulary: consign, consigned, consigning → consign; knots → knot.
        ("english", "Consigned, consigning: the KNOTS", ["consign", "consign", "knot"]),
        ("english", "I don't, we'll, it isn't", ["don", "isn"]),  # of don't the stop word is t, which stands alone
        ("none", "cafe\u0301 CAFÉ \ufb01sh", ["café", "café", "fish"]),  # one form of é, and of the ligature fi
        ("none", "co\u00adoperate می\u200cخواهم", ["cooperate", "میخواهم"]),
        ("none", "हिन्दी में", ["हिन्दी", "में"]),  # vowel signs are part of their word
        ("none", "港口费", ["港口", "口费"]),
        ("none", "港 abc港口x", ["港", "abc", "港口", "x"]),
        ("none", "กำลัง", ["กํา", "าลั", "ลัง"]),  # a consonant with its marks is one character
        ("none", "항구 요금", ["항구", "요금"]),  # Korean has blanks
        ("none", "\ud800 \x00a", ["a"]),
        ("none", "", []),
    ],
)
def test_text_becomes_terms(language: str, text: str, terms: list[str]) -> None:
    assert Analyser(language).terms(text) == terms


def test_turkish_has_a_small_letter_of_its_own_for_the_capital_i() -> None:
    assert Analyser("turkish", stemming=False).terms("ISPARTA") == ["ısparta"]
    assert Analyser("turkish", stemming=False).terms("ISPARTA İzmir") == ["ısparta", "izmir"]
    assert Analyser("none").terms("ISPARTA") == ["isparta"]


def test_a_language_is_named_in_english_or_by_its_code() -> None:
    assert [language_of(name) for name in ("German", "de", "ukrainian", "uk", "none")] == [
        "german", "german", "ukrainian", "ukrainian", "none",
    ]  # fmt: skip
    assert {"english", "tamil", "chinese", "ukrainian"} <= set(languages())
    assert {"porter", "ukranian", "none"} & set(languages()) == set()


def test_every_language_can_be_used() -> None:
    described = {name: Analyser(name).described for name in languages()}
    assert described["tamil"] == "tamil: no stop words, Snowball stems"
    assert described["chinese"].endswith("stop words, no stems")
    assert described["english"] == "english: 131 stop words, Snowball stems"
    assert all("no stop words, no stems" not in words for words in described.values())
