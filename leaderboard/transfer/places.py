"""Which files of a tree belong together as one evaluation: by their folders and names."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from leaderboard.services.names import slug_of
from leaderboard.transfer.file_kinds import Kind
from leaderboard.transfer.planning import label_of_file

__all__ = ["GENERIC", "YEAR", "Place", "left_over", "needless_judgments", "places_of"]

YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
GENERIC = {
    "runs",
    "run",
    "input",
    "inputs",
    "submissions",
    "submitted",
    "results",
    "qrels",
    "topics",
    "judgments",
    "judgements",
    "assessments",
    "relevance",
    "queries",
    "data",
}
GRADES, NO_GRADES = {"graded", "grades"}, {"bin", "binary"}
READABILITY = "qread"  # what CLEF eHealth calls its files of how readable documents are


@dataclass
class Place:
    """What will be an evaluation: the files that belong together.

    word     what a run's path must hold to be of it, where the judgments of several rounds of a year lie in one folder
    beside   judgments by others: file -> the word for who judged
    is_part  whether its judgments are one file of several in a folder, each called otherwise
    """

    folder: str
    judgments: list[str]
    word: str = ""
    queries: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    beside: dict[str, str] = field(default_factory=dict)
    is_part: bool = False

    @property
    def name(self) -> str:
        own = self.word or PurePosixPath(self.folder).name
        return own if own and own.lower() not in GENERIC else (_word_of(self.judgments[0]) or own)


def places_of(kinds: Mapping[Kind, list[str]]) -> list[Place]:
    """An evaluation for each folder with judgments, or for each file of them where one folder has several.

    Files of one year are revisions of its judgments, unless the folders of runs are called by the rest of their names,
    as those of rounds are: `qrels.2020r1.txt` beside `2020r1/`.
    """
    rounds = {part.lower() for path in kinds[Kind.RUN] for part in PurePosixPath(path).parts[:-1]}
    by_folder: dict[str, list[str]] = {}
    for path in kinds[Kind.JUDGMENTS]:
        by_folder.setdefault(str(PurePosixPath(path).parent), []).append(path)
    places = []
    for folder, files in by_folder.items():
        groups: dict[str, list[str]] = {}
        for file in files:
            groups.setdefault(_word_of(file), []).append(file)
        for own in groups.values():
            if len(own) > 1 and rounds.issuperset(_words_of(file).lower() for file in own):
                places += [Place(_above(folder), [file], _words_of(file)) for file in own]
            else:
                is_part = len(groups) > 1
                places.append(Place(_above(folder), own[:1] if is_part else own, is_part=is_part))
    for path in kinds[Kind.RUN]:
        if (place := _best(places, path)) is not None:
            place.runs.append(path)
    for path in kinds[Kind.QUERIES]:
        if (place := _best(places, path)) is not None:
            place.queries.append(path)
    return _with_sources(places)


def _with_sources(places: list[Place]) -> list[Place]:
    """Of one evaluation, judgments beside which no run lies are others' judgments of it: a source for each file."""
    held = [place for place in places if place.runs]
    alone = [place for place in places if place.is_part and not place.runs and not place.queries]
    if len(held) != 1 or not alone:
        return places
    for place in alone:
        held[0].beside |= {path: slug_of(_words_of(path)) or "others" for path in place.judgments}
    return [place for place in places if place not in alone]


def needless_judgments(judgments: Collection[str]) -> dict[str, str]:
    """File of judgments that no evaluation needs -> why."""
    found, graded = {}, {_but(path, GRADES): path for path in judgments if _parts_of(path) & GRADES}
    for path in judgments:
        if label_of_file(path).lower().startswith(READABILITY):
            found[path] = "says how readable documents are, which no measure here takes: left out"
        elif _parts_of(path) & NO_GRADES and (twin := graded.get(_but(path, NO_GRADES))):
            found[path] = f"the same judgments as {twin} without their grades: left out"
    return found


def _parts_of(path: str) -> set[str]:
    return set(re.split(r"[._-]+", label_of_file(path).lower()))


def _but(path: str, words: set[str]) -> tuple[str, ...]:
    """A file's folder and the parts of its name, without some words."""
    return str(PurePosixPath(path).parent), *sorted(_parts_of(path) - words)


def _above(folder: str) -> str:
    """The folder of the evaluation: not the one called `qrels`."""
    path = PurePosixPath(folder)
    while path.name.lower() in GENERIC:
        path = path.parent
    return "" if str(path) == "." else str(path)


def _best(places: list[Place], path: str) -> Place | None:
    """The evaluation that a file is of: the one whose words its path holds, of these the one in the nearest folder."""
    scored = []
    for place in places:
        inside = place.folder == "" or path.startswith(f"{place.folder}/")
        words = {place.name.lower()}
        if not place.word:
            words = words.union(YEAR.findall(_word_of(place.judgments[0]) or place.name)) - {""}
        parts = {part.lower() for part in PurePosixPath(path).parts}
        said = any(word in parts or word in YEAR.findall(path) for word in words)
        if said or (inside and (place.folder or len(places) == 1)):
            scored.append((said, inside, len(place.folder), place))
    if not scored:
        return places[0] if len(places) == 1 else None
    return max(scored, key=lambda one: one[:3])[3]


def _word_of(path: str) -> str:
    """What of a file's name tells it from its neighbours: its year, or what is left of `qrels.NAME.txt`."""
    year = YEAR.search(label_of_file(path))
    return year[0] if year else _words_of(path)


def _words_of(path: str) -> str:
    """The name of a file without its ending and what every such file is called, as folders are compared with it."""
    words = re.split(r"[._-]+", label_of_file(path))
    return "-".join(word for word in words if word.lower() not in {*GENERIC, "qrel", "test", "final"})


def left_over(kinds: Mapping[Kind, list[str]], places: list[Place]) -> list[str]:
    """Runs, judgments and queries that are of no place."""
    taken = {path for place in places for path in (*place.judgments, *place.beside, *place.runs, *place.queries[:1])}
    return [path for kind in (Kind.RUN, Kind.JUDGMENTS, Kind.QUERIES) for path in kinds[kind] if path not in taken]
