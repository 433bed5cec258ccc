"""An organiser in a real browser: a campaign and its first evaluation, from nothing, and a look at every form."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.support.browser import assert_accessible
from tests.support.site import Site

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
    page.get_by_role("link", name="Make a campaign").click()
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


def _log_in(page: Page, here: Site) -> None:
    page.goto(f"{here.url}/login")
    page.get_by_label("Name or e-mail address").fill("orla")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("orla")
