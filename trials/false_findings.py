"""How often a board calls a system better that is not, and how many true differences it finds, by each procedure that
compares all pairs of systems, all on the same draws.
"""

from collections import defaultdict
from collections.abc import Callable

import numpy as np
from scipy import stats

from leaderboard.metrics import Bools, Floats
from leaderboard.statistics import contributions
from leaderboard.statistics.comparison import holm, tukey_hsd
from leaderboard.statistics.ranks import rank_sets
from trials.campaigns import ALPHA, RESAMPLES, Cell, Chunk, Counts, least, markdown, populations
from trials.populations import Population, clones, crossed, recentred

# A procedure takes the values, float64[Q, S], and says of every pair whether the first is significantly better.
Procedure = Callable[[Floats, int], Bools]


def by_tukey(values: Floats, seed: int) -> Bools:
    p = tukey_hsd(values, permutations=RESAMPLES, seed=seed)
    return _better(values, p <= ALPHA)


def by_holm_and_t(values: Floats, _seed: int) -> Bools:
    first, second = np.triu_indices(values.shape[1], 1)
    difference = values[:, first] - values[:, second]
    spread = difference.std(axis=0, ddof=1)
    alike = spread <= 1e-12
    t = difference.mean(axis=0) / np.where(alike, 1.0, spread) * np.sqrt(len(values))
    p = np.where(alike, 1.0, 2 * stats.t.sf(np.abs(t), len(values) - 1))
    return _of_pairs(values, p)


def by_holm_and_sign_flips(values: Floats, seed: int) -> Bools:
    first, second = np.triu_indices(values.shape[1], 1)
    difference = values[:, first] - values[:, second]
    # Holm's smallest level is alpha / pairs: the draws have to reach well below it.
    flips = int(min(20_000, max(2_000, 10 * len(first) / ALPHA)))
    signs = np.random.default_rng(seed).integers(0, 2, (flips, len(values))) * 2.0 - 1.0
    reached = np.abs(difference.sum(axis=0)) - 1e-12
    p = (1 + np.count_nonzero(np.abs(signs @ difference) >= reached, axis=0)) / (1 + flips)
    return _of_pairs(values, p)


def _of_pairs(values: Floats, p: Floats) -> Bools:
    systems = values.shape[1]
    corrected = np.ones((systems, systems))
    corrected[np.triu_indices(systems, 1)] = np.array(holm(p.tolist()), dtype=np.float64)
    return _better(values, np.minimum(corrected, corrected.T) <= ALPHA)


def _better(values: Floats, apart: Bools) -> Bools:
    means = values.mean(axis=0)
    found: Bools = apart & (means[:, np.newaxis] > means)
    return found


RANK_SETS = "rank sets"
PROCEDURES: dict[str, Procedure] = {
    "Tukey": by_tukey,
    "Holm, t": by_holm_and_t,
    "Holm, sign flips": by_holm_and_sign_flips,
}
MOST_FOR_SIGN_FLIPS = 10  # systems: with more it takes very many draws to reach Holm's smallest level
NOISE = 0.01  # standard deviation of what a copy of a run adds to each query's value
ALONE = "as they are"  # real means: tried for who may be the best, with rank sets only
STEP = 0.05  # between the systems that do differ, in a partial null


