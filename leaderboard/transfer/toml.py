"""Writes what a manifest says as TOML; Python reads it."""

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

__all__ = ["value_text", "written"]

LONG = 100  # characters of a list; a longer one has a line for each of its values
BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def written(content: Mapping[str, Any]) -> str:
    """The TOML of nested mappings, sequences of them, texts, numbers, moments, yes or no, and lists of these.

    Reading it gives the same again, with None left out.
    """
    return "\n".join(_table(content, ())).strip() + "\n"


def _table(content: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    for name, value in content.items():
        if value is not None and not _is_table(value) and not _are_tables(value):
            yield f"{_key(name)} = {value_text(value)}"
    for name, value in content.items():
        inner = (*path, name)
        heading = ".".join(map(_key, inner))
        if _is_table(value):
            yield from ("", f"[{heading}]", *_table(value, inner))
        elif _are_tables(value):
            for one in value:
                yield from ("", f"[[{heading}]]", *_table(one, inner))


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _are_tables(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and bool(value) and all(map(_is_table, value))


def _key(name: str) -> str:
    return name if name and BARE.issuperset(name) else _text(name)


def value_text(value: Any) -> str:
    """A value as TOML has it, but for tables."""
    match value:
        case bool():
            return "true" if value else "false"
        case StrEnum():
            return _text(value.value)
        case str():
            return _text(value)
        case int():
            return str(value)
        case float():
            text = repr(value)
            return text if set(text) & set(".en") else f"{text}.0"
        case dt.datetime():
            return value.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")
        case dt.date():
            return value.isoformat()
        case Sequence():
            parts = [value_text(one) for one in value]
            line = f"[{', '.join(parts)}]"
            return line if len(line) <= LONG else "[\n" + "".join(f"  {part},\n" for part in parts) + "]"
        case _:
            raise TypeError(f"no TOML for a {type(value).__name__}")


def _text(text: str) -> str:
    """A basic string. JSON's escapes are TOML's, but for the halves of characters and DEL."""
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted.replace("\x7f", "\\u007f")
