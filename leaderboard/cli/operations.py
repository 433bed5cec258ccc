"""The commands that are made from endpoints: words, arguments, options and help come from the endpoint alone.

A command asks its endpoint: in this process and as the console, or at `--server` as an account's token allows.
"""

import datetime as dt
import io
import re
import types
import typing
import urllib.request
import urllib.response
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import click
from flask import Flask
from pydantic.fields import FieldInfo
from werkzeug.test import Client as Caller

from leaderboard.access import CONSOLE, Actor, actor_of
from leaderboard.accounts.writes import find_user
from leaderboard.cli.database import up_to_date
from leaderboard.cli.options import FILE, MOMENT, TOKEN, OrNone, ask, client_at
from leaderboard.cli.output import print_table
from leaderboard.client import Client, Refused
from leaderboard.config import Config
from leaderboard.declared.commands import Command, Find, Lines, Table
from leaderboard.declared.inputs import Inputs, checked, is_of_changes, is_required, kinds_of, shown_of
from leaderboard.errors import BadInput, InvalidFields, NotFound, Unconfirmed
from leaderboard.web.context import CONSOLE_KEY, modules_of
from leaderboard.web.endpoints import ENDPOINTS, Endpoint, create_console

OF_FILES = ("queries", "judgments", "documents", "known", "subtopics")  # what refusals call a file
PART = re.compile(r"<(?:\w+:)?(\w+)>")
GROUPS = {
    "campaign": "Campaigns: measures, prior and β, organisers.",
    "campaign organiser": "Who organises a campaign.",
    "campaign team": "Which teams are let into a private campaign.",
    "evaluation": "Evaluations: dates, collection, what is visible.",
    "form": "What a submission form asks: fields, agreements, rules for the file.",
    "judgments": "The judgments of an evaluation.",
    "queries": "The queries of an evaluation.",
    "submission": "Submissions: list them, hide or disqualify one, choose which run stands.",
    "system": "Systems: mark baselines and manual ones, describe them.",
    "team": "Teams and who is in them.",
    "team member": "Who is in a team.",
}
SUBJECTS = {  # where the endpoints of a group are
    "campaign": ("campaigns",),
    "evaluation": ("evaluations",),
    "form": ("evaluations",),
    "judgments": ("judgments",),
    "queries": ("judgments",),
    "submission": ("submissions", "boards"),
    "system": ("teams", "boards"),
    "team": ("teams", "boards"),
    "submit": ("submissions", "boards"),
    "trail": ("audit",),
}
BY_HAND = {  # commands that no endpoint makes: their module, and their names there
    "form": ("by_hand", "rules"),
    "submission": ("submission", "list_submissions", "fetch"),
    "team": ("by_hand", "invitations", "list_teams", "merge", "rename", "requests"),
    "team member": ("by_hand", "add_member"),
}
SERVER = (
    click.Option(["--server"], metavar="URL", help="Do it at this site, as the account of a token, and not here."),
    click.Option(["--token-file"], type=FILE, help=f"A file with the token; else {TOKEN} has it."),
)


def group(name: str) -> click.Command:
    """All commands whose words begin with this one's; where there is no such group, the command of this name."""
    if name not in GROUPS:
        modules_of("api", *SUBJECTS[name])
        alone = ((each, each.command) for each in ENDPOINTS if each.command and each.command.words == [name])
        return _command(*next(alone))
    made = click.Group(name.split()[-1], help=GROUPS[name])
    if name in SUBJECTS:
        modules_of("api", *SUBJECTS[name])
    depth = len(name.split())
    for endpoint in ENDPOINTS:
        for command in (endpoint.command, *endpoint.command.also) if endpoint.command is not None else ():
            words = command.words
            if words[:depth] == name.split() and len(words) == depth + 1:
                made.add_command(_command(endpoint, command))
    for inner in GROUPS:
        if inner.split()[:-1] == name.split():
            made.add_command(group(inner))
    module, *by_hand = BY_HAND.get(name, ("",))
    for attribute in by_hand:
        made.add_command(getattr(import_module(f"leaderboard.cli.{module}"), attribute))
    return made


