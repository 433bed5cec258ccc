"""The site: `create_app` puts it together from modules with blueprints, and links are made from the page at hand."""

from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Flask, request, url_for
from flask_bootstrap import Bootstrap5
from jinja2 import StrictUndefined
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.routing import IntegerConverter, Map

from leaderboard import db, version
from leaderboard.accounts import pages as providers
from leaderboard.config import Config, folder
from leaderboard.errors import BadInput
from leaderboard.evaluations.rules import OF_CAMPAIGN, OF_EVALUATION, in_words
from leaderboard.web import endpoints, errors, formatting, page_cache, requests, security, sentences, sessions
from leaderboard.web.charts.files import WRITERS
from leaderboard.web.context import equip, modules_of, site
from leaderboard.web.exports import FORMATS, public_address
from leaderboard.web.organise import sections


def register(app: Flask) -> None:
    """Every blueprint of a module of pages, and the API."""
    app.url_map.converters["int"] = RowNumber  # before the blueprints, whose addresses use it
    members = [vars(module).values() for floor in ("pages", "organise") for module in modules_of(floor)]
    for blueprint in dict.fromkeys(value for values in members for value in values if isinstance(value, Blueprint)):
        app.register_blueprint(blueprint)
    endpoints.init_app(app)
    app.jinja_env.globals.update(
        here=here, download=download, export_formats=FORMATS, chart_file=chart_file, chart_endings=WRITERS, pairs=zip,
        in_words=in_words, organise_sections=sections, scored_by=OF_CAMPAIGN | OF_EVALUATION, site=site,
        public_address=public_address,
    )  # fmt: skip


GREATEST = 2**31 - 1  # what a row's number may be on both engines: PostgreSQL refuses a greater one as out of range


class RowNumber(IntegerConverter):
    """A row's number in an address, in the digits of ASCII. A greater one than a row can have is not found."""

    regex = "[0-9]+"

    def __init__(self, addresses: Map) -> None:
        super().__init__(addresses, max=GREATEST)


def here(**changes: str | None) -> str:
    """This page with some of its arguments, or parts of its path, changed; None or "" leaves one out. An argument that
    stands several times in the address keeps all of its values."""
    return _address(str(request.endpoint), changes)


def download(ending: str) -> str:
    """This page's table as a file with this ending, under the same arguments."""
    return _address(f"{request.endpoint}_file", {"ending": ending})


def chart_file(name: str, ending: str) -> str:
    """A chart of this page as a file, likewise."""
    return _address(f"{request.endpoint}_charts", {"chart": name, "ending": ending})


def _address(endpoint: str, changes: dict[str, str | None]) -> str:
    # Of other names, `url_for` has arguments of its own.
    shown = {key: own for key, own in request.args.lists() if key.isalpha() and key != "endpoint" and any(own)}
    wanted: dict[str, Any] = {**shown, **(request.view_args or {}), **changes}
    return url_for(endpoint, **{name: value for name, value in wanted.items() if value})


PATIENCE_SECONDS = 5.0  # that a reader waits for a database which is locked or away


def create_app(config: Config, *, setting_up: bool = False) -> Flask:
    """The site of one installation, for gunicorn: `gunicorn 'leaderboard.web.app:create_app(...)'`.

    setting_up  campaigns are being loaded: until their runs are scored, the front page says so and reloads itself

    Raises BadInput when there is no secret key to sign sessions with, or a host's name is none.
    """
    if not config.secret_key:
        raise BadInput(
            "LEADERBOARD_SECRET_KEY is not set: it signs the sessions of the site. Set it to a long random text that "
            "stays the same and nobody else knows, such as of python -c 'import secrets; print(secrets.token_hex(32))'"
        )
    if not config.host_names:  # raises when one can't be read
        raise BadInput("LEADERBOARD_HOSTS: name at least one host that the site answers to")
    named = urlsplit(config.site_url)  # raises when it can't be read, as the mail server's settings do
    if config.mail_server is not None and f"{named.hostname}" not in config.host_names:
        raise BadInput(f"LEADERBOARD_HOSTS: {named.hostname} is missing, where links in mails lead")
    app = Flask("leaderboard.web.app", template_folder=str(folder("templates")))
    app.config.update(
        SECRET_KEY=config.secret_key,
        MAX_CONTENT_LENGTH=security.FORM_BYTES,
        SESSION_COOKIE_NAME="leaderboard",
        SESSION_COOKIE_SECURE=config.secure_cookies,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_REFRESH_EACH_REQUEST=False,  # `sessions` does it when a visit is noted
        WTF_CSRF_TIME_LIMIT=None,  # a form stays good as long as its session
        BOOTSTRAP_SERVE_LOCAL=True,
        SETTING_UP=setting_up,
    )
    database = db.Database.connect(
        config.database_url,
        patience_seconds=PATIENCE_SECONDS,
        must_exist=True,
        program="leaderboard serve",
        connections=config.database_connections,
        bounds=db.STALLED | db.SLOW,
    )
    equip(app, config, database)
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True
    app.jinja_env.globals.update(version=version.build(), frozen=None)  # frozen: what a copy without a server is of
    Bootstrap5(app)
    for part in (security, sessions, formatting, sentences, errors, providers):
        part.init_app(app)
    register(app)
    page_cache.init_app(app)
    if config.trusted_proxies:
        hops = config.trusted_proxies
        # No port and no prefix: many proxies pass a client's own X-Forwarded-Port and -Prefix on as they are.
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]  # Flask's own advice
    app.wsgi_app = requests.RequestMiddleware(app, app.wsgi_app)  # type: ignore[method-assign]  # Flask's own advice
    return app
