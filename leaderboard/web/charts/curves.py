"""The curves of a run: its value over the threshold θ, its DET curve, P_miss and P_fa of its queries, precision over
recall. They are narrow: on a desktop they stand beside each other, and a phone has the same drawings."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from markupsafe import Markup

from leaderboard.metrics import Floats
from leaderboard.metrics.curves import Mark
from leaderboard.numbers import counted
from leaderboard.results.reads.curves import RunCurves, ValueCurves
from leaderboard.web.charts import drawing
from leaderboard.web.charts.drawing import Chart, Row, Spec
from leaderboard.web.formatting import plain_figure

WIDTH, HEIGHT = 296, 240  # px: of a drawing, and of its plot
BELOW = 0.25  # how far below AQWV, or below 0, the axis of values goes: the curve can fall to −β
AIR = 0.08  # of an axis, beyond what is drawn
# Shares at which an axis of normal deviates has a tick.
TICKS = (1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 0.999)
IN_PERCENT = "format(100 * {}, '.2~r') + ' %'"
POINT = ("mark", "theta", "p_miss", "p_fa", "qwv")  # columns of the data of curves over the threshold
GRID = 50  # steps along each axis, to which points of queries are rounded

Point = tuple[float, float]

LINE: Spec = {"type": "line", "clip": True, "color": drawing.SERIES[0], "strokeWidth": 2}
DOT: Spec = {"type": "point", "aria": True, "filled": True, "opacity": 0.8, "color": drawing.SERIES[0]}
# Its outline lies below its letters (in the style sheet), so that a line behind it does not make it unreadable.
NAME: Spec = {"type": "text", "fontWeight": 600, "fill": drawing.INK, "stroke": drawing.PAGE, "strokeWidth": 4}
NAME |= {side: {"expr": f"datum.{side}"} for side in ("align", "dx", "dy")}


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
    spec = drawing.plot(WIDTH, HEIGHT, title, placed, right=16, bottom=46)
    return Chart(name, drawing.drawn(spec, f"{title}. {says}"), Markup(""), says, data)


def _axis(title: str | None, domain: Sequence[float], **axis: Any) -> Spec:
    labels = {"title": title, "labelOverlap": "greedy", "labelSeparation": 8, "labelFlush": False}
    return {"scale": {"domain": [*domain], "nice": False, "zero": False}, "axis": labels | axis}


def _line(points: Iterable[Point], **mark: Any) -> Spec:
    rows = [{"order": order, "x": x, "y": y} for order, (x, y) in enumerate(points)]
    return drawing.layer(rows, LINE | mark, order={"field": "order", "type": "quantitative"})


def _marks(value: ValueCurves, own: Point, best: Point, middle: float) -> list[Spec]:
    """The run's decisions and, as a ring, the best threshold, with their names. middle: of the axis of x"""
    rows = list[Row]()
    for name, mark, (x, y), higher in zip(value.names, value.marks, (own, best), (best, own), strict=False):
        side = {"align": "left", "dx": 5} if x < middle else {"align": "right", "dx": -5}
        side["dy"] = 13 if y < higher[1] or (name == value.names[0] and y == higher[1]) else -11
        rows.append({"x": x, "y": y, "text": f"{name} {plain_figure(mark.qwv)}"} | side)
    dot, ring = {"size": 70, "color": drawing.SERIES[1]}, {"size": 150, "color": drawing.INK, "filled": False}
    looks = zip(rows, (dot, ring), strict=True)
    marks = [drawing.layer([row], DOT | {"opacity": 1} | look, description={"field": "text"}) for row, look in looks]
    return [*marks, drawing.layer(rows, NAME, text={"field": "text"})]


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
    end = {"x": domain[1], "align": "right"} if best_x < sum(domain) / 2 else {"x": domain[0], "align": "left"}
    limit = [{"y": optimum.qwv, "text": each, "dx": 0, "dy": -9} | end]
    dashes = {"type": "rule", "color": drawing.MUTED, "strokeDash": [5, 4]}
    across: Spec = {"x": {"value": 0}, "x2": {"value": "width"}}
    layers = [
        drawing.layer([{"y": 0}], {"type": "rule", "color": drawing.INK}, **across),
        drawing.layer(limit, dashes, **across),
        drawing.layer(limit, NAME, text={"field": "text"}),
        _line([(domain[1], value.qwv[0]), *zip(theta, qwv, strict=True)], interpolate="step-after"),
        *_marks(value, (own_x, actual.qwv), (best_x, maximum.qwv), sum(domain) / 2),
    ]
    axes = _axis("threshold θ", domain, tickCount=6), _axis(None, (lowest, top + 1.5 * AIR * (top - lowest)))
    return _chart("value", "Value over the threshold", axes, layers, says, data)


