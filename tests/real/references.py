"""The runs of the shared data that have trec_eval's answer beside them."""

import gzip
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from leaderboard.formats import read_judgments
from leaderboard.scoring import JudgedQueries, prepare

# Where trec_eval's answers lie, and the judgments they were made with.
FOLDERS = {
    "clef-ehealth/2015": "qrels.clef2015.test.graded.txt",
    "dl-hard": "qrels.txt",
    "ir_measures-ranx": "{stem}.qrels",
    "trec-cast21": "qrels.txt",
    "trec-covid/round1": "qrels.txt",
    "trec-covid/round2": "qrels.txt",
    "trec-dl/2019": "qrels.txt",
}
ANNOTATORS = "trec-dl/annotator-qrels"
ANSWERS: tuple[tuple[str, Literal[9, 10], int], ...] = (
    (".trec_eval.txt.gz", 10, 1),
    (".trec_eval.l2.txt.gz", 10, 2),
    (".trec_eval-9.0.8.txt.gz", 9, 1),
)


class Reference(NamedTuple):
    """One answer: `trec_eval -q -c -m all_trec` of this version, at this level, on this run."""

    answer: Path
    run: Path
    judgments: Path
    compat: Literal[9, 10]
    level: int


def references(data: Path) -> Iterator[Reference]:
    """Every answer beside a run."""
    for folder, judgments in FOLDERS.items():
        for ending, compat, level in ANSWERS:
            for answer in sorted((data / folder).glob(f"*{ending}")):
                name = answer.name.removesuffix(ending)
                plain = answer.parent / name
                run = plain if plain.exists() else answer.parent / f"{name}.gz"
                stem = name.removesuffix(".run")
                yield Reference(answer, run, answer.parent / judgments.format(stem=stem), compat, level)
    for answer in sorted((data / ANNOTATORS).glob("*.on.*.trec_eval.txt.gz")):
        name, _, judgments = answer.name.removesuffix(".trec_eval.txt.gz").partition(".on.")
        beside = data / "trec-dl/2019"
        run = next(file for file in (beside / f"{name}.judged.gz", beside / f"{name}.gz") if file.exists())
        yield Reference(answer, run, answer.parent / f"{judgments}.txt", 10, 1)


def runs(data: Path) -> dict[Path, list[Reference]]:
    """The same by run, so that each is read once."""
    by_run: dict[Path, list[Reference]] = {}
    for reference in references(data):
        by_run.setdefault(reference.run, []).append(reference)
    return by_run


@cache
def judged_by(judgments: Path) -> JudgedQueries:
    return prepare(read_judgments(judgments))


def text_of(file: Path) -> str:
    return gzip.decompress(file.read_bytes()).decode()
