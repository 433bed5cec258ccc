"""Whose token it is."""

from leaderboard.accounts import reads
from leaderboard.accounts.rules import Scope
from leaderboard.web.context import read
from leaderboard.web.endpoints import get


@get("/account", Scope.READ)
def account() -> reads.Account:
    """The token's account: its teams and their latest runs."""
    return read(reads.account)
