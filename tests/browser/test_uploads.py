"""Uploads against a real server: one over the cap, one that is cut off in the middle, one that never ends."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from leaderboard.store import IDENTITY
from tests.support.browser import Console
from tests.support.clients import Client
from tests.support.databases import Postgres
from tests.support.site import Site, running_site
from tests.support.waiting import wait_until

CAP = 2_000_000
PASSWORD = "a long enough password"
FORM = "/campaigns/harbour/2025/submit"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("small")


@pytest.fixture(scope="module")
def small(postgres: Postgres, migrated_postgres: str, folder: Path) -> Iterator[Site]:
    """A site that takes small files only, with one evaluation and the account ada in a team; no worker."""
    database_url = postgres.create(migrated_postgres)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEADERBOARD_UPLOAD_BYTES", str(CAP))
        patch.setenv("LEADERBOARD_UPLOAD_SECONDS", "4")
        with running_site(database_url, folder, workers=0, processes=1) as site:
            site.command(
                "campaign", "add", "harbour", "--title", "Harbour track", "--measures", "AP", "--visibility", "public"
            )
            site.command("evaluation", "add", "harbour/2025", "--title", "Harbour 2025", "--period", "2025", "--public")
            site.command("user", "add", "ada", "--password-stdin", text=f"{PASSWORD}\n")
            site.command("team", "add", "Alpha")
            site.command("team", "member", "add", "alpha", "ada")
            yield site
    postgres.drop(database_url)


def kept_in(folder: Path) -> list[Path]:
    return [path for path in (folder / "store").rglob("*") if path.is_file() and path.name != IDENTITY]


def test_a_file_over_the_cap_is_answered_in_words_and_not_by_a_broken_connection(
    small: Site, folder: Path, page: Page, console: Console
) -> None:
    large = folder / "large.run"
    large.write_bytes(b"q1 Q0 d1 1 0.9 alpha\n" * (3 * CAP // 21))
    page.goto(f"{small.url}{FORM}")
    page.locator("#name").fill("ada")
    page.locator("#password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Log in").click()
    page.locator("#new_system").fill("Lantern")
    page.locator("#run").set_input_files(large)
    console.expect("status of 400")
    page.get_by_role("button", name="Submit run").click()
    expect(page.get_by_role("alert")).to_contain_text("larger than 2,000,000 bytes")
    expect(page.locator("#new_system")).to_have_value("Lantern")
    assert kept_in(folder) == []


def test_an_upload_that_takes_too_long_is_answered_in_words_and_leaves_nothing(
    small: Site, folder: Path, request: pytest.FixtureRequest
) -> None:
    client = Client(small.url)
    request.addfinalizer(client.close)
    client.log_in("ada", PASSWORD)
    client.begin_upload(FORM, CAP, b"q1 Q0 d1 1 0.9 alpha\n" * 30_000)
    wait_until(lambda: bool(kept_in(folder)), "the store holds what has arrived so far")
    answer = client.connection.getresponse()
    assert answer.status == 408
    assert "arrived too slowly" in answer.read().decode()
    assert kept_in(folder) == []
