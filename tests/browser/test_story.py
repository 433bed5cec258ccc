"""The whole story in a real browser, on a real site with a real worker: from a stranger to a ranked list."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Console, assert_accessible
from tests.support.site import Site

QUERIES = "q1\tfirst query\tlaw\nq2\tsecond query\tnews\nq3\tthird query\tlaw\n"
JUDGMENTS = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 1\nq2 0 d1 0\nq2 0 d4 1\nq3 0 d5 1\n"
# Average precision: q1 (1/1) / 2, q2 1, q3 0; their mean is 0.5.
RUN = "q1 Q0 d1 1 0.9 alpha\nq1 Q0 d2 2 0.8 alpha\nq2 Q0 d4 1 0.7 alpha\nq3 Q0 d6 1 0.6 alpha\n"
PASSWORD = "a long enough password"
SCORED_MILLISECONDS = 60_000
GROUND = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def campaign(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign with an evaluation in each of two years, made by the commands; the folder of the files."""
    folder = tmp_path_factory.mktemp("files")
    for name, text in {
        "queries.tsv": QUERIES,
        "qrels.txt": JUDGMENTS,
        "alpha.run": RUN,
        "bad.run": "q1 Q0 d1\n",
    }.items():
        (folder / name).write_text(text)
    site.command(
        "campaign", "add", "harbour", "--title", "Harbour track", "--measures", "AP P@5", "--visibility", "public"
    )
    for year in ("2024", "2025"):
        name = f"harbour/{year}"
        site.command(
            "evaluation", "add", name, "--title", f"Harbour {year}", "--period", year, "--details", "always", "--public"
        )
        site.command("queries", "import", name, folder / "queries.tsv")
        site.command("judgments", "import", name, folder / "qrels.txt")
    return folder


def fill(page: Page, **fields: str) -> None:
    for name, value in fields.items():
        page.locator(f"#{name}").fill(value)


def press(page: Page, name: str) -> None:
    page.get_by_role("main").get_by_role("button", name=name, exact=True).click()


def follow(page: Page, name: str | re.Pattern[str]) -> None:
    page.get_by_role("main").get_by_role("link", name=name).first.click()


def register(page: Page, site: Site, name: str) -> None:
    page.goto(f"{site.url}/")
    page.get_by_role("link", name="Register").click()
    assert_accessible(page)
    fill(page, name=name, password=PASSWORD)
    press(page, "Register")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def make_team(page: Page, name: str) -> None:
    follow(page, "Make a team")
    fill(page, name=name)
    press(page, "Make team")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def open_form(page: Page, site: Site, year: str) -> None:
    page.goto(f"{site.url}/")
    follow(page, "Harbour track")
    follow(page, f"Harbour {year}")
    follow(page, "Submit run")
    expect(page.get_by_role("heading", level=1)).to_have_text("Submit a run")


def test_from_a_stranger_to_a_ranked_list(site: Site, campaign: Path, page: Page) -> None:
    register(page, site, "Grace")
    assert_accessible(page)
    make_team(page, "Gamma Lab")
    assert_accessible(page)

    open_form(page, site, "2025")
    assert_accessible(page)
    fill(page, new_system="Lantern", label="first try")
    page.get_by_label("Primary").check()
    page.locator("#run").set_input_files(campaign / "alpha.run")
    press(page, "Submit run")
    expect(page.get_by_role("heading", level=1)).to_have_text("first try")

    # The page finds out by itself.
    expect(page.get_by_role("heading", name="Results")).to_be_visible(timeout=SCORED_MILLISECONDS)
    assert_accessible(page)

    follow(page, "the board")
    row = page.get_by_role("row").filter(has_text="Lantern")
    expect(row).to_contain_text("Gamma Lab")
    expect(row.get_by_role("cell").first).to_have_text("1")
    expect(row).to_contain_text("0.500")
    assert_accessible(page)

    row.get_by_role("link", name="Lantern", exact=True).click()
    page.get_by_role("link", name="Ranked list on query q1").click()
    lines = page.get_by_role("table").first.get_by_role("row")
    expect(lines.nth(1)).to_contain_text("d1")
    expect(lines.nth(2)).to_contain_text("d2")
    expect(page.get_by_role("main")).to_contain_text("1 of the 2 relevant documents among them")
    assert_accessible(page)

    page.goto(f"{site.url}/campaigns/harbour/progress")
    expect(page.get_by_role("main")).to_contain_text("Lantern")
    assert_accessible(page)


