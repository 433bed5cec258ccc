"""Queries of an evaluation, one query, one ranked list, two runs beside each other: as pages and as files."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from leaderboard.boards.pages import board_query
from leaderboard.boards.reads.entries import ROWS, Entry, paged
from leaderboard.evaluations.rules import Judging
from leaderboard.numbers import read_whole
from leaderboard.results import api
from leaderboard.results.reads import heat_map as heat_maps, left_out, queries
from leaderboard.web import exports
from leaderboard.web.charts.differences import comparison_chart
from leaderboard.web.charts.drawing import Chart
from leaderboard.web.charts.files import charted
from leaderboard.web.charts.heat_map import heat_map_chart
from leaderboard.web.charts.scatter import scatter_chart
from leaderboard.web.context import page_number, read, store
from leaderboard.web.endpoints import plain
from leaderboard.web.exports import Table, column_facts, columns, evaluation_table, exported, file_name
from leaderboard.web.formatting import scale_of
from leaderboard.web.sentences import comparison_finding

blueprint = Blueprint("results", __name__)

QUERIES_ADDRESS = "/campaigns/<campaign>/<evaluation>/queries"

LIST_COLUMNS = columns(
    "query=query.external_id", "text=query.text", "description=query.description", "tags",
    "excluded=query.excluded",
    tags=lambda row: " ".join(row.query.tags),
)  # fmt: skip
FIGURES = columns(
    "relevant=query.relevant", "median", "best", "worst", "best_system",
)  # fmt: skip
RESULT_COLUMNS = columns(
    "system=entry.system.name", "team=entry.system.team", "kind=entry.system.kind", "submission=entry.submission_id",
    "label=entry.label",
)  # fmt: skip


@blueprint.get(QUERIES_ADDRESS)
def query_list(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(queries.query_list, campaign, evaluation, view=board_query(page=page_number()))
    scale = scale_of(value for row in page.queries for value in (row.median, row.best, row.worst))
    return render_template("results/query_list.html", page=page, scale=scale)


@exported(blueprint, QUERIES_ADDRESS)
def query_list_file(campaign: str, evaluation: str) -> Table:
    page = read(queries.query_list, campaign, evaluation, view=board_query())
    facts = {"measure": column_facts(page.column) if page.column else None, "systems": page.systems}
    shown = LIST_COLUMNS | (FIGURES if page.details_open else {})
    return evaluation_table(page.evaluation, "-queries", shown, page.queries, facts, caption="Queries.")


blueprint.get(f"{QUERIES_ADDRESS}.tsv", endpoint="query_rows")(api.query_rows)


@blueprint.get(f"{QUERIES_ADDRESS}/<path:query>")
def query(campaign: str, evaluation: str, query: str) -> ResponseReturnValue:
    page = read(queries.query, campaign, evaluation, query, view=board_query(page=page_number()))
    index = page.columns.index(page.column)
    return render_template("results/query.html", page=page, scale=scale_of(page.ends), index=index)


@exported(blueprint, f"{QUERIES_ADDRESS}/<path:query>")
def query_file(campaign: str, evaluation: str, query: str) -> Table:
    page = read(queries.query, campaign, evaluation, query, view=board_query())
    measures = {column.name: lambda row, at=at: row.values[at] for at, column in enumerate(page.columns)}
    facts = {
        "query": {"id": page.query.external_id, "text": page.query.text, "relevant": page.query.relevant},
        "measures": [column_facts(column) for column in page.columns],
    }
    ending = f"-query-{file_name(page.query.external_id)}"
    paper = [exports.paper_column("System"), exports.paper_column("Team"), *exports.measure_columns(page.columns)]
    more = {"paper": paper, "caption": f"Query {page.query.external_id}."}
    return evaluation_table(page.evaluation, ending, RESULT_COLUMNS | measures, page.rows, facts, **more)


HEAT_MAP_ADDRESS = "/campaigns/<campaign>/<evaluation>/heat-map"


@blueprint.get(HEAT_MAP_ADDRESS)
def heat_map(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(heat_maps.heat_map, campaign, evaluation, view=board_query(page=page_number()))
    return render_template("results/heat_map.html", page=page, chart=heat_map_chart(page))


@charted(blueprint, HEAT_MAP_ADDRESS)
def heat_map_charts(campaign: str, evaluation: str) -> tuple[Chart | None]:
    return (heat_map_chart(read(heat_maps.heat_map, campaign, evaluation, view=board_query(page=page_number()))),)


@exported(blueprint, "/campaigns/<campaign>/<evaluation>/boards/<int:scoring_set>/values")
def old_board_values(campaign: str, evaluation: str, scoring_set: int) -> Table:
    return board_values(campaign, evaluation, scoring_set)


@exported(blueprint, "/campaigns/<campaign>/<evaluation>/values")
def board_values(campaign: str, evaluation: str, scoring_set: int | None = None) -> Table:
    """A row a query, a column a run of the board."""
    page = read(queries.board_values, campaign, evaluation, view=board_query(set_id=scoring_set))
    values = {name: lambda row, at=at: row[1][at] for at, name in enumerate(page.runs)}
    facts = {"measure": column_facts(page.measure), "scoring_set": page.scoring_set, "runs": _named(page.runs)}
    shown, caption = {"query": itemgetter(0)} | values, f"{page.measure.name} of each run on each query."
    ending = f"-values-{file_name(page.measure.name)}"
    paper = [exports.paper_column("Query"), *(exports.paper_column(name, name) for name in values)]
    return evaluation_table(page.evaluation, ending, shown, page.queries.items(), facts, caption=caption, paper=paper)


def _named(runs: Mapping[str, Entry]) -> dict[str, Any]:
    return {
        name: {"submission": run.submission_id, "system": run.system.name, "team": run.system.team}
        for name, run in runs.items()
    }


FOLDED = 10  # lines or more without a relevant document are one row, until `open` in the address opens it
LIST_ADDRESS = "/submissions/<int:submission>/queries/<path:query>"

DOCUMENT_COLUMNS = columns(
    "rank", "document", "score", "grade", "returned",
)  # fmt: skip


@blueprint.get(LIST_ADDRESS)
def ranked_list(submission: int, query: str) -> ResponseReturnValue:
    page, opened = read(queries.ranked_list, store(), submission, query), request.args.get("open")
    rows = list[Sequence[queries.ListedDocument]]()
    for _, run in groupby(page.lines, key=lambda line: (line.relevant, line.returned)):
        lines = tuple(run)
        is_folded = len(lines) >= FOLDED and not lines[0].relevant and opened not in ("all", str(lines[0].rank))
        rows += [lines] if is_folded else [(line,) for line in lines]
    shown, paging = paged(rows, page_number(), ROWS)
    return render_template("results/ranked_list.html", page=page, rows=shown, paging=paging)


@exported(blueprint, LIST_ADDRESS)
def ranked_list_file(submission: int, query: str) -> Table:
    page = read(queries.ranked_list, store(), submission, query)
    facts = {
        "evaluation": exports.evaluation_facts(page.evaluation),
        "submission": page.submission_id,
        "judging": (Judging.COMPLETE if page.complete else Judging.POOLED).value,
        "query": {"id": page.query.external_id, "text": page.query.text, "relevant": page.relevant},
        "values": {column.name: value for column, value in zip(page.columns, page.values, strict=True)},
        "missed": plain(page.missed),
    }
    name = f"submission-{page.submission_id}-query-{file_name(page.query.external_id)}"
    return exports.table(name, DOCUMENT_COLUMNS, page.lines, facts)


COMPARE_ADDRESS = "/campaigns/<campaign>/<evaluation>/compare"
RUNS = ("a", "b")

COMPARE_COLUMNS = columns(
    "query=external_id", "counted", "a=first", "b=second", "difference",
)  # fmt: skip


def _compare(campaign: str, evaluation: str, page: int | None = None) -> queries.ComparePage:
    """The runs that the address names by their numbers."""
    a, b = (request.args.get(name, type=read_whole) for name in RUNS)
    return read(queries.compare, campaign, evaluation, a=a, b=b, view=board_query(page=page))


@blueprint.get(COMPARE_ADDRESS)
def compare_runs(campaign: str, evaluation: str) -> ResponseReturnValue:
    ticked = request.args.getlist("run")  # on the board
    if 1 <= len(ticked) <= 2:
        chosen: dict[str, Any] = {**dict(zip(RUNS, ticked, strict=False)), "measure": request.args.get("measure")}
        return redirect(url_for(".compare_runs", campaign=campaign, evaluation=evaluation, **chosen))
    page = _compare(campaign, evaluation, page_number())
    compared = page.compared
    charts = _compare_charts(compared)
    finding = comparison_finding(compared) if compared else None
    return render_template("results/compare_runs.html", page=page, compared=compared, charts=charts, finding=finding)


def _compare_charts(compared: queries.Compared | None) -> tuple[Chart | None, ...]:
    return (comparison_chart(compared), scatter_chart(compared)) if compared else ()


@charted(blueprint, COMPARE_ADDRESS)
def compare_runs_charts(campaign: str, evaluation: str) -> tuple[Chart | None, ...]:
    return _compare_charts(_compare(campaign, evaluation).compared)


@exported(blueprint, COMPARE_ADDRESS)
def compare_runs_file(campaign: str, evaluation: str) -> Table:
    """Query by query by the measure that is asked for; the means by all measures, interval and test are facts."""
    page = _compare(campaign, evaluation)
    compared = page.compared
    if not compared:
        return evaluation_table(page.evaluation, "-compared", COMPARE_COLUMNS, (), {})
    runs = compared.first, compared.second
    facts = {
        **_named(dict(zip(RUNS, runs, strict=True))),
        "measure": column_facts(compared.column),
        **{name: plain(getattr(compared, name)) for name in ("interval", "test", "effects")},
        "means": [
            {"measure": row.column.name, "a": row.first.mean, "b": row.second.mean, "difference": row.difference}
            for row in compared.measures
        ],
    }
    ending = f"-compared-{runs[0].submission_id}-{runs[1].submission_id}"
    heads = ("Query", "query"), *zip(compared.names, RUNS, strict=True), ("Difference", "difference")
    more = {"paper": [exports.paper_column(*head) for head in heads], "caption": f"{compared.column.name}."}
    return evaluation_table(page.evaluation, ending, COMPARE_COLUMNS, compared.queries, facts, **more)


LEFT_OUT_ADDRESS = "/campaigns/<campaign>/<evaluation>/leave-one-team-out"

LEFT_OUT_COLUMNS = columns(
    "team", "runs", "unique", "system=system.name", "submission=submission_id", "mean", "without", "difference", "rank",
    "rank_without",
)  # fmt: skip


@blueprint.get(LEFT_OUT_ADDRESS)
def leave_one_team_out(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(left_out.leave_one_team_out, campaign, evaluation)
    return render_template("results/leave_one_team_out.html", page=page)


@exported(blueprint, LEFT_OUT_ADDRESS)
def leave_one_team_out_file(campaign: str, evaluation: str) -> Table:
    page = read(left_out.leave_one_team_out, campaign, evaluation)
    facts = {
        "measure": column_facts(page.column) if page.column else None,
        **{name: getattr(page, name) for name in ("depth", "relevant", "unique")},
    }
    names = {"mean": page.column.name} if page.column else {}
    shown = {names.get(name, name): cell for name, cell in LEFT_OUT_COLUMNS.items()}
    return evaluation_table(page.evaluation, "-leave-one-team-out", shown, page.teams, facts)
