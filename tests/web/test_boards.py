"""The pages of boards, queries, lists, progress and systems, and the same tables as files."""

import csv
import io
import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.audit.models import Event
from leaderboard.audit.verify import Difference, Report, record_verification
from leaderboard.campaigns import writes as campaigns
from leaderboard.evaluations.reads.find import find_campaign
from leaderboard.evaluations.rules import NoRelevant, Opening
from leaderboard.moments import moment_in_words
from leaderboard.store import RankedList
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams import writes as teams
from leaderboard.teams.rules import Role
from leaderboard.web.exports import FORMATS
from leaderboard.worker.models import Scoring
from tests.support.field import DAY, NAN, NOW, Field
from tests.support.world import new_account, signed_in
from tests.web.conftest import browser_of

Client = Callable[[str], FlaskClient]

SQLITE = pytest.mark.parametrize("engine_name", ["sqlite"])  # words, links and files of reads


@pytest.fixture
def client(app: Flask, field: Field, quick_hashes: None) -> Client:
    """`client("member")` is in team Woods, `client("other")` in none, `client("organiser")` organises; "" visits."""
    ids: dict[str, str] = {}
    with field.database.write() as session:
        for name in ("member", "other", "organiser"):
            user = people.create_user(session, CONSOLE, new_account(name))
            ids[name] = signed_in(session, user.id)
            if name == "member":
                woods = teams.create_team(session, CONSOLE, "Woods")
                field.teams["Woods"] = woods.id
                teams.add_member(session, CONSOLE, woods, user, Role.OWNER)
            if name == "organiser":
                campaigns.add_organiser(session, CONSOLE, find_campaign(session, CONSOLE, "news"), user)

    return lambda name="": browser_of(app, ids.get(name))


