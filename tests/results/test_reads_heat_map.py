"""The heat map: which order queries and systems stand in, which queries everybody misses, which part the systems."""

import pytest

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.boards.reads.board import BoardQuery
from leaderboard.db import Database
from leaderboard.errors import NotAllowed
from leaderboard.evaluations.rules import Opening
from leaderboard.results.reads import heat_map as module
from leaderboard.results.reads.heat_map import HeatMapPage, heat_map
from tests.support.field import NAN, NOW, Field


def page_of(field: Field, actor: Actor = VISITOR, **asked: str) -> HeatMapPage:
    with field.database.read() as session:
        return heat_map(session, actor, "news", "2026", NOW, BoardQuery(**asked))


def five(field: Field) -> Field:
    """Of q1 to q4 the medians are .5, .9, 0 and .5; nobody finds anything on q3."""
    values = {
        "Alder": [0.5, 0.9, 0.0, 0.9],
        "Birch": [0.6, 0.9, 0.0, 0.8],
        "Cedar": [0.4, 0.9, 0.0, 0.2],
        "Dogwood": [0.5, 0.8, 0.0, 0.1],
        "Elder": [0.5, 0.9, 0.0, NAN],
    }
    for name, own in values.items():
        field.run(name, {"AP": own, "P@5": [0.2] * 4})
    return field


def test_queries_stand_from_the_easiest_to_the_hardest_and_systems_as_on_the_board(field: Field) -> None:
    page = page_of(five(field))
    # Means: Alder .575, Birch .575, Cedar .375, Dogwood .35, Elder 1.4 / 3 = .467
    assert page.names == ("Alder", "Birch", "Elder", "Cedar", "Dogwood")
    assert [(row.external_id, row.median, row.best) for row in page.queries] == [
        ("q2", 0.9, 0.9), ("q4", 0.5, 0.9), ("q1", 0.5, 0.6), ("q3", 0.0, 0.0),
    ]  # fmt: skip
    assert page.queries[1].values == (0.9, 0.8, None, 0.2, 0.1)
    assert page.queries[1].text == "text of 4"


def test_the_queries_that_everybody_misses_and_those_that_part_the_systems_are_named(field: Field) -> None:
    page = page_of(five(field))
    assert page.missed == ("q3",)
    # The middle half is without the lowest and the highest of five, and without none of the four that q4 has.
    assert [(row.external_id, row.middle) for row in page.parting] == [("q4", (0.1, 0.9))]


def test_below_0_is_missed_too_and_where_lower_is_better_the_highest(database: Database) -> None:
    field = Field(database, measures=("AQWV", "Pmiss")).campaign(beta=20.0).evaluation()
    field.run("Alder", {"AQWV": [0.5, -2.0, 0.0, -0.1], "Pmiss": [0.5, 1.0, 1.0, 0.0]})
    field.run("Birch", {"AQWV": [-1.0, -3.0, -0.5, 0.1], "Pmiss": [1.0, 1.0, 1.0, 1.0]})
    assert page_of(field).missed == ("q3", "q2")
    by_misses = page_of(field, measure="Pmiss")
    assert by_misses.missed == ("q2", "q3")
    assert [row.external_id for row in by_misses.queries] == ["q4", "q1", "q2", "q3"]
    assert not by_misses.parting  # two systems have no middle half


def test_a_query_without_a_value_is_counted_and_left_out(field: Field) -> None:
    field.run("Alder", {"AP": [0.5, NAN, 0.3, NAN]})
    page = page_of(field)
    assert ([row.external_id for row in page.queries], page.valueless) == (["q1", "q3"], 2)


def test_of_many_systems_the_first_of_the_board_are_shown_or_those_looked_for(
    field: Field, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SYSTEMS", 2)
    page = page_of(five(field))
    assert (page.names, page.matching, page.field) == (("Alder", "Birch"), 5, 5)
    assert [len(row.values) for row in page.queries] == [2] * 4
    looked_for = page_of(field, text="dogwood")
    assert (looked_for.names, looked_for.matching, looked_for.field) == (("Dogwood",), 1, 5)
    assert [(row.median, row.values) for row in looked_for.queries][1] == (0.5, (0.1,))  # of the whole board
    assert looked_for.missed == ("q3",)


def test_nobody_but_organisers_sees_it_while_single_queries_are_closed(field: Field) -> None:
    five(field).change(details=Opening.NEVER)
    with pytest.raises(NotAllowed):
        page_of(field)
    assert page_of(field, CONSOLE).missed == ("q3",)


def test_there_is_nothing_without_runs(field: Field) -> None:
    page = page_of(field)
    assert (page.field, page.queries, page.missed) == (0, (), ())
