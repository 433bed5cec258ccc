"""The charts of the pages, drawn as SVG in the colours of the page, light or dark: how far a run is from the median or
from another run, query by query; and progress over the periods, one line a system or one a team."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from leaderboard.boards.reads.entries import Column
from leaderboard.numbers import counted
from leaderboard.progress.reads import Line, Period, Point, ProgressPage
from leaderboard.results.reads.compare import Compared
from leaderboard.results.reads.run import SubmissionResults
from leaderboard.web.formatting import plain_figure
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
WIDE_FROM = 600  # px, whole width
ZERO: Spec = {"type": "rule", "color": INK, "strokeWidth": 1}
SAYS: Spec = {"field": "says"}
ABOVE: Spec = {"baseline": "bottom", "dy": -2}

Difference = tuple[str, float]  # a query, and by how much


def _layer(rows: Sequence[Mapping[str, Any]], mark: Spec, **encoding: Spec) -> Spec:
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding}


def _plot(width: int, height: int, title: Spec, layers: Sequence[Spec], right: float, bottom: float) -> Spec:
    """A drawing of this whole width, around a plot of this height."""
    padding = {"left": LEFT, "right": right, "top": 34, "bottom": bottom}
    return {
        "width": width - LEFT - right,
        "height": height,
        "padding": padding,
        "autosize": {"type": "none"},
        "title": {**title, **TITLE},
        "layer": layers,
    }


def differences(results: SubmissionResults) -> list[Difference]:
    """(query, value of the page's column − the systems' median), the greatest first; undefined ones are left out."""
    index = results.value_columns.index(results.column)
    return _greatest_first((row.external_id, row.values[index], row.median) for row in results.queries)


def _greatest_first(rows: Iterable[tuple[str, float | None, float | None]]) -> list[Difference]:
    defined = [(query, value - other) for query, value, other in rows if value is not None and other is not None]
    return sorted(defined, key=lambda row: (-row[1], row[0]))


def differences_chart(results: SubmissionResults) -> Chart | None:
    """None when there is no other system to compare with, or no query of which both have a value."""
    rows = differences(results)
    if results.compared_with < 2 or not rows:
        return None
    finding = _finding(rows, results.column, f"the median of {results.compared_with} systems")
    return _differences_chart(rows, results.column.name, "the median of the systems", "the median", finding)


def comparison_chart(compared: Compared) -> Chart | None:
    """Of the first run from the second. None when there is no query of which both have a value."""
    rows = _greatest_first((row.external_id, row.first, row.second) for row in compared.queries)
    if not rows:
        return None
    first, second = compared.names
    finding = f"{first}: {_finding(rows, compared.column, second)}"
    return _differences_chart(rows, f"{compared.column.name} of {first}", second, second, finding)


def _differences_chart(rows: Sequence[Difference], what: str, other: str, short: str, finding: str) -> Chart:
    """other: from what the differences are, short: in a few words"""
    kind, plot = ("Bars", _bars) if len(rows) <= SINGLE else ("Histogram", _histogram)
    alt = f"{kind} of the difference in {what} from {other}, query by query. {finding}"
    return draw(lambda width: plot(f"{what} minus {other}", short, rows, width), alt, finding)


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


def _bars(title: str, other: str, rows: Sequence[Difference], width: int) -> Spec:
    labelled = len(rows) <= (LABELLED if width > WIDE_FROM else 12)
    # Names of queries differ at their ends.
    names = [query if len(query) <= LONGEST_NAME else f"…{query[1 - LONGEST_NAME :]}" for query, _ in rows]
    if len(set(names)) < len(names):
        names = [query for query, _ in rows]
    longest = max(map(len, names)) * CHARACTER
    upright = len(rows) > 15 or longest > (width - 60) / len(rows)
    room = 12 + longest if labelled and upright else 44
    values = [
        {
            "query": name,
            "difference": difference,
            "colour": SERIES[0] if difference >= 0 else SERIES[1],
            "says": f"{query}: {plain_figure(abs(difference))} "
            f"{'above' if difference > 0 else 'below' if difference < 0 else 'from'} {other}",
        }
        for (query, difference), name in zip(rows, names, strict=True)
    ]
    axis = {"title": None if labelled else f"queries, most above {other} first", "labels": labelled, "ticks": False}
    x = {
        "field": "query",
        "type": "nominal",
        "sort": None,
        "scale": {"paddingInner": 0.2, "paddingOuter": 0.1},
        "axis": {**axis, "labelAngle": -90 if upright else 0, "labelLimit": room},
    }
    y = {"field": "difference", "type": "quantitative"}
    colour = {"field": "colour", "type": "nominal", "scale": None}
    bar = {"type": "bar", "aria": True}
    signed = {**y, "axis": {"title": None, "labelExpr": SIGNED}}
    layers = [
        _layer(values, bar, x=x, y=signed, color=colour, description=SAYS),
        _layer([{"difference": 0}], ZERO, y=y),
    ]
    return _plot(width, HEIGHT, {"text": title}, layers, 8, room)


def _histogram(title: str, _: str, rows: Sequence[Difference], width: int) -> Spec:
    x = {
        "field": "difference",
        "bin": {"maxbins": 40 if width > WIDE_FROM else 20},
        "type": "quantitative",
        "axis": {"title": title, "labelExpr": SIGNED, "labelOverlap": True},
    }
    y = {"aggregate": "count", "type": "quantitative", "axis": {"title": None}}
    values = [{"difference": difference} for _, difference in rows]
    return _plot(
        width, HEIGHT, {"text": "queries"}, [_layer(values, {"type": "bar", "color": SERIES[0]}, x=x, y=y)], 8, 44
    )


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


def progress_chart(page: ProgressPage, *, only: int | None = None) -> Chart | None:
    """The page's systems and baselines; `only`: the one system that has a colour and a label, the others being grey.

    None when there is nothing to draw: a line needs two periods, and each with one evaluation.
    """
    return _lines_chart(page, (*page.systems, *page.baselines), "system", only)


def team_chart(page: ProgressPage) -> Chart | None:
    """The best of each team's systems in every period. None when there is nothing to draw."""
    return _lines_chart(page, (*page.teams, *page.baselines), "team", None)


