"""A manifest for a tree that has none: what its files are, by their content; whose runs, of which year, by their paths.

Understood are TREC's archive (`input.TAG.gz` beside the judgments), folders for each team or task, a team's archive
with a folder for each period, and tables that say of each run its team and kind.
"""

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from leaderboard.errors import FileRejected
from leaderboard.formats import Limits, is_archive_file, open_plain, read_judgments, read_queries
from leaderboard.formats.plain_text import shown
from leaderboard.formats.problems import HEAD_BYTES, PRINTED, guess_content
from leaderboard.frozen import frozen
from leaderboard.names import name_key, slug_of
from leaderboard.numbers import counted, is_number, is_whole
from leaderboard.submissions.rules import SystemKind
from leaderboard.transfer.manifest import Tree, label_of_file, written

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")  # of teams
RUN, JUDGMENTS, QUERIES, OTHER = "run", "judgments", "queries", "other"
HEAD_LINES = 50
MOSTLY = 0.9  # of the first lines: judgments with a few wrong ones are judgments, and reading them names the lines
LARGEST_TABLE = 4 << 20  # bytes
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
SUMS = re.compile(r"^[ \t]*([0-9a-fA-F]{32})[ \t]+[*]?(?:\./)?(\S.*)$", re.MULTILINE)
GENERIC = {
    "runs", "run", "input", "inputs", "submissions", "submitted", "results", "qrels", "qrel", "topics", "judgments",
    "judgements", "assessments", "relevance", "queries", "data", "test", "final",
}  # fmt: skip
COLUMNS = (  # what tables call runs, teams and kinds
    {"run", "runtag", "run tag", "tag", "runid", "run id"},
    {"team", "group", "organization", "organisation", "participant", "team id"},
    {"runtype", "run type", "type", "kind"},
)
KINDS = set(SystemKind)
HEAD = """\
# A draft: read it, correct it and complete it; docs/import.md says what may stand here. What files don't say:
# visibility and compat (9 for figures of trec_eval 9 or 8) of the campaign; opens_at, closes_at and documents of
# evaluations; released of judgments; date and kind of runs.

"""


@frozen
class Draft:
    """text: TOML. notes: what to look at before it is used."""

    text: str
    evaluations: int
    runs: int
    notes: tuple[str, ...]


@dataclass
class _Group:
    """What will be an evaluation: the files that belong together."""

    folder: str
    judgments: list[str]
    name: str
    queries: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)

    def fit(self, path: str) -> tuple[bool, bool, int]:
        """How well a file fits here: whether its path names the group, or its year, and how near its folder is."""
        parts = {part.lower() for part in PurePosixPath(path).parts}
        is_of_year = bool({*YEAR.findall(self.name)} & {*YEAR.findall(path)})
        is_inside = not self.folder or path.startswith(f"{self.folder}/")
        return self.name.lower() in parts, is_of_year, len(self.folder) + 1 if is_inside else 0


def draft_of(tree: Tree, done: Callable[[int], None] = lambda _: None, *, slug: str = "", title: str = "") -> Draft:
    """Drafts a manifest of a tree. Its archives of teams are unpacked for that.

    done         is told after each file
    slug, title  of a campaign that is here already, whose settings stay as they are; "": a new one is drafted

    Raises as `Tree.unpack` does.
    """
    archives = [path for path in tree.files if path.lower().endswith(ARCHIVES) and is_archive_file(tree.files[path])]
    for path in archives:
        tree.unpack(path)
    files = defaultdict[str, list[str]](list)
    for path in tree.files:
        if path not in archives:
            files[_kind_of(tree, path)].append(path)
        done(1)
    groups = _groups(files)
    about, left = _about_runs(tree, files[OTHER])
    notes = [f"{counted(len(left), 'file')} not recognised as anything: {', '.join(left[:5])}"] if left else []
    taken = {path for group in groups for path in (*group.runs, *group.queries[:1])}
    notes += [f"{path}: belongs to no judgments" for path in (*files[RUN], *files[QUERIES]) if path not in taken]
    grades: list[int] = []
    entries = [_evaluation(tree, group, notes, grades) for group in groups]
    for group, entry in zip(groups, entries, strict=True):
        entry["run"] = [_run(path, group, archives, about) for path in sorted(group.runs)]
    _disambiguate(entries)
    runs = [run for entry in entries for run in entry["run"]]
    unknown, silent = sum(run["team"] == run["system"] for run in runs), sum(run["kind"] is None for run in runs)
    first = (
        "say when each evaluation opened and closed (opens_at, closes_at): without, it stays a draft",
        f"{unknown:,} runs without a team, which are their own; {silent:,} without a kind: automatic",
    )
    measures = [*(["nDCG@10"] if max(grades, default=0) > 1 else []), "AP", "P@10", "RR"]
    teams = {name_key(run["team"]): run["team"] for run in reversed(runs)}
    name = _title(tree.name)
    settings = {"slug": slug, "title": title} if slug else {
        "slug": slug_of(name) or "campaign", "title": name, "visibility": "draft", "measures": measures,
    }  # fmt: skip
    content = {
        "archives": archives or None,
        "campaign": settings,
        "team": [{"name": team} for team in sorted(teams.values(), key=str.lower)],
        "evaluation": entries,
    }
    return Draft(HEAD + written(content), len(entries), len(runs), (*first, *notes))


