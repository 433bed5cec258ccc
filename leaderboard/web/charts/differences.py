"""How far one run is from the median of all systems, query by query."""

from collections.abc import Sequence

from leaderboard.numbers import counted
from leaderboard.reads.results import SubmissionResults
from leaderboard.web.charts.svg import INK, SERIES, SIGNED, TITLE, Chart, Spec, draw
from leaderboard.web.formatting import plain_figure

__all__ = ["differences", "differences_chart"]

HEIGHT = 220  # px, of the plot
LABELLED = 60  # queries that still have room for their names on a desktop, a bar being 13 px wide
SINGLE = 250  # queries up to which each has a bar of its own; more are counted in bins
LONGEST_NAME = 16  # characters of a query's name
CHARACTER = 7.5  # px, at most, of most names


def differences(results: SubmissionResults) -> list[tuple[str, float]]:
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
    sentence = _finding(results, rows)
    kind = "Bars" if len(rows) <= SINGLE else "Histogram"
    alt = (
        f"{kind} of the difference in {results.column.name} from the median of the systems, query by query. {sentence}"
    )
    spec = _bars if len(rows) <= SINGLE else _histogram
    return draw(lambda width: spec(results.column.name, rows, width), alt, sentence)


def _finding(results: SubmissionResults, rows: Sequence[tuple[str, float]]) -> str:
    above = sum(difference > 0 for _, difference in rows)
    below = sum(difference < 0 for _, difference in rows)
    level = len(rows) - above - below
    words = (
        f"Above the median of {results.compared_with} systems on {above} of {counted(len(rows), 'query', 'queries')}"
    )
    words += f", below on {below}" + (f", level on {level}" if level else "")
    (best, gain), (worst, loss) = rows[0], rows[-1]
    if gain > 0:
        words += f"; most above on {best} (+{plain_figure(gain, results.column.unit)})"
    if loss < 0:
        words += f"; furthest below on {worst} ({plain_figure(loss, results.column.unit)})"
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


def _bars(measure: str, rows: Sequence[tuple[str, float]], width: int) -> Spec:
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
            "says": f"{query}: {plain_figure(abs(difference))} {_side(difference)}",
        }
        for (query, difference), name in zip(rows, names, strict=True)
    ]
    axis = {"title": None if labelled else "queries, most above the median first", "labels": labelled, "ticks": False}
    return {
        **_frame(width, f"{measure} minus the median of the systems", room),
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


def _side(difference: float) -> str:
    return "above the median" if difference > 0 else "below the median" if difference < 0 else "from the median"


def _histogram(measure: str, rows: Sequence[tuple[str, float]], width: int) -> Spec:
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
                            "title": f"{measure} minus the median of the systems",
                            "labelExpr": SIGNED,
                            "labelOverlap": True,
                        },
                    },
                    "y": {"aggregate": "count", "type": "quantitative", "axis": {"title": None}},
                },
            },
        ],
    }
