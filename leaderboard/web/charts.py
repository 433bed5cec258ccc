"""Draws a Vega-Lite specification as SVG whose colours are those of the page, light or dark.

How far one run is from the median of all systems, or from another run, query by query.

Progress over the periods: one line a system, or one a team.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from leaderboard.boards.reads.entries import Column
from leaderboard.numbers import counted
from leaderboard.progress.reads import Line, ProgressPage
from leaderboard.results.reads.compare import Compared
from leaderboard.results.reads.run import SubmissionResults
from leaderboard.web.formatting import plain_figure
from leaderboard.web.sentences import best_over_periods, one_system_over_periods

Spec = dict[str, Any]

WIDE, NARROW = 1280, 340  # px, whole drawings: a desktop's and a phone's
KEPT = 256  # drawings: a few MB
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
        "labelLimit": 160,
    },
    "axisX": {"grid": False, "labelAngle": 0, "labelPadding": 6},
    "axisY": {"domain": False, "ticks": False, "tickCount": 5, "labelPadding": 8},
    "text": {"fontSize": FONT_SIZE, "fill": INK},
    "legend": {"disable": True},
    "title": {"anchor": "start", "color": INK, "fontSize": FONT_SIZE, "fontWeight": 600},
}

# Above the axis, from its labels' left edge: what the figures are.
TITLE: Spec = {"frame": "group", "offset": 14, "dx": -48, "fontWeight": "normal"}

# Labels of an axis of differences: a sign on all but zero, which has none.
SIGNED = "datum.value === 0 ? '0' : format(datum.value, '+.2~f')"

SVG = "http://www.w3.org/2000/svg"
ElementTree.register_namespace("", SVG)


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of a page: one drawing for a desktop, one for a phone, and a sentence that says what it shows."""

    wide: Markup
    narrow: Markup
    sentence: str


def draw(spec: Callable[[int], Spec], alt: str, sentence: str) -> Chart:
    """`spec` makes the specification for a width in px. `alt`: what it shows, for readers who don't see it."""
    wide, narrow = (Markup(_svg(json.dumps(spec(width), sort_keys=True), alt)) for width in (WIDE, NARROW))  # noqa: S704  # our own drawing; names in it were escaped by its writer
    return Chart(wide, narrow, sentence)


def shortened(name: str, characters: int) -> str:
    """The name in at most so many characters, with an ellipsis where its end is missing."""
    return name if len(name) <= characters else f"{name[: characters - 1].rstrip()}…"


@lru_cache(maxsize=KEPT)
def _svg(spec: str, alt: str) -> str:
    # Imported here: it starts threads, and hangs after a fork if it was used before.
    import vl_convert

    drawn = vl_convert.vegalite_to_svg({"config": STYLE, **json.loads(spec)})
    return _page_colours(_named(drawn, alt))


def _named(drawn: str, alt: str) -> str:
    """One image with one description; each mark says on hover what it is."""
    root = ElementTree.fromstring(drawn)  # noqa: S314  # written a line above by our own renderer
    for element in root.iter():
        label = element.attrib.pop("aria-label", None)
        for attribute in ("role", "aria-roledescription", "aria-hidden", "font-family"):
            element.attrib.pop(attribute, None)
        if label and element.tag in (f"{{{SVG}}}path", f"{{{SVG}}}text", f"{{{SVG}}}line", f"{{{SVG}}}rect"):
            title = ElementTree.Element(f"{{{SVG}}}title")
            title.text = label
            element.insert(0, title)
    root.attrib |= {"role": "img", "aria-label": alt}
    root.attrib.pop("class", None)
    return ElementTree.tostring(root, encoding="unicode")


def _page_colours(drawn: str) -> str:
    def property_of(match: re.Match[str]) -> str:
        return f'{match[1]}="var({PROPERTIES[match[2]]})"'

    return re.sub(rf'(fill|stroke)="({"|".join(PROPERTIES)})"', property_of, drawn)


HEIGHT = 220  # px, of the plot
LABELLED = 60  # queries that still have room for their names on a desktop, a bar being 13 px wide
SINGLE = 250  # queries up to which each has a bar of its own; more are counted in bins
LONGEST_NAME = 16  # characters of a query's name
CHARACTER = 7.5  # px, at most, of most names


