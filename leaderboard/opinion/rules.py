"""Per-query values of the systems of any board, read from CSV, and what a board of ours would say of them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from leaderboard import statistics
from leaderboard.errors import FileRejected
from leaderboard.formats import ByteSource, Limits, open_plain
from leaderboard.formats.plain_text import MIB, shown
from leaderboard.formats.problems import BATCH_BYTES, HEAD_BYTES, Problems, Wrong, wrong_width
from leaderboard.formats.records import csv_records
from leaderboard.formats.tables import our_name
from leaderboard.frozen import frozen
from leaderboard.metrics import Floats
from leaderboard.metrics.measure import Direction
from leaderboard.numbers import counted, is_number, read_number, together
from leaderboard.statistics import Interval
from leaderboard.statistics.fragility import Fragility
from leaderboard.statistics.ranks import rank_sets

TEXT = Limits(expanded_bytes=128 * MIB)
NO_SYSTEMS = "needs a column of queries, then two columns or more with names of different systems"
NAMED = 5  # systems or items that a sentence names
SIDEWAYS = "Is this table on its side? A row is a query, a column a system."  # of one with more columns than rows
DRAWN = 20_000_000  # items drawn for intervals at most, as for a board
MOST = 1e9  # a value, either way


@frozen
class SystemOpinion:
    """rank: on these rows; low, high: the ranks that the system may have."""

    system: str
    rank: int | None
    low: int | None
    high: int | None
    may_be_best: bool
    mean: Interval


@frozen
class Opinion:
    """item: what a row of the values is, `query` or `item`. rows: the best first. finding: what may be said of them, in
    sentences."""

    item: str
    items: int
    direction: Direction
    rows: tuple[SystemOpinion, ...]
    finding: tuple[str, ...]
    rank_resamples: int
    detectable: statistics.Detectable
    leader: str | None
    lead_rests_on: tuple[str, ...]


def opinion_or_problems(source: Path | ByteSource, name: str, direction: Direction) -> Opinion | tuple[str, ...]:
    """For a process of its own, from which no exception comes back."""
    try:
        return opinion(source, name, direction)
    except FileRejected as error:
        return tuple(error.lines)


def opinion(source: Path | ByteSource, name: str, direction: Direction) -> Opinion:
    """Of CSV with a head: the item in the first column, a system in each other one. As for a board of means over items,
    whose values are within 0 and 1 where all of these are. Raises FileRejected with everything that is wrong."""
    item, items, systems, values = _read(source, name)
    # Where they are not those of most measures, so wide that no pair is told apart by them alone.
    limits = (0.0, 1.0) if values.min() >= 0 and values.max() <= 1 else (-MOST, MOST)
    columns = {system: (column,) for system, column in zip(systems, values.T, strict=True)}
    resamples = statistics.affordable_resamples(len(items), DRAWN)
    ranks = rank_sets(values, direction, width=limits[1] - limits[0], resamples=resamples)
    means = statistics.intervals([*columns.values()], limits=limits, resamples=resamples)
    of_systems = zip(systems, ranks.sets, ranks.best.tolist(), means, strict=True)
    rows = [SystemOpinion(system, *own, may_be, mean) for system, own, may_be, mean in of_systems]
    rows.sort(key=lambda row: row.rank or 0)
    best_first = values[:, [systems.index(row.system) for row in rows]]
    known = statistics.detectable_by_pairs(best_first, ranks.critical, ranks.deviation)
    lead = statistics.fragility(columns, direction=direction)
    removed = tuple(items[at] for at in lead.removed)
    power = _power(known, item, float(np.ptp(values)))
    finding = *[SIDEWAYS][: len(systems) > len(items)], _best(rows), power, *_lead(lead, removed, item)
    return Opinion(item, len(items), direction, tuple(rows), finding, ranks.resamples, known, lead.leader, removed)


def _read(source: Path | ByteSource, name: str) -> tuple[str, list[str], list[str], Floats]:
    """What a row is; the items; the systems; float64[items, systems]."""
    problems = Problems(name, TEXT)
    with open_plain(source, TEXT, name) as text:
        delimiter = chr(max(b",;\t", key=text.peek(HEAD_BYTES).partition(b"\n")[0].count))
        records = csv_records(text, problems, BATCH_BYTES, delimiter)
        (_, (first, *systems)), *rows = [(line, [*map(str.strip, cells)]) for line, cells in records] or [(1, [""])]
    rows = [row for row in rows if any(row[1][1:]) or len(row[1]) == 1]  # what has no value for any system says nothing
    items, problems.lines = dict[str, int](), len(rows)
    values = np.full((len(rows), len(systems)), np.nan)
    for row, (line, (item, *cells)) in zip(values, rows, strict=True):
        if len(cells) != len(systems):
            problems.add(line, wrong_width(str(len(systems) + 1), len(cells) + 1, shown(", ".join((first, *systems)))))
        elif items.setdefault(item, line) != line:
            problems.add(line, Wrong(f"{shown(item)} is on line {items[item]} already", "the row is there already"))
        for at, (system, cell) in enumerate(zip(systems, cells, strict=False)):
            try:
                row[at] = read_number(cell)
                if abs(row[at]) > MOST:
                    raise ValueError(f"beyond ±{MOST:,.0f}")
            except ValueError as error:
                if "," in cell and is_number(point := cell.replace(",", ".", 1)):
                    raise problems.rejection(f"write {point}, not {cell}", line) from None
                wrong = f"{shown(cell)} is {error}" if cell else "the value is missing"
                problems.add(line, Wrong(f"{shown(system)}: {wrong}", f"{shown(system)}: no value"))
    if len(systems) < 2 or "" in systems or len({*systems}) < len(systems):
        raise problems.rejection(NO_SYSTEMS, 1)
    problems.raise_if_any()
    if len(rows) < statistics.LEAST_QUERIES:
        size = f"{counted(len(systems), 'system')} on {counted(len(rows), 'row')}"
        hint = f". {SIDEWAYS}" if len(systems) > len(rows) else ""
        raise problems.rejection(f"has {size}; at least {statistics.LEAST_QUERIES} rows are needed{hint}")
    return "query" if our_name(first) == "query" else "item", [*items], systems, values


def _best(rows: Sequence[SystemOpinion]) -> str:
    best = [row.system for row in rows if row.may_be_best]
    says = f"one of {len(best)}: {together(best, NAMED)}" if len(best) > 1 else best[0]
    return f"At {100 * statistics.CONFIDENCE:g} % confidence the best system is {says}."


def _power(known: statistics.Detectable, item: str, widest: float) -> str:
    """widest: how far two of the values are apart, and two systems at most"""
    if known.difference is None or known.smaller is None:
        return f"Which differences can be found can't be said: {known.reason}."
    sure, items = f"with a probability of about {statistics.POWER:g}", counted(known.queries, item)
    if known.difference > widest:
        return f"With {items} no difference within the range of these values is found {sure}."
    takes = f"about {float(f'{known.queries_for_smaller:.2g}'):,.0f}" if known.queries_for_smaller else "over a million"
    finds = f"With {items} a difference of {known.difference:.2g} between two systems is found {sure}"
    return f"{finds}; to find one of {known.smaller:g} takes {takes}."


def _lead(lead: Fragility, removed: Sequence[str], item: str) -> Iterator[str]:
    if removed:
        others, shares = [system for system in lead.then if system != lead.leader], lead.leader in lead.then
        then = f"{'it would share the first place with ' if shares else ''}{together(others, NAMED)}"
        rests = f"The lead of {lead.leader} rests on {len(removed):,} of {counted(lead.queries, item)}"
        without = f"{counted(len(removed), item).partition(' ')[2]} {together(removed, NAMED)}"
        yield f"{rests}: without {without}, {then}{'' if shares else ' would be first'}."
