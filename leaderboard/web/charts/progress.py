"""Progress over the periods: one line a system or one a team."""

from collections.abc import Iterator, Sequence
from operator import itemgetter

import numpy as np

from leaderboard.boards.reads.entries import Column
from leaderboard.frozen import frozen
from leaderboard.numbers import counted
from leaderboard.progress.reads.progress import Line, ProgressPage
from leaderboard.web.charts import drawing
from leaderboard.web.charts.drawing import COLOUR, INK, MUTED, REST, SERIES, WIDE, Chart, Row, Spec, by
from leaderboard.web.exports import file_name
from leaderboard.web.formatting import plain_figure
from leaderboard.web.sentences import best_over_periods, one_system_over_periods

COLUMNS = ("period", "mean", "low", "high", "rank")  # of the file of the data, beside the line
PROGRESS_HEIGHT = 340  # px, of the plot
INTERVAL = 5  # px, width of the bar of an interval
LABEL_HEIGHT = 17  # px, between two labels
MOST_GREY = 40  # lines: nobody could tell more of them apart
LABEL_STARTS = 28  # px right of the plot
NARROWER = 0.88  # a name is cut by the width that it has where it is drawn; in a reader's font it may be wider
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")  # with the colours, not only they


def progress_chart(page: ProgressPage, kind: str = "system", only: int | None = None) -> Chart | None:
    """The page's systems and baselines; or, of the kind "team", the best of each team's systems in every period.

    only: the one system that has a colour and a label, the others being grey. None when there is nothing to draw: a
    line needs two periods, and each with one evaluation.
    """
    lines = [line for line in (*(page.teams if kind == "team" else page.systems), *page.baselines) if line.points]
    if not page.is_series or not lines:
        return None
    sentence = best_over_periods(page, kind) if only is None else one_system_over_periods(page, lines, only)
    stands_out = [only is None and (line.own or any(point.best for point in line.points)) for line in lines]
    colours = [_colour(line, only) for line in lines]
    looks = zip(lines, colours, stands_out, strict=True)
    drawn = [_Drawn(line, colour, colour != REST or is_named) for line, colour, is_named in looks]
    named = [own for own in drawn if own.is_named]
    if len(drawn) - len(named) > MOST_GREY:
        sentence += f" The other {counted(len(drawn) - len(named), kind)} are not drawn."
        drawn = named
    rows = _rows(page.column, drawn)
    data = [{"line": row["name"]} | {key: row[key] for key in COLUMNS} for row in sorted(rows, key=itemgetter("line"))]
    alt = f"Line chart of {page.column.name} over {', '.join(period.label for period in page.periods)}. {sentence}"
    name = f"{kind}s" if only is None else file_name(f"{page.campaign.slug}-{page.condition}".rstrip("-"))
    return drawing.draw(name, lambda width: _progress(page, rows, width), alt, sentence, data)


def _colour(line: Line, only: int | None) -> str:
    """A system's own. Of those past the sixth only the one that the page is about stands out, in ink."""
    is_it = line.system is not None and line.system.id == only
    if line.system is not None and line.system.is_baseline and not is_it:
        return MUTED
    if only is not None and not is_it:
        return REST
    if line.number < len(SERIES):
        return SERIES[line.number]
    return INK if is_it else REST


@frozen
class _Drawn:
    """A line and how it is drawn."""

    line: Line
    colour: str
    is_named: bool

    @property
    def is_series(self) -> bool:
        """Whether its intervals are drawn, and it lies above all others."""
        return self.colour not in (MUTED, REST)

    def rows(self, column: Column, number: int, aside: float) -> Iterator[Row]:
        """A row of data for each point, with all that its marks go by. number: of the line in its drawing; aside: where
        it stands beside its period."""
        for point in self.line.points:
            figure, text = point.figure, plain_figure(point.figure.mean, column.unit)
            says = f"{self.line.called}, {point.period.label}: {text}"
            says += f", rank {point.rank}" if point.rank is not None else ""
            if figure.low is not None:
                low, high = (plain_figure(end, column.unit) for end in (figure.low, figure.high))
                says += f", interval {low} to {high}"
            yield {
                "line": number,
                "name": self.line.called,
                "is_named": self.is_named,
                "period": point.period.label,
                "mean": figure.mean,
                "low": figure.low,
                "high": figure.high,
                "rank": point.rank,
                "has_interval": self.is_series and figure.low is not None,
                "top": figure.mean if figure.high is None else figure.high,
                "text": text,
                "says": says,
                "is_best": point.best,
                "aside": aside,
                "colour": self.colour,
                "shape": SHAPES[self.line.number % len(SHAPES)] if self.colour in SERIES else "circle",
                "dash": [5, 4] if self.colour == MUTED else [1, 0],
                "width": 1 if self.colour == REST else 2,
                "size": 18 if self.colour == REST else 60,
            }


def _rows(column: Column, drawn: Sequence[_Drawn]) -> list[Row]:
    """The data of all lines, the lowest first: intervals stand beside each other, in the order of their lines."""
    series = [number for number, own in enumerate(drawn) if own.is_series]
    asides = {number: place - (len(series) - 1) / 2 for place, number in enumerate(series)}
    upwards = sorted(enumerate(drawn), key=lambda pair: (pair[1].is_series, pair[1].colour == MUTED, -pair[0]))
    return [row for number, own in upwards for row in own.rows(column, number, asides.get(number, 0.0))]


