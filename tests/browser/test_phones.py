"""Every page at 375 px: what is seen first, how high rows are, what can be touched."""

import datetime as dt
import re
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as people
from leaderboard.campaigns import writes as campaigns
from leaderboard.campaigns.models import Campaign
from leaderboard.db import Database
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams import writes as teams
from leaderboard.teams.models import Team
from leaderboard.teams.rules import Role
from leaderboard.worker.models import ScoringSet
from tests.support.browser import assert_accessible
from tests.support.field import Field
from tests.support.site import Site
from tests.web import access_rules

MEASURES = ("AQWV", "AP", "P@5", "RR", "nDCG@10")
LINE = 24  # px
LONG = "A system whose name is as long as names may be"
BOARD = "/campaigns/news/2026"
PATHS = ("/", "/campaigns/news", BOARD, f"{BOARD}/queries", f"{BOARD}/queries/q1", "/campaigns/news/progress")
ROOM = "/organise/news"
FILE, PART = "a file", "a part of a page"
NO_PAGES = {
    "judgments.qrels": FILE, "judgments.known": FILE, "judgments.subtopics": FILE,
    "submissions.fetch": FILE, "submissions.score_receipt": FILE,
    "organise_submissions.fetch": FILE, "organise_import.export": FILE,
    "operating.healthz": FILE, "operating.readyz": FILE, "operating.metrics": FILE,
    "static": FILE, "results.board_values": FILE, "results.old_board_values": FILE,
    "sharing.badge": FILE, "sharing.bibtex": FILE, "sharing.card": FILE, "sharing.feed": FILE,
    "bootstrap.static": FILE, "submissions.progress": PART, "results.query_rows": PART,
    "results.ranked_list": "needs a stored run: looked at with the demonstration",
    "account.begin": "leads to a provider", "account.back": "leads back from a provider",
    "account.register_identity": "needs what a provider has proven",
    "account.link": "needs what a provider has proven",
    "site.text": "nothing is said here", "site.logo": "a file, and there is none here",
    "account.confirmation": "needs a link of a mail", "account.reset": "needs a link of a mail",
}  # fmt: skip
# Every other page that the access matrix has, by endpoint; {names} are those of `names`.
PAGES = {
    endpoint: pages[0].address.replace("sekretalder", "{system_slug}").replace("sekretwoods", "the-long-team")
    for endpoint, pages in access_rules.PAGES.items()
    if endpoint not in NO_PAGES and not endpoint.startswith("api.")
    if not re.search(r"\.(atom|bib|csv|json|md|png|svg|tex|xml)\b", pages[0].address)  # a file
} | {
    "results.compare_runs": f"{BOARD}/compare?a={{run}}&b={{other}}",
    "organise_people.remove_organiser": f"{ROOM}/organisers/{{member}}/remove",
}


@pytest.fixture(scope="module")
def news(here: Site) -> Iterator[str]:
    """The address of a site with a campaign of four years."""
    database = Database.connect(here.environment["LEADERBOARD_DATABASE_URL"])
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
    yield here.url
    database.close()


@pytest.mark.parametrize("path", PATHS)
def test_no_row_of_a_table_is_higher_than_two_lines(news: str, phone: Page, path: str) -> None:
    """So no row stands empty when its first column is scrolled away from what it names."""
    phone.goto(news + path)
    heights = phone.evaluate(
        "[...document.querySelectorAll('tbody tr:not(.stack tr)')].map(row => row.getBoundingClientRect().height)"
    )
    assert max(heights, default=0) <= 2 * LINE + 20 + (LINE if path == "/campaigns/news" else 0)


def test_the_values_of_a_heat_map_are_reached_by_the_keyboard(news: str, phone: Page) -> None:
    phone.goto(f"{news}{BOARD}/heat-map")
    phone.get_by_text("These values as a table").focus()
    phone.keyboard.press("Enter")
    table = phone.get_by_role("group", name=f"Values of {MEASURES[0]}")
    expect(table.get_by_role("row")).to_have_count(5)  # a head and four queries
    last = table.get_by_role("columnheader").last.get_by_role("link")
    while not last.evaluate("link => link === document.activeElement"):
        phone.keyboard.press("Tab")
    expect(last).to_be_in_viewport()


# The width of the page, what is touched and less than 24 px high or wide, and tables wider than their frame. Links
# within a sentence are as high as it is, and a box is touched by its words too.
LOOK = """() => ({
    width: document.documentElement.scrollWidth,
    small: [...document.querySelectorAll('a, button, summary, input, select')]
        .filter(one => one.checkVisibility() && !one.matches('.skip, [aria-hidden], [type=checkbox], [type=radio]'))
        .filter(one => !one.closest('.prose, .muted, .notice, .hint'))
        .filter(one => !one.matches('a') || one.parentElement.textContent.trim() == one.textContent.trim()
            || !one.closest('p, li:not(nav li), dd, .lead'))
        .filter(one => Math.min(one.getBoundingClientRect().height, one.getBoundingClientRect().width) < 24)
        .map(one => one.outerHTML),
    cut: [...document.querySelectorAll('.table-frame')].filter(one => one.scrollWidth > one.clientWidth + 1)
        .map(one => one.getAttribute('aria-label')),
})"""


