"""Do the intervals of linked years hold the truth? Campaigns of several years are drawn from real runs on real queries.

    python -m trials linked_years --campaigns 1000

A population has VERSIONS versions, each with the values of real runs (`populations.crossed`). In a campaign some of
them run unchanged in several years, one runs in the first year only and one in the last only. Each year has its own
queries, drawn from the population's. To every mean is added how the version reacts to the year unlike others: a normal
number of mean 0 and of the planted standard deviation. What is asked for is the change from the version of the first
year to that of the last. What is true of the versions is the difference of their means over the whole population; of
the years, what the mean over all VERSIONS gains from the one year's queries to the other's.

`best of 8` asks for the best of 8 versions in each year, by their means there, as a reader would. Shares are over all
populations: their mean, the lowest and the highest. The table is printed in Markdown; docs/statistics.md has it.
"""

from itertools import product
from typing import NamedTuple

import numpy as np

from leaderboard.metrics import Bools, Floats
from leaderboard.statistics.linked_years import Cells, Part, change
from trials.populations import Population, crossed, detection, parser, real, real_runs

MEASURES = ("AP", "nDCG@10", "RR", "P@10")
BETA = 20.0
QUERIES = (10, 25, 50)
PLANTED = (0.0, 0.05)
VERSIONS = 60
LEAST, MOST = 0.92, 0.985  # what coverage may be, of 95 % intervals, as of all others (`trials.statistics`)


class Design(NamedTuple):
    """ran: bool[links, years]; rivals: how many versions run in the first year only, and in the last only."""

    ran: Bools
    rivals: int = 1

    @property
    def cells(self) -> Bools:
        """bool[V, years]: the links, then those of the first year only, then those of the last only."""
        years = np.eye(self.ran.shape[1], dtype=bool)
        return np.vstack((self.ran, *[years[:1]] * self.rivals, *[years[-1:]] * self.rivals))


def _all_years(links: int, years: int) -> Bools:
    return np.ones((links, years), dtype=bool)


DESIGNS = {
    "1 link": Design(_all_years(1, 2)),
    "2 links": Design(_all_years(2, 2)),
    "3 links": Design(_all_years(3, 2)),
    "5 links": Design(_all_years(5, 2)),
    "2 links, 3 years": Design(_all_years(2, 3)),
    "3 links, 4 years": Design(_all_years(3, 4)),
    "a chain: 2 links, then 3 others": Design(np.repeat([[True, True, False], [False, True, True]], (2, 3), axis=0)),
    "5 links, best of 8": Design(_all_years(5, 2), rivals=8),
}


def main(arguments: list[str]) -> int:
    """1 when an interval holds the truth too rarely or too often."""
    options = parser("linked_years", __doc__)
    options.add_argument("--campaigns", type=int, default=200, help="drawn for every population and row (200)")
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args(arguments)
    if (data := real_runs()) is None:
        return 0
    populations = [population for measure in MEASURES for population in real(data, measure)]
    populations += detection(data, BETA, "exclude")
    columns = (f"{part}, {planted:g} planted" for planted in PLANTED for part in ("versions' part", "years' part"))
    print(f"| linked by | queries a year | {' | '.join(columns)} | give or take |\n|---|{'---|' * 6}")
    noise, good = 3 * np.sqrt(0.95 * 0.05 / asked.campaigns), True
    for (name, design), queries in product(DESIGNS.items(), QUERIES):
        cells, reaches = [], []
        for planted in PLANTED:
            rows = [coverage(each, design, queries, planted, asked.campaigns, asked.seed) for each in populations]
            shares = np.array([row.held for row in rows if row.shown])
            good &= bool(((shares > LEAST - noise) & (shares < MOST + noise)).all())
            cells += [f"{own.mean():.3f} ({own.min():.3f} to {own.max():.3f})" for own in shares.T] or ["none"] * 2
            reaches.append(f"{np.median([row.reach for row in rows]):.2f}" if len(shares) else "–")
        print(f"| {name} | {queries} | {' | '.join(cells)} | {', '.join(reaches)} |", flush=True)
    return 0 if good else 1


class Coverage(NamedTuple):
    """held: the shares of intervals that hold the truth, of the versions' part and of the years'; shown: in how many
    campaigns there were any; reach: half the median width of the versions' part's."""

    held: Floats
    shown: int
    reach: float


def coverage(
    population: Population, design: Design, queries: int, planted: float, campaigns: int, seed: int
) -> Coverage:
    generator = np.random.default_rng(seed)
    columns = crossed(population, VERSIONS, generator).columns
    values = columns[0] if len(columns) == 1 else 1 - np.sum(columns, axis=0)
    years, links, rivals = design.cells.shape[1], len(design.ran), design.rivals
    held, reach = np.zeros(2), list[float]()
    for _ in range(campaigns):
        own = generator.permutation(VERSIONS)[: len(design.cells)]
        drawn = values[generator.integers(0, len(values), (years, queries))].mean(axis=1)  # float64[years, VERSIONS]
        means = drawn[:, own].T + generator.normal(0.0, planted, design.cells.shape)
        means[~design.cells] = np.nan
        first = links + int(means[links : links + rivals, 0].argmax())
        last = links + rivals + int(means[links + rivals :, -1].argmax())
        split = change(means, Cells(np.array([first]), 0), Cells(np.array([last]), years - 1))
        if split is None or split.of_versions.low is None:
            continue
        reach.append(split.of_versions.estimate - split.of_versions.low)
        of_versions = values[:, own[last]].mean() - values[:, own[first]].mean()
        held += _holds(split.of_versions, of_versions), _holds(split.of_periods, drawn[-1].mean() - drawn[0].mean())
    return Coverage(held / max(1, len(reach)), len(reach), float(np.median(reach)) if reach else np.nan)


def _holds(part: Part, truth: float) -> bool:
    return part.low is not None and part.high is not None and part.low <= truth <= part.high
