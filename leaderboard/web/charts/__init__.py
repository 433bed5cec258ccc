"""Charts: Vega-Lite specifications as plain dicts, drawn as SVG on the server: they are there without script."""

from leaderboard.web.charts.differences import comparison_chart, differences_chart
from leaderboard.web.charts.progress import progress_chart, team_chart
from leaderboard.web.charts.svg import Chart
