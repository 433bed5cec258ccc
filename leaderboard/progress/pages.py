"""A campaign over its periods, as a page and as a file."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from leaderboard.progress.reads import progress as reads
from leaderboard.web import exports
from leaderboard.web.charts.drawing import Chart
from leaderboard.web.charts.files import charted
from leaderboard.web.charts.progress import progress_chart
from leaderboard.web.context import page_number, read
from leaderboard.web.sentences import best_over_periods

blueprint = Blueprint("progress", __name__)

ADDRESS = "/campaigns/<campaign>/progress"
ASKED = ("condition", "measure")

COLUMNS = exports.columns(
    "period=period.label", "evaluation=period.slug", "system=entry.system.name", "team=entry.system.team",
    "kind=entry.system.kind", "rank", "mean=figure.mean", "low=figure.low", "high=figure.high",
    "submission=entry.submission_id",
)  # fmt: skip


@blueprint.get(ADDRESS)
def progress(campaign: str) -> ResponseReturnValue:
    page = read(reads.progress, campaign, asked=ASKED)
    systems, teams = _charts(page)
    text, sort = request.args.get("text", ""), request.args.get("sort", "")
    lines, paging = page.listed(text, page_number(), sort)
    return render_template(
        "progress/progress.html",
        page=page,
        finding=best_over_periods(page),
        lines=lines,
        paging=paging,
        text=text,
        sort=sort,
        chart=systems,
        teams=teams,
    )


def _charts(page: reads.ProgressPage) -> tuple[Chart | None, Chart | None]:
    return progress_chart(page), progress_chart(page, "team")


@charted(blueprint, ADDRESS)
def progress_charts(campaign: str) -> tuple[Chart | None, Chart | None]:
    return _charts(read(reads.progress, campaign, asked=ASKED))


@exports.exported(blueprint, ADDRESS)
def progress_file(campaign: str) -> exports.Table:
    """A row a system and period."""
    page = read(reads.progress, campaign, asked=ASKED)
    facts = {
        "campaign": exports.campaign_facts(page.campaign),
        "condition": page.condition,
        "measure": exports.column_facts(page.column),
        "terms": {period.slug: exports.terms_facts(period.terms) for period in page.periods},
    }
    points = [point for line in (*page.systems, *page.baselines) for point in line.points]
    return exports.table(f"{page.campaign.slug}-progress", COLUMNS, points, facts)
