"""What the site and workers log: one line an event, as text or as JSON, and errors that repeat once a minute.

An event has a time in UTC, a level, its logger, a message, and those of FIELDS that are known. A traceback is part of
its event: in text its lines follow, in JSON it is a field.

No address of a client and no argument of an address is logged, nothing behind the beginning of a link that opens
something (`web/requests.py`), and no value of a statement (`hide_parameters` in `db.py`).
"""

import json
import logging
import re
import time
import traceback
from collections.abc import Callable, Hashable, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from typing import Any

from leaderboard.config import Config
from leaderboard.errors import BadInput, Unavailable

# kind: of an outage, whose events all say the same; left_out: how many like it were left out since the last line
FIELDS = (
    "kind", "left_out", "request", "method", "path", "account", "submission", "status", "bytes", "seconds",
)  # fmt: skip
BREAKING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # in text one event must not look like several
MINUTE = 60.0  # seconds between two lines about the same
MOST_KINDS = 1000
Format = Callable[[dict[str, Any]], str]  # what an event says, by name, to what is written

access = logging.getLogger("leaderboard.access")  # one event a request, where it is switched on
_about: ContextVar[Mapping[str, Any]] = ContextVar("what events are about", default={})  # noqa: B039  # replaced, never changed


def begin(**fields: Any) -> None:
    """Sets what events of this thread are about from here on, in place of what was set before."""
    _about.set(fields)


def note(**fields: Any) -> None:
    """Adds to what events of this thread are about."""
    _about.set({**_about.get(), **fields})


def kind_of(error: Unavailable) -> dict[str, str]:
    """The kind of an error whose reason is that a part is away; other errors, as of one damaged file, have none."""
    return {"kind": type(error).__name__} if error.reason else {}


def set_up(config: Config) -> None:
    """Has this process log on stderr, unless something else was set up. Raises BadInput for an unknown format."""
    if config.log not in FORMATS:
        raise BadInput(f"LEADERBOARD_LOG: expected {' or '.join(FORMATS)}, found {config.log!r}")
    logging.basicConfig(level=logging.WARNING, handlers=[Handler(FORMATS[config.log])])
    logging.getLogger("leaderboard").setLevel(logging.INFO)
    access.setLevel(logging.INFO if config.access_log else logging.WARNING)


def event(record: logging.LogRecord) -> dict[str, Any]:
    """All that an event says, by name."""
    moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    known = {**_about.get(), **record.__dict__}
    said = {"time": moment, "level": record.levelname, "logger": record.name, "message": record.getMessage()}
    said.update((name, known[name]) for name in FIELDS if known.get(name) is not None)
    trace = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else record.exc_text
    return {**said, "traceback": trace} if trace else said


def as_text(said: dict[str, Any]) -> str:
    """`TIME LEVEL LOGGER: MESSAGE name=value …`, and the lines of a traceback."""
    fields = (f"{name}={said[name]}" for name in FIELDS if name in said)
    line = " ".join((said["time"], said["level"], f"{said['logger']}:", said["message"], *fields))
    line = BREAKING.sub(lambda character: character[0].encode("unicode_escape").decode(), line)
    return "\n".join((line, *said.get("traceback", "").splitlines()))


FORMATS: Mapping[str, Format] = {"text": as_text, "json": partial(json.dumps, ensure_ascii=False, default=str)}


def relay(log: logging.Logger, line: str, **fields: Any) -> None:
    """Logs an event that another process wrote as JSON, with more fields; any other line as a warning."""
    try:
        said = json.loads(line)
        own = {"name": said["logger"], "msg": said["message"], "exc_text": said.get("traceback")}
        level = {"levelname": said["level"], "levelno": logging.getLevelNamesMapping()[said["level"]]}
    except (ValueError, KeyError, TypeError):
        log.warning("scoring process: %s", line.rstrip(), extra=fields)
    else:
        log.handle(logging.makeLogRecord({**said, **own, **level, **fields}))


class Handler(logging.StreamHandler[Any]):
    """Writes events to stderr; of warnings and errors that are alike one a minute, which says how many were left out.

    Each process counts its own.
    """

    def __init__(self, as_lines: Format) -> None:
        super().__init__()
        self._as_lines = as_lines
        self._repeats: dict[Hashable, tuple[float, int]] = {}  # until when events like it are left out, how many were

    def format(self, record: logging.LogRecord) -> str:
        return self._as_lines(event(record))

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            key, now = _likeness(record), time.monotonic()
            until, left_out = self._repeats.get(key, (now, 0))
            if now < until:
                self._repeats[key] = until, left_out + 1
                return
            if len(self._repeats) > MOST_KINDS:
                self._repeats.clear()
            self._repeats[key] = now + MINUTE, 0
            record.left_out = left_out or None
        super().emit(record)


def _likeness(record: logging.LogRecord) -> Hashable:
    """What events that are alike have in common: the kind of outage, the place of a fault, or all words."""
    if kind := getattr(record, "kind", None):
        return record.name, kind
    if record.exc_info and record.exc_info[2]:
        *_, (frame, line) = traceback.walk_tb(record.exc_info[2])
        return record.exc_info[0], frame.f_code.co_filename, line
    return record.name, record.getMessage(), event(record).get("submission")
