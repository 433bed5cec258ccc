"""What makes the tests quick and changes nothing that they see.

Files lie in memory, a process compiles each template, each route and each statement once, however many sites it makes,
and Python looks seldom for what it could forget.
"""

import gc
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from flask import Flask
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from sqlalchemy import Engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from werkzeug.routing import BaseConverter, Rule
from werkzeug.routing.rules import RulePart

MEMORY = Path("/dev/shm")
ROOM = 3 * 2**30  # bytes: an installed wheel, databases and stores of some processes, several times over


def keep_files_in_memory() -> None:
    """Temporary files, of started programs too, in /dev/shm where there is one with room; TMPDIR names another place.

    A database of PostgreSQL's is some 300 files. On a disk, making and dropping one costs more than most tests.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK | os.X_OK):
        return
    if os.statvfs(MEMORY).f_flag & os.ST_NOEXEC or shutil.disk_usage(MEMORY).free < ROOM:
        return
    os.environ["TMPDIR"] = str(MEMORY)
    tempfile.tempdir = None  # asked anew from here on


class Templates(BytecodeCache):
    """Compiled templates by their source."""

    def __init__(self) -> None:
        self._compiled: dict[tuple[str, str], bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if compiled := self._compiled.get((bucket.key, bucket.checksum)):
            bucket.bytecode_from_string(compiled)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._compiled[bucket.key, bucket.checksum] = bucket.bytecode_to_string()


class OneOfItsKind:
    """A dialect that equals all of its class, so that what one engine has compiled is good for every other."""

    supports_statement_cache = True
    _statements: dict[Any, Any]

    def __init_subclass__(cls) -> None:
        cls._statements = {}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        engine.update_execution_options(compiled_cache=cls._statements)


class SQLite(OneOfItsKind, SQLiteDialect_pysqlite):
    supports_statement_cache = True


class PostgreSQL(OneOfItsKind, PGDialect_psycopg):
    supports_statement_cache = True


Builder = Callable[..., tuple[str, str]]  # of addresses: a function of its rule and the parts


def _build_rules_once() -> None:
    """What werkzeug compiles for building addresses is a function of the rule's text alone: most of a site's making."""
    compiled: dict[tuple[Any, ...], Builder] = {}
    compile_builder: Callable[[Rule, bool], Builder] = Rule._compile_builder

    def once(self: Rule, append_unknown: bool = True) -> Builder:
        key = (self.rule, *self._trace, *sorted((self.defaults or {}).items()), append_unknown)
        if key not in compiled:
            compiled[key] = compile_builder(self, append_unknown)
        return compiled[key]

    Rule._compile_builder = once  # type: ignore[method-assign]  # werkzeug has no place to hand it in


def _parse_rules_once() -> None:
    """What werkzeug parses of a rule, most of what is left, is a function of its text and of the kinds of its parts.

    The sites of a process then share converters, which know the first one's map, and none of them looks at it.
    """
    parsed: dict[tuple[Any, ...], tuple[list[RulePart], list[tuple[bool, str]], dict[str, BaseConverter]]] = {}
    parse: Callable[[Rule, str], Iterable[RulePart]] = Rule._parse_rule

    def once(self: Rule, rule: str) -> Iterable[RulePart]:
        assert self.map is not None
        key = (rule, *self.map.converters.items())
        if key not in parsed:
            trace, converters = self._trace, self._converters
            self._trace, self._converters = [], {}
            parsed[key] = list(parse(self, rule)), self._trace, self._converters
            self._trace, self._converters = trace, converters
        parts, traced, converting = parsed[key]
        self._trace += traced
        self._converters |= converting
        self.arguments |= converting.keys()
        return parts

    Rule._parse_rule = once  # type: ignore[method-assign]  # the same


def compile_once() -> None:
    """For every site and every database of this process from here on."""
    Flask.jinja_options = {"bytecode_cache": Templates()}
    _parse_rules_once()
    _build_rules_once()
    registry.register("sqlite", __name__, SQLite.__name__)
    registry.register("postgresql.psycopg", __name__, PostgreSQL.__name__)


def collect_seldom() -> None:
    """Python's search for objects that only hold each other: what is imported by now is left out, the rest waits.

    As Python does it by itself, with a whole application and its tests in memory, a third of the time goes there.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
