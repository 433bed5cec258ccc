"""How a token that somebody holds (a session's, an invitation's) is kept: as its hash, and nowhere as itself.

How long a log-in lasts, and what an API token may be used for.
"""

import hashlib
from datetime import timedelta
from enum import StrEnum

SESSION_LASTS = timedelta(days=14)  # after the last visit


def token_hash(token: str) -> str:
    """The SHA-256 of a token. Tokens are random and long, so there is nothing to guess and a fast hash is enough."""
    return hashlib.sha256(token.encode("utf-8", "backslashreplace")).hexdigest()


class Scope(StrEnum):
    """Every token reads what its account sees as a participant; the others are chosen when it is made."""

    READ = "read"
    SUBMIT = "submit"  # submits, chooses and withdraws runs, and says what its systems are
    MANAGE = "manage"  # makes teams, joins them and says who is in them: that outlives the token
    ORGANISE = "organise"  # sees and does what the account may as an organiser
