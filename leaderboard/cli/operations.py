"""The commands that are made from endpoints: words, arguments, options and help come from the endpoint alone.

A command asks its endpoint: in this process and as the console, or at `--server` as an account's token allows.
"""

import datetime as dt
import tempfile
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
from flask import Flask
from pydantic.fields import FieldInfo
from werkzeug.test import Client as Caller

from leaderboard.access import CONSOLE, Actor, actor_of
from leaderboard.accounts.writes import find_user
from leaderboard.cli.database import up_to_date
from leaderboard.cli.options import FILE, MOMENT, TOKEN, OrNone, ask, client_at, given_on_line, parts, whole
from leaderboard.cli.output import print_table
from leaderboard.client import NOTHING, Client, Content, Refused
from leaderboard.config import Config
from leaderboard.declared import inputs
from leaderboard.declared.commands import PART, Command, Find, Lines, Other, Table
from leaderboard.errors import BadInput, InvalidFields, NotFound, Unconfirmed
from leaderboard.web.context import CONSOLE_KEY, modules_of
from leaderboard.web.endpoints import ENDPOINTS, PREFIX, Endpoint, create_console

OF_FILES = ("queries", "judgments", "documents", "known", "subtopics")  # what refusals call a file
INNER = {
    "organiser": "Who organises a campaign.",
    "team": "Which teams are let into a private campaign.",
    "member": "Who is in a team.",
}
SUBJECTS = {  # where the endpoints of a group are
    "campaign": ("campaigns",),
    "evaluation": ("evaluations",),
    "form": ("evaluations",),
    "judgments": ("judgments",),
    "queries": ("judgments",),
    "rescore": ("submissions",),
    "submission": ("submissions",),
    "system": ("teams",),
    "team": ("teams",),
    "submit": ("submissions", "results"),
    "trail": ("audit",),
}
BY_HAND = {  # commands that no endpoint makes: where they are
    "form rules": ("by_hand", "rules"),
    "submission list": ("submission", "list_submissions"),
    "submission fetch": ("submission", "fetch"),
    "team list": ("by_hand", "list_teams"),
    "team merge": ("by_hand", "merge"),
    "team rename": ("by_hand", "rename"),
    "team member add": ("by_hand", "add_member"),
}
SERVER = [
    click.Option(["--server"], metavar="URL", help="Do it at this site, as the account of a token, and not here."),
    click.Option(["--token-file"], type=FILE, help=f"A file with the token; else {TOKEN} has it."),
]


def group(name: str, about: str) -> click.Command:
    """All commands whose words begin with this one's; where there is no such group, the command of this name."""
    modules_of("api", *SUBJECTS[name])
    commands = {
        " ".join(command.words): _command(endpoint, command)
        for endpoint in ENDPOINTS
        if endpoint.command is not None
        for command in (endpoint.command, *endpoint.command.also)
        if command.words[0] == name
    }
    for words, (module, attribute) in BY_HAND.items():
        if words.startswith(f"{name} "):
            commands[words] = getattr(import_module(f"leaderboard.cli.{module}"), attribute)
    if name in commands:
        return commands[name]
    top = click.Group(name, help=about)
    for words, command in commands.items():
        parent, (*inner, last) = top, words.split()[1:]
        for word in inner:
            parent = typing.cast(click.Group, parent.commands.setdefault(word, click.Group(word, help=INNER[word])))
        parent.add_command(command, last)
    return top


def _command(endpoint: Endpoint, command: Command) -> click.Command:
    return click.Command(
        command.words[-1],
        callback=lambda **values: _run(endpoint, command, values),
        params=[*_parameters(endpoint, command), *SERVER],
        help=f"{endpoint.function.__doc__}\n\n\b\nleaderboard {' '.join(command.words)} {command.example}".rstrip(),
        short_help=endpoint.words[0],
    )


def _parameters(endpoint: Endpoint, command: Command) -> Iterator[click.Parameter]:
    form, fields = _form(endpoint), endpoint.body.model_fields if endpoint.body else {}
    hidden = {"confirm", *command.without}
    for position, usage in enumerate(command.arguments):
        bare, required = usage.strip("[]…"), "[" not in usage
        hidden |= set(bare.lower().split("/"))
        if "…" in usage:
            yield click.Argument([bare.lower()], metavar=usage, nargs=-1, required=required)
        elif form.get(bare.lower()) is bytes:
            yield click.Argument([bare.lower()], metavar=bare, type=FILE, required=required)
        else:
            yield click.Argument([f"at_{position}"], metavar=bare, type=parts(bare), required=required)
    yield from (
        option_of(name, field, command.sends.get(name, field.default))
        for name, field in fields.items()
        if name not in hidden
    )
    for name, kind in {**endpoint.arguments, **form}.items():
        if name not in hidden:
            words = [f"--{name.replace('_', '-')}", name]
            yield click.Option(words, is_flag=kind is bool or None, type=FILE if kind is bytes else None)
    for name, other in command.instead.items():
        numbered = f"<{name}>" in other.address
        yield click.Option([f"--{name}"], type=whole(1) if numbered else None, is_flag=not numbered, help=other.help)
    if command.asks or "confirm" in {**fields, **endpoint.arguments}:
        yield click.Option(["--confirm"], is_flag=True, help="Don't ask first.")
    if command.preview is not None:
        yield click.Option(["--preview"], is_flag=True, help="Say what it would change, and write nothing.")


