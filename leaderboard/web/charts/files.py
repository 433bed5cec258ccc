"""Every chart of a page as a file: the drawing as SVG and PNG, and its data as CSV."""

from collections.abc import Callable, Iterable
from typing import ParamSpec

from flask import Blueprint, Response

from leaderboard.errors import NotFound
from leaderboard.web.charts.drawing import Chart, png_file, svg_file
from leaderboard.web.exports import FORMATS, Table, download

P = ParamSpec("P")
# Ending -> media type, and what writes the file.
WRITERS: dict[str, tuple[str, Callable[[Chart], str | bytes]]] = {
    "svg": ("image/svg+xml", lambda chart: svg_file(chart.wide)),
    "png": ("image/png", lambda chart: png_file(chart.wide)),
    "csv": ("text/csv", lambda chart: FORMATS["csv"][1](Table("", list(chart.rows[0]), chart.rows, {}))),
}
Charts = Callable[P, Iterable[Chart | None]]


def charted(blueprint: Blueprint, address: str) -> Callable[[Charts[P]], Charts[P]]:
    """Serves the charts that a function gives, those of the page at `address`, below it: `…/charts/NAME.svg`. The
    function has the name of the page's view and `_charts`."""

    def register(function: Charts[P]) -> Charts[P]:
        def view(*args: P.args, **kwargs: P.kwargs) -> Response:
            name, ending = str(kwargs.pop("chart")), str(kwargs.pop("ending"))
            for chart in function(*args, **kwargs):
                if chart and chart.name == name:
                    media_type, write = WRITERS[ending]
                    return download(write(chart), media_type, f"{name}.{ending}")
            raise NotFound

        rule = f"{address}/charts/<chart>.<any({', '.join(WRITERS)}):ending>"
        blueprint.add_url_rule(rule, function.__name__, view)
        return function

    return register
