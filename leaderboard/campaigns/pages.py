"""The front page, and a campaign with its evaluations."""

from flask import Blueprint, current_app, render_template
from flask.typing import ResponseReturnValue

from leaderboard.campaigns import reads as campaigns
from leaderboard.progress.reads import progress
from leaderboard.web import page_cache
from leaderboard.web.charts.drawing import Chart
from leaderboard.web.charts.files import charted
from leaderboard.web.charts.progress import progress_chart
from leaderboard.web.context import read, reading
from leaderboard.web.exports import Table, campaign_facts, columns, exported, paper_column, table

blueprint = Blueprint("campaigns", __name__)

COLUMNS = columns(
    "evaluation=evaluation.slug", "title=evaluation.title", "period=evaluation.period",
    "condition=evaluation.condition", "phase=evaluation.phase.value", "queries", "runs", "systems", "leader",
    "team", "measure", "mean",
    leader=lambda row: row.leader.entry.system.name if row.leader else None,
    team=lambda row: row.leader.entry.system.team if row.leader else None,
    measure=lambda row: row.leader.column.name if row.leader else None,
    mean=lambda row: row.leader.mean if row.leader else None,
)  # fmt: skip


@blueprint.get("/")
@blueprint.get("/campaigns", alias=True)  # leads there
def front() -> ResponseReturnValue:
    """The campaign with the most periods comes first, with its progress; the others below it."""
    with reading() as session:
        page = read(progress.front, within=session)
        setting_up = current_app.config["SETTING_UP"] and (not page.campaigns or campaigns.is_loading(session))
    chart = progress_chart(page.years) if page.years else None
    featured = page.longest if chart else None
    others = [summary for summary in page.campaigns if summary is not featured and not summary.campaign.archived]
    archived = [summary for summary in page.campaigns if summary.campaign.archived]
    if setting_up:
        page_cache.not_this_one()
    return render_template(
        "campaigns/front.html", featured=featured, chart=chart, years=page.years, others=others, archived=archived,
        setting_up=setting_up,
    )  # fmt: skip


@blueprint.get("/campaigns/<campaign>")
def campaign(campaign: str) -> ResponseReturnValue:
    page, years = read(progress.campaign_overview, campaign)
    drawn = progress_chart(years)
    return render_template("campaigns/campaign.html", page=page, progress=years, chart=drawn)


@charted(blueprint, "/campaigns/<campaign>")
def campaign_charts(campaign: str) -> tuple[Chart | None]:
    return (progress_chart(read(progress.campaign_overview, campaign)[1]),)


@exported(blueprint, "/campaigns/<campaign>")
def campaign_file(campaign: str) -> Table:
    page = read(campaigns.campaign, campaign)
    facts = {
        "campaign": campaign_facts(page.campaign),
        "beta": page.beta,
        "primary_measure": page.primary.name,
        "rounded_to": {row.evaluation.slug: row.rounding and row.rounding.decimals for row in page.evaluations},
    }
    heads = [key.capitalize() for key in COLUMNS if key not in ("evaluation", "title", "description")]
    paper = [paper_column("Evaluation", "title"), *map(paper_column, heads)]
    return table(page.campaign.slug, COLUMNS, page.evaluations, facts, paper=paper, caption=f"{page.campaign.title}.")
