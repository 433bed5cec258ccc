"""The check of a run through the API: what the page says of it, and nothing is kept."""

import datetime as dt
import gzip
import io
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from markupsafe import escape

from leaderboard import bounded
from leaderboard.accounts import rate_limits
from leaderboard.accounts.rules import Scope
from leaderboard.evaluations import writes as submission_forms
from leaderboard.evaluations.rules import Opening
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import LATE
from leaderboard.web import uploads
from tests.support.commands import Done, run_here
from tests.web.conftest import API, BOARD, RUN, Program, Reader, World, files_in

CHECK = f"{API}/campaigns/harbour/evaluations/2025/check"


def check(program: Program, run: str | bytes | None, status: int = 200, **fields: str) -> Any:
    data: dict[str, Any] = {**fields}
    if run is not None:
        data["run"] = (io.BytesIO(run.encode() if isinstance(run, str) else run), "a.run")
    return program.ask(CHECK, "POST", status=status, data=data, content_type="multipart/form-data")


def test_a_check_says_what_would_become_of_a_run_and_keeps_nothing(
    program: Callable[..., Program], world: World, app: Flask
) -> None:
    ada = program("ada")
    found = check(ada, RUN)
    assert (found["lines"], found["queries"], found["known"], found["problems"], found["warnings"]) == (4, 3, 3, [], [])
    assert found["is_sound"]
    assert "expected" not in found
    strange = check(ada, RUN.replace("q", "x"))
    [warning] = strange["warnings"]
    assert warning.startswith("Is it for this evaluation?")
    assert strange["unknown"] == [3, ["x1", "x2", "x3"]]
    one_more = check(ada, f"{RUN}x1 Q0 d1 1 1 a\n")  # a hidden one, for all that she knows
    assert (one_more["is_sound"], one_more["problem_count"], one_more["warnings"]) == (None, 0, [])
    wrong = check(ada, "q1 Q0 d1 1 high a\nq1 Q0\n")
    assert wrong["problem_count"] == 2
    assert wrong["problems"][0]["line"] == 1
    assert wrong["is_sound"] is False
    assert (world.count(Submission), files_in(app)) == (0, [])


def test_only_the_own_teams_runs_are_told_as_twins(program: Callable[..., Program]) -> None:
    ada = program("ada", Scope.SUBMIT)
    assert ada.submit(RUN).status_code == 201
    [warning] = check(ada, RUN)["warnings"]
    assert warning.startswith("Your team has submitted a file with the same text before")
    assert check(program("eve"), RUN)["twins"] == []


BAD = {
    "a header that is no run's": b"topic,url\nq1,d1\n",
    "a PDF": b"%PDF-1.7\n\x00",
    "UTF-16": RUN.encode("utf-16"),
    "gzip in gzip": gzip.compress(gzip.compress(RUN.encode())),
    "other queries": RUN.replace("q", "x").encode(),
    "one other query": f"{RUN}x1 Q0 d1 1 1 a\n".encode(),
    "a tag of another form": RUN.replace("alpha", "Alpha-1").encode(),
    "theta that returns nothing": RUN.encode(),
    "a header that is broken": b"# a: [\n# ir_metadata.start\n# a: [\n# ir_metadata.end\n" + RUN.encode(),
}


@pytest.fixture
def command(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Done]:
    """The command that checks a file against the evaluation of `world`."""
    config = app.extensions["config"]
    monkeypatch.setenv("LEADERBOARD_DATABASE_URL", config.database_url)
    monkeypatch.setenv("LEADERBOARD_STORE_URL", config.store_url)
    return lambda file: run_here(["check", file, "--evaluation", "harbour/2025", "--threshold", "9"], {})


@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
def test_page_program_and_command_say_the_same_of_a_file(
    world: World,
    reader: Callable[[str], Reader],
    program: Callable[..., Program],
    command: Callable[[Path], Done],
    tmp_path: Path,
    content: bytes,
) -> None:
    world.measure("AP", "SetF")
    world.change(details=Opening.ALWAYS)
    world.do(submission_forms.set_rules, document_pattern="d[0-9]+", tag_pattern="[a-z]+")
    said = check(program("orla", Scope.ORGANISE), content, threshold="9")
    (tmp_path / "a.run").write_bytes(content)
    done = command(tmp_path / "a.run")
    assert (done.status, done.out.splitlines()) == (1, said["in_words"])
    assert (said["is_sound"], bool(said["problems"])) == (False, bool(said["problem_count"]))
    for name in ("orla", "ada"):  # who knows of every query, and who does not
        told = said if name == "orla" else check(program(name), content, threshold="9")
        page = reader(name).send(f"{BOARD}/check", content, "a.run", threshold="9").text
        sentences = [one["message"] for one in told["problems"]]
        sentences += told["warnings"] + [told["unsettled"]] + told["remarks"]
        assert [one for one in sentences if str(escape(one)) not in page] == []
        assert ("This run would be rejected</h2>" in page) == (told["problem_count"] > 0)
        assert ("Submit this run</a>" in page) == (told["problem_count"] == 0)
        assert all(one in "\n".join(told["in_words"]) for one in sentences)


