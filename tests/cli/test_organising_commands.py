"""What organisers do in the browser, by commands."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command

pytestmark = pytest.mark.parametrize("engine_name", ["sqlite"])  # no statement here is another one on the other

Says = Callable[..., str]


@pytest.fixture
def place(ok: Says, tmp_path: Path) -> str:
    """An evaluation of a private campaign with a page's worth of words."""
    (tmp_path / "rules.md").write_text("# Rules")
    ok(
        "campaign", "add", "harbour", "--title", "Harbour", "--measures", "AP", "--visibility", "private",
        "--contact", "orla", "--link", "The data=https://example.org/data", "--guidelines", tmp_path / "rules.md",
    )  # fmt: skip
    ok(
        "evaluation", "add", "harbour/2026", "--title", "Harbour 2026", "--period", "2026",
        "--closes", "2026-09-30T18:00", "--details", "never", "--public",
    )  # fmt: skip
    return "harbour/2026"


def test_a_private_campaign_says_whom_it_lets_in(ok: Says, refused: Says, place: str, tmp_path: Path) -> None:
    ok("team", "add", "Alder")
    assert ok("campaign", "team", "add", "harbour", "alder") == "alder is let into harbour\n"
    shown = ok("campaign", "show", "harbour")
    assert "visibility      private" in shown
    assert "teams           Alder" in shown
    assert ok("campaign", "team", "remove", "harbour", "alder") == "alder is no longer let into harbour\n"
    assert "teams           –" in ok("campaign", "show", "harbour")
    assert "address" in refused("campaign", "change", "harbour", "--link", "Code=javascript:alert(1)")
    assert "give the link a title" in refused("campaign", "change", "harbour", "--link", "nothing")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    assert "can't decode" in refused("campaign", "change", "harbour", "--guidelines", tmp_path / "latin.md")


def test_organisers_and_founders_come_and_go(ok: Says, place: str) -> None:
    ok("user", "add", "ada", "--password-stdin", text="correct horse battery")
    ok("campaign", "organiser", "add", "harbour", "ada")
    assert ok("campaign", "organiser", "remove", "harbour", "ada") == "ada no longer organises harbour\n"
    assert ok("user", "founder", "ada") == "ada may make campaigns\n"
    assert "makes campaigns" in ok("user", "list")
    assert ok("user", "founder", "ada", "--revoke") == "ada may no longer make campaigns\n"
    assert "makes campaigns" not in ok("user", "list")


def test_an_archived_campaign_takes_no_evaluations_until_it_is_taken_out(ok: Says, refused: Says, place: str) -> None:
    assert ok("campaign", "archive", "harbour") == "Harbour is archived\n"
    again = ("evaluation", "add", "harbour/2027", "--title", "2027", "--period", "2027", "--public")
    assert "is archived" in refused(*again)
    assert ok("campaign", "unarchive", "harbour") == "Harbour is out of the archive\n"
    ok(*again)


def test_all_that_is_wrong_is_said_at_once_each_under_its_option(refused: Says, place: str) -> None:
    wrong = ("--opens", "2026-13-01", "--time-zone", "Mars/X", "--documents", "-5", "--details", "sometimes")
    said = refused("evaluation", "add", "harbour/Bad_one", "--title", "", *wrong).splitlines()
    assert {line.partition(":")[0] for line in said} >= {"--title", "--period", "--opens", "CAMPAIGN/SLUG"}
    assert "--opens: give a day, or a day and a time like 2026-09-30T18:00" in said
    assert refused("evaluation", "change", place, "--opens", "2027-05-01").startswith("--closes: give a moment after")
    assert "give one of --accept, --refuse" in refused("team", "requests", "alder", "--accept", "1", "--refuse", "1")


def test_a_date_is_read_by_the_clocks_of_the_time_zone(ok: Says, place: str) -> None:
    ok("evaluation", "change", place, "--time-zone", "Europe/Berlin", "--closes", "2026-09-30T18:00")
    assert "2026-09-30 16:00" in ok("evaluation", "list", "harbour")


def test_next_years_evaluation_is_cloned_and_what_was_a_mistake_is_removed(
    ok: Says, refused: Says, command: Command, place: str
) -> None:
    assert ok("evaluation", "clone", place, "2027") == "made harbour/2027 as a copy of harbour/2026\n"
    listed = ok("evaluation", "list", "harbour")
    assert "Harbour 2027" in listed
    assert "2027-09-30 18:00" in listed
    lacking = command("evaluation", "ready", "harbour/2027")
    assert lacking.status == 1
    assert "There are no queries" in lacking.out
    assert "Draft evaluation" in lacking.out
    assert "--confirm" in refused("evaluation", "remove", "harbour/2027")
    assert ok("evaluation", "remove", "harbour/2027", "--confirm") == "removed the evaluation harbour/2027\n"
    assert "harbour/2027" not in ok("evaluation", "list", "harbour")
