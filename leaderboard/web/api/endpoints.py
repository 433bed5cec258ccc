"""What makes a function an endpoint of the API: its address, its scope, and the types in its signature.

    @get("/campaigns/<campaign>/evaluations/<evaluation>/board")
    def board(campaign: str, evaluation: str, *, measure: str | None = None) -> BoardPage:
        \"\"\"The board of an evaluation.\"\"\"

From the signature follows everything else: parameters are parts of the address, those behind `*` are arguments of the
address, `body` is the JSON that is sent, and what is returned is the answer, by `answers.plain`. The same types make
the OpenAPI document, in which the docstring explains the endpoint.
"""

import dataclasses
import inspect
import json
import types
import typing
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
from flask import Blueprint, Response, request

from leaderboard.accounts.rules import Scope
from leaderboard.declared.commands import Command
from leaderboard.declared.inputs import Inputs, checked_json
from leaderboard.errors import BadInput, InvalidFields
from leaderboard.web.api.answers import plain
from leaderboard.web.api.bearer import require_scope
from leaderboard.web.request_limits import require_plain

PREFIX = "/api/v1"

Function = TypeVar("Function", bound=Callable[..., Any])
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one address.

    scope      what a token needs for it; None: it answers visitors, too
    places     the parts of the address, by name, with their types
    arguments  those of the address that it takes, by name, with their types
    body       the type of the JSON that is sent; None: none is
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
    body: Any
    form: type | None
    answer: Any
    file: str | None
    status: HTTPStatus
    command: Command | None

    @property
    def subject(self) -> str:
        """What it is about: what its module is called, such as "organising queries"."""
        return self.function.__module__.removeprefix(f"{__package__}.").replace(".", " ").replace("_", " ")

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def summary(self) -> str:
        """The first sentence of the function's docstring, without its full stop."""
        return self.words[0]

    @property
    def words(self) -> tuple[str, str]:
        """The first sentence of the function's docstring, without its full stop, and the rest."""
        first, _, more = " ".join((self.function.__doc__ or "").split()).partition(". ")
        return first.removesuffix("."), more


ENDPOINTS: list[Endpoint] = []


@dataclass(frozen=True, slots=True)
class _Nothing:
    """The body of a request that says all by its address."""


def get(
    address: str, scope: Scope | None = None, *, file: str | None = None, command: Command | None = None
) -> Callable[[Function], Function]:
    """An endpoint that reads. file: the media type of the file that it answers with, where that is no JSON."""
    return partial(_add, "GET", address, scope, None, file, HTTPStatus.OK, command)


def post(
    address: str,
    scope: Scope,
    *,
    form: type | None = None,
    status: HTTPStatus = HTTPStatus.OK,
    command: Command | None = None,
) -> Callable[[Function], Function]:
    """An endpoint that changes something. form: it reads its form with a file itself, as it arrives."""
    return partial(_add, "POST", address, scope, form, None, status, command)


def _add(
    method: str,
    address: str,
    scope: Scope | None,
    form: type | None,
    file: str | None,
    status: HTTPStatus,
    command: Command | None,
    function: Function,
) -> Function:
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    places = {each.name: hints[each.name] for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD}
    body = places.pop("body", None)
    arguments = {each.name: _given(hints[each.name]) for each in parameters if each.kind is each.KEYWORD_ONLY}
    answer = hints["return"]
    endpoint = Endpoint(method, address, function, scope, places, arguments, body, form, answer, file, status, command)
    ENDPOINTS.append(endpoint)
    return function


def _given(kind: Any) -> Any:
    """The type of an argument that is given: `str` of `str | None`."""
    kinds = [part for part in typing.get_args(kind) if part is not types.NoneType]
    return kinds[0] if len(kinds) == 1 else kind


def register(blueprint: Blueprint, modules: Sequence[str]) -> None:
    """The endpoints of these modules as routes of the blueprint, in this order."""
    order = {module: place for place, module in enumerate(modules)}
    ENDPOINTS.sort(key=lambda endpoint: order.get(endpoint.function.__module__, len(order)))
    for endpoint in ENDPOINTS:
        if endpoint.function.__module__ not in order:
            continue
        view = partial(_answer, endpoint)
        blueprint.add_url_rule(endpoint.address, endpoint.name, view, methods=[endpoint.method])


