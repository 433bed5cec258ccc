"""A frozen evaluation opened from a disk, without a network: what a reader follows, in what light, on a phone."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leaderboard.config import Config
from tests.support.browser import Console, assert_accessible
from tests.support.commands import run_here
from tests.support.scoring import working_here

QRELS = "".join(f"q{number} 0 d1 1\nq{number} 0 d2 0\n" for number in range(1, 13))


@pytest.fixture(scope="module")
def frozen(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a closed year of two runs, of which one may be published. No site ever served it."""
    folder: Path = tmp_path_factory.mktemp("frozen")
    shutil.copyfile(migrated_sqlite, folder / "leaderboard.sqlite")
    environment = {
        "LEADERBOARD_DATABASE_URL": f"sqlite:///{folder / 'leaderboard.sqlite'}",
        "LEADERBOARD_STORE_URL": str(folder / "store"),
    }

    def command(*arguments: str | Path) -> None:
        done = run_here(arguments, environment)
        assert done.status == 0, f"{arguments}: {done}"

    (folder / "queries.tsv").write_text("".join(f"q{number}\ttext {number}\n" for number in range(1, 13)))
    (folder / "qrels").write_text(QRELS)
    command("campaign", "add", "news", "--title", "News", "--measures", "AP P@1", "--visibility", "public")
    command("evaluation", "add", "news/2025", "--title", "News 2025", "--period", "2025", "--public")
    command("queries", "import", "news/2025", folder / "queries.tsv")
    command("judgments", "import", "news/2025", folder / "qrels")
    command("form", "field", "news/2025", "publish", "--label", "Publish it?", "--kind", "yes_no", "--confirm")
    command("team", "add", "Birch")
    with working_here(Config.from_environment(environment)):
        for name, documents, answer in (("Alder", ("d1", "d2"), "yes"), ("Elm", ("d2", "d1"), "no")):
            ranked = ((f"q{number}", at, document) for number in range(1, 13) for at, document in enumerate(documents))
            lines = (f"{query} Q0 {document} {at + 1} {2 - at} {name}\n" for query, at, document in ranked)
            (folder / name).write_text("".join(lines))
            of_run = "--team", "birch", "--new-system", name, "--answer", f"publish={answer}"
            command("submit", "news/2025", folder / name, *of_run)
    command("evaluation", "change", "news/2025", "--closes", "2026-01-01", "--publish-judgments", "--confirm")
    command("freeze", "news/2025", folder / "copy", "--agreement", "publish")
    return folder / "copy"


@pytest.mark.parametrize(("width", "height", "scheme"), [(1440, 900, "light"), (375, 812, "dark")])
def test_a_reader_follows_the_pages_from_a_disk(
    frozen: Path, new_page: Callable[..., Page], width: int, height: int, scheme: str
) -> None:
    page = new_page(viewport={"width": width, "height": height}, color_scheme=scheme, offline=True)
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.goto((frozen / "index.html").as_uri())
    expect(page.get_by_text("Run files in this copy: 1 of 2")).to_be_visible()
    expect(page.get_by_role("link", name="Log in")).to_have_count(0)
    expect(page.get_by_role("checkbox")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.get_by_role("link", name="P@1", exact=True).first.click()
    expect(page).to_have_url((frozen / "index.measure-P_1.html").as_uri())
    page.get_by_role("link", name="Alder", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Alder")
    page.get_by_role("link", name="Ranked list on query q2", exact=True).click()
    expect(page.get_by_role("rowheader", name="d1")).to_be_visible()
    page.get_by_role("link", name="All systems").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Query q2")
    expect(page.get_by_text("ranked list", exact=True).locator("visible=true")).to_have_count(1)
    page.get_by_role("link", name="Elm", exact=True).click()
    expect(page.get_by_text("The file of this run and its ranked lists are not in this copy")).to_be_visible()
    page.get_by_role("link", name="Measures").click()
    page.get_by_role("link", name="AP", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("AP")
    assert failed == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_of_a_copy_are_accessible(
    frozen: Path, new_page: Callable[..., Page], console: Console, scheme: str
) -> None:
    console.expect("Access to XMLHttpRequest|preload assets|ERR_FAILED")  # axe asks for style sheets, the pages don't
    page = new_page(viewport={"width": 1440, "height": 900}, color_scheme=scheme, offline=True)
    for name in ("index.html", "queries/q2.html", "submissions/2.html", "submissions/1/queries/q2.html"):
        page.goto((frozen / name).as_uri())
        assert_accessible(page, colours=scheme == "dark")
