"""The list of queries, and one query across all systems."""

from typing import Any

import pytest

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.boards.reads.board import BoardQuery
from leaderboard.db import Database
from leaderboard.errors import NotAllowed, NotFound
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Judging, Opening, Split
from leaderboard.judgments.writes import exclude_queries, set_split
from leaderboard.results.reads import queries
from leaderboard.results.reads.queries import QueryListPage, QueryPage, query, query_list
from tests.support.field import DAY, NAN, NOW, Field


def list_of(field: Field, actor: Actor = VISITOR, **asked: Any) -> QueryListPage:
    with field.database.read() as session:
        return query_list(session, actor, "news", "2026", NOW, BoardQuery(**asked))


def one(field: Field, external_id: str, actor: Actor = VISITOR, **asked: Any) -> QueryPage:
    with field.database.read() as session:
        return query(session, actor, "news", "2026", external_id, NOW, BoardQuery(**asked))


def test_each_query_has_its_relevant_documents_and_the_fields_median_and_best(field: Field) -> None:
    field.run("Alder", {"AP": [0.2, 0.9, 0.0, NAN]})
    field.run("Birch", {"AP": [0.4, 0.1, 0.0, NAN]})
    field.run("Cedar", {"AP": [0.9, 0.2, 0.5, NAN]})
    page = list_of(field)
    assert [row.query.external_id for row in page.queries] == ["q1", "q2", "q3", "q4"]
    assert [row.query.relevant for row in page.queries] == [1, 2, 3, 4]
    assert [(row.median, row.best, row.worst) for row in page.queries] == [
        (0.4, 0.9, 0.2), (0.2, 0.9, 0.1), (0.0, 0.5, 0.0), (None, None, None),
    ]  # fmt: skip
    assert [row.best_system for row in page.queries] == ["Cedar", "Alder", "Cedar", ""]


def test_where_lower_is_better_the_best_is_the_lowest(database: Database) -> None:
    field = Field(database, measures=("Pmiss",)).campaign().evaluation()
    field.run("Alder", {"Pmiss": [0.2] * 4})
    field.run("Birch", {"Pmiss": [0.6] * 4})
    row = list_of(field).queries[0]
    assert (row.best, row.worst, row.best_system) == (0.2, 0.6, "Alder")


def test_queries_sort_by_what_the_field_reached_with_undefined_ones_last(field: Field) -> None:
    field.run("Alder", {"AP": [0.5, NAN, 0.9, 0.1]})
    for sort, order in (("median", "3142"), ("-best", "4132"), ("relevant", "4321")):
        assert [row.query.external_id for row in list_of(field, sort=sort).queries] == [f"q{n}" for n in order]


def test_an_excluded_query_says_so_and_why(field: Field) -> None:
    with field.database.write() as session:
        evaluation = session.get_one(Evaluation, field.evaluations["2026"])
        exclude_queries(session, CONSOLE, evaluation, ["q2"], "ambiguous")
    row = list_of(field).queries[1].query
    assert (row.excluded, row.excluded_because) == (True, "ambiguous")


@pytest.mark.parametrize(("judging", "relevant"), [(Judging.POOLED, [1, 0, None]), (Judging.COMPLETE, [1, 0, 0])])
def test_a_query_that_nobody_judged_has_no_number_of_relevant_documents(
    database: Database, judging: Judging, relevant: list[int | None]
) -> None:
    field = Field(database).campaign()
    field.evaluation(tags=((), (), ()), qrels="q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 0\n", judging=judging)
    field.run("Alder", {"AP": [0.2, NAN, NAN]})
    assert [row.query.relevant for row in list_of(field).queries] == relevant
    assert one(field, "q3").query.relevant == relevant[2]
    order = [row.query.external_id for row in list_of(field, sort="relevant").queries]
    assert (order[0], order[2]) == ("q1", "q3")


def test_while_details_are_closed_texts_are_shown_without_any_figure(field: Field) -> None:
    field.run("Alder", {"AP": [0.5] * 4})
    field.change(details=Opening.CLOSED, closes_at=NOW + DAY)
    page = list_of(field)
    assert (page.details_open, page.systems, page.columns) == (False, 0, ())
    row = page.queries[0]
    assert (row.query.text, row.query.relevant, row.median) == ("text of 1", None, None)
    assert "2 Jun 2026" in page.closed_because
    assert list_of(field, CONSOLE).queries[0].median == 0.5