def _kind_of(tree: Tree, path: str) -> str:
    """By the first lines."""
    head = b""
    with suppress(FileRejected, OSError), open_plain(tree.files[path], Limits()) as text:
        head = bytes(text.peek(HEAD_BYTES))
    if head.lstrip()[:1] == b"<" and b"<top" in head.lower():
        return QUERIES
    lines = head.decode(errors="replace").splitlines()
    lines = [line for line in (lines[:-1] if len(head) >= HEAD_BYTES else lines) if line.strip()][:HEAD_LINES]
    if not lines or guess_content(head, "run") == PRINTED:
        return OTHER
    fields = [line.split() for line in lines]
    of_decisions = all(len(row) == 4 and row[2] in ("Y", "N") and is_number(row[3]) for row in fields)
    of_scores = all(len(row) == 6 and is_number(row[3]) and is_number(row[4]) for row in fields)
    if of_scores or of_decisions or (lines[0].startswith("{") and '"score"' in lines[0]):
        return RUN
    if sum(len(row) == 4 and (is_whole(row[3]) or row[1] in ("0", "Q0")) for row in fields) >= MOSTLY * len(fields):
        return JUDGMENTS
    parts = [line.split("\t") for line in lines]
    are_queries = all(2 <= len(row) <= 3 and len(row[0].split()) == 1 and not is_number(row[1]) for row in parts)
    return QUERIES if are_queries else OTHER


def _groups(files: dict[str, list[str]]) -> list[_Group]:
    """An evaluation for each folder with judgments, or for each name where one folder has judgments of several years or
    rounds; files of judgments that share a folder of runs are revisions."""
    named = {part.lower() for path in files[RUN] for part in PurePosixPath(path).parts[:-1]}
    by_name: dict[tuple[str, str], _Group] = {}
    for path in files[JUDGMENTS]:
        folder = PurePosixPath(path).parent
        while folder.name.lower() in GENERIC:
            folder = folder.parent
        own = "" if str(folder) == "." else str(folder)
        words = "-".join(word for word in re.split(r"[._-]+", label_of_file(path)) if word.lower() not in GENERIC)
        year = YEAR.search(words)
        name = words if words.lower() in named else year[0] if year else ""
        group = by_name.setdefault((own, name), _Group(own, [], name or folder.name or words))
        group.judgments.append(path)
    groups = list(by_name.values())
    for kind in (RUN, QUERIES):
        for path in files[kind]:
            fits = [group.fit(path) for group in groups]
            best = groups[fits.index(max(fits))] if fits else None
            if best is not None and (len(groups) == 1 or any(max(fits))):
                (best.runs if kind == RUN else best.queries).append(path)
    return groups


def _about_runs(tree: Tree, others: list[str]) -> tuple[dict[tuple[str, str], dict[str, str]], list[str]]:
    """What tables and sums of MD5 say of a run, by the folder they lie in, or "", and its name or file; and the files
    that say nothing of any.
    """
    about: dict[tuple[str, str], dict[str, str]] = {}
    left = []
    for path in others:
        folder, name, said = str(PurePosixPath(path).parent), PurePosixPath(path).name.lower(), {}
        if tree.files[path].stat().st_size <= LARGEST_TABLE:
            text = tree.files[path].read_text(encoding="utf-8-sig", errors="replace").replace("\0", "")
            if name.endswith((".csv", ".tsv")):
                said = _in_table(text, "\t" if name.endswith(".tsv") else ",")
            elif name.startswith("md5") or name.endswith(".md5"):
                said = {file.rstrip(): {"md5": md5.lower()} for md5, file in SUMS.findall(text)}
        for run, words in said.items():
            for within in (folder, ""):
                about.setdefault((within, run), words)
        left += [] if said else [path]
    return about, left


