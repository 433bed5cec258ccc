"""How far one run is from the median of all systems, or from another run, query by query."""

from collections.abc import Sequence

from leaderboard.boards.reads.columns import Column
from leaderboard.numbers import counted
from leaderboard.results.reads.compare import Compared
from leaderboard.results.reads.run import SubmissionResults
from leaderboard.web.charts.svg import INK, SERIES, SIGNED, TITLE, Chart, Spec, draw
from leaderboard.web.formatting import plain_figure

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