class _Text(click.types.StringParamType):
    """A text that the model reads."""

    def __init__(self, name: str) -> None:
        self.name = name


class _TextOfFile(click.File):
    """The text of a file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx).read()
        except UnicodeDecodeError:
            self.fail(f"{value}: this is no text in UTF-8", param, ctx)


def option_of(name: str, field: FieldInfo, default: Any) -> click.Option:
    """The option of a field of a body: its text is read by the body's own model."""
    kinds, shown = inputs.kinds_of(field.annotation), inputs.shown_of(field)
    words = shown.option or f"--{name.replace('_', '-')}"
    default = default.value if isinstance(default, Enum) else default
    label = f"{field.title}. {(field.description or '').replace('Left empty, ', 'With none ')}".strip()
    text = f"{label.removesuffix('.')}."
    if isinstance(default, int | str) and default not in (True, False, ""):
        text += f" (default: {default})"
    required = inputs.is_required(field)
    if bool in kinds:
        flag = shown.option or f"{words}/--no-{words.removeprefix('--')}"
        return click.Option([flag, name], is_flag=True, default=None, required=required, help=text)
    kind: Any = _Text("whole number" if int in kinds else "number" if float in kinds else "text")
    if choices := inputs.choices_of(kinds):
        kind = click.Choice([inputs.as_text(choice) for choice in choices])
    elif dt.datetime in kinds:
        kind = MOMENT
    elif shown.is_file:
        kind = _TextOfFile(encoding="utf-8-sig")
    kind = OrNone(kind) if types.NoneType in kinds else kind
    return click.Option([words, name], type=kind, multiple=name in ("links", "choices"), required=required, help=text)


def settings_of(model: type[inputs.Inputs]) -> list[click.Parameter]:
    """The options of a model, for a command that is made by hand."""
    return [option_of(name, field, field.default) for name, field in model.model_fields.items()]


def _form(endpoint: Endpoint) -> dict[str, Any]:
    """What is sent in place of JSON, by name: `file` is the body itself."""
    if endpoint.form is None:
        return {}
    return {"file": bytes} if endpoint.form is bytes else typing.get_type_hints(endpoint.form)


def _run(endpoint: Endpoint, command: Command, values: dict[str, Any]) -> int:
    """Asks the endpoint with what the command line gives, and prints what it answers; the exit status."""
    options = given_on_line(click.get_current_context())
    client = client_of(command.words[0], values["server"], values["token_file"])
    confirmed, previewed = values.get("confirm", False), values.get("preview", False)
    arguments: dict[str, str] = {}
    for position, usage in enumerate(command.arguments):
        text = options.pop(f"at_{position}", None)
        if text is not None:
            arguments |= dict(zip(usage.strip("[]").lower().split("/"), text.split("/"), strict=True))
    own = {name: value for name, value in options.items() if name not in ("server", "token_file", "confirm", "preview")}
    for name in own.keys() & command.instead.keys():
        return _do_instead(client, command.instead[name], {**arguments, **own})
    if not own and endpoint.status == 200 and endpoint.body and inputs.is_of_changes(endpoint.body):
        raise click.UsageError("nothing to change; give at least one option")
    parts = arguments | {name: _number(client, find, arguments) for name, find in command.finds.items()}
    if command.asks and not confirmed:
        above = client.get(_address(endpoint.address.rpartition("/")[0], parts))
        asks = command.asks
        question = asks.format_map({**above, **arguments}) if isinstance(asks, str) else asks(above, arguments)
        if question and not above.get("stays"):  # else it is refused, whatever the answer
            ask(question)
    everything = {**command.sends, **arguments, **own}
    send = _sender(client, endpoint, _address(endpoint.address, parts) + "/preview" * previewed, everything)
    with _told_by_file({name: value for name, value in own.items() if isinstance(value, Path)}):
        answer = send(confirmed) if confirmed or previewed else after_asking(send)
    if previewed and command.preview is not None:
        click.echo("\n".join([*command.preview(answer), "nothing was written"]))
        return 1 if answer.get("would_be_refused") else 0
    _print(command.done, answer, everything)
    return command.status(answer)


