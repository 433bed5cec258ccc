"""Security headers of every answer, and the protection of forms against cross-site requests."""

from typing import Any

from flask import Flask, Response, g, request
from flask_wtf import CSRFProtect

from leaderboard.web import request_limits as intake
from leaderboard.web.assets import STATIC
from leaderboard.web.context import config, now


class _Forms(CSRFProtect):  # type: ignore[misc]  # Flask-WTF has no types
    """Looks at every form that is sent, but for those of exempt views, which read theirs as they arrive."""

    def protect(self, **how: Any) -> None:
        super().protect(**how)
        if g.get("csrf_valid", False):  # not so for a view that is exempt: what it reads itself must be left to it
            intake.require_text(request.form)


csrf = _Forms()

# Everything comes from this site, and nothing inline runs. Bootstrap draws its ticks and arrows as data: images.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # a link of a page must not carry an invitation's address elsewhere
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
A_YEAR = 365 * 24 * 3600  # seconds


def init_app(app: Flask) -> None:
    """Notes when a request began, refuses what no view should see, protects forms, and sends the security headers."""
    app.before_request(_note_the_time)  # first of all: reading the rest of the request may take minutes
    intake.init_app(app)
    csrf.init_app(app)
    app.after_request(_protect)


def _note_the_time() -> None:
    now()


def _protect(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if config().secure_cookies:
        response.headers.setdefault("Strict-Transport-Security", f"max-age={A_YEAR}")
    if request.endpoint not in STATIC:
        # What a page shows depends on who asks: no cache in between keeps it, the browser asks again.
        response.headers.setdefault("Cache-Control", "private, no-cache")
    return response
