"""Passwords: which are refused, and their hashes.

Hashing takes a twentieth of a second and much memory, so it is done before a writing transaction is opened: services
that keep a password take its hash.
"""

import re
from base64 import b64encode
from collections.abc import Collection
from math import factorial, prod
from typing import NewType

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from argon2.low_level import ARGON2_VERSION

from leaderboard.errors import InvalidFields
from leaderboard.names import name_key, normalised

PasswordHash = NewType("PasswordHash", str)

SHORTEST = 10  # characters
LONGEST = 1000  # hashing a longer one would only cost time
FEWEST = 10**8  # guesses, by lists of what people choose
# zxcvbn looks at this many characters from the start, and from the end: it takes 0.3 s at most for 20 of the worst
# choice, 13 s for 72. The whole is no easier to guess than a part of it.
JUDGED = 20
SITE = ("leaderboard", "retrieval", "evaluation", "campaign")

hasher = PasswordHasher()


def hashed(password: str, *about: str) -> PasswordHash:
    """The hash of a password that somebody chose. Raises InvalidFields, saying what to do, when it is a weak one.

    about  the account's name and e-mail address: words in them make a password no better
    """
    problem = _problem(password, about)
    if problem:
        raise InvalidFields({"password": [problem]})
    return rehashed(password)


def verify(password_hash: str, password: str) -> bool:
    """Whether the hash is this password's. Takes as long for a wrong one as for the right one."""
    try:
        return len(password) <= LONGEST and hasher.verify(password_hash, password)
    except VerificationError:
        return False


def is_outdated(password_hash: str) -> bool:
    """Whether it was made at another cost than hashes are made now."""
    return hasher.check_needs_rehash(password_hash)


def rehashed(password: str) -> PasswordHash:
    """The hash of a password that is in use already, whatever one thinks of it."""
    return PasswordHash(hasher.hash(password))


def of_nobody() -> PasswordHash:
    """What to verify against when there is no such account, so that the answer takes as long: no password's hash.

    It is written and not computed: a hash takes a twentieth of a second, which every command would pay for.
    """
    salt, digest = (b64encode(bytes(size)).decode().rstrip("=") for size in (hasher.salt_len, hasher.hash_len))
    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return PasswordHash(f"$argon2id$v={ARGON2_VERSION}${cost}${salt}${digest}")


def _problem(password: str, about: tuple[str, ...]) -> str | None:
    if len(password) < SHORTEST:
        return f"use at least {SHORTEST} characters; a few words are easy to remember"
    if len(password) > LONGEST:
        return f"use at most {LONGEST:,} characters"
    if any("\ud800" <= character <= "\udfff" for character in password):
        return "this password holds a character that is none; type it again"
    if name_key(password) in {name_key(one) for one in about if one}:
        return "use something else than the name or the e-mail address"
    known = {word for text in (*about, *SITE) for word in _words(normalised(text))}
    judged = _once_each(password)
    parts = {judged[:JUDGED], judged[-JUDGED:]}
    if all(_guesses(part, known) < FEWEST for part in parts):
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

    pieces = zxcvbn(part, user_inputs=sorted(known))["sequence"] if part else []
    telling = [int(piece["guesses"]) for piece in pieces if len(piece["token"]) > 1 or piece["token"].isalnum()]
    return factorial(len(telling)) * prod(telling)


def _once_each(password: str) -> str:
    """The password without what it repeats: a word or a sign that was there already is no other guess."""
    return "".join({piece.casefold(): piece for piece in re.split(r"([\W_]+)", password)}.values())


def _words(text: str) -> list[str]:
    """A name as it may stand in a password: whole, without blanks, and each word of it."""
    return [text, re.sub(r"\W+", "", text), *re.findall(r"\w{3,}", text)]
