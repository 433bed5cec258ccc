"""A campaign over its periods, and one period over its conditions: as pages and as files."""

from dataclasses import replace

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from leaderboard.boards.pages import cell_columns, cell_papers
from leaderboard.boards.reads.breakdown import listed
from leaderboard.progress.reads import across as periods, progress as reads
from leaderboard.web import exports
from leaderboard.web.charts.drawing import Chart
from leaderboard.web.charts.files import charted
from leaderboard.web.charts.progress import progress_chart
from leaderboard.web.context import page_number, read
from leaderboard.web.formatting import scale_of
from leaderboard.web.sentences import across_finding, best_over_periods

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


ACROSS_ADDRESS = "/campaigns/<campaign>/across"
ACROSS_ASKED = ("period", "measure", "gaps")
ACROSS_COLUMNS = exports.columns(
    "rank", "system=system.name", "team=system.team", "kind=system.kind", "mean", "mean_rank", "lacking"
)


@blueprint.get(ACROSS_ADDRESS)
def across(campaign: str) -> ResponseReturnValue:
    page = read(periods.across, campaign, asked=ACROSS_ASKED)
    text, sort = request.args.get("text", ""), request.args.get("sort", "")
    fewest = replace(page.column, direction="lower")
    rows, paging = listed(
        page.rows,
        page.column,
        [each.slug for each in page.conditions],
        {
            "mean": (page.column, lambda row: None if row.lacking else row.mean),
            "ranks": (fewest, lambda row: None if row.lacking else row.mean_rank),
            "lacking": (fewest, lambda row: row.lacking),
        },
        text=text,
        sort=sort,
        page=page_number(),
    )
    return render_template(
        "progress/across.html",
        page=page,
        finding=across_finding(page),
        rows=rows,
        paging=paging,
        text=text,
        sort=sort,
        scale=scale_of(row.mean for row in (*page.rows, *page.baselines)),
    )


@exports.exported(blueprint, ACROSS_ADDRESS)
def across_file(campaign: str) -> exports.Table:
    """A row a system; of each condition, by its evaluation, the figure, the rank and the run."""
    page = read(periods.across, campaign, asked=ACROSS_ASKED)
    facts = {
        "campaign": exports.campaign_facts(page.campaign),
        "period": page.period,
        "measure": exports.column_facts(page.column),
        "with_gaps": page.with_gaps,
        "conditions": {each.slug: each.label for each in page.conditions},
        "terms": {each.slug: exports.terms_facts(each.terms) for each in page.conditions},
    }
    shown = ACROSS_COLUMNS | cell_columns([each.slug for each in page.conditions])
    mean = exports.PaperColumn("Mean", lambda row: None if row["lacking"] else row["mean"], page.column)
    paper = cell_papers(mean, {each.slug: each.label for each in page.conditions})
    caption = f"{page.campaign.title}, {page.period}. {across_finding(page)}"
    rows = (*page.baselines, *page.rows)
    return exports.table(f"{page.campaign.slug}-across", shown, rows, facts, paper=paper, caption=caption)
