"""What a manifest says of a campaign: TOML, read into records, or every problem with its place in the file."""

import dataclasses
import datetime as dt
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from leaderboard.db import Base
from leaderboard.errors import FileRejected, Problem
from leaderboard.formats.file_rules import FileRules
from leaderboard.formats.harmless import harmless, shown
from leaderboard.models import Campaign, Evaluation, JudgmentRevision, ScoringSet, Submission, System
from leaderboard.rules.form_fields import FormField, fields_from_json
from leaderboard.rules.settings import Subset
from leaderboard.rules.standings import KeptChoice, RunChoice
from leaderboard.services.names import name_key, slug_of
from leaderboard.transfer.columns import NONE, SETTINGS, as_stored

__all__ = [
    "NAME",
    "STOOD_BY",
    "WORDS",
    "EvaluationEntry",
    "JudgmentsEntry",
    "Manifest",
    "Many",
    "RunEntry",
    "StoodEntry",
    "SystemEntry",
    "TeamEntry",
    "look_at_manifest",
    "match",
    "of_pattern",
    "read_manifest",
]

NAME = "manifest.toml"
MOST_BYTES = 32 * 2**20
MOST_PROBLEMS = 50
LONGEST_MESSAGE = 300
WITHIN = {  # a list of tables: how its heading is written
    **{name: f"evaluation.{name}" for name in ("run", "runs", "judgments", "stood", "field", "agreement")},
    "system": "team.system",
}
INSTEAD = {"excluded": 'write excluded = [{ query = "9", because = "…" }]'}
# Which runs stood on an old board, by each way of choosing; where another one is not named it chose as the first did.
STOOD_BY = {
    KeptChoice(RunChoice.PRIMARY): "standing",
    KeptChoice(RunChoice.LATEST): "standing_latest",
    KeptChoice(RunChoice.BEST): "standing_best",
    KeptChoice(RunChoice.BEST, rounded=True): "standing_best_rounded",
    KeptChoice(RunChoice.BEST, Subset.SHOWN): "standing_best_shown",
    KeptChoice(RunChoice.BEST, Subset.SHOWN, rounded=True): "standing_best_shown_rounded",
}
OF_RUN = {"date": "run_at", "received": "received_at", "scored": "scored_at"}  # a manifest's word: the column
WORDS = {column: word for word, column in OF_RUN.items()}
MD5, SHA256 = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{64}")
PLACEHOLDER = re.compile(r"\{([a-z]+)\}")
CAPTURED = ("team", "system", "tag", "label", "version")  # what a pattern may take from a path


@dataclass(frozen=True, slots=True)
class SystemEntry:
    """A system that the manifest names. settings: further columns of System."""

    name: str
    slug: str
    spellings: tuple[str, ...]
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TeamEntry:
    """A team that the manifest names, under every spelling of its name, and its systems.

    known  whether a team of this name that is here, and has members, is known to be this one
    """

    name: str
    slug: str
    description: str
    spellings: tuple[str, ...]
    systems: tuple[SystemEntry, ...]
    known: bool = False

    @property
    def keys(self) -> dict[str, str]:
        """What it is recognised by, and the name that is so."""
        return {name_key(name): name for name in (*self.spellings, self.slug, self.name) if name}


