"""Published judgments: a page by query, a page of one query, and the file that trec_eval reads."""

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from leaderboard.judgments import api, reads as judgments
from leaderboard.web.context import page_number, read
from leaderboard.web.exports import Table, columns, evaluation_table, exported, file_name

blueprint = Blueprint("judgments", __name__, url_prefix="/campaigns/<campaign>/<evaluation>")

COLUMNS = columns("query=id", "judged", "relevant", "excluded")
DOCUMENT_COLUMNS = columns("document", "grade")


@blueprint.get("/judgments")
def index(campaign: str, evaluation: str) -> ResponseReturnValue:
    page = read(judgments.published, campaign, evaluation, page=page_number())
    return render_template("judgments/index.html", page=page)


@exported(blueprint, "/judgments")
def index_file(campaign: str, evaluation: str) -> Table:
    page = read(judgments.published, campaign, evaluation)
    grades = {f"grade {grade}": lambda row, grade=grade: row.grades.get(grade, 0) for grade in page.grades}
    facts = {
        "judgment_revision": page.revision, "sha256": page.sha256, "file_sha256": page.file_sha256,
        "relevance_level": page.relevance_level,
    }  # fmt: skip
    return evaluation_table(page.evaluation, "-judgments", COLUMNS | grades, page.queries, facts)


blueprint.get("/judgments.txt", endpoint="qrels")(api.qrels)
blueprint.get("/known.txt", endpoint="known")(api.known_documents)
blueprint.get("/subtopics.txt", endpoint="subtopics")(api.subtopic_judgments)


@blueprint.get("/judgments/<path:query>")
def documents(campaign: str, evaluation: str, query: str) -> ResponseReturnValue:
    page = read(judgments.documents_of, campaign, evaluation, query, page=page_number())
    return render_template("judgments/documents.html", page=page)


@exported(blueprint, "/judgments/<path:query>")
def documents_file(campaign: str, evaluation: str, query: str) -> Table:
    page = read(judgments.documents_of, campaign, evaluation, query)
    ending, facts = f"-judgments-{file_name(page.query)}", {"query": page.query}
    return evaluation_table(page.evaluation, ending, DOCUMENT_COLUMNS, page.documents, facts)
