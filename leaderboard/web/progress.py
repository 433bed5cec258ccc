"""A campaign over its periods, as a page and as a file."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from leaderboard.reads.progress import ProgressPage
from leaderboard.reads.progress import progress as read_progress
from leaderboard.web import charts, exports
from leaderboard.web.context import actor, now, reading
from leaderboard.web.exports import campaign_facts, column_facts, terms_facts
from leaderboard.web.sentences import best_over_periods

blueprint = Blueprint("progress", __name__)

ADDRESS = "/campaigns/<campaign>/progress"


@blueprint.get(ADDRESS)
def progress(campaign: str) -> ResponseReturnValue:
    page = _read(campaign)
    drawn = {"chart": charts.progress_chart(page), "teams": charts.team_chart(page)}
    return render_template("progress/progress.html", page=page, finding=best_over_periods(page), **drawn)


@blueprint.get(f"{ADDRESS}.<any(csv, json):kind>")
def progress_file(campaign: str, kind: str) -> ResponseReturnValue:
    return exports.answer(table(_read(campaign)), kind)


def _read(campaign: str) -> ProgressPage:
    asked = {name: request.args.get(name) for name in ("condition", "measure")}
    with reading() as session:
        return read_progress(session, actor(), campaign, now(), **asked)


def table(page: ProgressPage, only: int | None = None) -> exports.Table:
    """A row a system and period; `only`: of that system alone."""
    columns = ("period", "evaluation", "system", "team", "kind", "rank", "mean", "low", "high", "submission")
    rows: list[dict[str, exports.Cell]] = [
        {
            "period": point.period.label,
            "evaluation": point.period.slug,
            "system": line.name,
            "team": line.team,
            "kind": point.entry.system.kind.value,
            "rank": point.rank,
            "mean": point.figure.mean,
            "low": point.figure.low,
            "high": point.figure.high,
            "submission": point.entry.submission_id,
        }
        for line in (*page.systems, *page.baselines)
        for point in line.points
        if only is None or point.entry.system.id == only
    ]
    facts = {
        "campaign": campaign_facts(page.campaign),
        "condition": page.condition,
        "measure": column_facts(page.column),
        "terms": {period.slug: terms_facts(period.terms) for period in page.periods},
    }
    return exports.Table(f"{page.campaign.slug}-progress", rows, columns, facts)
