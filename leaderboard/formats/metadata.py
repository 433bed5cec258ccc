"""What a run says of itself: the comment lines before its first row, and a YAML file beside it.

Read are ir_metadata's block, YAML in comment lines between `# ir_metadata.start` and `# ir_metadata.end`, and every
line `# key: value` outside it; where both name a key, the block's text is taken. What comes out is flat:
`platform.hardware.cpu` and its text. Of YAML texts, lists and mappings are made and nothing else; an alias is refused
(a few lines of them can stand for gigabytes), and depth, number and length are bounded. Time series, which trackers of
resources write by the thousand, are skipped, and don't count.

M. Breuer, J. Keller, P. Schaer: ir_metadata: An Extensible Metadata Schema for IR Experiments, SIGIR 2022.
"""

import re
from collections.abc import Iterable
from dataclasses import field
from itertools import islice, takewhile
from textwrap import dedent
from typing import Any

from leaderboard.formats.plain_text import harmless
from leaderboard.frozen import frozen

HEADER_BYTES = 1 << 16  # of the comment lines, and of a file beside the run without its time series
SIDE_BYTES = 1 << 22  # of a file beside the run
START, END = "ir_metadata.start", "ir_metadata.end"
PAIR = re.compile(r"([A-Za-z][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+){0,3})\s*[:=]\s+(\S.*)")
LONGEST_KEY = 100  # characters
LONGEST_VALUE = 500
MOST_ENTRIES = 200
DEEPEST = 20
MOST_TOKENS = 20_000
OPENING = {"<block sequence start>", "<block mapping start>", "[", "{"}
CLOSING = {"<block end>", "]", "}"}
LISTED = ", "
# Numbers or moments, each perhaps with a unit, more than 20 in a row: between brackets, or one a line. Possessive, so
# that no text takes longer than its length.
POINT = r"""["']?+(?:[-+]?+[0-9][0-9.eE+:TZ -]{0,40}+[A-Za-zµ%]{0,3}+|null)["']?+[ \t]*+"""
SERIES = re.compile(
    rf"\[(?:\s*+{POINT},){{20,}}+\s*+(?:{POINT})?+\s*+\]|(?:^[ ]*+- ++{POINT}\r?+(?:\n|\Z)){{21,}}+", re.M
)


@frozen
class Metadata:
    """What a run says of itself.

    entries  key -> text, in the order of the file, a block's first
    problem  why it, or the rest of it, could not be read; "": nothing is wrong
    """

    entries: dict[str, str] = field(default_factory=dict)
    problem: str = ""


def header_metadata(head: bytes) -> Metadata:
    r"""What the comment lines at the start of a file say.

    head  the start of the file; lines from the first that is no comment on are not looked at

    >>> header_metadata(b"# team: Alder\n# about the run\nq1 Q0 d7 1 2.5 mine\n").entries
    {'team': 'Alder'}
    """
    text = head[:HEADER_BYTES].decode(errors="replace")
    lines = [line[1:] for line in takewhile(lambda line: not line.strip() or line[0] == "#", text.splitlines())]
    names = [line.strip() for line in lines]
    if START not in names:
        return Metadata(_of_lines(names))
    start = names.index(START)
    if END not in names[start:]:
        return Metadata(_of_lines(names[:start]), f"# {END} is missing")
    end = names.index(END, start)
    block = _of_yaml(_without_series(dedent("\n".join(lines[start + 1 : end]))))
    entries = block.entries | _of_lines([*names[:start], *names[end + 1 :]]) | block.entries
    return Metadata(dict(islice(entries.items(), MOST_ENTRIES)), block.problem)


def _of_lines(lines: Iterable[str]) -> dict[str, str]:
    """What lines of a key and a value say."""
    entries: dict[str, str] = {}
    for line in lines:
        if pair := PAIR.fullmatch(line):
            _add(entries, pair[1].lower(), pair[2])
    return entries


def side_metadata(content: bytes) -> Metadata:
    r"""What a YAML file beside the run says.

    >>> side_metadata(b"method:\n  retrieval: [bm25, monoT5]\n").entries
    {'method.retrieval': 'bm25, monoT5'}
    """
    if len(content) > SIDE_BYTES:
        return Metadata(problem=f"it is larger than {SIDE_BYTES:,} bytes, the most taken")
    try:
        text = _without_series(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Metadata(problem="it is no UTF-8 text")
    if len(text) > HEADER_BYTES:
        return Metadata(
            problem=f"without its time series it is longer than {HEADER_BYTES:,} characters, the most taken"
        )
    return _of_yaml(text)


def _without_series(text: str) -> str:
    """YAML with an empty list, or nothing, in place of each time series; its lines keep their numbers."""
    return SERIES.sub(lambda series: "[]" * (series[0][0] == "[") + "\n" * series[0].count("\n"), text)


def _add(entries: dict[str, str], key: str, text: str) -> None:
    if len(entries) < MOST_ENTRIES or key in entries:
        key, text = harmless(key, LONGEST_KEY), " ".join(text.split())
        entries[key] = harmless(f"{entries[key]}{LISTED}{text}" if key in entries else text, LONGEST_VALUE)


def _of_yaml(text: str) -> Metadata:
    try:
        import yaml  # takes longer than reading most runs, which hold none
    except ModuleNotFoundError:  # in a plain install: it is no part of what is scored
        return Metadata(problem="reading it needs PyYAML")
    try:
        depth = 0
        for number, token in enumerate(yaml.scan(text)):
            depth += token.id in OPENING
            depth -= token.id in CLOSING
            if number > MOST_TOKENS or depth > DEEPEST or token.id in ("<alias>", "<anchor>"):
                return Metadata(problem="it holds an anchor or an alias (& or *), or too many things or levels")
        entries: dict[str, str] = {}
        _add_all(entries, "", yaml.load(text, Loader=yaml.BaseLoader))  # noqa: S506  # texts, lists and mappings only
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        return Metadata(problem=harmless(f"{where}it is no YAML ({getattr(error, 'problem', error)})", 200))
    except (ValueError, RecursionError):  # such as a number in an escape or a directive
        return Metadata(problem="it is no YAML")
    return Metadata(entries)


def _add_all(entries: dict[str, str], key: str, value: Any) -> None:
    """Adds what each text says under the keys around it."""
    if isinstance(value, dict):
        for name, inside in value.items():
            if name != "timeseries":  # a short one
                _add_all(entries, f"{key}.{name}" if key and name else key or name, inside)
    elif isinstance(value, list):
        for inside in value:
            _add_all(entries, key, inside)
    elif key and value.strip():
        _add(entries, key, value)
