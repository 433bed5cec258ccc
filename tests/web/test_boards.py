"""The pages of boards, queries, lists, progress and systems, and the same tables as files."""

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
from leaderboard.audit.verify import Difference, Report, record_verification
from leaderboard.campaigns import writes as campaigns
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import find_campaign
from leaderboard.evaluations.rules import Opening
from leaderboard.judgments.writes import exclude_queries
from leaderboard.store import RankedList
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SystemKind
from leaderboard.submissions.writes.run_store import bind
from leaderboard.teams import writes as teams
from leaderboard.teams.rules import Role
from leaderboard.web.exports import FORMATS
from tests.support import latex
from tests.support.field import DAY, NAN, NOW, Field, about
from tests.support.pages import table_of, text_of
from tests.support.world import new_account, signed_in
from tests.web.conftest import BOTH, browser_of

Client = Callable[[str], FlaskClient]


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


def test_the_board_as_csv_has_all_digits_and_empty_cells_for_what_is_undefined(client: Client, field: Field) -> None:
    field.run("Alder", {"AP": [1 / 3] * 4, "P@5": [NAN] * 4}, means={"AP": 1 / 3}, label="=1+1")
    (row,) = table_of(client("").get("/campaigns/news/2026.csv"))
    assert (row["rank"], row["system"], row["team"], row["AP"], row["P@5"]) == (
        "1", "Alder", "Team Alder", "0.3333333333333333", "",
    )  # fmt: skip
    assert row["label"] == "'=1+1"  # no spreadsheet takes it for a formula


def test_a_run_with_holes_is_marked_and_named(client: Client, field: Field) -> None:
    shares = {"Alder": 0.96, "Birch": 0.97, "Cedar": 0.97, "Dogwood": 0.98, "Elder": 0.62}
    runs = {name: field.run(name, {"AP": [0.5] * 4, "Judged@10": [own] * 4}) for name, own in shares.items()}
    page = client("").get("/campaigns/news/2026").text
    marked = [row for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL) if "holes:" in row]
    assert ["Elder" in row and "holes: 62 % judged" in text_of(row) for row in marked] == [True]
    assert "more than 0.2 below the systems’ median (97 %)." in text_of(page)
    own = text_of(client("").get(f"/submissions/{runs['Elder']}").text)
    assert "Of its first ten documents 62 % are judged; the median of the systems is 97 %. holes" in own


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


def test_a_board_in_a_paper_has_the_columns_that_its_reader_chose_and_the_address_that_stays(
    client: Client, field: Field
) -> None:
    for system, mean in {"Alder": 0.6, "Birch": 0.7}.items():
        field.run(system, {"AP": [mean] * 4, "P@5": [1 - mean] * 4})
    address = "/campaigns/news/2026.tex?columns=P@5&measure=AP"
    (number,) = re.findall(
        r"% http://localhost:8000/campaigns/news/2026/boards/(\d+)\?measure=AP\n", client("").get(address).text
    )
    text = client("").get(address).text
    assert latex.table_in(text) == [
        ["Rank", "System", "Team", "AP ↑", "P@5 ↑"],
        ["1", "Birch", "Team Birch", r"\textbf{0.700}", "0.300"],
        ["2", "Alder", "Team Alder", "0.600", r"\textbf{0.400}"],
    ]
    assert re.search(r"\\caption\{News search, The year 2026. Board of [^.]+ by AP, judgments revision 1\. Bold", text)
    assert client("").get(f"/campaigns/news/2026/boards/{number}").status_code == 200


def test_rank_sets_of_a_board_in_a_paper_mark_who_may_be_the_best(client: Client, field: Field) -> None:
    field.evaluation("2027", tags=[()] * 20)
    for system, mean in {"Alder": 0.6, "Birch": 0.601, "Cedar": 0.1}.items():
        field.run(system, {"AP": about(mean), "P@5": about(mean)}, evaluation="2027")
    field.refresh()
    head, *rows = latex.table_in(client("").get("/campaigns/news/2027.tex").text)
    assert head[:3] == ["Rank", "Rank set", "System"]
    assert [row[1:3] + row[4:] for row in rows] == [
        ["1–2", "Birch", r"\textbf{0.601}", r"\textbf{0.601}"],
        ["1–2", "Alder", "0.600†", "0.600"],
        ["3", "Cedar", "0.100", "0.100"],
    ]