def test_one_query_shows_every_systems_values_best_first(database: Database) -> None:
    field = Field(database, measures=("AP", "P@5")).campaign().evaluation()
    field.run("Alder", {"AP": [0.1, 0.2, 0.3, 0.4], "P@5": [0.2, 0.4, 0.6, 0.8]})
    field.run("Birch", {"AP": [0.4, 0.3, 0.9, 0.1], "P@5": [0.2, 0.0, 0.2, 0.0]})
    field.run("Cedar", {"AP": [0.4, 0.3, NAN, 0.1], "P@5": [0.2, 0.0, 1.0, 0.0]})
    page = one(field, "q3")
    assert [(row.entry.system.name, row.values) for row in page.rows] == [
        ("Birch", (0.9, 0.2)), ("Alder", (0.3, 0.6)), ("Cedar", (None, 1.0)),
    ]  # fmt: skip
    assert [row.entry.system.name for row in one(field, "q3", sort="P@5").rows] == ["Cedar", "Alder", "Birch"]
    assert [row.entry.system.name for row in one(field, "q3", sort="-AP").rows] == ["Alder", "Birch", "Cedar"]
    assert page.query.relevant == 3


def test_one_query_knows_those_before_and_after(field: Field) -> None:
    pages = [one(field, query) for query in ("q1", "q3", "q4")]
    assert [(page.previous, page.next) for page in pages] == [(None, "q2"), ("q2", "q4"), ("q3", None)]


def test_a_query_may_not_be_seen_while_details_are_closed(field: Field) -> None:
    field.run("Alder", {"AP": [0.5] * 4}, team="Woods")
    field.change(closes_at=NOW + DAY)
    for actor in (VISITOR, field.member("Woods")):
        with pytest.raises(NotAllowed, match="give the judgments away"):
            one(field, "q1", actor)
    assert one(field, "q1", CONSOLE).rows[0].values[0] == 0.5


def test_a_hidden_query_stays_unknown_until_the_evaluation_closes(field: Field) -> None:
    with field.database.write() as session:
        evaluation = session.get_one(Evaluation, field.evaluations["2026"])
        set_split(session, CONSOLE, evaluation, ["q4"], Split.HIDDEN)
    field.run("Alder", {"AP": [0.5, 0.5, 0.5, NAN]}, hidden={"AP": [0.5] * 4})
    field.change(details=Opening.ALWAYS, closes_at=NOW + DAY)
    assert one(field, "q4", CONSOLE).rows[0].values[0] == 0.5
    with pytest.raises(NotFound) as unknown:
        one(field, "q4")
    with pytest.raises(NotFound) as absent:
        one(field, "q5")
    assert unknown.value.message == absent.value.message.replace("q5", "q4")  # nor do the names that it suggests tell
    assert one(field, "q3").next is None
    assert [row.query.external_id for row in list_of(field).queries] == ["q1", "q2", "q3"]
    field.change(details=Opening.CLOSED)
    assert [row.query.external_id for row in list_of(field).queries] == ["q1", "q2", "q3"]
    field.change(closes_at=NOW - DAY)
    assert one(field, "q4").rows[0].values[0] == 0.5
    assert len(list_of(field).queries) == 4


@pytest.mark.parametrize("details", [Opening.CLOSED, Opening.ALWAYS])
def test_until_it_opens_nobody_but_organisers_reads_what_the_queries_ask_for(
    database: Database, details: Opening
) -> None:
    field = (
        Field(database)
        .campaign()
        .evaluation(tags=(["law"], [], []), opens_at=NOW + DAY, closes_at=NOW + 2 * DAY, details=details)
    )
    for actor in (VISITOR, Actor(1, "member", teams=frozenset({1}))):
        page = list_of(field, actor)
        assert not page.texts_open
        assert [(row.query.external_id, row.query.text, row.query.tags) for row in page.queries] == [
            ("q1", "", ()), ("q2", "", ()), ("q3", "", ()),
        ]  # fmt: skip
        assert list_of(field, actor, tag="law").queries == ()
    assert list_of(field, CONSOLE).queries[0].query.text == "text of 1"
    field.change(opens_at=NOW)
    assert list_of(field).queries[0].query.tags == ("law",)
    assert list_of(field, tag="law").queries[0].query.text == "text of 1"


def test_a_long_list_comes_page_by_page_and_whole_as_a_file(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "PAGE", 3)
    field.run("Alder", {"AP": [0.4, 0.3, 0.2, 0.1]})
    assert [row.query.external_id for row in list_of(field, sort="-median", page=1).queries] == ["q4", "q3", "q2"]
    second = list_of(field, sort="-median", page=2)
    assert [row.query.external_id for row in second.queries] == ["q1"]
    assert (second.paging.page, second.paging.pages, second.paging.rows) == (2, 2, 4)
    assert len(list_of(field, page=None).queries) == 4
