"""The queries of an evaluation, and one query across all systems; each as a page and as a file."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from leaderboard.reads import queries
from leaderboard.web import exports
from leaderboard.web.context import actor, now, reading
from leaderboard.web.exports import column_facts, evaluation_facts
from leaderboard.web.scales import scale_of

blueprint = Blueprint("queries", __name__)

ADDRESS = "/campaigns/<campaign>/<evaluation>/queries"


@blueprint.get(ADDRESS)
def query_list(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = _list(campaign, evaluation, request.args.get("page", 1, type=int))
    scale = scale_of(value for row in page.queries for value in (row.median, row.best, row.worst))
    return render_template("queries/list.html", page=page, scale=scale)


@blueprint.get(f"{ADDRESS}.<any(csv, json):kind>")
def query_list_file(campaign: str, evaluation: str, kind: str) -> ResponseReturnValue:
    return exports.answer(_list_table(_list(campaign, evaluation, None)), kind)


@blueprint.get(f"{ADDRESS}/<path:query>")
def query(campaign: str, evaluation: str, query: str) -> ResponseReturnValue:
    page = _one(campaign, evaluation, query)
    place = page.columns.index(page.column)
    scale = scale_of(row.values[place] for row in page.rows)
    return render_template("queries/query.html", page=page, scale=scale, place=place)


@blueprint.get(f"{ADDRESS}/<path:query>.<any(csv, json):kind>")
def query_file(campaign: str, evaluation: str, query: str, kind: str) -> ResponseReturnValue:
    return exports.answer(_one_table(_one(campaign, evaluation, query)), kind)


def _list(campaign: str, evaluation: str, page: int | None) -> queries.QueryListPage:
    asked = {name: request.args.get(name) for name in ("measure", "sort", "tag")}
    with reading() as session:
        return queries.query_list(session, actor(), campaign, evaluation, now(), page=page, **asked)


def _one(campaign: str, evaluation: str, query: str) -> queries.QueryPage:
    asked = {name: request.args.get(name) for name in ("show", "sort")}
    with reading() as session:
        return queries.query(session, actor(), campaign, evaluation, query, now(), **asked)


def _list_table(page: queries.QueryListPage) -> exports.Table:
    rows: list[dict[str, exports.Cell]] = []
    for row in page.queries:
        cells: dict[str, exports.Cell] = {
            "query": row.query.external_id,
            "text": row.query.text,
            "tags": " ".join(row.query.tags),
            "excluded": row.query.excluded,
        }
        if page.details_open:
            figures = (row.query.relevant, row.median, row.best, row.worst, row.best_system)
            cells |= zip(("relevant", "median", "best", "worst", "best_system"), figures, strict=True)
        rows.append(cells)
    columns = ["query", "text", "tags", "excluded"]
    if page.details_open:
        columns += ["relevant", "median", "best", "worst", "best_system"]
    facts = {
        "evaluation": evaluation_facts(page.evaluation),
        "measure": column_facts(page.column) if page.column else None,
        "systems": page.systems,
    }
    return exports.Table(f"{page.evaluation.campaign.slug}-{page.evaluation.slug}-queries", rows, columns, facts)


def _one_table(page: queries.QueryPage) -> exports.Table:
    names = [column.name for column in page.columns]
    rows: list[dict[str, exports.Cell]] = []
    for row in page.rows:
        system = row.entry.system
        cells: dict[str, exports.Cell] = {
            "system": system.name,
            "team": system.team,
            "kind": system.kind.value,
            "submission": row.entry.submission_id,
            "label": row.entry.label,
        }
        rows.append({**cells, **dict(zip(names, row.values, strict=True))})
    facts = {
        "evaluation": evaluation_facts(page.evaluation),
        "query": {"id": page.query.external_id, "text": page.query.text, "relevant": page.query.relevant},
        "measures": [column_facts(column) for column in page.columns],
    }
    name = f"{page.evaluation.campaign.slug}-{page.evaluation.slug}-query-{exports.file_name(page.query.external_id)}"
    return exports.Table(name, rows, ["system", "team", "kind", "submission", "label", *names], facts)
