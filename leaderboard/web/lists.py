"""One run's values over all queries as a file, and its ranked list on one query."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from leaderboard.models import Judging
from leaderboard.reads import ranked_lists
from leaderboard.reads.ranked_lists import RankedListPage
from leaderboard.reads.results import SubmissionResults, results
from leaderboard.web import exports
from leaderboard.web.context import actor, now, reading, store
from leaderboard.web.facts import column_facts, evaluation_facts, terms_facts

blueprint = Blueprint("lists", __name__)

ADDRESS = "/submissions/<int:submission>/queries/<path:query>"


@blueprint.get(ADDRESS)
def ranked_list(submission: int, query: str) -> ResponseReturnValue:
    page = _read(submission, query, request.args.get("page", 1, type=int))
    return render_template("lists/list.html", page=page)


@blueprint.get(f"{ADDRESS}.<any(csv, json):kind>")
def ranked_list_file(submission: int, query: str, kind: str) -> ResponseReturnValue:
    return exports.answer(_list_table(_read(submission, query, None)), kind)


@blueprint.get("/submissions/<int:submission>.<any(csv, json):kind>")
def results_file(submission: int, kind: str) -> ResponseReturnValue:
    """Per-query values where they may be seen; the means alone otherwise."""
    with reading() as session:
        found = results(session, actor(), submission, now(), sort=request.args.get("sort"))
    return exports.answer(_values_table(found), kind)


def _read(submission: int, query: str, page: int | None) -> RankedListPage:
    with reading() as session:
        return ranked_lists.ranked_list(session, actor(), store(), submission, query, now(), page)


def _list_table(page: RankedListPage) -> exports.Table:
    rows: list[dict[str, exports.Cell]] = [
        {
            "rank": line.rank,
            "document": line.document,
            "score": line.score,
            "grade": line.grade,
            "returned": line.returned,
        }
        for line in page.lines
    ]
    facts = {
        "evaluation": evaluation_facts(page.evaluation),
        "submission": page.submission_id,
        "judging": (Judging.COMPLETE if page.complete else Judging.POOLED).value,
        "query": {"id": page.query.external_id, "text": page.query.text, "relevant": page.relevant},
        "values": {column.name: value for column, value in zip(page.columns, page.values, strict=True)},
        "missed": [{"document": missed.document, "grade": missed.grade} for missed in page.missed],
    }
    name = f"submission-{page.submission_id}-query-{exports.file_name(page.query.external_id)}"
    return exports.Table(name, rows, ("rank", "document", "score", "grade", "returned"), facts)


def _values_table(found: SubmissionResults) -> exports.Table:
    names = [column.name for column in found.columns]
    means: dict[str, exports.Cell] = dict(zip(names, (figure.mean for figure in found.figures), strict=True))
    rows: list[dict[str, exports.Cell]] = [{"query": "all", "missing": None, **means}]
    for row in found.queries:
        values = dict(zip((column.name for column in found.value_columns), row.values, strict=True))
        rows.append({"query": row.external_id, "missing": row.missing, **values})
    facts = {
        "submission": found.id,
        "system": found.system.name,
        "team": found.system.team,
        "evaluation": evaluation_facts(found.evaluation),
        "terms": terms_facts(found.terms),
        "measures": [column_facts(column) for column in found.columns],
    }
    return exports.Table(f"submission-{found.id}", rows, ["query", "missing", *names], facts)
