"""The charts of the pages, drawn as SVG in the colours of the page, light or dark: how far a run is from the median or
from another run, query by query; and progress over the periods, one line a system or one a team."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any
from xml.etree import ElementTree

import numpy as np
from markupsafe import Markup

from leaderboard.boards.reads.entries import Column
from leaderboard.frozen import frozen
from leaderboard.numbers import counted
from leaderboard.progress.reads.progress import Line, ProgressPage
from leaderboard.results.reads.queries import Compared
from leaderboard.results.reads.run import SubmissionResults
from leaderboard.web.formatting import plain_figure, signed
from leaderboard.web.sentences import best_over_periods, one_system_over_periods

Spec = dict[str, Any]

WIDE, NARROW = 1280, 340  # px, whole drawings: a desktop's and a phone's
KEPT = 256  # drawings: a few MB
LEFT = 52  # px, left of the plot
FONT_SIZE = 12  # px

# Colours that stand for the page's own; no drawing holds any other colour.
INK, MUTED, RULE, PAGE, REST = "#000001", "#000002", "#000003", "#000004", "#000005"
SERIES = ("#000011", "#000012", "#000013", "#000014", "#000015", "#000016")
PROPERTIES = {
    INK: "--ink",
    MUTED: "--muted",
    RULE: "--rule",
    PAGE: "--page",
    REST: "--series-rest",
    **{colour: f"--series-{number}" for number, colour in enumerate(SERIES, start=1)},
}

OUR_COLOUR = re.compile(f'"({"|".join(PROPERTIES)})"')

STYLE: Spec = {
    "background": None,
    "mark": {"aria": False},  # else what has no description of its own says its data on hover: "colour: #000015"
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "labelFontSize": FONT_SIZE,
        "titleFontSize": FONT_SIZE,
        "titleFontWeight": "normal",
        "gridColor": RULE,
        "domainColor": RULE,
        "tickColor": RULE,
    },
    "axisX": {"grid": False, "labelAngle": 0, "labelPadding": 6},
    "axisY": {"domain": False, "ticks": False, "tickCount": 5, "labelPadding": 8},
    "text": {"fontSize": FONT_SIZE, "fill": INK},
    "legend": {"disable": True},
    "title": {  # above the axis, from its labels' left edge: what the figures are
        "anchor": "start",
        "frame": "group",
        "offset": 14,
        "dx": -48,
        "color": INK,
        "fontSize": FONT_SIZE,
        "fontWeight": "normal",
    },
}

# Labels of an axis of differences: a sign on all but zero, which has none.
SIGNED = "datum.value === 0 ? '0' : format(datum.value, '+.2~f')"

SVG = "http://www.w3.org/2000/svg"
ElementTree.register_namespace("", SVG)


@frozen
class Chart:
    """A chart of a page: one drawing for a desktop, one for a phone, and a sentence that says what it shows."""

    wide: Markup
    narrow: Markup
    sentence: str


def draw(spec: Callable[[int], Spec], alt: str, sentence: str) -> Chart:
    """`spec` makes the specification for a width in px. `alt`: what it shows, for readers who don't see it."""
    wide, narrow = (Markup(_svg(json.dumps(spec(width)), alt)) for width in (WIDE, NARROW))  # noqa: S704  # our own drawing; names in it were escaped by its writer
    return Chart(wide, narrow, sentence)


@lru_cache(maxsize=KEPT)
def _svg(spec: str, alt: str) -> str:
    """One image with one description, in the page's colours; each mark says on hover what it is."""
    # Imported here: it starts threads, and hangs after a fork if it was used before.
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(spec, config=STYLE)
    root = ElementTree.fromstring(drawn)  # noqa: S314  # written a line above by our own renderer
    for element in root.iter():
        label = element.attrib.pop("aria-label", None)
        for attribute in ("role", "aria-roledescription", "aria-hidden", "font-family"):
            element.attrib.pop(attribute, None)
        if label and not len(element):  # of a mark, not of a group of them
            title = ElementTree.Element(f"{{{SVG}}}title")
            title.text = label
            element.insert(0, title)
    root.attrib |= {"role": "img", "aria-label": alt}
    text = ElementTree.tostring(root, encoding="unicode")
    return OUR_COLOUR.sub(lambda match: f'"var({PROPERTIES[match[1]]})"', text)


HEIGHT = 220  # px, of the plot
SINGLE = 250  # queries up to which each has a bar of its own; more are counted in bins
LONGEST_NAME = 16  # characters of a query's name
# Names of queries differ at their ends.
SHORTENED = f"length(datum.label) > {LONGEST_NAME} ? '…' + slice(datum.label, {1 - LONGEST_NAME}) : datum.label"
CHARACTER = 7.5  # px, at most, of most names
ZERO: Spec = {"data": {"values": [{}]}, "mark": {"type": "rule", "color": INK}, "encoding": {"y": {"datum": 0}}}
SAYS: Spec = {"field": "says"}

Row = dict[str, Any]  # of data
Difference = tuple[str, float]  # a query, and by how much


def _layer(rows: Sequence[Row], mark: Spec, **encoding: Spec) -> Spec:
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding}


