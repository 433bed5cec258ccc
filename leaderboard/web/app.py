"""The site: `create_app` puts it together from modules with one blueprint each.

What only the whole site needs is imported there: a command asks single endpoints, and would wait for all of it.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from flask import Flask

from leaderboard import __version__
from leaderboard.audit import writes as events
from leaderboard.config import Config, folder
from leaderboard.db import Database
from leaderboard.errors import BadInput
from leaderboard.store import Caps, RunStore

PATIENCE_SECONDS = 5.0  # that a reader waits for a database which is locked or away


def create_app(config: Config, *, setting_up: bool = False, clock: Callable[[], dt.datetime] = events.present) -> Flask:
    """The site of one installation, for gunicorn: `gunicorn 'leaderboard.web.app:create_app(...)'`.

    clock       the present moment, in UTC: when requests begin and when their last byte has come
    setting_up  campaigns are being loaded: until their runs are scored, the front page says so and reloads itself

    Raises BadInput when there is no secret key to sign sessions with, or a host's name is none.
    """
    from flask_bootstrap import Bootstrap5
    from jinja2 import StrictUndefined
    from werkzeug.middleware.proxy_fix import ProxyFix

    from leaderboard.accounts.pages import providers
    from leaderboard.web import assets, errors, formatting, markdown, security, sentences, sessions
    from leaderboard.web import page_cache as kept
    from leaderboard.web import routes as pages
    from leaderboard.web.request_limits import FORM_BYTES

    if not config.secret_key:
        raise BadInput("LEADERBOARD_SECRET_KEY: set it to a long random text; it signs the sessions of the site")
    if not config.host_names:  # raises when one can't be read
        raise BadInput("LEADERBOARD_HOSTS: name at least one host that the site answers to")
    named = urlsplit(config.site_url)  # raises when it can't be read, as the mail server's settings do
    if config.mail_server is not None and f"{named.hostname}" not in config.host_names:
        raise BadInput(f"LEADERBOARD_HOSTS: {named.hostname} is missing, where links in mails lead")
    app = Flask("leaderboard.web.app", template_folder=str(folder("templates")))
    app.config.update(
        SECRET_KEY=config.secret_key,
        MAX_CONTENT_LENGTH=FORM_BYTES,
        SESSION_COOKIE_NAME="leaderboard",
        SESSION_COOKIE_SECURE=config.secure_cookies,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_REFRESH_EACH_REQUEST=False,  # `sessions` does it when a visit is noted
        WTF_CSRF_TIME_LIMIT=None,  # a form stays good as long as its session
        BOOTSTRAP_SERVE_LOCAL=True,
        SETTING_UP=setting_up,
    )
    database = Database.connect(config.database_url, patience_seconds=PATIENCE_SECONDS, must_exist=True)
    _equip(app, config, database, clock)
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True
    app.jinja_env.globals["version"] = __version__
    Bootstrap5(app)
    for part in (security, sessions, formatting, markdown, sentences, errors, assets, providers, pages, kept):
        part.init_app(app)
    if config.trusted_proxies:
        hops = config.trusted_proxies
        # No port and no prefix: many proxies pass a client's own X-Forwarded-Port and -Prefix on as they are.
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]  # Flask's own advice
    return app


def create_console(config: Config, database: Database, modules: Sequence[str]) -> Flask:
    """The endpoints of some modules of the API, for a command of this machine: it has all rights, and errors are raised
    and not answered.
    """
    from leaderboard.web.api import routes as api

    app = Flask("leaderboard.web.app")
    app.config.update(PROPAGATE_EXCEPTIONS=True, MAX_CONTENT_LENGTH=None)
    _equip(app, config, database, events.present)
    app.register_blueprint(api.make_blueprint(modules))
    return app


def _equip(app: Flask, config: Config, database: Database, clock: Callable[[], dt.datetime]) -> None:
    app.extensions["config"] = config
    app.extensions["clock"] = clock
    app.extensions["database"] = database
    app.extensions["store"] = RunStore(config.store_url, Caps(config.upload_bytes, config.text_bytes))
