"""What a manifest says of a campaign: declared records, read from TOML with every problem at its place, and written.

The files of a folder or an archive go by their paths; an archive's lie in a private folder under numbers meanwhile.
"""

import contextlib
import datetime as dt
import hashlib
import os
import re
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import pydantic
import tomli_w

from leaderboard.campaigns.inputs import CampaignSettings
from leaderboard.campaigns.rules import Visibility
from leaderboard.declared.inputs import Inputs, Line, kinds_of, text_of, words_of
from leaderboard.errors import BadInput, FileRejected, Problem
from leaderboard.evaluations.inputs import EvaluationSettings, FileRuleChanges, FormFieldSettings
from leaderboard.evaluations.rules import ASSESSORS
from leaderboard.formats import Limits, is_archive_file, members, open_plain
from leaderboard.formats.plain_text import harmless, shown
from leaderboard.names import name_key, slug_of
from leaderboard.submissions.inputs import LONGEST_LABEL, Past, PastRun
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams.inputs import SystemSettings

MOST_FILES = 200_000  # of a folder
PIECE = 1 << 20


@dataclass
class Tree:
    """Files by their paths, parted by /, in the order of these.

    name    what messages call it
    limits  of all that is unpacked from archives, and of each file of queries or judgments
    files   path -> where it lies on this machine
    top     the folder that all files of an archive lie in, which no path names
    """

    name: str
    limits: Limits
    _folder: Path
    files: dict[str, Path] = field(default_factory=dict)
    top: str = ""

    def file(self, path: str) -> Path:
        """Raises BadInput for a path that is not there."""
        file = self.files.get(path.removeprefix("./"))
        if file is None:
            raise BadInput(f"{self.name} has no file {shown(path)}: give a path in it, parted by /")
        return file

    def unpack(self, path: str) -> None:
        """Adds the files of an archive that is in the tree: `a.zip/2025/run` is the file 2025/run of a.zip.

        Raises FileRejected for a hostile or damaged one, and for more than all may have together, and BadInput where it
        is not there.
        """
        file = self.file(path)
        if not any(known.startswith(f"{path}/") for known in self.files):
            self.add(file, path, f"{path}/")

    def add(self, archive: Path, name: str, before: str) -> None:
        """Adds the files of an archive, with `before` in front of their paths. name: what messages call it."""
        left = self.limits.expanded_bytes - sum(file.stat().st_size for file in self._folder.iterdir())
        for member in members(archive, limits=replace(self.limits, expanded_bytes=left), name=name):
            path = self._folder / f"{len(self.files):06}"  # each path is there once, and none is unpacked twice
            with path.open("wb") as target:
                while piece := member.content.read(PIECE):
                    target.write(piece)
            self.files[before + member.path] = path


@contextmanager
def open_tree(source: Path, limits: Limits | None = None, name: str | None = None) -> Iterator[Tree]:
    """The files of a folder, or of an archive; archives within stay closed until `unpack`. name: what messages call it.

    Raises BadInput for what is neither and for a folder of too many files, and FileRejected as `formats.archives` does.
    """
    with tempfile.TemporaryDirectory(prefix="leaderboard-import-") as folder:
        tree = Tree(name or source.name, limits or Limits(), Path(folder))
        if source.is_dir():
            tree.files = _of_folder(source)
        elif is_archive_file(source):
            tree.add(source, tree.name, "")
            common = os.path.commonpath([PurePosixPath(path).parent for path in tree.files]) if tree.files else ""
            if common:  # archives of a folder have its name before every path
                tree.top = PurePosixPath(common).name
                tree.files = {path.removeprefix(f"{common}/"): file for path, file in tree.files.items()}
        else:
            raise BadInput(f"the file {name or source} is neither a folder nor an archive (.zip, .tar, .tar.gz)")
        yield tree


def _of_folder(folder: Path) -> dict[str, Path]:
    """Its files, sorted; hidden folders, what lies behind links of folders, and links that lead out are left out."""
    files: dict[str, Path] = {}
    within = folder.resolve()
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(parent, name) for name in names):
            if path.is_file() and (not path.is_symlink() or path.resolve().is_relative_to(within)):
                files[path.relative_to(folder).as_posix()] = path
        if len(files) > MOST_FILES:
            raise BadInput(f"{folder} has more than {MOST_FILES:,} files; name a folder further down")
    return dict(sorted(files.items()))


def hash_of_text(path: Path, kind: str) -> str:
    """Of a file's text unpacked: a publisher may have hashed a run before it was gzipped."""
    with open_plain(path) as text:
        return hashlib.file_digest(text, lambda: hashlib.new(kind, usedforsecurity=False)).hexdigest()


