"""Progress: systems and teams over the periods, and what is held constant meanwhile."""

import pytest

from leaderboard.access import CONSOLE, VISITOR, Actor
from leaderboard.db import Database
from leaderboard.errors import BadInput, NotFound
from leaderboard.evaluations.rules import Opening
from leaderboard.progress.reads.progress import Line, ProgressPage, progress
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams.reads import SystemPage, system
from tests.support.databases import Filling, OwnDatabase
from tests.support.field import DAY, NOW, Field


def _fill(database: Database) -> dict[str, int]:
    field = Field(database)
    field.campaign()
    for year in (2024, 2025, 2026):
        field.evaluation(str(year), condition="English", period=str(year), period_key=year)
    field.evaluation("2026-fr", condition="French", period="2026", period_key=2026)
    return field.evaluations


@pytest.fixture(scope="session")
def fill_years() -> Filling:
    """Puts into a database what `years` begins with."""
    return _fill


@pytest.fixture
def years(database: Database, own_database: OwnDatabase, fill_years: Filling) -> Field:
    """Three years of one condition, and one of another."""
    return Field(database, evaluations=own_database.known)


def read(field: Field, actor: Actor = VISITOR, **asked: str) -> ProgressPage:
    with field.database.read() as session:
        return progress(session, actor, "news", NOW, **asked)


def page_of(field: Field, team: str, slug: str, actor: Actor = VISITOR) -> SystemPage:
    with field.database.read() as session:
        return system(session, actor, team, slug, NOW)


def means(line: Line) -> list[tuple[str, float | None, int | None]]:
    return [(point.period.label, point.figure.mean, point.rank) for point in line.points]


def test_a_system_is_followed_from_its_first_year_to_its_last(years: Field) -> None:
    years.run("Alder", {"AP": [0.3] * 4}, evaluation="2024")
    years.run("Alder", {"AP": [0.5] * 4}, evaluation="2026")
    years.run("Birch", {"AP": [0.4] * 4}, evaluation="2026")
    page = read(years)
    assert [period.label for period in page.periods] == ["2024", "2025", "2026"]
    alder, birch = page.systems
    assert means(alder) == [("2024", 0.3, 1), ("2026", 0.5, 1)]
    assert means(birch) == [("2026", 0.4, 2)]
    assert [point.best for point in (*alder.points, *birch.points)] == [True, True, False]


def test_a_team_is_followed_by_the_best_of_its_systems(years: Field) -> None:
    years.run("Alder", {"AP": [0.3] * 4}, team="Woods", evaluation="2024")
    years.run("Birch", {"AP": [0.2] * 4}, team="Woods", evaluation="2024")
    years.run("Birch", {"AP": [0.6] * 4}, team="Woods", evaluation="2025")
    years.run("Alder", {"AP": [0.4] * 4}, team="Woods", evaluation="2025")
    (woods,) = read(years).teams
    assert [(point.figure.mean, point.entry.system.name) for point in woods.points] == [(0.3, "Alder"), (0.6, "Birch")]


def test_the_baseline_has_a_line_of_its_own_and_is_never_the_best(years: Field) -> None:
    years.run("Term matching", {"AP": [0.9] * 4}, evaluation="2024", kind=SystemKind.BASELINE)
    years.run("Alder", {"AP": [0.3] * 4}, evaluation="2024")
    page = read(years)
    assert [line.name for line in page.systems] == ["Alder"]
    assert [line.name for line in page.teams] == ["Team Alder"]
    assert [(line.name, line.points[0].best) for line in page.baselines] == [("Term matching", False)]
    assert page.systems[0].points[0].best


def test_conditions_are_apart_the_longest_comes_first_and_no_other_is_taken(years: Field) -> None:
    years.run("Alder", {"AP": [0.3] * 4}, evaluation="2026")
    years.run("Alder", {"AP": [0.7] * 4}, evaluation="2026-fr")
    assert read(years).condition == "English"
    page = read(years, condition="French")
    assert (page.conditions, [period.slug for period in page.periods]) == (("English", "French"), ["2026-fr"])
    assert means(page.systems[0]) == [("2026", 0.7, 1)]
    with pytest.raises(BadInput, match="English, French"):
        read(years, condition="Klingon")


def test_the_condition_with_the_most_periods_to_see_comes_first(years: Field) -> None:
    years.run("Alder", {"AP": [0.7] * 4}, evaluation="2026-fr")
    years.change("2025", anonymous_until=NOW + DAY)
    years.change("2024", anonymous_until=NOW + DAY)
    years.change("2026", anonymous_until=NOW + DAY)
    assert read(years).condition == "French"


def test_a_system_has_one_number_in_every_condition_and_measure(years: Field) -> None:
    for year in ("2024", "2025", "2026"):
        years.run("Birch", {"AP": [0.3] * 4, "P@5": [0.1] * 4}, evaluation=year)
    for slug, value in (("2026", 0.2), ("2026-fr", 0.9)):
        years.run("Alder", {"AP": [value] * 4, "P@5": [0.2] * 4}, evaluation=slug)
    numbers = {
        line.name: line.number
        for page in (read(years), read(years, condition="French"), read(years, measure="P@5"))
        for line in page.systems
    }
    assert numbers == {"Birch": 0, "Alder": 1}


def test_the_systems_of_the_latest_period_have_the_first_numbers_in_the_order_of_its_board(years: Field) -> None:
    for year in ("2024", "2025"):
        years.run("Birch", {"AP": [0.3] * 4}, evaluation=year)
    years.run("Cedar", {"AP": [0.5] * 4}, evaluation="2025")
    years.run("Cedar", {"AP": [0.5] * 4}, evaluation="2026")
    years.run("Alder", {"AP": [0.9] * 4}, evaluation="2026")
    assert [line.name for line in read(years).systems] == ["Alder", "Cedar", "Birch"]


