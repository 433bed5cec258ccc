"""The front page, and a campaign with its evaluations."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from leaderboard.reads import campaigns
from leaderboard.reads.progress import progress
from leaderboard.web import charts, exports
from leaderboard.web.context import actor, now, reading
from leaderboard.web.exports import campaign_facts, evaluation_facts

blueprint = Blueprint("campaigns", __name__)


@blueprint.get("/")
def front() -> ResponseReturnValue:
    """The campaign that was followed longest stands first with its progress, the others below it."""
    with reading() as session:
        found = campaigns.campaigns(session, actor(), now())
        longest = max(found, key=lambda one: len(one.periods), default=None)  # the first of several: open, then newest
        years = progress(session, actor(), longest.campaign.slug, now()) if longest else None
    chart = charts.progress_chart(years) if years else None
    featured = longest if chart else None
    others = [one for one in found if one is not featured]
    return render_template("campaigns/front.html", featured=featured, chart=chart, others=others)


@blueprint.get("/campaigns/<campaign>")
def campaign(campaign: str) -> ResponseReturnValue:
    with reading() as session:
        page = campaigns.campaign(session, actor(), campaign, now())
        years = progress(session, actor(), campaign, now())
    return render_template("campaigns/campaign.html", page=page, progress=years, chart=charts.progress_chart(years))


@blueprint.get("/campaigns/<campaign>.<any(csv, json):kind>")
def campaign_file(campaign: str, kind: str) -> ResponseReturnValue:
    with reading() as session:
        page = campaigns.campaign(session, actor(), campaign, now())
    return exports.answer(_table(page), kind)


def _table(page: campaigns.CampaignPage) -> exports.Table:
    columns = ("evaluation", "title", "period", "condition", "phase", "queries", "runs", "systems", "leader", "team",
               "measure", "mean")  # fmt: skip
    rows = []
    for one in page.evaluations:
        facts = evaluation_facts(one.evaluation)
        leader = one.leader
        row: dict[str, exports.Cell] = {
            "evaluation": facts["slug"],
            **{name: facts[name] for name in ("title", "period", "condition", "phase")},
            "queries": one.queries,
            "runs": one.runs,
            "systems": one.systems,
            "leader": leader.entry.system.name if leader else None,
            "team": leader.entry.system.team if leader else None,
            "measure": leader.column.name if leader else None,
            "mean": leader.mean if leader else None,
        }
        rows.append(row)
    facts = {"campaign": campaign_facts(page.campaign), "beta": page.beta, "primary_measure": page.primary.name}
    return exports.Table(page.campaign.slug, rows, columns, facts)
