"""`leaderboard submission`, `system`, `trail` and what `team` does with two spellings of one team."""

from collections.abc import Callable
from pathlib import Path

import pytest

from leaderboard.access import CONSOLE
from leaderboard.submissions.writes import submissions
from leaderboard.teams import writes as teams
from leaderboard.teams.writes import NewSystem
from tests.support.world import World, run_text

Says = Callable[..., str]


@pytest.fixture
def runs(world: World, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """A scored run of the world's team and one of another spelling of it, which the commands know of."""
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", world.config.database_url)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", world.config.store_url)
    first = world.submit(run_text(1), system=NewSystem("Heron"), label="first")
    upload = world.receive(run_text(2))
    with world.database.write() as session:
        other, new = teams.create_team(session, CONSOLE, "Northern Light", slug="light"), NewSystem("Heron")
        second = submissions.submit(session, CONSOLE, world.evaluation, other.id, system=new, upload=upload).id
    world.drain()
    return first, second


def test_everything_that_the_pages_do_with_a_run_a_command_does(
    runs: tuple[int, int], ok: Says, refused: Says, tmp_path: Path
) -> None:
    run = str(runs[0])
    assert "first" in ok("submission", "list", "small", "2026", "--team", "northern-lights")
    assert "1 of 2 systems change rank" in refused("submission", "disqualify", run, "--because", "two people sent it")
    told = ok("submission", "disqualify", run, "--because", "two people sent it", "--confirm")
    assert f"submission {run} is disqualified" in told
    assert "disqualified" in ok("submission", "list", "small", "--state", "disqualified")
    ok("submission", "restore", run)
    ok("submission", "primary", run, "--confirm")
    for yes in (["--confirm"], []):  # nobody is asked what can't be done
        assert "primary run already" in refused("submission", "primary", run, *yes)
    assert "nothing to change" in refused("submission", "describe", run)
    ok("submission", "describe", run, "--label", "another label")
    assert "another label (primary)" in ok("submission", "list", "small")
    assert "not rejected" in refused("submission", "retry", run)
    ok("submission", "fetch", run, str(tmp_path / "fetched"))
    assert (tmp_path / "fetched").read_text() == run_text(1)
    assert "is there already" in refused("submission", "fetch", run, str(tmp_path / "fetched"))
    ok("submission", "withdraw", run, "--because", "the wrong file", "--confirm")
    assert "there is no submission 999" in refused("submission", "restore", "999")
    trail = ok("trail", "small", "--subject", "submission", "--number", run)
    assert "the command line: disqualify run" in trail
    assert "label: first → another label" in trail


def test_the_trail_is_printed_whole_unless_a_page_is_asked_for(
    runs: tuple[int, int], ok: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runs
    whole = ok("trail", "small")
    monkeypatch.setattr("leaderboard.audit.reads.ROWS", 2)
    assert ok("trail", "small") == whole
    page = ok("trail", "small", "--page", "1")
    assert page != whole
    assert whole.startswith(page)


def test_a_baseline_is_marked_and_two_spellings_become_one_team(runs: tuple[int, int], ok: Says, refused: Says) -> None:
    assert runs
    assert "changed Heron" in ok("system", "change", "light/heron", "--kind", "manual", "--description", "By hand")
    assert "manual" in ok("system", "list", "small")
    assert "has submissions" in refused("system", "remove", "light/heron", "--confirm")
    assert "slug is lights" in ok("team", "rename", "light", "Lights")
    assert "is a part of Northern lights now" in ok(
        "team", "merge", "light", "northern-lights", "--unite", "heron", "--confirm"
    )
    assert "lights" not in ok("team", "list").replace("northern-lights", "").replace("Northern lights", "")
    assert ok("system", "list", "small").count("heron") == 1
