"""Every chart of a page as a file: the drawing as SVG and PNG, and its data as CSV."""

from collections.abc import Callable, Iterable
from typing import ParamSpec

from flask import Blueprint, Response

from leaderboard.errors import NotFound
from leaderboard.web.charts.drawing import Chart, png_file, svg_file
from leaderboard.web.exports import FORMATS, Table

P = ParamSpec("P")
ENDINGS = ("svg", "png", "csv")
Charts = Callable[P, Iterable[Chart | None]]


def charted(blueprint: Blueprint, address: str) -> Callable[[Charts[P]], Charts[P]]:
    """Serves the charts that a function gives, those of the page at `address`, below it: `…/charts/NAME.svg`. The
    function has the name of the page's view and `_charts`."""

    def register(function: Charts[P]) -> Charts[P]:
        def view(*args: P.args, **kwargs: P.kwargs) -> Response:
            name, ending = str(kwargs.pop("chart")), str(kwargs.pop("ending"))
            for chart in function(*args, **kwargs):
                if chart and chart.name == name:
                    return _file(chart, ending)
            raise NotFound

        rule = f"{address}/charts/<chart>.<any({', '.join(ENDINGS)}):ending>"
        blueprint.add_url_rule(rule, function.__name__, view)
        return function

    return register


def _file(chart: Chart, ending: str) -> Response:
    if ending == "csv":
        media_type, write = FORMATS["csv"]
        rows = list(chart.rows)
        response = Response(
            write(Table(chart.name, list(rows[0]), rows, {})), content_type=f"{media_type}; charset=utf-8"
        )
    elif ending == "png":
        response = Response(png_file(chart.wide), mimetype="image/png")
    else:
        response = Response(svg_file(chart.wide), mimetype="image/svg+xml")
    response.headers["Content-Disposition"] = f'attachment; filename="{chart.name}.{ending}"'
    return response
