"""The OpenAPI document, made from the endpoints' signatures."""

from collections.abc import Mapping
from typing import Any

import msgspec
from flask import Flask, Response
from pydantic.json_schema import models_json_schema

from leaderboard import __version__
from leaderboard.declared.commands import PART
from leaderboard.web.endpoints import ENDPOINTS, PREFIX, Endpoint, make_blueprint, shape
from leaderboard.web.page_cache import offer
from leaderboard.web.security import csrf

FILE = {"type": "string", "contentMediaType": "application/octet-stream"}
JSON, PROBLEM = "application/json", "application/problem+json"
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
    kinds = list(dict.fromkeys((ProblemDetails, *(kind for endpoint in ENDPOINTS for kind in _kinds(endpoint)))))
    schemas, answers = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    models = dict.fromkeys(endpoint.body for endpoint in ENDPOINTS if endpoint.body is not None)
    made, more = models_json_schema(
        [(model, "validation") for model in models], ref_template="#/components/schemas/{model}"
    )
    schema_of = dict(zip(kinds, schemas, strict=True)) | {model: schema for (model, _), schema in made.items()}
    bodies = more.get("$defs", {})
    schemas_by_name = {name: _with_files(schema) for name, schema in answers.items()} | bodies
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        if further := getattr(endpoint.form, "further", None):
            schemas_by_name[str(getattr(endpoint.form, "__name__", ""))]["patternProperties"] = dict(further)
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
        "components": {
            "schemas": schemas_by_name,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _kinds(endpoint: Endpoint) -> list[Any]:
    """The types of what it answers and takes, but for the model of a body."""
    form = [endpoint.form] if endpoint.form is not None else []
    return [_answer(endpoint), *endpoint.arguments.values(), *endpoint.places.values(), *form]


def _answer(endpoint: Endpoint) -> Any:
    return str if endpoint.file else shape(endpoint.answer)


def _operation(endpoint: Endpoint, schema_of: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    summary, more = endpoint.words
    scope = endpoint.scope
    needs = [f"Needs a token that may {scope.value}."] if scope is not None else []
    answer = schema_of[_answer(endpoint)]
    made: dict[str, Any] = {
        "operationId": endpoint.name,
        "tags": [endpoint.subject],
        "summary": summary,
        "description": " ".join([more, *needs]).strip(),
        "security": [{"token": []}] if scope is not None else [{}, {"token": []}],
        "parameters": _parameters(endpoint, schema_of),
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


def _parameters(endpoint: Endpoint, schema_of: Mapping[Any, dict[str, Any]]) -> list[dict[str, Any]]:
    schemas = {
        part["name"]: ROW_NUMBER
        if part["converter"] == "int"
        else {**schema_of[endpoint.places[part["name"]]], "minLength": 1}
        for part in PART.finditer(endpoint.address)
    }
    return [{"name": name, "in": "path", "required": True, "schema": schema} for name, schema in schemas.items()] + [
        {"name": name, "in": "query", "required": False, "schema": schema_of[kind]}
        for name, kind in endpoint.arguments.items()
    ]


def _content(media_type: str, schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**more, "content": {media_type: {"schema": schema}}}
