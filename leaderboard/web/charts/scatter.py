"""Two runs beside each other: a point for each query, one run's value across and the other's upwards."""

from collections.abc import Sequence

from leaderboard.results.reads.queries import Compared
from leaderboard.web.charts.drawing import INK, LEFT, MUTED, SAYS, SERIES, Chart, Row, Spec, draw, layer, plot
from leaderboard.web.formatting import plain_figure

SIDE = 420  # px, of the square plot
RIGHT, BOTTOM = 20, 44  # px
MOST_POINTS = 1000  # queries up to which each is a point of its own; more are counted in squares
NAMED = 2  # queries that have a name on either side of the diagonal: those furthest from it


def scatter_chart(compared: Compared) -> Chart | None:
    """The second run across, the first one upwards. None when there is no query of which both have a value."""
    unit, (first, second) = compared.column.unit, compared.names
    rows: list[Row] = [
        {
            "query": row.external_id,
            "x": row.second,
            "y": row.first,
            "says": f"{row.external_id}: {plain_figure(row.first, unit)} and {plain_figure(row.second, unit)}",
        }
        for row in compared.queries
        if row.first is not None and row.second is not None
    ]
    if not rows:
        return None
    what = compared.column.name
    sentence = f"Each point is a query: {what} of {first} upwards, of {second} across. On the line both are level."
    if len(rows) > MOST_POINTS:
        sentence = f"{what} of {first} upwards, of {second} across; the darker a square, the more queries are in it."
    data = [{"query": row["query"], "a": row["y"], "b": row["x"]} for row in rows]
    alt = f"Scatter plot of {what} on {len(rows):,} queries. {sentence}"
    return draw("scatter", lambda width: _scatter(what, compared.names, rows, width), alt, sentence, data)


def _scatter(what: str, names: tuple[str, str], rows: Sequence[Row], width: int) -> Spec:
    ends = [row[axis] for row in rows for axis in ("x", "y")]
    air = 0.02 * (max(ends) - min(ends)) or 0.01
    low, high = min(ends) - air, max(ends) + air
    scale = {"domain": [low, high], "nice": False, "zero": False}
    x, y = (
        {"field": axis, "type": "quantitative", "scale": scale, "axis": {"title": title, "grid": True, "tickCount": 5}}
        for axis, title in (("x", f"{what} of {names[1]}"), ("y", None))
    )
    line = layer(
        [{"x": low, "y": low}, {"x": high, "y": high}], {"type": "line", "color": MUTED, "strokeWidth": 1}, x=x, y=y
    )
    if len(rows) > MOST_POINTS:
        binned = {"bin": {"maxbins": 30, "extent": [low, high]}}
        count = {"aggregate": "count", "scale": {"range": [0.15, 1]}}
        squares = layer(rows, {"type": "rect", "color": SERIES[0]}, x=x | binned, y=y | binned, opacity=count)
        layers = [squares, line]
    else:
        point = {"type": "point", "filled": True, "size": 40, "opacity": 0.7, "color": SERIES[0], "aria": True}
        by_difference = sorted(rows, key=lambda row: row["y"] - row["x"])
        furthest = by_difference[:NAMED] + by_difference[NAMED:][-NAMED:]
        named = [row for row in furthest if row["x"] != row["y"]]
        is_right = f"datum.x > {(low + high) / 2}"  # its name stands on the left
        beside = {"align": {"expr": f"{is_right} ? 'right' : 'left'"}, "dx": {"expr": f"{is_right} ? -7 : 7"}}
        text = {"type": "text", "baseline": "middle", "limit": 120, "fill": INK, **beside}
        layers = [
            line,
            layer(rows, point, x=x, y=y, description=SAYS),
            layer(named, text, x=x, y=y, text={"field": "query"}),
        ]
    side = min(width - LEFT - RIGHT, SIDE)
    return plot(LEFT + side + RIGHT, side, f"{what} of {names[0]}", layers, RIGHT, BOTTOM)