Difference = tuple[str, float]  # a query, and by how much


def differences(results: SubmissionResults) -> list[Difference]:
    """(query, value of the page's column − the systems' median), the greatest first; undefined ones are left out."""
    place = results.value_columns.index(results.column)
    rows = [
        (row.external_id, value - row.median)
        for row in results.queries
        if (value := row.values[place]) is not None and row.median is not None
    ]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def differences_chart(results: SubmissionResults) -> Chart | None:
    """None when there is no other system to compare with, or no query of which both have a value."""
    rows = differences(results)
    if results.compared_with < 2 or not rows:
        return None
    finding = _finding(rows, results.column, f"the median of {results.compared_with} systems")
    return _chart(rows, results.column, "", "the median of the systems", "the median", finding)


def comparison_chart(compared: Compared) -> Chart | None:
    """Of the first run from the second. None when there is no query of which both have a value."""
    found = [(row.external_id, row.difference) for row in compared.queries if row.difference is not None]
    rows = sorted(found, key=lambda row: (-row[1], row[0]))
    if not rows:
        return None
    first, second = compared.names
    finding = f"{first}: {_finding(rows, compared.column, second)}"
    return _chart(rows, compared.column, f" of {first}", second, second, finding)


def _chart(rows: Sequence[Difference], column: Column, whose: str, other: str, short: str, finding: str) -> Chart:
    """whose: of the run, behind the measure; other: from what the differences are, short: in a few words"""
    kind = "Bars" if len(rows) <= SINGLE else "Histogram"
    alt = f"{kind} of the difference in {column.name}{whose} from {other}, query by query. {finding}"
    title = f"{column.name}{whose} minus {other}"
    if len(rows) > SINGLE:
        return draw(lambda width: _histogram(title, rows, width), alt, finding)
    return draw(lambda width: _bars(title, short, rows, width), alt, finding)


def _finding(rows: Sequence[Difference], column: Column, other: str) -> str:
    above = sum(difference > 0 for _, difference in rows)
    below = sum(difference < 0 for _, difference in rows)
    level = len(rows) - above - below
    words = f"Above {other} on {above} of {counted(len(rows), 'query')}"
    words += f", below on {below}" + (f", level on {level}" if level else "")
    (best, gain), (worst, loss) = rows[0], rows[-1]
    if gain > 0:
        words += f"; most above on {best} (+{plain_figure(gain, column.unit)})"
    if loss < 0:
        words += f"; furthest below on {worst} ({plain_figure(loss, column.unit)})"
    return f"{words}."


def _frame(width: int, title: str, bottom: float) -> Spec:
    padding = {"left": 52, "right": 8, "top": 34, "bottom": bottom}
    return {
        "width": width - padding["left"] - padding["right"],
        "height": HEIGHT,
        "padding": padding,
        "autosize": {"type": "none"},
        "title": {"text": title, **TITLE},
    }


def _bars(title: str, other: str, rows: Sequence[Difference], width: int) -> Spec:
    labelled = len(rows) <= (LABELLED if width > 600 else 12)
    names = [_ending(query) for query, _ in rows]
    if len(set(names)) < len(names):
        names = [query for query, _ in rows]
    upright = len(rows) > 15 or max(map(len, names)) * CHARACTER > (width - 60) / len(rows)
    room = 12 + max(map(len, names)) * CHARACTER if labelled and upright else 44
    values = [
        {
            "query": name,
            "difference": difference,
            "colour": SERIES[0] if difference >= 0 else SERIES[1],
            "says": f"{query}: {plain_figure(abs(difference))} {_side(difference, other)}",
        }
        for (query, difference), name in zip(rows, names, strict=True)
    ]
    axis = {"title": None if labelled else f"queries, most above {other} first", "labels": labelled, "ticks": False}
    return {
        **_frame(width, title, room),
        "layer": [
            {
                "data": {"values": values},
                "mark": {"type": "bar", "aria": True},
                "encoding": {
                    "x": {
                        "field": "query",
                        "type": "nominal",
                        "sort": None,
                        "scale": {"paddingInner": 0.2, "paddingOuter": 0.1},
                        "axis": {**axis, "labelAngle": -90 if upright else 0, "labelLimit": room},
                    },
                    "y": {"field": "difference", "type": "quantitative", "axis": {"title": None, "labelExpr": SIGNED}},
                    "color": {"field": "colour", "type": "nominal", "scale": None},
                    "description": {"field": "says"},
                },
            },
            {
                "data": {"values": [{"difference": 0}]},
                "mark": {"type": "rule", "color": INK, "strokeWidth": 1},
                "encoding": {"y": {"field": "difference", "type": "quantitative"}},
            },
        ],
    }


