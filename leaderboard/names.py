"""Names that people pick, and mail addresses: when two are the same, which are refused, and the slug made of a name."""

import itertools
import re
import string
import unicodedata
from collections.abc import Callable, Iterator

from leaderboard.errors import InvalidFields
from leaderboard.teams.rules import CLOSED_ACCOUNT, COMMAND_LINE, NUMBERED_ACCOUNT, PSEUDONYM, WORKER

NAME_TAKEN = "this name is taken, or too close to one that is: choose another"  # without saying whose
LONGEST = 60  # characters of a name or slug
LONGEST_EMAIL = 254  # what mail servers take
# Nothing that means something in a mail's head: an address goes there as it is.
EMAIL = re.compile(r"[^@\s<>()\[\],;:\\\"]+@[^@\s<>()\[\],;:\\\"]+\.[^@\s.<>()\[\],;:\\\"]+")
FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # of ASCII, as a Japanese keyboard types it
LOWER_CASE = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
# Scripts that are written together; a letter of another one that looks like one of these deceives.
TOGETHER = ["COMMON", "LATIN", "HAN", "HIRAGANA", "KATAKANA", "BOPOMOFO", "HANGUL"]
SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# i is here for its capital, which is a bar as l and 1 are; m is what Unicode's table of look-alikes takes for rn.
LOOK_ALIKE = str.maketrans({"0": "o", "1": "l", "i": "l", "m": "rn"})
# What the site itself calls people and systems, without blanks, digits and signs.
OF_THE_SITE = tuple("".join(name.split()) for name in (CLOSED_ACCOUNT, NUMBERED_ACCOUNT, COMMAND_LINE, WORKER))
# Unicode's Default_Ignorable_Code_Point, which the standard library does not tell, and three blanks that are no spaces:
# a Braille pattern without dots, a filler of the Khitan script, a musical note without a head.
UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\u2800\U00016fe4\U0001d159]"
)


def normalised(text: str) -> str:
    """What somebody typed, as it is checked and kept: without what nobody sees, in NFKC, blanks trimmed and joined.

    So a full-width ＠ is an @ before anything looks for one.
    """
    return " ".join(unicodedata.normalize("NFKC", _without_unseen(text)).split())


def name_key(text: str) -> str:
    """What two names are compared by: equal keys, same name.

    Blanks and characters that can't be seen stripped, NFKC, case folded, characters that look like an ASCII letter
    taken for it, and I, l and 1 taken for one, as 0 and O are, and m and rn. Never shown.
    """
    folded = unicodedata.normalize("NFKC", normalised(text).casefold())
    alike = "".join(_latin_twin(character) or character for character in folded)
    return "".join(alike.casefold().translate(LOOK_ALIKE).split())


def checked_name(text: str) -> tuple[str, str]:
    """The name as shown, and its key. Raises InvalidFields (name) when it is none."""
    shown = normalised(text)
    if problem := _problem(shown):
        raise InvalidFields({"name": [problem]})
    return shown, name_key(shown)


def checked_email(text: str) -> tuple[str, str]:
    """The e-mail address as kept and written to, and its key. Raises InvalidFields (email) when it is none."""
    address = _address(text)
    if len(address) > LONGEST_EMAIL or not EMAIL.fullmatch(address) or _hides_something(address):
        raise InvalidFields({"email": ["this is no e-mail address; expected something like ada@example.org"]})
    return address, email_key(address)


def email_key(text: str) -> str:
    """What two e-mail addresses are compared by: equal keys, same address. Never shown, and nothing is sent to it.

    The address as it is kept, its ASCII letters in lower case. Nothing else is taken for one another: a mail server may
    take it for two mailboxes, of two people. So straße.example is not strasse.example, which folding case makes of it,
    and the ligature of ﬁne.example is not the two letters, which NFKC makes of it. Only NFC is applied: what
    that makes one (an ü typed as one character or two) is the same text to every program.
    """
    return _address(text).translate(LOWER_CASE)


def slug_of(text: str) -> str:
    """The part of an address made from a name: ASCII letters and digits joined by hyphens; empty when none is left."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    ascii_only = "".join(c for c in decomposed if c.isascii() or unicodedata.category(c)[0] not in "ML")
    return "-".join(re.findall(r"[a-z0-9]+", ascii_only))[:LONGEST].strip("-")


def free_slug(stem: str, is_taken: Callable[[str], bool]) -> str:
    """The first slug that is free: the stem itself, or the stem with a number from 2 on.

    >>> free_slug("text", {"text", "text-2"}.__contains__)
    'text-3'
    """
    numbered = (f"{stem[:50].strip('-')}-{number}" for number in itertools.count(2))
    return next(slug for slug in itertools.chain([stem], numbered) if not is_taken(slug))


def checked_slug(text: str, field: str = "slug") -> str:
    """The slug that `text` is. Raises InvalidFields for `field` when it is none."""
    slug = unicodedata.normalize("NFKC", _without_unseen(text))  # no blank is taken away: it is no part of a slug
    if len(slug) > LONGEST or not SLUG.fullmatch(slug):
        example = slug_of(text) or "trec-covid"
        raise InvalidFields(
            {field: [f"use lower-case letters, digits and single hyphens, at most {LONGEST}, like {example!r}"]}
        )
    return slug


def _address(text: str) -> str:
    """An e-mail address as it is kept: without what nobody sees, full-width ASCII as ASCII, in NFC, blanks trimmed."""
    return " ".join(unicodedata.normalize("NFC", _without_unseen(text).translate(FULL_WIDTH)).split())


def _without_unseen(text: str) -> str:
    """Without characters that only steer how others are shown (changes of direction, variants), and unseen fillers."""
    return "".join(character for character in UNSEEN.sub("", text) if unicodedata.category(character) != "Cf")


def _hides_something(text: str) -> bool:
    """Whether it holds control characters, parts of characters, or code points that nobody has given a meaning."""
    return any(unicodedata.category(character) in {"Cc", "Co", "Cn", "Cs"} for character in text)


def _problem(name: str) -> str | None:
    """What is wrong with a name, in words; None when nothing is."""
    if not any(character.isalnum() for character in name):
        return "give a name with at least one letter or digit"
    if len(name) > LONGEST:
        return f"give a name of at most {LONGEST} characters; this one has {len(name)}"
    if _hides_something(name):
        return "this name holds a character that can't be seen; type it again without"
    bare = re.sub(r"[\W\d_]+", "", name.casefold())
    if bare in OF_THE_SITE or bare.startswith(PSEUDONYM.casefold()):
        return "the site itself calls others so: choose a name that can't be taken for one of its own"
    from confusable_homoglyphs import confusables  # tables that only a new name needs

    letters = [character for character in name if character.isalpha()]
    if confusables.is_dangerous(name, preferred_aliases=TOGETHER) or (letters and all(map(_latin_twin, letters))):
        return "letters of this name look like those of another alphabet: write it in one, or in Latin letters"
    return None


def _latin_twin(character: str) -> str | None:
    """The ASCII letter that a character of another alphabet is taken for, lower case or upper case as it looks."""
    if character.isascii():
        return None
    from confusable_homoglyphs import confusables  # here, because reading its table takes 80 ms

    twins: Iterator[str] = (twin["c"] for twin in confusables.confusables_data.get(character, ()))
    return next((twin for twin in twins if len(twin) == 1 and twin.isascii() and twin.isalpha()), None)
