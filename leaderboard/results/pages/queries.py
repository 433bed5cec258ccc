"""The queries of an evaluation, and one query across all systems; each as a page and as a file."""

from collections.abc import Callable
from functools import partial

from flask import Blueprint, Response, render_template
from flask.typing import ResponseReturnValue

from leaderboard.boards.pages import board_query
from leaderboard.results.reads import queries
from leaderboard.results.reads.queries import QueryResult, QuerySummary
from leaderboard.web.context import page_number, read
from leaderboard.web.exports import Cell, Table, column_facts, evaluation_facts, exported, file_name, table
from leaderboard.web.scales import scale_of

blueprint = Blueprint("queries", __name__)

ADDRESS = "/campaigns/<campaign>/<evaluation>/queries"
LIST_ASKED = ("measure", "sort", "tag")
QUERY_ASKED = ("show", "sort")

COLUMNS: dict[str, Callable[[QuerySummary], Cell]] = {
    "query": lambda row: row.query.external_id,
    "text": lambda row: row.query.text,
    "description": lambda row: row.query.description,
    "tags": lambda row: " ".join(row.query.tags),
    "excluded": lambda row: row.query.excluded,
}
FIGURES: dict[str, Callable[[QuerySummary], Cell]] = {
    "relevant": lambda row: row.query.relevant,
    "median": lambda row: row.median,
    "best": lambda row: row.best,
    "worst": lambda row: row.worst,
    "best_system": lambda row: row.best_system,
}
RESULT_COLUMNS: dict[str, Callable[[QueryResult], Cell]] = {
    "system": lambda row: row.entry.system.name,
    "team": lambda row: row.entry.system.team,
    "kind": lambda row: row.entry.system.kind.value,
    "submission": lambda row: row.entry.submission_id,
    "label": lambda row: row.entry.label,
}


@blueprint.get(ADDRESS)
def query_list(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(queries.query_list, campaign, evaluation, view=board_query(LIST_ASKED, page=page_number()))
    scale = scale_of(value for row in page.queries for value in (row.median, row.best, row.worst))
    return render_template("queries/list.html", page=page, scale=scale)


@exported(blueprint, ADDRESS)
def query_list_file(campaign: str, evaluation: str) -> Table:
    page = read(queries.query_list, campaign, evaluation, view=board_query(LIST_ASKED))
    facts = {
        "evaluation": evaluation_facts(page.evaluation),
        "measure": column_facts(page.column) if page.column else None,
        "systems": page.systems,
    }
    name = f"{page.evaluation.campaign.slug}-{page.evaluation.slug}-queries"
    return table(name, COLUMNS | (FIGURES if page.details_open else {}), page.queries, facts)


@blueprint.get(f"{ADDRESS}.tsv")
def query_rows(campaign: str, evaluation: str) -> ResponseReturnValue:
    """The queries that the reader knows of, as `leaderboard score --queries` reads them."""
    page = read(queries.query_list, campaign, evaluation)
    answer = Response(page.as_file, content_type="text/tab-separated-values; charset=utf-8")
    answer.headers["Content-Disposition"] = 'attachment; filename="queries.tsv"'
    return answer


@blueprint.get(f"{ADDRESS}/<path:query>")
def query(campaign: str, evaluation: str, query: str) -> ResponseReturnValue:
    page = read(queries.query, campaign, evaluation, query, view=board_query(QUERY_ASKED, page=page_number()))
    place = page.columns.index(page.column)
    scale = scale_of(page.ends)
    return render_template("queries/query.html", page=page, scale=scale, place=place)


@exported(blueprint, f"{ADDRESS}/<path:query>")
def query_file(campaign: str, evaluation: str, query: str) -> Table:
    page = read(queries.query, campaign, evaluation, query, view=board_query(QUERY_ASKED))
    columns = dict(RESULT_COLUMNS)
    for place, column in enumerate(page.columns):
        columns[column.name] = partial(_value, place)
    facts = {
        "evaluation": evaluation_facts(page.evaluation),
        "query": {"id": page.query.external_id, "text": page.query.text, "relevant": page.query.relevant},
        "measures": [column_facts(column) for column in page.columns],
    }
    name = f"{page.evaluation.campaign.slug}-{page.evaluation.slug}-query-{file_name(page.query.external_id)}"
    return table(name, columns, page.rows, facts)


def _value(place: int, row: QueryResult) -> Cell:
    return row.values[place]
