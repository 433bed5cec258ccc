"""Do the intervals of linked years hold the truth? Two years are drawn from real runs whose true effects are known.

    python -m trials linked_years --campaigns 2000

The queries of the first year come from one half of a collection's queries and those of the second from the other, so
that one set is harder. Two runs stand for versions that ran unchanged in both years; a third ran in the first only, a
fourth in the second. What is asked for is the change from the first run in the first year to the fourth in the second.
What is true is what the same fit gives on the whole halves, each query once. The table is printed in Markdown;
docs/statistics.md has it.
"""

import numpy as np

from leaderboard.metrics import Floats
from trials.linked_years_model import Cell, change
from trials.populations import Population, parser, real, real_runs

MEASURES = ("AP", "nDCG@10", "RR", "P@10")
QUERIES = (10, 25, 50)
RAN = {"first": (0, 1, 2), "second": (0, 1, 3)}  # year -> runs
ASKED: tuple[Cell, Cell] = (("0", "first"), ("3", "second"))
PARTS = ("total", "of_version", "of_periods", "rest")
RESAMPLES = 1_000
LEAST, MOST = 0.92, 0.985  # what coverage may be, of 95 % intervals


def main(arguments: list[str]) -> int:
    """1 when an interval holds the truth too rarely or too often."""
    options = parser("linked_years", __doc__)
    options.add_argument("--campaigns", type=int, default=500, help="drawn for every row (500)")
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args(arguments)
    if (data := real_runs()) is None:
        return 0
    print(f"| values | queries a year | {' | '.join(PARTS)} | without an interval |\n|---|---|{'---|' * 5}")
    good = True
    for measure in MEASURES:
        population = next(real(data, measure))
        for queries in QUERIES:
            held, without = coverage(population, queries, asked.campaigns, asked.seed)
            shares = " | ".join(f"{share:.3f}" for share in held)
            print(f"| {population.name} | {queries} | {shares} | {without} |", flush=True)
            noise = 3 * np.sqrt(0.95 * 0.05 / asked.campaigns)
            good &= bool(((held > LEAST - noise) & (held < MOST + noise)).all())
    return 0 if good else 1


def coverage(population: Population, queries: int, campaigns: int, seed: int) -> tuple[Floats, int]:
    """(the share of intervals that hold the truth, for each of PARTS; in how many campaigns one of them had none)."""
    (values,) = population.columns
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(values))
    halves = {"first": values[order[: len(values) // 2]], "second": values[order[len(values) // 2 :]]}
    true = change(_cells(halves), *ASKED, resamples=1)
    truth = np.array([getattr(true, part).estimate for part in PARTS])
    held, given = np.zeros(len(PARTS)), np.zeros(len(PARTS))
    without = 0
    for campaign in range(campaigns):
        drawn = {year: half[generator.integers(0, len(half), queries)] for year, half in halves.items()}
        found = change(_cells(drawn), *ASKED, resamples=RESAMPLES, seed=campaign)
        effects = [getattr(found, part) for part in PARTS]
        has = np.array([effect.low is not None for effect in effects])
        low, high = (
            np.array([np.nan if getattr(effect, end) is None else getattr(effect, end) for effect in effects])
            for end in ("low", "high")
        )
        held += (low <= truth + 1e-12) & (truth - 1e-12 <= high)
        given += has
        without += int(not has.all())
    return held / np.maximum(1.0, given), without


def _cells(years: dict[str, Floats]) -> dict[Cell, Floats]:
    return {(str(run), year): values[:, run] for year, values in years.items() for run in RAN[year]}
