"""What `leaderboard score --compare` prints: every other run against one, measure by measure."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from leaderboard.cli.output import UNDEFINED, aligned, csv_text, defined, figure, json_text
from leaderboard.metrics import Measure
from leaderboard.metrics.aggregation import GEOMETRIC_MEAN
from leaderboard.numbers import counted
from leaderboard.scoring import Scored
from leaderboard.statistics import (
    CONFIDENCE,
    POWER,
    RESAMPLES,
    SEED,
    Comparison,
    ComparisonTable,
    Interval,
    compare,
    least_queries,
)

MINUS = "−"
DIGITS = 4
NO_DIRECTION = "neither a higher nor a lower value is better"
TESTS = {"randomisation": "randomisation", "t": "paired t", "wilcoxon": "Wilcoxon"}
COLUMNS = (
    "measure", "run", "baseline", "mean", "baseline_mean", "difference", "low", "high", "queries", "left_out",
    "d_z", "dominance", "better", "worse", "tied",
    "detectable", "queries_needed", "tukey_p",
    *(f"{test}_{p}" for test in TESTS for p in ("p", "holm", "bh")),
    "confidence", "resamples", "seed", "reason",
)  # fmt: skip
HEAD = (
    "difference", f"{CONFIDENCE * 100:g} % interval", "d_z", "dominance", "better", "worse", "tied", "finds", "needs",
    "Tukey HSD", "test", "p", "Holm", "BH",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run's figures. `name` is what the file is called, `tag` what the run calls itself."""

    name: str
    tag: str
    scored: Scored


def _compared(
    runs: Sequence[ScoredRun], measures: Sequence[Measure], baseline: str, seed: int | None
) -> dict[Measure, ComparisonTable]:
    """Each measure's comparisons; none, with the reason, for a measure without a direction."""
    seed = SEED if seed is None else seed
    tables = {}
    for measure in measures:
        if measure.direction == "none":
            tables[measure] = ComparisonTable(baseline, (), CONFIDENCE, RESAMPLES, seed, NO_DIRECTION)
            continue
        columns = {run.name: run.scored.results[measure].columns for run in runs}
        aggregation = measure.family.aggregation
        least = least_queries(measure, runs[0].scored.ranking.setting).for_interval
        tables[measure] = compare(columns, baseline, aggregation, direction=measure.direction, least=least, seed=seed)
    return tables


def _table(runs: Sequence[ScoredRun], measures: Sequence[Measure], baseline: str, *, seed: int | None) -> str:
    """For people: a table a measure, with a line for each run and test."""
    return "\n".join(
        "\n".join(_section(runs, measure, table)) + "\n"
        for measure, table in _compared(runs, measures, baseline, seed).items()
    )


def _csv(runs: Sequence[ScoredRun], measures: Sequence[Measure], baseline: str, *, seed: int | None) -> str:
    """For programs: a row for each measure and run with every digit; what is undefined is empty, with its reason."""
    rows: list[Sequence[object]] = [COLUMNS]
    for measure, table in _compared(runs, measures, baseline, seed).items():
        means = _means(runs, measure)
        compared_runs = {row.name: _record(row) for row in table.rows}
        for run in runs:
            if run.name != baseline:
                known = compared_runs.get(run.name, {})
                record = known | {
                    "measure": measure,
                    "run": run.name,
                    "baseline": baseline,
                    "mean": means[run.name],
                    "baseline_mean": means[baseline],
                    "reason": table.reason or known.get("reason"),
                }
                rows.append([record.get(column) for column in COLUMNS])
    return csv_text(rows)


def _json(runs: Sequence[ScoredRun], measures: Sequence[Measure], baseline: str, *, seed: int | None) -> str:
    """For programs: everything that is known of each comparison; what is undefined is null, with its reason."""
    return json_text(
        {
            "baseline": baseline,
            "measures": {
                str(measure): {"direction": measure.direction, "means": _means(runs, measure), **asdict(table)}
                for measure, table in _compared(runs, measures, baseline, seed).items()
            },
        }
    )


COMPARISONS = {"table": _table, "csv": _csv, "json": _json}