def test_late_runs_are_no_part_of_progress(years: Field) -> None:
    years.run("Alder", {"AP": [0.3] * 4}, evaluation="2024", received_at=NOW - DAY / 2)
    assert read(years).systems == ()


def test_a_period_that_is_held_back_is_named_and_left_out(years: Field) -> None:
    years.run("Alder", {"AP": [0.3] * 4}, evaluation="2025", team="Woods")
    years.run("Alder", {"AP": [0.4] * 4}, evaluation="2026", team="Woods")
    years.change("2026", results=Opening.NEVER)
    for actor in (VISITOR, years.member("Woods")):
        page = read(years, actor)
        assert (page.held_back, means(page.systems[0])) == (("2026",), [("2025", 0.3, 1)])
    assert len(read(years, CONSOLE).systems[0].points) == 2


def test_an_anonymous_period_is_left_out_since_lines_have_names(years: Field) -> None:
    years.run("Alder", {"AP": [0.4] * 4}, evaluation="2026")
    years.change("2026", anonymous_until=NOW + DAY)
    page = read(years)
    assert (page.systems, page.held_back) == ((), ("2026",))
    with pytest.raises(NotFound):
        page_of(years, "team-alder", "alder")


def test_terms_that_differ_between_periods_are_named(database: Database) -> None:
    field = Field(database).campaign().evaluation("2025", period_key=2025)
    field.evaluation("2026", period_key=2026, relevance_level=2, qrels="q1 0 d1 2\nq2 0 d1 2\n")
    field.run("Alder", {"AP": [0.4] * 4}, evaluation="2025")
    field.run("Alder", {"AP(rel=2)": [0.3] * 4}, evaluation="2026")
    page = read(field)
    assert page.differing == {"relevance_level": "the lowest relevant grade"}
    assert means(page.systems[0]) == [("2025", 0.4, 1), ("2026", 0.3, 1)]


def test_a_systems_page_has_its_years_in_every_condition(years: Field) -> None:
    years.run("Alder", {"AP": [0.3] * 4}, team="Woods", evaluation="2024")
    years.run("Alder", {"AP": [0.7] * 4}, team="Woods", evaluation="2026-fr")
    years.run("Birch", {"AP": [0.5] * 4}, team="Woods", evaluation="2024")
    page = page_of(years, "woods", "alder")
    assert [(one.page.condition, means(one.line)) for one in page.years] == [
        ("English", [("2024", 0.3, 2)]),
        ("French", [("2026", 0.7, 1)]),
    ]
    assert page.others == (("birch", "Birch"),)


def test_a_systems_page_has_its_figures_under_every_measure_as_boards_do(database: Database) -> None:
    """Progress reads those under the measure that ranks only."""
    field = Field(database, measures=("AP", "P@10")).campaign().evaluation("2024")
    field.evaluation("2025", relevance_level=2, qrels="q1 0 d1 2\nq2 0 d1 2\n")
    field.run("Alder", {"AP": [0.3] * 4, "P@10": [0.1] * 4}, evaluation="2024")
    field.run("Alder", {"AP(rel=2)": [0.2] * 4, "P(rel=2)@10": [0.05] * 4}, evaluation="2025")
    (years,) = page_of(field, "team-alder", "alder").years
    found = {
        (point.period.slug, name): point.entry.figure(own).mean
        for point in years.line.points
        for name, own in point.period.measures.items()
    }
    assert found == {("2024", "AP"): 0.3, ("2024", "P@10"): 0.1, ("2025", "AP"): 0.2, ("2025", "P@10"): 0.05}


def test_a_system_on_no_board_is_its_teams_alone(years: Field) -> None:
    years.run("Alder", {"AP": [0.3] * 4}, team="Woods", evaluation="2024")
    years.change("2024", results=Opening.NEVER)
    with pytest.raises(NotFound):
        page_of(years, "woods", "alder")
    assert page_of(years, "woods", "alder", years.member("Woods")).years == ()
    with pytest.raises(NotFound):
        page_of(years, "woods", "birch")


def test_periods_with_one_evaluation_each_are_a_series_and_no_others(years: Field) -> None:
    assert read(years).is_series
    assert not read(years, condition="French").is_series
    years.evaluation("2026-b", condition="English", period="2026", period_key=2026)
    assert not read(years).is_series


def test_tables_stand_in_the_order_of_the_latest_year_or_of_the_one_that_is_asked_for(years: Field) -> None:
    for name, own in {"Alder": (0.6, 0.1), "Birch": (0.2, 0.5), "Cedar": (0.4, None), "Dogwood": (0.3, 0.3)}.items():
        for year, mean in zip(("2025", "2026"), own, strict=True):
            if mean is not None:
                kind = SystemKind.BASELINE if name == "Dogwood" else SystemKind.AUTOMATIC
                years.run(name, {"AP": [mean] * 4}, evaluation=year, kind=kind)
    page = read(years)

    def listed(sort: str) -> list[str]:
        return [line.name for line in page.listed("", 1, sort)[0]]

    assert listed("") == ["Birch", "Dogwood", "Alder", "Cedar"]
    assert listed("2025") == ["Alder", "Cedar", "Dogwood", "Birch"]
    assert listed("-2026") == ["Alder", "Dogwood", "Birch", "Cedar"]  # without a mean: last, either way round
    assert [line.name for line in page.ordered(page.teams, "2025")] == ["Team Alder", "Team Cedar", "Team Birch"]
    with pytest.raises(BadInput, match="sort=2019"):
        listed("2019")
