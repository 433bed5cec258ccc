"""Systems by the tags of queries: the figures and ranks of the board over each tag, of all tags at once."""

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.boards.reads.board import BoardQuery, board
from leaderboard.boards.reads.breakdown import TagsPage, listed, sources, tags
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Database
from leaderboard.errors import BadInput, NotAllowed, NotFound
from leaderboard.evaluations.rules import NoRelevant, Opening
from leaderboard.evaluations.writes import create_evaluation
from leaderboard.submissions.rules import RunChoice, SystemKind
from leaderboard.web.sentences import tags_finding
from tests.support.field import DAY, NAN, NOW, Field

TAGS = (["law"], ["law", "long"], ["long"], [])


def read(field: Field, actor: Actor = VISITOR, measure: str | None = None) -> TagsPage:
    with field.database.read() as session:
        return tags(session, actor, "news", "2026", NOW, measure=measure)


def assert_as_the_board(field: Field, page: TagsPage, measure: str) -> None:
    """Every figure and rank, to the last digit, is that of the board over the tag."""
    assert page.tags
    for at, tag in enumerate(page.tags):
        with field.database.read() as session:
            asked = BoardQuery(tag=tag.name, measure=measure)
            whole = board(session, VISITOR, "news", "2026", NOW, asked)
        assert whole.whole.counts[-1:] == (tag.queries,)
        theirs = {
            row.entry.submission_id: (row.ranked_by.mean, row.rank)
            for row in (*whole.rows, *whole.baselines)
            if row.ranked_by.mean is not None
        }
        cells = [row.cells[at] for row in page.rows]
        assert {cell.submission_id: (cell.mean, cell.rank) for cell in cells if cell.submission_id} == theirs


def test_each_tag_has_the_figures_and_ranks_of_the_board_over_it(database: Database) -> None:
    field = Field(database).campaign().evaluation(tags=TAGS)
    field.run("Alder", {"AP": [0.1, 0.2, 0.3, 0.7]})
    field.run("Birch", {"AP": [0.7, NAN, 0.1, 0.0]})
    field.run("Cedar", {"AP": [NAN, NAN, 0.3, NAN]})
    field.run("Terms", {"AP": [0.9] * 4}, kind=SystemKind.BASELINE)
    page = read(field)
    assert [(tag.name, tag.queries) for tag in page.tags] == [("law", 2), ("long", 2)]
    ranked = [(None, "Terms"), (1, "Alder"), (2, "Cedar"), (3, "Birch")]
    assert [(row.rank, row.system.name) for row in page.rows] == ranked
    assert [[(cell.mean, cell.rank) for cell in row.cells] for row in page.rows] == [
        [(0.9, None), (0.9, None)],
        [(pytest.approx(0.15), 2), (0.25, 2)],
        [(None, None), (0.3, 1)],
        [(0.7, 1), (0.1, 3)],
    ]
    assert_as_the_board(field, page, "AP")
    assert tags_finding(page) == (
        "Alder has the highest AP over all queries, 0.325, and is first in none of 2 tags. First in law: Birch; in "
        "long: Cedar. Figures of law, long are over fewer than 5 queries, which can't tell what others would."
    )


def test_a_tag_counts_the_queries_that_its_figures_are_over(database: Database) -> None:
    """The third has the tag and no value by any run: nothing is relevant to it."""
    field = Field(database).campaign().evaluation(tags=(["law"], ["law"], ["law"], []))
    field.run("Alder", {"AP": [0.1, 0.3, NAN, 0.7]})
    field.run("Birch", {"AP": [0.2, NAN, NAN, 0.0]})
    (law,) = read(field).tags
    assert law.queries == 2


def test_sources_are_compared_over_the_queries_that_both_give_values_on(database: Database) -> None:
    """Over all four Alder leads by the official judgments; over the two that the model judged Birch does by both."""
    field = Field(database).campaign().evaluation(details=Opening.ALWAYS)
    alder = field.run("Alder", {"AP": [0.1, 0.3, 0.9, 0.9], "P@5": [0.2] * 4})
    birch = field.run("Birch", {"AP": [0.4, 0.2, 0.1, NAN], "P@5": [0.4] * 4})
    by_model = {alder: {"AP": [0.5, 0.3, NAN, NAN]}, birch: {"AP": [0.7, 0.5, NAN, NAN]}}
    field.judge_again("q1 0 d1 1\nq2 0 d1 1\n", by_model, source="llm")
    with field.database.read() as session:
        page = sources(session, VISITOR, "news", "2026", NOW)
    assert page.queries == 2
    cells = [(row.system.name, row.rank, row.mean, row.cells[0].rank, row.cells[0].mean) for row in page.rows]
    assert cells == [
        ("Birch", 1, pytest.approx(0.3), 1, pytest.approx(0.6)),
        ("Alder", 2, pytest.approx(0.2), 2, pytest.approx(0.4)),
    ]
    (agreement,) = page.agreements
    assert (agreement.order.tau, agreement.queries) == (1.0, 2)


