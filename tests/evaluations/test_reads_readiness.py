"""The readiness list: what an evaluation still lacks, and where it is mended."""

import io
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from leaderboard.access import CONSOLE, VISITOR
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.rules import Visibility
from leaderboard.errors import NotFound
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.readiness import Mend, Point, Urgency, actions, left_to_do, readiness
from leaderboard.evaluations.rules import Opening, Split
from leaderboard.formats import QueryRow, document_list, read_judgments
from leaderboard.judgments import writes as judgments
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams import writes as teams
from tests.support.field import DAY, NOW, Field

pytestmark = pytest.mark.parametrize("engine_name", ["sqlite"])  # no statement here is another one on the other


@contextmanager
def organising(field: Field) -> Iterator[tuple[Session, Campaign, Evaluation]]:
    with field.database.write() as session:
        evaluation = session.get_one(Evaluation, field.evaluations["2026"])
        yield session, evaluation.campaign, evaluation


def points(field: Field, slug: str = "2026") -> dict[str, list[Point]]:
    by_about = defaultdict[str, list[Point]](list)
    with field.database.read() as session:
        for point in readiness(session, CONSOLE, "news", slug, NOW):
            by_about[point.about].append(point)
    return by_about


def test_a_new_draft_lacks_queries_judgments_and_readers_and_says_where_each_is_mended(field: Field) -> None:
    with organising(field) as (session, news, _):
        campaigns.change_campaign(session, CONSOLE, news, beta=20)
        made = evaluations.create_evaluation(
            session, CONSOLE, news, "2027", "2027", "2027", draft=True, closes_at=NOW - DAY
        )
    left = [point for own in points(field, "2027").values() for point in own if point.urgency is Urgency.TO_DO]
    assert {point.about: point.mend for point in left} == {
        "Queries": Mend.QUERIES,
        "Judgments": Mend.JUDGMENTS,
        "Dates": Mend.DATES,  # it closed before anybody knew of it
        "Visible to": Mend.PUBLISH,
    }
    with field.database.read() as session:
        assert left_to_do(session, CONSOLE, "news", NOW) == {"2027": len(left)}  # 2026 has closed
    with organising(field) as (session, _, _):
        session.get_one(Evaluation, made.id).draft = False
    [dates] = points(field, "2027")["Dates"]
    assert (dates.urgency, "No run ever came" in dates.words) == (Urgency.TO_DO, True)


def test_measures_name_what_they_lack(field: Field) -> None:
    with organising(field) as (_, news, evaluation):
        news.measures, news.primary_measure = ["AP", "AQWV", "Novelty"], "AP"
        news.beta = evaluation.documents = None
    lacking = {(point.words.split()[0], point.mend) for point in points(field)["Measures"]}
    assert lacking >= {("AQWV", Mend.DOCUMENTS), ("AQWV", Mend.BETA), ("Novelty", Mend.JUDGMENTS)}  # N_total and β


def test_everything_is_listed_from_the_start(field: Field) -> None:
    with organising(field) as (session, news, _):
        news.measures, news.primary_measure, news.visibility = ["AP", "Novelty", "StRecall@5"], "AP", Visibility.DRAFT
        evaluations.create_evaluation(session, CONSOLE, news, "2027", "2027", "2027", draft=True)
    left = [point for own in points(field, "2027").values() for point in own if point.urgency is Urgency.TO_DO]
    assert [(point.about, point.mend) for point in left] == [
        ("Queries", Mend.QUERIES),
        ("Measures", Mend.JUDGMENTS),  # Novelty
        ("Measures", Mend.JUDGMENTS),  # StRecall
        ("Judgments", Mend.JUDGMENTS),
        ("Visible to", Mend.PUBLISH),
    ]
    assert left[-1].words == "Draft evaluation and campaign: visible to organisers only."


def test_what_can_be_done_at_once_follows_the_dates(field: Field) -> None:
    def possible(**columns: object) -> tuple[str, ...]:
        field.change(**{"draft": False, "closes_at": NOW + DAY, "anonymous_until": None, **columns})
        with field.database.read() as session:
            return tuple(actions(session, CONSOLE, "news", "2026", NOW))

    assert possible() == ("close",)
    assert possible(draft=True) == ("publish",)
    assert possible(closes_at=NOW - DAY) == ()
    assert possible(closes_at=NOW - DAY, anonymous_until=NOW + DAY) == ("reveal",)
    assert possible(opens_at=NOW + DAY / 2, anonymous_until=NOW) == ()


def test_a_baseline_is_asked_for_only_where_one_is_taken(field: Field) -> None:
    for closed, late, asked in ((False, False, True), (True, True, True), (True, False, False)):
        field.change(closes_at=NOW + (-DAY if closed else DAY), late_allowed=late)
        assert ("Baselines" in points(field)) is asked
    field.run("BM25", {"AP": [0.5] * 4}, kind=SystemKind.BASELINE)
    assert [point.words for point in points(field)["Baselines"]] == ["1 baseline."]