def _answer(endpoint: Endpoint, **places: Any) -> Response:
    if endpoint.scope is not None:
        require_scope(endpoint.scope)
    given = places | _arguments(endpoint)
    if endpoint.body is not None:
        given["body"] = _body(endpoint.body)
    elif endpoint.method == "POST" and endpoint.form is None:
        _body(_Nothing)
    found = endpoint.function(**given)
    return found if isinstance(found, Response) else _written(found, endpoint.status)


def answered(found: Answer) -> Answer:
    """The answer, with status 200 where the endpoint's usual one says that something was made."""
    return typing.cast(Answer, _written(found, HTTPStatus.OK))


def _written(found: Any, status: HTTPStatus) -> Response:
    content = msgspec.json.format(msgspec.json.encode(plain(found)), indent=1) + b"\n"
    return Response(content, status, content_type="application/json")


def _arguments(endpoint: Endpoint) -> dict[str, Any]:
    """The arguments of the address. Raises InvalidFields for one of another type, and for one that there is not."""
    fields: dict[str, list[str]] = {}
    given: dict[str, Any] = {}
    for name, values in request.args.lists():
        if name not in endpoint.arguments:
            known = ", ".join(endpoint.arguments) or "none"
            fields[name] = [f"is no argument of this address; it takes: {known}"]
        elif len(values) > 1:
            fields[name] = ["is given twice"]
        else:
            try:
                given[name] = msgspec.convert(values[0], endpoint.arguments[name], strict=False)
            except msgspec.ValidationError as error:
                fields[name] = [_in_words(error, endpoint.arguments[name])[1]]
    if fields:
        raise InvalidFields(fields)
    return given


def _body(kind: Any) -> Any:
    """The JSON that was sent. Raises BadInput where it is no object, and InvalidFields by every field that is wrong."""
    try:
        content = msgspec.json.decode(request.get_data() or b"{}")
        require_plain(content)
        json.loads(request.get_data() or b"{}", object_pairs_hook=_once_each, parse_int=str, parse_float=str)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"The body is no JSON: {error}.") from None
    types = {} if issubclass(kind, Inputs) else typing.get_type_hints(kind, include_extras=True)
    known = f"known are: {', '.join(sorted(types))}" if types else "this address takes none"
    if isinstance(kind, type) and issubclass(kind, Inputs) and isinstance(content, dict):
        return checked_json(kind, request.get_data() or b"{}")
    if not isinstance(content, dict):
        raise BadInput(f"The body has to be a JSON object of fields; {known}.")
    wrong = {name: [f"is not known here; {known}"] for name in sorted(content.keys() - types.keys())}
    for field in dataclasses.fields(kind):
        if field.name in content:
            try:
                msgspec.convert(content[field.name], types[field.name])
            except msgspec.ValidationError as error:
                place, words = _in_words(error, types[field.name])
                wrong[field.name] = [f"{place}: {words}" if place else words]
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            wrong[field.name] = ["is missing"]
    if wrong:
        raise InvalidFields(wrong)
    return msgspec.convert(content, kind)


def _once_each(pairs: list[tuple[str, Any]]) -> None:
    """Raises InvalidFields by every name that an object of the body has twice: which one was meant can't be known."""
    times = Counter(name for name, _ in pairs)
    twice = {name: ["is given twice"] for name, number in times.items() if number > 1}
    if twice:
        raise InvalidFields(twice)


def _in_words(error: msgspec.ValidationError, kind: Any) -> tuple[str, str]:
    """Which field an error of msgspec is about ("" for the whole), and what it says of it.

    kind  what was asked for: msgspec does not say which values an enumeration has
    """
    words, _, path = str(error).partition(" - at `")
    name = path.removeprefix("$").removeprefix(".").removesuffix("`")
    if not name and words.startswith("Object missing required field `"):
        name = words.removeprefix("Object missing required field `").removesuffix("`")
        return name, "is missing"
    choices = f"; give one of: {', '.join(_choices(kind))}" if words.startswith("Invalid enum value") else ""
    return name, f"{words[:1].lower()}{words[1:]}{choices}"


def _choices(kind: Any) -> list[str]:
    """The values of the enumerations that a type is made of."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(one.value) for one in kind]
    parts = typing.get_args(kind)
    if typing.get_origin(kind) is typing.Literal:
        return [str(part) for part in parts]
    return [choice for part in parts for choice in _choices(part)]
