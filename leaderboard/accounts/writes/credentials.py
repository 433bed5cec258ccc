"""What opens an account: passwords and their hashes, sessions of browsers, API tokens.

Hashing takes a twentieth of a second and much memory, so it is done before a writing transaction is opened: writes that
keep a password take its hash. A session is a row, so that logging out ends it wherever its cookie was copied to. A
token is shown once.
"""

import datetime as dt
import re
import secrets
from base64 import b64encode
from collections.abc import Collection, Iterable
from math import factorial, prod
from typing import NewType

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from argon2.low_level import ARGON2_VERSION
from sqlalchemy.orm import Session

from leaderboard.access import Actor, require
from leaderboard.accounts.models import ApiToken, BrowserSession, User
from leaderboard.accounts.rules import Scope, token_hash
from leaderboard.audit.writes import record
from leaderboard.errors import InvalidFields, NotFound
from leaderboard.locking import locked
from leaderboard.names import name_key, normalised
from leaderboard.texts import text_problem

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
    problem = _password_problem(password, about)
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


def _password_problem(password: str, about: tuple[str, ...]) -> str | None:
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


SESSION_LASTS = dt.timedelta(days=14)  # after the last visit
SEEN_EVERY = dt.timedelta(hours=1)  # a visit is noted no more often than this: reading a page should write nothing


def start_session(session: Session, user_id: int, now: dt.datetime, browser: str = "") -> str:
    """A new session of the account; gives its token, which is kept nowhere here. Sweeps those that are over.

    browser  by which its owner tells it from others
    """
    session.execute(
        sa.delete(BrowserSession).where(
            sa.or_(BrowserSession.expires_at <= now, BrowserSession.ended_at.is_not(None)),
        )
    )
    token = secrets.token_urlsafe(24)
    session.add(
        BrowserSession(
            user_id=user_id,
            token_hash=token_hash(token),
            browser=browser,
            created_at=now,
            last_seen_at=now,
            expires_at=now + SESSION_LASTS,
        )
    )
    session.flush()
    return token


def note_seen(session: Session, session_id: int, now: dt.datetime) -> None:
    """Lets an open session last on from now."""
    session.execute(
        sa.update(BrowserSession)
        .where(BrowserSession.id == session_id, BrowserSession.ended_at.is_(None))
        .values(last_seen_at=now, expires_at=now + SESSION_LASTS)
    )


def end_session(session: Session, session_id: int, now: dt.datetime) -> None:
    """Ends one session, in every browser that holds its cookie."""
    _end_sessions(session, BrowserSession.id == session_id, now)


def end_all_sessions(session: Session, user_id: int, now: dt.datetime, staying: int | None = None) -> str:
    """Ends every session of the account.

    staying  one that goes on, as the log-in that it began with, under a new token, which is given back: copies of its
             cookie open nothing any more. A new session in its place would count wrong passwords from nought, and
             stand for a log-in that never was
    """
    own = BrowserSession.user_id == user_id
    if staying is None:
        _end_sessions(session, own, now)
        return ""
    _end_sessions(session, sa.and_(own, BrowserSession.id != staying), now)
    token = secrets.token_urlsafe(24)
    session.execute(
        sa.update(BrowserSession)
        .where(own, BrowserSession.id == staying, BrowserSession.ended_at.is_(None))
        .values(token_hash=token_hash(token), last_seen_at=now, expires_at=now + SESSION_LASTS)
    )
    return token


def _end_sessions(session: Session, which: sa.ColumnElement[bool], now: dt.datetime) -> None:
    session.execute(sa.update(BrowserSession).where(which, BrowserSession.ended_at.is_(None)).values(ended_at=now))


TOKEN_PREFIX = "lb_"  # noqa: S105  # so that a token that got into a repository can be found there
HINT = len(TOKEN_PREFIX) + 4  # characters; of the 43 random ones the account's page shows four
LONGEST_NAME = 80
LONGEST_DAYS = 3660
MOST_TOKENS = 50  # of an account at the same time
USED_EVERY = dt.timedelta(minutes=1)  # a use is noted no more often than this: most requests should write nothing


def make_token(
    session: Session,
    actor: Actor,
    user: User,
    name: str,
    scopes: Iterable[Scope],
    *,
    days: int | None,
    now: dt.datetime,
) -> str:
    """A new token of the account, which is kept nowhere here; READ is always among its scopes.

    name  what its owner tells it by
    days  after which it opens nothing; None: it lasts until it is revoked

    Raises InvalidFields (name, days).
    """
    require(actor.all_powerful or actor.user_id == user.id, "You can only make tokens of your own account.")
    require(user.is_active, "This account is closed.")
    locked(session, User, user.id)  # counted first and added after: two at once must not both pass
    name = " ".join(name.split())
    fields: dict[str, list[str]] = {}
    if not name:
        fields["name"] = ["say what the token is for, such as the program that uses it"]
    elif problem := text_problem(name, LONGEST_NAME):
        fields["name"] = [problem]
    if days is not None and not 1 <= days <= LONGEST_DAYS:
        fields["days"] = [f"give 1 to {LONGEST_DAYS} days"]
    live = sa.select(sa.func.count()).where(*_live(user.id, now))
    if (session.scalar(live) or 0) >= MOST_TOKENS:
        fields.setdefault("name", []).append(f"the account has {MOST_TOKENS} tokens; revoke one first")
    if fields:
        raise InvalidFields(fields)
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    granted = sorted({Scope.READ, *scopes})
    session.add(
        ApiToken(
            user_id=user.id, name=name, hint=token[:HINT], scopes=[scope.value for scope in granted],
            token_hash=token_hash(token), created_at=now,
            expires_at=None if days is None else now + dt.timedelta(days=days),
        )
    )  # fmt: skip
    record(session, actor, "make token", user, name=name, scopes=[scope.value for scope in granted], days=days)
    return token


def revoke_token(session: Session, actor: Actor, token_id: int, now: dt.datetime) -> None:
    """From here on the token opens nothing. Raises NotFound for a token of somebody else, as for none."""
    token = session.get(ApiToken, token_id)
    if token is None or not (actor.all_powerful or token.user_id == actor.user_id):
        raise NotFound
    if token.revoked_at is None:
        token.revoked_at = now
        record(session, actor, "revoke token", session.get_one(User, token.user_id), name=token.name)


def revoke_tokens(session: Session, user_id: int, now: dt.datetime) -> None:
    """Ends every token of the account; whoever calls it records why."""
    session.execute(sa.update(ApiToken).where(*_live(user_id, now)).values(revoked_at=now))


def note_use(session: Session, token_id: int, now: dt.datetime) -> None:
    """Notes that a token was used now, unless another request has just done so."""
    due = sa.or_(ApiToken.last_used_at.is_(None), ApiToken.last_used_at <= now - USED_EVERY)
    session.execute(sa.update(ApiToken).where(ApiToken.id == token_id, due).values(last_used_at=now))


def _live(user_id: int, now: dt.datetime) -> tuple[sa.ColumnElement[bool], ...]:
    unexpired = sa.or_(ApiToken.expires_at.is_(None), ApiToken.expires_at > now)
    return ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None), unexpired