def _ending(name: str) -> str:
    """Names of queries differ at their ends."""
    return name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}"


def _side(difference: float, other: str) -> str:
    return f"above {other}" if difference > 0 else f"below {other}" if difference < 0 else f"from {other}"


def _histogram(title: str, rows: Sequence[Difference], width: int) -> Spec:
    return {
        **_frame(width, "queries", 44),
        "data": {"values": [{"difference": difference} for _, difference in rows]},
        "layer": [
            {
                "mark": {"type": "bar", "color": SERIES[0]},
                "encoding": {
                    "x": {
                        "field": "difference",
                        "bin": {"maxbins": 40 if width > 600 else 20},
                        "type": "quantitative",
                        "axis": {
                            "title": title,
                            "labelExpr": SIGNED,
                            "labelOverlap": True,
                        },
                    },
                    "y": {"aggregate": "count", "type": "quantitative", "axis": {"title": None}},
                },
            },
        ],
    }


PROGRESS_HEIGHT = 340  # px, of the plot
INTERVAL = 5  # px, width of the bar of an interval
LABEL_HEIGHT = 17  # px, between two labels
MOST_GREY = 40  # lines; of more than that a band is drawn from the lowest to the highest of them
LABEL_STARTS = 28  # px right of the plot
NARROWER = 0.88  # a name is cut by the width that it has where it is drawn; in a reader's font it may be wider
NAMED_NOW = 3  # places of the latest period whose systems have a name in any case
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")  # with the colours, not only they
TICKS = 5  # on the value axis, about
WIDE_SPAN = 20.0  # of values, from which their axis needs no decimals
WIDE_FROM = 600  # px, whole width


def progress_chart(page: ProgressPage, *, only: int | None = None) -> Chart | None:
    """The page's systems and baselines; `only`: the one system that has a colour and a label, the others being grey.

    None when there is nothing to draw: a line needs two periods, and each with one evaluation.
    """
    return _progress_chart(page, (*page.systems, *page.baselines), "system", only)


def team_chart(page: ProgressPage) -> Chart | None:
    """The best of each team's systems in every period. None when there is nothing to draw."""
    return _progress_chart(page, (*page.teams, *page.baselines), "team", None)


def _progress_chart(page: ProgressPage, lines: Sequence[Line], kind: str, only: int | None) -> Chart | None:
    if not page.is_series or not any(line.points for line in lines):
        return None
    sentence = one_system_over_periods(page, lines, only) if only is not None else best_over_periods(page, kind)
    if count := len(_banded(page, lines, only)):
        sentence += f" The grey band spans the other {counted(count, kind)}."
    alt = f"Line chart of {page.column.name} over {', '.join(period.label for period in page.periods)}. {sentence}"
    return draw(lambda width: _Drawing(page, lines, only, width).spec(), alt, sentence)


def _banded(page: ProgressPage, lines: Sequence[Line], only: int | None) -> list[Line]:
    """The lines that nobody could tell apart, and that so are one band: the grey ones without a name, if many."""
    drawn = [line for line in lines if line.points]
    grey = [line for line in drawn if _colour(page, line, only) == REST and not _has_name(page, line, only)]
    return grey if len(grey) > MOST_GREY else []


def _colour(page: ProgressPage, line: Line, only: int | None) -> str:
    """A system's own. Of those past the sixth only the one that the page is about and the best of the latest period
    stand out, in ink."""
    is_it = line.system is not None and line.system.id == only
    if line.system is not None and line.system.is_baseline and not is_it:
        return MUTED
    if only is not None and not is_it:
        return REST
    if line.number < len(SERIES):
        return SERIES[line.number]
    last = line.points[-1]
    return INK if is_it or (last.best and last.period is page.periods[-1]) else REST


