"""Two runs beside each other: a point for each query, one run's value across and the other's upwards."""

from leaderboard.results.reads.queries import Compared
from leaderboard.web.charts.drawing import INK, LEFT, MUTED, SAYS, SERIES, Chart, Row, Spec, draw, layer, plot
from leaderboard.web.formatting import plain_figure

SIDE, RIGHT, BOTTOM = 420, 20, 44  # px: of the square plot, and beside it
MOST_POINTS = 1000  # queries: more points would lie on each other
POINT = {"type": "point", "filled": True, "size": 40, "opacity": 0.7, "color": SERIES[0], "aria": True}


def scatter_chart(compared: Compared) -> Chart | None:
    """The second run across, the first one upwards. None when there is no query of which both have a value, and for
    very many."""
    column, (first, second), what = compared.column, compared.names, compared.column.name
    known = [row for row in compared.queries if row.difference is not None]
    if not 0 < len(known) <= MOST_POINTS:
        return None
    rows: list[Row] = [{"query": row.external_id, "a": row.first, "b": row.second} for row in known]
    points = [
        row | {"says": f"{row['query']}: {' and '.join(plain_figure(row[run], column.unit) for run in 'ab')}"}
        for row in sorted(rows, key=lambda row: row["a"] - row["b"])
    ]
    # Named is one query on either side of the diagonal, the one furthest from it: more names run into each other.
    furthest = [row for row in points[:1] + points[1:][-1:] if row["a"] != row["b"]]
    ends = sorted(row[run] for row in rows for run in "ab")
    air = 0.02 * (ends[-1] - ends[0]) or 0.01
    corners = [{"a": end, "b": end} for end in (ends[0] - air, ends[-1] + air)]
    is_right = f"datum.b > {(ends[0] + ends[-1]) / 2}"  # of such a point the name stands on the left
    place = {"align": {"expr": f"{is_right} ? 'right' : 'left'"}, "dx": {"expr": f"{is_right} ? -7 : 7"}}
    scale = {"domain": [corner["a"] for corner in corners], "nice": False, "zero": False}
    axis = {"grid": True, "tickCount": 5}
    x, y = (
        {"field": run, "type": "quantitative", "scale": scale, "axis": axis | {"title": title}}
        for run, title in (("b", f"{what} of {second}"), ("a", None))
    )
    text = {"type": "text", "baseline": "middle", "limit": 120, "fill": INK, **place}
    layers = [
        layer(corners, {"type": "line", "color": MUTED, "strokeWidth": 1}, x=x, y=y),
        layer(points, POINT, x=x, y=y, description=SAYS),
        layer(furthest, text, x=x, y=y, text={"field": "query"}),
    ]

    def spec(width: int) -> Spec:
        side = min(width - LEFT - RIGHT, SIDE)
        return plot(LEFT + side + RIGHT, side, f"{what} of {first}", layers, RIGHT, BOTTOM)

    sentence = f"Each point is a query: {what} of {first} upwards, of {second} across; on the line both are level."
    return draw("scatter", spec, f"Scatter plot of {what} on {len(rows):,} queries. {sentence}", sentence, rows)
