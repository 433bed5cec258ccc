"""Tables of runs beside them, such as a published leaderboard: whose each run is, and which figures were published."""

import csv
import io

from leaderboard.formats.harmless import shown
from leaderboard.numbers import is_number
from leaderboard.rules.standings import SystemKind
from leaderboard.transfer.tree import Tree

__all__ = ["LARGEST_TABLE", "published_figures", "table_of_runs"]

LARGEST_TABLE = 4 << 20  # bytes
NAMED = 8  # columns
RUN_COLUMNS = ("run", "runtag", "run tag", "tag", "runid", "run id")
TEAM_COLUMNS = ("team", "group", "organization", "organisation", "participant", "team id")
KIND_COLUMNS = ("runtype", "run type", "type", "kind")
# What differs between published figures and ours of the same name, by what the column's name begins with.
RBP = "rbp"
OLDER = "figures of trec_eval 9 or 8 need compat = 9"
SCALED = "RBP of NIST is graded: RBP(p=0.5, gain=scaled) where its p is 0.5"


def table_of_runs(tree: Tree, others: list[str]) -> dict[str, dict[str, str]]:
    """What tables in the tree say of a run, by its name in lower case: its team and kind."""
    found: dict[str, dict[str, str]] = {}
    for path in others:
        rows = _rows_of_table(tree, path)
        if not rows:
            continue
        head = [name.strip().lower() for name in rows[0]]
        run, team, kind = (_column(head, names) for names in (RUN_COLUMNS, TEAM_COLUMNS, KIND_COLUMNS))
        if run is None or team is None:
            continue
        for row in rows[1:]:
            if len(row) == len(head) and row[run].strip():
                said = row[kind].strip().lower() if kind is not None else ""
                known = said if said in set(SystemKind) else ""
                found.setdefault(row[run].strip().lower(), {"team": row[team].strip(), "kind": known})
    return found


def published_figures(tree: Tree, others: list[str]) -> list[str]:
    """What to look at where a table gives figures of the runs, a sentence for each table."""
    told = []
    for path in others:
        rows = _rows_of_table(tree, path)
        if not rows or not table_of_runs(tree, [path]):
            continue
        given = [row for row in rows[1:] if len(row) == len(rows[0])]
        names = [
            name.strip()
            for place, name in enumerate(rows[0])
            if any("." in row[place] for row in given) and all(is_number(row[place].strip()) for row in given)
        ]
        if names:
            graded = [SCALED] if any(name.lower().startswith(RBP) for name in names) else []
            some = ", ".join(map(shown, names[:NAMED])) + (", …" if len(names) > NAMED else "")
            told.append(f"{path}: has figures ({some}) to compare the board's with: {'; '.join([OLDER, *graded])}")
    return told


def _rows_of_table(tree: Tree, path: str) -> list[list[str]]:
    file = tree.files[path]
    if not path.lower().endswith((".csv", ".tsv")) or file.stat().st_size > LARGEST_TABLE:
        return []
    text = file.read_text(encoding="utf-8-sig", errors="replace").replace("\0", "")
    try:
        return [
            row
            for row in csv.reader(io.StringIO(text), delimiter="\t" if path.lower().endswith(".tsv") else ",")
            if row
        ]
    except csv.Error:
        return []


def _column(head: list[str], names: tuple[str, ...]) -> int | None:
    return next((head.index(name) for name in names if name in head), None)
