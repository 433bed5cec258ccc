"""A campaign over its periods, and one period over its conditions: as pages and as files."""

from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from leaderboard.boards.pages import breakdown_columns, breakdown_page
from leaderboard.progress.reads import across as periods, linked, progress as reads
from leaderboard.web import exports
from leaderboard.web.charts.drawing import Chart
from leaderboard.web.charts.files import charted
from leaderboard.web.charts.linked_years import change_charts
from leaderboard.web.charts.progress import progress_chart
from leaderboard.web.context import page_number, read
from leaderboard.web.formatting import plain_figure
from leaderboard.web.sentences import across_finding, best_over_periods, change_over_years

blueprint = Blueprint("progress", __name__)

ADDRESS = "/campaigns/<campaign>/progress"
ASKED = ("condition", "measure")
YEARS, ASKED_OF_YEARS = f"{ADDRESS}/years", (*ASKED, "first", "last")

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
    facts = {"condition": page.condition, "terms": _terms(page.periods)}
    points = [point for line in (*page.systems, *page.baselines) for point in line.points]
    return _table(page, "progress", facts, columns=COLUMNS, rows=points, **_for_paper(page, best_over_periods(page)))


def _for_paper(page: Any, finding: str, *heads: str) -> dict[str, Any]:
    paper = [*map(exports.paper_column, (*heads, "System", "Team", "Period", "Rank"))]
    paper.append(exports.figures_of(page.column, "mean"))
    return {"paper": paper, "caption": f"{page.campaign.title}. {finding}"}


def _terms(periods: Iterable[reads.Period]) -> dict[str, Any]:
    return {period.slug: exports.terms_facts(period.terms) for period in periods}


def _table(page: Any, name: str, facts: dict[str, Any], **more: Any) -> exports.Table:
    """A table of a page of a campaign by one measure."""
    facts = {"campaign": exports.campaign_facts(page.campaign), "measure": exports.column_facts(page.column), **facts}
    return exports.table(f"{page.campaign.slug}-{name}", facts=facts, **more)


ACROSS_ADDRESS = "/campaigns/<campaign>/across"
ACROSS_ASKED = ("period", "measure")


@blueprint.get(ACROSS_ADDRESS)
def across(campaign: str) -> ResponseReturnValue:
    page = read(periods.across, campaign, asked=ACROSS_ASKED)
    keys, finding = [each.slug for each in page.conditions], across_finding(page)
    orders: dict[str, Any] = {"ranks": lambda row: row.mean_rank, "lacking": lambda row: row.lacking}
    return breakdown_page("progress/across.html", page, keys, finding, **orders)


@exports.exported(blueprint, ACROSS_ADDRESS)
def across_file(campaign: str) -> exports.Table:
    """A row a system; of each condition, by its evaluation, the figure, the rank and the run."""
    page = read(periods.across, campaign, asked=ACROSS_ASKED)
    facts = {"period": page.period, "terms": _terms(page.conditions)}
    heads, mean = {each.slug: each.label for each in page.conditions}, exports.paper_column("Mean", "", page.column)
    caption = f"{page.campaign.title}, {page.period}. {across_finding(page)}"
    if request.args.get("gaps") == "yes" and any(row.lacking for row in page.rows):
        mean = replace(mean, cell=partial(_with_gaps, page.column.unit))
        caption += " Means in parentheses are over the conditions that a system has."
    shown = breakdown_columns(heads, mean, "mean_rank", "partial", "lacking")
    rows = page.rows if len(page.conditions) > 1 else ()  # as on the page
    return _table(page, "across", facts, rows=rows, caption=caption, **shown)


def _with_gaps(unit: str, row: Any) -> exports.Cell:
    """The mean of a row of the file, as the page has it where some conditions are lacking."""
    return f"({plain_figure(row['partial'], unit)})" if row["lacking"] else row["mean"]


@blueprint.get(YEARS)
def years(campaign: str) -> ResponseReturnValue:
    page = read(linked.years, campaign, asked=ASKED_OF_YEARS)
    findings = [change_over_years(page, split) for split in (page.pair, page.field) if split]
    return render_template("progress/years.html", page=page, findings=findings, charts=change_charts(page))


@charted(blueprint, YEARS)
def years_charts(campaign: str) -> list[Chart]:
    return change_charts(read(linked.years, campaign, asked=ASKED_OF_YEARS))


@exports.exported(blueprint, YEARS)
def years_file(campaign: str) -> exports.Table:
    """A row a version and period."""
    page = read(linked.years, campaign, asked=ASKED_OF_YEARS)
    facts = {"condition": page.condition, "changes": [asdict(split) for split in (page.pair, page.field) if split]}
    columns = exports.columns("version=entry.version") | COLUMNS
    runs = [run for line in page.versions for run in line.points]
    findings = " ".join(change_over_years(page, split) for split in (page.pair, page.field) if split)
    return _table(page, "years", facts, columns=columns, rows=runs, **_for_paper(page, findings, "Version"))
