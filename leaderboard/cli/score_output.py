"""What `leaderboard score` prints: a table, CSV or JSON, over one run or many."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.cli import tables
from leaderboard.cli.tables import UNDEFINED, aligned
from leaderboard.metrics import Measure, Setting
from leaderboard.scoring import Scored

ALL = "all"
DIGITS = 4


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run's figures. `name` is what the file is called, `tag` what the run calls itself."""

    name: str
    tag: str
    scored: Scored


def table_text(runs: Sequence[ScoredRun], measures: Sequence[Measure], *, per_query: bool) -> str:
    """For people: four digits, aligned on the point; one row a run, or also one for each of its queries."""
    rows = list(_rows(runs, measures, _shown, per_query=per_query))
    return aligned(rows, range(len(rows[0]) - len(measures)))


def csv_text(runs: Sequence[ScoredRun], measures: Sequence[Measure], *, per_query: bool) -> str:
    """For programs: the same rows with every digit; an undefined value is empty."""
    return tables.csv_text(_rows(runs, measures, lambda value, _: _number(value), per_query=per_query))


def json_text(runs: Sequence[ScoredRun], measures: Sequence[Measure], setting: Setting, *, per_query: bool) -> str:
    """For programs: every digit, and what was left out; an undefined value is null."""
    held = ("beta", "compat", "documents", "no_relevant")
    return tables.json_text(
        {
            "setting": {name: getattr(setting, name) for name in held},
            "runs": [_run(run, measures, per_query=per_query) for run in runs],
        }
    )


def _run(run: ScoredRun, measures: Sequence[Measure], *, per_query: bool) -> dict[str, Any]:
    scored = run.scored
    results = {str(measure): scored.results[measure] for measure in measures}
    document: dict[str, Any] = {
        "run": run.name,
        "tag": run.tag,
        "queries": len(scored.queries),
        "missing": list(scored.missing),
        "ignored": list(scored.unknown),
        "measures": {
            name: {"mean": _number(result.mean), "queries": result.count}
            | ({} if result.theta is None else {"theta": _number(result.theta)})
            for name, result in results.items()
        },
    }
    if per_query:
        values = {name: result.values.tolist() for name, result in results.items()}
        document["per_query"] = {
            query: {name: _number(column[place]) for name, column in values.items()}
            for place, query in enumerate(scored.queries)
        }
    return document


def _rows(
    runs: Sequence[ScoredRun], measures: Sequence[Measure], show: Callable[[float, Measure], Any], *, per_query: bool
) -> Iterator[list[Any]]:
    """The head, then the rows; a run's queries come before its figure over all of them."""
    yield ["run", *(["query"] if per_query else []), *map(str, measures)]
    for run in runs:
        results = [run.scored.results[measure] for measure in measures]
        if per_query:
            columns = [result.values.tolist() for result in results]
            for query, *values in zip(run.scored.queries, *columns, strict=True):
                yield [run.name, query, *map(show, values, measures)]
        means = map(show, (result.mean for result in results), measures)
        yield [run.name, *([ALL] if per_query else []), *means]


def _shown(value: float, measure: Measure) -> str:
    if math.isnan(value):
        return UNDEFINED
    return f"{value:.0f}" if measure.is_count else f"{value:z.{DIGITS}f}"


def _number(value: float) -> float | int | None:
    """A whole number without its point; None for what has no value or no bound."""
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) else value
