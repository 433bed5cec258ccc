"""The OpenAPI document, made from the endpoints' signatures."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from flask import Flask, Response
from pydantic.json_schema import models_json_schema

from leaderboard import __version__
from leaderboard.declared.inputs import Inputs
from leaderboard.web.compression import offer
from leaderboard.web.endpoints import ENDPOINTS, PREFIX, Endpoint, make_blueprint, shape
from leaderboard.web.security import csrf

PLACE = re.compile(r"<(?:(?P<converter>\w+):)?(?P<name>\w+)>")
FILE = {"type": "string", "contentMediaType": "application/octet-stream"}
ROW_NUMBER = {"type": "integer", "minimum": 0}


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
    api.add_url_rule("/openapi.json", "openapi", serve)
    csrf.exempt(api)  # no cookie says who asks here, so no other site can ask in somebody's name
    app.register_blueprint(api)


def serve() -> Response:
    """The document as JSON."""
    return Response(msgspec.json.format(msgspec.json.encode(document()), indent=1), content_type="application/json")


def document() -> dict[str, Any]:
    """OpenAPI 3.1, of every endpoint that is registered."""
    kinds: list[Any] = [ProblemDetails]
    for endpoint in ENDPOINTS:
        kinds.append(str if endpoint.file else shape(endpoint.answer))
        kinds += endpoint.arguments.values()
        kinds += endpoint.places.values()
        kinds += [kind for kind in (endpoint.body, endpoint.form) if kind is not None and not _is_declared(kind)]
    schemas, components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    components = {name: _with_files(schema) for name, schema in components.items()}
    declared, more = models_json_schema(
        [(endpoint.body, "validation") for endpoint in ENDPOINTS if _is_declared(endpoint.body)],
        ref_template="#/components/schemas/{model}",
    )
    bodies = more.get("$defs", {})
    if twice := [name for name in bodies.keys() & components.keys() if "enum" not in bodies[name]]:
        raise TypeError(f"an answer and a body are both called {', '.join(sorted(twice))}: rename one")
    components |= bodies
    for endpoint in ENDPOINTS:
        if endpoint.form is not None and (further := getattr(endpoint.form, "further", None)):
            components[endpoint.form.__name__]["patternProperties"] = dict(further)
    taken = iter(schemas)
    problem = next(taken)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        answer = next(taken)
        arguments = {name: next(taken) for name in endpoint.arguments}
        places = {name: next(taken) for name in endpoint.places}
        body = None if endpoint.body is None else declared.get((endpoint.body, "validation")) or next(taken)
        form = next(taken) if endpoint.form is not None else None
        path = PLACE.sub(r"{\g<name>}", endpoint.address)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(
            endpoint, answer, problem, arguments, places, body, form
        )
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
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _is_declared(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Inputs)


def _operation(
    endpoint: Endpoint,
    answer: dict[str, Any],
    problem: dict[str, Any],
    arguments: dict[str, dict[str, Any]],
    places: dict[str, dict[str, Any]],
    body: dict[str, Any] | None,
    form: dict[str, Any] | None,
) -> dict[str, Any]:
    summary, more = endpoint.words
    scope = endpoint.scope
    needs = [f"Needs a token that may {scope.value}."] if scope is not None else []
    made: dict[str, Any] = {
        "operationId": endpoint.name,
        "tags": [endpoint.subject],
        "summary": summary,
        "description": " ".join([more, *needs]).strip(),
        "security": [{"token": []}] if scope is not None else [{}, {"token": []}],
        "parameters": [*_places(endpoint, places), *_arguments(arguments)],
        "responses": {
            str(int(endpoint.status)): _content(endpoint.file or "application/json", answer, "What was asked for."),
            "default": _content("application/problem+json", problem, "Why it was refused."),
        },
    }
    if body is not None:
        made["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    if form is not None:
        kind = FILE["contentMediaType"] if endpoint.form is bytes else "multipart/form-data"
        made["requestBody"] = {"required": True, "content": {kind: {"schema": _with_files(form)}}}
    return made


def _with_files(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, with files as they are sent: for msgspec bytes are a text in base64."""
    if "contentEncoding" in schema:
        return FILE
    if "properties" not in schema:
        return schema
    return {**schema, "properties": {name: _with_files(own) for name, own in schema["properties"].items()}}


def _places(endpoint: Endpoint, schemas: dict[str, dict[str, Any]]) -> Sequence[dict[str, Any]]:
    found = []
    for place in PLACE.finditer(endpoint.address):
        schema = ROW_NUMBER if place["converter"] == "int" else {**schemas[place["name"]], "minLength": 1}
        found.append({"name": place["name"], "in": "path", "required": True, "schema": schema})
    return found


def _arguments(schemas: dict[str, dict[str, Any]]) -> Sequence[dict[str, Any]]:
    return [{"name": name, "in": "query", "required": False, "schema": schema} for name, schema in schemas.items()]


def _content(media_type: str, schema: dict[str, Any], words: str) -> dict[str, Any]:
    return {"description": words, "content": {media_type: {"schema": schema}}}