AGO = dt.datetime.now(dt.UTC) - dt.timedelta(days=2)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"closes_at": AGO}, "Harbour 2025 closed on"),
        ({"closes_at": AGO, "late_allowed": True}, ""),
    ],
)
def test_a_check_says_whether_a_run_would_be_taken_now_in_the_words_of_the_refusal(
    world: World, program: Callable[..., Program], participant: Reader, columns: dict[str, Any], says: str
) -> None:
    world.change(title="Harbour 2025", **columns)
    ada = program("ada", Scope.SUBMIT)
    said = check(ada, RUN)
    assert (said["is_sound"], said["late_now"]) == (True, not says)
    assert says in said["refused_now"]
    words = said["in_words"][-1]
    assert words == (f"It would not be taken now: {said['refused_now']}" if says else LATE)
    assert str(escape(words)) in participant.send(f"{BOARD}/check", RUN, "a.run").text
    sent = ada.submit(RUN)
    assert (sent.status_code == 201) == (not says)
    assert not says or sent.json["detail"] == said["refused_now"]


def test_so_many_checks_an_hour_are_made_for_an_account_and_the_next_file_is_not_read(
    monkeypatch: pytest.MonkeyPatch, program: Callable[..., Program], reader: Callable[[str], Reader]
) -> None:
    monkeypatch.setitem(rate_limits.CHECK.bounds, "checks of user {user}", 2)
    eve = program("eve")  # whose team is not asked for
    check(eve, RUN)
    assert reader("eve").send(f"{BOARD}/check", RUN, "a.run").status_code == 200
    monkeypatch.setattr("leaderboard.bounded.call", None)
    check(eve, RUN, 429)
    refused = reader("eve").send(f"{BOARD}/check", RUN, "a.run")
    assert refused.status_code == 429
    assert "try again in 60 min, or check them on your computer" in refused.text


def test_a_check_that_waits_for_its_turn_holds_no_thread_of_the_pages(program: Callable[..., Program]) -> None:
    eve, pages_at_once = program("eve"), threading.Semaphore(0)  # the only one is this request's
    environ = {"leaderboard.slots": pages_at_once}
    data = {"run": (io.BytesIO(RUN.encode()), "a.run")}
    with ThreadPoolExecutor(1) as threads:
        with uploads.AT_ONCE, uploads.AT_ONCE:
            waiting = threads.submit(eve.send, CHECK, "POST", data=data, environ_overrides=environ)
            assert pages_at_once.acquire(timeout=60)  # another request has it
            assert not waiting.done()
        pages_at_once.release()
        assert waiting.result().status_code == 200
    assert not pages_at_once.acquire(blocking=False)  # it took it back


def test_more_checks_than_may_wait_are_refused(
    monkeypatch: pytest.MonkeyPatch, program: Callable[..., Program]
) -> None:
    monkeypatch.setattr(uploads, "WAITING", threading.BoundedSemaphore(1))
    with uploads.WAITING:
        assert "Many files are being checked at this moment" in check(program("eve"), RUN, 429)["detail"]
    assert check(program("eve"), RUN)["is_sound"]


def test_a_file_that_asks_for_too_much_would_be_rejected_and_is(
    monkeypatch: pytest.MonkeyPatch, program: Callable[..., Program], world: World
) -> None:
    monkeypatch.setattr(bounded, "MEMORY_BYTES", 2**20)
    too_much = "takes more memory or time to read than any run that can be scored here"
    assert [problem["message"] for problem in check(program("eve"), RUN)["problems"]] == [too_much]
    refused = program("ada", Scope.SUBMIT).submit(RUN)
    assert (refused.status_code, refused.json["fields"]["run"]) == (400, [too_much])
    assert world.count(Submission) == 0