def text_of(html: str) -> str:
    """What a reader sees, blanks collapsed."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def rows_of(answer: Any) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))


@SQLITE
def test_the_board_shows_rank_system_team_and_every_measure(client: Client, field: Field) -> None:
    field.run("Alder", {"AP": [0.75] * 4, "P@5": [0.2] * 4}, team="Woods")
    field.run("Birch", {"AP": [-0.25] * 4, "P@5": [NAN] * 4}, team="Meadow")
    page = client("").get("/campaigns/news/2026")
    assert page.status_code == 200
    seen = text_of(page.text)
    assert "Alder has the highest AP, 0.750 over 4 queries; Birch is next with −0.250." in seen
    assert re.search(r"1 Alder Woods · all years 0\.750 0\.200", seen)
    assert re.search(r"2 Birch Meadow · all years −0\.250 –", seen)


@SQLITE
def test_the_terms_stand_above_the_board(app: Flask, database: Any) -> None:
    field = Field(database, measures=("AQWV", "AP"))
    field.campaign(cost=0.0333, value=1.0, prior=1 / 600, no_relevant=NoRelevant.PFA_ONLY, compat=9)
    field.evaluation(documents=51_103)
    seen = text_of(app.test_client().get("/campaigns/news/2026").text)
    assert "β 19.9467 = (C / V) · (1 / P − 1) with C = 0.0333, V = 1, P = 1/600" in seen
    assert "queries without a relevant document count in P fa only" in seen
    assert "N_total 51,103 documents" in seen
    assert "as trec_eval 9" in seen
    assert "revision 1" in seen


@SQLITE
def test_the_board_says_how_many_queries_its_means_leave_out_only_to_those_who_may_see_single_queries(
    app: Flask, database: Any
) -> None:
    field = Field(database)
    field.campaign()
    field.evaluation(qrels="q1 0 d 1\nq2 0 d 1\nq3 0 d 0\nq4 0 d 1\n")
    field.run("Alder", {"AP": [0.5, 0.5, NAN, 1.0], "P@5": [0.2, 0.2, NAN, 0.2]})
    board = app.test_client()
    shown = text_of(board.get("/campaigns/news/2026").text)
    assert "Means are over 3 of 4 queries; without a relevant document: 1." in shown
    field.change(details=Opening.NEVER)
    shown = text_of(board.get("/campaigns/news/2026").text)
    assert "4 queries · judgments revision 1" in shown
    assert "3 of 4" not in shown
    assert "no relevant document." not in shown


@SQLITE
def test_the_board_as_csv_has_all_digits_and_empty_cells_for_what_is_undefined(client: Client, field: Field) -> None:
    field.run("Alder", {"AP": [1 / 3] * 4, "P@5": [NAN] * 4}, means={"AP": 1 / 3}, label="=1+1")
    (row,) = rows_of(client("").get("/campaigns/news/2026.csv"))
    assert (row["rank"], row["system"], row["team"], row["AP"], row["P@5"]) == (
        "1", "Alder", "Team Alder", "0.3333333333333333", "",
    )  # fmt: skip
    assert row["label"] == "'=1+1"  # no spreadsheet takes it for a formula


@SQLITE
def test_the_board_as_json_says_what_its_figures_rest_on(client: Client, field: Field) -> None:
    field.run("Alder", {"AP": [0.5] * 4, "P@5": [NAN] * 4})
    found = json.loads(client("").get("/campaigns/news/2026.json?measure=P@5").text)
    assert found["ranked_by"] == "P@5"
    assert found["evaluation"]["campaign"]["slug"] == "news"
    assert (found["terms"]["judgment_revision"], found["terms"]["queries"]["counted"]) == (1, 4)
    assert (found["rows"][0]["AP"], found["rows"][0]["P@5"], found["rows"][0]["rank"]) == (0.5, None, None)


@SQLITE
@pytest.mark.parametrize("kind", FORMATS)
def test_files_hide_what_the_page_hides(client: Client, field: Field, kind: str) -> None:
    field.run("Alder", {"AP": [0.6] * 4}, team="Thicket", label="secret-1")
    field.change(anonymous_until=NOW + 3650 * DAY)
    board = client("").get(f"/campaigns/news/2026.{kind}").text
    queries = client("").get(f"/campaigns/news/2026/queries/q1.{kind}").text
    for told in (board, queries):
        assert "Anonymous" in told
        assert not re.search("Alder|Thicket|secret", told)
    field.change(anonymous_until=None, results=Opening.NEVER)
    assert "Alder" not in client("").get(f"/campaigns/news/2026.{kind}").text
    assert "Alder" in client("organiser").get(f"/campaigns/news/2026.{kind}").text


ADDRESSES = {
    "board": "/campaigns/news/2026",
    "campaign": "/campaigns/news",
    "front": "/",
    "progress": "/campaigns/news/progress",
    "queries": "/campaigns/news/2026/queries",
    "system": "/teams/woods/alder",
    "query": "/campaigns/news/2026/queries/q1",
    "submission": "/submissions/{run}",
    "list": "/submissions/{run}/queries/q1",
}

ONE_LINE = [(0, RankedList(("d1",), np.array([0.5])))]  # a run of one line on q1, as a worker would have kept it


@SQLITE
@pytest.mark.parametrize("address", [address for name, address in ADDRESSES.items() if name != "front"])
@pytest.mark.parametrize("kind", FORMATS)
def test_every_table_is_a_file_at_the_same_address(client: Client, field: Field, address: str, kind: str) -> None:
    run = field.run("Alder", {"AP": [0.6] * 4, "P@5": [0.2] * 4}, team="Woods")
    client("").application.extensions["store"].keep_ranked_lists(run, 10, 1, ONE_LINE)
    answer = client("").get(f"{address.format(run=run)}.{kind}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Disposition"].endswith(f'.{kind}"')
    if kind == "json":
        assert json.loads(answer.text)["rows"]
    else:
        assert len(answer.text.splitlines()) > 1  # more than the names of the columns


@pytest.mark.parametrize("engine_name", ["sqlite"])  # the access matrix reads these pages on both
def test_no_link_of_the_pages_leads_nowhere(client: Client, field: Field) -> None:
    run = field.run("Alder", {"AP": [0.6] * 4, "P@5": [0.2] * 4}, team="Woods")
    field.run("Term matching", {"AP": [0.1] * 4}, kind=SystemKind.BASELINE)
    browser = client("")
    browser.application.extensions["store"].keep_ranked_lists(run, 10, 1, ONE_LINE)
    seen: set[str] = set()
    waiting = ["/"]
    while waiting:
        address = waiting.pop()
        others = r"^/(login|register|account|measures|static|bootstrap)|/submit|&|/submissions/2/queries"
        others += r"|\.json\?|/queries/q[2-4]\b.*\?"  # as the CSV file's, and as those of q1
        if address in seen or re.search(others, address):
            continue
        seen.add(address)
        answer = browser.get(address)
        assert answer.status_code in {200, 302, 308}, address
        if answer.content_type.startswith("text/html"):
            waiting += (unescape(link) for link in re.findall(r'href="(/[^"#]*)"', answer.text))
        assert len(seen) < 400
    assert {address.format(run=run) for address in ADDRESSES.values()} <= seen


def test_a_query_id_may_hold_what_an_address_has_to_quote(app: Flask, database: Any) -> None:
    field = Field(database)
    field.campaign()
    field.evaluation(qrels="q1 0 d 1\nq2 0 d 1\nq3 0 d 1\nq4 0 d 1\n")
    field.run("Alder", {"AP": [0.6] * 4})
    with database.write() as session:
        session.execute(sa.text("UPDATE query SET external_id = 'a/b?c#d' WHERE external_id = 'q2'"))
    browser = app.test_client()
    links = re.findall(r'href="([^"]*/queries/a[^"]*)"', browser.get("/campaigns/news/2026/queries").text)
    assert links
    assert "Query a/b?c#d" in text_of(browser.get(links[0]).text)


@SQLITE
def test_errors_at_the_addresses_of_files_are_not_pages(client: Client) -> None:
    answer = client("").get("/campaigns/news/2026.csv?measure=zzz")
    assert (answer.status_code, answer.mimetype) == (400, "text/plain")
    assert "zzz" in answer.text
    assert "<" not in answer.text
    answer = client("").get("/campaigns/news/none.json")
    assert (answer.status_code, answer.mimetype) == (404, "application/json")
    assert answer.json == {
        "status": 404,
        "error": "There is nothing here",
        "message": "The address may be mistyped, or what is there is not open to you.",
    }


def test_a_board_tells_organisers_alone_when_the_record_was_last_found_in_order(client: Client, field: Field) -> None:
    field.run("Alder", {"AP": [0.75] * 4})

    def said(name: str) -> str:
        page = client(name).get("/campaigns/news/2026")
        assert page.status_code == 200
        found = re.search(r"(?:The record was never verified|Record last found|The verification of)[^\n]*", page.text)
        return " ".join(unescape(re.sub(r"<[^>]*>", "", found[0])).replace(" (just now)", "").split()) if found else ""

    def verify(differences: int) -> str:
        report = Report(differences=[Difference("a", "b", "c", "d")] * differences)
        with field.database.write() as session:
            record_verification(session, CONSOLE, report, figures=False)
        with field.database.read() as session:
            at = session.scalars(sa.select(Event.at).where(Event.action == "verify").order_by(Event.id.desc())).first()
        assert at is not None
        return moment_in_words(at)

    assert said("organiser").startswith("The record was never verified: leaderboard verify does it.")
    clean = verify(differences=0)
    assert said("organiser").startswith(f"Record last found in order {clean}")
    differed = verify(differences=2)
    assert said("organiser").startswith(f"The verification of {differed} found 2 things in the record")
    assert f"The record was last found in order {clean}" in said("organiser")
    assert [said(name) for name in ("", "member", "other")] == ["", "", ""]


def test_a_board_takes_no_event_that_sql_inserted_for_a_verification(
    client: Client, field: Field, engine_name: str
) -> None:
    field.run("Alder", {"AP": [0.75] * 4})
    outcome = '{"clean": true, "differences": 0}'
    deep = "[" * 4000 + "]" * 4000
    odd = [outcome, deep, "[]", "{}", "5", '{"clean": 1}', *(["no JSON"] if engine_name == "sqlite" else [])]
    for facts in odd:
        with field.database.write() as session:
            session.connection().exec_driver_sql(
                "INSERT INTO event (id, at, action, subject, subject_id, facts, state, changed, previous_hash, hash)"
                " SELECT events + 1, '2026-01-01 00:00:00', 'verify', 'chain', 1,"
                f" '{facts}', '{{}}', '{{}}', head, '00' FROM chain"
            )
        page = client("organiser").get("/campaigns/news/2026")
        assert page.status_code == 200, facts[:40]
        assert "The record was never verified" in page.text, facts[:40]


def test_a_page_shows_the_beta_that_was_used_whatever_the_rows_of_campaign_and_set_say(
    app: Flask, field: Field, client: Client
) -> None:
    with field.database.write() as session:
        campaign = find_campaign(session, CONSOLE, "news")
        campaigns.change_campaign(session, CONSOLE, campaign, cost=0.5, value=1.0, prior=0.05)
    run = field.run("Alder", {"AP": [0.75] * 4})
    with field.database.write() as session:
        session.execute(sa.update(Scoring).values(beta=9.25))
        session.execute(sa.text("UPDATE campaign SET beta = 80, prior = 0.5"))  # open still: no trigger is in the way
    for address in ("/campaigns/news/2026", f"/submissions/{run}"):
        text = " ".join(client("organiser").get(address).text.split())
        assert "9.25, as the campaign states it" in text
        assert not re.search(r"\b80\b", re.sub(r"<[^>]*>", " ", text))  # digests hold any digits
