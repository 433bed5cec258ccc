"""A change between two periods as a waterfall: the first mean, what the systems and the year add, the last mean."""

from leaderboard.numbers import counted
from leaderboard.progress.reads.linked import YearsPage
from leaderboard.statistics.linked_years import Part, SplitChange
from leaderboard.web.charts import drawing
from leaderboard.web.charts.drawing import MUTED, SERIES, WIDE, Chart, Row, Spec, layer
from leaderboard.web.formatting import plain_figure, signed
from leaderboard.web.sentences import change_over_years, parts_in_words, rest_of

HEIGHT, BOTTOM = 220, 62  # px
ABOVE = 0.12  # of the axis: room for figures above what is drawn
SMALL = 10  # px, of a phone's figures


def change_charts(page: YearsPage) -> list[Chart]:
    """Of the two runs of the page, and of the means of all systems; those of them that are split."""
    splits = {"change": page.pair, "field": page.field}
    return [_change_chart(page, name, split) for name, split in splits.items() if split]


def _change_chart(page: YearsPage, name: str, split: SplitChange) -> Chart:
    rows = _rows(page, split)
    caption = f"Lines are 95 % intervals, from {counted(split.links, 'version')} that ran unchanged."
    if split.reason:
        caption = "From the first mean to the last one, without intervals."
    alt = f"Waterfall of {page.column.name}. {change_over_years(page, split)}"
    data = [{column: row[column] for column in ("part", "from", "to", "low", "high")} for row in rows]
    return drawing.draw(name, lambda width: _waterfall(page.column.name, rows, width), alt, caption, data)


def _rows(page: YearsPage, split: SplitChange) -> list[Row]:
    """A bar each: where it begins and ends, with the interval of its end where it has one."""
    system, year = parts_in_words(page, split)
    first, last = (run.period.label for run in page.compared)
    after = split.first + split.of_versions.estimate
    bars = [
        (first, 0.0, Part(split.first), MUTED),
        (system, split.first, split.of_versions, SERIES[0]),
        (year, after, split.of_periods, SERIES[1]),
        (last, 0.0, Part(split.last), MUTED),
    ]
    if (rest := rest_of(split, page.column)) is not None:
        bars.insert(3, ("off its level", after + split.of_periods.estimate, Part(rest), drawing.REST))
    rows = []
    for label, start, part, colour in bars:
        text = (plain_figure if colour == MUTED else signed)(part.estimate, page.column.unit)
        low, high = (None if end is None else start + end for end in (part.low, part.high))
        end = start + part.estimate
        ends: Row = {"from": start, "to": end, "low": low, "high": high, "top": max(start, end, high or end)}
        rows.append({"part": label, **ends, "text": text, "says": f"{label}: {text}", "colour": colour})
    return rows


def _waterfall(title: str, rows: list[Row], width: int) -> Spec:
    bars = {"type": "bar", "aria": True, "width": {"band": 0.5 if width == WIDE else 0.7}}
    interval = {"type": "rule", "color": drawing.INK, "strokeWidth": 2}
    text = {"type": "text", "dy": -8, "fontSize": drawing.FONT_SIZE if width == WIDE else SMALL}
    words = "split(datum.label, ' ')"  # a word a line: a phone's bars are narrow
    axis = {"title": None, "labelExpr": words if width != WIDE else "datum.label"}
    ends = [row[end] for row in rows for end in ("from", "to", "top")]
    scale = {"domainMax": max(ends) + ABOVE * (max(ends) - min(ends))}
    x: Spec = {"field": "part", "type": "nominal", "sort": None, "axis": axis}
    along = {"type": "quantitative", "axis": {"title": None}, "scale": scale}
    y = {field: {"field": field} | along for field in ("from", "low", "top")}
    layers = [
        layer(rows, bars, x=x, y=y["from"], y2={"field": "to"}, color=drawing.COLOUR, description=drawing.SAYS),
        layer(rows, interval, x=x, y=y["low"], y2={"field": "high"}),
        layer(rows, text, x=x, y=y["top"], text={"field": "text"}),
        drawing.ZERO,
    ]
    return drawing.plot(width, HEIGHT, title, layers, 20, BOTTOM)
