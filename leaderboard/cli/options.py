"""Options that several commands have, the types of their values, and what a site listens on."""

import datetime as dt
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import click

from leaderboard.errors import BadInput
from leaderboard.numbers import read_number, read_whole

if TYPE_CHECKING:
    from leaderboard.client import Client

TOKEN = "LEADERBOARD_TOKEN"  # noqa: S105  # the name of a variable


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises BadInput, saying what to do, when it can't listen there."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        # create_server's own message repeats the address: only the reason is taken from it.
        own = None if isinstance(error, socket.gaierror) else error.errno
        reason = os.strerror(own) if own is not None else error.strerror
        raise BadInput(f"can't listen on {host}, port {port}: {reason}; choose another with --port") from error


def address_of(listener: socket.socket) -> str:
    """The URL to type into a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def _stop_when_stdin_closes(_context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Sends this process SIGTERM once its standard input has ended."""

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    if wanted:
        threading.Thread(target=wait, daemon=True).start()


UNTIL_STDIN_CLOSES = click.option(
    "--until-stdin-closes",
    is_flag=True,
    expose_value=False,
    callback=_stop_when_stdin_closes,
    help="Stop when standard input closes, too: a pipe from the program that started this one closes when that ends.",
)

Kind = TypeVar("Kind", bound=StrEnum)


class _Moment(click.ParamType[dt.datetime]):
    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dt.datetime:
        if isinstance(value, dt.datetime):
            return value
        try:
            moment = dt.datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"expected a date like 2026-09-30 or 2026-09-30T18:00 (UTC), found {value!r}", param, ctx)
        return moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment


MOMENT = _Moment()


class Place(NamedTuple):
    """How commands name an evaluation: by the slugs of its campaign and its own."""

    campaign: str
    evaluation: str

    def __str__(self) -> str:
        return "/".join(self)


class PlaceType(click.ParamType[Place]):
    """An evaluation, as CAMPAIGN/EVALUATION."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Place:
        slugs = value.split("/")
        if len(slugs) != 2 or not all(slugs):
            self.fail(f"expected CAMPAIGN/EVALUATION, like trec-covid/round1, found {value!r}", param, ctx)
        return Place(*slugs)


PLACE = click.argument("evaluation", metavar="CAMPAIGN/EVALUATION", type=PlaceType())


class _Pair(click.ParamType[tuple[str, str]]):
    """What is given to a key of a form, as words such as KEY=VALUE say."""

    def __init__(self, words: str, example: str, *, may_be_empty: bool) -> None:
        self.name = words.lower()
        self._words, self._example, self._may_be_empty = words, example, may_be_empty

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        key, equals, text = value.partition("=")
        if not key or not equals or not (text.strip() or self._may_be_empty):
            self.fail(f"expected {self._words}, like {self._example}, found {value!r}", param, ctx)
        return key, text


ANSWER = _Pair("KEY=VALUE", "training=yes", may_be_empty=True)
AGREEMENT = _Pair("KEY=VERSION", "terms=2", may_be_empty=False)


class OneOf(click.Choice[Kind]):
    """One of an enumeration's members, by its value; click would take its name."""

    def normalize_choice(self, choice: object, ctx: click.Context | None) -> str:  # noqa: ARG002  # click's signature
        return str(choice)


class _AsWritten(click.ParamType[Any]):
    """Refuses what Python takes for a number and no person does, such as 1_0; the class beside it does the rest."""

    is_whole: ClassVar[bool]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            if isinstance(value, str):
                value = read_whole(value) if self.is_whole else read_number(value)
        except ValueError as error:
            self.fail(f"{value!r} is {error}", param, ctx)
        return super().convert(value, param, ctx)


class Whole(_AsWritten, click.IntRange):
    """A whole number of a range."""

    is_whole = True


class Number(_AsWritten, click.FloatRange):
    """A number of a range."""

    is_whole = False


