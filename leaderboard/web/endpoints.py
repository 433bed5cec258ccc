"""What makes a function an endpoint of the API: its address, its scope, and the types in its signature.

    @get("/campaigns/<campaign>/evaluations/<evaluation>/board")
    def board(campaign: str, evaluation: str, *, measure: str | None = None) -> BoardPage:
        \"\"\"The board of an evaluation.\"\"\"

From the signature follows everything else: parameters are parts of the address, those behind `*` are arguments of the
address, `body` is the JSON that is sent, and what is returned is the answer, by `plain`. The same types make the
OpenAPI document, in which the docstring explains the endpoint. Endpoints stand in the `api` of their subject; a command
imports those of its own only.

There is no second description of an answer. What a page reads is what a program gets, but for the few fields below that
mean something inside the program only.
"""

import dataclasses
import datetime as dt
import inspect
import json
import math
import types
import typing
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
from flask import Blueprint, Flask, Response, g, request
from pydantic import create_model
from pydantic.json_schema import models_json_schema
from sqlalchemy.orm import Session

from leaderboard import __version__, access, db
from leaderboard.accounts.rate_limits import TEAM_NAME, WRONG_TOKEN, count, take_back
from leaderboard.accounts.reads import open_token
from leaderboard.accounts.rules import Scope
from leaderboard.accounts.writes import USED_EVERY, note_use
from leaderboard.config import Config
from leaderboard.declared.commands import PART, Command
from leaderboard.declared.inputs import Inputs, Whole, checked, checked_json, kinds_of
from leaderboard.errors import BadInput, InvalidFields, NotAllowed, NotIdentified
from leaderboard.frozen import frozen
from leaderboard.operating import logs
from leaderboard.web import context
from leaderboard.web.page_cache import offer
from leaderboard.web.security import csrf, require_plain, take_long_form

# Fields that are not told, by their dataclass. The number of a system would say across years whose an anonymous run is;
# that of a scoring means nothing outside; since when a run counts as scored is of a past one its receipt (its results
# say when it was scored); and a scoring set's settings name the hidden queries.
LEFT_OUT: Mapping[str, Collection[str]] = {
    "SystemLabel": {"id"},
    "SystemPage": {"id"},
    "Entry": {"evaluation_id", "scoring_id", "system_id", "scored_at"},
    "EvaluationHeading": {"id"},
    "Period": {"evaluation_id"},
    "Line": {"number"},
    "YearsPage": {"systems", "teams", "baselines", "choices", "names"},
    "BoardStatistics": {"ranks", "above_baselines", "may_be_best"},
    "Lead": {"leader", "then"},
    "BoardPage": {"sort", "text", "listed", "shown", "paging", "own_elsewhere", "whole"},
    "QueryListPage": {"sort", "paging"},
    "QueryPage": {"ends", "paging"},
    "OrganisedQueries": {"paging"},
    "SubmissionList": {"paging"},
    "PublishedPage": {"paging"},
    "JudgedDocuments": {"paging"},
    "Checked": {"expected", "text_sha256"},
    "SubmissionResults": {"sort", "shown", "paging", "curves"},
    "ScoringSettings": {"highest_grade", "queries", "known", "subtopics", "excluded", "hidden", "kept"},
}
# Properties that are told beside the fields.
ADDED: Mapping[str, Sequence[str]] = {
    "Rounding": ["decimals"],
    "Entry": ["name"],
    "SystemLabel": ["is_anonymous"],
    "QueryChanges": ["is_nothing", "described"],
    "JudgmentChanges": ["would_be_refused"],
    "Merging": ["effect"],
    "Checked": ["warnings", "unsettled", "remarks", "is_sound", "refused_now", "late_now", "in_words"],
    "BoardVersion": ["words"],
    "Orders": ["pairs"],
    "SystemDifference": ["difference"],
}
UNBOUNDED = {"Column": {"lowest", "highest"}}  # bounds that may be infinite, which JSON can't say


