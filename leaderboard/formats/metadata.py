"""What a run says of itself: the comment lines before its first row, and a YAML file beside it.

Read are ir_metadata's block, YAML in comment lines between `# ir_metadata.start` and `# ir_metadata.end`, and every
line `# key: value` outside it; where both name a key, the block's text is taken. What comes out is flat:
`platform.hardware.cpu` and its text. YAML is only ever walked through, event by event: no value is made of it, an alias
is refused (a few lines of them can stand for gigabytes), and depth, number and length are bounded.

M. Breuer, J. Keller, P. Schaer: ir_metadata: An Extensible Metadata Schema for IR Experiments, SIGIR 2022.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from leaderboard.errors import FileRejected
from leaderboard.formats.plain_text import beginning, harmless

HEADER_BYTES = 1 << 16  # of the comment lines, and of a file beside the run
START, END = "ir_metadata.start", "ir_metadata.end"
PAIR = re.compile(r"([A-Za-z][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+){0,3})\s*[:=]\s+(\S.*)")
LONGEST_KEY = 100  # characters
LONGEST_VALUE = 500
MOST_ENTRIES = 200
MOST_EVENTS = 5000
DEEPEST = 20
LISTED = ", "


@dataclass(frozen=True, slots=True)
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
    lines: list[str] = []
    for line in head[:HEADER_BYTES].decode(errors="replace").splitlines():
        if line.strip() and not line.startswith("#"):
            break
        lines.append(line[1:])
    names = [line.strip() for line in lines]
    if START not in names:
        return Metadata(_of_lines(names))
    start = names.index(START)
    if END not in names[start:]:
        return Metadata(_of_lines(names[:start]), f"# {END} is missing")
    end = names.index(END, start)
    block = _of_yaml("\n".join(_outdented(lines[start + 1 : end])))
    entries = block.entries | {
        key: text for key, text in _of_lines([*names[:start], *names[end + 1 :]]).items() if key not in block.entries
    }
    return Metadata(dict(islice(entries.items(), MOST_ENTRIES)), block.problem)


def run_metadata(run: Path, name: str) -> dict[str, str]:
    r"""What the comment lines at the start of a run's file say; of one that can't be read, nothing: that is told where
    its lines are.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     run = Path(folder, "mine.run")
    ...     _ = run.write_text("# team: Alder\nq1 Q0 d7 1 2.5 mine\n")
    ...     run_metadata(run, "mine.run")
    {'team': 'Alder'}
    """
    try:
        head, _ = beginning(run, HEADER_BYTES, name)
    except FileRejected:
        return {}
    return header_metadata(head).entries


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
    if len(content) > HEADER_BYTES:
        return Metadata(problem=f"it is larger than {HEADER_BYTES:,} bytes, the most taken")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Metadata(problem="it is no UTF-8 text")
    return _of_yaml(text)


def _outdented(lines: list[str]) -> Iterable[str]:
    """Without the blank that usually follows the comment sign, where every line has it."""
    full = [line for line in lines if line.strip()]
    return (line[1:] for line in lines) if all(line.startswith(" ") for line in full) else lines


def _add(entries: dict[str, str], key: str, text: str) -> None:
    if len(entries) < MOST_ENTRIES or key in entries:
        key, text = harmless(key, LONGEST_KEY), " ".join(text.split())
        entries[key] = harmless(f"{entries[key]}{LISTED}{text}" if key in entries else text, LONGEST_VALUE)


class _Refused(Exception):
    """Why a YAML text is not read on."""


def _of_yaml(text: str) -> Metadata:
    import yaml  # takes longer than reading most runs, which hold none

    entries: dict[str, str] = {}
    try:
        _walk(text, entries)
    except _Refused as refused:
        return Metadata(entries, str(refused))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        return Metadata(entries, harmless(f"{where}it is no YAML ({getattr(error, 'problem', '') or error})", 200))
    except (ValueError, RecursionError):  # of a number in an escape or a directive
        return Metadata(entries, "it is no YAML")
    return Metadata(entries)


class _Walk:
    """Where in a YAML text one is."""

    def __init__(self) -> None:
        self._path: list[str | None] = []  # of each mapping around: the key at hand; None for a list
        self._awaits_key: list[bool] = []

    @property
    def is_at_key(self) -> bool:
        return bool(self._awaits_key) and self._awaits_key[-1]

    @property
    def key(self) -> str:
        return ".".join(key for key in self._path if key)

    def enter(self, is_mapping: bool) -> None:
        if self.is_at_key:
            raise _Refused("a key is no plain text")
        self._path.append("" if is_mapping else None)
        self._awaits_key.append(is_mapping)
        if len(self._path) > DEEPEST:
            raise _Refused(f"it goes more than {DEEPEST} levels deep, the most read")

    def leave(self) -> None:
        self._path.pop()
        self._awaits_key.pop()
        self.end_value()

    def set_key(self, key: str) -> None:
        self._path[-1], self._awaits_key[-1] = key, False

    def end_value(self) -> None:
        """A value has ended: in a mapping a key comes next."""
        if self._path and self._path[-1] is not None:
            self._awaits_key[-1] = True


def _walk(text: str, entries: dict[str, str]) -> None:
    """Adds what each scalar says under the keys around it."""
    import yaml

    walk = _Walk()
    for number, event in enumerate(yaml.parse(text, Loader=yaml.SafeLoader)):
        if number > MOST_EVENTS:
            raise _Refused(f"it holds more than {MOST_EVENTS:,} things, the most read")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _Refused("it holds an anchor or an alias (& or *), which are not read")
        if isinstance(event, yaml.CollectionStartEvent):
            walk.enter(isinstance(event, yaml.MappingStartEvent))
        elif isinstance(event, yaml.CollectionEndEvent):
            walk.leave()
        elif isinstance(event, yaml.ScalarEvent):
            if walk.is_at_key:
                walk.set_key(event.value)
                continue
            if walk.key and event.value.strip():
                _add(entries, walk.key, event.value)
            walk.end_value()
