"""Progress over the periods: one line a system, or one a team."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from leaderboard.boards.reads.columns import Column
from leaderboard.numbers import counted
from leaderboard.progress.reads import Line, ProgressPage
from leaderboard.web.charts.svg import INK, MUTED, PAGE, REST, SERIES, TITLE, Chart, Spec, draw, shortened
from leaderboard.web.formatting import plain_figure
from leaderboard.web.sentences import best_over_periods, one_system_over_periods

HEIGHT = 340  # px, of the plot
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
    return _chart(page, (*page.systems, *page.baselines), "system", only)


def team_chart(page: ProgressPage) -> Chart | None:
    """The best of each team's systems in every period. None when there is nothing to draw."""
    return _chart(page, (*page.teams, *page.baselines), "team", None)


def _chart(page: ProgressPage, lines: Sequence[Line], kind: str, only: int | None) -> Chart | None:
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
            "height": HEIGHT,
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
        px = (self.highest - self.lowest) / HEIGHT
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
            [line.points[-1].figure.mean or 0.0 for line in named], self.lowest, self.highest, LABEL_HEIGHT / HEIGHT
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