@pytest.mark.parametrize("measure", ["AQWV", "GMAP", "NumRelRet", "MQWV"])
def test_figures_that_are_no_means_of_values_are_those_of_the_board_too(database: Database, measure: str) -> None:
    """AQWV by pfa_only is made of two means over different queries, GMAP is geometric, NumRelRet a sum."""
    names = ("AQWV", "GMAP", "NumRelRet", "MQWV")
    field = Field(database, measures=names).campaign(beta=20.0, no_relevant=NoRelevant.PFA_ONLY)
    field.evaluation(tags=TAGS)
    for number, system in enumerate(("Alder", "Birch", "Cedar")):
        step = 0.01 * number
        values = {
            "AQWV": [0.3, NAN, 0.8 + step, 0.1],
            "Pmiss": [0.5 - step, NAN, 0.1, 1.0],
            "Pfa": [0.01, 0.02 + step, 0.005, 0.0],
            "GMAP": [0.1, 0.0, 0.7 + step, NAN],
            "NumRelRet": [3.0, 5.0 + number, 0.0, 1.0],
            "MQWV": [NAN] * 4,
        }
        field.run(system, values, means={"MQWV": 0.9})
    if measure == "MQWV":
        with pytest.raises(BadInput, match="AQWV, GMAP, NumRelRet"):
            read(field, measure=measure)
        return
    page = read(field, measure=measure)
    assert all(cell.submission_id for row in page.rows for cell in row.cells)
    assert_as_the_board(field, page, measure)


def test_a_late_run_is_not_there_and_the_best_run_is_the_best_over_all_queries(database: Database) -> None:
    field = Field(database).campaign(run_choice=RunChoice.BEST).evaluation(tags=TAGS)
    field.run("Alder", {"AP": [0.0, 0.1, 0.9, 0.9]})
    field.run("Alder", {"AP": [0.5, 0.5, 0.0, 0.0]})
    field.run("Birch", {"AP": [0.9] * 4}, received_at=NOW - DAY / 2)
    page = read(field)
    (alder,) = page.rows
    assert (alder.system.name, alder.mean) == ("Alder", 0.475)
    assert [cell.mean for cell in alder.cells] == [pytest.approx(0.05), 0.5]


def test_figures_by_tag_are_closed_with_single_queries(database: Database) -> None:
    field = Field(database).campaign().evaluation(tags=TAGS)
    field.run("Alder", {"AP": [0.5] * 4}, team="Woods")
    field.change(details=Opening.NEVER)
    for reader in (VISITOR, field.member("Woods")):
        with pytest.raises(NotAllowed, match="Single queries"):
            read(field, reader)
    assert len(read(field, CONSOLE).rows) == 1
    field.change(details=Opening.ALWAYS, texts=Opening.NEVER)
    assert (read(field).tags, len(read(field, CONSOLE).tags)) == ((), 2)


def test_while_names_are_hidden_systems_are_anonymous_here_too(database: Database) -> None:
    field = Field(database).campaign().evaluation(tags=TAGS)
    field.run("Alder", {"AP": [0.5] * 4})
    field.change(anonymous_until=NOW + DAY)
    (row,) = read(field).rows
    assert row.system.name.startswith("Anonymous")
    assert (row.system.slug, row.system.team) == ("", "")


def test_rows_sort_by_any_column_and_those_without_a_figure_are_last(database: Database) -> None:
    field = Field(database).campaign().evaluation(tags=TAGS)
    field.run("Alder", {"AP": [0.1, 0.1, 0.3, 0.9]})
    field.run("birch", {"AP": [0.7, NAN, 0.1, 0.0]})
    field.run("Cedar", {"AP": [NAN, NAN, 0.3, NAN]})
    page = read(field)

    def order(sort: str, text: str = "") -> list[str]:
        rows, _ = listed(page, [tag.name for tag in page.tags], BoardQuery(sort=sort, text=text, page=1), {})
        return [row.system.name for row in rows]

    assert order("") == order("mean") == ["Alder", "Cedar", "birch"]
    assert order("in:law") == ["birch", "Alder", "Cedar"]
    assert order("-in:law") == ["Alder", "birch", "Cedar"]
    assert order("system") == ["Alder", "birch", "Cedar"]
    assert order("-system", "team  BIRCH") == ["birch"]
    with pytest.raises(BadInput, match="sort=in:none"):
        order("in:none")


def test_before_judgments_there_is_no_such_page(database: Database) -> None:
    field = Field(database).campaign()
    with field.database.write() as session:
        campaign = session.scalars(sa.select(Campaign)).one()
        create_evaluation(session, CONSOLE, campaign, "2026", "The year 2026", "2026", details=Opening.ALWAYS)
    with pytest.raises(NotFound, match="first judgments"):
        read(field)