def _has_name(page: ProgressPage, line: Line, only: int | None) -> bool:
    """Those in colour, baselines, the reader's own, the first few of the latest period, and whoever was the best of a
    period."""
    if _colour(page, line, only) != REST:
        return True
    now = line.at(page.periods[-1])
    is_ahead = now is not None and now.rank is not None and now.rank <= NAMED_NOW
    return only is None and (line.own or is_ahead or any(point.best for point in line.points))


class _Drawing:
    """One drawing of the lines at one width."""

    def __init__(self, page: ProgressPage, lines: Sequence[Line], only: int | None, width: int) -> None:
        self.page = page
        self.only = only
        self.banded = _banded(page, lines, only)
        apart = {id(line) for line in self.banded}
        self.lines = [line for line in lines if line.points and id(line) not in apart]
        self.is_wide = width > WIDE_FROM
        self.characters = 28 if self.is_wide else 15
        self.whole_width = width
        self.padding = {"left": 52, "right": 232 if self.is_wide else 126, "top": 34, "bottom": 28}
        self.width = width - self.padding["left"] - self.padding["right"]
        self.lowest, self.highest = _domain(page.column, self.lines, self._band())
        self.asides = self._asides()
        labels = [period.label for period in page.periods]
        self.x: Spec = {
            "field": "period",
            "type": "nominal",
            "scale": {"type": "point", "domain": labels, "padding": 0.2 if self.is_wide else 0.4},
            "axis": {"title": None, "labelLimit": self.width / len(page.periods) - 4},
        }
        self.y: Spec = {
            "field": "mean",
            "type": "quantitative",
            "scale": {"domain": [self.lowest, self.highest], "nice": False, "zero": False},
            "axis": {"title": None, "format": f",.{_digits(self.highest - self.lowest)}f"},
        }

    def spec(self) -> Spec:
        return {
            "width": self.width,
            "height": PROGRESS_HEIGHT,
            "padding": self.padding,
            "autosize": {"type": "none"},
            "title": {"text": self._title(), "limit": self.whole_width, **TITLE},
            "layer": [
                *self._zero(),
                *self._grey_band(),
                *(
                    layer
                    for group in ("rest", "baseline", "series")
                    for line in reversed(self.lines)
                    if self._group(line) == group
                    for layer in self._series(line, group)
                ),
                *self._best(),
                *self._labels(),
            ],
        }

    def _title(self) -> str:
        """What the figures are, of which condition, and how to read them."""
        column = self.page.column
        name = f"{column.name}, {self.page.condition}" if self.page.condition else column.name
        hints = ["lower is better"] if column.direction == "lower" else []
        if column.lowest < 0:
            hints.append("0 = nothing returned")
        return "; ".join([name, *hints])

    def _colour(self, line: Line) -> str:
        return _colour(self.page, line, self.only)

    def _group(self, line: Line) -> str:
        return {MUTED: "baseline", REST: "rest"}.get(self._colour(line), "series")

    def _asides(self) -> Mapping[int, float]:
        """`id` of a line -> by how many px its points and intervals stand beside their period: intervals of one period
        would hide each other."""
        lines = [line for line in self.lines if self._group(line) == "series"]
        if all(point.figure.low is None for line in lines for point in line.points):
            return {}
        apart = min(INTERVAL + 1, self.width / len(self.page.periods) / 2 / len(lines))
        return {id(line): (place - (len(lines) - 1) / 2) * apart for place, line in enumerate(lines)}

    def _written(self, value: float | None) -> str:
        return plain_figure(value, self.page.column.unit)

    def _band(self) -> dict[str, tuple[float, float]]:
        """Period -> the lowest and the highest mean of the lines that are one band."""
        means: dict[str, list[float]] = {}
        for line in self.banded:
            for point in line.points:
                means.setdefault(point.period.label, []).append(point.figure.mean or 0.0)
        return {period: (min(own), max(own)) for period, own in means.items()}

    def _grey_band(self) -> Iterator[Spec]:
        band = self._band()
        values = [
            {"period": period.label, "low": band[period.label][0], "high": band[period.label][1]}
            for period in self.page.periods
            if period.label in band
        ]
        if values:
            low, high = {**self.y, "field": "low"}, {"field": "high"}
            yield {
                "data": {"values": [{**one, "says": f"The other {len(self.banded)}"} for one in values]},
                "mark": {"type": "area", "aria": True, "color": REST, "opacity": 0.3},
                "encoding": {"x": self.x, "y": low, "y2": high, "description": {"field": "says"}},
            }

    def _rows(self, line: Line) -> list[dict[str, Any]]:
        return [
            {
                "period": point.period.label,
                "mean": point.figure.mean,
                "low": point.figure.low,
                "high": point.figure.high,
                "best": point.best,
                "text": self._written(point.figure.mean),
                "says": f"{line.called}, {point.period.label}: {self._written(point.figure.mean)}"
                + (f", rank {point.rank}" if point.rank is not None else "")
                + (
                    f", interval {self._written(point.figure.low)} to {self._written(point.figure.high)}"
                    if point.figure.low is not None
                    else ""
                ),
            }
            for point in line.points
        ]

    def _series(self, line: Line, group: str) -> Iterator[Spec]:
        """One line with its intervals and its points."""
        rows = self._rows(line)
        thin = group == "rest"
        mark = {"color": self._colour(line), "xOffset": self.asides.get(id(line), 0.0)}
        dash = {"strokeDash": [5, 4]} if group == "baseline" else {}
        yield {
            "data": {"values": [{**row, "name": line.called} for row in rows]},
            "mark": {"type": "line", "aria": True, "strokeWidth": 1 if thin else 2, "opacity": 0.7 if thin else 1}
            | mark
            | dash,
            "encoding": {"x": self.x, "y": self.y, "description": {"field": "name"}},
        }
        if group == "series":
            yield {
                "data": {"values": [row for row in rows if row["low"] is not None]},
                "mark": {"type": "rule", "aria": True, "strokeWidth": INTERVAL, "opacity": 0.25, **mark},
                "encoding": {
                    "x": self.x,
                    "y": {**self.y, "field": "low"},
                    "y2": {"field": "high"},
                    "description": {"field": "says"},
                },
            }
        yield {
            "data": {"values": rows},
            "mark": {"type": "point", "aria": True, "filled": True, "opacity": 1, "size": 18 if thin else 60}
            | {"shape": self._shape(line)}
            | mark,
            "encoding": {"x": self.x, "y": self.y, "description": {"field": "says"}},
        }

    def _shape(self, line: Line) -> str:
        return SHAPES[line.number % len(SHAPES)] if self._colour(line) in SERIES else "circle"

    def _zero(self) -> Iterator[Spec]:
        """The value of returning nothing, which any lower one is worse than."""
        if self.page.column.lowest < 0:
            yield {
                "data": {"values": [{"mean": 0.0}]},
                "mark": {"type": "rule", "color": INK, "strokeWidth": 1},
                "encoding": {"y": self.y},
            }

    def _best(self) -> Iterator[Spec]:
        """A ring round the best of each period, with its figure beyond the intervals that are drawn beside it."""
        below = self.page.column.direction == "lower"
        px = (self.highest - self.lowest) / PROGRESS_HEIGHT
        for line in self.lines:
            best = [row for row in self._rows(line) if row["best"]]
            if not best:
                continue
            for row in best:
                ends = self._interval_ends(row["period"])
                row["label"] = min([row["mean"] - 9 * px, *ends]) if below else max([row["mean"] + 9 * px, *ends])
            aside = self.asides.get(id(line), 0.0)
            ring = {"type": "point", "filled": False, "size": 200, "color": INK, "strokeWidth": 1.25, "opacity": 1}
            yield {
                "data": {"values": best},
                "mark": {**ring, "aria": True, "xOffset": aside},
                "encoding": {"x": self.x, "y": self.y, "description": {"field": "says"}},
            }
            # The text twice: first as a halo, so that a line behind it does not make it unreadable.
            for look in ({"stroke": PAGE, "strokeWidth": 4, "color": PAGE}, {"color": INK}):
                yield {
                    "data": {"values": best},
                    "mark": {"type": "text", "xOffset": aside, "fontWeight": 600, **look}
                    | {"baseline": "top" if below else "bottom", "dy": 3 if below else -2},
                    "encoding": {"x": self.x, "y": {**self.y, "field": "label"}, "text": {"field": "text"}},
                }

    def _interval_ends(self, period: str) -> list[float]:
        """The ends of the intervals drawn in this period, on the side where the best one's figure is written: the upper
        ends, or the lower ones where lower is better."""
        figures = [
            point.figure
            for line in self.lines
            if self._group(line) == "series"
            for point in line.points
            if point.period.label == period
        ]
        ends = [one.low if self.page.column.direction == "lower" else one.high for one in figures]
        return [end for end in ends if end is not None]

    def _labels(self) -> Iterator[Spec]:
        """The names of the lines, each behind its line's sign. They stand right of the plot, where they cover no line,
        at the height of the last point or as near to it as the other names allow."""
        named = [line for line in self.lines if _has_name(self.page, line, self.only)]
        heights = spread(
            [line.points[-1].figure.mean or 0.0 for line in named],
            self.lowest,
            self.highest,
            LABEL_HEIGHT / PROGRESS_HEIGHT,
        )
        for line, height in sorted(zip(named, heights, strict=True), key=lambda pair: pair[1]):
            last = line.points[-1]
            is_over = last.period is not self.page.periods[-1]
            ending = f", to {last.period.name}" if is_over else ""
            row = {
                "period": last.period.label,
                "mean": last.figure.mean,
                "label": height,
                "text": shortened(line.called, self.characters - len(ending)) + ending,
                "says": line.called + ending,
            }
            colour = self._colour(line)
            at = {"y": {**self.y, "field": "label"}, "description": {"field": "says"}}
            if not is_over:
                aside = self.asides.get(id(line), 0.0)
                yield {
                    "data": {"values": [row]},
                    "mark": {"type": "rule", "xOffset": aside + 8, "strokeWidth": 1, "opacity": 0.5, "color": colour},
                    "encoding": {
                        "x": self.x,
                        "x2": {"value": self.width + 12},
                        "y": self.y,
                        "y2": {"field": "label"},
                    },
                }
            yield {
                "data": {"values": [row]},
                "mark": {"type": "point", "filled": True, "opacity": 1, "size": 50, "color": colour}
                | {"shape": self._shape(line)},
                "encoding": {"x": {"value": self.width + 18}, **at},
            }
            yield {
                "data": {"values": [row]},
                "mark": {"type": "text", "aria": True, "align": "left", "baseline": "middle", "color": INK}
                | {"limit": (self.padding["right"] - LABEL_STARTS) * NARROWER},
                "encoding": {"x": {"value": self.width + LABEL_STARTS}, "text": {"field": "text"}, **at},
            }


