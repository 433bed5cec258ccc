"""The commands that are made from endpoints: words, arguments, options and help come from the endpoint alone.

A command asks its endpoint: in this process and as the console, or at `--server` as an account's token allows. And the
commands of the same groups that are made by hand.
"""

import inspect
import tempfile
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import datetime
from enum import Enum
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, BinaryIO
from urllib.parse import quote

import click
from flask import Flask
from pydantic.fields import FieldInfo
from werkzeug.test import Client as Caller

from leaderboard.access import Actor
from leaderboard.cli import options
from leaderboard.cli.database import actor_named, up_to_date
from leaderboard.cli.options import FILE, ask, given_on_line, print_table, refuse_if
from leaderboard.client import NOTHING, Client, Content, Refused
from leaderboard.config import Config
from leaderboard.declared import inputs
from leaderboard.declared.commands import PART, Command, Table
from leaderboard.errors import NotFound, Unconfirmed
from leaderboard.web.context import CONSOLE_KEY, modules_of
from leaderboard.web.endpoints import ENDPOINTS, PREFIX, Endpoint, create_console

SUBJECTS = {  # where the endpoints of a group are
    "campaign": "campaigns",
    "evaluation": "evaluations",
    "form": "evaluations",
    "judgments": "judgments",
    "queries": "judgments",
    "rescore": "submissions",
    "submission": "submissions",
    "system": "teams",
    "team": "teams",
    "submit": "submissions results",
    "export": "transfer",
    "trail": "audit",
}
BY_HAND = {"submission fetch": "submissions:fetch"}  # commands that no endpoint makes: where they are


def group(name: str, about: str) -> click.Command:
    """All commands whose words begin with this one's; where there is no such group, the command of this name."""
    modules_of("api", *SUBJECTS[name].split())
    commands = {
        " ".join(command.words): _command(endpoint, command)
        for endpoint in ENDPOINTS
        if endpoint.command is not None
        for command in (endpoint.command, *endpoint.command.also)
        if command.words[0] == name
    }
    if name in commands:
        return commands[name]
    for words, where in BY_HAND.items():
        if words.startswith(f"{name} "):
            commands[words] = resolve_name(f"leaderboard.cli.{where}")
    top = click.Group(name, help=about)
    for words, command in commands.items():
        parent, (*inner, last) = top, words.split()[1:]
        for word in inner:
            parent = typing.cast(click.Group, parent.commands.setdefault(word, click.Group(word, help=f"Its {word}s.")))
        parent.add_command(command, last)
    return top


def _command(endpoint: Endpoint, command: Command) -> click.Command:
    about, _, _ = str(endpoint.function.__doc__).partition("\f")  # what follows is for programs
    made: click.Command = options.AT_SERVER(
        click.Command(
            command.words[-1],
            callback=lambda **_: _run(endpoint, command),
            params=[*_parameters(endpoint, command)],
            help=f"{inspect.cleandoc(about)}\n\n\b\nleaderboard {' '.join(command.words)} {command.example}".rstrip(),
            short_help=endpoint.words[0],
        )
    )
    return made


def _parameters(endpoint: Endpoint, command: Command) -> Iterator[click.Parameter]:
    form, fields = _form(endpoint), endpoint.body.model_fields if endpoint.body else {}
    hidden = {"confirm", *command.without}
    for position, usage in enumerate(command.arguments):
        bare, required = usage.strip("[]…"), "[" not in usage
        name = bare.lower()
        hidden |= set(name.split("/"))
        if "…" in usage:
            yield click.Argument([name], metavar=usage, nargs=-1, required=required)
        elif form.get(name) is bytes:
            yield click.Argument([name], metavar=bare, type=FILE, required=required)
        else:
            kind = options.whole(1) if f"<int:{name}>" in endpoint.address else options.parts(bare)
            yield click.Argument([f"at_{position}"], metavar=bare, type=kind, required=required)
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
        yield click.Option(
            [f"--{name}"], type=options.whole(1) if numbered else None, is_flag=not numbered, help=other.help
        )
    if command.asks or "confirm" in {**fields, **endpoint.arguments}:
        yield click.Option(["--confirm"], is_flag=True, help="Don't ask first.")
    if command.preview is not None:
        yield click.Option(["--preview"], is_flag=True, help="Say what it would change, and write nothing.")


def option_of(name: str, field: FieldInfo, default: Any) -> click.Option:
    """The option of a field of a body: its text is read by the body's own model, which tells all errors at once."""
    kinds, shown = inputs.kinds_of(field.annotation), inputs.shown_of(field)
    words = shown.option or f"--{name.replace('_', '-')}"
    default = default.value if isinstance(default, Enum) else default
    label = f"{field.title}. {(field.description or '').replace('Left empty, ', 'With none ')}".strip()
    text = f"{label.removesuffix('.')}."
    if isinstance(default, int | str) and default not in (True, False, ""):
        text += f" (default: {default})"
    more: dict[str, Any] = {"help": f"{text} (required)" if field.is_required() else text}
    if bool in kinds:
        either = shown.option or f"{words}/--no-{words.removeprefix('--')}"
        return click.Option([either, name], is_flag=True, default=None, **more)
    named = {int: "whole number", float: "number", datetime: "date"}
    kind = options.Reads(next((named[own] for own in kinds if own in named), "text"), str)
    if shown.is_file:
        kind = options.TEXT_OF_FILE
    if choices := inputs.choices_of(kinds):
        more["metavar"] = f"[{'|'.join(map(inputs.as_text, choices))}]"
    kind = options.or_none(kind) if types.NoneType in kinds else kind
    return click.Option([words, name], type=kind, multiple=name in ("links", "choices", "unite"), **more)


