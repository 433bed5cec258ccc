"""The front page, and a campaign with its evaluations."""

from collections.abc import Callable

from flask import Blueprint, current_app, render_template
from flask.typing import ResponseReturnValue

from leaderboard.campaigns import reads as campaigns
from leaderboard.progress import reads as progress
from leaderboard.web import charts
from leaderboard.web import page_cache as kept
from leaderboard.web.context import read, reading
from leaderboard.web.exports import Cell, Table, campaign_facts, exported, rounded_to, table

blueprint = Blueprint("campaigns", __name__)

COLUMNS: dict[str, Callable[[campaigns.EvaluationSummary], Cell]] = {
    "evaluation": lambda one: one.evaluation.slug,
    "title": lambda one: one.evaluation.title,
    "period": lambda one: one.evaluation.period,
    "condition": lambda one: one.evaluation.condition,
    "phase": lambda one: one.evaluation.phase.value,
    "queries": lambda one: one.queries,
    "runs": lambda one: one.runs,
    "systems": lambda one: one.systems,
    "leader": lambda one: one.leader.entry.system.name if one.leader else None,
    "team": lambda one: one.leader.entry.system.team if one.leader else None,
    "measure": lambda one: one.leader.column.name if one.leader else None,
    "mean": lambda one: one.leader.mean if one.leader else None,
}


@blueprint.get("/")
def front() -> ResponseReturnValue:
    """The campaign with the most periods comes first, with its progress; the others below it."""
    with reading() as session:
        page = read(progress.front, within=session)
        setting_up = current_app.config["SETTING_UP"] and (not page.campaigns or campaigns.is_loading(session))
    chart = charts.progress_chart(page.years) if page.years else None
    featured = page.longest if chart else None
    others = [one for one in page.campaigns if one is not featured and not one.campaign.archived]
    archived = [one for one in page.campaigns if one.campaign.archived]
    if setting_up:
        kept.not_this_one()
    return render_template(
        "campaigns/front.html",
        featured=featured,
        chart=chart,
        years=page.years,
        others=others,
        archived=archived,
        setting_up=setting_up,
    )


@blueprint.get("/campaigns/<campaign>")
def campaign(campaign: str) -> ResponseReturnValue:
    found = read(progress.campaign_overview, campaign)
    drawn = charts.progress_chart(found.years)
    return render_template("campaigns/campaign.html", page=found.page, progress=found.years, chart=drawn)


@exported(blueprint, "/campaigns/<campaign>")
def campaign_file(campaign: str) -> Table:
    page = read(campaigns.campaign, campaign)
    facts = {
        "campaign": campaign_facts(page.campaign),
        "beta": page.beta,
        "primary_measure": page.primary.name,
        "rounded_to": {one.evaluation.slug: rounded_to(one.rounding) for one in page.evaluations},
    }
    return table(page.campaign.slug, COLUMNS, page.evaluations, facts)