NAME = "manifest.toml"
NONE = "none"  # in a manifest the word for no value where there would be one otherwise
MOST_BYTES = 32 * 2**20
MOST_PROBLEMS = 100
MOST_COMPARISONS = 2_000_000  # of a path with a pattern: seconds
PLACEHOLDER = re.compile(r"\{([a-z]+)\}")
# In a pattern that is escaped: a wildcard, the text up to the next one, and whether a part of the path ends there.
WILDCARD = re.compile(r"(?:\\\{([a-z]+)\\\}|\\\*)((?:(?!\\[{*])[^/])*)(?=(/|\Z))?")
CAPTURED = ("team", "system", "tag", "label", "version")  # what a pattern may take from a path
ENDINGS = (".gz", ".txt", ".run", ".res", ".tsv", ".csv", ".jsonl", ".tgz", ".trec", ".zip", ".tar", ".judged")
LABELS = ("slug", "file", "files", "name", "query", "key")  # by which a person finds a table of a list


def _in_utc(value: Any) -> Any:
    """A day of TOML as its midnight; a moment without a zone is one of UTC."""
    if type(value) is dt.date:
        value = dt.datetime.combine(value, dt.time())
    is_naive = isinstance(value, dt.datetime) and value.tzinfo is None
    return value.replace(tzinfo=dt.UTC) if is_naive else value


TreePath = Annotated[str, pydantic.AfterValidator(lambda path: path.removeprefix("./"))]
Nullable = Annotated[
    Any,
    pydantic.BeforeValidator(lambda value: None if value == NONE else value),
    pydantic.PlainSerializer(lambda value: NONE if value is None else value),
]


