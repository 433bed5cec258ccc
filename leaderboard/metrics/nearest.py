"""What someone may have meant who wrote a name that is not there."""

from collections.abc import Mapping

__all__ = ["nearest"]


def nearest(word: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """The names most like a word, as they are to be shown. names: what is compared (lower case) -> what is shown."""
    from difflib import get_close_matches  # slow to import, and only a wrong name needs it

    close = get_close_matches(word.casefold(), names, n=4, cutoff=0.5)
    return tuple(dict.fromkeys(names[each] for each in close))