class _Arguments(click.ParamType[dict[str, str]]):
    """An argument that stands for one or more parts, such as CAMPAIGN/EVALUATION."""

    def __init__(self, usage: str) -> None:
        self.name, self._parts = usage, usage.lower().split("/")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, str]:
        values = value.split("/") if len(self._parts) > 1 else [value]
        if len(values) != len(self._parts) or not all(values):
            example = "trec-covid/round1" if "campaign" in self._parts else "a/b"
            self.fail(f"expected {self.name}, like {example}, found {value!r}", param, ctx)
        return dict(zip(self._parts, values, strict=True))


def _command(endpoint: Endpoint, command: Command) -> click.Command:
    path = " ".join(["leaderboard", *command.words])
    text = f"{endpoint.function.__doc__}\n\n\b\n{path} {command.example}".rstrip()

    def callback(**values: Any) -> int:
        return _run(endpoint, command, values)

    params = [*_parameters(endpoint, command), *SERVER]
    return click.Command(command.words[-1], callback=callback, params=params, help=text, short_help=endpoint.summary)


def _parameters(endpoint: Endpoint, command: Command) -> Iterator[click.Parameter]:
    files = _files(endpoint)
    for position, usage in enumerate(command.arguments):
        bare, required = usage.strip("[]…"), "[" not in usage
        if "…" in usage:
            yield click.Argument([bare.lower()], metavar=usage, nargs=-1, required=required)
        elif bare.lower() in files:
            yield click.Argument([bare.lower()], metavar=bare, type=FILE, required=required)
        else:
            yield click.Argument([f"at_{position}"], metavar=bare, type=_Arguments(bare), required=required)
    taken = {part for usage in command.arguments for part in usage.strip("[]…").lower().split("/")}
    taken |= {"confirm", *command.without}
    fields = endpoint.body.model_fields if _is_model(endpoint.body) else {}
    for key, field in fields.items():
        if key not in taken:
            yield option_of(key, field, command)
    for key, kind in {**endpoint.arguments, **_form_fields(endpoint)}.items():
        if key not in taken:
            words = [f"--{key.replace('_', '-')}", key]
            yield (
                click.Option(words, is_flag=True)
                if kind is bool
                else click.Option(words, type=FILE if kind is bytes else click.STRING)
            )
    if command.asks or "confirm" in {**fields, **endpoint.arguments}:
        yield click.Option(["--confirm"], is_flag=True, help="Don't ask first.")
    if command.preview is not None:
        yield click.Option(["--preview"], is_flag=True, help="Say what it would change, and write nothing.")


class _Text(click.types.StringParamType):
    """A text that the model reads."""

    def __init__(self, name: str) -> None:
        self.name = name


def option_of(name: str, field: FieldInfo, command: Command) -> click.Option:
    """The option of a field of a body: its text is read by the body's own model."""
    kinds, shown = kinds_of(field.annotation), shown_of(field)
    words = f"--{name.replace('_', '-')}"
    kind: Any = _Text("whole number" if int in kinds else "number" if float in kinds else "text")
    choice = next((part for part in kinds if isinstance(part, type) and issubclass(part, Enum)), None)
    if bool in kinds:
        words = shown.option or f"{words}/--no-{words.removeprefix('--')}"
    elif choice is not None:
        kind = click.Choice([str(each.value) for each in choice])
    elif dt.datetime in kinds:
        kind = MOMENT
    elif shown.is_file:
        kind = click.File(encoding="utf-8-sig")
    if types.NoneType in kinds:
        kind = OrNone(kind)
    default = command.sends.get(name, field.default)
    default = default.value if isinstance(default, Enum) else default
    said = isinstance(default, int | str) and not isinstance(default, bool) and default != ""
    required = is_required(field)
    hint = (field.description or "").replace("Left empty, ", "With none ")
    label = f"{field.title}. {hint}".strip().removesuffix(".")
    return click.Option(
        [shown.option or words, name] if bool not in kinds else [words, name],
        type=None if bool in kinds else kind,
        is_flag=True if bool in kinds and "/" not in words else None,
        multiple=name in ("links", "choices"),
        required=required,
        help=f"{label}. (default: {default})" if said else f"{label}.",
    )


