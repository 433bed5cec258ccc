"""Names that people pick: when two of them are the same, which are refused, and the slug made from one."""

import re
import unicodedata

from confusable_homoglyphs import categories, confusables

from leaderboard.errors import InvalidFields

__all__ = ["LONGEST", "checked_name", "checked_slug", "name_key", "slug_of"]

LONGEST = 60  # characters of a name or slug
SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
UNBOUND = {"COMMON", "INHERITED"}
# Scripts that are written together (Unicode's "highly restrictive" level); any other mixture is refused.
TOGETHER = (
    {"LATIN", "HAN", "HIRAGANA", "KATAKANA"},
    {"LATIN", "HAN", "BOPOMOFO"},
    {"LATIN", "HAN", "HANGUL"},
)
LOOK_ALIKE = str.maketrans("01i", "oll")  # i is here for its capital, which is a bar as l and 1 are


def name_key(text: str) -> str:
    """What two names are compared by: equal keys, same name.

    Format characters and blanks stripped, NFKC, case folded, characters that look like an ASCII letter taken for it,
    and I, l and 1 taken for one, as 0 and O are. Never shown.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _without_format(text)).casefold())
    alike = "".join(_latin_twin(character) or character for character in folded)
    return "".join(alike.casefold().translate(LOOK_ALIKE).split())


def checked_name(text: str, field: str = "name") -> tuple[str, str]:
    """The name as shown, and its key. Raises InvalidFields for `field` when it is no name."""
    shown = " ".join(unicodedata.normalize("NFC", _without_format(text)).split())
    problem = _problem(shown)
    if problem:
        raise InvalidFields({field: [problem]})
    return shown, name_key(shown)


def slug_of(text: str) -> str:
    """The part of an address made from a name: ASCII letters and digits joined by hyphens; empty when none is left."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    ascii_only = "".join(c for c in decomposed if c.isascii() or unicodedata.category(c)[0] not in "ML")
    return "-".join(re.findall(r"[a-z0-9]+", ascii_only))[:LONGEST].strip("-")


def checked_slug(text: str, field: str = "slug") -> str:
    """`text` when it is a slug. Raises InvalidFields for `field` when it is none."""
    if len(text) > LONGEST or not SLUG.fullmatch(text):
        example = slug_of(text) or "trec-covid"
        raise InvalidFields(
            {field: [f"use lower-case letters, digits and single hyphens, at most {LONGEST}, like {example!r}"]}
        )
    return text


def _without_format(text: str) -> str:
    """Without characters that only steer how others are shown (zero-width ones, changes of direction)."""
    return "".join(character for character in text if unicodedata.category(character) != "Cf")


def _problem(name: str) -> str | None:
    """What is wrong with a name, in words; None when nothing is."""
    if not any(character.isalnum() for character in name):
        return "give a name with at least one letter or digit"
    if len(name) > LONGEST:
        return f"give a name of at most {LONGEST} characters; this one has {len(name)}"
    if any(unicodedata.category(character) in {"Cc", "Co", "Cn", "Cs"} for character in name):
        return "this name holds a character that can't be seen; type it again without"
    # Compatibility forms (full-width, mathematical) are compared as what they stand for.
    letters = [character for character in unicodedata.normalize("NFKC", name) if character.isalpha()]
    scripts = categories.unique_aliases("".join(letters)) - UNBOUND
    if len(scripts) > 1 and not any(scripts <= together for together in TOGETHER):
        names = " and ".join(sorted(script.capitalize() for script in scripts))
        return f"this name mixes {names} letters, which can be made to look like another name; use one of them"
    if letters and "LATIN" not in scripts and all(_latin_twin(letter) for letter in letters):
        return "every letter of this name looks like a Latin one; write it in Latin letters"
    return None


def _latin_twin(character: str) -> str | None:
    """The ASCII letter that a character of another alphabet is taken for, lower case or upper case as it looks."""
    if character.isascii():
        return None
    for twin in confusables.confusables_data.get(character) or ():
        letter: str = twin["c"]
        if len(letter) == 1 and letter.isascii() and letter.isalpha():
            return letter
    return None
