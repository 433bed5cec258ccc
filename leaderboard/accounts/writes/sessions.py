"""Sessions of browsers: a row each, so that logging out ends one wherever its cookie was copied to."""

import datetime as dt
import secrets

import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.accounts.models import BrowserSession
from leaderboard.accounts.rules import token_hash

LASTS = dt.timedelta(days=14)  # after the last visit
SEEN_EVERY = dt.timedelta(hours=1)  # a visit is noted no more often than this: reading a page should write nothing


def start(session: Session, user_id: int, now: dt.datetime, browser: str = "") -> str:
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
            expires_at=now + LASTS,
        )
    )
    session.flush()
    return token


def note_seen(session: Session, session_id: int, now: dt.datetime) -> None:
    """Lets an open session last on from now."""
    session.execute(
        sa.update(BrowserSession)
        .where(BrowserSession.id == session_id, BrowserSession.ended_at.is_(None))
        .values(last_seen_at=now, expires_at=now + LASTS)
    )


def end(session: Session, session_id: int, now: dt.datetime) -> None:
    """Ends one session, in every browser that holds its cookie."""
    _end(session, BrowserSession.id == session_id, now)


def end_all(session: Session, user_id: int, now: dt.datetime, staying: int | None = None) -> str:
    """Ends every session of the account.

    staying  one that goes on, as the log-in that it began with, under a new token, which is given back: copies of its
             cookie open nothing any more. A new session in its place would count wrong passwords from nought, and
             stand for a log-in that never was
    """
    own = BrowserSession.user_id == user_id
    if staying is None:
        _end(session, own, now)
        return ""
    _end(session, sa.and_(own, BrowserSession.id != staying), now)
    token = secrets.token_urlsafe(24)
    session.execute(
        sa.update(BrowserSession)
        .where(own, BrowserSession.id == staying, BrowserSession.ended_at.is_(None))
        .values(token_hash=token_hash(token), last_seen_at=now, expires_at=now + LASTS)
    )
    return token


def _end(session: Session, which: sa.ColumnElement[bool], now: dt.datetime) -> None:
    session.execute(sa.update(BrowserSession).where(which, BrowserSession.ended_at.is_(None)).values(ended_at=now))