def _plot(width: int, height: int, title: str, layers: Sequence[Spec], right: float, bottom: float) -> Spec:
    """A drawing of this whole width, around a plot of this height."""
    padding = {"left": LEFT, "right": right, "top": 34, "bottom": bottom}
    return {
        "width": width - LEFT - right,
        "height": height,
        "padding": padding,
        "autosize": "none",
        "title": {"text": title, "limit": width},
        "layer": layers,
    }


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
    kind, plot = ("Bars", _bars) if len(rows) <= SINGLE else ("Histogram", _histogram)
    alt = f"{kind} of the difference in {what} from {other}, query by query. {finding}"
    return draw(lambda width: plot(f"{what} minus {other}", rows, width), alt, finding)


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
        _layer(values, bar, x=x, y=y, color=COLOUR, description=SAYS),
        ZERO,
    ]
    return _plot(width, HEIGHT, title, layers, 8, room)


def _histogram(title: str, rows: Sequence[Difference], width: int) -> Spec:
    x = {
        "field": "difference",
        "bin": {"maxbins": 40 if width == WIDE else 20},
        "type": "quantitative",
        "axis": {"title": title, "labelExpr": SIGNED, "labelOverlap": True},
    }
    y = {"aggregate": "count", "type": "quantitative", "axis": {"title": None}}
    values = [{"difference": difference} for _, difference in rows]
    layers = [_layer(values, {"type": "bar", "color": SERIES[0]}, x=x, y=y)]
    return _plot(width, HEIGHT, "queries", layers, 8, 44)


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
    drawn = [
        _Drawn(line, _colour(line, only), only is None and (line.own or any(point.best for point in line.points)))
        for line in lines
    ]
    named = [own for own in drawn if own.is_named]
    if len(drawn) - len(named) > MOST_GREY:
        sentence += f" The other {counted(len(drawn) - len(named), kind)} are not drawn."
        drawn = named
    rows = _rows(page.column, drawn)
    alt = f"Line chart of {page.column.name} over {', '.join(period.label for period in page.periods)}. {sentence}"
    return draw(lambda width: _progress(page, rows, width), alt, sentence)


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
    stands_out: bool

    @property
    def is_named(self) -> bool:
        return self.stands_out or self.colour != REST

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
                "low": figure.low if self.is_series else None,
                "high": figure.mean if figure.high is None else figure.high,
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
    inner = width - LEFT - right
    domain = _domain(column, rows)
    x = {
        "field": "period",
        "type": "nominal",
        "scale": {"type": "point", "domain": periods, "padding": 0.2 if is_wide else 0.4},
        "axis": {"title": None, "labelLimit": inner / len(periods) - 4},
    }
    half = min(3 * (INTERVAL + 1), inner / len(periods) / 4)  # px, in which three intervals stand beside each other
    aside = {**_by("aside"), "scale": {"domain": [-3, 3], "range": [-half, half]}}
    scale = {"domain": domain, "nice": False, "zero": False}
    y = {"field": "mean", "type": "quantitative", "scale": scale, "axis": {"title": None}}
    labels = {"data": {"values": _labels(rows, periods[-1], domain)}, "layer": _names(periods[-1], inner, right)}
    layers = [
        {
            "data": {"values": rows},
            "encoding": {"x": x, "y": y, "xOffset": aside, "color": COLOUR, "description": SAYS},
            "layer": [*MARKS, labels],
        }
    ]
    title = f"{column.name}, {page.condition}" if page.condition else column.name
    if column.direction == "lower":
        title += "; lower is better"
    if column.lowest < 0:  # which any lower one is worse than
        title += "; 0 = nothing returned"
        layers.append(ZERO)
    return _plot(width, PROGRESS_HEIGHT, title, layers, right, 28)


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


def _by(column: str, kind: str = "quantitative") -> Spec:
    """Has marks look as a column of their data says."""
    return {"field": column, "type": kind, "scale": None}


COLOUR = _by("colour", "nominal")
SHAPE = _by("shape", "nominal")
BEST = [{"filter": "datum.is_best"}]
MARKS: list[Spec] = [  # lines, their intervals and points, and a ring round the best of each period, with its figure
    {
        "mark": {"type": "line", "aria": True},
        "encoding": {
            "detail": {"field": "line"},
            "description": {"field": "name"},
            "strokeWidth": _by("width"),
            "strokeDash": _by("dash", "nominal"),
        },
    },
    {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "aria": True, "strokeWidth": INTERVAL, "opacity": 0.25},
        "encoding": {"y": {"field": "low"}, "y2": {"field": "high"}},
    },
    {
        "mark": {"type": "point", "aria": True, "filled": True, "opacity": 1},
        "encoding": {"size": _by("size"), "shape": SHAPE},
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
        "encoding": {"y": {"field": "high"}, "text": {"field": "text"}, "stroke": {"value": PAGE}},
    },
]


def _domain(column: Column, rows: Sequence[Row]) -> tuple[float, float]:
    """What the axis spans: every figure with its interval and some air; zero too where a value can be below it."""
    ends = [row[end] for row in rows for end in ("mean", "low", "high") if row[end] is not None]
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
