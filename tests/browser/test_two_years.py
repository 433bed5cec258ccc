"""Two years of a campaign, played in a browser by the people it is for: one brought in, the next from start to end."""

import datetime as dt
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.test_story import PASSWORD, SCORED_MILLISECONDS, fill, follow, make_team, press
from tests.support.browser import assert_accessible
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


def upload_judgments(page: Page, site: Site, file: Path) -> None:
    page.goto(f"{site.url}/organise/news/2026/judgments")
    page.locator("input[type=file]").first.set_input_files(file)
    press(page, "Preview")


def clone_the_year(page: Page, site: Site, judgments: Path, now: dt.datetime) -> None:
    """2026 has the same queries, dates of its own, and results after closing."""
    page.goto(f"{site.url}/organise/news/2025/clone")
    fill(page, title="News 2026", slug="2026", period="2026")
    page.locator("#opens_at").fill((now - dt.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M"))
    page.locator("#closes_at").fill((now + dt.timedelta(days=30)).strftime("%Y-%m-%dT%H:%M"))
    choose(page, "Copy the queries too")
    page.get_by_role("group", name="The board is public").get_by_label("once the evaluation has closed").check()
    page.locator("#draft").uncheck()
    press(page, "Make evaluation")
    expect(page.get_by_role("heading", level=1)).to_have_text("News 2026")
    assert_accessible(page)
    upload_judgments(page, site, judgments)
    expect(page.get_by_role("main")).to_contain_text("Nothing has been written yet.")
    assert_accessible(page)
    press(page, "Yes, make a revision")


def revise_judgments(page: Page, site: Site, judgments: Path) -> None:
    """The board switches when all is scored, and says what moved."""
    upload_judgments(page, site, judgments)
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


def test_two_years_of_a_campaign(site: Site, page: Page, new_page: Callable[..., Page], tmp_path: Path) -> None:
    files = {
        "queries.tsv": QUERIES, "qrels.txt": JUDGED, "qrels-2.txt": JUDGED_AGAIN, "manifest.toml": MANIFEST,
        "lantern.run": run_of("bad", "good"), "c.run": run_of("late", "bad", "good"),
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for name in ("orla", "cora"):
        site.command("user", "add", name, "--password-stdin", text=f"{PASSWORD}\n")
    site.command("user", "founder", "orla")
    visitor, cora, now = new_page(), new_page(), dt.datetime.now(dt.UTC)
    log_in(page, site, "orla")
    site.command("import-campaign", tmp_path, "--as", "orla")
    board = f"{site.url}/campaigns/news/2025"
    wait_until(lambda: page.goto(board) and page.get_by_role("row").filter(has_text="Lantern").count(), "its scores")
    expect(page.get_by_role("row").filter(has_text="Lantern")).to_contain_text("Old Hands")
    assert mean_of(page, "Lantern") == "0.5"
    clone_the_year(page, site, tmp_path / "qrels.txt", now)

    log_in(cora, site, "cora")
    make_team(cora, "Cedar")
    cora.goto(f"{site.url}/campaigns/news/2026/submit")
    fill(cora, system_name="Curlew")
    choose(cora, "Primary")
    cora.locator("#run").set_input_files(tmp_path / "c.run")
    press(cora, "Submit run")
    expect(cora.get_by_role("heading", name="Results")).to_be_visible(timeout=SCORED_MILLISECONDS)
    visitor.goto(f"{site.url}/campaigns/news/2026")
    assert "Curlew" not in visitor.content()
    page.goto(f"{site.url}/campaigns/news/2026")
    assert mean_of(page, "Curlew") == str(1 / 3)
    revise_judgments(page, site, tmp_path / "qrels-2.txt")

    # The year closes, and its results open.
    page.goto(f"{site.url}/organise/news/2026/settings")
    page.locator("#closes_at").fill((now - dt.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M"))
    choose(page, "Publish the judgments")
    press(page, "Save settings")
    expect(page.get_by_role("alert")).to_contain_text("News 2026 closes at once")
    assert_accessible(page)
    press(page, "Yes, save")
    visitor.goto(f"{site.url}/campaigns/news/2026")
    expect(visitor.get_by_role("row").filter(has_text="Curlew")).to_contain_text("Cedar")
    assert_accessible(visitor)
    visitor.goto(f"{site.url}/campaigns/news/progress")
    expect(visitor.get_by_role("main")).to_contain_text("Lantern")
    cora.goto(f"{site.url}/campaigns/news/2026/submit")
    expect(cora.get_by_role("main")).to_contain_text("takes no late runs")
    assert site.command("verify", "--figures").startswith("nothing differs: ")