def _files(endpoint: Endpoint) -> set[str]:
    """The names of what of a request is a file: `file` is the body itself."""
    return (
        {"file"} if endpoint.form is bytes else {key for key, kind in _form_fields(endpoint).items() if kind is bytes}
    )


def _form_fields(endpoint: Endpoint) -> dict[str, Any]:
    return {} if endpoint.form in (None, bytes) else typing.get_type_hints(endpoint.form)


def _run(endpoint: Endpoint, command: Command, values: dict[str, Any]) -> int:
    """Asks the endpoint with what the command line gives, and prints what it answers; the exit status."""
    client = client_of(command.words[0], values.pop("server"), values.pop("token_file"))
    confirmed, previewed = values.pop("confirm", False), values.pop("preview", False)
    arguments: dict[str, Any] = {}
    for name in [name for name in values if name.startswith("at_")]:
        arguments |= values.pop(name) or {}
    context = click.get_current_context()
    options = {
        name: _read(value) if isinstance(value, io.TextIOBase) else value
        for name, value in values.items()
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    if _is_model(endpoint.body) and values and not options and endpoint.status == 200 and is_of_changes(endpoint.body):
        raise click.UsageError("nothing to change; give at least one option")
    parts = arguments | {name: _number(client, find, arguments) for name, find in command.finds.items()}
    if command.asks and not confirmed:
        above = client.get(_address(endpoint.address.rpartition("/")[0], parts))
        asks = command.asks
        question = asks.format_map({**above, **arguments}) if isinstance(asks, str) else asks(above, arguments)
        if question and not above.get("stays"):  # else it is refused, whatever the answer
            ask(question)
    address = _address(endpoint.address, parts)
    everything = {**command.sends, **arguments, **options}
    send = _sender(client, endpoint, address + "/preview" * previewed, everything)
    with _told_by_file({name: value for name, value in options.items() if isinstance(value, Path)}):
        answer = send(confirmed) if confirmed or previewed else _after_asking(send)
    if previewed and command.preview is not None:
        click.echo("\n".join([*command.preview(answer), "nothing was written"]))
        return 1 if answer.get("would_be_refused") else 0
    return _print(command, answer, everything)


def _sender(client: Client, endpoint: Endpoint, address: str, values: Mapping[str, Any]) -> Callable[[bool], Any]:
    """Sends the request, confirmed or not: arguments of the address, and a body of JSON, a file or a form."""
    query = {name: _as_argument(values[name]) for name in endpoint.arguments if name in values}
    if endpoint.method == "GET":
        read = _all_pages if "page" in endpoint.arguments and "page" not in query else Client.get
        return lambda _: read(client, address, **query)
    if endpoint.form is not None:
        form = _form_fields(endpoint)
        texts = {name: str(values[name]) for name, kind in form.items() if kind is not bytes and values.get(name)}
        files = [(name, values[name]) for name, kind in form.items() if kind is bytes and values.get(name)]
        content = values["file"] if endpoint.form is bytes else (texts, files)
        return lambda confirmed: client.send(address, content, **query, **({"confirm": "true"} if confirmed else {}))
    if not _is_model(endpoint.body):
        return lambda _: client.post(address)
    fields = {name: value for name, value in values.items() if name in endpoint.body.model_fields}
    body = checked(endpoint.body, fields).model_dump(mode="json", exclude_unset=True)
    yes = {"confirm": True} if "confirm" in endpoint.body.model_fields else {}
    return lambda confirmed: client.post(address, {**body, **yes} if confirmed else body)


def _all_pages(client: Client, address: str, **query: str) -> Any:
    """An answer that comes page by page, with the rows of all of them."""
    answer = client.get(address, **query)
    for page in range(2, answer["paging"]["pages"] + 1):
        answer["rows"] += client.get(address, **query, page=str(page))["rows"]
    return answer


def _as_argument(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextmanager
def _told_by_file(files: Mapping[str, Path]) -> Iterator[None]:
    """What is wrong with a file is told under its own name."""
    try:
        yield
    except (Refused, InvalidFields) as refused:
        fields = refused.fields
        paths = dict.fromkeys(OF_FILES, next(iter(files.values()))) | dict(files) if len(files) == 1 else files
        if not fields or set(fields) - set(paths):
            raise
        lines = [f"{paths[name].name}: {line}" for name, messages in fields.items() for line in messages]
        raise BadInput("\n".join(lines)) from None


def _after_asking(send: Callable[[bool], Any]) -> Any:
    """What the endpoint answers; asks first where it lists what has to be confirmed."""
    try:
        return send(False)
    except (Refused, Unconfirmed) as refused:
        if set(refused.fields) != {"confirm"}:
            raise
        click.echo("\n".join(refused.fields["confirm"]), err=True)
    ask("Go on?")
    return send(True)


def _print(command: Command, answer: Any, values: Mapping[str, Any]) -> int:
    match command.done:
        case Table() | tuple():
            for table in command.done if isinstance(command.done, tuple) else (command.done,):
                print_table(table.head, map(table.row, table.rows(answer)), table.empty)
        case Lines() as lines:
            for name, text in lines.of(answer).items():
                click.echo(f"{name:16}{text}")
        case str() as words:
            click.echo(words.format_map({**(answer if isinstance(answer, dict) else {}), **values}))
        case words:
            click.echo(words(answer, values))
    return command.status(answer)


def _number(client: Client, find: Find, arguments: Mapping[str, str]) -> str:
    """The number in the address of what an argument names. Raises NotFound."""
    rows = find.rows(client.get(_address(find.address, arguments)))
    number = next((row[find.number] for row in rows if find.is_meant(row, arguments)), None)
    if number is None:
        raise NotFound(find.lacks.format_map(arguments))
    return str(number)


def _address(address: str, parts: Mapping[str, str]) -> str:
    return PART.sub(lambda part: quote(parts[part[1]], safe=""), address)


def _read(file: io.TextIOBase) -> str:
    try:
        return file.read()
    except UnicodeDecodeError as error:
        raise BadInput(f"{getattr(file, 'name', 'file')}: this is no text in UTF-8") from error


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Inputs)


def client_of(group: str, server: str | None, token_file: Path | None, user: str | None = None) -> Client:
    """Asks the endpoints of a group: at a site as the account of a token, or in this process as the console or as this
    user.
    """
    if server is None:
        return Client("http://localhost", opener=_here(SUBJECTS[group], user))
    return client_at(server, token_file)


def _here(subjects: Sequence[str], user: str | None) -> urllib.request.OpenerDirector:
    """Asks endpoints in this process, on this installation's database. Raises what `up_to_date` does."""
    config = Config.from_environment()
    database = click.get_current_context().with_resource(up_to_date(config))
    with database.read() as session:
        actor = CONSOLE if user is None else actor_of(session, find_user(session, user).id)
    app = create_console(config, database, subjects)
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), _InProcess(app, actor))


