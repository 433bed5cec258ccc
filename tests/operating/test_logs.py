"""What an event looks like as text and as JSON, and how often what goes on failing is told."""

import io
import json
import logging
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from leaderboard.config import Config
from leaderboard.errors import BadInput, NoDatabase
from leaderboard.operating import logs

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (INFO|WARNING|ERROR) [\w.]+: .*")

log = logging.getLogger("tests.logs")
Written = Callable[[], list[str]]


@pytest.fixture(params=["text", "json"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def written(form: str, monkeypatch: pytest.MonkeyPatch) -> Written:
    """The lines so far, written by a handler as `serve` and `worker` set it up."""
    handler, stream = logs.Handler(logs.FORMATS[form]), io.StringIO()
    handler.setStream(stream)
    monkeypatch.setattr(log, "handlers", [handler])
    monkeypatch.setattr(log, "level", logging.INFO)
    monkeypatch.setattr(log, "propagate", False)
    logs.begin()
    return lambda: stream.getvalue().split("\n")[:-1]


def refuse(reason: str = "connection refused") -> None:
    log.error("refused: %s", reason, extra=logs.kind_of(NoDatabase(reason)))


def fail(name: str) -> None:
    try:
        raise KeyError(name)
    except KeyError:
        log.exception("an error of this program")


def test_an_event_says_when_what_and_about_which_request_in_one_line(form: str, written: Written) -> None:
    logs.begin(request="0a1b", method="GET", path="/campaigns")
    logs.note(account=7, submission=None)
    log.info("answered", extra={"status": 200, "seconds": 0.0123})
    (line,) = written()
    if form == "text":
        assert LINE.fullmatch(line)
        assert line.endswith(
            "INFO tests.logs: answered request=0a1b method=GET path=/campaigns account=7 status=200 seconds=0.0123"
        )
        return
    said = json.loads(line)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", said.pop("time"))
    assert said == {
        "level": "INFO", "logger": "tests.logs", "message": "answered", "request": "0a1b", "method": "GET",
        "path": "/campaigns", "account": 7, "status": 200, "seconds": 0.0123,
    }  # fmt: skip


def test_what_others_write_makes_no_line_of_its_own(form: str, written: Written) -> None:
    logs.begin(path="/x\n2026-01-01T00:00:00.000Z ERROR leaderboard: all is lost\u2028\x1b[31m")
    log.warning("from\r\noutside")
    (line,) = written()
    assert (LINE.fullmatch(line) if form == "text" else json.loads(line)) is not None
    assert not re.search(r"[\r\x1b]", line)


def test_a_fault_has_its_traceback_in_its_own_event(form: str, written: Written) -> None:
    fail("lost")
    lines = written()
    if form == "text":
        assert [bool(LINE.fullmatch(line)) for line in lines] == [True] + [False] * (len(lines) - 1)
        assert lines[-1] == "KeyError: 'lost'"
    else:
        assert json.loads(lines[0])["traceback"].endswith("KeyError: 'lost'\n")
        assert len(lines) == 1


def test_outages_and_faults_of_one_kind_are_repeats_once_a_minute_with_how_many_were_left_out(
    form: str, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(logs.time, "monotonic", lambda: now[0])
    for minute in range(3):
        for second in range(30):
            now[0] = 1000.0 + 61 * minute + second
            refuse(f"no connection {second}")  # the reason may differ: it is one outage
            fail(str(second))
            log.info("what is well is told each time")
    told = [line for line in written() if "no connection" in line or "an error of this program" in line]
    assert len(told) == 6
    counts = [re.findall(r'left_out"?[=:] ?(\d+)', line) for line in told]
    assert counts == [[], [], ["29"], ["29"], ["29"], ["29"]]
    assert sum("what is well" in line for line in written()) == 90


@pytest.mark.parametrize("form", ["json"])
def test_events_of_different_kinds_places_words_or_submissions_are_all_repeats(written: Written) -> None:
    refuse()
    log.error("refused: %s", "the same", extra={"kind": "NoStore"})
    fail("one place")
    try:
        raise KeyError("another place")
    except KeyError:
        log.exception("an error of this program")
    for submission in (1, 2):
        logs.begin(submission=submission)
        log.warning("lost the lease")
        log.warning("lost the lease")
    assert len(written()) == 6


@pytest.mark.parametrize("form", ["json"])
def test_what_is_remembered_of_events_has_a_bound(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "MOST_KINDS", 10)
    for number in range(30):
        log.warning("number %s", number)
    (remembered,) = (len(handler._repeats) for handler in log.handlers if isinstance(handler, logs.Handler))
    assert remembered <= 11
    assert len(written()) == 30


def test_events_of_another_process_are_relayed_whole_and_its_other_output_as_warnings(
    form: str, written: Written
) -> None:
    program = (
        "import logging; from leaderboard.config import Config; from leaderboard.operating import logs\n"
        "logs.set_up(Config(log='json'))\n"
        "try: 1 / 0\n"
        "except ZeroDivisionError: logging.getLogger('leaderboard.worker.run_scorer').exception('Job failed')\n"
        "import os; os.write(2, b'memory allocation of 8 bytes failed\\n')"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr
    for line in said.splitlines():
        logs.relay(log, line, submission=12)
    lines = written()
    if form == "json":
        fault, other = map(json.loads, lines)
        assert (fault["level"], fault["logger"]) == ("ERROR", "leaderboard.worker.run_scorer")
        assert (fault["message"], fault["submission"], other["submission"]) == ("Job failed", 12, 12)
        assert fault["traceback"].endswith("ZeroDivisionError: division by zero\n")
        assert (other["level"], other["message"]) == ("WARNING", "scoring process: memory allocation of 8 bytes failed")
    else:
        assert lines[0].endswith("ERROR leaderboard.worker.run_scorer: Job failed submission=12")
        assert lines[-2] == "ZeroDivisionError: division by zero"


def test_a_format_that_is_none_is_refused_by_the_settings_name() -> None:
    with pytest.raises(BadInput, match="LEADERBOARD_LOG: expected text or json, found 'xml'"):
        logs.set_up(Config(log="xml"))
