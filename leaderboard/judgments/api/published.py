"""Published judgments: by query, of one query, and as the file that trec_eval and `leaderboard score` read."""

from flask import Response

from leaderboard.boards.api import EVALUATION
from leaderboard.judgments.reads import published as judgments
from leaderboard.judgments.reads.published import JudgmentFile
from leaderboard.web.context import actor, now, read, reading
from leaderboard.web.endpoints import get


@get(f"{EVALUATION}/judgments")
def published_judgments(campaign: str, evaluation: str) -> judgments.PublishedPage:
    """The published judgments, counted by query and grade, with their revision and its hash."""
    return read(judgments.published, campaign, evaluation, page=None)


@get(f"{EVALUATION}/judgments.txt", file="text/plain")
def qrels(campaign: str, evaluation: str) -> Response:
    """The published judgments as TREC's four columns: query, 0, document, grade."""
    return _lines(campaign, evaluation, JudgmentFile.JUDGMENTS)


@get(f"{EVALUATION}/known.txt", file="text/plain")
def known_documents(campaign: str, evaluation: str) -> Response:
    """What the user knew already, in the same columns, where the judgments come with it (Coverage, Novelty)."""
    return _lines(campaign, evaluation, JudgmentFile.KNOWN)


@get(f"{EVALUATION}/subtopics.txt", file="text/plain")
def subtopic_judgments(campaign: str, evaluation: str) -> Response:
    """The published judgments of subtopics, where there are some: query, subtopic, document, grade."""
    return _lines(campaign, evaluation, JudgmentFile.SUBTOPICS)


@get(f"{EVALUATION}/judgments/<path:query>")
def judged_documents(campaign: str, evaluation: str, query: str) -> judgments.JudgedDocuments:
    """The published judgments of one query, the highest grade first."""
    return read(judgments.documents_of, campaign, evaluation, query, page=None)


def _lines(campaign: str, evaluation: str, file: JudgmentFile) -> Response:
    with reading() as session:
        text = "".join(judgments.qrels(session, actor(), campaign, evaluation, now(), file=file))
    return Response(text, content_type="text/plain; charset=utf-8")
