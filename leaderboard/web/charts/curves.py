"""The curves of a run: its value over the threshold θ, its DET curve, Pmiss and Pfa of its queries, precision over
recall. They are narrow: on a desktop they stand beside each other, and a phone has the same drawings."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from markupsafe import Markup

from leaderboard.metrics import Floats
from leaderboard.metrics.curves import Mark
from leaderboard.numbers import counted, first_of
from leaderboard.results.reads.curves import RunCurves, ValueCurves
from leaderboard.web.charts import drawing
from leaderboard.web.charts.drawing import Chart, Row, Spec
from leaderboard.web.formatting import plain_figure

WIDTH, HEIGHT, RIGHT = 296, 240, 16  # px: of a drawing, of its plot, and right of that
BELOW = 0.25  # how far below AQWV, or below 0, the axis of values goes: the curve can fall to −β
AIR = 0.08  # of an axis, beyond what is drawn
NAMES = 0.34  # of the axis of values: room for names above what is drawn
END = 0.4  # deviates from the last tick of an axis to its end, where that is 0 or 1
# Shares at which an axis of normal deviates has a tick.
TICKS = (1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99, 0.999, 0.9999)
IN_PERCENT = "format(100 * {}, '.4~r') + ' %'"
POINT = ("mark", "theta", "p_miss", "p_fa", "qwv")  # columns of the data of curves over the threshold
GRID = 50  # steps along each axis, to which points of queries are rounded

Point = tuple[float, float]

LINE: Spec = {"type": "line", "clip": True, "color": drawing.SERIES[0], "strokeWidth": 2}
DOT: Spec = {"type": "point", "aria": True, "filled": True, "opacity": 0.8, "color": drawing.SERIES[0]}
# Its outline lies below its letters (in the style sheet), so that a line behind it does not make it unreadable.
NAME: Spec = {"type": "text", "align": "right", "fontWeight": 600, "fill": drawing.INK, "stroke": drawing.PAGE}
NAME |= {"strokeWidth": 4}
# How the run's decisions look, and the best threshold.
LOOKS: tuple[Spec, Spec] = (
    {"size": 70, "color": drawing.SERIES[1]},
    {"size": 150, "color": drawing.INK, "filled": False},
)


def curve_charts(curves: RunCurves) -> Iterator[Chart]:
    """Those that the run has, in the order of its page."""
    if (value := curves.value) is not None and len(value.theta) > 1:
        points = [("", *point) for point in zip(value.theta, value.p_miss, value.p_fa, value.qwv, strict=True)]
        points += [(name, *mark) for name, mark in zip(value.names, value.marks, strict=True)]
        data = [dict(zip(POINT, (None if x != x else x for x in point), strict=True)) for point in points]
        yield from (_value_chart(value, data), _det_chart(value, data))
        yield from map(_losses_chart, [value.queries] if value.queries else [])
    if curves.precision is not None and not np.isnan(curves.precision).any():
        yield _precision_chart(curves.precision)


def _chart(name: str, title: str, axes: Sequence[Spec], layers: list[Spec], says: str, data: Sequence[Row]) -> Chart:
    """A chart whose layers have `x` and `y` in their data."""
    x, y = ({"field": field, "type": "quantitative"} | axis for field, axis in zip("xy", axes, strict=True))
    placed = [each | {"encoding": {"x": x, "y": y} | each["encoding"]} for each in layers]
    spec = drawing.plot(WIDTH, HEIGHT, title, placed, RIGHT, bottom=46)
    return Chart(name, drawing.drawn(spec, f"{title}. {says}"), Markup(""), says, data)


def _axis(title: str | None, domain: Sequence[float], **axis: Any) -> Spec:
    labels = {"title": title, "labelOverlap": "greedy", "labelSeparation": 8, "labelFlush": False}
    return {"scale": {"domain": [*domain], "nice": False, "zero": False}, "axis": labels | axis}


def _line(points: Iterable[Point], **mark: Any) -> Spec:
    rows = [{"order": order, "x": x, "y": y} for order, (x, y) in enumerate(points)]
    return drawing.layer(rows, LINE | mark, order={"field": "order", "type": "quantitative"})


def _marks(value: ValueCurves, *points: Point) -> Iterator[Spec]:
    """The run's decisions and the best threshold; what they are called, in the corner that no curve goes to."""
    for row, ((x, y), look, name, mark) in enumerate(zip(points, LOOKS, value.names, value.marks, strict=False)):
        text, dot = {"text": f"{name} {plain_figure(mark.qwv)}"}, DOT | {"opacity": 1} | look
        right, height = {"value": WIDTH - drawing.LEFT - RIGHT - 6}, {"value": 8 + 18 * row}
        yield drawing.layer([{"x": x, "y": y} | text], dot, description={"field": "text"})
        yield drawing.layer([{}], dot, x=right, y=height)
        yield drawing.layer([text], NAME | {"dx": -12, "dy": 1}, x=right, y=height, text={"field": "text"})


