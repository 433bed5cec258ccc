"""How a token that somebody holds (a session's, an invitation's) is kept: as its hash, and nowhere as itself.

How long a log-in lasts, what an API token may be used for, and which passwords are too weak.
"""

import hashlib
import re
from collections.abc import Collection, Sequence
from datetime import timedelta
from enum import StrEnum
from math import factorial, prod

from leaderboard.names import name_key, normalised

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


SHORTEST = 10  # characters
LONGEST = 1000  # hashing a longer one would only cost time
FEWEST = 10**8  # guesses, by lists of what people choose
# zxcvbn looks at this many characters from the start, and from the end: it takes 0.3 s at most for 20 of the worst
# choice, 13 s for 72. The whole is no easier to guess than a part of it.
JUDGED = 20
REPEATED = re.compile(r"(.{3,}?)\1+", re.IGNORECASE | re.DOTALL)
SITE = ("leaderboard", "retrieval", "evaluation", "campaign")


def password_problem(password: str, about: Sequence[str]) -> str | None:
    """Why a password is too weak, in words; None where it is not. about: as `writes.hashed` takes it"""
    if len(password) < SHORTEST:
        return f"use at least {SHORTEST} characters; a few words are easy to remember"
    if len(password) > LONGEST:
        return f"use at most {LONGEST:,} characters"
    if any("\ud800" <= character <= "\udfff" for character in password):
        return "this password holds a character that is none; type it again"
    if name_key(password) in {name_key(text) for text in about if text}:
        return "use something else than the name or the e-mail address"
    known = {word for text in (*about, *SITE) for word in _words(normalised(text))}
    # A word or a sign that was there already is no other guess; nor is a piece written again and again, which is seen
    # in the whole only: what is cut from it may begin within the piece.
    judged = "".join({piece.casefold(): piece for piece in re.split(r"([\W_]+)", password)}.values())
    texts = {judged, REPEATED.sub(r"\1", judged)}
    if any(all(_guesses(part, known) < FEWEST for part in {text[:JUDGED], text[-JUDGED:]}) for text in texts):
        return (
            "this password is easy to guess: use three or four words that don't belong together, "
            "and not only your name or the site's"
        )
    return None


def _guesses(part: str, known: Collection[str]) -> int:
    """How many guesses it takes: those of each of its pieces, in any order.

    zxcvbn's own number adds 10,000 to the power of the pieces but one, which any three reach: `123456-123456` too. So
    it is not taken, and a sign between two pieces is no guess.
    """
    from zxcvbn import zxcvbn  # 60 ms and 8 MB of word lists, for the few requests that set a password

    pieces = zxcvbn(part, user_inputs=sorted(known))["sequence"]
    telling = [int(piece["guesses"]) for piece in pieces if len(piece["token"]) > 1 or piece["token"].isalnum()]
    return factorial(len(telling)) * prod(telling)


def _words(text: str) -> list[str]:
    """A name as it may stand in a password: whole, without blanks, and each word of it."""
    return [text, re.sub(r"\W+", "", text), *re.findall(r"\w{3,}", text)]
