"""A board of 31 runs by 24 measures in a browser: what stays in sight, which columns are there, two rows compared."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from leaderboard.db import Database
from tests.support.browser import assert_accessible
from tests.support.field import Field
from tests.support.site import Site

MEASURES = tuple(f"P@{cutoff}" for cutoff in range(1, 25))
LEFT = "cell => Math.round(cell.getBoundingClientRect().left)"
SEEN = "all => all.filter(one => one.getBoundingClientRect().bottom <= innerHeight).length"
UNFOLD = "document.querySelectorAll('details').forEach(one => { one.open = true; })"


@pytest.fixture(scope="module")
def board(here: Site) -> Iterator[str]:
    database = Database.connect(here.environment["LEADERBOARD_DATABASE_URL"])
    field = Field(database, measures=MEASURES).campaign().evaluation()
    for number in range(31):
        field.run(f"System {number}", dict.fromkeys(MEASURES, [0.9 - number / 50] * 4))
    tags = [(f"{kind}-{query}", f"{kind}-all") for query, kind in enumerate(("law", "sport", "health", "travel"))]
    field.evaluation("2026-speech", tags=tags, period="2026", condition="Speech")
    for number in range(3):
        field.run(f"System {number}", {"P@1": [number / 4] * 4}, evaluation="2026-speech")
    yield f"{here.url}/campaigns/news/2026"
    database.close()


@pytest.mark.parametrize(("width", "height", "pinned", "least"), [(1440, 900, 3, 12), (375, 812, 2, 4)])
def test_rank_system_and_where_there_is_room_the_primary_measure_stay_while_the_board_scrolls(
    board: str, new_page: Callable[..., Page], width: int, height: int, pinned: int, least: int
) -> None:
    page = new_page(viewport={"width": width, "height": height}, color_scheme="light")
    page.goto(board)
    rows = page.locator("table.board tbody tr")
    assert rows.evaluate_all(SEEN) >= least
    assert page.evaluate("document.documentElement.scrollWidth") == width
    cells = rows.nth(1).locator("> *")
    before = [cells.nth(index).evaluate(LEFT) for index in range(4)]
    scrolled = page.locator(".table-frame:has(.board)").evaluate(
        "frame => { frame.scrollLeft = 9999; return frame.scrollLeft; }"
    )
    assert scrolled > 300
    after = [cells.nth(index).evaluate(LEFT) for index in range(4)]
    assert [left for left in before if left in after] == before[:pinned]
    assert cells.nth(pinned - 1).evaluate("cell => cell.getBoundingClientRect().right") < width * 0.6
    last = cells.last.evaluate("cell => cell.getBoundingClientRect().right")
    assert last <= width  # the end of the board can be read
    page.evaluate(UNFOLD)
    assert_accessible(page)
    page.emulate_media(color_scheme="dark")
    page.reload()
    page.evaluate(UNFOLD)
    assert_accessible(page, colours=True)


@pytest.mark.parametrize("width", [1440, 375])
def test_tables_by_tag_and_across_conditions_scroll_in_the_page(
    board: str, new_page: Callable[..., Page], width: int
) -> None:
    page = new_page(viewport={"width": width, "height": 900}, color_scheme="light")
    for address, cells in ((f"{board}-speech/tags", 8), (board.replace("2026", "across"), 2)):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.locator(".board tbody tr").first.locator(".place").count() == cells
        page.locator(".table-frame:has(.board)").evaluate("frame => { frame.scrollLeft = 9999; }")
        assert page.locator(".board thead th").last.evaluate("cell => cell.getBoundingClientRect().right") <= width
        assert_accessible(page)
        page.emulate_media(color_scheme="dark")
        assert_accessible(page, colours=True)
        page.emulate_media(color_scheme="light")


def test_columns_are_chosen_and_stay_chosen_under_another_order(board: str, page: Page) -> None:
    page.goto(board)
    page.get_by_text("Columns", exact=True).click()
    columns = page.get_by_role("form", name="Columns")
    for name in (*MEASURES[1:], "Date"):
        columns.get_by_label(name, exact=True).set_checked(name in ("P@3", "P@7"))
    columns.get_by_role("button", name="Show columns").click()
    heads = page.locator("table.board thead th")
    expect(heads).to_have_text(["Rank", "System", "P@1", "P@3", "P@7"])
    expect(page.get_by_text("Columns: 2 of 24")).to_be_visible()
    page.get_by_role("link", name="P@7", exact=True).click()
    expect(heads).to_have_text(["Rank", "System", "P@7", "P@1", "P@3"])
    page.get_by_text("Columns: 2 of 24").click()
    page.get_by_role("link", name="Show all").click()
    expect(heads).to_have_count(27)


def test_two_ticked_rows_are_compared_and_another_number_is_told(board: str, page: Page) -> None:
    page.goto(f"{board}?measure=P@2")
    button = page.get_by_role("button", name="Compare")
    expect(button).to_be_hidden()
    page.get_by_label("Compare System 3", exact=True).check()
    page.get_by_label("Compare System 5", exact=True).check()
    expect(button).to_be_in_viewport()
    button.click()
    expect(page.get_by_text("P@2 of System 3 minus that of System 5 is +0.040")).to_be_visible()
    assert_accessible(page)
    page.goto(board)
    page.get_by_label("Compare System 3", exact=True).check()
    button.click()
    expect(page.get_by_text("Choose the second run.")).to_be_visible()
    expect(page.get_by_label("This run")).to_contain_text("System 3")
    page.goto(board)
    for number in range(3):
        page.get_by_label(f"Compare System {number}", exact=True).check()
    button.click()
    expect(page.get_by_text("You ticked 3 runs, but a comparison takes two.")).to_be_visible()
    assert_accessible(page)
