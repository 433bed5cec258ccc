"""Several systems against one baseline: differences with intervals, tests, corrections and effect sizes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from leaderboard.errors import BadInput
from leaderboard.metrics.aggregation import MEAN, Aggregation, Columns
from leaderboard.metrics.measure import Direction
from leaderboard.statistics.bootstrap import Interval, difference_interval
from leaderboard.statistics.columns import common, contributions
from leaderboard.statistics.corrections import benjamini_hochberg, holm
from leaderboard.statistics.effects import Effects, effect_sizes
from leaderboard.statistics.pairs import PairedTest
from leaderboard.statistics.parametric import paired_t
from leaderboard.statistics.randomisation import randomisation_test
from leaderboard.statistics.resampling import LEVEL, RESAMPLES, SEED
from leaderboard.statistics.signed_ranks import wilcoxon

__all__ = ["Comparison", "ComparisonTable", "Corrected", "compare"]


@dataclass(frozen=True, slots=True)
class Corrected:
    """One test of one row, and its p corrected for the number of rows by each method; None where the test has none."""

    test: PairedTest
    holm: float | None
    benjamini_hochberg: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One system against the baseline, on the queries where both have a value.

    difference  of the measure's own figures, system − baseline, with its bootstrap interval
    tests       randomisation, t and Wilcoxon, in this order
    effects     d_z, dominance, and queries better, worse and tied
    """

    name: str
    difference: Interval
    tests: tuple[Corrected, ...]
    effects: Effects


@dataclass(frozen=True, slots=True)
class ComparisonTable:
    """rows: one a system other than the baseline, in the order given; none with a `reason` for a measure of the whole
    run. Whatever was drawn was drawn from `seed`."""

    baseline: str
    rows: tuple[Comparison, ...]
    level: float
    resamples: int
    seed: int
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain nested values; None where there is no figure, never NaN."""
        return asdict(self)


def compare(
    systems: Mapping[str, Columns],
    baseline: str,
    aggregation: Aggregation = MEAN,
    *,
    direction: Direction = "higher",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> ComparisonTable:
    """Every other system against `baseline`, two-sided.

    systems: name -> columns, float64[Q] each and all over the same queries in the same order, NaN where a query has no
    value; aggregation and direction are the measure's own (without a direction, better means more). Tests and effect
    sizes are on what each query adds to the figure (`columns.contributions`). Holm and Benjamini–Hochberg correct each
    test for the number of rows. Raises BadInput when the baseline is not among the systems, or for a level outside
    (0, 1) or no resamples.
    """
    if baseline not in systems:
        raise BadInput(f"{baseline!r} is not among the systems compared: {', '.join(systems)}")
    if not aggregation.has_interval:
        return ComparisonTable(baseline, (), level, resamples, seed, aggregation.name)
    names = [name for name in systems if name != baseline]
    differences: list[Interval] = []
    tests: list[tuple[PairedTest, ...]] = []
    sizes: list[Effects] = []
    for name in names:
        pair = common(systems[name], systems[baseline])
        own, other = (contributions(columns, aggregation) for columns in pair)
        differences.append(difference_interval(*pair, aggregation, level=level, resamples=resamples, seed=seed))
        drawn = randomisation_test(own, other, resamples=resamples, seed=seed)
        tests.append((drawn, paired_t(own, other), wilcoxon(own, other)))
        sizes.append(effect_sizes(own, other, lower_is_better=direction == "lower"))
    corrected = zip(*(_correct(family) for family in zip(*tests, strict=True)), strict=True)
    return ComparisonTable(
        baseline, tuple(map(Comparison, names, differences, corrected, sizes)), level, resamples, seed
    )


def _correct(family: tuple[PairedTest, ...]) -> tuple[Corrected, ...]:
    """The same test on every row, corrected for their number."""
    p = [test.p for test in family]
    return tuple(map(Corrected, family, holm(p), benjamini_hochberg(p)))