def settings_of(model: type[inputs.Inputs]) -> list[click.Parameter]:
    """The options of a model, for a command that is made by hand."""
    return [option_of(name, field, field.default) for name, field in model.model_fields.items()]


def _form(endpoint: Endpoint) -> dict[str, Any]:
    """What is sent in place of JSON, by name: `file` is the body itself."""
    if endpoint.form is None:
        return {}
    return {"file": bytes} if endpoint.form is bytes else typing.get_type_hints(endpoint.form)


def _run(endpoint: Endpoint, command: Command) -> int:
    """Asks the endpoint with what the command line gives, and prints what it answers; the exit status."""
    own = given_on_line(click.get_current_context())
    server, token_file, confirmed, previewed = map(own.pop, OF_ALL, (None, None, False, False))
    client = client_of(command.words[0], server, token_file)
    arguments: dict[str, str] = {}
    for position, usage in enumerate(command.arguments):
        if text := own.pop(f"at_{position}", None):
            arguments |= zip(usage.strip("[]").lower().split("/"), str(text).split("/"), strict=True)
    instead = own.keys() & command.instead.keys()
    refuse_if(len(instead) > 1, f"give one of {', '.join(f'--{name}' for name in sorted(instead))}")
    for name in instead:
        other, everything = command.instead[name], {**arguments, **own}
        _print(other.done, client.post(_address(other.address, everything)), everything)
        return 0
    changes = endpoint.status == 200 and endpoint.body is not None and inputs.is_of_changes(endpoint.body)
    refuse_if(changes and not own, "nothing to change; give at least one option")
    places = dict(arguments)
    for name, find in command.finds.items():
        number = find.of(client.get(_address(find.address, arguments)), arguments)
        if number is None:
            raise NotFound(find.lacks.format_map(arguments))
        places[name] = str(number)
    if command.asks and not confirmed:
        above = client.get(_address(endpoint.address.rpartition("/")[0], places))
        asks = command.asks
        question = asks.format_map({**above, **arguments}) if isinstance(asks, str) else asks(above, arguments)
        if question and not above.get("stays"):  # else it is refused, whatever the answer
            ask(question)
            confirmed = True  # the question named what goes
    everything = {**command.sends, **arguments, **own}
    send = _sender(client, endpoint, _address(endpoint.address, places) + "/preview" * previewed, everything)
    answer = after_asking(send, confirmed)
    if previewed and command.preview is not None:
        click.echo("\n".join([*command.preview(answer), "nothing was written"]))
        return 1 if answer.get("would_be_refused") else 0
    _print(command.done, answer, everything)
    return command.status(answer)


OF_ALL = ("server", "token_file", "confirm", "preview")  # options that are no part of what is sent


def _sender(client: Client, endpoint: Endpoint, address: str, values: Mapping[str, Any]) -> Callable[[bool], Any]:
    """Sends the request, confirmed or not: arguments of the address, and a body of JSON, a file or a form."""
    asked = {name: values[name] for name in endpoint.arguments if name in values}
    query = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in asked.items()}
    if endpoint.method == "GET":
        read = _all_pages if "page" in endpoint.arguments and "page" not in query else Client.get
        return lambda _: read(client, address, **query)
    if endpoint.form is not None:
        kinds = _form(endpoint)
        sent = {name: values[name] for name in kinds if values.get(name)}
        texts = {name: str(value) for name, value in sent.items() if kinds[name] is not bytes}
        files = [(name, value) for name, value in sent.items() if kinds[name] is bytes]
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


def after_asking(send: Callable[[bool], Any], confirmed: bool) -> Any:
    """What is answered to `send(confirmed)`; asks first where that lists what has to be confirmed."""
    try:
        return send(confirmed)
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
        case str():
            click.echo(done.format_map({**(answer if isinstance(answer, dict) else {}), **values}))
        case _:
            click.echo(done(answer, values))


def _address(address: str, places: Mapping[str, Any]) -> str:
    return PART.sub(lambda part: quote(str(places[part["name"]]), safe=""), address)


def client_of(group: str, server: str | None, token_file: Path | None, user: str | None = None) -> Client:
    """Asks the endpoints of a group: at a site as the account of a token, or in this process, on this installation's
    database, as the console or as this user. Raises what `up_to_date` does.
    """
    if server is not None:
        return options.client_at(server, token_file)
    refuse_if(token_file, "--token-file goes with --server; on this installation itself no token is needed")
    config = Config.from_environment()
    database = click.get_current_context().with_resource(up_to_date(config))
    with database.read() as session:
        actor = actor_named(session, user)
    return _InProcess(create_console(config, database, SUBJECTS[group].split()), actor)


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
        into: BinaryIO | None = None,
    ) -> Any:
        with tempfile.SpooledTemporaryFile(2**24) as body:
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
            if into is not None:
                with closing(answer):
                    return into.writelines(answer.iter_encoded())
            return answer.text if answer.mimetype == "text/plain" else answer.json
