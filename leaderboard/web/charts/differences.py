"""How far a run is from the median or from another run, query by query."""

from collections.abc import Iterable, Sequence

from leaderboard.boards.reads.entries import Column
from leaderboard.numbers import counted
from leaderboard.results.reads.queries import Compared
from leaderboard.results.reads.run import SubmissionResults
from leaderboard.web.charts.drawing import COLOUR, SAYS, SERIES, SIGNED, WIDE, ZERO, Chart, Spec, draw, layer, plot
from leaderboard.web.formatting import plain_figure, signed

HEIGHT = 220  # px, of the plot
SINGLE = 250  # queries up to which each has a bar of its own; more are counted in bins
LONGEST_NAME = 16  # characters of a query's name
# Names of queries differ at their ends.
SHORTENED = f"length(datum.label) > {LONGEST_NAME} ? '…' + slice(datum.label, {1 - LONGEST_NAME}) : datum.label"
CHARACTER = 7.5  # px, at most, of most names

Difference = tuple[str, float]  # a query, and by how much


def differences_chart(results: SubmissionResults) -> Chart | None:
    """Of the page's column from the systems' median. None when there is no other system to compare with, or no query
    of which both have a value."""
    index = results.value_columns.index(results.column)
    rows = _greatest_first((row.external_id, row.values[index], row.median) for row in results.queries)
    if results.compared_with < 2 or not rows:
        return None
    other = f"the median of {results.compared_with} systems"
    return _differences_chart(rows, results.column.name, other, _finding(rows, results.column, other))


def comparison_chart(compared: Compared) -> Chart | None:
    """Of the first run from the second. None when there is no query of which both have a value."""
    rows = _greatest_first((row.external_id, row.first, row.second) for row in compared.queries)
    if not rows:
        return None
    first, second = compared.names
    finding = f"{first}: {_finding(rows, compared.column, second)}"
    return _differences_chart(rows, f"{compared.column.name} of {first}", second, finding)


def _greatest_first(rows: Iterable[tuple[str, float | None, float | None]]) -> list[Difference]:
    """Undefined ones are left out."""
    defined = [(query, value - other) for query, value, other in rows if value is not None and other is not None]
    return sorted(defined, key=lambda row: (-row[1], row[0]))


def _differences_chart(rows: Sequence[Difference], what: str, other: str, finding: str) -> Chart:
    """other: from what the differences are"""
    kind, plotted = ("Bars", _bars) if len(rows) <= SINGLE else ("Histogram", _histogram)
    alt = f"{kind} of the difference in {what} from {other}, query by query. {finding}"
    data = [{"query": query, "difference": difference} for query, difference in rows]
    return draw("differences", lambda width: plotted(f"{what} minus {other}", rows, width), alt, finding, data)


def _finding(rows: Sequence[Difference], column: Column, other: str) -> str:
    above = sum(difference > 0 for _, difference in rows)
    below = sum(difference < 0 for _, difference in rows)
    words = f"Above {other} on {above} of {counted(len(rows), 'query')}, below on {below}"
    if level := len(rows) - above - below:
        words += f", level on {level}"
    (best, gain), (worst, loss) = rows[0], rows[-1]
    if gain > 0:
        words += f"; most above on {best} (+{plain_figure(gain, column.unit)})"
    if loss < 0:
        words += f"; furthest below on {worst} ({plain_figure(loss, column.unit)})"
    return f"{words}."


def _bars(title: str, rows: Sequence[Difference], width: int) -> Spec:
    room = 12 + min(max(len(query) for query, _ in rows), LONGEST_NAME) * CHARACTER
    values = [
        {
            "query": query,
            "difference": difference,
            "colour": SERIES[0] if difference >= 0 else SERIES[1],
            "says": f"{query}: {signed(difference)}",
        }
        for query, difference in rows
    ]
    x = {
        "field": "query",
        "type": "nominal",
        "sort": None,
        "axis": {"title": None, "labelExpr": SHORTENED, "labelAngle": -90, "labelLimit": room, "labelOverlap": True},
    }
    y = {"field": "difference", "type": "quantitative", "axis": {"title": None, "labelExpr": SIGNED}}
    bar = {"type": "bar", "aria": True}
    layers = [
        layer(values, bar, x=x, y=y, color=COLOUR, description=SAYS),
        ZERO,
    ]
    return plot(width, HEIGHT, title, layers, 8, room)


def _histogram(title: str, rows: Sequence[Difference], width: int) -> Spec:
    x = {
        "field": "difference",
        "bin": {"maxbins": 40 if width == WIDE else 20},
        "type": "quantitative",
        "axis": {"title": title, "labelExpr": SIGNED, "labelOverlap": True},
    }
    y = {"aggregate": "count", "type": "quantitative", "axis": {"title": None}}
    values = [{"difference": difference} for _, difference in rows]
    layers = [layer(values, {"type": "bar", "color": SERIES[0]}, x=x, y=y)]
    return plot(width, HEIGHT, "queries", layers, 8, 44)
