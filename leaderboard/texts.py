"""Texts that people write for others to read: what of one is kept, and how long it may be.

Texts that people write for others to read, as they are stored.
"""

import unicodedata
from urllib.parse import urlsplit

from leaderboard.errors import InvalidFields
from leaderboard.formats.plain_text import TURNING

LONGEST_URL = 500
LAYOUT = "\t\n\r"  # the control characters that a text of several lines may hold


def is_broken(text: str, allowed: str = LAYOUT) -> bool:
    """Whether it holds a control character, or half of a character that is written in two."""
    return any(unicodedata.category(character) in {"Cc", "Cs"} and character not in allowed for character in text)


def text_problem(text: str, longest: int) -> str | None:
    """What is wrong with a text, in words; None when nothing is."""
    if len(text.strip()) > longest:
        return f"use at most {longest:,} characters"
    if is_broken(text):
        return "this text holds a character that can't be kept or shown; type it again without"
    if TURNING.search(text):
        return "this text holds a character that turns the order of writing around; type it again without"
    return None


def web_address_problem(url: str) -> str | None:
    """What is wrong with an address that readers are led to, in words; None when nothing is."""
    if len(url) > LONGEST_URL:
        return f"use an address of at most {LONGEST_URL} characters"
    try:
        parts = urlsplit(url)
        whole = parts.scheme in {"http", "https"} and bool(parts.hostname)  # any other would run or open something else
    except ValueError:
        whole = False
    if not whole or not url.isprintable() or " " in url:
        return "give a whole web address, such as https://example.org/code"
    if "@" in parts.netloc:  # a user before a host passes for the host
        return "leave the user and the password out: everybody would read them"
    return None


LONGEST_REASON = 500  # characters of why something was withdrawn, left out or imported


def checked_text(text: str, longest: int, field: str) -> str:
    """The text without blanks around it. Raises InvalidFields for `field`; `longest` is in characters."""
    if problem := text_problem(text, longest):
        raise InvalidFields({field: [problem]})
    return text.strip()
