"""Whether a frozen evaluation is as it was written: every file by its hash, every figure by its run and judgments."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from leaderboard import metrics
from leaderboard.errors import BadInput
from leaderboard.freezing.copying import CRATE, sha256_of
from leaderboard.freezing.rules import DATA, SUMS

LINE = re.compile("([0-9a-f]{64})  (.+)")
ENTITY = re.compile(r'"name": "([^"]+)", "encodingFormat".*"sha256": "([0-9a-f]{64})"')  # a line of the RO-Crate
Difference = tuple[str, str]  # a file, and what is wrong with it


def files_that_differ(folder: Path) -> Iterator[Difference]:
    """Every file that was changed, added or taken away since the folder was written.

    Raises BadInput where the folder is no frozen evaluation.
    """
    if not (folder / SUMS).is_file():
        raise BadInput(f"{folder} is no frozen evaluation: it has no {SUMS}")
    listed, crate = {SUMS}, dict[str, str]()
    if (folder / CRATE).is_file():
        crate.update(ENTITY.findall((folder / CRATE).read_text("utf-8", "replace")))
    for number, line in enumerate((folder / SUMS).read_text("utf-8", "replace").splitlines(), 1):
        parts = LINE.fullmatch(line)
        if parts is None or not (folder / parts[2]).resolve().is_relative_to(folder.resolve()):
            yield SUMS, f"line {number} can't be read"
            continue
        listed.add(parts[2])
        if not (folder / parts[2]).is_file():
            yield parts[2], "is missing"
        elif (digest := sha256_of(folder / parts[2])) == crate.get(parts[2]) != parts[1]:
            yield SUMS, f"line {number} was changed: {parts[2]} has the SHA-256 that {CRATE} gives"
        elif digest != parts[1]:
            yield parts[2], f"was changed: its SHA-256 is not that of {SUMS}"
    names = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if not path.is_dir())
    yield from ((name, "was added") for name in names if name not in listed)


def compute_again(
    folder: Path, receipt: Path, score: Callable[[str, Path], Mapping[str, Any]]
) -> list[Difference] | str:
    """Every figure of a run, in its own file and on the board, that its file and the judgments don't give, to the last
    digit; or why they can't be computed again, in words.

    score  runs a receipt's command in a folder, and gives what it prints of the run, query by query
    """
    said = json.loads(receipt.read_text("utf-8"))
    lacking = [name for name in said["files"].values() if not (folder / DATA / name).is_file()]
    if said["no_command"] or lacking:
        return str(said["no_command"] or f"not in the folder: {', '.join(lacking)}")
    if said["metric_version"] != metrics.MEASURES_VERSION:
        return f"scored by version {said['metric_version']} of the measures, this is {metrics.MEASURES_VERSION}"
    number, scored = said["submission"], score(said["command"], folder / DATA)
    means = {name: measure["mean"] for name, measure in scored["measures"].items()}
    own, board = f"submission-{number}.json", f"{said['files']['judgments'].removesuffix('-judgments.txt')}.json"
    first, *queries = json.loads((folder / DATA / own).read_text("utf-8"))["rows"]
    on_board = json.loads((folder / DATA / board).read_text("utf-8"))["rows"]
    rows = [(own, "", first, means)]
    rows += [(own, f" on {row['query']}", row, scored["per_query"].get(row["query"], {})) for row in queries]
    rows += [(board, f" of submission {number}", row, means) for row in on_board if row["submission"] == number]
    return [
        (f"{DATA}/{file}", f"{name}{where} is {row[name]}; the run and the judgments give {computed[name]}")
        for file, where, row, computed in rows
        for name in row.keys() & computed.keys()
        if row[name] != computed[name]
    ]