def test_a_run_that_is_checked_in_the_form_is_submitted_by_one_button(
    site: Site, campaign: Path, page: Page, console: Console
) -> None:
    register(page, site, "Iris")
    make_team(page, "Isthmus")
    open_form(page, site, "2024")
    expect(page.get_by_role("link", name="Check a run first")).to_be_hidden()
    check, verdict = page.get_by_role("button", name="Check first"), page.locator("[data-verdict]")
    console.expect(r"status of 400")
    check.click()
    expect(verdict).to_contain_text("choose the file of the run")
    assert_accessible(page)
    fill(page, new_system="Ibis", label="kept label")
    page.locator("#run").set_input_files(campaign / "bad.run")
    expect(verdict).to_be_empty()
    check.click()
    expect(verdict.get_by_role("heading")).to_have_text("This run would be rejected")
    expect(verdict.get_by_role("button")).to_have_count(0)
    page.locator("#run").set_input_files(campaign / "alpha.run")
    check.click()
    expect(verdict.get_by_role("heading")).to_have_text("This run would be accepted")
    assert_accessible(page)
    press(page, "Submit this run")
    expect(page.get_by_role("heading", level=1)).to_have_text("kept label")
    expect(page.get_by_role("main")).to_contain_text("alpha.run")


def test_a_wrong_file_shows_its_lines_and_costs_nothing(
    site: Site, campaign: Path, page: Page, console: Console
) -> None:
    register(page, site, "Hedy")
    make_team(page, "Hydra")
    site.command("evaluation", "change", "harbour/2024", "--daily-quota", "3")
    open_form(page, site, "2024")
    expect(page.get_by_role("complementary")).to_contain_text("3 of 3 left today")

    console.expect(r"status of 400")
    press(page, "Submit run")
    summary = page.get_by_role("alert")
    expect(summary).to_be_focused()
    assert_accessible(page)
    summary.get_by_role("link", name=re.compile("Run file")).click()
    expect(page.locator("#run")).to_be_focused()

    fill(page, new_system="Needle")
    page.locator("#run").set_input_files(campaign / "bad.run")
    press(page, "Submit run")
    expect(page.get_by_role("main")).to_contain_text("expected 6 columns, found 3")
    assert_accessible(page)
    expect(page.get_by_role("complementary")).to_contain_text("3 of 3 left today")


@pytest.mark.parametrize("path", ["/", "/login", "/register", "/measures/", "/measures/nDCG", "/campaigns/harbour"])
def test_a_page_is_accessible_in_both_colours_and_fits_a_phone(
    site: Site, campaign: Path, phone: Page, path: str
) -> None:
    phone.emulate_media(color_scheme="light")
    phone.goto(f"{site.url}{path}")
    assert_accessible(phone)
    wider = phone.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wider == 0
    light = phone.evaluate(GROUND)
    phone.emulate_media(color_scheme="dark")
    phone.reload()  # a page that stands changes its colours step by step
    assert phone.evaluate(GROUND) != light
    assert_accessible(phone, colours=True)


def test_without_script_the_form_and_the_status_page_work_too(
    site: Site, campaign: Path, new_page: Callable[..., Page]
) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(f"{site.url}/register")
    fill(page, name="Kit", password=PASSWORD)
    press(page, "Register")
    make_team(page, "Kestrel")
    page.goto(f"{site.url}/campaigns/harbour/2024/submit")
    fill(page, new_system="Quill")
    page.locator("#run").set_input_files(campaign / "alpha.run")
    press(page, "Submit run")
    expect(page.get_by_role("heading", name="Results")).to_be_visible(timeout=SCORED_MILLISECONDS)


def test_a_participant_needs_at_most_ten_clicks_from_an_invitation_to_a_result(
    site: Site, campaign: Path, page: Page
) -> None:
    clicks: list[str] = []
    page.expose_function("countClick", lambda text: clicks.append(text))  # noqa: PLW0108  # playwright marks what it is given
    page.add_init_script("addEventListener('click', event => { if (event.detail) countClick(event.target.innerText) })")
    site.command("team", "add", "Invited")
    [link] = re.findall(r"/join/\S+", site.command("team", "invite", "invited"))
    page.goto(f"{site.url}{link}")
    page.get_by_role("banner").get_by_role("link", name="Register").click()
    fill(page, name="Ivy", password=PASSWORD)
    press(page, "Register")
    press(page, "Join Invited")
    expect(page.get_by_role("heading", level=1)).to_have_text("Invited")
    page.get_by_role("banner").get_by_role("link", name="Campaigns").click()
    follow(page, "Harbour track")
    page.get_by_role("row").filter(has_text="Harbour 2025").get_by_role("link", name="Submit run").click()
    fill(page, new_system="Ivory")
    with page.expect_file_chooser() as chooser:
        page.locator("#run").click()
    chooser.value.set_files(campaign / "alpha.run")
    press(page, "Submit run")
    expect(page.get_by_role("heading", name="Results")).to_be_visible(timeout=SCORED_MILLISECONDS)
    assert len(clicks) <= 10, clicks
    assert len(clicks) == 8, clicks  # each was counted


def test_after_all_that_verification_finds_the_record_in_order(site: Site, campaign: Path) -> None:
    assert site.command("verify", "--figures").startswith("nothing differs: ")