class _InProcess(urllib.request.BaseHandler):
    """Hands requests to an application as the actor's, in place of a connection."""

    handler_order = 100  # before that for connections

    def __init__(self, app: Flask, actor: Actor) -> None:
        self._caller = Caller(app)
        self._actor = actor

    def http_open(self, request: urllib.request.Request) -> Any:
        headers = dict(request.header_items())
        environment: dict[str, Any] = {CONSOLE_KEY: self._actor}
        data: Any = request.data
        if data is not None and not isinstance(data, bytes):
            content_type = headers.pop("Content-type")  # else werkzeug would make a form
            environment |= {"CONTENT_TYPE": content_type, "CONTENT_LENGTH": headers["Content-length"]}
            environment["wsgi.input"], data = _Pieces(data), None
        answer = self._caller.open(
            urlsplit(request.full_url).path,
            query_string=urlsplit(request.full_url).query,
            method=request.get_method(),
            headers=headers,
            data=data,
            environ_overrides=environment,
        )
        answered: Any = answer.headers
        response = urllib.response.addinfourl(io.BytesIO(answer.data), answered, request.full_url, answer.status_code)
        response.msg = answer.status  # type: ignore[attr-defined]  # as http.client has it
        return response


class _Pieces(io.RawIOBase):
    """Bytes that come piece by piece, as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._rest = self._rest or next(self._pieces, b"")
        piece, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)