class Entry(pydantic.BaseModel):
    """A table of the manifest, which has no key but those that are declared."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, populate_by_name=True, serialize_by_alias=True)
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @pydantic.model_validator(mode="before")
    @classmethod
    def _in_utc(cls, values: Any) -> Any:
        return {name: _in_utc(value) for name, value in values.items()} if isinstance(values, dict) else values

    def settings(self, names: Iterable[str]) -> dict[str, Any]:
        """Those of these fields that were given."""
        return {name: getattr(self, name) for name in names if name in self.model_fields_set}


Record = TypeVar("Record", bound=Entry)


def with_settings(inputs: type[Inputs], *without: str) -> Callable[[type[Record]], type[Record]]:
    """Adds to a record the settings that it does not declare itself: what is written by them checks their values."""

    def add(record: type[Record]) -> type[Record]:
        fields: Any = {
            name: (Nullable if NoneType in kinds_of(field.annotation) else Any, field.default)
            for name, field in inputs.model_fields.items()
            if name not in {*record.model_fields, *without}
        }
        return pydantic.create_model(record.__name__, __base__=record, **fields)

    return add


@with_settings(FormFieldSettings)
class FieldEntry(Entry):
    key: Line


@with_settings(FileRuleChanges)
class FileRulesEntry(Entry):
    pass


@with_settings(CampaignSettings)
class CampaignEntry(Entry):
    slug: Line
    title: Line
    visibility: Visibility = Visibility.DRAFT
    measures: list[str] = []
    simulated: bool = False


class NamedEntry(Entry):
    """A team or a system, by any of its spellings."""

    name: Line
    slug: Line = ""
    spellings: list[str] = []

    @property
    def keys(self) -> dict[str, str]:
        """What it is recognised by, and the name that is so."""
        return {name_key(name): name for name in (*self.spellings, self.slug, self.name) if name}


@with_settings(SystemSettings)
class SystemEntry(NamedEntry):
    kind: SystemKind = SystemKind.AUTOMATIC


class TeamEntry(NamedEntry):
    """known: a team of this name that is here, and has members, is known to be this one."""

    description: str = ""
    known: bool = False
    system: list[SystemEntry] = []


class JudgmentsEntry(Entry):
    """A revision. released: when it was given out; since: when boards began to use it."""

    file: TreePath
    note: str = ""
    known: TreePath = ""
    subtopics: TreePath = ""
    source: str = ""
    released: Past | None = None
    since: Past | None = None


class ExcludedEntry(Entry):
    query: Annotated[str, text_of(4000)]
    because: str
    date: Past | None = None


class AgreementEntry(Entry):
    key: str
    title: str
    text: str
    ended: bool = False


@with_settings(PastRun, "stand")
class RunEntry(Entry):
    """A run. team, system: as they are spelled there; md5, sha256: what its publisher says of the file."""

    file: TreePath
    team: Line = ""
    system: Line = ""
    kind: SystemKind | None = None
    label: Line = ""
    run_at: Past | None = pydantic.Field(None, alias="date")
    received_at: Past | None = pydantic.Field(None, alias="received")
    scored_at: Past | None = pydantic.Field(None, alias="scored")
    md5: Annotated[str, pydantic.StringConstraints(to_lower=True, pattern=r"(?i)^([0-9a-f]{32})?$")] = ""
    sha256: Annotated[str, pydantic.StringConstraints(to_lower=True, pattern=r"(?i)^([0-9a-f]{64})?$")] = ""
    rejected: bool = False

    @property
    def name(self) -> str:
        """What the manifest calls it, else the name of its file."""
        return self.label if "label" in self.model_fields_set else label_of_file(self.file)


class ManyEntry(RunEntry):
    """Runs by a pattern of their paths, such as `input.{tag}.gz`, with what holds for all of them."""

    file: TreePath = ""
    files: TreePath

    @pydantic.model_validator(mode="after")
    def _known_names(self) -> "ManyEntry":
        if unknown := set(PLACEHOLDER.findall(self.files)) - {*CAPTURED}:
            raise ValueError(f"files: there is no {{{min(unknown)}}}; write * or one of {', '.join(CAPTURED)}")
        return self

    def of(self, path: str, taken: Mapping[str, str]) -> RunEntry:
        """The run in a file that the pattern fits, with what it takes from the path put into the texts."""
        values = {name: getattr(self, name) for name in self.model_fields_set - {"files"}}
        for name, value in values.items():
            if type(value) is str:
                values[name] = PLACEHOLDER.sub(lambda part: taken.get(part[1], part[0]), value)
        own = {name: taken[name] for name in taken if name != "tag"}
        tagged = dict.fromkeys(("system", "label"), taken["tag"]) if "tag" in taken else {}
        return RunEntry.model_construct(**(tagged | own | values | {"file": path}))


@with_settings(EvaluationSettings)
class EvaluationEntry(Entry):
    """An evaluation; without `queries` and `query_ids` its queries are those that are judged."""

    slug: Line = ""
    title: Line = ""
    period: Line
    official_source: Line = ASSESSORS
    set_aside: list[str] = []
    queries: TreePath = ""
    query_ids: list[str] = []
    hidden: list[str] = []
    excluded: list[ExcludedEntry] = []
    judgments: Annotated[
        list[JudgmentsEntry],
        pydantic.BeforeValidator(lambda value: [{"file": value}] if isinstance(value, str) else value),
    ] = []
    field: list[FieldEntry] = []
    agreement: list[AgreementEntry] = []
    file_rules: FileRulesEntry = FileRulesEntry()
    document_list: TreePath = ""
    run: list[RunEntry] = []
    runs: list[ManyEntry] = []

    @pydantic.field_validator("opens_at", "closes_at", "anonymous_until", mode="before", check_fields=False)
    @classmethod
    def _of_text(cls, value: Any) -> Any:
        """A moment in quotes without a zone is one of UTC too; what is none is told with the other settings."""
        with contextlib.suppress(TypeError, ValueError):
            return _in_utc(dt.datetime.fromisoformat(value))
        return value

    @pydantic.model_validator(mode="after")
    def _named(self) -> "EvaluationEntry":
        if not self.address:
            raise ValueError("slug: is missing")
        return self

    @property
    def address(self) -> str:
        return self.slug or slug_of(self.title)


class Manifest(Entry):
    """A whole one. archives: paths of archives whose files are meant too."""

    archives: list[TreePath] = []
    campaign: CampaignEntry
    team: list[TeamEntry] = []
    evaluation: list[EvaluationEntry] = []

    @pydantic.model_validator(mode="after")
    def _once(self) -> "Manifest":
        named = [("team", key, name) for team in self.team for key, name in team.keys.items()]
        named += [("evaluation", entry.address, entry.address) for entry in self.evaluation]
        times = Counter((word, key) for word, key, _ in named)
        if twice := next(((word, name) for word, key, name in reversed(named) if times[word, key] > 1), None):
            raise ValueError(f"{twice[0]} {shown(twice[1])}: is there twice")
        return self

    @cached_property
    def _teams(self) -> dict[str, TeamEntry]:
        return {key: team for team in self.team for key in team.keys}

    def team_called(self, spelled: str) -> TeamEntry:
        """The team that somebody called so; one that the manifest does not list has this name."""
        return self._teams.get(name_key(spelled)) or TeamEntry(name=spelled)

    def runs(self, tree: Tree) -> tuple[list[tuple[EvaluationEntry, RunEntry]], list[str]]:
        """The runs that it means, with their evaluations, and the files of the tree that it says nothing of.

        A file that an entry of its own names is none of a pattern's, and of two patterns the first has it. Raises
        BadInput where there are too many patterns for so many files.
        """
        patterns = sum(len(evaluation.runs) for evaluation in self.evaluation)
        if patterns * len(tree.files) > MOST_COMPARISONS:
            raise BadInput(
                f"{patterns:,} patterns for {len(tree.files):,} files are too many: name each run by its file"
            )
        named = {NAME, *self.archives}
        for evaluation in self.evaluation:
            named |= {evaluation.queries, evaluation.document_list, *(run.file for run in evaluation.run)}
            named |= {path for entry in evaluation.judgments for path in (entry.file, entry.known, entry.subtopics)}
        left = [path for path in tree.files if path not in named]
        runs: list[tuple[EvaluationEntry, RunEntry]] = []
        for evaluation in self.evaluation:
            runs += [(evaluation, run) for run in evaluation.run]
            for pattern in evaluation.runs:
                taken = {path: parts for path in left if (parts := match(pattern.files, path)) is not None}
                runs += [(evaluation, pattern.of(path, parts)) for path, parts in taken.items()]
                left = [path for path in left if path not in taken]
        return runs, left


def read_manifest(content: bytes | Path, name: str = NAME) -> Manifest:
    """Reads a manifest. Raises FileRejected with every problem at its place, such as "evaluation 2 (round1), title"."""
    if isinstance(content, Path):
        with content.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise FileRejected([Problem(None, f"is larger than {MOST_BYTES:,} bytes")], name=name)
    try:
        tables = tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # no UTF-8, no TOML, a number of too many digits
        line = re.search(r"\(at line (\d+), column \d+\)", str(error))
        message = harmless(str(error).partition(" (at ")[0], 300)
        raise FileRejected([Problem(int(line[1]) if line else None, f"is no TOML: {message}")], name=name) from None
    try:
        return Manifest.model_validate(tables)
    except pydantic.ValidationError as error:
        problems = [Problem(None, problem) for problem in _problems(error, tables)]
        raise FileRejected(problems[:MOST_PROBLEMS], len(problems), name) from None


def _problems(error: pydantic.ValidationError, value: Any) -> Iterator[str]:
    for wrong in error.errors(include_url=False):
        yield ": ".join(filter(None, (_place(wrong["loc"], value), words_of(wrong))))


def _place(path: tuple[int | str, ...], value: Any) -> str:
    """The path of a value in words: `evaluation 2 (round1), run 3 (a.txt), date`."""
    words: list[str] = []
    for part in path:
        if isinstance(part, int) and words:
            value = value[part] if isinstance(value, list) else None
            label = next((value[name] for name in LABELS if isinstance(value, dict) and value.get(name)), "")
            words[-1] += f" {part + 1} ({shown(label)})" if isinstance(label, str) and label else f" {part + 1}"
        else:
            value = value.get(part) if isinstance(value, dict) else None
            words.append(shown(str(part)))
    return ", ".join(words)


def written(manifest: Mapping[str, Any]) -> str:
    """The TOML of a manifest's tables, with None left out."""
    return tomli_w.dumps(_without_none(manifest), multiline_strings=False)


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_none(part) for name, part in value.items() if part is not None}
    return [_without_none(part) for part in value] if isinstance(value, list | tuple) else value


def label_of_file(path: str) -> str:
    """A run's name by its file: without `input.`, as TREC's archive has it, and without the endings of run files."""
    name = PurePosixPath(path).name
    while name.lower().endswith(ENDINGS) and "." in name[1:]:
        name = name.rpartition(".")[0]
    return name.removeprefix("input.")[:LONGEST_LABEL]


def match(pattern: str, path: str) -> dict[str, str] | None:
    """What the pattern's {names} take from a path; None where it does not fit.

    `*` and a {name} stand for anything but /, the shortest that fits. There is no going back, so that no pattern takes
    long; a name that stands twice must take the same.
    """
    taken = _compiled(pattern).fullmatch(path)
    return taken.groupdict() if taken else None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    names = set[str]()

    def group(wildcard: re.Match[str]) -> str:
        name, literal, end = wildcard[1], wildcard[2], "" if wildcard[3] is None else r"(?=/|\Z)"
        any_text = f"(?P={name})" if name in names else f"(?P<{name}>[^/]+?)" if name else "[^/]*?"
        names.update(filter(None, [name]))
        return f"(?>{any_text}{literal}{end})"

    return re.compile(WILDCARD.sub(group, re.escape(pattern)), re.DOTALL)
