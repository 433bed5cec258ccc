"""Error pages: what happened, and what to do next."""

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import PurePosixPath
from urllib.parse import quote

from flask import Flask, Response, current_app, g, make_response, redirect, render_template, request
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound, RequestEntityTooLarge

from leaderboard import errors, numbers
from leaderboard.campaigns.inputs import SiteSettings
from leaderboard.operating import logs
from leaderboard.web.context import config
from leaderboard.web.exports import FORMATS
from leaderboard.web.requests import REQUEST_ID

log = logging.getLogger(__name__)

# (heading, what to say when the error itself says nothing better)
WORDS = {
    400: ("This can't be accepted", "Go back, correct it and send it again."),
    401: ("A token is needed", "Make one on your account's page and send it as `Authorization: Bearer …`."),
    403: ("Not open to you", "Log in with an account that has access, or ask the organisers."),
    404: ("There is nothing here", "The address may be mistyped, or the page is not open to you."),
    405: ("Wrong method for this address", "Open it from the site's pages; Allow names the methods for programs."),
    408: ("This took too long", "It arrived too slowly. Send it again over a faster connection."),
    409: ("This no longer fits", "Something changed meanwhile. Reload the page; repeat your change if it is right."),
    411: ("This has no size", "Say how many bytes you send, in the header Content-Length."),
    413: ("This is too large", "Shorten long texts, and compress files with gzip."),
    429: ("Too many for now", "Wait, then try again."),
    500: ("Something went wrong here", "It is our fault, and it was logged. Try again in a minute."),
    503: ("Not available at the moment", "A part of this site does not answer. Try again in a minute."),
}
STALE_FORM = "Your session has ended. Open the page again and repeat your input."
ABOUT_THE_FORM = (400, 408, 413)
API = "/api/v"  # the beginning of the addresses that programs ask; they get errors as problem+json

# After how many seconds to try again, where the error does not say better.
RETRY_SECONDS: dict[int, int] = {503: 30, 429: 60}


def init_app(app: Flask) -> None:
    """Answers every error with a page, or with the same words as text or JSON where a file was asked for."""
    app.register_error_handler(errors.LeaderboardError, _refusal)
    app.register_error_handler(CSRFError, _refused_form)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(500, _fault)
    app.log_exception = lambda *_: None  # type: ignore[method-assign]  # what `_fault` does
    app.after_request(_say_when_to_retry)


def page(
    status: int,
    message: str | None = None,
    retry_seconds: int | None = None,
    fields: Mapping[str, Sequence[str]] | None = None,
) -> ResponseReturnValue:
    """The page; for whoever asked for a file, the same words as text or JSON; for a program of the API, an error as
    RFC 9457 has it, with the messages of each field beside.
    """
    heading, words = WORDS.get(status) or (HTTPStatus(status).phrase, "Go back and try again.")
    words, g.retry_seconds = message or words, retry_seconds
    is_ours = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    number = {"request_id": request.environ.get(REQUEST_ID)} if is_ours else {}
    if request.path.startswith(API):
        content = {
            "type": "about:blank", "title": heading, "status": status, "detail": words, "instance": request.path,
            "fields": {**(fields or {})}, **number,
        }  # fmt: skip
        body = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
        headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
        return Response(body, status, headers, content_type="application/problem+json")
    if request.path.endswith(".json"):
        return {"status": status, "error": heading, "message": words, **number}, status
    if request.path.rpartition(".")[2] in FORMATS:
        lines = [f"{heading}: {words}\n", *(f"Request {known}\n" for known in number.values())]
        return Response("".join(lines), status, content_type="text/plain; charset=utf-8")
    g.refused = status in ABOUT_THE_FORM  # its title begins with "Error", as that of a refused form
    # What says that the database is away must not ask it who is reading, nor what the site is called.
    template = "fault.html" if is_ours else "error.html"
    if is_ours:
        g.site = SiteSettings()
    form = _form_address() if g.refused and request.method == "POST" else None
    return render_template(template, status=status, heading=heading, message=words, form=form, **number), status


def _form_address() -> str | None:
    """Where the form that was sent stands: the first page, from the address that it was sent to upwards."""
    pages, path = current_app.create_url_adapter(request), PurePosixPath(request.path)
    addresses = map(str, (path, *path.parents[:-1]))
    return next((address for address in addresses if pages and pages.test(address, "GET")), None)


def _without_slash() -> str | None:
    """The address that was asked for without slashes at its end, where a page has it: a path of this site."""
    pages, path = current_app.create_url_adapter(request), request.path.rstrip("/")
    if not path or path.startswith("//") or not pages or not pages.test(path, request.method):
        return None
    query = request.query_string.decode("ascii", "replace")
    return quote(path) + (f"?{query}" if query else "")


def _refused_form(_: CSRFError) -> ResponseReturnValue:
    if not config().secure_cookies or request.is_secure or current_app.config["SESSION_COOKIE_NAME"] in request.cookies:
        return page(400, STALE_FORM)
    log.warning("no cookie came with a form at %s; TLS, or LEADERBOARD_SECURE_COOKIES=no, mends it", request.host_url)
    address = config().site_url
    there = f"{address}{request.path}" if address.startswith("https:") else "its address that begins with https://"
    return page(400, f"You opened this site without encryption, and it works with HTTPS only. Open it at {there}.")


def _refusal(error: errors.LeaderboardError) -> ResponseReturnValue:
    if error.status == HTTPStatus.NOT_FOUND:
        return page(error.status)  # the same words for what is absent and what is hidden
    if isinstance(error, errors.Unavailable):
        _log_outage(error)
    return page(error.status, error.message, error.retry_seconds, error.fields)


def _say_when_to_retry(response: Response) -> Response:
    """Every refusal that waiting helps with says it, whoever made it: an error's page, a form that comes back,
    `/readyz`.
    """
    if seconds := g.get("retry_seconds") or RETRY_SECONDS.get(response.status_code):
        response.headers.setdefault("Retry-After", str(seconds))
    return response


def _http(error: HTTPException) -> ResponseReturnValue:
    if error.code is None or error.code < HTTPStatus.BAD_REQUEST:
        return error.get_response()  # a redirect that routing asks for
    if isinstance(error, MethodNotAllowed):
        answer = make_response(page(error.code))
        answer.allow.update(error.valid_methods or ())
        return answer
    if isinstance(error, NotFound) and request.path.endswith("/") and (address := _without_slash()):
        return redirect(address, HTTPStatus.PERMANENT_REDIRECT)
    if isinstance(error, RequestEntityTooLarge) and (most := request.max_content_length):
        return page(error.code, f"At most {numbers.size(most)} are read here. {WORDS[error.code][1]}")
    return page(error.code)


def _fault(error: Exception) -> ResponseReturnValue:
    cause = getattr(error, "original_exception", None)
    if isinstance(cause, errors.Unavailable):  # an error page needed what is not there, such as who is reading
        _log_outage(cause)
        return page(cause.status, cause.message, cause.retry_seconds)
    log.error("an error of this program", exc_info=cause)
    return page(500)


def _log_outage(error: errors.Unavailable) -> None:
    log.error("refused with status %d: %s", error.status, error.reason or error.message, extra=logs.kind_of(error))
