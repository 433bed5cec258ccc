"""How much tests try: little in `make test`, many times as much in `python -m trials properties`."""

import os

TIMES_VARIABLE = "LEADERBOARD_TIMES_EXAMPLES"


def examples(few: int) -> int:
    """How many examples hypothesis draws: so many, or as many times that as the variable says."""
    return few * _times()


def is_thorough() -> bool:
    """Whether a test that takes a part of what it could try is to take all of it."""
    return _times() > 1


def _times() -> int:
    return int(os.environ.get(TIMES_VARIABLE, "1"))