def _section(runs: Sequence[ScoredRun], measure: Measure, table: ComparisonTable) -> Iterator[str]:
    means = _means(runs, measure)
    better = "" if measure.direction != "lower" else "; lower is better"
    yield f"{measure} against {table.baseline} ({figure(means[table.baseline])}){better}"
    if table.reason is not None:
        yield f"not compared: {table.reason}"
        return
    count = counted(len(table.rows), "run")
    of_logarithms = measure.family.aggregation is GEOMETRIC_MEAN
    head = ["run", str(measure), *(f"{name}_log" if of_logarithms and name == "d_z" else name for name in HEAD)]
    lines = [line for row in table.rows for line in _lines(row, means[row.name])]
    yield aligned([head, *lines], {0, head.index("test")}).rstrip()
    for row in table.rows:
        if row.effects.left_out:
            left_out = counted(row.effects.left_out, "query")
            yield f"{row.name}: {left_out} left out, on which one of the two has no value"
        if row.difference.estimate is not None and row.difference.reason:
            yield f"{row.name}: no interval, because {row.difference.reason}"
    if of_logarithms:
        yield "d_z_log, the tests and needs: of the logarithms of the values, as a geometric mean is of them"
    yield (
        f"finds: the smallest difference that a paired t test at .05 finds with probability {POWER:g} on these "
        "queries; needs: queries for one as large as the one seen"
    )
    yield (
        f"Tukey HSD: p by the randomised Tukey HSD test over all pairs of the {len(table.rows) + 1} runs at once; "
        "needs no further correction"
    )
    if table.swaps:
        rates = ", ".join(f"{100 * rate.rate:.0f} % with {rate.size:,} queries each" for rate in table.swaps)
        yield f"pairs of runs that two sets without a query in common order differently: {rates}"
    yield f"{table.resamples:,} resamples, seed {table.seed}; Holm and Benjamini–Hochberg (BH) over {count}"


def _lines(row: Comparison, mean: float | None) -> Iterator[list[str]]:
    """A line for each test; the first also has the figures of the run."""
    effects, difference = row.effects, row.difference
    first = [
        row.name,
        figure(mean),
        _signed(difference.estimate),
        _interval(difference),
        _signed(effects.d_z, 2),
        _signed(effects.dominance, 2),
        str(effects.better),
        str(effects.worse),
        str(effects.tied),
        figure(row.detectable.difference if row.detectable else None),
        UNDEFINED if row.needed is None else f"{row.needed:,}",
        _probability(row.tukey),
    ]
    for position, each in enumerate(row.tests):
        p = [_probability(value) for value in (each.test.p, each.holm, each.benjamini_hochberg)]
        yield [*(first if position == 0 else [""] * len(first)), TESTS[each.test.name], *p]


def _means(runs: Sequence[ScoredRun], measure: Measure) -> dict[str, float | None]:
    """By the run's name."""
    return {run.name: defined(run.scored.results[measure].mean) for run in runs}


def _record(row: Comparison) -> dict[str, Any]:
    """What is known of one run's comparison, by column of the CSV."""
    tests = {
        f"{each.test.name}_{column}": p
        for each in row.tests
        for column, p in (("p", each.test.p), ("holm", each.holm), ("bh", each.benjamini_hochberg))
    }
    return {
        **asdict(row.difference),
        **asdict(row.effects),
        **tests,
        "difference": row.difference.estimate,
        "reason": row.difference.reason,
        "queries": row.effects.queries,
        "detectable": row.detectable.difference if row.detectable else None,
        "queries_needed": row.needed,
        "tukey_p": row.tukey,
    }


def _signed(value: float | None, digits: int = DIGITS) -> str:
    if value is None:
        return UNDEFINED
    text = f"{value:+.{digits}f}".replace("-", MINUS)
    return text if float(text.replace(MINUS, "-")) else text[1:]  # a difference that rounds to zero has no sign


def _interval(difference: Interval) -> str:
    return UNDEFINED if difference.low is None else f"{_signed(difference.low)} … {_signed(difference.high)}"


def _probability(p: float | None) -> str:
    smallest = 10**-DIGITS
    return UNDEFINED if p is None else f"<{smallest:.{DIGITS}f}" if p < smallest else f"{p:.{DIGITS}f}"
