"""What a view asks for: a session, who is asking, and when the request began."""

import datetime as dt
from contextlib import AbstractContextManager

from flask import current_app, g, request
from flask_login import current_user
from sqlalchemy.orm import Session

from leaderboard.access import VISITOR, Actor, actor_of
from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.store import RunStore

__all__ = ["actor", "client_address", "config", "database", "now", "reading", "store", "writing"]


def config() -> Config:
    config: Config = current_app.extensions["config"]
    return config


def database() -> Database:
    database: Database = current_app.extensions["database"]
    return database


def store() -> RunStore:
    store: RunStore = current_app.extensions["store"]
    return store


def reading() -> AbstractContextManager[Session]:
    """A session to read with."""
    return database().read()


def writing() -> AbstractContextManager[Session]:
    """A session that commits when the block ends and rolls back when it raises."""
    return database().write()


def actor() -> Actor:
    """Who is asking, looked up once a request."""
    if "actor" not in g:
        g.actor = VISITOR
        if current_user.is_authenticated:
            with reading() as session:
                g.actor = actor_of(session, current_user.id)
    found: Actor = g.actor
    return found


def now() -> dt.datetime:
    """When this request began, in UTC: what a deadline counts from, however long an upload takes."""
    if "began" not in g:
        g.began = dt.datetime.now(dt.UTC)
    began: dt.datetime = g.began
    return began


def client_address() -> str:
    """Where the request comes from; behind proxies it is theirs to say (Config.trusted_proxies)."""
    return request.remote_addr or "unknown"
