"""Options that several commands have, the types of their values, and what a site listens on.

How commands print: aligned columns, CSV, JSON, figures, a few names out of many.

And bars while something takes long, only where a person is looking.
"""

import csv
import io
import json
import math
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from enum import EnumType
from functools import reduce
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from leaderboard import errors, numbers

if TYPE_CHECKING:
    from leaderboard.client import Client

TOKEN = "LEADERBOARD_TOKEN"  # noqa: S105  # the name of a variable


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises BadInput, saying what to do, when it can't listen there."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason, _, _ = str(error.strerror).partition(" (")  # behind it create_server repeats the address
        raise errors.BadInput(f"can't listen on {host}, port {port}: {reason}; choose another with --port") from error


def address_of(listener: socket.socket) -> str:
    """The URL to type into a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def option(words: str, help: str, type: Any = None, **more: Any) -> Callable[[Any], Any]:  # noqa: A002  # click's names
    """An option of a command. words: its names, and that of the parameter where it is another.

    type  of click, or the values to choose from: a tuple, or an enumeration of texts
    """
    if isinstance(type, EnumType):
        type = tuple(map(str, type))  # noqa: A001  # click would take its names
    kind = click.Choice(type) if isinstance(type, tuple) else type
    return click.option(*words.split(), help=help, type=kind, show_default="default" in more, **more)


def flag(words: str, help: str, **more: Any) -> Callable[[Any], Any]:  # noqa: A002  # the same
    """An option without a value."""
    return click.option(*words.split(), help=help, is_flag=True, **more)


FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def _stop_when_stdin_closes(_context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Sends this process SIGTERM once its standard input has ended."""

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    if wanted:
        threading.Thread(target=wait, daemon=True).start()


UNTIL_STDIN_CLOSES = flag(
    "--until-stdin-closes", "Stop when standard input closes.", expose_value=False, callback=_stop_when_stdin_closes
)


class Reads(click.ParamType[Any]):
    """What a function reads of a text; its ValueError says what is wrong."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name, self._read = name, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self._read(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


def parts(name: str) -> Reads:
    """A text with as many parts between slashes as its name has, such as CAMPAIGN/EVALUATION."""

    def read(text: str) -> str:
        if text.count("/") != name.count("/") or not all(text.split("/")):
            raise ValueError(f"expected {name}, with no other slash, found {text!r}")
        return text

    return Reads(name, read)


EVALUATION = parts("CAMPAIGN/EVALUATION")
PLACE = click.argument("evaluation", type=EVALUATION)


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise ValueError(f"expected KEY=VALUE, like training=yes, found {text!r}")
    return key, value


PAIR = Reads("KEY=VALUE", _pair)  # what is given to a key of a form


def number(
    least: float = -math.inf, most: float = math.inf, read: Callable[[str], float] = numbers.read_number
) -> Reads:
    """A number of a range, written as people do: Python's own would take 1_0 and nan as well."""

    def checked(text: str) -> float:
        try:
            value = read(text)
        except ValueError as error:
            raise ValueError(f"{text!r} is {error}") from None
        if not least <= value <= most:
            raise ValueError(f"give a number from {least:,} to {most:,}, not {text}")
        return value

    return Reads("number", checked)


def whole(least: float = -math.inf, most: float = math.inf) -> Reads:
    """A whole number of a range."""
    return number(least, most, numbers.read_whole)


ANY_NUMBER = number()


def or_none(kind: click.ParamType[Any]) -> Reads:
    """A value, or the word `none` to take away what was set."""
    return Reads(f"{kind.name} or none", lambda text: None if text == "none" else kind.convert(text, None, None))


def _text_of(file: str) -> Any:
    with click.open_file(file, encoding="utf-8-sig") as content:
        return content.read()