@dataclass(frozen=True, slots=True)
class JudgmentsEntry:
    """One revision of judgments: paths of its files, and what is new in it.

    source    None for the official one
    released  when it was given out; None where the manifest does not say
    """

    file: str
    note: str = ""
    known: str = ""
    subtopics: str = ""
    source: str | None = None
    released: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class StoodEntry:
    """A board as it stood.

    judgments         path of the file that it went by; "": the newest of the official source
    measures_version  of the measures; "" for this program's
    before            earlier times when boards went by it, as (since, until)
    otherwise         what of the settings was not as the evaluation has it now, by the names of `ScoringSettings`
    runs              files of the runs that were scored by it; None: all
    standing          files of those that stood for their systems, by way of choosing
    """

    judgments: str
    measures_version: str
    since: dt.datetime
    until: dt.datetime | None
    before: tuple[tuple[dt.datetime, dt.datetime], ...]
    otherwise: Mapping[str, Any]
    runs: frozenset[str] | None
    standing: Mapping[KeptChoice, frozenset[str]]


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run. team, system: as they are spelled there; "" where the manifest does not say.

    md5, sha256  what its publisher says of the file, in hexadecimal digits; "" for nothing
    kind         of the system, where the run makes it
    rejected     its file was rejected where it comes from
    settings     columns of Submission
    """

    file: str
    team: str
    system: str
    kind: str
    md5: str
    sha256: str
    rejected: bool
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Many:
    """Runs by a pattern of their paths, such as `input.{tag}.gz`, with what holds for all of them.

    values  what a run's entry may have; a text may name what the pattern takes: `{tag}`
    """

    files: str
    values: Mapping[str, Any]

    def match(self, path: str) -> dict[str, str] | None:
        """What the pattern takes from a path; None where the path is not of it."""
        return match(self.files, path)


@dataclass(frozen=True, slots=True)
class EvaluationEntry:
    """An evaluation: settings are columns of Evaluation, by name.

    queries    path of their file; "" where `query_ids` are all that is known, or nothing
    query_ids  instead of a file; none: the queries that are judged
    hidden     ids of queries that are hidden
    excluded   id -> why it counts nowhere
    fields, agreements, rules  what its form asks, and the rules of its files but for the list of documents
    document_list  path of the list of its collection's documents
    """

    slug: str
    title: str
    period: str
    settings: Mapping[str, Any]
    queries: str
    query_ids: tuple[str, ...]
    hidden: tuple[str, ...]
    excluded: Mapping[str, str]
    judgments: tuple[JudgmentsEntry, ...]
    stood: tuple[StoodEntry, ...]
    runs: tuple[RunEntry | Many, ...]
    fields: tuple[FormField, ...]
    agreements: tuple[Mapping[str, Any], ...]
    rules: Mapping[str, Any]
    document_list: str


@dataclass(frozen=True)
class Manifest:
    """A whole one. name: what messages call it; archives: paths of archives whose files are meant too."""

    name: str
    slug: str
    settings: Mapping[str, Any]
    archives: tuple[str, ...]
    teams: tuple[TeamEntry, ...]
    evaluations: tuple[EvaluationEntry, ...]

    def team(self, spelled: str) -> TeamEntry:
        """The team that somebody called so; one that the manifest does not list has this name."""
        key = name_key(spelled)
        if key not in self._by_key:
            self._by_key[key] = TeamEntry(spelled, "", "", (), ())
        return self._by_key[key]

    @cached_property
    def _by_key(self) -> dict[str, TeamEntry]:
        return {key: team for team in reversed(self.teams) for key in team.keys}


def match(pattern: str, path: str) -> dict[str, str] | None:
    """What the pattern's {names} take from a path; None where it does not fit.

    `*` and a {name} stand for anything but /, the shortest that fits. There is no going back, so that no pattern takes
    long; a name that stands twice must take the same.
    """
    pieces, parts = pattern.split("/"), path.split("/")
    if len(pieces) != len(parts):
        return None
    taken: dict[str, str] = {}
    for piece, part in zip(pieces, parts, strict=True):
        for name, text in _match_part(piece, part) or [("", "")]:
            if name == "" or taken.setdefault(name, text) != text:
                return None
    taken.pop("*", None)
    return taken


def _match_part(piece: str, part: str) -> list[tuple[str, str]] | None:
    """(name, text) of each placeholder of a folder's or file's name; None where it does not fit."""
    tokens = re.split(r"(\{[a-z]+\}|\*)", piece)
    literals, names = tokens[::2], tokens[1::2]
    if not names:
        return [("*", "*")] if piece == part else None
    if not part.startswith(literals[0]) or not part.endswith(literals[-1]):
        return None
    at, end = len(literals[0]), len(part) - len(literals[-1])
    found = []
    for name, literal in zip(names, [*literals[1:-1], None], strict=True):
        until = end if literal is None else part.find(literal, at + (name != "*"), end)
        if until < at + (name != "*"):
            return None
        if name != "*":
            found.append((name[1:-1], part[at:until]))
        at = until + len(literal or "")
    return [*found, ("*", "*")]


def read_manifest(content: bytes | Path, name: str = NAME) -> Manifest:
    """Reads a manifest. Raises FileRejected with every problem and its place, such as "evaluation 2 (round1)"."""
    manifest, problems = look_at_manifest(content, name)
    if problems:
        told = [Problem(None, problem) for problem in problems]
        raise FileRejected(told[:MOST_PROBLEMS], len(told), name)
    return manifest


def look_at_manifest(content: bytes | Path, name: str = NAME) -> tuple[Manifest, list[str]]:
    """What a manifest says but for what is wrong with it, and that. Raises FileRejected for what is no TOML at all."""
    if isinstance(content, Path):
        with content.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    else:
        text = content
    if len(text) > MOST_BYTES:
        raise FileRejected([Problem(None, f"is larger than {MOST_BYTES:,} bytes")], name=name)
    try:
        given = tomllib.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise FileRejected([Problem(None, "is no UTF-8 text")], name=name) from None
    except RecursionError:
        raise FileRejected([Problem(None, "is nested too deeply")], name=name) from None
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\(at line (\d+), column \d+\)", str(error))
        message = harmless(str(error).partition(" (at ")[0], LONGEST_MESSAGE)
        raise FileRejected([Problem(int(at[1]) if at else None, f"is no TOML: {message}")], name=name) from None
    except ValueError:  # the only one that tomllib lets through
        raise FileRejected([Problem(None, "holds a number of too many digits")], name=name) from None
    reading = _Reading(name)
    return reading.manifest(given), reading.problems


@dataclass
class _Table:
    """A table of the manifest: each of its values is asked for once, and what nobody asked for is a problem."""

    place: str
    values: dict[str, Any]
    problems: list[str]

    def problem(self, name: str, message: str) -> None:
        self.problems.append(f"{self.place}: {name}: {message}")

    def text(self, name: str, usual: str = "", *, needed: bool = False) -> str:
        value = self.values.pop(name, usual)
        if not isinstance(value, str) or (needed and not value):
            self.problem(name, "give a text, in quotes" if name in self.values or value != usual else "is missing")
            return usual
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.values.pop(name, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self.problem(name, "give a list of texts, each in quotes")
            return ()
        return tuple(value)

    def files(self, name: str) -> frozenset[str]:
        """Paths, as runs are named by them."""
        return frozenset(path.removeprefix("./") for path in self.texts(name))

    def whole(self, name: str) -> int:
        value = self.values.pop(name)
        if isinstance(value, bool) or not isinstance(value, int):
            self.problem(name, "give a whole number, without quotes")
            return 1
        return value

    def flag(self, name: str) -> bool:
        value = self.values.pop(name, False)
        if not isinstance(value, bool):
            self.problem(name, "give true or false, without quotes")
        return value is True

    def tables(self, name: str, of: str, label: str = "slug") -> Iterator["_Table"]:
        """The tables of a list, each under a name that a person finds: `evaluation 2 (round1)`."""
        value = self.values.pop(name, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self.problem(name, INSTEAD.get(name, f"write [[{WITHIN.get(name, name)}]] for each"))
            return
        before = f"{self.place}, " if self.place != "campaign" else ""
        for number, one in enumerate(value, 1):
            called = one.get(label)
            known = f" ({shown(called)})" if isinstance(called, str) and called else ""
            yield _Table(f"{before}{of} {number}{known}", dict(one), self.problems)

    def settings(
        self, model: type[Base], names: Sequence[str], words: Mapping[str, str] = MappingProxyType({})
    ) -> dict[str, Any]:
        """Those of these columns that are given, as they are stored. words: of others, what the manifest calls them."""
        found = {}
        for name, column in (*zip(names, names, strict=True), *words.items()):
            if name in self.values:
                try:
                    found[column] = as_stored(model, column, self.values.pop(name))
                except ValueError as error:
                    self.problem(name, str(error))
        return found

    def end(self) -> None:
        for name in self.values:
            above = f"; write [[{WITHIN[name]}]], below the one that it is of" if name in WITHIN else ""
            self.problem(shown(name), f"there is no such setting{above}")


@dataclass
class _Reading:
    name: str
    problems: list[str] = field(default_factory=list)

    def manifest(self, given: dict[str, Any]) -> Manifest:
        whole = _Table("campaign", {name: given[name] for name in given if name != "campaign"}, self.problems)
        own = given.get("campaign")
        campaign = _Table("campaign", dict(own) if isinstance(own, dict) else {}, self.problems)
        if not isinstance(own, dict):
            self.problems.append("[campaign] is missing")
        slug = campaign.text("slug", needed=True)
        settings = {"title": campaign.text("title", needed=True), **self._of(campaign, Campaign)}
        campaign.end()
        teams = tuple(self._team(table) for table in whole.tables("team", "team", "name"))
        self._twice("team", [(name, key) for team in teams for key, name in team.keys.items()])
        evaluations = tuple(self._evaluation(table) for table in whole.tables("evaluation", "evaluation"))
        self._twice("evaluation", [(one.slug, one.slug) for one in evaluations])
        manifest = Manifest(self.name, slug, settings, whole.texts("archives"), teams, evaluations)
        whole.end()
        return manifest

    def _of(self, table: _Table, model: type[Base], *asked: str) -> dict[str, Any]:
        already = {"slug", "title", "name", *asked}
        return table.settings(model, [name for name in SETTINGS[model] if name not in already])

    def _twice(self, what: str, named: Sequence[tuple[str, str]]) -> None:
        seen: dict[str, str] = {}
        for name, key in named:
            if seen.setdefault(key, name) is not name:
                self.problems.append(f"{what} {shown(name)}: is there twice, as {shown(seen[key])}")

    def _team(self, table: _Table) -> TeamEntry:
        name = table.text("name", needed=True)
        systems = tuple(self._system(one) for one in table.tables("system", "system", "name"))
        words = table.text("slug"), table.text("description"), table.texts("spellings")
        team = TeamEntry(name, *words, systems, known=table.flag("known"))
        table.end()
        return team

    def _system(self, table: _Table) -> SystemEntry:
        name, slug, spellings = table.text("name", needed=True), table.text("slug"), table.texts("spellings")
        system = SystemEntry(name, slug, spellings, self._of(table, System))
        table.end()
        return system

    def _evaluation(self, table: _Table) -> EvaluationEntry:
        runs: list[RunEntry | Many] = [self._run(one) for one in table.tables("run", "run", "file")]
        runs += [self._many(one) for one in table.tables("runs", "runs", "files")]
        title = table.text("title")
        slug = table.text("slug", slug_of(title)) or slug_of(title)
        period = table.text("period", needed=True)
        if not slug:
            table.problem("slug", "is missing")
        excluded = {}
        for one in table.tables("excluded", "excluded", "query"):
            excluded[one.text("query", needed=True)] = one.text("because", needed=True)
            one.end()
        entry = EvaluationEntry(
            slug=slug,
            title=title or period,
            period=period,
            queries=table.text("queries"),
            query_ids=table.texts("query_ids"),
            hidden=table.texts("hidden"),
            excluded=excluded,
            judgments=tuple(self._judgments(table)),
            stood=tuple(self._stood(table)),
            runs=tuple(runs),
            fields=tuple(self._fields(table)),
            agreements=tuple(self._agreements(table)),
            rules=self._rules(table),
            document_list=table.text("document_list"),
            settings=self._of(table, Evaluation, "period"),
        )
        table.end()
        return entry

    def _fields(self, table: _Table) -> Iterator[FormField]:
        for one in table.tables("field", "field", "key"):
            try:
                usual = FormField(key="", label="").as_json()
                wrong = [name for name in one.values if type(one.values[name]) is not type(usual.get(name))]
                if wrong:
                    raise ValueError(f"{shown(wrong[0])} is no part of a field, or of another kind")
                yield fields_from_json([usual | one.values])[0]
            except ValueError as error:
                one.problem("field", harmless(str(error), LONGEST_MESSAGE))

    def _agreements(self, table: _Table) -> Iterator[Mapping[str, Any]]:
        for one in table.tables("agreement", "agreement", "key"):
            yield {
                **{name: one.text(name, needed=True) for name in ("key", "title", "text")},
                "ended": one.flag("ended"),
            }
            one.end()

    def _rules(self, table: _Table) -> Mapping[str, Any]:
        given = table.values.pop("file_rules", {})
        kinds = {field.name: type(field.default) for field in dataclasses.fields(FileRules)}
        kinds |= dict.fromkeys(("most_documents", "least_documents"), int)
        if not isinstance(given, dict):
            table.problem("file_rules", "write [evaluation.file_rules]")
            return {}
        for name, value in given.items():
            if type(value) is not kinds.get(name) or name.startswith("documents"):
                table.problem("file_rules", f"{shown(name)} is no rule, or of another kind")
        return given

    def _judgments(self, table: _Table) -> Iterator[JudgmentsEntry]:
        if isinstance(table.values.get("judgments"), str):
            yield JudgmentsEntry(table.text("judgments"))
            return
        for one in table.tables("judgments", "judgments", "file"):
            file, note, source = one.text("file", needed=True), one.text("note"), one.text("source")
            released = one.settings(JudgmentRevision, (), {"released": "released_at"}).get("released_at")
            yield JudgmentsEntry(file, note, one.text("known"), one.text("subtopics"), source or None, released)
            one.end()

    def _stood(self, table: _Table) -> Iterator[StoodEntry]:
        for one in table.tables("stood", "stood", ""):
            since = one.values.get("since", NONE)
            dates = one.settings(ScoringSet, (), {"since": "switched_at", "until": "shown_until"})
            if since == NONE:
                one.problem("since", "is missing")
            before = tuple(self._times(one))
            otherwise = one.settings(Evaluation, ("documents", "relevance_level", "judging"))
            otherwise |= one.settings(Campaign, ("compat", "measures"))
            otherwise |= {name: one.whole(name) for name in ("queries",) if name in one.values}
            otherwise |= {name: one.texts(name) for name in ("excluded", "hidden") if name in one.values}
            lists = {name: one.files(name) for name in ("runs", *STOOD_BY.values()) if name in one.values}
            version, judgments = one.text("measures_version"), one.text("judgments")
            one.end()
            if dates.get("switched_at") is not None:
                yield StoodEntry(
                    judgments=judgments,
                    measures_version=version,
                    since=dates["switched_at"],
                    until=dates.get("shown_until"),
                    before=before,
                    otherwise=otherwise,
                    runs=lists.get("runs"),
                    standing={kept: lists[name] for kept, name in STOOD_BY.items() if name in lists},
                )

    def _times(self, table: _Table) -> Iterator[tuple[dt.datetime, dt.datetime]]:
        for one in table.tables("before", "before", ""):
            dates = one.settings(ScoringSet, (), {"since": "switched_at", "until": "shown_until"})
            one.end()
            since, until = dates.get("switched_at"), dates.get("shown_until")
            if since is None or until is None:
                one.problem("before", "give since and until")
            else:
                yield since, until

    def _run(self, table: _Table) -> RunEntry:
        file = table.text("file", needed=True).removeprefix("./")
        run = _run_entry(table, file)
        table.end()
        return run

    def _many(self, table: _Table) -> Many:
        files = table.text("files", needed=True).removeprefix("./")
        for name in PLACEHOLDER.findall(files):
            if name not in CAPTURED:
                table.problem("files", f"there is no {{{name}}}; write * or one of {', '.join(CAPTURED)}")
        values = dict(table.values)
        _run_entry(table, "")  # what is wrong is told once, not for every file
        table.end()
        return Many(files, values)


def _run_entry(table: _Table, file: str) -> RunEntry:
    """What a manifest's table says of the run in this file."""
    hashes = {}
    for name, pattern in (("md5", MD5), ("sha256", SHA256)):
        hashes[name] = table.text(name).lower()
        if hashes[name] and not pattern.fullmatch(hashes[name]):
            table.problem(name, "give its hexadecimal digits, all of them")
            hashes[name] = ""  # no file could have it: that is told once
    kind = table.text("kind")
    if kind:
        table.values["kind"] = kind
        kind = table.settings(System, ["kind"]).get("kind", "")
    return RunEntry(
        file,
        table.text("team"),
        table.text("system"),
        kind,
        hashes["md5"],
        hashes["sha256"],
        table.flag("rejected"),
        table.settings(Submission, [name for name in SETTINGS[Submission] if name not in OF_RUN.values()], OF_RUN),
    )


def of_pattern(many: Many, path: str, taken: Mapping[str, str]) -> RunEntry:
    """The run in a file that the pattern fits, with what it takes from the path put into the texts."""
    values = {name: _filled(value, taken) for name, value in many.values.items()}
    own = {"team": "team", "system": "system", "label": "label", "version": "version"}
    given = {name: taken[source] for name, source in own.items() if source in taken}
    if "tag" in taken:
        given = {"system": taken["tag"], "label": taken["tag"]} | given
    return _run_entry(_Table(path, given | values, []), path)


def _filled(value: Any, taken: Mapping[str, str]) -> Any:
    if not isinstance(value, str):
        return value
    return PLACEHOLDER.sub(lambda found: taken.get(found[1], found[0]), value)
