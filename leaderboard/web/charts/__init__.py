"""Charts: Vega-Lite specifications as plain dicts, drawn as SVG on the server: they are there without script."""

from leaderboard.web.charts.drawing import Chart
from leaderboard.web.charts.findings import finding
from leaderboard.web.charts.progress import progress_chart, team_chart
from leaderboard.web.charts.values import values_chart

__all__ = ["Chart", "finding", "progress_chart", "team_chart", "values_chart"]
