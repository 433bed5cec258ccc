"""Published judgments: what the page counts, what the file holds, and from when on."""

import datetime as dt

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.errors import NotAllowed, NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Opening, Split
from leaderboard.judgments.reads import PublishedPage, documents_of, published, qrels
from leaderboard.judgments.writes import exclude_queries, set_split
from leaderboard.worker.models import ScoringSet
from leaderboard.worker.writes import switch
from tests.support.field import DAY, NOW, Field

QRELS = "q2 0 d9 2\nq1 0 d1 1\nq1 0 d3 -1\nq10 0 d1 0\n"


@pytest.fixture
def judged(field: Field) -> Field:
    """Published, and closed a day ago. Ten queries, of which q1 and q2 are judged, and q10."""
    field.evaluation("2027", tags=[()] * 10, qrels=QRELS)
    field.change("2027", judgments_published=True)
    return field


def page_of(field: Field, actor: Actor = VISITOR, now: dt.datetime = NOW) -> PublishedPage:
    with field.database.read() as session:
        return published(session, actor, "news", "2027", now)


def file_of(field: Field, actor: Actor = VISITOR, now: dt.datetime = NOW) -> str:
    with field.database.read() as session:
        return "".join(qrels(session, actor, "news", "2027", now))


def test_the_file_is_what_trec_eval_reads_with_queries_as_bytes_rising(judged: Field) -> None:
    assert file_of(judged) == "q1 0 d1 1\nq1 0 d3 -1\nq10 0 d1 0\nq2 0 d9 2\n"


def test_the_page_counts_by_query_and_grade(judged: Field) -> None:
    page = page_of(judged)
    assert (page.judgments, page.in_file, page.grades) == (4, 4, (-1, 0, 1, 2))
    first, second, *rest = page.queries
    assert (first.id, first.judged, first.relevant, first.grades) == ("q1", 2, 1, {-1: 1, 1: 1})
    assert (second.id, second.relevant) == ("q2", 1)
    assert [one.judged for one in rest] == [0] * 7 + [1]
    with judged.database.read() as session:
        found = documents_of(session, VISITOR, "news", "2027", "q1", NOW)
    assert [(one.document, one.grade) for one in found.documents] == [("d1", 1), ("d3", -1)]


@pytest.mark.parametrize(
    "settings", [{"closes_at": NOW + DAY}, {"closes_at": NOW}, {"closes_at": None}, {"judgments_published": False}]
)
def test_nobody_but_an_organiser_reads_them_before_closing_or_unpublished(
    judged: Field, settings: dict[str, object]
) -> None:
    judged.change("2027", details=Opening.ALWAYS, **settings)
    with pytest.raises(NotAllowed, match="udgments are not public"):
        page_of(judged)
    with pytest.raises(NotAllowed, match="udgments are not public"):
        file_of(judged)
    with judged.database.read() as session, pytest.raises(NotAllowed, match="udgments are not public"):
        documents_of(session, VISITOR, "news", "2027", "q1", NOW)
    assert not page_of(judged, CONSOLE).public
    assert file_of(judged, CONSOLE).count("\n") == 4


def test_an_excluded_query_is_on_the_page_and_not_in_the_file(judged: Field) -> None:
    with judged.database.write() as session:
        made = session.get_one(Evaluation, judged.evaluations["2027"])
        exclude_queries(session, CONSOLE, made, ["q1"], "its text was garbled")
        newest = session.scalars(sa.select(ScoringSet).order_by(ScoringSet.id.desc())).first()
        assert newest is not None
        switch(session, CONSOLE, newest)
    assert file_of(judged) == "q10 0 d1 0\nq2 0 d9 2\n"
    page = page_of(judged)
    assert (page.judgments, page.in_file, page.excluded) == (4, 2, 1)
    assert page.queries[0].excluded
    with judged.database.read() as session:
        assert documents_of(session, VISITOR, "news", "2027", "q1", NOW).excluded_because == "its text was garbled"


def test_a_hidden_query_is_nowhere_until_it_opens(judged: Field) -> None:
    with judged.database.write() as session:
        set_split(session, CONSOLE, session.get_one(Evaluation, judged.evaluations["2027"]), ["q2"], Split.HIDDEN)
    assert "q2 " in file_of(judged)  # hidden queries open with closing
    judged.change("2027", hidden_queries=Opening.NEVER)
    assert "q2 " not in file_of(judged)
    assert "q2" not in [one.id for one in page_of(judged).queries]
    with judged.database.read() as session, pytest.raises(NotFound):
        documents_of(session, VISITOR, "news", "2027", "q2", NOW)
    assert "q2 " in file_of(judged, CONSOLE)
