"""What `leaderboard score --compare` prints: every other run against one, measure by measure."""

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from leaderboard.cli.score_output import ScoredRun
from leaderboard.cli.tables import aligned
from leaderboard.metrics import Measure
from leaderboard.statistics import CONFIDENCE, RESAMPLES, SEED, Comparison, ComparisonTable, Interval, compare

__all__ = ["FORMATS", "baseline_among", "csv_text", "json_text", "table_text"]

UNDEFINED = "–"
MINUS = "−"
DIGITS = 4
NO_DIRECTION = "neither more nor less of it is better"
TESTS = {"randomisation": "randomisation", "t": "paired t", "wilcoxon": "Wilcoxon"}
HEAD = (
    "difference",
    f"{CONFIDENCE * 100:g} % interval",
    "d_z",
    "dominance",
    "better",
    "worse",
    "tied",
    "test",
    "p",
    "Holm",
    "BH",
)

Compared = dict[Measure, ComparisonTable]


def baseline_among(paths: Sequence[Path], asked: str) -> str:
    """The name of the run that the others are held against. Raises click's UsageError when it is not one of them, when
    there is no other, or when one is named twice."""
    if len(paths) < 2:
        raise click.UsageError("--compare needs two runs or more: the one to compare with and the others")
    names = [str(path) for path in paths]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise click.UsageError(f"--compare: the run {twice} is named twice")
    same = [
        name
        for name, path in zip(names, paths, strict=True)
        if name == asked or path.resolve() == Path(asked).resolve()
    ]
    if not same:
        raise click.UsageError(f"--compare: {asked} is not among the runs; these are {', '.join(names)}")
    return same[0]


def compared(runs: Sequence[ScoredRun], measures: Sequence[Measure], baseline: str, seed: int | None) -> Compared:
    """Each measure's comparisons; none, with the reason, where neither more nor less is better."""
    seed = SEED if seed is None else seed
    tables: Compared = {}
    for measure in measures:
        if measure.direction == "none":
            tables[measure] = ComparisonTable(baseline, (), CONFIDENCE, RESAMPLES, seed, NO_DIRECTION)
            continue
        columns = {run.name: run.scored.results[measure].columns for run in runs}
        aggregation = measure.family.aggregation
        tables[measure] = compare(columns, baseline, aggregation, direction=measure.direction, seed=seed)
    return tables


def table_text(runs: Sequence[ScoredRun], measures: Sequence[Measure], baseline: str, *, seed: int | None) -> str:
    """For people: a table a measure, with a line for each run and test."""
    return "\n".join(
        "\n".join(_section(runs, measure, table)) + "\n"
        for measure, table in compared(runs, measures, baseline, seed).items()
    )


def csv_text(runs: Sequence[ScoredRun], measures: Sequence[Measure], baseline: str, *, seed: int | None) -> str:
    """For programs: a row for each measure and run with every digit; what is undefined is empty, with its reason."""
    rows: list[dict[str, Any]] = []
    for measure, table in compared(runs, measures, baseline, seed).items():
        for run in runs:
            row = next((row for row in table.rows if row.name == run.name), None)
            if run.name != baseline:
                rows.append(_means(runs, measure, table, run.name) | (_record(table, row) if row else {}))
    text = io.StringIO()
    writer = csv.DictWriter(text, _columns(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def json_text(runs: Sequence[ScoredRun], measures: Sequence[Measure], baseline: str, *, seed: int | None) -> str:
    """For programs: everything that is known of each comparison; what is undefined is null, with its reason."""
    tables = compared(runs, measures, baseline, seed)
    document = {
        "baseline": baseline,
        "measures": {
            str(measure): {
                "direction": measure.direction,
                "means": {run.name: _defined(run.scored.results[measure].mean) for run in runs},
                **asdict(table),
            }
            for measure, table in tables.items()
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


FORMATS = {"table": table_text, "csv": csv_text, "json": json_text}


def _section(runs: Sequence[ScoredRun], measure: Measure, table: ComparisonTable) -> Iterator[str]:
    means = {run.name: run.scored.results[measure].mean for run in runs}
    better = "" if measure.direction != "lower" else "; lower is better"
    yield f"{measure} against {table.baseline} ({_figure(_defined(means[table.baseline]))}){better}"
    if table.reason is not None:
        yield f"not compared: {table.reason}"
        return
    count = "1 run" if len(table.rows) == 1 else f"{len(table.rows)} runs"
    head = ["run", str(measure), *HEAD]
    lines = [line for row in table.rows for line in _lines(row, means[row.name])]
    yield aligned([head, *lines], {0, head.index("test")}).rstrip()
    for row in table.rows:
        if row.effects.left_out:
            yield f"{row.name}: {row.effects.left_out} queries left out, on which one of the two has no value"
    yield f"{table.resamples:,} resamples, seed {table.seed}; Holm and Benjamini–Hochberg (BH) over {count}"


def _lines(row: Comparison, mean: float) -> Iterator[list[str]]:
    """One a test; what is said of the run stands in the first."""
    effects, difference = row.effects, row.difference
    first = [
        row.name,
        _figure(_defined(mean)),
        _signed(difference.estimate),
        _interval(difference),
        _signed(effects.d_z, 2),
        _signed(effects.dominance, 2),
        str(effects.better),
        str(effects.worse),
        str(effects.tied),
    ]
    for place, each in enumerate(row.tests):
        p = [_probability(value) for value in (each.test.p, each.holm, each.benjamini_hochberg)]
        yield [*(first if place == 0 else [""] * len(first)), TESTS[each.test.name], *p]


def _columns() -> list[str]:
    figures = ["mean", "baseline_mean", "difference", "low", "high", "queries", "left_out"]
    effects = ["d_z", "dominance", "better", "worse", "tied"]
    tests = [f"{name}{suffix}" for name in TESTS for suffix in ("_p", "_holm", "_bh")]
    return ["measure", "run", "baseline", *figures, *effects, *tests, "confidence", "resamples", "seed", "reason"]


def _means(runs: Sequence[ScoredRun], measure: Measure, table: ComparisonTable, name: str) -> dict[str, Any]:
    means = {run.name: _defined(run.scored.results[measure].mean) for run in runs}
    return {
        "measure": str(measure),
        "run": name,
        "baseline": table.baseline,
        "mean": means[name],
        "baseline_mean": means[table.baseline],
        "reason": table.reason,
    }


def _record(table: ComparisonTable, row: Comparison) -> dict[str, Any]:
    effects, difference = row.effects, row.difference
    record: dict[str, Any] = {
        "difference": difference.estimate,
        "low": difference.low,
        "high": difference.high,
        "queries": effects.queries,
        "left_out": effects.left_out,
        "d_z": effects.d_z,
        "dominance": effects.dominance,
        "better": effects.better,
        "worse": effects.worse,
        "tied": effects.tied,
        "confidence": table.confidence,
        "resamples": table.resamples,
        "seed": table.seed,
    }
    for each in row.tests:
        p = (each.test.p, each.holm, each.benjamini_hochberg)
        record |= dict(zip((f"{each.test.name}{suffix}" for suffix in ("_p", "_holm", "_bh")), p, strict=True))
    return record


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def _figure(value: float | None, digits: int = DIGITS) -> str:
    return UNDEFINED if value is None else f"{value:.{digits}f}"


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
