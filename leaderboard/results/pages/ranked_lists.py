"""A run's ranked list on one query, as a page and as a file."""

from collections.abc import Callable

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from leaderboard.evaluations.rules import Judging
from leaderboard.results.reads import ranked_lists
from leaderboard.results.reads.ranked_lists import ListedDocument
from leaderboard.web.context import page_number, read, store
from leaderboard.web.exports import Cell, Table, evaluation_facts, exported, file_name, table

blueprint = Blueprint("ranked_lists", __name__)

ADDRESS = "/submissions/<int:submission>/queries/<path:query>"

COLUMNS: dict[str, Callable[[ListedDocument], Cell]] = {
    "rank": lambda line: line.rank,
    "document": lambda line: line.document,
    "score": lambda line: line.score,
    "grade": lambda line: line.grade,
    "returned": lambda line: line.returned,
}


@blueprint.get(ADDRESS)
def ranked_list(submission: int, query: str) -> ResponseReturnValue:
    page = read(ranked_lists.ranked_list, store(), submission, query, page=page_number())
    return render_template("ranked_lists/ranked_list.html", page=page)


@exported(blueprint, ADDRESS)
def ranked_list_file(submission: int, query: str) -> Table:
    page = read(ranked_lists.ranked_list, store(), submission, query, page=None)
    facts = {
        "evaluation": evaluation_facts(page.evaluation),
        "submission": page.submission_id,
        "judging": (Judging.COMPLETE if page.complete else Judging.POOLED).value,
        "query": {"id": page.query.external_id, "text": page.query.text, "relevant": page.relevant},
        "values": {column.name: value for column, value in zip(page.columns, page.values, strict=True)},
        "missed": [{"document": missed.document, "grade": missed.grade} for missed in page.missed],
    }
    name = f"submission-{page.submission_id}-query-{file_name(page.query.external_id)}"
    return table(name, COLUMNS, page.lines, facts)