def campaign(cell: Cell, population: Population, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """(what each query adds to each system's figure, float64[Q, S]; the true figure of each system, float64[S])."""
    systems, kind = cell.systems, cell.kind
    if kind.startswith("clones"):
        of_board = clones(population, systems, int(kind.split()[1]), generator)
    elif kind in ("exchangeable", ALONE):
        of_board = crossed(population, systems, generator)
    else:
        below = np.zeros(systems)
        if kind == "partial null":
            below[systems // 2 :] = STEP * np.arange(1, systems - systems // 2 + 1)
        elif kind.startswith("apart by"):
            below[systems // 2 :] = float(kind.split()[2])
        of_board = recentred(crossed(population, systems, generator), below)
    columns, truth = of_board.draw(cell.queries, generator), of_board.truth
    if kind == "exchangeable":  # on every query, the values belong to the systems in an order of its own
        order = generator.permuted(np.tile(np.arange(systems), (cell.queries, 1)), axis=1)
        columns, truth = tuple(np.take_along_axis(one, order, axis=1) for one in columns), np.zeros(systems)
    each = zip(*(one.T for one in columns), strict=True)
    values = np.stack([contributions(own, of_board.aggregation) for own in each], axis=1)
    if kind.startswith("clones"):  # nearly copies: each has a little noise of its own
        copies = systems - int(kind.split()[1])
        return values + generator.normal(0, NOISE, values.shape) * (np.arange(systems) < copies), truth
    if kind == "one disastrous run":
        worst = -float(cell.measure.split()[1]) if cell.measure.startswith("AQWV") else 0.0
        values, truth = values.copy(), truth.copy()
        values[:, -1] = truth[-1] = worst
    return values, truth


def board(chunk: Chunk) -> Counts:
    """For each procedure: campaigns that it judged, those with a false finding, and the true differences found. Of rank
    sets too: how many systems are the best ("top"), how many of these may be by the board ("held"), how many may be at
    all, and how many have rank 1 in their set."""
    cell, generator = chunk.cell, chunk.generator
    found: Counts = defaultdict(int)
    every, needed = populations(cell.measure), least(cell.measure).for_ranks
    for number in range(chunk.campaigns):
        population = every[number % len(every)]
        values, truth = campaign(cell, population, generator)
        is_better = truth[:, np.newaxis] > truth + 1e-9
        found["campaigns"] += 1
        found["pairs"] += int(np.count_nonzero(is_better))
        seed = int(generator.integers(2**31))
        judged: dict[str, Bools] = {}
        if cell.queries >= needed:  # else a board says nothing of ranks
            ranks = rank_sets(values, "higher", resamples=RESAMPLES, seed=seed)
            judged[RANK_SETS] = ranks.better
            top = ~is_better.any(axis=0)
            found["top"] += int(top.sum())
            found["held"] += int((top & ranks.best).sum())
            found["may be the best"] += int(ranks.best.sum())
            found["rank 1"] += sum(own.low == 1 for own in ranks.sets)
        for name, procedure in PROCEDURES.items() if cell.kind != ALONE else ():
            if procedure is not by_holm_and_sign_flips or cell.systems <= MOST_FOR_SIGN_FLIPS:
                judged[name] = procedure(values, seed)
        for name, better in judged.items():
            found[f"run {name}"] += 1
            found[f"false {name}"] += bool((better & ~is_better).any())
            found[f"pairs {name}"] += int(np.count_nonzero(better & is_better))
    return found


def board_table(total: dict[Cell, Counts]) -> str:
    rows = []
    for cell, counts in total.items():
        if cell.kind == "coverage" or not counts["campaigns"]:
            continue
        shares = []
        for name in (RANK_SETS, *PROCEDURES):
            if not (drawn := counts[f"run {name}"]):
                shares.append("–")
                continue
            text = f"{counts[f'false {name}'] / drawn:.3f}".lstrip("0") if counts[f"false {name}"] < drawn else "1"
            if counts["pairs"]:  # as many in every campaign
                there = counts["pairs"] * drawn / counts["campaigns"]
                text += f"; {counts[f'pairs {name}'] / there:.2f}".replace("; 0", "; ")
            shares.append(text)
        rows.append([cell.kind, cell.measure, str(cell.systems), str(cell.queries), str(counts["campaigns"]), *shares])
    return markdown(["systems", "measure", "S", "queries", "campaigns", RANK_SETS, *PROCEDURES], rows)


def best_table(total: dict[Cell, Counts]) -> str:
    """How often a best system may be the best by the board, and how many may be, beside those with rank 1 in a set."""
    rows = []
    for cell, counts in total.items():
        if campaigns := counts[f"run {RANK_SETS}"]:
            held = f"{counts['held'] / counts['top']:.3f}".lstrip("0")
            sizes = (f"{counts[name] / campaigns:.1f}" for name in ("may be the best", "rank 1"))
            rows.append([cell.kind, cell.measure, str(cell.systems), str(cell.queries), str(campaigns), held, *sizes])
    head = ["systems", "measure", "S", "queries", "campaigns", "best named", "may be the best", "rank 1 in their set"]
    return markdown(head, rows)
