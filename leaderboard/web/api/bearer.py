"""Who asks the API: the account behind the token of the request, or a visitor; or the console, within this process.

Cookies mean nothing here.
"""

from flask import g, request

from leaderboard.access import CONSOLE, VISITOR, actor_through
from leaderboard.accounts.reads import open_token
from leaderboard.accounts.rules import Scope
from leaderboard.accounts.writes.credentials import USED_EVERY, note_use
from leaderboard.accounts.writes.rate_limits import count_wrong_token
from leaderboard.errors import NotAllowed, NotIdentified
from leaderboard.web.context import CONSOLE_KEY, client_address, database, now, reading, writing

LONGEST_TOKEN = 200


def identify() -> None:
    """Notes who asks. Raises NotIdentified for a token that opens nothing, TooManyAttempts after many of them."""
    if request.environ.get(CONSOLE_KEY):
        g.actor, g.scopes = CONSOLE, frozenset(Scope)
        return
    g.actor, g.scopes = VISITOR, frozenset()
    given = request.headers.get("Authorization")
    if given is None:
        return
    scheme, _, token = given.partition(" ")
    if scheme.lower() != "bearer":
        raise NotIdentified("The API takes tokens only: send `Authorization: Bearer …`.")
    found = None
    if len(token) <= LONGEST_TOKEN:
        with reading() as session:
            found = open_token(session, token.strip(), now())
            if found is not None:
                g.actor, g.scopes = actor_through(session, found.user_id, found.scopes), found.scopes
    if found is None:
        count_wrong_token(database(), client_address(), now())
        raise NotIdentified("This token opens nothing: it is mistyped, revoked, or over. Make another on your account.")
    if found.last_used_at is None or found.last_used_at <= now() - USED_EVERY:
        with writing() as session:
            note_use(session, found.id, now())


def look_again() -> None:
    """Looks up anew what the token's account may do: this request has made something of its own."""
    user_id = g.actor.user_id
    if user_id is not None:
        with reading() as session:
            g.actor = actor_through(session, user_id, g.scopes)


def require_scope(scope: Scope) -> None:
    """Raises NotIdentified without a token, NotAllowed with one that is not made for this."""
    if not g.scopes:
        raise NotIdentified
    if scope not in g.scopes:
        raise NotAllowed(f"This token may not {scope.value}: make one that may, on your account's page.")