class _AnyWhole(_AsWritten, type(click.INT)):  # type: ignore[misc]  # click exports its type as an object only
    is_whole = True


class _AnyNumber(_AsWritten, type(click.FLOAT)):  # type: ignore[misc]  # as above
    is_whole = False


ANY_WHOLE, ANY_NUMBER = _AnyWhole(), _AnyNumber()


class OrNone(click.ParamType[Any]):
    """A value, or the word `none` to take away what was set."""

    def __init__(self, kind: click.ParamType[Any]) -> None:
        self.name = f"{kind.name} or none"
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return None if value == "none" else self._kind.convert(value, param, ctx)


WAIT = click.option(
    "--wait",
    type=Number(0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for a worker to score it; 0 only queues it.",
)


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator, for the commands that share them."""

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


LEVEL = Whole(1, 1000)  # of relevance; up to formats.GRADE_LIMIT, which takes long to import
LEVEL_OPTION = click.option(
    "-l", "--relevance", "level", type=LEVEL, default=1, metavar="L", help="Lowest relevant grade (1)."
)
COMPAT = click.option(
    "--compat", type=click.Choice([10, 9]), default=10, help="trec_eval's version to agree with (10)."
)
DOCUMENTS = click.option("--documents", type=Whole(1), metavar="N", help="Documents in the collection.")
BETA = click.option("--beta", type=ANY_NUMBER, metavar="B", help="β of Value = 1 − (P_miss + β · P_fa).")
COSTS = together(
    BETA,
    click.option("--cost", type=ANY_NUMBER, metavar="C", help="Cost of a false alarm: β = C/V · (1/P − 1)."),
    click.option("--value", type=ANY_NUMBER, metavar="V", help="Value of a correct detection."),
    click.option("--prior", type=ANY_NUMBER, metavar="P", help="A-priori probability that a document is relevant."),
)
NO_RELEVANT = click.option(
    "--no-relevant",
    type=click.Choice(["exclude", "pfa_only", "pmiss_zero"]),
    default="exclude",
    help="Queries without relevant documents, in detection measures (exclude).",
)
JUDGING = click.option(
    "--judging",
    type=click.Choice(["pooled", "complete"]),
    default="pooled",
    help="What a query without judgments is: left out, or without relevant documents (pooled).",
)
QUERIES = together(  # what `score.judged_queries` takes
    JUDGING,
    click.option(
        "--queries", "query_file", metavar="FILE", type=FILE, help="The evaluation's queries: id, text, tags."
    ),
    click.option(
        "--exclude", "excluded", multiple=True, metavar="QUERY", help="A query that does not count; may be repeated."
    ),
)
DEPTH = click.option("--depth", type=Whole(1), default=1000, show_default=True, metavar="K", help="Documents a query.")
OUT = click.Path(dir_okay=False, path_type=Path)


def given_on_line(context: click.Context) -> dict[str, Any]:
    """The options on the command line, by name, without those that have their default."""
    return {
        option.name: context.params[option.name]
        for option in context.command.params
        if isinstance(option, click.Option)
        and context.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE
    }


def require_yes(yes: bool, question: str) -> None:
    """Goes on only where it is confirmed: with --confirm, or on the question. Raises BadInput with nobody to ask."""
    if not yes:
        ask(question)


def ask(question: str) -> None:
    """Goes on only where somebody confirms. Raises BadInput where there is nobody to ask."""
    if not sys.stdin.isatty():
        raise BadInput("there is nobody to ask here; give --confirm to do it without a question")
    click.confirm(question, abort=True, err=True)


def client_at(server: str, token_file: Path | None) -> "Client":
    """Asks a site as the account of the token in the file, else in the environment."""
    from leaderboard.client import Client

    token = token_file.read_text(encoding="utf-8").strip() if token_file else os.environ.get(TOKEN, "").strip()
    if not token:
        raise click.UsageError(f"no token: name its file with --token-file, or put it into {TOKEN}")
    return Client(server, token)
