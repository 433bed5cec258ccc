"""Two years of a campaign, played in a browser by the people it is for: one brought in, the next from start to end."""

import datetime as dt
import json
import re
import urllib.request
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from leaderboard.client import Client
from tests.browser.test_story import PASSWORD, SCORED_MILLISECONDS, fill, follow, make_team, press
from tests.support.browser import Console, assert_accessible
from tests.support.site import Site
from tests.support.waiting import wait_until

QUERIES = "q1\tfirst query\nq2\tsecond query\nq3\tthird query\nq4\tfourth query\nq5\tfifth query\n"
# Each query has one relevant document at first; the second revision finds another one for each of q1 to q3.
JUDGED = "".join(f"q{number} 0 good{number} 1\nq{number} 0 bad{number} 0\n" for number in range(1, 6))
JUDGED_AGAIN = JUDGED + "".join(f"q{number} 0 late{number} 1\n" for number in range(1, 4))
MANIFEST = """
[campaign]
slug = "news"
title = "News search"
visibility = "public"
measures = ["AP"]

[[team]]
name = "Old Hands"
[[team.system]]
name = "Lantern"

[[evaluation]]
slug = "2025"
title = "News 2025"
period = "2025"
opens_at = 2025-03-01
closes_at = 2025-04-01
queries = "queries.tsv"
judgments = "qrels.txt"
[[evaluation.run]]
file = "lantern.run"
team = "Old Hands"
system = "Lantern"
date = 2025-03-20
"""


def run_of(*documents: str) -> str:
    """A run with the same kind of document at each rank of all five queries."""
    lines = [
        f"q{query} Q0 {document}{query} {rank} {9 - rank} run\n"
        for query in range(1, 6)
        for rank, document in enumerate(documents, 1)
    ]
    return "".join(lines)


def log_in(page: Page, site: Site, name: str) -> None:
    page.goto(f"{site.url}/login")
    fill(page, name=name, password=PASSWORD)
    press(page, "Log in")


def choose(page: Page, label: str) -> None:
    page.get_by_label(label).check()


def mean_of(page: Page, system: str) -> str:
    row = page.get_by_role("row").filter(has_text=system).first
    return row.locator("td.figure data").first.get_attribute("value") or ""


def new_token(page: Page, site: Site) -> str:
    page.goto(f"{site.url}/account/tokens/new")
    fill(page, name="a program", current=PASSWORD)
    page.get_by_label("Submit runs").check()
    press(page, "Make token")
    return page.locator("code.whole").inner_text()


