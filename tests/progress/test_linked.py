"""Better systems or an easier year: which runs link two periods, which are compared, and when nothing is said."""

from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa

from leaderboard.access import VISITOR, Actor
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Database
from leaderboard.errors import BadInput
from leaderboard.evaluations.rules import Opening
from leaderboard.progress.reads.linked import YearsPage, _Means, years
from leaderboard.submissions.rules import Designation, RunChoice, SystemKind
from tests.support.databases import Filling, OwnDatabase
from tests.support.field import NOW, Field

QUERIES = np.array([-0.1, -0.05, 0.0, 0.05, 0.1, 0.0])


def _fill(database: Database) -> dict[str, int]:
    field = Field(database)
    field.campaign()
    for year in (2024, 2025, 2026):
        field.evaluation(str(year), condition="English", period=str(year), period_key=year, tags=[()] * len(QUERIES))
    return field.evaluations


@pytest.fixture(scope="session")
def fill_years() -> Filling:
    """Puts into a database what `field` begins with."""
    return _fill


@pytest.fixture
def field(database: Database, own_database: OwnDatabase, fill_years: Filling) -> Field:
    """Three years of six queries."""
    return Field(database, evaluations=own_database.known)


def run(field: Field, system: str, year: int, mean: float, **given: object) -> int:
    return field.run(system, {"AP": list(QUERIES + mean)}, evaluation=str(year), **given)


def read(field: Field, actor: Actor = VISITOR, **asked: str) -> YearsPage:
    with field.database.read() as session:
        return years(session, actor, "news", NOW, **asked)


def linked_field(field: Field) -> dict[str, int]:
    """2026 is easier by .05 on average: three links gain .02, .05 and .08. Alder is the best of 2024, Comet of 2026."""
    for system, first, last in (("bm25", 0.20, 0.22), ("tfidf", 0.10, 0.15), ("fused", 0.22, 0.30)):
        for year, mean in ((2024, first), (2026, last)):
            run(field, system, year, mean, version="1", kind=SystemKind.BASELINE)
    return {
        "alder": run(field, "Alder", 2024, 0.40),
        "birch": run(field, "Birch", 2024, 0.30),
        "comet": run(field, "Comet", 2026, 0.60),
        "birch again": run(field, "Birch", 2026, 0.40),
    }


def test_the_best_of_the_first_year_and_of_the_last_are_compared_and_the_change_is_split(field: Field) -> None:
    ids = linked_field(field)
    page = read(field)
    assert [point.entry.submission_id for point in page.compared] == [ids["alder"], ids["comet"]]
    assert page.pair is not None
    assert (page.pair.first, page.pair.last) == pytest.approx((0.40, 0.60))
    assert page.pair.of_periods.estimate == pytest.approx(0.05)
    assert page.pair.of_versions.estimate == pytest.approx(0.15)
    # Student's, as worked out by hand in tests/statistics/test_linked_years.py
    assert page.pair.of_versions.high == pytest.approx(0.15 + 1.06 * 4.302653 * 0.03 * np.sqrt(4 / 3))
    assert (page.pair.rest, page.pair.reason, page.pair.links) == (None, None, 3)


def test_the_means_of_all_systems_are_split_too_without_baselines(field: Field) -> None:
    linked_field(field)
    split = read(field).field
    assert split is not None
    assert (split.first, split.last, split.runs) == (pytest.approx(0.35), pytest.approx(0.50), (2, 2))
    assert split.of_versions.estimate == pytest.approx(0.10)


def test_a_version_that_another_stands_before_links_years_too(field: Field) -> None:
    # Alder's team sends the system of 2024 again, beside its better one, which stands.
    run(field, "Alder", 2024, 0.40)
    run(field, "Alder", 2026, 0.60, designation=Designation.PRIMARY)
    run(field, "Alder", 2026, 0.45, version="2024")
    page = read(field)
    (linking, better) = page.versions
    assert (linking.called, [point.figure.mean for point in linking.points]) == (
        "Alder, version 2024", [pytest.approx(0.40), pytest.approx(0.45)],
    )  # fmt: skip
    assert page.name(linking.points[0]) == "Alder"
    assert page.name(better.points[0]) == "Alder"
    assert page.pair is not None
    assert page.pair.of_periods.estimate == pytest.approx(0.05)
    assert page.pair.reason == "1 version that ran unchanged can't show how far others would change"


def test_runs_without_a_version_of_their_own_link_nothing(field: Field) -> None:
    run(field, "Alder", 2024, 0.40)
    run(field, "Alder", 2026, 0.60)
    page = read(field)
    assert page.reason.startswith("No version ran unchanged in both 2024 and 2026")
    assert (page.pair, page.field, len(page.compared)) == (None, None, 2)


def test_the_first_year_is_the_first_that_is_linked_to_the_last(field: Field) -> None:
    run(field, "Alder", 2024, 0.40)
    run(field, "Birch", 2025, 0.40, version="1")
    run(field, "Birch", 2026, 0.45, version="1")
    page = read(field)
    assert [point.period.label for point in page.compared] == ["2025", "2026"]
    assert page.reason == ""


def test_a_reader_chooses_the_runs(field: Field) -> None:
    ids = linked_field(field)
    page = read(field, first=str(ids["birch"]), last=str(ids["birch again"]))
    assert page.pair is not None
    assert page.pair.of_versions.estimate == pytest.approx(0.05)
    assert read(field, first=str(ids["birch"]), last=str(ids["alder"])).reason == (
        "Both runs are of 2024. Runs of one period are compared on its board."
    )
    with pytest.raises(BadInput, match="first=999: this page has no such run"):
        read(field, first="999")


@pytest.mark.parametrize("name", ["beta", "metric_version"])
def test_means_by_another_price_or_other_measures_are_not_compared(field: Field, name: str) -> None:
    linked_field(field)
    means = _Means(replace(read(field), differing={name: "what differs"}), ())
    assert means.compared(None, None) == (
        (), "Not the same in all periods: what differs. So their means can't be compared.",
    )  # fmt: skip


def test_other_terms_may_differ_and_are_named(database: Database) -> None:
    field = Field(database).campaign().evaluation("2025", period_key=2025)
    field.evaluation("2026", period_key=2026, relevance_level=2, qrels="q1 0 d1 2\nq2 0 d1 2\n")
    field.run("Alder", {"AP": [0.4] * 4}, evaluation="2025", version="1")
    field.run("Alder", {"AP(rel=2)": [0.3] * 4}, evaluation="2026", version="1")
    page = read(field)
    assert page.differing == {"relevance_level": "the lowest relevant grade"}
    assert page.pair is not None
    assert page.pair.of_periods.estimate == pytest.approx(-0.1)


def test_the_best_of_several_runs_has_no_interval(field: Field) -> None:
    linked_field(field)
    run(field, "Comet", 2026, 0.50)
    with field.database.write() as session:
        session.scalars(sa.select(Campaign)).one().run_choice = RunChoice.BEST
    field.refresh()
    page = read(field)
    assert page.pair is not None
    assert page.pair.of_versions.low is None
    assert page.pair.reason == "a mean is the best of several runs, which is high by chance too"


def test_a_year_whose_results_are_closed_links_nothing(field: Field) -> None:
    linked_field(field)
    field.change("2026", results=Opening.NEVER)
    page = read(field)
    assert page.held_back == ("2026",)
    assert page.reason.startswith("It takes two periods")
    assert all(point.period.label != "2026" for line in page.versions for point in line.points)