def _det_chart(value: ValueCurves, data: Sequence[Row]) -> Chart:
    """On axes of normal deviates, on which the shares 0 and 1 have no place: the curve leaves the plot there."""
    axes, places, own, best = list[Spec](), list[list[float]](), value.marks[0], value.marks[1]
    misses, alarms = (value.p_miss, own.p_miss, best.p_miss), (value.p_fa, own.p_fa, best.p_fa)
    for title, (shares, *marks) in ("P_fa", alarms), (None, misses):
        inside = shares[(shares > TICKS[0]) & (shares < TICKS[-1])]
        low = max((tick for tick in TICKS if tick < inside.min(initial=0.5)), default=TICKS[0])
        high = min((tick for tick in TICKS if tick > inside.max(initial=low)), default=TICKS[-1])
        ticks = [NormalDist().inv_cdf(tick) for tick in TICKS if low <= tick <= high]
        labels = IN_PERCENT.format("cumulativeNormal(datum.value)")
        axes.append(_axis(title, (ticks[0], ticks[-1]), values=ticks, labelExpr=labels))
        drawn = [*np.clip(shares, TICKS[0] / 10, 1 - TICKS[0]), *np.clip(marks, low, high)]
        places.append([NormalDist().inv_cdf(share) for share in drawn])
    *points, at_own, at_best = zip(*places, strict=True)
    says = f"The run's decisions have {_losses(own)}, the best threshold {_losses(best)}."
    layers = [_line(points), *_marks(value, at_own, at_best, sum(axes[0]["scale"]["domain"]) / 2)]
    return _chart("det", "P_miss over P_fa as normal deviates (DET curve)", axes, layers, says, data)


def _losses_chart(queries: Mapping[str, Mark]) -> Chart:
    """Queries at one place of a grid share a point; the axis of P_fa is that of its square root."""
    most, groups, rows = max(own.p_fa for own in queries.values()) or 1.0, defaultdict[Point, list[str]](list), []
    for query, own in queries.items():
        groups[round(GRID * (own.p_fa / most) ** 0.5) / GRID, round(GRID * own.p_miss) / GRID].append(query)
    for (x, y), group in groups.items():
        names = ", ".join(group[:4]) + (f" and {len(group) - 4} more" if group[4:] else "")
        says = f"{names}: {_losses(queries[group[0]])}"
        rows.append({"x": most * x**2, "y": y, "size": 40 * len(group) ** 0.5, "says": says})
    missed, below = (sum(own.p_miss == 1 for own in queries.values()), sum(own.qwv < 0 for own in queries.values()))
    words = f"On {missed} of {counted(len(queries), 'query')} nothing relevant is returned"
    ticks = {"labelExpr": IN_PERCENT.format("datum.value"), "tickCount": 4}
    axes = _axis("P_fa", (0, most), **ticks), _axis(None, (0, 1), **ticks)
    axes[0]["scale"] |= {"type": "sqrt", "nice": True}
    dots = drawing.layer(rows, DOT, size=drawing.by("size"), description=drawing.SAYS)
    data = [dict(zip(("query", *POINT[2:]), (query, *own[1:]), strict=True)) for query, own in queries.items()]
    says = f"{words}, on {below} the value is below 0."
    return _chart("queries", "P_miss over P_fa, query by query", axes, [dots], says, data)


def _losses(of: Mark) -> str:
    return f"P_miss {plain_figure(of.p_miss)} and P_fa {plain_figure(of.p_fa, 'false alarms')}"


def _precision_chart(precision: Floats) -> Chart:
    rows = [{"recall": step / 10, "precision": value} for step, value in enumerate(precision.tolist())]
    first, half, last = (plain_figure(precision[step]) for step in (0, 5, 10))
    says = f"Interpolated precision, the mean over queries: {first} at recall 0, {half} at 0.5, {last} at 1."
    line = _line(((row["recall"], row["precision"]) for row in rows), clip=False, point={"color": drawing.SERIES[0]})
    axes = _axis("recall", (0, 1)), _axis(None, (0, 1))
    return _chart("precision", "Precision over recall", axes, [line], says, rows)
