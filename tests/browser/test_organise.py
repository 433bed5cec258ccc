"""An organiser in a real browser: a campaign and its first evaluation, from nothing, and a look at every form."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, expect

from tests.support.browser import assert_accessible
from tests.support.site import Site

FILES = {
    "queries.tsv": "q1\tfirst query\nq2\tsecond query\n",
    "qrels.txt": "q1 0 d1 1\nq2 0 d1 0\nq2 0 d2 1\n",
    "bm25.run": "q1 Q0 d1 1 2 bm25\nq2 Q0 d1 1 2 bm25\nq2 Q0 d2 2 1 bm25\n",
}
PASSWORD = "a long enough password"
ROOM = "/organise/tide-track"
OF_CAMPAIGN = tuple(f"{ROOM}/{name}" for name in ("organisers", "systems", "trail", "submissions"))
OF_EVALUATION = tuple(f"{ROOM}/2026-text/{name}" for name in ("form", "queries", "submissions"))
PAGES = ("/organise", ROOM, *OF_CAMPAIGN, *OF_EVALUATION)
CHECKED = (f"{ROOM}/settings", *(f"{ROOM}/2026-text{path}" for path in ("", "/settings", "/clone", "/judgments")))


def test_an_organiser_makes_a_campaign_with_beta_worked_out_while_typing(
    here: Site, page: Page, new_page: Callable[..., Page]
) -> None:
    here.command("user", "add", "orla", "--password-stdin", text=PASSWORD)
    here.command("user", "founder", "orla")
    _log_in(page, here)
    page.get_by_role("link", name="Organise", exact=True).click()
    page.get_by_role("link", name="New campaign").click()
    assert_accessible(page)
    page.get_by_label("Title").fill("Tide track")
    expect(page.get_by_label("C, the cost")).to_be_hidden()
    page.get_by_label("Measures", exact=True).fill("AP nDCG@10")
    expect(page.get_by_label("C, the cost")).to_be_hidden()
    page.get_by_label("Measures", exact=True).fill("AQWV AP")
    expect(page.get_by_label("C, the cost")).to_be_visible()
    page.get_by_label("Find a measure").fill("reciprocal")
    page.get_by_label("Find a measure").press("Enter")
    page.get_by_role("button", name="Add RR", exact=True).click()
    expect(page.get_by_label("Measures", exact=True)).to_have_value("AQWV AP RR")
    page.get_by_label("C, the cost").fill("0.0333")
    page.get_by_label("V, the value").fill("1")
    expect(page.locator("[data-beta]")).to_have_text("Give C, V and P together, or none of them.")
    page.get_by_label("P, the share").fill("1/")
    expect(page.locator("[data-beta]")).to_have_text("No β: one of these is no number.")
    page.get_by_label("P, the share").fill("1/600")
    expect(page.locator("[data-beta]")).to_contain_text("= 19.9467")  # 0.0333 · (600 − 1)
    page.get_by_role("button", name="Make campaign").click()
    expect(page.get_by_text("Tide track is made. Next: its first evaluation.")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Make an evaluation")

    page.get_by_label("Title").fill("Tide 2026")
    page.get_by_label("Period", exact=True).fill("2026")
    page.get_by_label("Condition").fill("Text")
    page.get_by_label("Documents in the collection").fill("1800")
    expect(page.get_by_label("Time zone")).to_be_hidden()
    page.get_by_text("Time zone, grace and late runs").click()
    page.get_by_label("Time zone").fill("AoE")
    page.get_by_label("Closes").fill("2036-09-30T23:59")
    page.get_by_role("button", name="Show the dates in UTC").click()
    expect(page.get_by_text("= 1 Oct 2036, 11:59 UTC")).to_be_visible()
    expect(page.get_by_label("Time zone")).to_be_visible()  # it is not the default
    page.get_by_role("button", name="Make evaluation").click()
    expect(page.get_by_role("heading", name="3 things are left to do")).to_be_visible()

    phone = new_page(viewport={"width": 375, "height": 800})
    _log_in(phone, here)
    for path in (*PAGES, *CHECKED):
        phone.goto(here.url + path)
        assert phone.evaluate("document.documentElement.scrollWidth") == 375, path
        if path in CHECKED:
            assert_accessible(phone)


def test_from_an_empty_installation_to_a_public_campaign_with_a_baseline_in_25_clicks(
    site: Site, page: Page, tmp_path: Path
) -> None:
    """Each click on a link, button or file is counted; fields are reached by the Tab key."""
    site.command("user", "add", "rita", "--password-stdin", "--admin", text=PASSWORD)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    clicks, main = [], page.get_by_role("main")

    def click(role: Literal["link", "button"], name: str) -> None:
        clicks.append(name)
        main.get_by_role(role, name=name).last.click()

    def choose(name: str) -> None:
        clicks.append(name)
        main.locator('input[type="file"]:visible').first.set_input_files(tmp_path / name)

    def fill(**fields: str) -> None:
        for label, text in fields.items():
            main.locator(f"#{label}").fill(text)

    page.goto(site.url)
    clicks.append("Log in, in the head")
    page.get_by_role("link", name="Log in").first.click()
    main.get_by_label("Name or e-mail address").fill("rita")
    main.get_by_label("Password").fill(PASSWORD)
    click("button", "Log in")
    clicks.append("Organise, in the head")
    page.get_by_role("link", name="Organise", exact=True).click()
    click("link", "New campaign")
    fill(title="Reef track")
    click("button", "Add ranked retrieval")
    click("button", "Make campaign")
    fill(title="Reef 2026", period="2026", closes_at="2036-05-01T12:00")
    click("button", "Make evaluation")
    expect(main.get_by_role("heading", name="3 things are left to do")).to_be_visible()
    click("link", "Next: upload queries")
    choose("queries.tsv")
    click("button", "Preview")
    click("button", "Import 2 queries")
    click("link", "Next: upload judgments")
    choose("qrels.txt")
    click("button", "Preview")
    click("button", "Import 3 judgments")
    click("link", "Next: publish")
    click("button", "Publish")
    expect(main.get_by_text("opens to everybody, for good: texts and tags of queries")).to_be_visible()
    click("button", "Publish")
    expect(main.get_by_role("heading", name="Nothing is left to do")).to_be_visible()
    click("link", "Add a baseline run")
    fill(new_system="BM25")
    choose("bm25.run")
    click("button", "Add baseline run")
    expect(main.get_by_text("The baseline run is submitted.")).to_be_visible()
    page.goto(f"{site.url}/submissions/1")  # it updates by itself
    expect(main.get_by_text("0.750").first).to_be_visible(timeout=60_000)
    assert len(clicks) <= 25, clicks
    page.context.clear_cookies()
    page.goto(f"{site.url}/campaigns/reef-track/2026")
    # AP is 1 of q1 and 1/2 of q2; visitors read the mean rounded while two queries could be told from it.
    expect(main.get_by_role("row", name="BM25").get_by_role("cell").nth(1)).to_have_text("0.8")


def _log_in(page: Page, here: Site) -> None:
    page.goto(f"{here.url}/login")
    page.get_by_label("Name or e-mail address").fill("orla")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("orla")
