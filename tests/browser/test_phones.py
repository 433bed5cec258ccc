"""Pages with figures at 375 px: what is seen first, how high rows are, what can be touched."""

import datetime as dt
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page

from leaderboard.access import CONSOLE
from leaderboard.db import Database
from leaderboard.models import Team
from leaderboard.rules.standings import SystemKind
from leaderboard.services import campaigns, people, teams
from tests.support.browser import assert_accessible
from tests.support.field import Field
from tests.support.site import Site

MEASURES = ("AQWV", "AP", "P@5", "RR", "nDCG@10")
LINE = 24  # px
LONG = "A system whose name is as long as names may be"
BOARD = "/campaigns/news/2026"
PATHS = ("/", "/campaigns/news", BOARD, f"{BOARD}/queries", f"{BOARD}/queries/q1", "/campaigns/news/progress")
NO_ROWS = ("/submissions/1", "/api", f"{BOARD}/boards")  # whose tables, where they have any, may be higher


@pytest.fixture(scope="module")
def news(site: Site) -> Iterator[str]:
    """The address of a site with a campaign of four years."""
    database = Database.connect(site.environment["LEADERBOARD_DATABASE_URL"])
    field = Field(database, measures=MEASURES)
    field.campaign(beta=20.0)
    for year in range(2023, 2027):
        start = dt.datetime(year - 10, 1, 1, tzinfo=dt.UTC)
        tags = [("economy", "conceptual"), ("schooling", "phrase"), ("weather",), ()]
        dates = {"opens_at": start, "closes_at": start + dt.timedelta(days=30)}
        field.evaluation(str(year), period_key=year, **dates, tags=tags, description=f"Collection {'0c269c9c' * 8}.")
        for place, name in enumerate(("Alder", "Birch", LONG, "Term matching")):
            kind = SystemKind.BASELINE if name == "Term matching" else SystemKind.AUTOMATIC
            values = [0.2 * place, 0.3, 0.5, 0.1 * (year - 2022)]
            field.run(
                name,
                dict.fromkeys(MEASURES, values),
                evaluation=str(year),
                team="The long team" if name == LONG else "",
                kind=kind,
                label=f"run-of-{year}",
                received_at=start + dt.timedelta(days=1),
            )
    with database.write() as session:
        campaigns.create_campaign(session, CONSOLE, "talks", "Talks", measures=["AP"], primary_measure="AP")
    yield site.url
    database.close()


@pytest.mark.parametrize("path", PATHS)
def test_no_row_of_a_table_is_higher_than_two_lines(news: str, phone: Page, path: str) -> None:
    """So no row stands empty when its first column is scrolled away from what it names."""
    phone.goto(news + path)
    heights = phone.evaluate(
        "[...document.querySelectorAll('tbody tr:not(.stack tr)')].map(row => row.getBoundingClientRect().height)"
    )
    assert max(heights, default=0) <= 2 * LINE + 20 + (LINE if path == "/campaigns/news" else 0)


@pytest.mark.parametrize("path", [*PATHS, *NO_ROWS])
def test_no_page_is_wider_than_the_phone_however_long_a_word_of_it_is(news: str, phone: Page, path: str) -> None:
    phone.goto(news + path)
    assert phone.evaluate("document.documentElement.scrollWidth") == 375


@pytest.mark.parametrize("path", [*PATHS, *NO_ROWS])
def test_what_is_touched_is_24_px_high_and_wide_at_least(news: str, phone: Page, path: str) -> None:
    """Links within a sentence apart."""
    phone.goto(news + path)
    small = phone.evaluate(
        """[...document.querySelectorAll('a, button, summary, input, select')]
        .filter(one => one.checkVisibility() && !one.closest('.prose, .muted.small, .skip') && !one.matches('.skip'))
        .filter(one => Math.min(one.getBoundingClientRect().height, one.getBoundingClientRect().width) < 24)
        .map(one => one.outerHTML)"""
    )
    assert small == []


def test_the_ranking_measure_and_another_are_seen_on_a_board_without_scrolling(news: str, phone: Page) -> None:
    phone.goto(news + BOARD)
    heads = phone.locator("thead th").evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")
    assert heads[2] <= heads[3] <= 375


def test_a_baseline_has_its_whole_name_on_a_board_and_as_much_room_for_its_team_as_any_other(
    news: str, phone: Page
) -> None:
    phone.goto(news + BOARD)
    names = phone.locator(".board tbody th .under > a")
    assert len({box["x"] for one in names.all() if (box := one.bounding_box()) is not None}) == 1
    name = phone.locator(".board .baselines th > a")
    assert name.inner_text() == "Term matching"
    assert name.evaluate("one => one.scrollHeight <= one.clientHeight + 1")  # not cut
    rank = phone.locator(".board .baselines .rank .under")
    assert rank.inner_text() == "baseline"
    assert rank.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_a_run_on_the_account_page_takes_two_lines(site: Site, news: str, phone: Page) -> None:
    database = Database.connect(site.environment["LEADERBOARD_DATABASE_URL"])
    new = people.new_account("Ada of the phones", "correct horse battery")
    with database.write() as session:
        user = people.register(session, new)
        team = session.scalars(sa.select(Team).where(Team.slug == "the-long-team")).one()
        teams.add_member(session, CONSOLE, team, user)
    database.close()
    phone.goto(f"{news}/login")
    phone.get_by_label("Name or e-mail address").fill("Ada of the phones")
    phone.get_by_label("Password").fill("correct horse battery")
    phone.get_by_role("main").get_by_role("button", name="Log in").click()
    rows = phone.get_by_role("group", name="Latest runs of your teams").locator("tbody tr")
    rows.first.wait_for()
    heights = rows.evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert len(heights) == 4
    assert max(heights) <= 2 * LINE + 20


def test_the_median_and_the_best_are_seen_on_the_queries_page_without_scrolling(news: str, phone: Page) -> None:
    phone.goto(f"{news}{BOARD}/queries")
    for name in ("Median", "Best"):
        box = phone.get_by_role("columnheader", name=name, exact=True).bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 375


def test_the_newest_period_is_the_first_on_the_progress_page(news: str, phone: Page) -> None:
    phone.goto(f"{news}/campaigns/news/progress")
    box = phone.get_by_role("columnheader", name="2026").first.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 375
    assert phone.locator("thead").first.locator("th").all_inner_texts() == ["System", "2026", "2025", "2024", "2023"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["AQWV", "nDCG", "RBO"])
def test_a_formula_wider_than_the_phone_can_be_scrolled_by_keyboard(
    site: Site, new_page: Callable[..., Page], name: str, scheme: str
) -> None:
    page = new_page(viewport={"width": 300, "height": 800}, color_scheme=scheme)
    page.goto(f"{site.url}/measures/{name}")
    formula = page.get_by_role("group", name=f"Formula of {name}")
    formula.focus()
    wider = formula.evaluate("one => one.scrollWidth - one.clientWidth")
    cut = formula.locator("math").evaluate("one => one.scrollWidth - one.clientWidth")
    assert cut <= 1
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    if wider:
        page.wait_for_function("one => one.scrollLeft > 0", arg=formula.element_handle())
    assert_accessible(page)
