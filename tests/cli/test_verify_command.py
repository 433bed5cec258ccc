"""`leaderboard verify`, on a small campaign that was played with a real worker."""

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from leaderboard.audit.models import Event
from leaderboard.boards.models import Board
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.writes.run_store import bind
from leaderboard.worker.models import Score, Scoring, ScoringSet
from tests.cli.conftest import Command
from tests.support.verification import without_triggers
from tests.support.world import World, run_file, run_text

Says = Callable[..., str]
# For words and for files: which rows are named is asked on both in `tests/audit`.
RUN = "run 1 of System number 0 by Northern lights, The year 2026"
ONE_ENGINE = pytest.mark.parametrize("engine_name", ["sqlite"])


@pytest.fixture
def played(world: World) -> World:
    world.submit()
    world.drain()
    return world


def _run_file(world: World) -> Path:
    return run_file(world.store, world.all(sa.select(Submission.sha256))[0])


def test_a_record_that_this_program_wrote_is_in_order(played: World, ok: Says) -> None:
    said = ok("verify", "--figures").splitlines()
    assert said[0].startswith("nothing differs: ")
    assert said[0].endswith("revisions 1, runs 1, standing 1, files 1, copies 1, recomputed 1, not recomputed 0")
    head = said[1].removeprefix("head of the trail: ")
    last = played.all(sa.select(Event).order_by(Event.id.desc()))[0]
    assert (last.action, last.facts["clean"], last.facts["recomputed"]) == ("verify", True, 1)
    assert ok("verify", "--head", head).startswith("nothing differs: ")


@ONE_ENGINE
def test_where_nothing_is_on_record_there_is_a_warning(world: World, command: Command) -> None:
    done = command("verify", "--figures")
    assert (done.status, "nothing differs" in done.out) == (0, True)
    assert done.err == "no run is on record: where there should be some, see which database the settings name\n"
    world.submit()
    assert command("verify").err == ""


@ONE_ENGINE
def test_what_differs_is_named_with_who_could_have_done_it_and_the_status_is_1(played: World, command: Command) -> None:
    (before,) = played.all(sa.select(Score.mean).where(Score.measure == "AP", Score.subset == "all"))
    with played.database.write() as session:
        session.execute(sa.update(Score).where(Score.measure == "AP", Score.subset == "all").values(mean=0.75))
    done = command("verify")
    assert (done.status, done.err) == (1, "")
    where, stored, expected, who, verdict, _ = done.out.splitlines()
    assert where == f"{RUN}: AP over all queries"
    assert stored.startswith("  stored    mean 0.75, ")
    assert expected.startswith(f"  expected  mean {before}, ")
    assert "outside this program, by somebody who can write to the database" in who
    assert "'score' by the command line or a worker" in who
    assert verdict.startswith("1 thing differs: ")
    told = json.loads(command("verify", "--json").out)
    assert (told["clean"], [one["what"] for one in told["differences"]]) == (False, ["AP over all queries"])


@ONE_ENGINE
def test_a_head_that_was_noted_down_and_is_not_there_is_named(played: World, command: Command) -> None:
    done = command("verify", "--head", f"3:{'0' * 64}")
    assert done.status == 1
    assert done.out.startswith("the trail: event 3\n")
    assert "as noted down" in done.out
    assert "'--head': give what an earlier verification printed" in command("verify", "--head", "3").err


def test_figures_that_do_not_follow_from_the_stored_run_are_named(played: World, command: Command) -> None:
    """Whoever rewrites a figure with its digest and the trail too is found by the run file."""
    with played.database.write() as session:
        run = session.scalars(sa.select(Scoring)).one()
        values = session.scalars(sa.select(Score.values).where(Score.measure == "AP", Score.subset == "all")).one()
        session.execute(
            sa.update(Score).where(Score.scoring_id == run.id, Score.measure == "AP").values(values=values * 0.5)
        )
    found = json.loads(command("verify", "--figures", "--json").out)["differences"]
    assert [one["what"] for one in found if "scored again" in one["what"]] == [
        "AP over all queries, scored again", "AP over shown queries, scored again",
    ]  # fmt: skip


def test_intervals_and_board_figures_that_do_not_follow_from_the_values_are_named(
    played: World, command: Command
) -> None:
    """They have no digest: each is computed anew."""
    assert command("verify", "--figures").status == 0
    of_ap = (Score.measure == "AP", Score.subset == "all")
    with played.database.write() as session:
        session.execute(sa.update(Score).where(*of_ap).values(low=0.98, high=0.99))
        for board in session.scalars(sa.select(Board).where(Board.measure == "AP", Board.subset == "all")):
            board.figures = board.figures | {"rank_queries": 7}
        for board in session.scalars(sa.select(Board).where(Board.measure == "AP", Board.subset == "shown")):
            board.lows = np.array([0.25])
    done = command("verify", "--figures", "--json")
    found = [(one["where"], one["what"]) for one in json.loads(done.out)["differences"]]
    assert done.status == 1
    board = "board of set 1 of The year 2026, by revision 1 of the judgments by assessors"
    assert sorted(found) == [
        (board, "intervals of its runs, AP over shown queries"),
        (board, "rank_queries, AP over all queries"),
        (RUN, "interval, AP over all queries"),
    ]


