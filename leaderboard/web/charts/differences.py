"""How far a run is from the median or from another run, query by query."""

from collections.abc import Iterable, Sequence

from leaderboard.boards.reads.entries import Column
from leaderboard.numbers import counted
from leaderboard.results.reads.queries import Compared
from leaderboard.results.reads.run import SubmissionResults, less
from leaderboard.web.charts import drawing
from leaderboard.web.charts.drawing import SERIES, Chart, Spec
from leaderboard.web.formatting import plain_figure, signed

HEIGHT = 220  # px, of the plot
SINGLE = 250  # queries up to which each has a bar of its own; more are an area of the same shape
LONGEST_NAME = 16  # characters of a query's name
# Names of queries differ at their ends.
SHORTENED = f"length(datum.label) > {LONGEST_NAME} ? '…' + slice(datum.label, {1 - LONGEST_NAME}) : datum.label"
CHARACTER = 7.5  # px, at most, of most names

Difference = tuple[str, float]  # a query, and by how much


def differences_chart(results: SubmissionResults) -> Chart | None:
    """Of the page's column from the systems' median. None when there is no other system to compare with, or no query
    of which both have a value."""
    index, column = results.value_columns.index(results.column), results.column
    rows = ((row.external_id, less(row.values[index], row.median)) for row in results.queries)
    other = f"the median of {results.compared_with} systems"
    return _differences_chart(rows, column, column.name, other) if results.compared_with > 1 else None


def comparison_chart(compared: Compared) -> Chart | None:
    """Of the first run from the second. None when there is no query of which both have a value."""
    (first, second), column = compared.names, compared.column
    rows = ((row.external_id, row.difference) for row in compared.queries)
    return _differences_chart(rows, column, f"{column.name} of {first}", second, f"{first} is above")


def _differences_chart(
    differences: Iterable[tuple[str, float | None]], column: Column, what: str, other: str, begins: str = "Above"
) -> Chart | None:
    """other: from what the differences are; begins: how its sentence does"""
    rows = [(query, difference) for query, difference in differences if difference is not None]
    if not rows:
        return None
    rows.sort(key=lambda row: (-row[1], row[0]))
    finding = _finding(rows, column, other, begins)
    alt = f"Difference in {what} from {other}, query by query. {finding}"
    data = [{"query": query, "difference": difference} for query, difference in rows]
    return drawing.draw("differences", lambda width: _bars(f"{what} minus {other}", rows, width), alt, finding, data)


def _finding(rows: Sequence[Difference], column: Column, other: str, begins: str) -> str:
    above = sum(difference > 0 for _, difference in rows)
    below = sum(difference < 0 for _, difference in rows)
    words = f"{begins} {other} on {above} of {counted(len(rows), 'query')}, below on {below}"
    if level := len(rows) - above - below:
        words += f", level on {level}"
    (best, gain), (worst, loss) = rows[0], rows[-1]
    if gain > 0:
        words += f"; most above on query {best} (+{plain_figure(gain, column.unit)})"
    if loss < 0:
        words += f"; furthest below on query {worst} ({plain_figure(loss, column.unit)})"
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
    labels = {"title": None, "labelExpr": SHORTENED, "labelAngle": -90, "labelLimit": room, "labelOverlap": True}
    is_single = len(rows) <= SINGLE
    x = {"field": "query", "type": "nominal", "sort": None, "axis": labels if is_single else None}
    y = {"field": "difference", "type": "quantitative", "axis": {"title": None, "labelExpr": drawing.SIGNED}}
    looks = {"color": drawing.COLOUR} | ({"description": drawing.SAYS} if is_single else {})
    bars = drawing.layer(values, {"type": "bar" if is_single else "area", "aria": True}, x=x, y=y, **looks)
    return drawing.plot(width, HEIGHT, title, [bars, drawing.ZERO], 8, room)
