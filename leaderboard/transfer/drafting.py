"""A manifest for a tree that has none: what its files are, by their content; whose runs, of which year, by their paths.

Understood are TREC's archive (`input.TAG.gz` beside the judgments), folders for each team or task, a team's archive
with a folder for each period, and tables that say of each run its team and kind.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from leaderboard.errors import BadInput, FileRejected
from leaderboard.formats import Limits, read_judgments, read_queries, read_run
from leaderboard.formats.harmless import shown
from leaderboard.numbers import counted
from leaderboard.rules.visibility import Visibility
from leaderboard.services.campaigns import DEFAULTS
from leaderboard.services.names import name_key, slug_of
from leaderboard.transfer.file_kinds import Kind, is_of_teams, is_printed, kinds_of
from leaderboard.transfer.places import GENERIC, YEAR, Place, left_over, needless_judgments, places_of
from leaderboard.transfer.planning import label_of_file
from leaderboard.transfer.run_tables import LARGEST_TABLE, published_figures, table_of_runs
from leaderboard.transfer.toml import written
from leaderboard.transfer.tree import Tree

__all__ = ["Draft", "draft_of"]

NUMBER = re.compile(r"\d+")
SUMS = re.compile(r"([0-9a-fA-F]{32})\s+[*]?(\S.*)")
SUM_FILES = ("md5", "md5sum", "md5sums", "md5sums.txt", "md5.txt")
MEASURES, GRADED = ["AP", "P@10", "RR"], ["nDCG@10", "AP", "P@10", "RR"]


@dataclass(frozen=True, slots=True)
class Draft:
    """text: TOML. notes: what to look at before it is used."""

    text: str
    evaluations: int
    runs: int
    notes: tuple[str, ...]


def draft_of(
    tree: Tree,
    done: Callable[[int], None] = lambda _: None,
    *,
    slug: str = "",
    title: str = "",
    limits: Limits | None = None,
    most_runs: int | None = None,
) -> Draft:
    """Drafts a manifest of a tree. Its archives of teams are unpacked for that.

    done         is told after each file
    slug, title  of a campaign that is here already, whose settings stay as they are; "": a new one is drafted
    limits       of each file that is read

    Raises BadInput where there are more runs than `most_runs`, and as `Tree.unpack` does.
    """
    limits = limits or Limits()
    archives = [path for path in tree.files if is_of_teams(tree, path)]
    for path in archives:
        tree.unpack(path)
    kinds = kinds_of(tree, archives, done)
    needless = needless_judgments(kinds[Kind.JUDGMENTS])
    kinds[Kind.JUDGMENTS] = [path for path in kinds[Kind.JUDGMENTS] if path not in needless]
    if most_runs is not None and len(kinds[Kind.RUN]) > most_runs:
        raise BadInput(f"{tree.name} has more than {most_runs:,} runs; use leaderboard import-campaign")
    places = places_of(kinds)
    table, sums = table_of_runs(tree, kinds[Kind.OTHER]), _sums(tree, kinds[Kind.OTHER])
    notes = published_figures(tree, kinds[Kind.OTHER])
    others = [path for path in kinds[Kind.OTHER] if not _explains(path, tree)]
    if printed := [path for path in others if is_printed(tree, path)]:
        some = f"{counted(len(printed), 'file')} with what trec_eval prints of a run, such as {printed[0]}"
        notes.append(f"{some}: left out, since figures are computed here")
    notes += [f"{path}: not recognised as anything" for path in others if path not in printed]
    notes += [f"{path}: {why}" for path, why in needless.items()]
    notes += [f"{path}: belongs to no judgments that were found" for path in left_over(kinds, places)]
    notes += [
        f"{', '.join(place.judgments)}: taken for revisions of one evaluation's judgments; part them if they are rounds"
        for place in places
        if len(place.judgments) > 1
    ]
    evaluations, graded, unknown, found = [], False, 0, list[str]()
    for place in places:
        entry, highest, nameless = _evaluation(tree, place, archives, table, sums, found, limits)
        evaluations.append(entry)
        graded, unknown = graded or highest > 1, unknown + nameless
    notes = [*found, *notes]  # what is wrong with files that the manifest names goes before files that it leaves out
    _tell_apart(evaluations)
    periods = Counter(one["period"] for one in evaluations)
    for one in evaluations:
        if periods[one["period"]] > 1:  # tasks of one year
            one["condition"] = one["title"]
    runs = [run for one in evaluations for run in one["run"]]
    if silent := sum("kind" not in run for run in runs):
        they = "whether it is manual: it counts" if silent == 1 else "whether they are manual: they count"
        notes.insert(0, f"of {counted(silent, 'run')} nothing says {they} as automatic until `# kind` is filled in")
    if evaluations:
        said = "say when each evaluation opened and closed (`# opens_at`, `# closes_at`): without, it stays a draft"
        notes.insert(0, said)
    if unknown:
        notes.insert(
            0, f"of {counted(unknown, 'run')} the files do not say the team: the draft takes the run's name for it"
        )
    new = _campaign(_title(tree.name), GRADED if graded else MEASURES)
    settings = {"slug": slug, "title": title} if slug else new
    teams = _teams(evaluations)
    content = {"archives": archives or None, "campaign": settings, "team": teams, "evaluation": evaluations}
    return Draft(HEAD + _with_blanks(written(content)), len(evaluations), len(runs), tuple(notes))


def _tell_apart(evaluations: list[dict[str, Any]]) -> None:
    """No two evaluations have one address."""
    times: Counter[str] = Counter()
    for one in evaluations:
        times[one["slug"]] += 1
        if (number := times[one["slug"]]) > 1:
            one["slug"], one["title"] = f"{one['slug']}-{number}", f"{one['title']} ({number})"


def _campaign(title: str, measures: list[str]) -> dict[str, Any]:
    return {
        "slug": slug_of(title) or "campaign", "title": title, "description": "", "visibility": Visibility.DRAFT,
        "measures": measures,
        "primary_measure": measures[0], "compat": DEFAULTS["compat"],
    }  # fmt: skip


def _with_blanks(text: str) -> str:
    """The manifest with a comment to fill in wherever the files don't say what an import wants to know."""
    lines = text.splitlines()
    found: list[str] = []
    for number, line in enumerate(lines):
        found.append(line)
        if line.startswith("period_key = "):
            found += [OPENED, CLOSED]
        if line.startswith("file = ") and lines[number - 1] == "[[evaluation.judgments]]":
            found.append(RELEASED)
        if line.startswith("system = ") and not "".join(lines[number + 1 : number + 2]).startswith("kind = "):
            found.append(KIND)
    return "\n".join(found) + "\n"