@ONE_ENGINE
@pytest.mark.parametrize("more", [[], ["--figures"]], ids=["every night", "figures too"])
def test_a_run_file_that_was_changed_or_lost_is_named_once(played: World, command: Command, more: list[str]) -> None:
    path = _run_file(played)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"d1", b"d9"))
    done = command("verify", *more, "--json")
    (found,) = json.loads(done.out)["differences"]
    assert done.status == 1
    assert (found["where"], found["expected"]) == (RUN, path.name)
    assert (found["what"], found["into"]) == ("its file", "the store of runs")
    assert "a fault of the disk" in found["who"]
    path.unlink()
    (found,) = json.loads(command("verify", *more, "--json").out)["differences"]
    assert (found["what"], found["stored"]) == ("its file", "nothing")
    path.write_bytes(content)
    assert command("verify", *more).status == 0


@ONE_ENGINE
def test_a_backup_of_files_copied_before_the_database_is_told_as_incomplete_and_accuses_nobody(
    world: World, command: Command, tmp_path: Path
) -> None:
    world.submit()
    world.drain()
    store, copy = Path(world.config.store_url), tmp_path / "copy"
    shutil.copytree(store, copy)  # the files first, the database later: two runs are only in the second
    shas = [world.scoring(world.submit(run_text(n))).submission.sha256 for n in (1, 2)]
    shutil.rmtree(store)
    copy.rename(store)
    done = command("verify")
    assert done.status == 1
    assert done.out.count("its file\n  stored    nothing\n") == 2
    assert "outside this program" not in done.out
    assert done.out.count("Most likely the store was copied before the database") == 2
    assert all(f"Put the file back as runs/{sha256[:2]}/{sha256} of the store" in done.out for sha256 in shas)
    shutil.rmtree(store / "runs")  # nothing of the files came along
    done = command("verify")
    assert "outside this program" not in done.out
    assert done.out.count("stored    nothing that can be read: ") == 3


def test_with_another_store_nothing_is_verified_and_nothing_kept_of_it(
    played: World, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bind(played.database, played.store)
    before = played.all(sa.select(Event.id))
    other = RunStore(str(tmp_path / "other"))
    for url, says in ((other.url, "is the run store of another database"), (tmp_path / "none", "is no run store")):
        monkeypatch.setenv("LEADERBOARD_STORE_URL", str(url))
        done = command("verify")
        assert (done.status, done.out, f"{url} {says}" in done.err) == (2, "", True), done
    assert played.all(sa.select(Event.id)) == before


@ONE_ENGINE
def test_a_copy_of_ranked_lists_that_is_not_as_it_was_written_is_named(played: World, command: Command) -> None:
    (path,) = [one for one in (Path(played.config.store_url) / "ranked").rglob("*-*") if one.is_file()]
    content = path.read_bytes()
    for changed in (content + b"x", content[:-1] + bytes([content[-1] ^ 1]), content[:9] + b"x" + content[10:], b""):
        path.write_bytes(changed)
        done = command("verify", "--json")
        (found,) = json.loads(done.out)["differences"]
        assert done.status == 1
        assert found["what"].startswith("the copy of its ranked lists")
    path.unlink()  # another is made when somebody asks for it
    assert command("verify").status == 0


def test_a_run_is_not_scored_again_by_a_set_that_was_changed(played: World, command: Command) -> None:
    with played.database.write() as session, without_triggers(session):
        made = session.scalars(sa.select(ScoringSet)).one()
        settings = dataclasses.replace(made.settings, excluded=("q1",))
        session.execute(sa.update(ScoringSet).values(frozen=settings, settings_hash=settings.hash))
    found = json.loads(command("verify", "--figures", "--json").out)["differences"]
    assert (RUN, "its scoring set") in [(one["where"], one["what"]) for one in found]
    assert not [one for one in found if one["what"].endswith("scored again")]


def test_a_trail_that_takes_no_event_any_more_is_named_all_the_same(
    played: World, command: Command, engine_name: str
) -> None:
    unlock = {"sqlite": "DROP TRIGGER chain_never_goes", "postgresql": "ALTER TABLE chain DISABLE TRIGGER USER"}
    with played.database.write() as session:
        session.execute(sa.text(unlock[engine_name]))
        session.execute(sa.text("DELETE FROM chain"))
    done = command("verify")
    assert done.status == 1
    assert "the trail: its end\n" in done.out
    assert done.err == "the trail is damaged and takes no event: the outcome is not kept\n"