def plain(value: Any) -> Any:
    """The value as JSON has it: texts, numbers, lists and objects; None for what is no finite number."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in answered_fields(type(value))}
    if isinstance(value, float):  # one that was rounded is of a class of its own
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(own) for key, own in value.items()}
    if isinstance(value, frozenset):
        return sorted(map(plain, value))
    if isinstance(value, tuple | list):
        return [plain(own) for own in value]
    return value


@cache
def answered_fields(kind: type) -> tuple[str, ...]:
    """The names of what is told of a dataclass, in their order."""
    own = (field.name for field in dataclasses.fields(kind) if field.name not in LEFT_OUT.get(kind.__name__, ()))
    return (*own, *ADDED.get(kind.__name__, ()))


@cache
def shape(kind: Any) -> Any:
    """The type of what `plain` makes of a value of this type, for msgspec's JSON schema."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        for name in ADDED.get(kind.__name__, ()):
            hints[name] = typing.get_type_hints(getattr(kind, name).fget)["return"]
        unbounded = UNBOUNDED.get(kind.__name__, ())
        fields = [
            (name, shape(hints[name] | None if name in unbounded else hints[name])) for name in answered_fields(kind)
        ]
        return msgspec.defstruct(kind.__name__, fields, kw_only=True, namespace={"__doc__": _first_words(kind)})
    parts = typing.get_args(kind)
    origin = typing.get_origin(kind)
    if not parts or origin is typing.Literal:
        return kind
    made = tuple(part if part is Ellipsis else shape(part) for part in parts)
    return typing.Union[made] if origin in (types.UnionType, typing.Union) else origin[made]  # noqa: UP007  # made at run time


def _first_words(kind: type) -> str:
    """The first paragraph of a docstring; of a dataclass without one Python makes its signature, which says nothing."""
    text = (kind.__doc__ or "").strip()
    return "" if text.startswith(f"{kind.__name__}(") else " ".join(text.split("\n\n")[0].split())


def identify() -> None:
    """Notes who asks. Raises NotIdentified for a token that opens nothing, TooManyAttempts after many of them."""
    if context.CONSOLE_KEY in request.environ:
        g.actor, g.scopes = request.environ[context.CONSOLE_KEY], frozenset(Scope)
        return
    g.actor, g.scopes = access.VISITOR, frozenset()
    sent = request.authorization
    if sent is None:
        return
    if sent.token is None:
        raise NotIdentified("The API takes tokens only: send `Authorization: Bearer …`.")
    with context.reading() as session:
        opened = open_token(session, sent.token, context.now())
        if opened is not None:
            g.scopes = frozenset(map(Scope, opened.scopes))
            g.actor = access.actor_through(session, opened.user_id, g.scopes)
            logs.note(account=opened.user_id)
    if opened is None:
        count(context.database(), WRONG_TOKEN, context.now(), context.client_address())
        raise NotIdentified("This token opens nothing: it is mistyped, revoked, or over. Make another on your account.")
    take_long_form(g.actor)
    if opened.last_used_at is None or opened.last_used_at <= context.now() - USED_EVERY:
        with context.writing() as session:
            note_use(session, opened.id, context.now())


def look_again() -> None:
    """Looks up anew what whoever asks may do: this request has made something of their own."""
    user_id = context.actor().user_id
    if user_id is not None:
        with context.reading() as session:
            g.actor = access.actor_through(session, user_id, g.get("scopes", frozenset(Scope)))


@contextmanager
def counting() -> Iterator[Session]:
    """A transaction in which one name or address of a team is looked up; it counts unless the transaction succeeds.

    Raises TooManyAttempts before anything is looked up.
    """
    user_id = context.actor().user_id
    asked = (
        []
        if context.actor().all_powerful
        else count(context.database(), TEAM_NAME, context.now(), context.client_address(), user=user_id)
    )
    with context.writing() as session:
        yield session
        take_back(session, asked)


def require_scope(scope: Scope) -> None:
    """Raises NotIdentified without a token, NotAllowed with one that is not made for this."""
    if not g.scopes:
        raise NotIdentified
    if scope not in g.scopes:
        raise NotAllowed(f"This token may not {scope.value}: make one that may, on your account's page.")


PREFIX = "/api/v1"

Function = TypeVar("Function", bound=Callable[..., Any])
Answer = TypeVar("Answer")


@frozen
class Endpoint:
    """One method of one address.

    scope      what a token needs for it; None: it answers visitors, too
    places     the parts of the address, by name, with their types
    arguments  those of the address that it takes, by name, with their types
    body       the model of the JSON that is sent; None: none is
    form       in place of that, what the function reads itself: the fields of a form with a file, or bytes: a file
    answer     the type of what is returned
    file       in place of that, the media type of a file that is returned
    command    the command that is made from it; None: there is none
    """

    method: str
    address: str
    function: Callable[..., Any]
    scope: Scope | None
    places: dict[str, Any]
    arguments: dict[str, Any]
    body: type[Inputs] | None
    answer: Any
    form: type | None = None
    file: str | None = None
    status: HTTPStatus = HTTPStatus.OK
    command: Command | None = None

    @property
    def subject(self) -> str:
        """What it is about, such as "teams"."""
        return self.function.__module__.split(".")[1]

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def words(self) -> tuple[str, str]:
        """The first sentence of the function's docstring, without its full stop, and the rest."""
        first, _, more = " ".join((self.function.__doc__ or "").split()).partition(". ")
        return first.removesuffix("."), more


