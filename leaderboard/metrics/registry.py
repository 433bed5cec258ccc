"""Every measure, in the order of the reference page, and how one is found by its name.

A new measure is written in a module of `families` and listed in that module's FAMILIES.
"""

from collections.abc import Mapping

from leaderboard.metrics.families import (
    binary,
    cascade,
    compatibility,
    counts,
    detection,
    diversity,
    gain_variants,
    graded,
    incomplete,
    rank_biased,
    recall_levels,
    sets,
    sweep,
    user_models,
)
from leaderboard.metrics.measure import Family

_GROUPS: Mapping[str, tuple[Family, ...]] = {
    "Detection": (*detection.FAMILIES, *sweep.FAMILIES),
    "Ranks, binary": (*binary.FAMILIES, *recall_levels.FAMILIES, *rank_biased.FAMILIES),
    "Ranks, graded": (
        *graded.FAMILIES,
        *cascade.FAMILIES,
        *user_models.FAMILIES,
        *compatibility.FAMILIES,
        *gain_variants.FAMILIES,
    ),
    "Ranks, diversity": diversity.FAMILIES,
    "Ranks, incomplete judgments": incomplete.FAMILIES,
    "Sets": sets.FAMILIES,
    "Counts": counts.FAMILIES,
}
_FAMILIES = tuple(family for group in _GROUPS.values() for family in group)
_BY_NAME = {each.name: each for each in _FAMILIES}


def groups() -> Mapping[str, tuple[Family, ...]]:
    """Every measure under the heading that the reference page has it under, in its order.

    >>> list(groups())[:2]
    ['Detection', 'Ranks, binary']
    """
    return _GROUPS


def families() -> tuple[Family, ...]:
    """Every measure, in the order of the reference page.

    >>> [family.name for family in families()][:3]
    ['AQWV', 'Value', 'Pmiss']
    """
    return _FAMILIES


def find(name: str) -> Family | None:
    """The family of this name (upper and lower case as written there), or None.

    >>> find("nDCG"), find("ndcg")
    (<Family nDCG>, None)
    """
    return _BY_NAME.get(name)


def nearest(word: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """At most four names that resemble a word, for the message that says the word names nothing; the closest first.

    names: what the word is compared with, in lower case -> the name to show.

    >>> nearest("recal", {"recall": "R", "rbp": "RBP"})
    ('R',)
    """
    from difflib import get_close_matches  # slow to import, and only a wrong name needs it

    close = get_close_matches(word.casefold(), names, n=4, cutoff=0.5)
    return tuple(dict.fromkeys(names[each] for each in close))
