"""What pages and files show of judgments that are still closed: rounded means, and nothing made of finer ones."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.db import Database
from leaderboard.evaluations.rules import Opening
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams import writes as teams
from leaderboard.web.exports import FORMATS
from leaderboard.worker.models import Score, Scoring
from tests.support.field import NAN, Field
from tests.support.world import new_account, signed_in
from tests.web.conftest import browser_of

YEARS = ("2024", "2025")
PAGES = [
    "/", "/campaigns/news", "/campaigns/news/2025", "/campaigns/news/2025?show=all", "/campaigns/news/2025?show=best",
    "/campaigns/news/2025?measure=P@5&sort=-P@5", "/campaigns/news/progress", "/campaigns/news/progress?measure=P@5",
    "/campaigns/news/2025/queries", "/teams/woods", "/teams/woods/alder", "/submissions/{run}",
]  # fmt: skip
FILES = [
    f"{address}.{ending}"
    for address in ("/campaigns/news", "/campaigns/news/2025", "/campaigns/news/progress", "/teams/woods/alder")
    for ending in FORMATS
]
MEANS = {"Alder": 0.412391, "Birch": 0.414977, "Cedar": 0.362718}


@pytest.fixture
def closed(database: Database) -> Field:
    """Two years of fifty queries, thirty of them judged, three systems and a baseline; details stay closed."""
    field = Field(database, measures=("AP", "P@5", "NumRel"))
    field.campaign()
    qrels = "".join(f"q{number} 0 d 1\n" for number in range(1, 31))
    for year in YEARS:
        field.evaluation(year, tags=[()] * 50, qrels=qrels, details=Opening.NEVER)
        for name, mean in MEANS.items():
            values = {
                "AP": [mean] * 30 + [NAN] * 20,
                "P@5": [mean / 2] * 30 + [NAN] * 20,
                "NumRel": [1.0] * 30 + [NAN] * 20,
            }
            field.run(name, values, team="Woods", evaluation=year, intervals={"AP": (mean - 0.03141, mean + 0.03141)})
        field.run("Terms", {"AP": [0.101234] * 50}, evaluation=year, kind=SystemKind.BASELINE)
    return field


@pytest.fixture
def browsers(app: Flask, closed: Field, quick_hashes: None) -> Callable[[str], FlaskClient]:
    """`browsers("member")` is in team Woods, `browsers("admin")` sees everything, "" visits."""
    ids: dict[str, Any] = {}
    with closed.database.write() as session:
        for name in ("member", "admin"):
            user = people.create_user(session, CONSOLE, new_account(name), is_admin=name == "admin")
            ids[name] = signed_in(session, user.id)
            if name == "member":
                teams.add_member(session, CONSOLE, session.get_one(teams.Team, closed.teams["Woods"]), user)

    return lambda name: browser_of(app, ids.get(name))


def answers(browser: FlaskClient, run: int, addresses: Sequence[str] = (*PAGES, *FILES)) -> dict[str, str]:
    """Address -> what it answers, without what is new in every answer."""
    found = {}
    for address in addresses:
        answer = browser.get(address.format(run=run))
        assert answer.status_code == 200, address
        found[address] = re.sub(r'(csrf_token" value|nonce)="[^"]*"', "", answer.text)
    return found


def perturb(field: Field, by: float) -> None:
    """Moves every mean, interval and value of AP, as other judgments would, by less than a rounded mean shows."""
    with field.database.write() as session:
        for score in session.scalars(sa.select(Score).where(Score.measure.in_(("AP", "P@5")))):
            score.mean = (score.mean or 0.0) + by
            if score.low is not None and score.high is not None:
                score.low, score.high = score.low + by, score.high + by
            score.count -= 1


def test_no_page_and_no_file_tells_digits_that_are_rounded_away(
    browsers: Callable[[str], FlaskClient], closed: Field
) -> None:
    with closed.database.read() as session:
        run = session.scalars(sa.text("SELECT max(id) FROM submission")).one() - 1
    readers = ("", "member", "admin")
    before = {reader: answers(browsers(reader), run) for reader in readers}
    perturb(closed, -0.00012)
    after = {reader: answers(browsers(reader), run) for reader in readers}
    for reader in ("", "member"):
        assert [address for address in before[reader] if before[reader][address] != after[reader][address]] == []
        for text in before[reader].values():
            assert not re.search(r"0\.(4123|4149|3627|2061|2074|1813|1012|38|3812|4438)\d", text)
            assert "30 queries" not in text
            assert "30 judged" not in text
    # All of them show admins more, but the list of queries, which has no figure of a single system.
    # Tables for papers have the digits of pages, where such a small change may be lost.
    exact = [address for address in before["admin"] if not address.endswith((".tex", ".md"))]
    differing = [address for address in exact if before["admin"][address] != after["admin"][address]]
    assert len(differing) == len(exact) - 1
    assert "30 queries judged" in before["admin"]["/campaigns/news/2025"]
    assert "0.4149" in before["admin"]["/campaigns/news/2025.csv"]


def test_means_over_conditions_are_those_of_the_rounded_figures(
    browsers: Callable[[str], FlaskClient], closed: Field
) -> None:
    for year in YEARS:
        closed.change(year, period="2025", condition=year)
    page = "/campaigns/news/across"
    addresses = (page, f"{page}?measure=P@5&gaps=yes&sort=ranks", *(f"{page}.{ending}" for ending in FORMATS))
    readers = ("", "member", "admin")
    before = {reader: answers(browsers(reader), 1, addresses) for reader in readers}
    perturb(closed, -0.00012)
    after = {reader: answers(browsers(reader), 1, addresses) for reader in readers}
    for reader in ("", "member"):
        assert before[reader] == after[reader]
        assert "Alder and Birch share the highest mean AP over 2 conditions, 0.410." in before[reader][page]
    assert before["admin"][page] != after["admin"][page]
    assert "Birch has the highest mean AP over 2 conditions, 0.415," in before["admin"][page]
    rounded = json.loads(before[""][f"{page}.json"])["terms"]
    assert {year: each["rounded_to"] for year, each in rounded.items()} == dict.fromkeys(YEARS, 2)


def test_no_page_says_of_a_rounded_mean_that_it_is_over_queries_that_may_not_be_judged(
    browsers: Callable[[str], FlaskClient], closed: Field
) -> None:
    """Thirty of the fifty are: how many is closed, and "50 queries" beside a mean would be false."""
    with closed.database.read() as session:
        run = session.scalars(sa.text("SELECT max(id) FROM submission")).one() - 1
    own = '<span class="muted small">at most 50 queries</span>'
    pages = {"/campaigns/news/2025": "over at most 50 queries", f"/submissions/{run}": own}
    for address, words in pages.items():
        told = {reader: " ".join(browsers(reader).get(address).text.split()) for reader in ("member", "admin")}
        assert words in told["member"], address
        assert words.replace("at most 50", "30") in told["admin"], address
    board = browsers("member").get("/campaigns/news/2025").text
    assert "50, of which the judged ones count" in board


def test_every_json_file_with_means_says_to_how_many_decimals_they_are_rounded(
    browsers: Callable[[str], FlaskClient],
) -> None:
    addresses = ("/campaigns/news", "/campaigns/news/2025", "/campaigns/news/progress", "/teams/woods/alder")
    for reader, decimals in (("", 2), ("member", 2), ("admin", None)):  # of means of fifty queries: docs/disclosure.md
        browser = browsers(reader)
        campaign, board, progress, system = (json.loads(browser.get(f"{address}.json").text) for address in addresses)
        assert campaign["rounded_to"] == dict.fromkeys(YEARS, decimals)
        assert board["terms"]["rounded_to"] == decimals
        for terms in (progress["terms"], system["terms"]["news"]):
            assert {year: each["rounded_to"] for year, each in terms.items()} == dict.fromkeys(YEARS, decimals)


def test_organisers_alone_are_told_that_a_run_and_the_judgments_name_more_documents_than_there_are(
    browsers: Callable[[str], FlaskClient], closed: Field
) -> None:
    with closed.database.write() as session:
        scoring = session.scalars(sa.select(Scoring).limit(1)).one()
        scoring.facts = {"crowded": 3}
        run = scoring.submission_id
    told = "For 3 queries this run's documents and the judged documents"
    seen = [told in browsers(reader).get(f"/submissions/{run}").text for reader in ("", "member", "admin")]
    assert seen == [False, False, True]
