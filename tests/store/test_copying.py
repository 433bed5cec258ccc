"""`leaderboard store copy`: from a folder into a bucket and back, interrupted and begun again."""

from pathlib import Path

import pytest

from leaderboard.errors import OtherStore
from leaderboard.store import RunStore
from leaderboard.submissions.writes.run_store import bind
from tests.support.commands import Done, run_here
from tests.support.world import World, run_file, run_text

ONE_ENGINE = pytest.mark.parametrize("engine_name", ["sqlite"])


def _environment(world: World, store_url: str) -> dict[str, str]:
    return {"LEADERBOARD_DATABASE_URL": world.config.database_url, "LEADERBOARD_STORE_URL": store_url}


def _copy(world: World, store_url: str, target: str) -> Done:
    return run_here(["store", "copy", target], _environment(world, store_url))


def _bytes(store: RunStore) -> dict[str, bytes]:
    held = {}
    for prefix in ("runs", "ranked"):
        for name, _ in store.place.names(prefix):
            with store.place.reading(name) as path:
                held[name] = path.read_bytes()
    return held


@ONE_ENGINE
def test_a_store_moves_into_a_bucket_and_back_and_the_database_knows_it(
    world: World, bucket_url: str, tmp_path: Path
) -> None:
    bind(world.database, world.store)
    runs = [world.submit(run_text(number)) for number in range(3)]
    world.drain()
    before, back = _bytes(world.store), str(tmp_path / "back")
    paths = [run_file(world.store, world.scoring(run).submission.sha256) for run in runs]
    contents = [path.read_bytes() for path in paths]
    for path in paths[:2]:
        path.write_bytes(b"damaged")
    done = _copy(world, world.store.url, bucket_url)
    assert done.status == 2
    said, *names = done.err.splitlines()
    assert said == f"{world.store.url}: damaged; put these files back from a backup, then start again:"
    assert names == sorted(f"runs/{path.parent.name}/{path.name}" for path in paths[:2])
    assert _bytes(RunStore(bucket_url, must_exist=True)).keys() == before.keys() - {*names}
    with pytest.raises(OtherStore):  # what is not finished is no store
        bind(world.database, RunStore(bucket_url, must_exist=True))
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    said = _copy(world, world.store.url, bucket_url).out
    assert said.startswith("copied ")
    assert said.endswith(f"\nEvery run file is there. To use it: LEADERBOARD_STORE_URL={bucket_url}\n")
    again = world.submit(run_text(9))  # while the copy was made
    assert f"copied 1 file, {len(run_text(9)):,} bytes" in _copy(world, world.store.url, bucket_url).out
    assert _copy(world, bucket_url, back).status == 0
    sha256 = world.scoring(again).submission.sha256
    before |= {f"runs/{sha256[:2]}/{sha256}": run_text(9).encode()}
    for url in (bucket_url, back):
        moved = RunStore(url, must_exist=True)
        bind(world.database, moved)
        assert _bytes(moved) == before
        done = run_here(["verify", "--figures"], _environment(world, url))
        assert (done.status, "nothing differs" in done.out) == (0, True), done


@ONE_ENGINE
def test_nothing_is_copied_over_the_store_of_another_database_or_out_of_a_new_one(
    world: World, bucket_url: str, tmp_path: Path
) -> None:
    assert "has no id yet" in _copy(world, world.store.url, bucket_url).err
    bind(world.database, world.store)
    RunStore(bucket_url).identify("another")
    done = _copy(world, world.store.url, bucket_url)
    assert (done.status, done.err) == (2, f"{bucket_url} is the run store of another database\n")


@ONE_ENGINE
def test_files_of_submissions_that_the_store_lacks_are_named_and_those_that_are_set_aside_are_not(
    world: World, tmp_path: Path
) -> None:
    bind(world.database, world.store)
    lost, aside, _ = (
        run_file(world.store, world.scoring(world.submit(run_text(number))).submission.sha256) for number in range(3)
    )
    lost.unlink()
    (tmp_path / "store" / "set-aside").mkdir(parents=True)
    aside.rename(tmp_path / "store" / "set-aside" / aside.name)
    target = str(tmp_path / "copy")
    done = _copy(world, world.store.url, target)
    assert (done.status, done.err) == (1, f"missing in the store, and in the copy:\n{lost.name}\n")
    assert done.out.endswith(f"bytes; everything else was there already\nTo use it: LEADERBOARD_STORE_URL={target}\n")
    bind(world.database, RunStore(target, must_exist=True))


@ONE_ENGINE
def test_commands_say_why_a_store_does_not_answer_and_nothing_of_an_upload(
    world: World, bucket_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bind(world.database, world.store)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    done = _copy(world, world.store.url, bucket_url)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"the store of run files: {bucket_url}: Generic S3 error: ")