HEAD = """\
# A draft: read it and correct it before anything is imported by it. docs/import.md says what may stand here.
#
# - campaign: title, measures; visibility: "public", "private", or a "draft" for its organisers only;
#   compat = 9 where the published figures come from trec_eval 9 (or 8).
# - team: one name may be spelled in several ways: spellings = ["UDEL", "udel_fang"].
# - evaluation: its period, and when it opened and closed (opens_at, closes_at). Without closes_at it stays a draft.
#   documents = 1000 is how many the collection has: AQWV and MQWV need it.
# - judgments: released = 2020-05-03 is when they were given out.
# - run: date = 2020-04-23 is when it was made; kind = "manual" or "baseline", or it counts as automatic; md5 as its
#   publisher has it.
#
# What is to be filled in stands behind a #.

"""
OPENED, CLOSED = "# opens_at = YYYY-MM-DD", "# closes_at = YYYY-MM-DDTHH:MM:SSZ"
RELEASED = "# released = YYYY-MM-DD"
KIND = '# kind = "automatic", "manual" or "baseline"'


def _evaluation(
    tree: Tree,
    place: Place,
    archives: list[str],
    table: Mapping[str, Mapping[str, str]],
    sums: Mapping[str, str],
    notes: list[str],
    limits: Limits,
) -> tuple[dict[str, Any], int, int]:
    """Its table of the manifest, the highest grade, and of how many runs the team is not known."""
    judged: dict[str, None] = {}
    highest = 0
    for path in (*place.judgments, *place.beside):
        try:
            found = read_judgments(tree.files[path], name=path, limits=limits)
        except FileRejected as error:
            notes.append(f"{_first_problem(error)}: correct it, since nothing comes in before")
            continue
        judged |= dict.fromkeys(found.queries)
        highest = max(highest, int(found.grade.max(initial=0)))
    tags, in_runs = _read_runs(tree, place, notes, limits)
    runs, listed, nameless = [], judged | in_runs, 0
    for path, name in _names(tags).items():
        run, named = _run(path, name, place, archives, table, sums)
        runs.append(run)
        nameless += not named
    queries = place.queries[0] if place.queries else ""
    if queries:
        try:
            there = {row.id for row in read_queries(tree.files[queries], name=queries, limits=limits)}
        except FileRejected as error:
            notes.append(_first_problem(error))
            there = set()
        if lacking := len(judged.keys() - there):
            if there:
                said = f"{queries}: lacks {lacking:,} of the {counted(len(judged), 'judged query', 'judged queries')}"
                notes.append(f"{said}, so the draft lists the ids of all queries instead of naming the file")
            queries = ""
    ids = list(listed)
    if all(one.isascii() and one.isdigit() for one in ids):
        ids.sort(key=int)
    name = place.name or tree.top or tree.name
    year = YEAR.search(name) or YEAR.search(place.folder) or YEAR.search(tree.top) or YEAR.search(tree.name)
    number = NUMBER.search(name)
    entry: dict[str, Any] = {
        "slug": slug_of(name) or "evaluation",
        "title": _title(name),
        "period": year[0] if year else _title(name),
        "period_key": int(year[0]) if year else int(number[0]) if number else 1,
        "queries": queries or None,
        "query_ids": None if queries or ids == list(judged) else ids,
        "judgments": [
            *({"file": path} for path in place.judgments),
            *({"file": path, "source": source} for path, source in place.beside.items()),
        ],
        "run": runs,
    }
    return entry, highest, nameless


