"""One period over its conditions: means of systems that have all, ranks, gaps, and what is held back."""

import pytest

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.boards.reads.breakdown import Cell
from leaderboard.db import Database
from leaderboard.errors import BadInput, NotFound
from leaderboard.evaluations.rules import Opening
from leaderboard.progress.reads.across import AcrossPage, AcrossRow, across
from leaderboard.submissions.rules import RunChoice, SystemKind
from leaderboard.web.sentences import across_finding
from tests.support.databases import Filling, OwnDatabase
from tests.support.field import DAY, NAN, NOW, Field

CONDITIONS = ("English", "French", "German")


def _fill(database: Database) -> dict[str, int]:
    field = Field(database)
    field.campaign()
    field.evaluation("2025", condition="English", period="2025", period_key=2025)
    for condition in CONDITIONS:
        field.evaluation(condition.lower(), condition=condition, period="2026", period_key=2026)
    return field.evaluations


@pytest.fixture(scope="session")
def fill_conditions() -> Filling:
    """Puts into a database what `languages` begins with."""
    return _fill


@pytest.fixture
def languages(database: Database, own_database: OwnDatabase, fill_conditions: Filling) -> Field:
    """A year of one condition, and one of three."""
    return Field(database, evaluations=own_database.known)


def enter(field: Field, system: str, *means: float, kind: SystemKind = SystemKind.AUTOMATIC) -> None:
    """A run of the system in each condition, with this mean; NaN for none."""
    for condition, mean in zip(CONDITIONS, means, strict=True):
        if mean == mean:
            field.run(system, {"AP": [mean] * 4, "P@5": [mean / 2] * 4}, evaluation=condition.lower(), kind=kind)


def read(field: Field, actor: Actor = VISITOR, **asked: str) -> AcrossPage:
    with field.database.read() as session:
        return across(session, actor, "news", NOW, **asked)


def row_of(page: AcrossPage, system: str) -> AcrossRow:
    return next(row for row in page.rows if row.system.name == system)


def standing(page: AcrossPage) -> list[tuple[int | None, str, float | None]]:
    return [(row.rank, row.system.name, row.mean) for row in page.rows]


def test_systems_stand_by_the_mean_of_their_figures_with_their_rank_in_each_condition(languages: Field) -> None:
    enter(languages, "Alder", 0.5, 0.2, 0.2)
    enter(languages, "Birch", 0.4, 0.4, 0.4)
    page = read(languages)
    assert (page.periods, page.period) == (("2026", "2025"), "2026")
    assert [condition.label for condition in page.conditions] == ["English", "French", "German"]
    assert standing(page) == [(1, "Birch", pytest.approx(0.4)), (2, "Alder", pytest.approx(0.3))]
    alder = row_of(page, "Alder")
    assert [(cell.mean, cell.rank) for cell in alder.cells] == [(0.5, 1), (0.2, 2), (0.2, 2)]
    assert (alder.mean_rank, alder.lacking) == (pytest.approx(5 / 3), 0)
    assert across_finding(page) == (
        "Birch has the highest mean AP over 3 conditions, 0.400, and is first in 2 of 3 conditions. "
        "First in English: Alder. 2 of 2 systems have all conditions."
    )


def test_who_lacks_a_condition_has_no_mean_but_one_of_what_there_is_that_takes_no_rank(languages: Field) -> None:
    enter(languages, "Alder", 0.9, 0.8, NAN)
    enter(languages, "Birch", 0.2, 0.2, 0.2)
    enter(languages, "Cedar", NAN, NAN, 0.95)
    page = read(languages)
    assert standing(page) == [(1, "Birch", pytest.approx(0.2)), (None, "Alder", None), (None, "Cedar", None)]
    assert [(row.mean_rank, row.lacking) for row in page.rows] == [(2.0, 0), (None, 1), (None, 2)]
    assert [row.partial for row in page.rows] == [pytest.approx(0.2), pytest.approx(0.85), 0.95]
    assert "1 of 3 systems has all conditions." in across_finding(page)


def test_where_nobody_has_all_conditions_nothing_is_ranked(languages: Field) -> None:
    enter(languages, "Alder", 0.9, 0.8, NAN)
    enter(languages, "Cedar", NAN, NAN, 0.95)
    page = read(languages)
    assert [rank for rank, *_ in standing(page)] == [None, None]
    assert across_finding(page) == "None of the 2 systems has all 3 conditions, so there is no mean to rank by."


def test_the_same_figures_in_other_conditions_make_one_mean(languages: Field) -> None:
    enter(languages, "Alder", 0.1, 0.2, 0.3)
    enter(languages, "Birch", 0.3, 0.2, 0.1)
    page = read(languages)
    assert [(rank, name) for rank, name, _ in standing(page)] == [(1, "Alder"), (1, "Birch")]
    assert across_finding(page).startswith("Alder and Birch share the highest mean AP over 3 conditions, 0.200.")


def test_a_baseline_has_a_mean_and_takes_no_rank(languages: Field) -> None:
    enter(languages, "Terms", 0.6, 0.6, 0.6, kind=SystemKind.BASELINE)
    enter(languages, "Alder", 0.5, 0.5, 0.5)
    page = read(languages)
    assert standing(page) == [(None, "Terms", pytest.approx(0.6)), (1, "Alder", 0.5)]
    assert [row.mean_rank for row in page.rows] == [None, 1.0]
    assert [cell.rank for cell in page.rows[1].cells] == [1, 1, 1]


