"""A real run through the form, in a real browser: its board shows the figures that its organisers published."""

import csv
import gzip
import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.commands import run_here
from tests.support.databases import Postgres
from tests.support.site import Site, running_site

RUN = "CSIROmedNIR"
EVALUATION = "trec-covid/round1"
PASSWORD = "a long enough password"
SCORED_MILLISECONDS = 120_000


@pytest.fixture
def site(postgres: Postgres, migrated_postgres: str, shared_data: Path, tmp_path: Path) -> Iterator[Site]:
    """A site with one worker and TREC-COVID's first round, scored as its organisers did."""
    judgments = shared_data / EVALUATION / "qrels.txt"
    queries = sorted({line.split()[0] for line in judgments.read_text().splitlines()}, key=int)
    (tmp_path / "queries.tsv").write_text("".join(f"{query}\n" for query in queries))
    database_url = postgres.create(migrated_postgres)
    with running_site(database_url, tmp_path, processes=1) as site:
        site.command(
            "campaign",
            "add",
            "trec-covid",
            "--title",
            "TREC-COVID",
            "--measures",
            "AP P@5 nDCG@10",
            "--compat",
            "9",
            "--visibility",
            "public",
        )
        site.command(
            "evaluation",
            "add",
            EVALUATION,
            "--title",
            "Round 1",
            "--period",
            "2020 round 1",
            "--details",
            "always",
            "--public",
        )
        site.command("queries", "import", EVALUATION, tmp_path / "queries.tsv")
        site.command("judgments", "import", EVALUATION, judgments)
        site.command("user", "add", "ada", "--password-stdin", text=f"{PASSWORD}\n")
        site.command("team", "add", "CSIRO")
        site.command("team", "member", "add", "csiro", "ada")
        site.command("campaign", "organiser", "add", "trec-covid", "ada")  # who may fetch the judgments before closing
        yield site
    postgres.drop(database_url)


def shown(cell: Locator) -> str:
    """The figure of a cell with all its digits, rounded to those that the organisers print."""
    return f"{float(cell.locator('data').get_attribute('value') or 'nan'):.4f}"


def require_the_command_to_give_the_same_digits(page: Page, folder: Path) -> None:
    """Copies the command of a run's page and runs it in an empty folder beside what the page's links download."""
    folder.mkdir()
    files = page.get_by_role("region", name="Score receipt").get_by_role("listitem").get_by_role("link")
    for at in range(files.count()):
        with page.expect_download() as download:
            files.nth(at).click()
        download.value.save_as(folder / download.value.suggested_filename)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy command").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    command = page.evaluate("navigator.clipboard.readText()")
    assert "\n" not in command
    words = shlex.split(command)
    assert words[0] == "leaderboard"
    assert {file.name for file in folder.iterdir()} == {*words} & {
        "submission-1.txt.gz",
        "trec-covid-round1-judgments.txt",
    }
    done = run_here(words[1:], {}, folder=folder)
    assert done.status == 0, done
    figures = page.get_by_role("region", name="Results").locator("dt.code + dd data")
    shown = [float(value) for value in figures.evaluate_all("all => all.map(data => data.value)")]
    measures = json.loads(done.out)["runs"][0]["measures"]
    assert [measures[name]["mean"] for name in ("AP", "P@5", "nDCG@10")] == shown


def test_a_real_run_from_the_form_to_its_ranked_lists(
    site: Site, shared_data: Path, tmp_path: Path, page: Page
) -> None:
    folder = shared_data / EVALUATION
    with (folder / "leaderboard.csv").open(newline="") as file:
        published = next(row for row in csv.DictReader(file) if row["run"] == RUN)

    page.goto(f"{site.url}/campaigns/{EVALUATION}/submit")
    page.locator("#name").fill("ada")
    page.locator("#password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Log in").click()
    page.locator("#new_system").fill("MedNIR")
    page.locator("#run").set_input_files(folder / f"{RUN}.gz")
    page.get_by_role("button", name="Submit run").click()
    expect(page.get_by_role("heading", name="Results")).to_be_visible(timeout=SCORED_MILLISECONDS)
    require_the_command_to_give_the_same_digits(page, tmp_path / "downloads")

    page.goto(f"{site.url}/campaigns/{EVALUATION}")
    row = page.get_by_role("row").filter(has_text="MedNIR")
    figures = row.locator("td.figure").filter(has=page.locator("data"))
    assert [shown(figures.nth(place)) for place in range(3)] == [
        published["MAP"], published["p@5"], published["ndcg@10"],
    ]  # fmt: skip

    row.get_by_role("link", name="MedNIR", exact=True).click()
    page.get_by_role("link", name="Ranked list on query 1", exact=True).click()
    with gzip.open(folder / f"{RUN}.gz", "rt") as lines:
        first = next(line.split()[2] for line in lines if line.split()[0] == "1" and line.split()[3] == "1")
    expect(page.get_by_role("table").first.get_by_role("row").nth(1)).to_contain_text(first)
