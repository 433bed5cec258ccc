"""Who is signed in: the cookie holds a token, and the row of that token in the table `session` says whose it is."""

import re
import secrets
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from flask import Flask, Response, after_this_request, g, redirect, request, session, url_for
from flask.sessions import SecureCookieSessionInterface
from flask.typing import ResponseReturnValue
from flask_login import LoginManager, UserMixin, current_user, login_user, logout_user
from itsdangerous import BadData, URLSafeTimedSerializer

from leaderboard.access import Actor
from leaderboard.accounts import writes as credentials
from leaderboard.accounts.models import User
from leaderboard.accounts.rate_limits import KnownBrowser
from leaderboard.accounts.reads import OpenSession, open_session
from leaderboard.accounts.rules import SESSION_LASTS, token_hash
from leaderboard.frozen import frozen
from leaderboard.web.context import HostsSigner, config, now, reading, signer, writing
from leaderboard.web.page_cache import A_YEAR

P = ParamSpec("P")

BROWSER = "leaderboard-browser"  # the cookie that proves, after logging out too, who has logged in with this browser
SALT = "a browser that has logged in"

# Looked for in this order: most browsers claim to be those below them, too.
FAMILIES = {
    "Edg/": "Edge", "OPR/": "Opera", "SamsungBrowser/": "Samsung Internet", "FxiOS/": "Firefox", "Firefox/": "Firefox",
    "CriOS/": "Chrome", "Chrome/": "Chrome", "Safari/": "Safari",
}  # fmt: skip
SYSTEMS = {
    "iPhone": "an iPhone", "iPad": "an iPad", "Android": "Android", "Windows": "Windows", "Mac OS X": "macOS",
    "CrOS": "ChromeOS", "Linux": "Linux",
}  # fmt: skip

LOCAL = re.compile(r"/([^/\\\x00-\x1f][^\x00-\x1f]*)?")  # no address of another site, such as //example.org

manager = LoginManager()


@frozen
class SignedIn(UserMixin):  # type: ignore[misc]  # Flask-Login has no types
    """The account behind a session, as Flask-Login wants it."""

    session: OpenSession
    token: str

    @property
    def actor(self) -> Actor:
        """The account, as who asks."""
        return self.session.actor

    def get_id(self) -> str:
        return self.token


class _Cookies(SecureCookieSessionInterface):
    """Flask's sessions, whichever host signed them."""

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        serializer = super().get_signing_serializer(app)
        if serializer is not None:
            serializer.signer = HostsSigner
        return serializer


def init_app(app: Flask) -> None:
    """Lets requests know who is signed in."""
    app.session_interface = _Cookies()
    # Without its context processor, which would look the reader up for the page, too, that says the database is away.
    manager.init_app(app, add_context_processor=False)
    app.config["PERMANENT_SESSION_LIFETIME"] = SESSION_LASTS
    app.jinja_env.globals["current_user"] = current_user


@manager.user_loader  # type: ignore[untyped-decorator]  # Flask-Login has no types
def _load(token: str) -> SignedIn | None:
    if "visit" in g and g.token_hash == token_hash(token):  # a page that may be kept has looked it up already
        opened: OpenSession | None = g.visit.reader
    else:
        with reading() as database_session:
            opened = open_session(database_session, token, now())
    if opened is None:
        return None
    if opened.last_seen_at <= now() - credentials.SEEN_EVERY:
        with writing() as database_session:
            credentials.note_seen(database_session, opened.id, now())
        session.modified = True  # so that the cookie lasts on with it
    return SignedIn(opened, token)


def sign_in(user: User) -> None:
    """Starts a fresh session, so that one planted before the log-in is worth nothing."""
    with writing() as database_session:
        browser = browser_in_words(request.headers.get("User-Agent", ""))
        started = credentials.start_session(database_session, user.id, now(), browser)
    stay_signed_in(started)


def stay_signed_in(token: str) -> None:
    """This browser's cookie holds the session's token from now on, and nothing that it held before."""
    with reading() as database_session:
        opened = open_session(database_session, token, now())
    session.clear()
    session.permanent = True
    if opened is not None:
        login_user(SignedIn(opened, token))
        _remember_browser(opened.actor.user_id)


def browser_in_words(user_agent: str) -> str:
    """What a browser says that it is, as its owner would: nothing else of it is kept. "" where nothing is known.

    >>> browser_in_words("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0")
    'Firefox on Linux'
    """
    family = next((name for sign, name in FAMILIES.items() if sign in user_agent), "")
    system = next((name for sign, name in SYSTEMS.items() if sign in user_agent), "")
    return " on ".join(part for part in (family, system) if part)


def sign_out() -> None:
    """Ends this session, in every browser that has its cookie."""
    if current_user.is_authenticated:
        with writing() as database_session:
            credentials.end_session(database_session, current_user.session.id, now())
    logout_user()
    session.clear()


def known_browser() -> KnownBrowser | None:
    """The account that this browser has logged in to before, as its cookie proves; None without a good one."""
    try:
        user_id, own = signer(SALT).loads(request.cookies.get(BROWSER, ""), max_age=A_YEAR)
    except BadData:
        return None
    return KnownBrowser(user_id, own)


def _remember_browser(user_id: int | None) -> None:
    known = known_browser()
    own = known.id if known is not None and known.user_id == user_id else secrets.token_urlsafe(12)

    @after_this_request
    def keep(response: Response) -> Response:
        response.set_cookie(
            BROWSER,
            signer(SALT).dumps([user_id, own]),
            max_age=A_YEAR,
            secure=config().secure_cookies,
            httponly=True,
            samesite="Lax",
        )
        return response


def signed_in(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """A view for accounts only: a visitor logs in first and then comes back."""

    @wraps(view)
    def checked(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        if current_user.is_authenticated:
            return view(*args, **kwargs)
        back = request.full_path.rstrip("?") if request.method == "GET" else None
        return redirect(url_for("account.log_in", next=back))

    return checked


def local(address: str | None) -> str:
    """`address` when it is a path of this site, else the account: no link may lead through the log-in to elsewhere."""
    return address if address and LOCAL.fullmatch(address) else url_for("account.show")
