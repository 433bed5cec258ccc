"""What one disastrous run changes of what a board says of all others: next to nothing, as little as another seed does.

Two such runs are put on every board of real runs, one after the other: one that returned everything (every document of
the collection under AQWV; under ranked measures all that anybody judged, in no order) and one that returned nothing.
Compared is which of the others is significantly better than which, and who of them may be the best. Beside it stands
how much the same board changes when nothing but the seed does.

Near copies of the best and of the worst run, a little worse everywhere, that lost the query on which they were best,
are put there too, and twenty copies of the middle one that are a little worse on most queries. They change more, which
is shown and not held against anything: docs/statistics.md has how much.

    python -m trials disastrous_run

The exit status is 1 when a disastrous run changes more pairs of a board than MOST_CHANGED of them.
"""

import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from leaderboard.formats import read_judgments, read_run
from leaderboard.metrics import Floats, Ranking, Setting, parse
from leaderboard.scoring import join, prepare
from leaderboard.statistics import contributions
from leaderboard.statistics.ranks import RankSets, rank_sets
from trials.populations import BETAS, COLLECTIONS, detection, parser, rankings, real_runs

__all__ = ["DISASTROUS", "Board", "Changed", "changed", "real_boards"]

MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@100")
DISASTROUS = ("everything", "nothing")
MOST_CHANGED = 0.05  # of a board's pairs, by a disastrous run: borderline ones, as another seed changes some
OTHER_SEED = 2
A_LITTLE = 0.001
COPIES, SHIFTED = 20, 0.85  # of the middle run; the share of the queries on which they are worse


@dataclass(frozen=True, eq=False)
class Board:
    """values: float64[Q, S] of the systems; width: of the measure's limits; odd: name of an odd run -> its
    values, float64[Q], or of several, float64[Q, n]."""

    name: str
    values: Floats
    width: float
    odd: dict[str, Floats]


@dataclass(frozen=True)
class Changed:
    """pairs: how many pairs of the others are told apart on one of two boards only; best: whether others may be the
    best."""

    pairs: int
    best: bool


def real_boards(data: Path) -> Iterator[Board]:
    """The real runs under ranked measures, and under AQWV with each β."""
    for name, collection in COLLECTIONS.items():
        everything = _everything(data / collection.folder)
        for measure in MEASURES:
            own = parse(measure).at_relevance(collection.rel)
            values = np.stack([own.evaluate(each).values for each in rankings(data, name)], axis=1)
            odd = {"everything": own.evaluate(everything).values, "nothing": np.zeros(len(values))}
            yield Board(f"{name}, {own}", values, 1.0, odd | _near_copies(values, 0.0))
    for beta in BETAS:
        for population in detection(data, beta, "exclude"):
            each = [tuple(column[:, place] for column in population.columns) for place in range(population.systems)]
            values = np.stack([contributions(columns, population.aggregation) for columns in each], axis=1)
            odd = {"everything": np.full(len(values), 1.0 - beta), "nothing": np.zeros(len(values))}
            yield Board(population.name, values, 1.0 + beta, odd | _near_copies(values, 1.0 - beta))


def _near_copies(values: Floats, worst: float) -> dict[str, Floats]:
    """Of the best and the worst column of float64[Q, S]; `worst` is what a lost query is worth."""
    order = np.argsort(values.mean(axis=0))
    found = {}
    for name, place in (("a copy of the best", order[-1]), ("a copy of the worst", order[0])):
        own = values[:, place] - np.random.default_rng(1).random(len(values)) * A_LITTLE
        own[np.argmax(values[:, place])] = worst
        found[name] = own
    draw, middle = np.random.default_rng(1), values[:, [order[len(order) // 2]]]
    shift = np.linspace(A_LITTLE, 10 * A_LITTLE, COPIES) * (draw.random((len(values), COPIES)) < SHIFTED)
    return found | {"twenty copies": middle - shift}


def _everything(folder: Path) -> Ranking:
    """A run that lists for every query all documents that are judged for any, with equal scores."""
    judgments = read_judgments(folder / "qrels.txt")
    judged = prepare(judgments)
    with (folder / "qrels.txt").open() as file:
        documents = sorted({line.split()[2] for line in file if line.strip()})
    lines = "".join(f"{query} Q0 {document} 0 0 all\n" for query in judged.queries for document in documents)
    return join(read_run(io.BytesIO(lines.encode()), name="everything"), judged, Setting()).ranking


def changed(alone: RankSets, beside: RankSets) -> Changed:
    """What differs between two boards of the same systems; the second may have more of them, behind the first."""
    count = len(alone.better)
    pairs = int(np.count_nonzero(alone.better != beside.better[:count, :count]))
    return Changed(pairs, bool((alone.best != beside.best[:count]).any()))


def main(arguments: list[str]) -> int:
    """Prints a line for each board and run."""
    parser("disastrous_run", __doc__).parse_args(arguments)
    if (data := real_runs()) is None:
        return 0
    print("| board | S | queries | told apart | run | pairs changed | best changed | another seed: pairs | best |")
    print("|---|---|---|---|---|---|---|---|---|")
    good = True
    for board in real_boards(data):
        queries, systems = board.values.shape
        alone = rank_sets(board.values, "higher", width=board.width)
        noise = changed(alone, rank_sets(board.values, "higher", width=board.width, seed=OTHER_SEED))
        for name, odd in board.odd.items():
            found = changed(alone, rank_sets(np.column_stack([board.values, odd]), "higher", width=board.width))
            row = (board.name, systems, queries, int(alone.better.sum()), name)
            print(f"| {' | '.join(map(str, row))} | {found.pairs} | {found.best} | {noise.pairs} | {noise.best} |")
            if name in DISASTROUS:
                good &= found.pairs <= max(noise.pairs, MOST_CHANGED * systems * (systems - 1) / 2)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