ENDPOINTS: list[Endpoint] = []


def get(address: str, scope: Scope | None = None, **more: Any) -> Callable[[Function], Function]:
    """An endpoint that reads. more: `file` and `command` of the Endpoint. asks: texts that it takes as `**asked`."""
    return partial(_add, "GET", address, scope, **more)


def post(address: str, scope: Scope, **more: Any) -> Callable[[Function], Function]:
    """An endpoint that changes something. more: `form`, `status` and `command` of the Endpoint."""
    return partial(_add, "POST", address, scope, **more)


def _add(method: str, address: str, scope: Scope | None, function: Function, **more: Any) -> Function:
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    places = {each.name: hints[each.name] for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD}
    body = places.pop("body", None)
    arguments = {each.name: kinds_of(hints[each.name])[0] for each in parameters if each.kind is each.KEYWORD_ONLY}
    arguments |= dict.fromkeys(more.pop("asks", ()), str)
    ENDPOINTS.append(Endpoint(method, address, function, scope, places, arguments, body, hints["return"], **more))
    return function


def _answer(endpoint: Endpoint, **places: Any) -> Response:
    if endpoint.scope is not None:
        require_scope(endpoint.scope)
    parameters = places | _arguments(endpoint)
    if endpoint.method == "POST" and endpoint.form is None:
        body = _body(endpoint.body or Inputs)
        parameters |= {"body": body} if endpoint.body else {}
    answer = endpoint.function(**parameters)
    return answer if isinstance(answer, Response) else _written(answer, endpoint.status)


def answered(answer: Answer) -> Answer:
    """The answer, with status 200 where the endpoint's usual one says that something was made."""
    return typing.cast(Answer, _written(answer, HTTPStatus.OK))


def _written(answer: Any, status: HTTPStatus) -> Response:
    content = msgspec.json.format(msgspec.json.encode(plain(answer)), indent=1) + b"\n"
    return Response(content, status, content_type="application/json")


def _arguments(endpoint: Endpoint) -> dict[str, Any]:
    """The arguments of the address. Raises InvalidFields for one of another type, and for one that there is not."""
    asked = _once_each([*request.args.items(multi=True)])
    read = checked(_model_of(endpoint.name, *endpoint.arguments.items()), asked)
    return {name: getattr(read, name) for name in read.model_fields_set}


@cache
def _model_of(name: str, *arguments: tuple[str, Any]) -> type[Inputs]:
    """The model of an address's arguments: all may be left out."""
    fields: Any = {key: (Whole if kind is int else kind, None) for key, kind in arguments}
    return create_model(name, __base__=Inputs, **fields)


def _body(kind: type[Inputs]) -> Inputs:
    """The JSON that was sent. Raises BadInput where it is no object, and InvalidFields by every field that is wrong."""
    sent = request.get_data() or b"{}"
    try:
        content = json.loads(sent, object_pairs_hook=_once_each, parse_int=str, parse_float=str)
        require_plain(content)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"The body is no JSON: {error}.") from None
    if not isinstance(content, dict):
        raise BadInput("The body has to be a JSON object of fields.")
    return checked_json(kind, sent)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Raises InvalidFields by every name that an object of the body, or the address, has twice: which was meant can't
    be known.
    """
    twice = {name: ["is given twice"] for name, number in Counter(name for name, _ in pairs).items() if number > 1}
    if twice:
        raise InvalidFields(twice)
    return dict(pairs)


def make_blueprint(*subjects: str) -> Blueprint:
    """The blueprint with the endpoints of these subjects, or of all."""
    names = [module.__name__ for module in context.modules_of("api", *subjects)]
    ENDPOINTS.sort(key=lambda endpoint: endpoint.function.__module__)
    made = Blueprint("api", __name__, url_prefix=PREFIX)
    made.before_request(identify)
    for endpoint in ENDPOINTS:
        if endpoint.function.__module__ in names:
            view = partial(_answer, endpoint)
            made.add_url_rule(endpoint.address, endpoint.name, view, methods=[endpoint.method])
    return made


def create_console(config: Config, database: db.Database, subjects: Sequence[str]) -> Flask:
    """The endpoints of some subjects, for a command of this machine: it has all rights, and errors are raised and not
    answered.
    """
    app = Flask("leaderboard.web.app")
    app.config.update(PROPAGATE_EXCEPTIONS=True, MAX_CONTENT_LENGTH=None)
    context.equip(app, config, database)
    app.register_blueprint(make_blueprint(*subjects))
    return app


FILE = {"type": "string", "contentMediaType": "application/octet-stream"}
JSON, PROBLEM = "application/json", "application/problem+json"


class ProblemDetails(msgspec.Struct, kw_only=True):
    """Every error, as RFC 9457 has it. title: what; detail: what and what next; fields: field -> its messages."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    fields: dict[str, list[str]]