def _value_chart(value: ValueCurves, data: Sequence[Row]) -> Chart:
    """A document is returned where its score is at least θ, so the value changes just above each score."""
    (actual, maximum, optimum), names = value.marks, value.names
    theta, qwv = value.theta[1:], value.qwv[1:]  # but for +inf, which has no place on the axis
    lowest, top = max(float(value.qwv.min()), min(0.0, actual.qwv) - BELOW), max(actual.qwv, optimum.qwv)
    seen = theta[(qwv >= lowest) | (theta == theta[0])]
    air = AIR * (float(np.ptp(seen)) or 1.0)
    domain = float(seen.min()) - air, float(seen.max()) + air
    # A θ beyond all scores stands at the axis' end; decisions that no θ gives lie on no curve, and stand there too.
    own_x, best_x = (float(np.nan_to_num(np.clip(mark.theta, *domain), nan=domain[1])) for mark in value.marks[:2])
    own, best, each = (f"{name} {plain_figure(mark.qwv)}" for name, mark in zip(names, value.marks, strict=True))
    at_best = f"{maximum.theta:.4g}" if np.isfinite(maximum.theta) else "above all scores"
    returned = f"scores down to {actual.theta:.4g}" if np.isfinite(actual.theta) else "nothing"
    decided = f"Returning {returned}" if value.one_threshold else "By its own decisions"
    says = f"{decided} the run has {own}; the best threshold, {at_best}, gives {best}, the best of each query {each}."
    end = {"align": "right"} if best_x < sum(domain) / 2 else {"align": "left"}
    limit = [{"y": optimum.qwv, "text": each}]
    dashes = {"type": "rule", "color": drawing.MUTED, "strokeDash": [5, 4]}
    across: Spec = {"x": {"value": 0}, "x2": {"value": "width"}}
    layers = [
        drawing.layer([{"y": 0}], {"type": "rule", "color": drawing.INK}, **across),
        drawing.layer(limit, dashes, **across),
        drawing.layer(
            limit, NAME | {"dy": -9} | end, x={"datum": domain[end["align"] == "right"]}, text={"field": "text"}
        ),
        _line([(domain[1], value.qwv[0]), *zip(theta, qwv, strict=True)], interpolate="step-after"),
        *_marks(value, (own_x, actual.qwv), (best_x, maximum.qwv)),
    ]
    axes = (
        _axis("threshold θ", domain, tickCount=6),
        _axis(None, (lowest, top + NAMES * (top - lowest)), labelExpr="datum.value > 1 ? '' : datum.label"),
    )
    return _chart("value", "Value over the threshold", axes, layers, says, data)


