"""Runs of which far less is judged than of the field: where the mark stands, and who sees it."""

import numpy as np
import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.boards.reads.board import BoardPage, BoardQuery, board
from leaderboard.boards.reads.entries import disclosures, load_entries
from leaderboard.db import Database
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.rules import Judging, Opening
from leaderboard.results.reads.run import results
from tests.support.field import NOW, Field

SHARES = {"Alder": 0.96, "Birch": 0.97, "Cedar": 0.97, "Dogwood": 0.98, "Elder": 0.62}  # below .97 − .2 is the last


def fill(field: Field, shares: dict[str, float] = SHARES) -> dict[str, int]:
    return {name: field.run(name, {"AP": [0.5] * 4, "Judged@10": [own] * 4}) for name, own in shares.items()}


def board_of(field: Field, actor: Actor = VISITOR, **asked: str) -> BoardPage:
    with field.database.read() as session:
        return board(session, actor, "news", "2026", NOW, BoardQuery(**asked))


def test_a_run_is_marked_of_which_far_less_is_judged_than_of_the_others(field: Field) -> None:
    runs = fill(field)
    holes = board_of(field).holes
    assert holes is not None
    assert (holes.median, dict(holes.shares)) == (0.97, {runs["Elder"]: 0.62})
    assert board_of(field, show="all").holes is None  # a system with many runs would say what is usual


def test_every_run_more_than_a_fifth_below_the_median_is_marked_however_much_the_field_differs(field: Field) -> None:
    runs = fill(field, {"Alder": 1.0, "Birch": 0.95, "Cedar": 0.9, "Dogwood": 0.52, "Elder": 0.42})
    holes = board_of(field).holes
    assert holes is not None
    assert dict(holes.shares) == {runs["Dogwood"]: 0.52, runs["Elder"]: 0.42}


def test_up_to_a_fifth_less_is_no_hole(field: Field) -> None:
    fill(field, {**SHARES, "Elder": 0.78})
    holes = board_of(field).holes
    assert holes is not None
    assert not holes.shares


def test_a_run_says_how_much_of_it_is_judged_beside_the_field(field: Field) -> None:
    runs = fill(field)
    other = field.run("Elder", {"AP": [0.1] * 4, "Judged@10": [0.5] * 4})  # stands for no system
    with field.database.read() as session:
        found = [results(session, VISITOR, runs["Elder"], NOW), results(session, VISITOR, other, NOW)]
    assert [page.holes and page.holes.shares[page.id] for page in found] == [0.62, 0.5]
    assert [page.holes and page.holes.least for page in found] == [pytest.approx(0.97 - 0.2)] * 2


def test_nothing_is_said_while_single_queries_are_closed(field: Field) -> None:
    runs = fill(field)
    field.change(details=Opening.NEVER)
    assert board_of(field).holes is None
    assert board_of(field, CONSOLE).holes is not None
    with field.database.read() as session:
        page = results(session, VISITOR, runs["Elder"], NOW)
    assert page.holes is None


def test_while_closed_no_figure_says_how_much_is_judged(field: Field) -> None:
    fill(field)
    field.change(details=Opening.NEVER)

    with field.database.read() as session:
        shown = disclosures(session, VISITOR, session.scalars(sa.select(Evaluation)).all(), NOW)
        means = np.array([0.96, 0.62])
        for entry in load_entries(session, shown, None):
            assert {name: figure.mean for name, figure in entry.figures.items()} == {"AP": 0.5}
        assert np.isnan(shown[0].means("Judged@10", np.array([False, True]), means)).all()


def test_a_campaign_that_shows_it_has_it_rounded_while_closed(database: Database) -> None:
    field = Field(database, measures=("AP", "Judged@10")).campaign().evaluation(details=Opening.NEVER)
    fill(field)
    page = board_of(field)
    assert [row.figures[1].mean for row in page.rows] == [1.0, 1.0, 1.0, 1.0, 0.6]  # of four queries
    assert page.holes is None


@pytest.mark.parametrize("judging", Judging)
def test_judged_is_scored_where_judgments_are_pooled(database: Database, judging: Judging) -> None:
    field = Field(database).campaign().evaluation(judging=judging)
    assert ("Judged@10" in field.current_set().settings.kept) is (judging is Judging.POOLED)
    fill(field)
    assert (board_of(field).holes is None) is (judging is Judging.COMPLETE)