def test_the_values_of_a_board_have_a_row_a_query_and_a_column_a_run(client: Client, field: Field) -> None:
    alder = field.run("=Alder", {"AP": [0.1, 0.2, NAN, NAN], "P@5": [0.0] * 4})
    terms = field.run("Terms", {"AP": [0.3, 0.4, 0.5, NAN]}, kind=SystemKind.BASELINE)
    text = client("").get("/campaigns/news/2026/values.csv").text
    assert text.splitlines() == [f"query,Terms ({terms}),'=Alder ({alder})", "q1,0.3,0.1", "q2,0.4,0.2", "q3,0.5,"]
    content = client("").get("/campaigns/news/2026/values.json?measure=P@5").json
    assert content
    assert content["measure"]["name"] == "P@5"
    assert content["runs"][f"=Alder ({alder})"] == {"submission": alder, "system": "=Alder", "team": "Team =Alder"}
    assert content["rows"][3] == {"query": "q4", f"Terms ({terms})": None, f"=Alder ({alder})": 0.0}
    old = f"/campaigns/news/2026/boards/{content['scoring_set']}/values.json?measure=P@5"
    assert client("").get(old).json == content
    assert "/campaigns/news/2026/values.csv" in client("").get("/campaigns/news/2026").text


@BOTH
def test_values_leave_out_queries_that_do_not_count_or_have_another_tag(app: Flask, database: Any) -> None:
    field = Field(database).campaign().evaluation(tags=[["law"], [], ["law"], []])
    values = {"AP": [0.1, 0.2, 0.3, 0.4]}
    run, browser = field.run("Alder", values), app.test_client()
    rows = table_of(browser.get("/campaigns/news/2026/values.csv?tag=law"))
    assert [row["query"] for row in rows] == ["q1", "q3"]
    with field.database.write() as session:
        exclude_queries(session, CONSOLE, session.scalars(sa.select(Evaluation)).one(), ["q2"], "unclear")
    field.score_again({run: values})
    rows = table_of(browser.get("/campaigns/news/2026/values.csv"))
    assert [row["query"] for row in rows] == ["q1", "q3", "q4"]


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


def test_no_link_of_the_pages_leads_nowhere(client: Client, field: Field) -> None:
    run = field.run("Alder", {"AP": [0.6] * 4, "P@5": [0.2] * 4}, team="Woods")
    field.run("Term matching", {"AP": [0.1] * 4}, kind=SystemKind.BASELINE)
    browser = client("")
    bind(field.database, browser.application.extensions["store"])
    browser.application.extensions["store"].keep_ranked_lists(run, 10, 1, ONE_LINE)
    seen: set[str] = set()
    waiting = ["/"]
    while waiting:
        address = waiting.pop()
        others = r"^/(login|register|account|measures|static|bootstrap)|/submit|&|/submissions/2/queries"
        others += r"|\.(json|md|tex|svg|png)\?|/queries/q[2-4]\b.*\?"  # as the CSV file's, and as those of q1
        if address in seen or re.search(others, address):
            continue
        seen.add(address)
        answer = browser.get(address)
        assert answer.status_code in {200, 302, 308}, address
        if answer.content_type.startswith("text/html"):
            waiting += (unescape(link) for link in re.findall(r'href="(/[^"#]*)"', answer.text))
        assert len(seen) < 600
    assert {address.format(run=run) for address in ADDRESSES.values()} <= seen


@BOTH
def test_a_query_id_may_hold_what_an_address_has_to_quote(app: Flask, database: Any) -> None:
    field = Field(database).campaign().evaluation(qrels="q1 0 d 1\nq2 0 d 1\nq3 0 d 1\nq4 0 d 1\n")
    field.run("Alder", {"AP": [0.6] * 4})
    with database.write() as session:
        session.execute(sa.text("UPDATE query SET external_id = 'a/b?c#d' WHERE external_id = 'q2'"))
    browser = app.test_client()
    links = re.findall(r'href="([^"]*/queries/a[^"]*)"', browser.get("/campaigns/news/2026/queries").text)
    assert links
    assert "Query a/b?c#d" in text_of(browser.get(links[0]).text)


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
        "message": "The address may be mistyped, or the page is not open to you.",
    }


def test_a_board_tells_organisers_alone_when_the_record_was_last_found_in_order(client: Client, field: Field) -> None:
    def said(name: str) -> list[str]:
        page = text_of(client(name).get("/campaigns/news/2026").text)
        return re.findall("The record was never verified|Record last found in order|found [0-9]+ things", page)

    def verify(differences: int) -> None:
        report = Report(differences=[Difference("a", "b", "c", "d")] * differences)
        with field.database.write() as session:
            record_verification(session, CONSOLE, report, figures=False)

    assert said("organiser") == ["The record was never verified"]
    verify(differences=0)
    assert said("organiser") == ["Record last found in order"]
    verify(differences=2)
    assert said("organiser") == ["found 2 things"]
    assert [said(name) for name in ("", "member", "other")] == [[], [], []]


@BOTH
def test_a_board_takes_no_event_that_sql_inserted_for_a_verification(
    client: Client, field: Field, engine_name: str
) -> None:
    field.run("Alder", {"AP": [0.75] * 4})
    outcome = '{"clean": true, "differences": 0}'
    deep = "[" * 4000 + "]" * 4000
    odd = [outcome, deep, "[]", '{"clean": 1}', *(["no JSON"] if engine_name == "sqlite" else [])]
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