def send_by_api(site: Site, token: str, run: str) -> int:
    """A run of team Brook through the API, without any client of ours."""
    boundary = "between-the-parts"
    parts = {"team": "brook", "new_system": "Bittern", "designation": "primary"}
    body = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'
        for name, text in parts.items()
    )
    file = 'Content-Disposition: form-data; name="run"; filename="b.run"'
    body += f"--{boundary}\r\n{file}\r\n\r\n{run}\r\n--{boundary}--\r\n"
    request = urllib.request.Request(
        f"{site.url}/api/v1/campaigns/news/evaluations/2026/submissions",
        body.encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": f"multipart/form-data; boundary={boundary}"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        number: int = json.load(answer)["id"]
    return number


def upload_judgments(page: Page, site: Site, file: Path) -> None:
    page.goto(f"{site.url}/organise/news/2026/judgments")
    page.locator("input[type=file]").first.set_input_files(file)
    press(page, "Preview")


def test_two_years_of_a_campaign(
    site: Site, page: Page, new_page: Callable[..., Page], console: Console, tmp_path: Path
) -> None:
    files = {
        "queries.tsv": QUERIES, "qrels.txt": JUDGED, "qrels-2.txt": JUDGED_AGAIN, "manifest.toml": MANIFEST,
        "lantern.run": run_of("bad", "good"), "a.run": run_of("good", "bad"), "c.run": run_of("late", "bad", "good"),
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for name in ("orla", "anna", "bob", "cora"):
        site.command("user", "add", name, "--password-stdin", text=f"{PASSWORD}\n")
    site.command("user", "founder", "orla")
    visitor = new_page()

    # An organiser sets up a draft, which nobody else knows of.
    log_in(page, site, "orla")
    page.goto(f"{site.url}/organise")
    follow(page, "Make a campaign")
    page.get_by_text("Its address", exact=True).click()
    fill(page, title="News search", slug="news", measures="AP P@5 nDCG@10")
    press(page, "Make campaign")
    assert_accessible(page)
    console.expect("status of 404")
    assert visitor.goto(f"{site.url}/campaigns/news").status == 404  # type: ignore[union-attr]  # it answers

    # 2025 comes from a folder, with its date.
    site.command("import-campaign", tmp_path, "--as", "orla")
    board = f"{site.url}/campaigns/news/2025"
    wait_until(lambda: page.goto(board) and page.get_by_role("row").filter(has_text="Lantern").count(), "its scores")
    expect(page.get_by_role("row").filter(has_text="Lantern")).to_contain_text("Old Hands")
    assert mean_of(page, "Lantern") == "0.5"

    # 2026 is its clone: the same queries, dates of its own, results after closing.
    now = dt.datetime.now(dt.UTC)
    page.goto(f"{site.url}/organise/news/2025/clone")
    fill(page, title="News 2026", slug="2026", period="2026")
    page.locator("#opens_at").fill((now - dt.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M"))
    page.locator("#closes_at").fill((now + dt.timedelta(days=30)).strftime("%Y-%m-%dT%H:%M"))
    choose(page, "Copy the queries too")
    page.get_by_role("group", name="The board is public").get_by_label("once the evaluation has closed").check()
    page.locator("#draft").uncheck()
    press(page, "Make evaluation")
    expect(page.get_by_role("heading", level=1)).to_have_text("News 2026")
    expect(page.get_by_role("main")).to_contain_text("judgments")
    assert_accessible(page)
    upload_judgments(page, site, tmp_path / "qrels.txt")
    expect(page.get_by_role("main")).to_contain_text("Nothing has been written yet.")
    assert_accessible(page)
    press(page, "Yes, make a revision")
    page.goto(f"{site.url}/organise/news/settings")
    choose(page, "Public: everybody")
    press(page, "Save settings")
    expect(page.get_by_role("alert")).to_contain_text("News 2025 opens to everybody, for good: the board")
    press(page, "Yes, save")
    visitor.goto(f"{site.url}/campaigns/news")
    expect(visitor.get_by_role("main")).to_contain_text("News 2026")

    # Three teams submit: by form, by API, by the client.
    anna = new_page()
    log_in(anna, site, "anna")
    make_team(anna, "Alder")
    anna.goto(f"{site.url}/campaigns/news/2026/submit")
    fill(anna, system_name="Avocet")
    choose(anna, "Primary")
    anna.locator("#run").set_input_files(tmp_path / "a.run")
    press(anna, "Submit run")
    expect(anna.get_by_role("heading", name="Results")).to_be_visible(timeout=SCORED_MILLISECONDS)
    bob = new_page()
    log_in(bob, site, "bob")
    make_team(bob, "Brook")
    token = new_token(bob, site)
    by_api = send_by_api(site, token, run_of("worse", "bad", "good"))
    assert Client(site.url, token).wait(by_api, seconds=60)["state"] == "scored"
    cora = new_page()
    log_in(cora, site, "cora")
    make_team(cora, "Cedar")
    client = Client(site.url, new_token(cora, site))
    sent = client.submit("news/2026", tmp_path / "c.run", team="cedar", new_system="Curlew", designation="primary")
    assert client.wait(sent["id"], seconds=60)["state"] == "scored"
    visitor.goto(f"{site.url}/campaigns/news/2026")
    assert "Curlew" not in visitor.content()
    page.goto(f"{site.url}/campaigns/news/2026")
    assert [mean_of(page, system) for system in ("Avocet", "Bittern", "Curlew")] == ["1.0", str(1 / 3), str(1 / 3)]

    # Judgments are revised: the board switches when all is scored, and says what moved.
    upload_judgments(page, site, tmp_path / "qrels-2.txt")
    expect(page.get_by_role("main")).to_contain_text("3 added, 0 removed")
    press(page, "Yes, make a revision")
    # Curlew finds both relevant documents of q1 to q3, at ranks 1 and 3, and one at 3 of q4 and q5.
    expected = (3 * (1 + 2 / 3) / 2 + 2 / 3) / 5

    def switched() -> bool:
        page.goto(f"{site.url}/campaigns/news/2026")
        return abs(float(mean_of(page, "Curlew")) - expected) < 1e-9

    wait_until(switched, "the board by the second revision", SCORED_MILLISECONDS / 1000)
    page.goto(f"{site.url}/campaigns/news/2026/boards")
    follow(page, re.compile("What moved"))
    expect(page.get_by_role("row").filter(has_text="Curlew")).to_contain_text("0.633")
    assert_accessible(page)

    # The year closes, and its results open.
    page.goto(f"{site.url}/organise/news/2026/settings")
    page.locator("#closes_at").fill((now - dt.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M"))
    choose(page, "Publish the judgments")
    press(page, "Save settings")
    expect(page.get_by_role("alert")).to_contain_text(
        "the board; results by query, which reveal judgments; the judgments"
    )
    expect(page.get_by_role("alert")).to_contain_text("News 2026 closes at once")
    assert_accessible(page)
    press(page, "Yes, save")
    visitor.goto(f"{site.url}/campaigns/news/2026")
    expect(visitor.get_by_role("row").filter(has_text="Curlew")).to_contain_text("Cedar")
    assert_accessible(visitor)
    visitor.goto(f"{site.url}/campaigns/news/progress")
    expect(visitor.get_by_role("main")).to_contain_text("Lantern")
    assert visitor.goto(f"{site.url}/submissions/{by_api}").status == 200  # type: ignore[union-attr]  # it answers
    anna.goto(f"{site.url}/campaigns/news/2026/submit")
    expect(anna.get_by_role("main")).to_contain_text("takes no late runs")
    assert site.command("verify", "--figures").startswith("nothing differs: ")
