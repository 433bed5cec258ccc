"""Options that several commands have, the types of their values, and what a site listens on."""

import datetime as dt
import math
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from leaderboard.errors import BadInput
from leaderboard.numbers import GRADE_LIMIT, read_number, read_whole

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


def umask() -> int:
    """This process's own."""
    current = os.umask(0o077)
    os.umask(current)
    return current


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
    "--until-stdin-closes", is_flag=True, expose_value=False, callback=_stop_when_stdin_closes,
    help="Stop when standard input closes, too: a pipe from the program that started this one closes when that ends.",
)  # fmt: skip

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


Place = str  # how commands name an evaluation: CAMPAIGN/EVALUATION


class Parts(click.ParamType[str]):
    """A text with as many parts between slashes as its name has, such as CAMPAIGN/EVALUATION."""

    def __init__(self, name: str) -> None:
        self.name = name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value.count("/") != self.name.count("/") or not all(value.split("/")):
            example = "trec-covid/round1" if self.name.startswith("CAMPAIGN") else "a/b"
            self.fail(f"expected {self.name}, like {example}, found {value!r}", param, ctx)
        return str(value)


EVALUATION = Parts("CAMPAIGN/EVALUATION")
PLACE = click.argument("evaluation", metavar=EVALUATION.name, type=EVALUATION)


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


class Number(click.ParamType[float]):
    """A number of a range, written as people do: Python's own would take 1_0 and nan as well."""

    name = "number"

    def __init__(self, least: float = -math.inf, most: float = math.inf) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            number = self.read(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(f"{value!r} is {error}", param, ctx)
        if not self.least <= number <= self.most:
            bounds = f"of at least {self.least:,}" if self.most == math.inf else f"from {self.least:,} to {self.most:,}"
            self.fail(f"give a number {bounds}, not {value}", param, ctx)
        return number

    def read(self, text: str) -> float:
        """Raises ValueError for what is no number."""
        return read_number(text)


class Whole(Number):
    """A whole number of a range."""

    name = "whole number"

    def read(self, text: str) -> int:
        return read_whole(text)


ANY_WHOLE, ANY_NUMBER = Whole(), Number()


class OrNone(click.ParamType[Any]):
    """A value, or the word `none` to take away what was set."""

    def __init__(self, kind: click.ParamType[Any]) -> None:
        self.name = f"{kind.name} or none"
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return None if value == "none" else self._kind.convert(value, param, ctx)


WAIT = click.option(
    "--wait", type=Number(0), default=30.0, show_default=True,
    help="How long to wait for a worker to score it; 0 only queues it.",
)  # fmt: skip


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator, for the commands that share them."""

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


PORT = click.option("--port", type=Whole(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
LEVEL = Whole(1, GRADE_LIMIT)  # of relevance
LEVEL_OPTION = click.option("-l", "--relevance", "level", type=LEVEL, default=1, help="Lowest relevant grade (1).")
COMPAT = click.option(
    "--compat", type=click.Choice([10, 9]), default=10, help="trec_eval's version to agree with (10)."
)
DOCUMENTS = click.option("--documents", type=Whole(1), help="Documents in the collection.")
BETA = click.option("--beta", type=ANY_NUMBER, help="β of Value = 1 − (P_miss + β · P_fa).")
COSTS = together(
    BETA,
    click.option("--cost", type=ANY_NUMBER, help="Cost of a false alarm: β = C/V · (1/P − 1)."),
    click.option("--value", type=ANY_NUMBER, help="Value of a correct detection."),
    click.option("--prior", type=ANY_NUMBER, help="A-priori probability that a document is relevant."),
)
NO_RELEVANT = click.option(
    "--no-relevant", type=click.Choice(["exclude", "pfa_only", "pmiss_zero"]), default="exclude",
    help="Queries without relevant documents, in detection measures (exclude).",
)  # fmt: skip
JUDGING = click.option(
    "--judging", type=click.Choice(["pooled", "complete"]), default="pooled",
    help="What a query without judgments is: left out, or without relevant documents (pooled).",
)  # fmt: skip
QUERIES = together(  # what `score.judged_queries` takes
    JUDGING,
    click.option("--queries", "query_file", type=FILE, help="The evaluation's queries: id, text, tags."),
    click.option("--exclude", "excluded", multiple=True, help="A query that does not count; may be repeated."),
)
DEPTH = click.option("--depth", type=Whole(1), default=1000, show_default=True, help="Documents a query.")
OUT = click.Path(dir_okay=False, path_type=Path)
AT_SERVER = together(
    click.option("--server", envvar="LEADERBOARD_SERVER", metavar="URL", help="Ask this site, through its API."),
    click.option("--token-file", type=FILE, help=f"The file with your API token there (else {TOKEN})."),
)


def given_on_line(context: click.Context) -> dict[str, Any]:
    """What the command line gives, by name, without what has its default."""
    from_line = click.core.ParameterSource.COMMANDLINE
    return {name: value for name, value in context.params.items() if context.get_parameter_source(name) is from_line}


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
