"""Several systems against one baseline: differences with intervals, tests with their corrected p-values, effect sizes.

Sources: S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979;
Y. Benjamini and Y. Hochberg, Controlling the False Discovery Rate, Journal of the Royal Statistical Society B 57, 1995.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.errors import BadInput
from leaderboard.metrics.aggregation import GEOMETRIC_MEAN, MEAN, Aggregation, Columns
from leaderboard.metrics.measure import Direction
from leaderboard.statistics.contributions import common, contributions
from leaderboard.statistics.defaults import CONFIDENCE, LEAST_QUERIES, RESAMPLES, SEED
from leaderboard.statistics.intervals import Interval, difference_interval
from leaderboard.statistics.paired import Effects, PairedTest, effect_sizes, paired_t, randomisation_test, wilcoxon
from leaderboard.statistics.power import Detectable, detectable, detectable_by_pairs, queries_needed
from leaderboard.statistics.swaps import SwapRate, swap_rates
from leaderboard.statistics.tukey import tukey_hsd


@dataclass(frozen=True, slots=True)
class CorrectedTest:
    """A test of one comparison, and its p corrected by each method for the number of comparisons; None where it has no
    p."""

    test: PairedTest
    holm: float | None
    benjamini_hochberg: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One system against the baseline, on the queries where both have a value.

    difference  of their means, system − baseline, with its interval
    tests       randomisation, t and Wilcoxon, in this order
    effects     d_z, dominance, and queries better, worse and tied
    detectable  the smallest difference that these queries find of this pair; None under a geometric mean, where the
                tests are on logarithms
    needed      queries that find a difference as large as the one seen, to plan with: it says nothing of whether this
                one is there; None for a difference of 0, and where it would be more than a million
    tukey       p of this pair by the randomised Tukey HSD test over all pairs of systems at once (`tukey_hsd`), which
                needs no correction; None where it could not be made
    """

    name: str
    difference: Interval
    tests: tuple[CorrectedTest, ...]
    effects: Effects
    detectable: Detectable | None
    needed: int | None
    tukey: float | None


@dataclass(frozen=True, slots=True)
class ComparisonTable:
    """rows: one for each system other than the baseline, in the order given; none for a measure of the whole run, and
    `reason` says so. swaps: how often smaller sets of queries would order two of all the systems differently, empty
    under a geometric mean. Everything drawn was drawn from `seed`."""

    baseline: str
    rows: tuple[Comparison, ...]
    confidence: float
    resamples: int
    seed: int
    reason: str | None = None
    swaps: tuple[SwapRate, ...] = ()