def test_a_condition_without_a_figure_of_a_system_is_named_and_no_mean_is_over_it(languages: Field) -> None:
    enter(languages, "Terms", 0.6, 0.6, 0.6, kind=SystemKind.BASELINE)
    enter(languages, "Alder", 0.5, 0.7, NAN)
    page = read(languages)
    assert [condition.label for condition in page.conditions] == ["English", "French"]
    assert page.left_out == {"German": "no system has a figure yet"}
    assert standing(page) == [(1, "Alder", pytest.approx(0.6)), (None, "Terms", pytest.approx(0.6))]


def test_a_late_run_is_not_there(languages: Field) -> None:
    enter(languages, "Alder", 0.5, 0.5, 0.5)
    enter(languages, "Birch", 0.4, 0.4, NAN)
    languages.run("Birch", {"AP": [0.9] * 4}, evaluation="german", received_at=NOW - DAY / 2)
    birch = row_of(read(languages), "Birch")
    assert (birch.cells[2], birch.lacking, birch.rank) == (Cell(), 1, None)


def test_means_are_of_one_measure_which_each_condition_has_at_its_own_level(languages: Field) -> None:
    enter(languages, "Alder", 0.5, 0.5, 0.5)
    page = read(languages, measure="P@5")
    assert (page.column.name, standing(page)) == ("P@5", [(1, "Alder", 0.25)])
    with pytest.raises(BadInput, match="AP, P@5"):
        read(languages, measure="RR")


def test_a_condition_judged_at_another_level_counts_under_the_name_of_the_campaign(database: Database) -> None:
    field = Field(database).campaign()
    field.evaluation("english", condition="English", period="2026")
    field.evaluation("french", condition="French", period="2026", relevance_level=2, qrels="q1 0 d1 2\n")
    field.run("Alder", {"AP": [0.5] * 4}, evaluation="english")
    field.run("Alder", {"AP(rel=2)": [0.7] * 4}, evaluation="french")
    page = read(field)
    assert standing(page) == [(1, "Alder", pytest.approx(0.6))]
    assert page.differing == {"relevance_level": "the lowest relevant grade"}


def test_a_condition_that_is_held_back_is_named_and_tells_no_figure(languages: Field) -> None:
    enter(languages, "Alder", 0.5, 0.5, 0.5)
    enter(languages, "Birch", NAN, NAN, 0.9)
    languages.change("french", results=Opening.NEVER)
    languages.change("german", anonymous_until=NOW + DAY)
    for reader in (VISITOR, languages.member("Team Birch")):
        page = read(languages, reader)
        reason = "results or names of systems are not public yet"
        assert page.left_out == {"French": reason, "German": reason}
        assert [condition.label for condition in page.conditions] == ["English"]
        assert [row.system.name for row in page.rows] == ["Alder"]
    assert read(languages, CONSOLE).left_out == {}


def test_where_single_queries_are_closed_means_are_of_rounded_figures(languages: Field) -> None:
    enter(languages, "Alder", 0.3149, 0.3149, 0.3149)
    enter(languages, "Birch", 0.3051, 0.3051, 0.3051)
    for condition in CONDITIONS:
        languages.change(condition.lower(), details=Opening.NEVER)
    rows = read(languages).rows
    assert [(row.rank, row.mean) for row in rows] == [(1, pytest.approx(0.3)), (1, pytest.approx(0.3))]
    assert {cell.mean for row in rows for cell in row.cells} == {0.3}
    assert [row.rank for row in read(languages, CONSOLE).rows] == [1, 2]


def test_the_best_run_of_each_condition_stands_where_the_campaign_chooses_so(database: Database) -> None:
    field = Field(database).campaign(run_choice=RunChoice.BEST)
    for slug in ("english", "french"):
        field.evaluation(slug, condition=slug, period="2026")
    for slug, means in (("english", (0.2, 0.6)), ("french", (0.4, 0.1))):
        for mean in means:
            field.run("Alder", {"AP": [mean] * 4}, evaluation=slug)
    page = read(field)
    assert standing(page) == [(1, "Alder", 0.5)]


def test_evaluations_of_one_condition_are_told_apart_by_their_titles(languages: Field) -> None:
    languages.evaluation("english-2", condition="English", period="2026", period_key=2026)
    enter(languages, "Alder", 0.5, 0.5, NAN)
    languages.run("Alder", {"AP": [0.2] * 4}, evaluation="english-2")
    labels = [condition.label for condition in read(languages).conditions]
    assert labels == ["The year english", "The year english-2", "French"]


def test_the_newest_period_with_two_conditions_comes_first_and_any_can_be_asked_for(languages: Field) -> None:
    languages.evaluation("2027", condition="English", period="2027", period_key=2027)
    languages.run("Alder", {"AP": [0.2] * 4}, evaluation="2027")
    assert (read(languages).period, read(languages).periods) == ("2026", ("2027", "2026", "2025"))
    page = read(languages, period="2027")
    assert standing(page) == [(1, "Alder", 0.2)]
    with pytest.raises(BadInput, match="2027, 2026, 2025"):
        read(languages, period="1999")
    with languages.database.read() as session, pytest.raises(NotFound):
        across(session, VISITOR, "nothing", NOW)
