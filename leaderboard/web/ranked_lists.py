"""A run's ranked list on one query, as a page and as a file."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from leaderboard.reads import ranked_lists
from leaderboard.reads.ranked_lists import RankedListPage
from leaderboard.rules.settings import Judging
from leaderboard.web import exports
from leaderboard.web.context import actor, now, reading, store
from leaderboard.web.exports import evaluation_facts

blueprint = Blueprint("ranked_lists", __name__)

ADDRESS = "/submissions/<int:submission>/queries/<path:query>"


@blueprint.get(ADDRESS)
def ranked_list(submission: int, query: str) -> ResponseReturnValue:
    page = _read(submission, query, request.args.get("page", 1, type=int))
    return render_template("ranked_lists/ranked_list.html", page=page)


@blueprint.get(f"{ADDRESS}.<any(csv, json):kind>")
def ranked_list_file(submission: int, query: str, kind: str) -> ResponseReturnValue:
    return exports.answer(_list_table(_read(submission, query, None)), kind)


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
