"""How a token that somebody holds (a session's, an invitation's) is kept: as its hash, and nowhere as itself."""

import hashlib

__all__ = ["token_hash"]


def token_hash(token: str) -> str:
    """The SHA-256 of a token. Tokens are random and long, so there is nothing to guess and a fast hash is enough."""
    return hashlib.sha256(token.encode("utf-8", "backslashreplace")).hexdigest()
