"""Files that were made to harm: each is the file's fault, costs what it may, and leaves the worker at work."""

import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.submissions.models import Participation, Submission
from leaderboard.submissions.rules import SetState, State
from leaderboard.worker import loop
from leaderboard.worker.child_process import ChildProcess
from leaderboard.worker.messages import Settings
from leaderboard.worker.models import Scoring, ScoringSet
from tests.support.waiting import wait_until
from tests.support.world import QRELS, RUN, World, run_text


def told(world: World, run: int) -> str:
    """Everything that the database keeps of what was in the file."""
    with world.database.read() as session:
        row = session.get_one(Submission, run)
        facts = session.scalars(sa.select(Scoring.facts).where(Scoring.submission_id == run)).all()
        return "\n".join(
            [row.label, *(message for _, message in row.problems), *(f"{each.get('tag')}" for each in facts)]
        )


def is_clean(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


WITH_STRAY_CHARACTERS = {
    "NUL in the tag": RUN.replace("a-run", "a\0run"),
    "escapes in the tag": RUN.replace("a-run", "a\x1b[31m\u202erun"),
    "NUL in a header": "query,document,score,n\0te\nq1,d1,1\n",
    "NUL in a needed header": "query,document,sc\0re\nq1,d1,1\n",
    "NUL in a member": '{"query": "q1", "document": "d1", "sc\\u0000re": 1}\n',
    "NUL in JSON": '{"query": "q\\ud800", "document": "d\\u0000", "score": "\\u0000"}\n',
    "NUL in columns": "q1\0 Q0 d1 1 1.0 t\nq1 Q0 d\x011 1 1.0 t\nq1 Q0 d2 1 1\0 t\n",
}


@pytest.mark.usefixtures("scoring_process")
def test_no_control_character_of_a_file_reaches_the_database_or_ends_the_worker(world: World) -> None:
    runs = {name: world.submit(content) for name, content in WITH_STRAY_CHARACTERS.items()}
    last = world.submit(run_text(2))
    world.drain()
    for name, run in runs.items():
        assert world.scoring(run).state in (State.SCORED, State.REJECTED), name
        assert is_clean(told(world, run)), name
    assert world.scoring(last).state is State.SCORED


@contextmanager
def refused(world: World, table: str, event: str, when: str = "") -> Iterator[None]:
    """A database that refuses such a change of a table while the block runs."""
    is_sqlite = world.database.engine.dialect.name == "sqlite"
    each_row = f"CREATE TRIGGER refuse BEFORE {event} ON {table} FOR EACH ROW {when and f'WHEN ({when})'}"
    statements = [f"{each_row} BEGIN SELECT RAISE(ABORT, 'no'); END"] if is_sqlite else [
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$",
        f"{each_row} EXECUTE FUNCTION refuse()",
    ]  # fmt: skip
    with world.database.write() as session:
        for statement in statements:
            session.execute(sa.text(statement))
    yield
    with world.database.write() as session:
        session.execute(sa.text("DROP TRIGGER refuse" + ("" if is_sqlite else f" ON {table}")))


def test_a_result_that_can_t_be_recorded_parks_its_job_and_the_worker_goes_on(world: World) -> None:
    run = world.submit()
    with refused(world, "score", "INSERT"):
        world.drain()
    scoring = world.scoring(run)
    assert (scoring.state, scoring.attempt) == (State.FAILED, 1)
    assert scoring.failure.startswith("its result could not be recorded (")
    assert not scoring.submission.charged
    other = world.submit(run_text(2))
    world.drain()
    assert world.scoring(other).state is State.SCORED


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def with_member(member: str, value: str) -> str:
    given = {"query": '"q1"', "document": '"d1"', "score": "1", member: value}
    inside = ", ".join(f'"{name}": {value}' for name, value in given.items())
    return f'{{"query": "q1", "document": "d9", "score": 2}}\n{{{inside}}}\n'


@pytest.mark.usefixtures("scoring_process")
def test_json_nested_deeply_is_a_problem_with_its_line(world: World) -> None:
    read = [world.submit(with_member(name, nested(depth))) for name in ("score", "query") for depth in (500, 5_000)]
    objects = '{"a":' * 500 + "1" + "}" * 500
    read += [world.submit(with_member(name, objects)) for name in ("score", "query")]
    unread = world.submit(with_member("note", nested(200_000)))
    world.drain()
    for run in (*read, unread):
        scoring = world.scoring(run)
        assert (scoring.state, scoring.attempt) == (State.REJECTED, 1)
        [(line, message)] = scoring.submission.problems
        assert line == 2
        assert len(message) < 200


@pytest.mark.parametrize("engine_name", ["sqlite"])  # of the scoring process alone
@pytest.mark.usefixtures("scoring_process")
def test_a_run_that_computes_longer_than_allowed_is_rejected_and_counts(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "PATIENCE", 1000)  # however little of the processor the scoring process gets
    world.config = replace(world.config, job_seconds=1)
    run, pipe = world.stuck_run()
    feeding = threading.Thread(target=feed, args=(pipe,))
    feeding.start()
    world.drain()
    feeding.join(60)
    assert not feeding.is_alive()
    assert_is_the_file_s_fault(world, run, "this file takes longer to score than the 1 s of computing allowed here")


def feed(pipe: Path) -> None:
    """Writes a run without end, until its reader is gone."""
    lines = "".join(f"q1 Q0 doc-{number} 1 {number} t\n" for number in range(100_000)).encode()
    try:
        with pipe.open("wb") as stream:
            while True:
                stream.write(lines)
    except BrokenPipeError:
        pass


@pytest.mark.parametrize("engine_name", ["sqlite"])  # as above
@pytest.mark.usefixtures("scoring_process")
def test_a_run_that_needs_more_memory_than_allowed_is_rejected_at_once_and_counts(world: World) -> None:
    run = world.submit("".join(f"q1 Q0 document-{number} 1 {number} t\n" for number in range(800_000)))
    world.config = replace(world.config, job_bytes=bytes_of_an_idle_child(world) + 36 * 2**20)
    world.drain()
    assert_is_the_file_s_fault(world, run, "this file needs more memory to score than the ")
    other = world.submit(run_text(2))
    world.drain()
    assert world.scoring(other).state is State.SCORED


def bytes_of_an_idle_child(world: World) -> int:
    """The address space of a scoring process that has done nothing yet."""
    child = ChildProcess(Settings(world.config.database_url, world.store.url, world.config.text_bytes, 0))
    try:
        return int(Path(f"/proc/{child.pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
    finally:
        child.kill()


def assert_is_the_file_s_fault(world: World, run: int, message: str) -> None:
    scoring = world.scoring(run)
    assert (scoring.state, scoring.attempt, scoring.errors) == (State.REJECTED, 1, 0)
    [(line, said)] = scoring.submission.problems
    assert line is None
    assert said.startswith(message)
    (participation,) = world.all(sa.select(Participation))
    assert participation.rejected_today == 1


def sets_of(world: World) -> list[SetState]:
    return [each.state for each in world.all(sa.select(ScoringSet).order_by(ScoringSet.id))]


def test_a_set_that_can_not_be_made_current_ends_no_worker_and_is_tried_again_later(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(loop, "SWITCH_AGAIN_SECONDS", 1.0)
    first = world.submit(run_text(1))
    world.drain()
    with closing(world.worker(world.database, world.store, world.config)) as worker:

        def drain() -> None:
            while worker.step(threading.Event()):
                pass

        with refused(world, "scoring_set", "UPDATE", "NEW.state = 'current'"):
            world.judge(QRELS.replace("q1 0 d2 0", "q1 0 d2 1"))
            drain()
            assert "could not be made the current one" in caplog.text
            assert sets_of(world) == [SetState.CURRENT, SetState.BUILDING]
            last = world.submit(run_text(2))
            drain()
            assert world.scoring(last).state is State.SCORED
        wait_until(lambda: worker.step(threading.Event()), "it is tried again")
    assert sets_of(world) == [SetState.SUPERSEDED, SetState.CURRENT]
    assert world.scoring(first).state is State.SCORED


def test_a_set_that_can_not_be_made_current_holds_up_no_other_one(world: World) -> None:
    world.submit(run_text(1))
    world.judge(QRELS, source="jury")
    world.drain()
    with refused(world, "scoring_set", "UPDATE", "NEW.state = 'current'"):
        for source in (None, "jury"):  # one after the other, each with a result that its set waits for
            world.judge(QRELS.replace("q1 0 d2 0", "q1 0 d2 1"), source=source)
            world.drain()
    assert sets_of(world) == [SetState.CURRENT, SetState.SUPERSEDED, SetState.BUILDING, SetState.BESIDE]
