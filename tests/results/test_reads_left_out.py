"""Leave one team out: what is made of the kept finds, for whom, and what stands where there are none."""

from typing import Any

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.errors import NotAllowed
from leaderboard.evaluations.rules import Opening
from leaderboard.generations.models import BoardGeneration
from leaderboard.results.models import TeamFinds
from leaderboard.results.reads.left_out import LeaveOneTeamOutPage, leave_one_team_out
from leaderboard.submissions.rules import SystemKind
from tests.support.field import DAY, NOW, Field


def page_of(field: Field, actor: Actor = VISITOR) -> LeaveOneTeamOutPage:
    with field.database.read() as session:
        return leave_one_team_out(session, actor, "news", "2026", NOW)


def keep(field: Field, *teams: dict[str, Any], **finds: Any) -> None:
    """As if a worker had found this, over all queries."""
    with field.database.write() as session:
        number = session.scalars(sa.select(BoardGeneration.number)).one()
        own = {"lines": 100, "depth": 100, "subsets": {"all": {"relevant": 10, "teams": list(teams)}}, **finds}
        session.merge(TeamFinds(scoring_set_id=field.current_set().id, generation=number, finds=own))


@pytest.fixture
def found(field: Field) -> Field:
    """Alder (.8, and .5 of a second system) and Birch (.7) with finds, Cedar (.4) without, and a baseline."""
    runs = {
        name: field.run(name, {"AP": [mean] * 4}, team=team)
        for name, mean, team in (("Alder", 0.8, "A"), ("Ash", 0.5, "A"), ("Birch", 0.7, "B"), ("Cedar", 0.4, "C"))
    }
    runs["BM25"] = field.run("BM25", {"AP": [0.3] * 4}, team="Organisers", kind=SystemKind.BASELINE)
    scorings = {name: str(field.scoring(run)) for name, run in runs.items()}
    keep(
        field,
        {"team": 0, "runs": 1, "unique": 1, "without": {scorings["BM25"]: 0.29}},
        {"team": field.teams["A"], "runs": 5, "unique": 3, "without": {scorings["Alder"]: 0.69, scorings["Ash"]: 0.1}},
        {"team": field.teams["B"], "runs": 1, "unique": 2, "without": {scorings["Birch"]: 0.68}},
        {"team": field.teams["C"], "runs": 1, "unique": 0, "without": {scorings["Cedar"]: None}},
    )
    return field


def test_the_largest_loss_comes_first_with_the_ranks_before_and_without(found: Field) -> None:
    page = page_of(found)
    assert [(row.team, row.runs, row.unique, row.system and row.system.name) for row in page.teams] == [
        ("A", 5, 3, "Alder"), ("B", 1, 2, "Birch"), ("Baselines", 1, 1, "BM25"), ("C", 1, 0, "Cedar"),
    ]  # fmt: skip
    assert [(row.mean, row.without, row.rank, row.rank_without) for row in page.teams] == [
        (0.8, 0.69, 1, 2), (0.7, 0.68, 2, 2), (0.3, 0.29, None, None), (0.4, 0.4, 4, 4),
    ]  # fmt: skip
    assert page.loses_most == page.teams[0]
    assert page.teams[0].difference == pytest.approx(-0.11)
    assert (page.relevant, page.unique) == (10, 6)


def test_what_was_found_by_other_runs_is_not_shown(found: Field) -> None:
    found.run("Dogwood", {"AP": [0.9] * 4})
    assert (page_of(found).lines, page_of(found).teams) == (None, ())
    keep(found)
    assert page_of(found).lines == 100


def test_a_team_without_a_run_on_the_board_has_no_row_and_what_it_found_is_counted(found: Field) -> None:
    keep(found, {"team": found.teams["B"], "runs": 1, "unique": 2, "without": {"0": 0.68}})
    page = page_of(found)
    assert (page.teams, page.unique) == ((), 2)


def test_a_figure_that_is_undefined_without_own_finds_has_no_rank_and_stands_last(found: Field) -> None:
    scorings = {row.team: str(found.scoring(row.submission_id)) for row in page_of(found).teams}
    keep(
        found,
        {"team": found.teams["A"], "runs": 5, "unique": 3, "without": {scorings["A"]: None}},
        {"team": found.teams["C"], "runs": 1, "unique": 0, "without": {scorings["C"]: None}},
    )
    row = page_of(found).teams[-1]
    assert (row.team, row.without, row.difference, row.rank, row.rank_without) == ("A", None, None, 1, None)


def test_no_figure_that_falls_is_no_loss(found: Field) -> None:
    scoring = next(str(found.scoring(row.submission_id)) for row in page_of(found).teams if row.team == "C")
    keep(found, {"team": found.teams["C"], "runs": 1, "unique": 0, "without": {scoring: None}})
    page = page_of(found)
    assert (page.loses_most, page.unique) == (None, 0)


def test_nothing_is_there_before_it_was_worked_out_or_where_there_were_too_many_lines(field: Field) -> None:
    assert (page_of(field).lines, page_of(field).teams) == (None, ())
    with field.database.write() as session:
        session.merge(TeamFinds(scoring_set_id=field.current_set().id, generation=0, finds={"lines": 3 * 10**8}))
    assert (page_of(field).lines, page_of(field).depth, page_of(field).teams) == (3 * 10**8, 0, ())


def test_it_is_closed_with_single_queries_and_with_names(found: Field) -> None:
    for closed in ({"details": Opening.NEVER}, {"details": Opening.CLOSED, "anonymous_until": NOW + DAY}):
        found.change(**closed)
        with pytest.raises(NotAllowed):
            page_of(found)
        assert page_of(found, CONSOLE).teams