TEXT_OF_FILE = Reads("file", _text_of)
WAIT = option("--wait", "How long to wait for a worker to score it; 0 only queues it.", number(0), default=30.0)


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator, for the commands that share them."""

    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


PORT = option("--port", "0 takes a free one.", whole(0, 65535), default=8000)
LEVEL_OPTION = option(
    "-l --relevance --level_for_rel level", "Lowest relevant grade.", whole(1, numbers.GRADE_LIMIT), default=1
)
CUT = option("-M --depth --Max_retrieved_per_topic", "Cut every list after so many documents.", whole(0))
JUDGED_ONLY = flag("-J --judged-only --Judged_docs_only", "Take unjudged documents out of the lists first.")
PER_QUERY = flag("-q --per-query --query_eval_wanted", "Every query too.")
COMPAT = option("--compat", "trec_eval's version to agree with.", (10, 9), default=10)
DOCUMENTS = option("-N --documents --Number_docs_in_coll", "Documents in the collection.", whole(1))
BETA = option("--beta", "β of Value = 1 − (P_miss + β · P_fa).", number(0))
COSTS = together(
    BETA,
    option("--cost", "Cost of a false alarm: β = C/V · (1/P − 1).", ANY_NUMBER),
    option("--value", "Value of a correct detection.", ANY_NUMBER),
    option("--prior", "A-priori probability that a document is relevant.", ANY_NUMBER),
)
NO_RELEVANT = option(
    "--no-relevant", "Queries without relevant documents.", ("exclude", "pfa_only", "pmiss_zero"), default="exclude"
)
JUDGING = option(
    "--judging", "Queries without judgments: left out, or empty.", ("pooled", "complete"), default="pooled"
)
QUERIES = together(  # what `score.judged_queries` takes
    JUDGING,
    option("--queries query_file", "The evaluation's queries: id, text, tags.", FILE),
    option("--exclude excluded", "A query that does not count; may be repeated.", multiple=True),
)
DEPTH = option("--depth", "Documents a query.", whole(1), default=1000)
OUT = click.Path(dir_okay=False, path_type=Path)
AT_SERVER = together(
    option(
        "--server", "Do it at this site, as the account of a token, and not here.",
        envvar="LEADERBOARD_SERVER", metavar="URL",
    ),
    option("--token-file", f"A file with the token; else {TOKEN} has it.", FILE),
)  # fmt: skip


def given_on_line(context: click.Context) -> dict[str, Any]:
    """What the command line gives, by name, without what has its default."""
    from_line = click.core.ParameterSource.COMMANDLINE
    return {name: value for name, value in context.params.items() if context.get_parameter_source(name) is from_line}


def server_on_line(server: str | None) -> str | None:
    """The site, where the command line names it: as made commands, which act here whatever the environment names."""
    return server if "server" in given_on_line(click.get_current_context()) else None


def refuse_if(is_wrong: object, words: str) -> None:
    """Raises UsageError with these words where it is wrong, as options are that don't go together."""
    if is_wrong:
        raise click.UsageError(words)


def ask(question: str) -> None:
    """Goes on only where somebody confirms. Raises BadInput where there is nobody to ask."""
    if not sys.stdin.isatty():
        raise errors.BadInput("there is nobody to ask here; give --confirm to do it without a question")
    click.confirm(question, abort=True, err=True)


def client_at(server: str, token_file: Path | None) -> "Client":
    """Asks a site as the account of the token in the file, else in the environment."""
    from leaderboard.client import Client

    token = token_file.read_text(encoding="utf-8").strip() if token_file else os.environ.get(TOKEN, "").strip()
    if not token:
        raise click.UsageError(f"no token: name its file with --token-file, or put it into {TOKEN}")
    return Client(server, token)


UNDEFINED = "–"
LONG_BYTES = 64 << 20  # less is read before anybody sees a bar


def aligned(rows: Sequence[Sequence[str]], left: Collection[int]) -> str:
    """The rows as lines, the columns of `left` (numbered from 0) flush left and the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """The rows as CSV; None is an empty cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def json_text(document: object) -> str:
    """The document as indented JSON, moments as ISO 8601. NaN and infinity have no place in it: raises ValueError."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False, default=datetime.isoformat) + "\n"


def defined(value: float) -> float | None:
    """The value, or None for NaN, which stands for what is undefined."""
    return None if math.isnan(value) else value


def figure(value: float | None, digits: int = 4) -> str:
    """A value for people; a dash for None and NaN, which are undefined."""
    return UNDEFINED if value is None or math.isnan(value) else f"{value:z.{digits}f}"


def named(names: Sequence[str]) -> str:
    """`q1, q2, …, q10 and 1,234 more`."""
    return numbers.first_of(names, 10)


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
    """Prints the rows below their head. Without a row it prints `empty` on stderr: what to do to get one."""
    lines = [[str(cell) for cell in row] for row in rows]
    if lines:
        click.echo(aligned([head, *lines], range(len(head))), nl=False)
    else:
        click.echo(empty, err=True)


class _Watched(FileIO):
    """A file that reports the bytes read from it."""

    def __init__(self, path: Path, tell: Callable[[int], None]) -> None:
        super().__init__(path)
        self._tell = tell

    def read(self, size: int | None = -1) -> bytes:
        piece = super().read(size) or b""
        self._tell(len(piece))
        return piece

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer) or 0
        self._tell(count)
        return count


@contextmanager
def progress_bar(paths: Sequence[Path]) -> Iterator[Callable[[Path], Path | FileIO]]:
    """Gives a function that opens each of these files; one bar shows how much of all of them was read."""
    total = sum(path.stat().st_size for path in paths)
    if total < LONG_BYTES or not sys.stderr.isatty():
        yield lambda path: path
        return
    with ExitStack() as files, counting_bar(total, "Reading") as tell:
        yield lambda path: files.enter_context(_Watched(path, tell))


@contextmanager
def counting_bar(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """A bar of how many of `total` things are done, where a person is looking. Gives what tells it that more are."""
    with click.progressbar(length=total, label=label, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        yield bar.update
