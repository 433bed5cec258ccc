"""Is the smallest difference found as often as is said? The values are those of real runs, their differences known.

    python -m trials smallest_difference --campaigns 400

For every pair of runs the differences from query to query are moved so that their mean is the smallest that n queries
find with probability .8; campaigns draw n queries with replacement, and the t test of each is counted. What can go
wrong is that differences of real measures are no normal ones. The table is printed in Markdown; docs/statistics.md has
it.
"""

from itertools import combinations

import numpy as np
from scipy import stats

from leaderboard.metrics import Floats
from leaderboard.metrics.aggregation import GEOMETRIC_MEAN
from leaderboard.statistics import POWER, contributions
from leaderboard.statistics.comparison import SIGNIFICANCE, smallest_effect
from trials.populations import parser, real, real_runs

MEASURES = ("AP", "nDCG@10", "RR", "P@10", "GMAP")
QUERIES = (10, 25, 50)
OFF = 0.03  # by which the mean over the pairs may be off


def main(arguments: list[str]) -> int:
    """1 when the mean share over the pairs is not what is said."""
    options = parser("smallest_difference", __doc__)
    options.add_argument("--campaigns", type=int, default=400, help="drawn for every pair of runs (400)")
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args(arguments)
    if (data := real_runs()) is None:
        return 0
    print("| values | queries | found, mean over pairs | lowest pair | highest pair |\n|---|---|---|---|---|")
    good = True
    for measure in MEASURES:
        population = next(real(data, measure))
        values = population.columns[0]
        if population.aggregation is GEOMETRIC_MEAN:  # compared by logarithms
            values = contributions((values,), GEOMETRIC_MEAN)
        for queries in QUERIES:
            found = shares_found(values, queries, asked.campaigns, asked.seed)
            print(f"| {population.name} | {queries} | {found.mean():.3f} | {found.min():.2f} | {found.max():.2f} |")
            good &= bool(abs(found.mean() - POWER) <= OFF)
    return 0 if good else 1


def shares_found(values: Floats, queries: int, campaigns: int, seed: int) -> Floats:
    """Of each pair of the systems, values float64[Q, S], how often the t test finds it in the right direction."""
    generator = np.random.default_rng(seed)
    effect, critical = smallest_effect(queries), stats.t.isf(SIGNIFICANCE / 2, queries - 1)
    found = []
    for first, second in combinations(range(values.shape[1]), 2):
        difference = values[:, first] - values[:, second]
        deviation = difference.std()
        if deviation == 0:  # two runs without a difference
            continue
        moved = difference - difference.mean() + effect * deviation
        drawn = moved[generator.integers(0, len(moved), (campaigns, queries))]
        errors = drawn.std(axis=1, ddof=1) / np.sqrt(queries)
        found.append(float(np.mean(drawn.mean(axis=1) > critical * errors)))
    return np.array(found)