def compare(
    systems: Mapping[str, Columns],
    baseline: str,
    aggregation: Aggregation = MEAN,
    *,
    direction: Direction = "higher",
    least: int = LEAST_QUERIES,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> ComparisonTable:
    """Compares every other system with `baseline`, two-sided.

    systems: name -> columns, float64[Q] each and all over the same queries in the same order, NaN where a query has no
    value; aggregation and direction are the measure's own (without a direction, better means more), least as
    `intervals` takes it. Tests and effect sizes are on what each query adds to the mean (`contributions`). Holm and
    Benjamini–Hochberg correct each test for the number of rows. Raises BadInput when the baseline is not among the
    systems, for a confidence outside (0, 1) or for resamples below 1.

    >>> import numpy as np
    >>> systems = {"ours": (np.array([0.5, 0.75, 1.0]),), "bm25": (np.array([0.25, 0.5, 0.75]),)}
    >>> (row,) = compare(systems, "bm25").rows
    >>> row.name, row.difference.estimate, [(each.test.name, each.test.p) for each in row.tests]
    ('ours', 0.25, [('randomisation', 0.25), ('t', None), ('wilcoxon', 0.25)])
    """
    if baseline not in systems:
        raise BadInput(f"{baseline!r} is not among the systems compared: {', '.join(systems)}")
    if not aggregation.has_interval:
        return ComparisonTable(baseline, (), confidence, resamples, seed, aggregation.name)
    names = [name for name in systems if name != baseline]
    differences: list[Interval] = []
    tests: list[tuple[PairedTest, ...]] = []
    effects: list[Effects] = []
    detectables: list[Detectable | None] = []
    needed: list[int | None] = []
    for name in names:
        pair = common(systems[name], systems[baseline])
        own, other = (contributions(columns, aggregation) for columns in pair)
        differences.append(
            difference_interval(*pair, aggregation, least=least, confidence=confidence, resamples=resamples, seed=seed)
        )
        drawn = randomisation_test(own, other, resamples=resamples, seed=seed)
        tests.append((drawn, paired_t(own, other), wilcoxon(own, other)))
        effects.append(effect_sizes(own, other, lower_is_better=direction == "lower"))
        detectables.append(None if aggregation is GEOMETRIC_MEAN else detectable(own - other))
        needed.append(queries_needed(effects[-1].d_z) if effects[-1].d_z else None)
    tukey = _tukey(systems, baseline, aggregation, resamples, seed)
    corrected = zip(*(_corrected(same_test) for same_test in zip(*tests, strict=True)), strict=True)
    rows = tuple(map(Comparison, names, differences, corrected, effects, detectables, needed, tukey))
    swaps = () if aggregation is GEOMETRIC_MEAN else _swaps(systems, aggregation, seed)
    return ComparisonTable(baseline, rows, confidence, resamples, seed, swaps=swaps)


def holm(p: Sequence[float | None]) -> tuple[float | None, ...]:
    """Corrected p-values in the order given: below α, the chance of even one false finding is at most α.

    The i-th smallest of m is multiplied by m − i + 1, never falls below the one before, and is at most 1. None (no
    test) stays None and is not counted in m.

    >>> [round(each, 6) for each in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    values = np.array([value for value in p if value is not None], dtype=np.float64)
    order = np.argsort(values, kind="stable")
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1)))
    return _in_place_of(p, corrected.tolist())


def benjamini_hochberg(p: Sequence[float | None]) -> tuple[float | None, ...]:
    """Corrected p-values in the order given: of the findings below α, a share of at most α is expected to be false.

    The i-th smallest of m is multiplied by m / i and never exceeds the one after. None (no test) stays None and is not
    counted in m.

    >>> [round(each, 6) for each in benjamini_hochberg([0.01, 0.04, 0.03, 0.005])]
    [0.02, 0.04, 0.04, 0.02]
    """
    from scipy import stats  # here, because importing it takes longer than most commands run

    values = [value for value in p if value is not None]
    return _in_place_of(p, stats.false_discovery_control(values).tolist() if values else [])


def _tukey(
    systems: Mapping[str, Columns], baseline: str, aggregation: Aggregation, permutations: int, seed: int
) -> list[float | None]:
    """p of every other system against the baseline."""
    values = np.stack([contributions(columns, aggregation) for columns in systems.values()], axis=1)
    test = tukey_hsd(values, permutations=permutations, seed=seed)
    index = list(systems).index(baseline)
    of_baseline = np.delete(test.p[index], index).tolist()
    return [p if test.permutations and not np.isnan(p) else None for p in of_baseline]


def _swaps(systems: Mapping[str, Columns], aggregation: Aggregation, seed: int) -> tuple[SwapRate, ...]:
    values = np.stack([contributions(columns, aggregation) for columns in systems.values()], axis=1)
    deviation = detectable_by_pairs(values).deviation
    return swap_rates(values, deviation, seed=seed) if deviation else ()


def _in_place_of(p: Sequence[float | None], corrected: Sequence[float]) -> tuple[float | None, ...]:
    values = iter(corrected)
    return tuple(None if value is None else next(values) for value in p)


def _corrected(same_test: tuple[PairedTest, ...]) -> tuple[CorrectedTest, ...]:
    """The same test on every row, corrected for their number."""
    p = [test.p for test in same_test]
    return tuple(map(CorrectedTest, same_test, holm(p), benjamini_hochberg(p)))
