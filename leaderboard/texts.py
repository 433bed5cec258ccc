"""Texts that people write for others to read, as they are stored."""

from leaderboard.declared.texts import text_problem
from leaderboard.errors import InvalidFields

LONGEST_REASON = 500  # characters of why something was withdrawn, left out or imported


def checked_text(text: str, longest: int, field: str) -> str:
    """The text without blanks around it. Raises InvalidFields for `field`; `longest` is in characters."""
    problem = text_problem(text, longest)
    if problem:
        raise InvalidFields({field: [problem]})
    return text.strip()