def _digits(span: float) -> int:
    """How many decimals tell the axis's ticks apart; two where they would do with fewer, none on a wide axis."""
    if span >= WIDE_SPAN:
        return 0
    return max(2, -math.floor(math.log10(span / TICKS)))


def _domain(column: Column, lines: Sequence[Line], band: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """What the axis spans: every figure with its interval, the band and some air; zero too where a value can be below
    it."""
    ends = [end for own in band.values() for end in own]
    ends += [
        end
        for line in lines
        for point in line.points
        for end in (point.figure.mean, point.figure.low, point.figure.high)
        if end is not None
    ]
    if column.lowest < 0:
        ends.append(0.0)
    air = max((max(ends) - min(ends)) * 0.08, max(map(abs, ends)) * 0.02) or 0.01
    lowest, highest = min(ends) - air, max(ends) + air
    return (max(lowest, column.lowest) if min(ends) >= column.lowest else lowest), min(highest, column.highest)


def spread(values: Sequence[float], lowest: float, highest: float, share: float) -> list[float]:
    """Where the labels of these values go, in the same order and units: at least `share` of the axis apart, as near to
    their values as that allows, and between `lowest` and `highest` as far as they all fit."""
    apart = share * (highest - lowest)
    order = sorted(range(len(values)), key=values.__getitem__)
    places = [values[one] for one in order]
    for _ in range(len(places)):
        for low in range(len(places) - 1):
            overlap = places[low] + apart - places[low + 1]
            if overlap > 0:
                places[low] -= overlap / 2
                places[low + 1] += overlap / 2
    for one in reversed(range(len(places))):
        places[one] = min(places[one], highest - apart * (len(places) - 1 - one))
    for one in range(len(places)):
        places[one] = max(places[one], lowest + apart * one)
    found = [0.0] * len(values)
    for one, place in zip(order, places, strict=True):
        found[one] = place
    return found