def _first_problem(error: FileRejected) -> str:
    """What is wrong with a file first, with its line, and how much else."""
    first = error.problems[0]
    more = error.count - first.lines
    return f"{error.name}: {first}" + (f", and {counted(more, 'more problem')}" if more > 0 else "")


def _read_runs(tree: Tree, place: Place, notes: list[str], limits: Limits) -> tuple[dict[str, str], dict[str, None]]:
    """File -> the tag in its lines, "" where it can't be read, which is noted; and the queries that some run lists."""
    tags, listed = dict.fromkeys(sorted(place.runs), ""), dict[str, None]()
    for path in tags:
        try:
            run = read_run(tree.files[path], name=path, limits=limits)
        except FileRejected as error:
            notes.append(_first_problem(error))
        else:
            listed |= dict.fromkeys(run.queries)
            tags[path] = run.tag
    return tags, listed


def _names(tags: Mapping[str, str]) -> dict[str, str]:
    """File -> the name of its run: the file's, or the tag in its lines where the file has that and a further ending, as
    `bm25.judged.gz` of `bm25` has, and no other run of the evaluation is called so.

    Any other tag says less than the file: of one team it is often the same in all of them.
    """
    files = {path: label_of_file(path) for path in tags}
    names = {path: tag if tag and files[path].startswith(f"{tag}.") else files[path] for path, tag in tags.items()}
    times = Counter(names.values())
    return {path: name if times[name] == 1 else files[path] for path, name in names.items()}


def _run(
    path: str,
    name: str,
    place: Place,
    archives: list[str],
    table: Mapping[str, Mapping[str, str]],
    sums: Mapping[str, str],
) -> tuple[dict[str, Any], bool]:
    """A run's table of the manifest, and whether its team is known."""
    label = label_of_file(path)
    said = table.get(label.lower()) or table.get(name.lower(), {})
    archive = next((one for one in archives if path.startswith(f"{one}/")), "")
    team = said.get("team") or (_name_of_archive(archive) if archive else "")
    if not team:
        words = {place.name.lower(), *YEAR.findall(place.name)}
        folders = PurePosixPath(path).parts[:-1]
        inside = folders[len(PurePosixPath(place.folder).parts) :] if path.startswith(f"{place.folder}/") else folders
        own = [part for part in inside if part.lower() not in GENERIC | words and not YEAR.fullmatch(part)]
        team = own[-1] if own else ""
    run: dict[str, Any] = {"file": path, "team": team or name, "system": name}
    if name != label:
        run["label"] = name
    if said.get("kind"):
        run["kind"] = said["kind"]
    if md5 := sums.get(path) or sums.get(PurePosixPath(path).name):
        run["md5"] = md5
    return run, bool(team)


def _sums(tree: Tree, others: list[str]) -> dict[str, str]:
    """MD5 sums that files such as MD5SUMS or run.gz.md5 hold: by path and by name."""
    found: dict[str, str] = {}
    for path in others:
        name = PurePosixPath(path).name.lower()
        if (name in SUM_FILES or name.endswith(".md5")) and tree.files[path].stat().st_size <= LARGEST_TABLE:
            for line in tree.files[path].read_text(encoding="utf-8", errors="replace").splitlines():
                if told := SUMS.fullmatch(line.strip()):
                    found[told[2].removeprefix("./")] = told[1].lower()
    return found


def _explains(path: str, tree: Tree) -> bool:
    """Whether a file that is neither run, judgments nor queries was used all the same."""
    name = PurePosixPath(path).name.lower()
    return name in SUM_FILES or name.endswith(".md5") or bool(table_of_runs(tree, [path]))


def _teams(evaluations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every team once, under the spelling that stands first; others that mean the same are listed."""
    found: dict[str, list[str]] = {}
    for evaluation in evaluations:
        for run in evaluation["run"]:
            spelled = found.setdefault(name_key(run["team"]), [])
            if run["team"] not in spelled:
                spelled.append(run["team"])
    return [
        {"name": names[0], "spellings": names[1:] or None}
        for names in sorted(found.values(), key=lambda one: one[0].lower())
    ]


def _name_of_archive(path: str) -> str:
    """Without the ending of an archive, and as it is where it has none."""
    return label_of_file(path).removesuffix(".zip").removesuffix(".tar")


def _title(name: str) -> str:
    words = re.sub(r"[\s_]+", " ", shown(_name_of_archive(name))).strip() or "Campaign"
    words = re.sub(r"(?<=[A-Za-z])(?=\d+$)", " ", words)
    return words[:1].upper() + words[1:]
