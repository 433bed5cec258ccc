"""Is the smallest difference found as often as is said? The values are those of real runs, their differences known.

    python -m trials smallest_difference --campaigns 400

For every pair of runs the differences from query to query are moved so that their mean is the smallest that n queries
find with probability .8; campaigns draw n queries with replacement, and the t test of each is counted. What can go
wrong is that differences of real measures are no normal ones.

Then boards of real runs, campaigns as well. Counted is how often rank sets tell two systems apart, in the right
direction, of which the true means differ by about what the board says that it finds with probability .8.

The tables are printed in Markdown; docs/statistics.md has them.
"""

from itertools import combinations, product

import numpy as np
from scipy import stats

from leaderboard.metrics import Floats
from leaderboard.metrics.aggregation import GEOMETRIC_MEAN
from leaderboard.statistics import POWER, contributions, detectable_by_pairs
from leaderboard.statistics.comparison import SIGNIFICANCE, smallest_effect
from leaderboard.statistics.ranks import rank_sets
from trials.campaigns import RESAMPLES
from trials.populations import Population, crossed, parser, real, real_runs

MEASURES = ("AP", "nDCG@10", "RR", "P@10", "GMAP")
QUERIES = (10, 25, 50)
OFF = 0.03  # by which the mean over the pairs may be off
SYSTEMS = (10, 30)
NEAR = 0.1
ENOUGH = 20  # pairs, of whose share something is said
LEAST_FOUND, MOST_FOUND = 0.75, 0.9  # of the pairs of a board, the mean over all boards


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
    print("\n| values | systems | queries | smallest difference | of a t test | pairs | found by rank sets |")
    print("|---|---|---|---|---|---|---|")
    shares = []
    for measure, systems, queries in product(MEASURES[:-1], SYSTEMS, QUERIES[1:]):
        for population in real(data, measure):
            campaigns = asked.campaigns // systems
            board, alone, pairs, share = of_boards(population, systems, queries, campaigns, asked.seed)
            print(
                f"| {population.name} | {systems} | {queries} | {board:.3f} | {alone:.3f} | {pairs:.0f} | {share:.2f} |"
            )
            shares += [share] if pairs >= ENOUGH else []
    good &= LEAST_FOUND <= float(np.mean(shares)) <= MOST_FOUND
    return 0 if good else 1


def of_boards(population: Population, systems: int, queries: int, campaigns: int, seed: int) -> Floats:
    """(the difference that boards of real runs say they find; what they would say of a t test of one pair alone; how
    many pairs truly differ by what their board says, give or take NEAR of it; how often rank sets find these)."""
    generator = np.random.default_rng(seed)
    said, found = [], list[bool]()
    for _ in range(campaigns):
        board = crossed(population, systems, generator)
        (values,) = board.draw(queries, generator)
        ranks = rank_sets(values, "higher", width=1.0, resamples=RESAMPLES, seed=int(generator.integers(2**31)))
        best_first = values[:, np.argsort(-values.mean(axis=0))]
        said_by_board = detectable_by_pairs(best_first, ranks.critical, ranks.deviation).difference
        if said_by_board is not None:
            said.append((said_by_board, detectable_by_pairs(best_first).difference or 0.0))
            apart = board.truth[:, np.newaxis] - board.truth
            found += ranks.better[np.abs(apart / said_by_board - 1.0) <= NEAR].tolist()
    return np.array([*np.mean(said, axis=0), len(found), np.mean(found)])


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