@pytest.fixture(scope="module")
def names(here: Site, news: str) -> dict[str, object]:
    """What stands in addresses: of an admin who owns the long team and organises the campaign with somebody else."""
    database = Database.connect(here.environment["LEADERBOARD_DATABASE_URL"])
    with database.write() as session:
        team = session.scalars(sa.select(Team).where(Team.slug == "the-long-team")).one()
        campaign = session.scalars(sa.select(Campaign).where(Campaign.slug == "news")).one()
        accounts = [
            people.create_user(session, CONSOLE, people.new_account(name, "correct horse battery"), is_admin=admin)
            for name, admin in (("Orla of the phones", True), ("A member whose name is as long as any may be", False))
        ]
        for user, role in zip(accounts, (Role.OWNER, Role.MEMBER), strict=True):
            teams.add_member(session, CONSOLE, team, user, role)
            campaigns.add_organiser(session, CONSOLE, campaign, user)
        run = session.scalars(
            sa.select(Submission).where(Submission.team_id == team.id).order_by(Submission.id.desc())
        ).first()
        assert run is not None
        found: dict[str, object] = {
            "current_set": session.scalars(
                sa.select(ScoringSet.id).where(ScoringSet.evaluation_id == run.evaluation_id)
            ).first(),
            "other": session.scalars(
                sa.select(Submission.id).where(
                    Submission.evaluation_id == run.evaluation_id, Submission.team_id != team.id
                )
            ).first(),
            "run": run.id, "system": run.system_id, "system_slug": run.system.slug, "team": team.id,
            "other_team": session.scalars(sa.select(Team.id).where(Team.id != team.id).order_by(Team.id)).first(),
            "member": accounts[1].id, "token": teams.invite(session, CONSOLE, team, days=7),
        }  # fmt: skip
    database.close()
    return {**found, "beside_set": found["current_set"]}


def test_pages_are_no_wider_than_the_phone_and_what_is_touched_is_24_px_high_and_wide_at_least(
    names: dict[str, object], news: str, phone: Page
) -> None:
    """However long a word is; and no table of organisers' pages, which are for looking after things on a phone too."""
    _log_in(phone, news, "Orla of the phones")
    wrong = {}
    for endpoint, pattern in PAGES.items():
        answer = phone.goto(news + pattern.format(**names))
        assert answer is not None
        look = phone.evaluate(LOOK)
        cut = look["cut"] if endpoint.startswith("organise") else []
        if (answer.status, look["width"], look["small"], cut) != (200, 375, [], []):
            wrong[endpoint] = (answer.status, look["width"], look["small"][:3], cut)
        if endpoint in (
            "sharing.cite",
            "boards.what_moved",
            "boards.sources",
            "judgments.index",
            "results.compare_runs",
            "results.heat_map",
        ):
            assert_accessible(phone)
    assert not wrong, "\n".join(f"{endpoint}: {found}" for endpoint, found in wrong.items())


def test_the_ranking_measure_and_another_are_seen_on_a_board_without_scrolling(news: str, phone: Page) -> None:
    phone.goto(news + BOARD)
    heads = phone.locator("thead th").evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")
    assert heads[2] <= heads[3] <= 375


def _log_in(phone: Page, news: str, name: str) -> None:
    phone.goto(f"{news}/login")
    phone.get_by_label("Name or e-mail address").fill(name)
    phone.get_by_label("Password").fill("correct horse battery")
    phone.get_by_role("main").get_by_role("button", name="Log in").click()
    phone.get_by_role("heading", name=name).wait_for()


def test_the_evaluations_of_a_system_stand_below_each_other_however_far_their_table_is_swiped(
    news: str, phone: Page
) -> None:
    """Only the system's name, which spans their rows, stays where it is."""
    phone.goto(f"{news}/teams/team-alder")
    for swiped in (0, 60):
        phone.locator(".table-frame").first.evaluate(f"frame => {{ frame.scrollLeft = {swiped} }}")
        lefts = phone.locator("tbody td:has(.under) > a").evaluate_all(
            "links => links.map(link => Math.round(link.getBoundingClientRect().x))"
        )
        assert len(lefts) == 4
        assert len(set(lefts)) == 1


@pytest.mark.parametrize("name", ["AQWV", "nDCG", "RBO"])
def test_a_formula_wider_than_the_phone_can_be_scrolled_by_keyboard(
    here: Site, new_page: Callable[..., Page], name: str
) -> None:
    page = new_page(viewport={"width": 300, "height": 800}, color_scheme="light")
    page.goto(f"{here.url}/measures/{name}")
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
    page.emulate_media(color_scheme="dark")
    page.reload()  # a page that stands changes its colours step by step
    assert_accessible(page, colours=True)


@pytest.mark.parametrize("width", [320, 344])
def test_the_bar_of_links_is_no_wider_than_the_smallest_phones(
    names: dict[str, object], news: str, new_page: Callable[..., Page], width: int
) -> None:
    page = new_page(viewport={"width": width, "height": 640})
    for reader in ("", "Orla of the phones"):
        if reader:
            _log_in(page, news, reader)
        for path in ("/", BOARD):
            page.goto(news + path)
            assert page.evaluate("document.documentElement.scrollWidth") == width, (reader, path)
            lines = page.locator(".site-head nav a").evaluate_all("all => all.map(one => one.offsetTop)")
            assert len(set(lines)) == 1, "the links stand beside each other"
