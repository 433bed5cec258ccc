"""Error pages: what happened, and what to do next."""

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from flask import Flask, Response, g, make_response, render_template, request
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from leaderboard.errors import LeaderboardError, Unavailable
from leaderboard.web.exports import FORMATS

log = logging.getLogger(__name__)

# (heading, what to say when the error itself says nothing better)
WORDS = {
    400: ("This can't be used as it is", "Go back, correct it and send it again."),
    401: ("This needs a token", "Make one on your account's page and send it as `Authorization: Bearer …`."),
    403: ("You may not do this", "Log in with an account that may, or ask the organisers."),
    404: ("There is nothing here", "The address may be mistyped, or what is there is not open to you."),
    405: ("This page can't be used like that", "Open it from the site's own pages."),
    408: ("This took too long", "It arrived too slowly. Send it again over a faster connection."),
    409: ("This no longer fits", "Something changed in the meantime. Look again, then repeat it if it is still right."),
    411: ("This has no size", "Say how many bytes you send, in the header Content-Length."),
    413: ("This is too large", "Shorten long texts, and compress files with gzip."),
    429: ("Too many for now", "Wait, then try again."),
    500: ("Something went wrong here", "It is our fault and in the log. Try again; tell the organisers if it stays."),
    503: ("Not available at the moment", "A part that is needed does not answer. Try again in a minute."),
}
ABOUT_THE_FORM = (400, 408, 413)
API = "/api/v"  # the beginning of the addresses that programs ask; they get errors as problem+json

# After how many seconds to try again, where the error does not say better.
RETRY_SECONDS: dict[int, int] = {503: 30, 429: 60}


def init_app(app: Flask) -> None:
    """Answers every error with a page, or with the same words as text or JSON where a file was asked for."""
    app.register_error_handler(LeaderboardError, _refusal)
    app.register_error_handler(CSRFError, _stale_form)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(500, _fault)
    app.after_request(_say_when_to_retry)


def page(
    status: int,
    message: str | None = None,
    retry_seconds: int | None = None,
    fields: Mapping[str, Sequence[str]] | None = None,
) -> ResponseReturnValue:
    """The page; for whoever asked for a file, the same words as text or JSON; for a program of the API, a problem."""
    heading, words = WORDS.get(status) or (HTTPStatus(status).phrase, "Go back and try again.")
    headers = retry_after(retry_seconds)
    if request.path.startswith(API):
        return _problem(status, heading, message or words, fields or {}, headers)
    if request.path.endswith(".json"):
        return {"status": status, "error": heading, "message": message or words}, status, headers
    if request.path.rpartition(".")[2] in FORMATS:
        return Response(f"{heading}: {message or words}\n", status, headers, content_type="text/plain; charset=utf-8")
    g.refused = status in ABOUT_THE_FORM  # its title begins with "Error", as that of a refused form
    # What says that the database is away must not ask it who is reading.
    template = "error.html" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "fault.html"
    context = {"status": status, "heading": heading, "message": message or words}
    return render_template(template, **context), status, headers


def _problem(
    status: int, heading: str, words: str, fields: Mapping[str, Sequence[str]], headers: dict[str, str]
) -> ResponseReturnValue:
    """An error as RFC 9457 has it, with the messages of each field beside."""
    content = {
        "type": "about:blank", "title": heading, "status": status, "detail": words, "instance": request.path,
        "fields": {name: list(messages) for name, messages in fields.items()},
    }  # fmt: skip
    if status == HTTPStatus.UNAUTHORIZED:
        headers = {**headers, "WWW-Authenticate": "Bearer"}
    body = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    return Response(body, status, headers, content_type="application/problem+json")


def _refusal(error: LeaderboardError) -> ResponseReturnValue:
    if error.status == HTTPStatus.NOT_FOUND:
        return page(error.status)  # the same words for what is absent and what is hidden
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        reason = getattr(error, "reason", "") or error.message
        log.error("refused with status %d: %s", error.status, reason, exc_info=error)
    return page(error.status, error.message, error.retry_seconds, error.fields)


def retry_after(seconds: int | None) -> dict[str, str]:
    """The header that says in how many seconds the same may work; none where nobody knows."""
    return {"Retry-After": str(seconds)} if seconds else {}


def _say_when_to_retry(response: Response) -> Response:
    """Every answer of 503 and 429 says it, whoever made it: an error's page, a form that comes back, `/healthz`."""
    if response.status_code in RETRY_SECONDS:
        response.headers.setdefault("Retry-After", str(RETRY_SECONDS[response.status_code]))
    return response


def _stale_form(_: CSRFError) -> ResponseReturnValue:
    return page(400, "This form belongs to a session that has ended. Open the page again and repeat it.")


def _http(error: HTTPException) -> ResponseReturnValue:
    if error.code is None or error.code < HTTPStatus.BAD_REQUEST:
        return error.get_response()  # a redirect that routing asks for
    if isinstance(error, MethodNotAllowed):
        methods = sorted({*(error.valid_methods or ())} - {"HEAD", "OPTIONS"})
        answer = make_response(page(error.code, f"This address takes {' or '.join(methods)}."))
        answer.headers["Allow"] = ", ".join(methods)
        return answer
    return page(error.code)


def _fault(error: Exception) -> ResponseReturnValue:
    cause = getattr(error, "original_exception", None)
    if isinstance(cause, Unavailable):  # an error page needed what is not there, such as who is reading
        return page(cause.status, cause.message, cause.retry_seconds)
    return page(500)  # Flask has logged it with its traceback
