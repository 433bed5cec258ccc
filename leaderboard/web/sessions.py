"""Who is signed in. The session holds the account's id and its session version: raising that ends every session."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec
from urllib.parse import urlsplit

from flask import Flask, redirect, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_login import LoginManager, current_user, login_user, logout_user

from leaderboard.models import User
from leaderboard.web.context import reading

__all__ = ["SignedIn", "init_app", "local", "sign_in", "sign_out", "signed_in"]

P = ParamSpec("P")

manager = LoginManager()


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The account behind a session, as Flask-Login wants it."""

    id: int
    name: str
    session_version: int

    is_authenticated = True
    is_active = True
    is_anonymous = False

    def get_id(self) -> str:
        return f"{self.id}.{self.session_version}"


def init_app(app: Flask) -> None:
    """Lets requests know who is signed in."""
    manager.init_app(app)
    app.jinja_env.globals["current_user"] = current_user


@manager.user_loader  # type: ignore[untyped-decorator]  # Flask-Login has no types
def _load(key: str) -> SignedIn | None:
    number, _, version = key.partition(".")
    with reading() as database_session:
        user = database_session.get(User, int(number)) if number.isdecimal() else None
    if user is None or not user.is_active or str(user.session_version) != version:
        return None
    return SignedIn(user.id, user.name, user.session_version)


def sign_in(user: User) -> None:
    """Starts a fresh session, so that one planted before the log-in is worth nothing."""
    session.clear()
    session.permanent = True
    login_user(SignedIn(user.id, user.name, user.session_version))


def sign_out() -> None:
    """Ends this browser's session."""
    logout_user()
    session.clear()


def signed_in(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """A view for accounts only: a visitor logs in first and then comes back."""

    @wraps(view)
    def checked(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        if current_user.is_authenticated:
            return view(*args, **kwargs)
        back = request.full_path.rstrip("?") if request.method == "GET" else None
        return redirect(url_for("auth.log_in", next=back))

    return checked


def local(address: str | None, otherwise: str) -> str:
    """`address` when it is a path of this site, else `otherwise`: no link may lead through the log-in to elsewhere."""
    if not address or not address.startswith("/") or address.startswith(("//", "/\\")):
        return otherwise
    parts = urlsplit(address)
    unsafe = parts.scheme or parts.netloc or any(ord(character) < 32 for character in address)
    return otherwise if unsafe else address