def _det_chart(value: ValueCurves, data: Sequence[Row]) -> Chart:
    """On axes of normal deviates, on which the shares 0 and 1 have no place: the curve leaves the plot there, unless
    the run's decisions or its best threshold have such a share, which then is the axis' end."""
    axes, places, (own, best, _) = list[Spec](), list[list[float]](), value.marks
    misses, alarms = (value.p_miss, own.p_miss, best.p_miss), (value.p_fa, own.p_fa, best.p_fa)
    drawn = (value.p_miss > 0) & (value.p_miss < 1) & (value.p_fa > TICKS[0])
    for title, (shares, *marks) in ("Pfa", alarms), (None, misses):
        inside = [share for share in (*shares[drawn], *marks) if TICKS[0] < share < TICKS[-1]] or [0.5]
        low = max((tick for tick in TICKS if tick < min(inside)), default=TICKS[0])
        high = min((tick for tick in TICKS if tick > max(inside)), default=TICKS[-1])
        ticks = [NormalDist().inv_cdf(tick) for tick in TICKS if low <= tick <= high]
        ends = ticks[0] - END * (min(marks) <= TICKS[0]), ticks[-1] + END * (max(marks) >= TICKS[-1])
        inner = IN_PERCENT.format("cumulativeNormal(datum.value)")
        labels = f"datum.value < {ticks[0]} ? '0' : datum.value > {ticks[-1]} ? '100 %' : {inner}"
        values = sorted({*ends, *ticks})
        axes.append(_axis(title, ends, values=values, tickCount=len(values), labelExpr=labels))
        beyond = ends[0] - (ends[0] == ticks[0]), ends[1] + (ends[1] == ticks[-1])
        deviates = map(NormalDist().inv_cdf, np.clip([*shares, *marks], TICKS[0] / 10, 1 - TICKS[0]))
        places.append(np.clip([*deviates], *beyond).tolist())
    *points, at_own, at_best = zip(*places, strict=True)
    says = (
        "From left to right more is returned: Pmiss falls and Pfa rises. On average over queries the run misses "
        f"{_in_percent(own.p_miss)} of the relevant documents and returns {_in_percent(own.p_fa)} of the others; with "
        f"the best threshold it would miss {_in_percent(best.p_miss)} and return {_in_percent(best.p_fa)}."
    )
    layers = [_line(points), *_marks(value, at_own, at_best)]
    return _chart("det", "Pmiss over Pfa as normal deviates (DET curve)", axes, layers, says, data)


def _losses_chart(queries: Mapping[str, Mark]) -> Chart:
    """Queries at one place of a grid share a point."""
    most, groups, rows = max(own.p_fa for own in queries.values()) or 1.0, defaultdict[Point, list[str]](list), []
    for query, own in queries.items():
        groups[round(GRID * own.p_fa / most) / GRID, round(GRID * own.p_miss) / GRID].append(query)
    for (x, y), group in groups.items():
        mark = queries[group[0]]
        losses = f"Pmiss {plain_figure(mark.p_miss)} and Pfa {plain_figure(mark.p_fa, 'false alarms')}"
        rows.append({"x": most * x, "y": y, "size": 40 * len(group) ** 0.5, "says": f"{first_of(group, 4)}: {losses}"})
    missed, below = (sum(own.p_miss == 1 for own in queries.values()), sum(own.qwv < 0 for own in queries.values()))
    number = counted(len(queries), "query")
    words = f"On {missed} of {number} the run returns nothing relevant"
    words = words if missed else f"On each of {number} the run returns something relevant"
    words += f"; on {below} its value is below 0." if below else "; its value is below 0 on none."
    ticks = {"labelExpr": IN_PERCENT.format("datum.value"), "tickCount": 4}
    axes = _axis("Pfa", (0, most), **ticks), _axis(None, (0, 1), **ticks)
    axes[0]["scale"]["nice"] = True
    dots = drawing.layer(rows, DOT, size=drawing.by("size"), description=drawing.SAYS)
    data = [dict(zip(("query", *POINT[2:]), (query, *own[1:]), strict=True)) for query, own in queries.items()]
    return _chart("queries", "Pmiss over Pfa, query by query", axes, [dots], words, data)


def _in_percent(share: float) -> str:
    return f"{float(f'{100 * share:.3g}'):g}\N{NO-BREAK SPACE}%"


def _precision_chart(precision: Floats) -> Chart:
    rows = [{"recall": step / 10, "precision": value} for step, value in enumerate(precision.tolist())]
    first, half, last = (plain_figure(precision[step]) for step in (0, 5, 10))
    says = f"Interpolated precision, the mean over queries: {first} at recall 0, {half} at 0.5, {last} at 1."
    line = _line(((row["recall"], row["precision"]) for row in rows), clip=False, point={"color": drawing.SERIES[0]})
    axes = _axis("recall", (0, 1)), _axis(None, (0, 1))
    return _chart("precision", "Precision over recall", axes, [line], says, rows)