def _lines_chart(page: ProgressPage, lines: Sequence[Line], kind: str, only: int | None) -> Chart | None:
    if not page.is_series or not any(line.points for line in lines):
        return None
    sentence = one_system_over_periods(page, lines, only) if only is not None else best_over_periods(page, kind)
    drawn = [line for line in lines if line.points]
    colours = {id(line): _colour(page, line, only) for line in drawn}
    named = [line for line in drawn if colours[id(line)] != REST or (only is None and _stands_out(page, line))]
    named_ids = set(map(id, named))
    grey = [line for line in drawn if id(line) not in named_ids]
    band = grey if len(grey) > MOST_GREY else []  # lines that nobody could tell apart
    if band:
        sentence += f" The grey band spans the other {counted(len(band), kind)}."
        drawn = [line for line in drawn if id(line) in named_ids]
    alt = f"Line chart of {page.column.name} over {', '.join(period.label for period in page.periods)}. {sentence}"
    return draw(lambda width: _Drawing(page, drawn, named, band, colours, width).spec(), alt, sentence)


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


def _stands_out(page: ProgressPage, line: Line) -> bool:
    """Whether it is the reader's own, one of the first few of the latest period, or was the best of a period."""
    now = line.at(page.periods[-1])
    is_ahead = now is not None and now.rank is not None and now.rank <= NAMED_NOW
    return line.own or is_ahead or any(point.best for point in line.points)


