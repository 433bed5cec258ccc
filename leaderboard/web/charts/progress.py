"""Progress over the periods: one line a system, or one a team."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from leaderboard.reads.columns import Column
from leaderboard.reads.progress import Line, ProgressPage
from leaderboard.web.charts.svg import INK, MUTED, PAGE, REST, SERIES, TITLE, Chart, Spec, draw, shortened
from leaderboard.web.sentences import best_over_periods, one_system_over_periods, written

__all__ = ["progress_chart", "team_chart"]

HEIGHT = 340  # px, of the plot
BAND = 5  # px, of an interval
LABEL_HEIGHT = 17  # px, between two labels
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
    alt = f"Line chart of {page.column.name} over {', '.join(period.label for period in page.periods)}. {sentence}"
    return draw(lambda width: _Drawing(page, lines, only, width).spec(), alt, sentence)


class _Drawing:
    """One drawing of the lines at one width."""

    def __init__(self, page: ProgressPage, lines: Sequence[Line], only: int | None, width: int) -> None:
        self.page = page
        self.only = only
        self.lines = [line for line in lines if line.points]
        self.is_wide = width > WIDE_FROM
        self.characters = 26 if self.is_wide else 12
        self.padding = {"left": 52, "right": 208 if self.is_wide else 106, "top": 34, "bottom": 28}
        self.width = width - self.padding["left"] - self.padding["right"]
        self.lowest, self.highest = _domain(page.column, self.lines)
        self.x: Spec = {
            "field": "period",
            "type": "nominal",
            "scale": {"type": "point", "domain": [period.label for period in page.periods], "padding": 0.2},
            "axis": {"title": None, "labelLimit": self.width / len(page.periods) - 4},
        }
        self.y: Spec = {
            "field": "mean",
            "type": "quantitative",
            "scale": {"domain": [self.lowest, self.highest], "nice": False, "zero": False},
            "axis": {"title": None, "format": f",.{_digits(self.highest - self.lowest)}f"},
        }

    def spec(self) -> Spec:
        rows = [row for line in self.lines for row in self._rows(line)]
        better = {"lower": "; lower is better", "none": ""}.get(self.page.column.direction, "")
        return {
            "width": self.width,
            "height": HEIGHT,
            "padding": self.padding,
            "autosize": {"type": "none"},
            "title": {"text": f"{self.page.column.name}{better}", **TITLE},
            "layer": [
                *self._zero(),
                *(layer for group in ("rest", "baseline", "series") for layer in self._series(rows, group)),
                *self._best(rows),
                *self._labels(),
            ],
        }

    def _rows(self, line: Line) -> Iterator[dict[str, Any]]:
        colour = self._colour(line)
        for point in line.points:
            place = f", rank {point.rank}" if point.rank is not None else ""
            yield {
                "line": line.name,
                "period": point.period.label,
                "mean": point.figure.mean,
                "low": point.figure.low,
                "high": point.figure.high,
                "colour": colour,
                "shape": SHAPES[line.number % len(SHAPES)] if colour in SERIES else "circle",
                "group": self._group(line),
                "best": point.best,
                "says": f"{line.name}, {point.period.label}: {written(point)}{place}",
                "text": written(point),
            }

    def _group(self, line: Line) -> str:
        if line.system is not None and line.system.is_baseline and line.system.id != self.only:
            return "baseline"
        return "series" if self._colour(line) in SERIES else "rest"

    def _colour(self, line: Line) -> str:
        """A system's own; of those past the sixth only the one that the page is about has one."""
        is_it = line.system is not None and line.system.id == self.only
        if line.system is not None and line.system.is_baseline and not is_it:
            return MUTED
        if self.only is not None and not is_it:
            return REST
        if line.number < len(SERIES):
            return SERIES[line.number]
        return INK if is_it else REST

    def _encoding(self) -> Spec:
        return {
            "x": self.x,
            "y": self.y,
            "detail": {"field": "line"},
            "color": {"field": "colour", "type": "nominal", "scale": None},
        }

    def _series(self, rows: Sequence[Spec], group: str) -> Iterator[Spec]:
        own = [row for row in rows if row["group"] == group]
        if not own:
            return
        thin = group == "rest"
        dash = {"strokeDash": [5, 4]} if group == "baseline" else {}
        yield {
            "data": {"values": own},
            "mark": {"type": "line", "strokeWidth": 1 if thin else 2, "opacity": 0.7 if thin else 1, **dash},
            "encoding": {**self._encoding(), "description": {"field": "line"}},
        }
        if group == "series":
            yield from self._intervals(own)
        yield {
            "data": {"values": own},
            "mark": {"type": "point", "filled": True, "opacity": 1, "size": 18 if thin else 60},
            "encoding": {
                **self._encoding(),
                "shape": {"field": "shape", "type": "nominal", "scale": None},
                "description": {"field": "says"},
            },
        }

    def _intervals(self, rows: Sequence[Spec]) -> Iterator[Spec]:
        """A band for each point's interval, the series of a period side by side: they would hide each other."""
        known = [row for row in rows if row["low"] is not None and row["high"] is not None]
        colours = sorted({row["colour"] for row in known})
        for place, colour in enumerate(colours):
            aside = (place - (len(colours) - 1) / 2) * (BAND + 1)
            yield {
                "data": {"values": [row for row in known if row["colour"] == colour]},
                "mark": {"type": "rule", "strokeWidth": BAND, "opacity": 0.2, "xOffset": aside},
                "encoding": {**self._encoding(), "y": {**self.y, "field": "low"}, "y2": {"field": "high"}},
            }

    def _zero(self) -> Iterator[Spec]:
        """Where nothing is returned: what a value below it is worse than."""
        if self.page.column.lowest >= 0:
            return
        yield {
            "data": {"values": [{"mean": 0.0}]},
            "mark": {"type": "rule", "color": INK, "strokeWidth": 1},
            "encoding": {"y": self.y},
        }
        if self.is_wide:
            place = {"align": "right", "baseline": "top", "dy": 5, "x": "width"}
            yield from self._text([{"mean": 0.0, "text": "0: nothing returned"}], {"y": self.y}, place, MUTED)

    def _text(self, rows: Sequence[Spec], encoding: Spec, mark: Spec, colour: str = INK) -> Iterator[Spec]:
        """Text twice: first a halo in the page's colour, so that a line behind it does not make it unreadable."""
        for look in ({"stroke": PAGE, "strokeWidth": 4, "color": PAGE}, {"color": colour}):
            yield {
                "data": {"values": rows},
                "mark": {"type": "text", **mark, **look},
                "encoding": {**encoding, "text": {"field": "text"}},
            }

    def _best(self, rows: Sequence[Spec]) -> Iterator[Spec]:
        """A ring round the best of each period, with its figure."""
        best = [row for row in rows if row["best"]]
        encoding = {"x": self.x, "y": self.y, "description": {"field": "says"}}
        yield {
            "data": {"values": best},
            "mark": {"type": "point", "filled": False, "size": 200, "color": INK, "strokeWidth": 1.25, "opacity": 1},
            "encoding": encoding,
        }
        place = {"dy": 16 if self.page.column.direction == "lower" else -15, "fontWeight": 600}
        yield from self._text(best, {"x": self.x, "y": self.y}, place)

    def _labels(self) -> Iterator[Spec]:
        """Each line's name at its end, moved apart where they would lie on each other, with a leader to its point."""
        ends = [line for line in self.lines if self._has_name(line)]
        rows = []
        for period in {line.points[-1].period.label for line in ends}:
            here = [line for line in ends if line.points[-1].period.label == period]
            heights = spread(
                [line.points[-1].figure.mean or 0.0 for line in here], self.lowest, self.highest, LABEL_HEIGHT / HEIGHT
            )
            for line, height in zip(here, heights, strict=True):
                rows.append(
                    {
                        "period": period,
                        "mean": line.points[-1].figure.mean,
                        "label": height,
                        "colour": self._colour(line),
                        "text": shortened(line.name, self.characters),
                        "says": line.name,
                    }
                )
        rows.sort(key=lambda row: (str(row["period"]), row["label"]))
        yield {
            "data": {"values": rows},
            "mark": {"type": "rule", "xOffset": 10, "x2Offset": 30, "strokeWidth": 1},
            "encoding": {
                "x": self.x,
                "x2": {"field": "period"},
                "y": self.y,
                "y2": {"field": "label"},
                "color": {"field": "colour", "type": "nominal", "scale": None},
            },
        }
        encoding = {"x": self.x, "y": {**self.y, "field": "label"}, "description": {"field": "says"}}
        yield from self._text(rows, encoding, {"align": "left", "baseline": "middle", "dx": 34})

    def _has_name(self, line: Line) -> bool:
        """Those in colour, baselines, and whoever was the best of a period."""
        was_best = self.only is None and any(point.best for point in line.points)
        return was_best or self._group(line) != "rest"


def _digits(span: float) -> int:
    """How many decimals tell the axis's ticks apart; two where they would do with fewer, none on a wide axis."""
    if span >= WIDE_SPAN:
        return 0
    return max(2, -math.floor(math.log10(span / TICKS)))


def _domain(column: Column, lines: Sequence[Line]) -> tuple[float, float]:
    """What the axis spans: every figure with its interval and some air; zero too where a value can be below it."""
    ends = [
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
