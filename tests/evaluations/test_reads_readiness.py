"""The readiness list: what an evaluation still lacks, and where it is mended."""

import datetime as dt
import io

import pytest
import sqlalchemy as sa

from leaderboard.access import CONSOLE, VISITOR
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.campaigns.rules import Visibility
from leaderboard.errors import NotFound
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.readiness import Mend, Point, Urgency, left_to_do, readiness
from leaderboard.evaluations.rules import Opening, Split
from leaderboard.formats import QueryRow, read_judgments
from leaderboard.judgments import writes as judgments
from leaderboard.judgments import writes as queries
from leaderboard.submissions.rules import SystemKind
from tests.support.field import DAY, NOW, Field

pytestmark = pytest.mark.parametrize("engine_name", ["sqlite"])  # no statement here is another one on the other


def points(field: Field, slug: str, now: dt.datetime = NOW) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = {}
    with field.database.read() as session:
        for point in readiness(session, CONSOLE, "news", slug, now):
            found.setdefault(point.about, []).append(point)
    return found


def test_a_new_draft_lacks_queries_judgments_and_readers_and_says_where_each_is_mended(field: Field) -> None:
    with field.database.write() as session:
        news = session.scalars(sa.select(Campaign)).one()
        campaigns.change_campaign(session, CONSOLE, news, beta=20)
        evaluations.create_evaluation(session, CONSOLE, news, "2027", "2027", "2027", draft=True, closes_at=NOW - DAY)
    found = points(field, "2027")
    left = {name: [(p.urgency, p.mend) for p in own] for name, own in found.items() if own[0].urgency is Urgency.TO_DO}
    assert left == {
        "Queries": [(Urgency.TO_DO, Mend.QUERIES)],
        "Judgments": [(Urgency.TO_DO, Mend.JUDGMENTS)],
        "Dates": [(Urgency.TO_DO, Mend.SETTINGS)],  # it closed before anybody knew of it
        "Who knows of it": [(Urgency.TO_DO, Mend.SETTINGS)],
    }
    with field.database.read() as session:
        assert left_to_do(session, CONSOLE, "news", NOW) == {"2027": 4}  # 2026 has closed
    with field.database.write() as session:
        session.scalars(sa.select(Evaluation).where(Evaluation.slug == "2027")).one().draft = False
    [dates] = points(field, "2027")["Dates"]
    assert (dates.urgency, "No run ever came" in dates.words) == (Urgency.TO_DO, True)


def test_measures_name_what_they_lack(field: Field) -> None:
    with field.database.write() as session:
        news = session.scalars(sa.select(Campaign)).one()
        news.measures, news.primary_measure, news.beta = ["AP", "AQWV", "Novelty"], "AP", None
        found = session.scalars(sa.select(Evaluation)).one()
        found.documents = None
    told = [(point.words, point.mend) for point in points(field, "2026")["Measures"]]
    assert any("AQWV" in words and mend is Mend.SETTINGS for words, mend in told)  # N_total
    assert any("AQWV" in words and mend is Mend.CAMPAIGN for words, mend in told)  # β
    assert any("Novelty" in words and mend is Mend.JUDGMENTS for words, mend in told)


def test_an_evaluation_in_order_has_nothing_left_to_do(field: Field) -> None:
    assert points(field, "2026")["Baselines"][0].mend is Mend.SYSTEMS  # where one is marked
    field.run("BM25", {"AP": [0.5] * 4}, kind=SystemKind.BASELINE)
    field.change(closes_at=NOW + DAY, daily_quota=5)
    found = points(field, "2026")
    assert not [point for own in found.values() for point in own if point.urgency is Urgency.TO_DO]
    assert found["Baselines"][0].words == "1 baseline."
    assert found["Queries"][0].words == "4 queries."
    assert found["Quotas"][0].words == "A team submits 5 a day at most."
    assert found["Judgments"][0].urgency is Urgency.DONE


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
    point = points(field, "2026")[about][0]
    assert (point.urgency, word in point.words) == (Urgency.LOOK, True)


def test_queries_without_judgments_and_without_relevant_documents_are_counted(field: Field) -> None:
    with field.database.write() as session:
        found = session.scalars(sa.select(Evaluation)).one()
        queries.import_queries(session, CONSOLE, found, [QueryRow("q5", "text", ())])
    assert points(field, "2026")["Judgments"][0].words.startswith("1 query of 5 without judgments")
    with field.database.write() as session:
        found = session.scalars(sa.select(Evaluation)).one()
        lines = "".join(f"q{query} 0 d1 {int(query < 5)}\n" for query in range(1, 6))
        judgments.import_judgments(session, CONSOLE, found, read_judgments(io.BytesIO(lines.encode())))
    assert points(field, "2026")["Judgments"][0].words == "1 query of 5 without a relevant document."
    with field.database.write() as session:
        found = session.scalars(sa.select(Evaluation)).one()
        queries.set_split(session, CONSOLE, found, [f"q{n}" for n in range(1, 6)], Split.HIDDEN)
    assert points(field, "2026")["Queries"][0].words.startswith("All queries are hidden")


def test_a_private_campaign_without_teams_is_known_to_nobody(field: Field) -> None:
    with field.database.write() as session:
        session.scalars(sa.select(Campaign)).one().visibility = Visibility.PRIVATE
    point = points(field, "2026")["Who knows of it"][0]
    assert (point.urgency, point.mend) == (Urgency.TO_DO, Mend.ORGANISERS)


def test_the_list_is_not_there_for_whoever_does_not_organise(field: Field) -> None:
    with field.database.read() as session, pytest.raises(NotFound):
        readiness(session, VISITOR, "news", "2026", NOW)