def _do_instead(client: Client, other: Other, values: Mapping[str, Any]) -> int:
    answer = client.post(_address(other.address, values))
    _print(other.done, answer, values)
    return 0


def _sender(client: Client, endpoint: Endpoint, address: str, values: Mapping[str, Any]) -> Callable[[bool], Any]:
    """Sends the request, confirmed or not: arguments of the address, and a body of JSON, a file or a form."""
    query = {name: _as_argument(values[name]) for name in endpoint.arguments if name in values}
    if endpoint.method == "GET":
        read = _all_pages if "page" in endpoint.arguments and "page" not in query else Client.get
        return lambda _: read(client, address, **query)
    if endpoint.form is not None:
        sent = {name: (kind, values[name]) for name, kind in _form(endpoint).items() if values.get(name)}
        texts = {name: str(value) for name, (kind, value) in sent.items() if kind is not bytes}
        files = [(name, value) for name, (kind, value) in sent.items() if kind is bytes]
        content = values["file"] if endpoint.form is bytes else (texts, files)
        return lambda confirmed: client.send(address, content, **query, **({"confirm": "true"} if confirmed else {}))
    if endpoint.body is None:
        return lambda _: client.post(address)
    fields = {name: value for name, value in values.items() if name in endpoint.body.model_fields}
    body = inputs.checked(endpoint.body, fields).model_dump(mode="json", exclude_unset=True)
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


def after_asking(send: Callable[[bool], Any]) -> Any:
    """What is answered to `send(confirmed)`; asks first where that lists what has to be confirmed."""
    try:
        return send(False)
    except (Refused, Unconfirmed) as refused:
        if set(refused.fields) != {"confirm"}:
            raise
        click.echo("\n".join(refused.fields["confirm"]), err=True)
    ask("Go on?")
    return send(True)


def _print(done: Any, answer: Any, values: Mapping[str, Any]) -> None:
    match done:
        case tuple():
            for table in done:
                _print(table, answer, values)
        case Table():
            print_table(done.head, map(done.row, done.rows(answer)), done.empty)
        case Lines():
            for name, text in done.of(answer).items():
                click.echo(f"{name:16}{text}")
        case str():
            click.echo(done.format_map({**(answer if isinstance(answer, dict) else {}), **values}))
        case _:
            click.echo(done(answer, values))


def _number(client: Client, find: Find, arguments: Mapping[str, str]) -> str:
    """The number in the address of what an argument names. Raises NotFound."""
    rows = find.rows(client.get(_address(find.address, arguments)))
    number = next((row[find.number] for row in rows if find.is_meant(row, arguments)), None)
    if number is None:
        raise NotFound(find.lacks.format_map(arguments))
    return str(number)


def _address(address: str, parts: Mapping[str, Any]) -> str:
    return PART.sub(lambda part: quote(str(parts[part["name"]]), safe=""), address)


def client_of(group: str, server: str | None, token_file: Path | None, user: str | None = None) -> Client:
    """Asks the endpoints of a group: at a site as the account of a token, or in this process as the console or as this
    user.
    """
    return client_at(server, token_file) if server is not None else _here(SUBJECTS[group], user)


def _here(subjects: Sequence[str], user: str | None) -> Client:
    """Asks endpoints in this process, on this installation's database. Raises what `up_to_date` does."""
    config = Config.from_environment()
    database = click.get_current_context().with_resource(up_to_date(config))
    with database.read() as session:
        actor = CONSOLE if user is None else actor_of(session, find_user(session, user).id)
    return _InProcess(create_console(config, database, subjects), actor)


class _InProcess(Client):
    """Hands requests to an application as the actor's, in place of a connection."""

    def __init__(self, app: Flask, actor: Actor) -> None:
        super().__init__("http://localhost")
        self._caller, self._actor = Caller(app), actor

    def _ask(
        self,
        path: str,
        arguments: Mapping[str, str] = NOTHING,
        content: Content | None = None,
        head: Mapping[str, str] = NOTHING,
    ) -> Any:
        with tempfile.SpooledTemporaryFile(2**20) as body:
            body.writelines([content] if isinstance(content, bytes) else content or ())
            size = body.tell()
            body.seek(0)
            answer = self._caller.open(
                f"{PREFIX}{path}",
                method="GET" if content is None else "POST",
                query_string=dict(arguments),
                headers={**head, "Content-Length": str(size)},
                input_stream=body,
                environ_overrides={CONSOLE_KEY: self._actor},
            )
            if answer.status_code >= 400:
                raise Refused.of(answer.status_code, answer.data)
            return answer.text if answer.mimetype == "text/plain" else answer.json
