"""How many examples hypothesis draws: few in `make test`, many times as many in `python -m trials properties`."""

import os

__all__ = ["TIMES_VARIABLE", "examples"]

TIMES_VARIABLE = "LEADERBOARD_TIMES_EXAMPLES"


def examples(few: int) -> int:
    """So many, or as many times that as the variable says."""
    return few * int(os.environ.get(TIMES_VARIABLE, "1"))
