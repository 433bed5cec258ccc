"""A board of fifteen systems in a browser: what its first screen shows, in what light, and on paper."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from leaderboard.db import Database
from leaderboard.submissions.rules import SystemKind
from tests.support.browser import assert_accessible
from tests.support.field import Field, about
from tests.support.site import Site

MEASURES = ("AQWV", "AP", "Pfa", "P@5", "RR", "nDCG@10")
QRELS = "".join(f"q{number} 0 d 1\n" for number in range(1, 21))
SEEN = "all => all.filter(one => one.getBoundingClientRect().bottom <= innerHeight).length"


@pytest.fixture(scope="module")
def board(here: Site) -> Iterator[str]:
    """The address of a board with a long description and tags, of which two systems may be the best."""
    database = Database.connect(here.environment["LEADERBOARD_DATABASE_URL"])
    field = Field(database, measures=MEASURES)
    field.campaign(beta=20.0)
    tags = [("economy",), ("weather",)] * 10
    more = {"description": "Reports of all harbours. " * 20, "collection": "Reports, simulated", "condition": "text"}
    field.evaluation(qrels=QRELS, tags=tags, **more)
    for place in range(15):
        name = "A system whose name is as long as names may be, sixty marks" if place == 3 else f"System {place}"
        values = about(0.9 if place < 2 else 0.5 - place / 50)
        field.run(name, dict.fromkeys(MEASURES, values), label=f"run-of-{place}", team=f"Team {place}")
    field.run("Matching", dict.fromkeys(MEASURES, about(0.1)), kind=SystemKind.BASELINE, team="Baselines")
    field.refresh()
    yield f"{here.url}/campaigns/news/2026"
    database.close()


@pytest.mark.parametrize(("width", "height", "least", "highest"), [(1440, 900, 12, 40), (375, 812, 4, 60)])
def test_the_first_screen_shows_the_board(
    board: str, new_page: Callable[..., Page], width: int, height: int, least: int, highest: int
) -> None:
    page = new_page(viewport={"width": width, "height": height}, color_scheme="light")
    page.goto(board)
    rows = page.locator("table.board tbody tr")
    assert rows.evaluate_all(SEEN) >= least
    assert max(rows.evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")) <= highest
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert_accessible(page)
    page.get_by_role("link", name="Show intervals").click()
    expect(rows.nth(1).get_by_role("cell").nth(2)).to_have_text(re.compile(r"^0\.\d{3} to [01]\.\d{3}$"))
    assert_accessible(page)
    page.emulate_media(color_scheme="dark")
    page.reload()  # a page that stands changes its colours step by step
    assert_accessible(page, colours=True)


def test_a_printed_board_names_its_campaign_and_marks_who_may_be_the_best(
    board: str, new_page: Callable[..., Page]
) -> None:
    page = new_page(viewport={"width": 718, "height": 1000})  # A4 between margins
    page.emulate_media(media="print")
    page.goto(board)
    assert page.evaluate("document.documentElement.scrollWidth") == 718  # no column is left out
    expect(page.get_by_text("News search")).to_be_visible()
    expect(page.get_by_text("Rows with * are shaded on the screen")).to_be_visible()
    before = "all => all.map(one => getComputedStyle(one, '::before').content)"
    marks = page.locator(".board .rank").evaluate_all(before)
    assert [mark == '"* "' for mark in marks[:4]] == [False, True, True, False]
    expect(page.get_by_role("link", name="Show intervals")).to_be_hidden()
    expect(page.get_by_text(re.compile(r"^http://.*/boards/\d+$"))).to_be_visible()  # the address that stays
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.get_by_text(re.compile(r"/boards/\d+, printed on \d+ \w+ \d{4}$"))).to_be_visible()
    page.emulate_media(media="screen")
    expect(page.get_by_text(re.compile(r"/boards/\d+, printed on"))).to_be_hidden()
