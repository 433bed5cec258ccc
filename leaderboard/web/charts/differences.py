"""One run's values over the queries, beside the field's median."""

from collections.abc import Sequence

from leaderboard.reads.results import SubmissionResults
from leaderboard.web.charts.svg import INK, SERIES, TITLE, Chart, Spec, draw
from leaderboard.web.formatting import counted, plain_figure

__all__ = ["differences", "differences_chart"]

HEIGHT = 220  # px, of the plot
LABELLED = 60  # queries that still have room for their names on a desktop, a bar being 13 px wide
SINGLE = 250  # queries up to which each has a bar of its own; more are counted in bins


def differences(results: SubmissionResults) -> list[tuple[str, float]]:
    """(query, value − the field's median), the greatest first, of the page's column; undefined ones left out."""
    place = results.value_columns.index(results.column)
    rows = [
        (row.external_id, value - row.median)
        for row in results.queries
        if (value := row.values[place]) is not None and row.median is not None
    ]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def differences_chart(results: SubmissionResults) -> Chart | None:
    """None when there is no field to compare with, or no query of which both have a value."""
    rows = differences(results)
    if results.field_systems < 2 or not rows:
        return None
    sentence = _finding(results, rows)
    kind = "Bars" if len(rows) <= SINGLE else "Histogram"
    alt = f"{kind} of the difference in {results.column.name} to the field's median, query by query. {sentence}"
    spec = _bars if len(rows) <= SINGLE else _histogram
    return draw(lambda width: spec(results.column.name, rows, width), alt, sentence)


def _finding(results: SubmissionResults, rows: Sequence[tuple[str, float]]) -> str:
    above = sum(difference > 0 for _, difference in rows)
    below = sum(difference < 0 for _, difference in rows)
    level = len(rows) - above - below
    words = (
        f"Above the median of {results.field_systems} systems on {above} of {counted(len(rows), 'query', 'queries')}"
    )
    words += f", below on {below}" + (f", level on {level}" if level else "")
    (best, gain), (worst, loss) = rows[0], rows[-1]
    if gain > 0:
        words += f"; most above on {best} (+{plain_figure(gain)})"
    if loss < 0:
        words += f"; furthest below on {worst} ({plain_figure(loss)})"
    return f"{words}."


def _frame(width: int, title: str) -> Spec:
    padding = {"left": 52, "right": 8, "top": 34, "bottom": 44}
    return {
        "width": width - padding["left"] - padding["right"],
        "height": HEIGHT,
        "padding": padding,
        "autosize": {"type": "none"},
        "title": {"text": title, **TITLE},
    }


def _bars(measure: str, rows: Sequence[tuple[str, float]], width: int) -> Spec:
    labelled = len(rows) <= (LABELLED if width > 600 else 12)
    values = [
        {
            "query": query,
            "difference": difference,
            "colour": SERIES[0] if difference >= 0 else SERIES[1],
            "says": f"{query}: {plain_figure(difference)}",
        }
        for query, difference in rows
    ]
    axis = {"title": None if labelled else "queries, most above the median first", "labels": labelled, "ticks": False}
    return {
        **_frame(width, f"{measure} less the field's median"),
        "layer": [
            {
                "data": {"values": values},
                "mark": {"type": "bar"},
                "encoding": {
                    "x": {
                        "field": "query",
                        "type": "nominal",
                        "sort": None,
                        "scale": {"paddingInner": 0.2, "paddingOuter": 0.1},
                        "axis": {**axis, "labelAngle": -90 if len(rows) > 15 else 0, "labelLimit": 40},
                    },
                    "y": {"field": "difference", "type": "quantitative", "axis": {"title": None, "format": "+.2f"}},
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


def _histogram(measure: str, rows: Sequence[tuple[str, float]], width: int) -> Spec:
    return {
        **_frame(width, "queries"),
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
                            "title": f"{measure} less the field's median",
                            "format": "+.2~f",
                            "labelOverlap": True,
                        },
                    },
                    "y": {"aggregate": "count", "type": "quantitative", "axis": {"title": None}},
                },
            },
        ],
    }