class _Drawing:
    """One drawing of the lines at one width. named: those of them with a label; band: others, drawn as one."""

    def __init__(
        self,
        page: ProgressPage,
        lines: Sequence[Line],
        named: Sequence[Line],
        band: Sequence[Line],
        colours: Mapping[int, str],
        width: int,
    ) -> None:
        self.page, self.lines, self.named, self.band, self.colours = page, lines, named, band, colours
        self.whole_width, is_wide = width, width > WIDE_FROM
        self.characters, self.right = (28, 232) if is_wide else (15, 126)
        self.width = width - LEFT - self.right
        self.is_lower_better = page.column.direction == "lower"
        self.lowest, self.highest = _domain(page.column, lines, band)
        self.series = [line for line in lines if self._group(line) == "series"]
        self.asides = self._asides()
        self.x: Spec = {
            "field": "period",
            "type": "nominal",
            "scale": {
                "type": "point",
                "domain": [period.label for period in page.periods],
                "padding": 0.2 if is_wide else 0.4,
            },
            "axis": {"title": None, "labelLimit": self.width / len(page.periods) - 4},
        }
        self.y: Spec = {
            "field": "mean",
            "type": "quantitative",
            "scale": {"domain": [self.lowest, self.highest], "nice": False, "zero": False},
            "axis": {"title": None, "format": f",.{_digits(self.highest - self.lowest)}f"},
        }

    def spec(self) -> Spec:
        column, layers = self.page.column, list[Spec]()
        hints = ["lower is better"] if self.is_lower_better else []
        if column.lowest < 0:  # the value of returning nothing, which any lower one is worse than
            layers.append(_layer([{"mean": 0.0}], ZERO, y=self.y))
            hints.append("0 = nothing returned")
        if self.band:
            layers.append(self._grey_band())
        for group in ("rest", "baseline", "series"):
            for line in reversed(self.lines):
                layers += self._line(line, group) if self._group(line) == group else ()
        name = f"{column.name}, {self.page.condition}" if self.page.condition else column.name
        title = {"text": "; ".join([name, *hints]), "limit": self.whole_width}
        layers += [*self._best(), *self._labels()]
        return _plot(self.whole_width, PROGRESS_HEIGHT, title, layers, self.right, 28)

    def _group(self, line: Line) -> str:
        return {MUTED: "baseline", REST: "rest"}.get(self.colours[id(line)], "series")

    def _asides(self) -> Mapping[int, float]:
        """`id` of a line -> by how many px its points and intervals stand beside their period: intervals of one period
        would hide each other."""
        if all(point.figure.low is None for line in self.series for point in line.points):
            return {}
        apart = min(INTERVAL + 1, self.width / len(self.page.periods) / 2 / len(self.series))
        return {id(line): (index - (len(self.series) - 1) / 2) * apart for index, line in enumerate(self.series)}

    def _grey_band(self) -> Spec:
        means = {
            period.label: [point.figure.mean or 0.0 for line in self.band if (point := line.at(period))]
            for period in self.page.periods
        }
        rows = [
            {"period": period, "low": min(own), "high": max(own), "says": f"The other {len(self.band)}"}
            for period, own in means.items()
            if own
        ]
        mark = {"type": "area", "aria": True, "color": REST, "opacity": 0.3}
        return _layer(rows, mark, x=self.x, y={**self.y, "field": "low"}, y2={"field": "high"}, description=SAYS)

    def _row(self, line: Line, point: Point) -> dict[str, Any]:
        unit, figure = self.page.column.unit, point.figure
        says = f"{line.called}, {point.period.label}: {plain_figure(figure.mean, unit)}"
        says += f", rank {point.rank}" if point.rank is not None else ""
        if figure.low is not None:
            says += f", interval {plain_figure(figure.low, unit)} to {plain_figure(figure.high, unit)}"
        return {
            "period": point.period.label,
            "mean": figure.mean,
            "low": figure.low,
            "high": figure.high,
            "name": line.called,
            "says": says,
        }

    def _line(self, line: Line, group: str) -> Iterator[Spec]:
        """One line with its intervals and its points."""
        rows = [self._row(line, point) for point in line.points]
        thin, x, y = group == "rest", self.x, self.y
        mark = {"aria": True, "color": self.colours[id(line)], "xOffset": self.asides.get(id(line), 0.0)}
        dash = {"strokeDash": [5, 4]} if group == "baseline" else {}
        look = {"type": "line", "strokeWidth": 1 if thin else 2, "opacity": 0.7 if thin else 1}
        yield _layer(rows, {**mark, **look, **dash}, x=x, y=y, description={"field": "name"})
        if group == "series":
            bars = [row for row in rows if row["low"] is not None]
            look = {"type": "rule", "strokeWidth": INTERVAL, "opacity": 0.25}
            ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
            yield _layer(bars, {**mark, **look}, x=x, **ends, description=SAYS)
        look = {"type": "point", "filled": True, "opacity": 1, "size": 18 if thin else 60, "shape": self._shape(line)}
        yield _layer(rows, {**mark, **look}, x=x, y=y, description=SAYS)

    def _shape(self, line: Line) -> str:
        return SHAPES[line.number % len(SHAPES)] if self.colours[id(line)] in SERIES else "circle"

    def _best(self) -> Iterator[Spec]:
        """A ring round the best of each period, with its figure beyond the intervals that are drawn beside it."""
        below, x = self.is_lower_better, self.x
        px = (self.highest - self.lowest) / PROGRESS_HEIGHT
        for line in self.lines:
            rows = []
            for point in filter(lambda point: point.best, line.points):
                mean, ends = point.figure.mean or 0.0, self._interval_ends(point.period)
                label = min([mean - 9 * px, *ends]) if below else max([mean + 9 * px, *ends])
                text = plain_figure(mean, self.page.column.unit)
                rows.append({**self._row(line, point), "label": label, "text": text})
            if not rows:
                continue
            aside = {"xOffset": self.asides.get(id(line), 0.0)}
            ring = {"type": "point", "filled": False, "size": 200, "color": INK, "strokeWidth": 1.25, "opacity": 1}
            yield _layer(rows, {**ring, **aside, "aria": True}, x=x, y=self.y, description=SAYS)
            # The text twice: first as a halo, so that a line behind it does not make it unreadable.
            style = {"type": "text", "fontWeight": 600, **({"baseline": "top", "dy": 3} if below else ABOVE), **aside}
            y = {**self.y, "field": "label"}
            for look in ({"stroke": PAGE, "strokeWidth": 4, "color": PAGE}, {"color": INK}):
                yield _layer(rows, {**style, **look}, x=x, y=y, text={"field": "text"})

    def _interval_ends(self, period: Period) -> list[float]:
        """The ends of the intervals drawn in this period, on the side where the best one's figure is written: the upper
        ends, or the lower ones where lower is better."""
        figures = [point.figure for line in self.series for point in line.points if point.period.label == period.label]
        ends = [figure.low if self.is_lower_better else figure.high for figure in figures]
        return [end for end in ends if end is not None]

    def _labels(self) -> Iterator[Spec]:
        """The names of the lines, each behind its line's sign. They stand right of the plot, where they cover no line,
        at the height of the last point or as near to it as the other names allow."""
        last_means = [line.points[-1].figure.mean or 0.0 for line in self.named]
        heights = spread(last_means, self.lowest, self.highest, LABEL_HEIGHT / PROGRESS_HEIGHT)
        for line, height in sorted(zip(self.named, heights, strict=True), key=lambda pair: pair[1]):
            last, colour = line.points[-1], self.colours[id(line)]
            is_over = last.period is not self.page.periods[-1]
            ending = f", to {last.period.name}" if is_over else ""
            row = {
                "period": last.period.label,
                "mean": last.figure.mean,
                "label": height,
                "text": shortened(line.called, self.characters - len(ending)) + ending,
                "says": line.called + ending,
            }
            at: dict[str, Spec] = {"y": {**self.y, "field": "label"}, "description": SAYS}
            if not is_over:
                aside = self.asides.get(id(line), 0.0)
                rule = {"type": "rule", "xOffset": aside + 8, "strokeWidth": 1, "opacity": 0.5, "color": colour}
                ends: dict[str, Spec] = {"x2": {"value": self.width + 12}, "y2": {"field": "label"}}
                yield _layer([row], rule, x=self.x, y=self.y, **ends)
            sign = {"type": "point", "filled": True, "opacity": 1, "size": 50, "color": colour}
            yield _layer([row], {**sign, "shape": self._shape(line)}, x={"value": self.width + 18}, **at)
            name = {"type": "text", "aria": True, "align": "left", "baseline": "middle", "color": INK}
            name["limit"] = (self.right - LABEL_STARTS) * NARROWER
            yield _layer([row], name, x={"value": self.width + LABEL_STARTS}, text={"field": "text"}, **at)


def _digits(span: float) -> int:
    """How many decimals tell the axis's ticks apart; two where they would do with fewer, none on a wide axis."""
    if span >= WIDE_SPAN:
        return 0
    return max(2, -math.floor(math.log10(span / TICKS)))


def _domain(column: Column, lines: Sequence[Line], band: Sequence[Line]) -> tuple[float, float]:
    """What the axis spans: every figure with its interval, the band and some air; zero too where a value can be below
    it."""
    ends = [end for line in lines for point in line.points for end in point.figure.ends if end is not None]
    ends += [point.figure.mean or 0.0 for line in band for point in line.points]
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
    places = [values[index] for index in order]
    for _ in places:
        for low in range(len(places) - 1):
            overlap = places[low] + apart - places[low + 1]
            if overlap > 0:
                places[low] -= overlap / 2
                places[low + 1] += overlap / 2
    for index in reversed(range(len(places))):
        places[index] = min(places[index], highest - apart * (len(places) - 1 - index))
    for index in range(len(places)):
        places[index] = max(places[index], lowest + apart * index)
    heights = dict(zip(order, places, strict=True))
    return [heights[index] for index in range(len(values))]