def _in_table(text: str, delimiter: str) -> dict[str, dict[str, str]]:
    """What a table says of each run, by its name in lower case; nothing without columns of runs and teams."""
    rows = csv.DictReader(io.StringIO(text), delimiter=delimiter, restval="")
    names = {name.strip().lower(): name for name in rows.fieldnames or ()}
    run, team, kind = (next((names[name] for name in names if name in known), "") for known in COLUMNS)
    said = {}
    for row in rows if run and team else ():
        word = row.get(kind, "").strip().lower()
        if row[team]:
            said[row[run].strip().lower()] = {"team": row[team].strip()} | ({"kind": word} if word in KINDS else {})
    return said


def _evaluation(tree: Tree, group: _Group, notes: list[str], grades: list[int]) -> dict[str, Any]:
    """Its table of the manifest but for its runs. Adds to what is to be looked at, and to the highest grades."""
    judged, queries = set[str](), "".join(group.queries[:1])
    try:
        for path in group.judgments:
            read = read_judgments(tree.files[path], name=path, limits=tree.limits)
            grades.append(int(read.grade.max(initial=0)))
            judged |= set(read.queries)
        if queries:
            there = {row.id for row in read_queries(tree.files[queries], name=queries, limits=tree.limits)}
            if lacking := len(judged - there):
                notes.append(f"{queries}: lacks {lacking:,} of the judged queries, so it is left out")
                queries = ""
    except FileRejected as error:
        notes.append(f"{error.name}: {error.problems[0]}: correct it, since nothing comes in before")
    if len(group.judgments) > 1:
        notes.append(f"{', '.join(group.judgments)}: taken for revisions of one evaluation's judgments")
    name = group.name or tree.top or tree.name
    year = YEAR.search(" ".join((name, group.folder, tree.top, tree.name)))
    number = year or re.search(r"\d+", name)
    listed = set() if queries else _queries_listed(tree, group.runs)
    ids = sorted(judged | listed, key=lambda query: (len(query), query) if query.isdigit() else (0, query))
    return {
        "slug": slug_of(name) or "evaluation",
        "title": _title(name),
        "period": year[0] if year else _title(name),
        "period_key": int(number[0]) if number else 1,
        "queries": queries or None,
        "query_ids": ids if listed - judged else None,
        "judgments": [{"file": path} for path in group.judgments],
    }


def _queries_listed(tree: Tree, paths: list[str]) -> set[str]:
    """The queries that runs have lists for: one that an evaluation does not have would be a mistake in the run."""
    listed = set[str]()
    for path in paths:
        start = b"{"  # of a line that says no new query; runs of records are left to the import
        with suppress(FileRejected), open_plain(tree.files[path]) as text:
            for line in io.BufferedReader(text, 1 << 20):  # by itself it looks for each line anew
                if not line.startswith(start) and (query := line.split(None, 1)[:1]):
                    start = query[0] + line[len(query[0]) : len(query[0]) + 1]
                    listed.add(query[0].decode(errors="replace"))
    return listed


def _run(path: str, group: _Group, archives: list[str], about: dict[tuple[str, str], dict[str, str]]) -> dict[str, Any]:
    """Its table of the manifest. Without a team it is called as the run."""
    folder, file, label = str(PurePosixPath(path).parent), PurePosixPath(path).name, label_of_file(path)
    said = about.get(("", label.lower()), {}) | about.get((folder, label.lower()), {})
    sums = about.get((folder, file)) or about.get(("", path), {})
    archive = next((archive for archive in archives if path.startswith(f"{archive}/")), "")
    folders = PurePosixPath(path.removeprefix(f"{group.folder}/")).parts[:-1]
    own = [part for part in folders if not YEAR.fullmatch(part) and part.lower() not in {*GENERIC, group.name.lower()}]
    team = label_of_file(archive) if archive else own[-1] if own else label
    return {"file": path, "team": team, "system": label, "kind": None, **said, **sums}


def _disambiguate(entries: list[dict[str, Any]]) -> None:
    """No two evaluations have one address; those of one period have a condition."""
    slugs, periods = [entry["slug"] for entry in entries], Counter(entry["period"] for entry in entries)
    for number, entry in enumerate(entries):
        if earlier := slugs[:number].count(entry["slug"]):
            entry["slug"] += f"-{earlier + 1}"
            entry["title"] += f" ({earlier + 1})"
        if periods[entry["period"]] > 1:
            entry["condition"] = entry["title"]


def _title(name: str) -> str:
    words = re.sub(r"[\s_]+", " ", shown(label_of_file(name))).strip() or "Campaign"
    words = re.sub(r"(?<=[A-Za-z])(?=\d+$)", " ", words)
    return words[:1].upper() + words[1:]