def test_an_evaluation_in_order_has_nothing_left_to_do(field: Field) -> None:
    assert points(field)["Baselines"][0].mend is Mend.BASELINE
    field.run("BM25", {"AP": [0.5] * 4}, kind=SystemKind.BASELINE)
    field.change(closes_at=NOW + DAY, daily_quota=5)
    every = points(field)
    assert not [point for own in every.values() for point in own if point.urgency is Urgency.TO_DO]
    assert [every[about][0].words for about in ("Baselines", "Queries", "Quotas", "Judgments")] == [
        "1 baseline.", "4 queries.", "A team submits 5 a day at most.", "10 judgments.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "about", "word"),
    [
        ({"closes_at": None, "details": Opening.CLOSED}, "Dates", "never closes"),
        ({"closes_at": NOW + DAY, "details": Opening.ALWAYS}, "What is public", "reveal the judgments"),
        ({"closes_at": NOW + DAY, "anonymous_until": NOW}, "What is public", "before it closes"),
        ({"texts": Opening.NEVER}, "What is public", "never public"),
        ({"daily_quota": None, "total_quota": None}, "Quotas", "No limit"),
        ({"daily_quota": 0, "total_quota": 9}, "Quotas", "no team can submit a run"),
    ],
)
def test_what_may_be_meant_so_is_worth_a_look(field: Field, columns: dict[str, object], about: str, word: str) -> None:
    field.change(**columns)
    point = points(field)[about][0]
    assert (point.urgency, word in point.words) == (Urgency.LOOK, True)


def test_runs_that_were_brought_in_need_the_dates_that_the_evaluation_had(field: Field) -> None:
    field.change(closes_at=None)
    runs = [field.run(name, {"AP": [0.5] * 4}) for name in ("Alder", "Birch")]
    for number, urgency in ((runs[:1], Urgency.LOOK), (runs, Urgency.TO_DO)):
        with field.database.write() as session:
            session.execute(sa.update(Submission).where(Submission.id.in_(number)).values(imported_at=NOW))
        [dates] = points(field)["Dates"]
        assert (dates.urgency, "imported" in dates.words) == (urgency, urgency is Urgency.TO_DO)


def test_a_list_of_documents_that_is_shorter_than_the_collection_is_to_be_mended(field: Field) -> None:
    for listed, documents, left in (
        (3, None, ""),
        (3, 4, "and the collection 4 (N_total)"),
        (4, 4, ""),
    ):
        with organising(field) as (session, _, evaluation):
            evaluation.documents = documents
            ids = "".join(f"d{number}\n" for number in range(1, listed + 1))
            evaluations.set_documents(session, CONSOLE, evaluation, document_list(io.BytesIO(ids.encode())))
        [point] = points(field)["Documents"]
        assert (point.urgency is Urgency.TO_DO, left in point.words) == (bool(left), True)


def test_queries_without_judgments_and_without_relevant_documents_are_counted(field: Field) -> None:
    with organising(field) as (session, _, evaluation):
        judgments.import_queries(session, CONSOLE, evaluation, [QueryRow("q5", "text", ())])
    assert points(field)["Judgments"][0].words.startswith("1 query of 5 without judgments")
    lines = "".join(f"q{query} 0 d1 {int(query < 5)}\n" for query in range(1, 6))
    with organising(field) as (session, _, evaluation):
        judgments.import_judgments(
            session, CONSOLE, evaluation, JudgmentFiles(read_judgments(io.BytesIO(lines.encode())))
        )
    assert points(field)["Judgments"][0].words == "1 query of 5 without a relevant document."
    with organising(field) as (session, _, evaluation):
        judgments.set_split(session, CONSOLE, evaluation, [f"q{n}" for n in range(1, 6)], Split.HIDDEN)
    assert points(field)["Queries"][0].words.startswith("All queries are hidden")


def test_a_private_campaign_without_teams_is_known_to_nobody(field: Field) -> None:
    with organising(field) as (_, news, _):
        news.visibility = Visibility.PRIVATE
    point = points(field)["Visible to"][0]
    assert (point.urgency, point.mend) == (Urgency.TO_DO, Mend.ORGANISERS)
    with organising(field) as (session, news, _):
        campaigns.let_team_in(session, CONSOLE, news, teams.create_team(session, CONSOLE, "Meadow"))
    assert points(field)["Visible to"][0].words == "The campaign is private: 1 team let in."
    with field.database.read() as session, pytest.raises(NotFound):  # nor is the list there for others
        readiness(session, VISITOR, "news", "2026", NOW)