def init_app(app: Flask) -> None:
    """All endpoints, and their document."""
    api = make_blueprint()
    api.after_request(offer)
    api.add_url_rule("/openapi.json", "openapi", lambda: _written(document(), HTTPStatus.OK))
    csrf.exempt(api)  # no cookie says who asks here, so no other site can ask in somebody's name
    app.register_blueprint(api)


def document() -> dict[str, Any]:
    """OpenAPI 3.1, of every endpoint that is registered."""
    kinds = list(dict.fromkeys((ProblemDetails, *(kind for endpoint in ENDPOINTS for kind in _kinds(endpoint)))))
    schemas, answers = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    models = dict.fromkeys(endpoint.body for endpoint in ENDPOINTS if endpoint.body is not None)
    made, bodies = models_json_schema(
        [(model, "validation") for model in models], ref_template="#/components/schemas/{model}"
    )
    schema_of = dict(zip(kinds, schemas, strict=True)) | {model: schema for (model, _), schema in made.items()}
    schemas_by_name = {name: _with_files(schema) for name, schema in answers.items()} | bodies.get("$defs", {})
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        if endpoint.form and (further := getattr(endpoint.form, "further", None)):
            schemas_by_name[endpoint.form.__name__]["patternProperties"] = dict(further)
        operations = paths.setdefault(PART.sub(r"{\g<name>}", endpoint.address), {})
        operations[endpoint.method.lower()] = _operation(endpoint, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Retrieval leaderboard",
            "version": __version__,
            "description": (
                "What the site's pages show and do, for programs. Reading what is public needs no token. An answer to "
                "a GET has an ETag: with it as If-None-Match the next one is 304 and empty while nothing has changed. "
                "Answers go compressed (br, gzip) to whoever accepts that."
            ),
        },
        "servers": [{"url": PREFIX}],
        "paths": paths,
        "components": {"schemas": schemas_by_name, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _kinds(endpoint: Endpoint) -> list[Any]:
    """The types of what it answers and takes, but for the model of a body."""
    kinds = _kind_answered(endpoint), *endpoint.arguments.values(), *endpoint.places.values(), endpoint.form
    return [kind for kind in kinds if kind is not None]


def _kind_answered(endpoint: Endpoint) -> Any:
    return str if endpoint.file else shape(endpoint.answer)


def _operation(endpoint: Endpoint, schema_of: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    summary, more = endpoint.words
    security: list[dict[str, list[str]]] = [{}, {"token": []}]
    if endpoint.scope is not None:
        more, security = f"{more} Needs a token that may {endpoint.scope.value}.", [{"token": []}]
    answer = schema_of[_kind_answered(endpoint)]
    made: dict[str, Any] = {
        "operationId": endpoint.name,
        "tags": [endpoint.subject],
        "summary": summary,
        "description": more.strip(),
        "security": security,
        "parameters": [
            {"name": name, "in": where, "required": where == "path", "schema": schema_of[kind]}
            for where, kinds in (("path", endpoint.places), ("query", endpoint.arguments))
            for name, kind in kinds.items()
        ],
        "responses": {
            str(int(endpoint.status)): _content(endpoint.file or JSON, answer, description="What was asked for."),
            "default": _content(PROBLEM, schema_of[ProblemDetails], description="Why it was refused."),
        },
    }
    if endpoint.body is not None:
        made["requestBody"] = _content(JSON, schema_of[endpoint.body], required=True)
    if endpoint.form is not None:
        kind = FILE["contentMediaType"] if endpoint.form is bytes else "multipart/form-data"
        made["requestBody"] = _content(kind, _with_files(schema_of[endpoint.form]), required=True)
    return made


def _with_files(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, with files as they are sent: for msgspec bytes are a text in base64."""
    if "contentEncoding" in schema:
        return FILE
    if "properties" not in schema:
        return schema
    return {**schema, "properties": {name: _with_files(own) for name, own in schema["properties"].items()}}


def _content(media_type: str, schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**more, "content": {media_type: {"schema": schema}}}