def test_a_board_says_nothing_twice(client: Client, field: Field) -> None:
    """A run's label that is its system's name, a kind that all have, and that a date is assumed: once for all."""
    page = client("")

    def shown() -> str:
        return text_of(page.get("/campaigns/news/2026").text)

    field.run("Alder", {"AP": [0.6] * 4}, label="ALDER")
    field.run("Birch", {"AP": [0.5] * 4}, label="birch-2026")
    field.run("Term matching", {"AP": [0.1] * 4}, kind=SystemKind.BASELINE)
    with field.database.write() as session:
        session.execute(sa.update(Submission).where(Submission.label != "").values(received_assumed=True))
    board = shown()
    assert "ALDER" not in board
    assert "Team Birch · birch-2026" in board
    assert ("Kind" in board, "All systems are automatic." in board) == (False, True)
    assert (board.count("assumed"), len(re.findall(r"~ \d+ [A-Z]", board))) == (1, 2)
    field.run("Cedar", {"AP": [0.4] * 4}, kind=SystemKind.MANUAL)
    assert ("Kind" in shown(), "All systems are" in shown()) == (True, False)


def test_intervals_are_a_column_where_the_address_asks(app: Flask, twenty_queries: Field) -> None:
    twenty_queries.run("Alder", {"AP": [1.0, 0.0] * 10}, intervals={"AP": (0.25, 0.75)})
    browser, board = app.test_client(), "/campaigns/news/2026"
    plain, asked = (browser.get(address).text for address in (board, f"{board}?intervals=yes"))
    assert "95&nbsp;% interval" not in plain
    assert f'href="{board}?intervals=yes"' in plain
    assert "0.250 to 0.750" in text_of(asked)
    assert re.search(r'href="[^"]*intervals=yes[^"]*"[^>]*>all<', asked), "other links forget it"


def test_a_measure_of_which_less_is_better_says_so_in_its_head(app: Flask, database: Any) -> None:
    field = Field(database, measures=("AP", "Pfa")).campaign(beta=20.0).evaluation()
    field.run("Alder", {"AP": [0.5] * 4, "Pfa": [0.1] * 4})
    field.run("Birch", {"AP": [0.4] * 4, "Pfa": [0.000075] * 4})
    page = app.test_client().get("/campaigns/news/2026").text
    head = re.search("<thead>.*?</thead>", page, re.DOTALL)
    assert head
    assert text_of(head[0]).count("lower is better") == 1
    assert ">0.1000</data>\u2007\u2007<" in page  # the points of a column stand below each other
    assert ">0.000075</data><" in page


def test_a_slash_at_the_end_of_an_address_leads_to_its_page_and_nowhere_else(client: Client) -> None:
    browser = client("")
    for address, page in {
        "/campaigns/news/": "/campaigns/news",
        "/campaigns/news/2026/?show=all": "/campaigns/news/2026?show=all",
        "/campaigns": "/",
    }.items():
        answer = browser.get(address)
        assert answer.status_code == 308, address
        assert answer.location.removeprefix("http://localhost") == page
    assert browser.get("/nothing/").status_code == 404
    for path in ("//elsewhere.example/", "//elsewhere.example/campaigns/news/", "/\\elsewhere.example/"):
        answer = browser.get("/", environ_overrides={"PATH_INFO": path})
        assert answer.status_code == 404 or answer.location.startswith("http://localhost/"), path


def test_the_head_of_a_page_names_its_campaign_and_says_what_it_is(client: Client, field: Field) -> None:
    field.run("Alder", {"AP": [0.5] * 4})
    for address in ("/campaigns/news", "/campaigns/news/2026", "/campaigns/news/2026/queries", "/submissions/1"):
        head = client("").get(address).text.partition("</head>")[0]
        title = re.search("<title>(.*?)</title>", head)
        assert title
        assert title[1].count("News search") == 1, address
        assert f'property="og:url" content="http://localhost{address}"' in head
        assert 'name="description" content="Articles of a year."' in head
        assert f'property="og:title" content="{title[1].removesuffix(" · Leaderboard")}"' in head
    assert "og:" not in client("").get("/campaigns/none").text
    assert "News search" in client("organiser").get("/organise/news/2026/queries").text.partition("</title>")[0]


def test_a_campaign_leads_to_the_form_of_each_evaluation_that_is_open(client: Client, field: Field) -> None:
    def links() -> list[list[str]]:
        """In the head of the campaign's page, and in its table."""
        parts = client("").get("/campaigns/news").text.partition("<table")
        return [[*dict.fromkeys(re.findall(r'href="([^"]+)"[^>]*>Submit run<', part))] for part in parts[::2]]

    field.evaluation("2027", closes_at=DAY + NOW)
    form = "/campaigns/news/{}/submit"
    assert links() == [[], []]
    field.change("2027", closes_at=None)
    assert links() == [[form.format("2027")], []]
    field.change("2026", closes_at=None)
    assert links() == [["#evaluations"], [form.format("2027"), form.format("2026")]]
