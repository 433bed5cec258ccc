"""What a view asks for: a session, who is asking, and when the request began.

What is said of a mail that a page has asked for: that it is on its way, or with whom it waits.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from flask import Flask, current_app, g, request
from flask_login import current_user
from itsdangerous import SignatureExpired, TimestampSigner, URLSafeTimedSerializer
from sqlalchemy.orm import Session

from leaderboard import access, db, numbers
from leaderboard.audit.writes import present
from leaderboard.campaigns.inputs import SiteSettings
from leaderboard.campaigns.reads import site_settings
from leaderboard.config import Config
from leaderboard.errors import NoDatabase, NotFound
from leaderboard.operating import logs
from leaderboard.store import RunStore
from leaderboard.submissions.writes.run_store import bind

Page = TypeVar("Page")

# Of the environment of a request that a command of this machine makes in its own process. Headers can't set it: theirs
# all begin with HTTP_.
CONSOLE_KEY = "leaderboard.console"


def modules_of(floor: str, *subjects: str) -> list[ModuleType]:
    """The modules of a floor, such as `pages`, of these subjects or of all."""
    top = Path(__file__).parents[1]
    files = (file for subject in subjects or "*" for file in top.glob(f"{subject}/{floor}.py"))
    return [import_module(".".join(file.relative_to(top.parent).with_suffix("").parts)) for file in sorted(files)]


def equip(app: Flask, config: Config, database: db.Database) -> None:
    """Gives an application what its views ask for."""
    store = RunStore(config.store_url, config, must_exist=True)
    app.extensions.update(config=config, clock=present, database=database, store=store)


def config() -> Config:
    """The configuration of the application that answers this request."""
    return cast(Config, current_app.extensions["config"])


def database() -> db.Database:
    """The database of the application that answers this request."""
    return cast(db.Database, current_app.extensions["database"])


def store() -> RunStore:
    """The run store of the application that answers this request. Raises OtherStore for another database's."""
    own = cast(RunStore, current_app.extensions["store"])
    if own.bound is None or own.bound != own.identity:  # both may be others than they were
        bind(database(), own)
    return own


class HostsSigner(TimestampSigner):
    """Signs as its parent does, and takes what was signed by a host whose clock is ahead, which the parent refuses: a
    log-in by one host would not hold on another that is a second behind."""

    def unsign(self, signed_value: Any, max_age: int | None = None, return_timestamp: bool = False) -> Any:
        value, at = super().unsign(signed_value, return_timestamp=True)
        if max_age is not None and self.get_timestamp() - at.timestamp() > max_age:
            raise SignatureExpired(f"older than {max_age} seconds", payload=value, date_signed=at)
        return (value, at) if return_timestamp else value


def signer(salt: str) -> URLSafeTimedSerializer:
    """Signs what the site gives a browser to send back. salt: what it is, so that nothing else passes for it."""
    return URLSafeTimedSerializer(config().secret_key, salt=salt, signer=HostsSigner)


def reading() -> AbstractContextManager[Session]:
    """A session to read with."""
    return database().read()


def writing() -> AbstractContextManager[Session]:
    """A session that commits when the block ends and rolls back when it raises."""
    return database().write()


def actor() -> access.Actor:
    """Who is asking, looked up once a request."""
    if "actor" not in g:
        g.actor = current_user.actor if current_user.is_authenticated else access.VISITOR
        logs.note(account=g.actor.user_id, submission=(request.view_args or {}).get("submission"))
    return cast(access.Actor, g.actor)


def clock() -> datetime:
    """The present moment in UTC, by the clock of the application that answers this request."""
    return cast(datetime, current_app.extensions["clock"]())


def now() -> datetime:
    """When this request began, in UTC: what everything on its page is as of, however long an upload takes."""
    if "began" not in g:
        # `server.gate` awaits a form before it asks the application, and notes when the request began.
        g.began = request.environ.get("leaderboard.began") or clock()
    return cast(datetime, g.began)


def client_address() -> str:
    """The address of the client; behind proxies, the one that they report (Config.trusted_proxies)."""
    return request.remote_addr or "unknown"


def read(
    page: Callable[..., Page], /, *where: object, asked: Iterable[str] = (), within: Session | None = None, **more: Any
) -> Page:
    """What `page`, a function of `reads`, gives for this request: `page(session, actor, *where, now, **arguments)`.

    asked: arguments of the address that it takes, None where the address has none; more: other arguments; within: a
    session of `reading` that several reads share, so that they see one state and ask for nothing twice.
    """
    with reading() if within is None else nullcontext(within) as session:
        return page(session, actor(), *where, now(), **{name: request.args.get(name) for name in asked}, **more)


def site() -> SiteSettings:
    """What the site is called and says about itself, looked up once a request."""
    if "site" not in g:
        g.site = SiteSettings()  # what pages show while the database is away
        with suppress(NoDatabase), reading() as session:
            g.site = site_settings(session)
    return cast(SiteSettings, g.site)


def page_number() -> int:
    """Which page of a long table the address asks for. Raises NotFound for what is the number of none."""
    number = request.args.get("page", 0 if "page" in request.args else 1, type=numbers.read_whole)
    if number < 1:
        raise NotFound
    return number


def on_its_way(link: str, to: str) -> str:
    """`A link is on its way to ada@example.org.`; without a mail server whoever runs the site hands it over.

    link, to: in words, the first one as a sentence begins
    """
    if config().mail_server is not None:
        return f"{link} is on its way to {to}."
    return f"{link} to {to} waits: no mail server is set up here. Ask whoever runs this site for it."