def _progress(page: ProgressPage, rows: Sequence[Row], width: int) -> Spec:
    """One drawing of the lines at one width."""
    column, is_wide, periods = page.column, width == WIDE, [period.label for period in page.periods]
    right = 232 if is_wide else 126
    inner = width - drawing.LEFT - right
    domain = _domain(column, rows)
    x = {
        "field": "period",
        "type": "nominal",
        "scale": {"type": "point", "domain": periods, "padding": 0.2 if is_wide else 0.4},
        "axis": {"title": None, "labelLimit": inner / len(periods) - 4},
    }
    half = min(3 * (INTERVAL + 1), inner / len(periods) / 4)  # px, in which three intervals stand beside each other
    aside = {**by("aside"), "scale": {"domain": [-3, 3], "range": [-half, half]}}
    scale = {"domain": domain, "nice": False, "zero": False}
    y = {"field": "mean", "type": "quantitative", "scale": scale, "axis": {"title": None}}
    labels = {"data": {"values": _labels(rows, periods[-1], domain)}, "layer": _names(periods[-1], inner, right)}
    layers = [
        {
            "data": {"values": rows},
            "encoding": {"x": x, "y": y, "xOffset": aside, "color": COLOUR, "description": drawing.SAYS},
            "layer": [*MARKS, labels],
        }
    ]
    title = f"{column.name}, {page.condition}" if page.condition else column.name
    if column.direction == "lower":
        title += "; lower is better"
    if column.lowest < 0:  # which any lower one is worse than
        title += "; 0 = nothing returned"
        layers.append(drawing.ZERO)
    return drawing.plot(width, PROGRESS_HEIGHT, title, layers, right, 28)


def _labels(rows: Sequence[Row], latest: str, axis: tuple[float, float]) -> list[Row]:
    """The names of the lines, the lowest first: at the height of the last point, or as near as the others allow."""
    last = {row["line"]: row for row in rows if row["is_named"]}  # those of one line are in the order of the periods
    ends = sorted(last.values(), key=itemgetter("mean"))
    heights = spread([row["mean"] for row in ends], *axis, LABEL_HEIGHT / PROGRESS_HEIGHT)
    return [
        {**row, "label": height, "text": row["name"] + ("" if row["period"] == latest else f", to {row['period']}")}
        for row, height in zip(ends, heights, strict=True)
    ]


def _names(latest: str, inner: int, right: int) -> list[Spec]:
    """Each name behind its line's sign, right of the plot, where it covers no line; a rule leads there from a line that
    goes on to the last period."""
    at: Spec = {"y": {"field": "label"}, "xOffset": None}
    limit = (right - LABEL_STARTS) * NARROWER
    return [
        {
            "transform": [{"filter": {"field": "period", "equal": latest}}],
            "mark": {"type": "rule", "strokeWidth": 1, "opacity": 0.5},
            "encoding": {"x2": {"value": inner + 12}, "y2": {"field": "label"}, "description": None},
        },
        {
            "mark": {"type": "point", "filled": True, "opacity": 1, "size": 50},
            "encoding": {**at, "x": {"value": inner + 18}, "shape": SHAPE},
        },
        {
            "mark": {"type": "text", "aria": True, "align": "left", "baseline": "middle", "limit": limit},
            "encoding": {**at, "x": {"value": inner + LABEL_STARTS}, "text": {"field": "text"}, "color": None},
        },
    ]


SHAPE = by("shape", "nominal")
BEST = [{"filter": "datum.is_best"}]
MARKS: list[Spec] = [  # lines, their intervals and points, and a ring round the best of each period, with its figure
    {
        "mark": {"type": "line", "aria": True},
        "encoding": {
            "detail": {"field": "line"},
            "description": {"field": "name"},
            "strokeWidth": by("width"),
            "strokeDash": by("dash", "nominal"),
        },
    },
    {
        "transform": [{"filter": "datum.has_interval"}],
        "mark": {"type": "rule", "aria": True, "strokeWidth": INTERVAL, "opacity": 0.25},
        "encoding": {"y": {"field": "low"}, "y2": {"field": "high"}},
    },
    {
        "mark": {"type": "point", "aria": True, "filled": True, "opacity": 1},
        "encoding": {"size": by("size"), "shape": SHAPE},
    },
    {
        "transform": BEST,
        "mark": {"type": "point", "aria": True, "filled": False, "size": 200, "strokeWidth": 1.25, "opacity": 1},
        "encoding": {"color": {"value": INK}},
    },
    {
        "transform": BEST,
        # Its outline lies below its letters (in the style sheet), so that a line behind it does not make it unreadable.
        "mark": {"type": "text", "fontWeight": 600, "baseline": "bottom", "dy": -11, "fill": INK, "strokeWidth": 4},
        "encoding": {"y": {"field": "top"}, "text": {"field": "text"}, "stroke": {"value": drawing.PAGE}},
    },
]


def _domain(column: Column, rows: Sequence[Row]) -> tuple[float, float]:
    """What the axis spans: every figure with its interval and some air; zero too where a value can be below it."""
    ends = [row[end] for row in rows for end in ("mean", "low" if row["has_interval"] else "mean", "top")]
    if column.lowest < 0:
        ends.append(0.0)
    lowest, highest = min(ends), max(ends)
    air = max((highest - lowest) * 0.08, max(map(abs, ends)) * 0.02) or 0.01
    return lowest - air, highest + air


def spread(values: Sequence[float], lowest: float, highest: float, share: float) -> list[float]:
    """Where the labels of these values, the lowest first, go in the same units: at least `share` of the axis apart, as
    near to their values as that allows, and between `lowest` and `highest` as far as they all fit."""
    from scipy.optimize import isotonic_regression  # here, because importing it takes longer than most pages

    if not values:
        return []
    steps = share * (highest - lowest) * np.arange(len(values))
    free = isotonic_regression(np.array(values) - steps).x
    heights: list[float] = (np.clip(free, lowest, max(lowest, highest - steps[-1])) + steps).tolist()
    return heights
