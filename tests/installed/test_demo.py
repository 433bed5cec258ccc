"""`leaderboard demo` as somebody starts it: one command, a site with finished boards, and nothing left running.

It is set up by the installed wheel, once; what is tried with a copy of that folder is tried with the checkout's code.
"""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from html import unescape
from pathlib import Path

import pytest
import sqlalchemy as sa

from leaderboard.boards.models import Board
from leaderboard.campaigns.models import Campaign
from leaderboard.cli.demo import STOP_SIGNALS
from leaderboard.db import Base, Database
from leaderboard.operating.models import WorkerSeen
from leaderboard.results.models import TeamFinds
from leaderboard.store import RunStore
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import State
from leaderboard.worker.models import Scoring
from tests.support.commands import Done, run_here
from tests.support.installed import (
    FOLDER,
    STOP_SECONDS,
    Demonstration,
    Interrupted,
    is_running,
    other_settings,
)
from tests.support.processes import Process
from tests.support.shared import REPOSITORY
from tests.support.waiting import wait_until

COMMAND = (sys.executable, "-m", "leaderboard", "demo")

Start = Callable[..., AbstractContextManager[Demonstration]]


def _environment(home: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), **other_settings(home)}


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """An empty folder, which is also the home folder."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


@pytest.fixture
def start(elsewhere: Path) -> Start:
    @contextmanager
    def start_it(*arguments: str) -> Iterator[Demonstration]:
        command = [*COMMAND, "--port", "0", "--dir", "demo", *arguments]
        with Process(command, cwd=elsewhere, env=_environment(elsewhere)) as process:
            yield Demonstration(process, elsewhere / "demo")

    return start_it


@pytest.fixture
def seeded_folder(interrupted: Interrupted) -> Path:
    """A folder that a demonstration has set up and left."""
    return interrupted.folder


def _rows(folder: Path) -> dict[str, int]:
    """How many rows each table has; what the worker derives for boards, or says of itself, may be
    behind when it is stopped."""
    derived = {Board.__tablename__, TeamFinds.__tablename__, WorkerSeen.__tablename__}
    tables = [table for table in Base.metadata.sorted_tables if table.name not in derived]
    url = f"sqlite:///{folder / 'leaderboard.sqlite'}"
    with closing(Database.connect(url)) as database, database.read() as session:
        return {table.name: session.scalar(sa.select(sa.func.count()).select_from(table)) or 0 for table in tables}


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=10).close()
    except urllib.error.URLError:
        return False
    return True


def test_one_command_of_the_wheel_brings_up_a_site_with_finished_boards_and_stops_all_of_it(
    interrupted: Interrupted,
) -> None:
    """Here after a first try that was stopped as soon as it had begun to submit runs."""
    said, folder = interrupted.said[1], interrupted.folder
    for account, password in {
        "participant": "sail-with-alder",
        "organiser": "keep-the-harbour",
        "admin": "hold-every-key",
    }.items():
        assert re.search(rf"{account} +password +{password} ", said)
    sample = folder / "sample-run.tsv"
    assert f"and submit {sample}\n" in said
    assert sample.read_text().count("\t") > 3
    [(command, program)] = re.findall(r"^    (LEADERBOARD_.*) (\S+) mail list$", said, re.MULTILINE)
    assert os.access(program, os.X_OK)
    assert dict(part.split("=", 1) for part in shlex.split(command)) == {
        "LEADERBOARD_DATABASE_URL": f"sqlite:///{folder / 'leaderboard.sqlite'}",
        "LEADERBOARD_STORE_URL": str(folder / "store"),
        "LEADERBOARD_PUBLIC_URL": interrupted.address,
    }
    assert "Harbour cross-language track" in interrupted.front
    assert "being set up" not in interrupted.front
    assert "<svg" in interrupted.progress
    assert "--accent" in interrupted.style
    assert not is_running(interrupted.worker)
    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(interrupted.address, timeout=10)
    url = f"sqlite:///{folder / 'leaderboard.sqlite'}"
    with closing(Database.connect(url)) as database, database.read() as session:
        assert set(session.scalars(sa.select(Scoring.state))) == {State.SCORED, State.REJECTED}
        assert (session.scalar(sa.select(sa.func.count(Campaign.id))) or 0) >= 2
    # Everything that was written is in its folder, and nobody else can read the key.
    assert [path.name for path in folder.parent.iterdir()] == [FOLDER]
    assert (folder / "secret-key").stat().st_mode & 0o077 == 0


def test_ctrl_c_while_it_is_being_set_up_ends_it_at_once_and_started_again_it_goes_on(interrupted: Interrupted) -> None:
    assert interrupted.exit_status == (0, 0)
    assert re.match(r"setting up the demonstration in \S+ …\n", interrupted.said[0])
    assert "The site is at" not in interrupted.said[0]
    assert interrupted.said[0].endswith("\nstopped\n")
    assert 0 < interrupted.had_runs < _rows(interrupted.folder)[Submission.__tablename__]
    assert not interrupted.had_sample
    assert (interrupted.folder / "sample-run.tsv").exists()


def test_started_again_it_goes_on_with_what_is_there_alone_and_ends_when_its_worker_does(
    start: Start, elsewhere: Path, seeded_folder: Path
) -> None:
    shutil.copytree(seeded_folder, elsewhere / "demo")
    (elsewhere / "demo" / "worker.log").unlink()
    before = _rows(elsewhere / "demo")
    key = (elsewhere / "demo" / "secret-key").read_text()
    with start() as demonstration:
        complaint = _refused(elsewhere, "--port", "0", "--dir", "demo")
        assert complaint == (
            f"a demonstration runs in {elsewhere / 'demo'} already; stop it, or name another with --dir\n"
        )
        urllib.request.urlopen(demonstration.address, timeout=10).close()
        os.kill(demonstration.worker, signal.SIGKILL)
        assert demonstration.process.wait(seconds=STOP_SECONDS) == 2
        assert "the worker ended with status -9" in demonstration.process.output
        assert str(elsewhere / "demo" / "worker.log") in demonstration.process.output
    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(demonstration.address, timeout=10)
    assert _rows(elsewhere / "demo") == before
    assert (elsewhere / "demo" / "secret-key").read_text() == key


def test_the_examples_of_the_api_work_in_a_shell_and_killed_outright_it_leaves_neither_site_nor_worker_behind(
    start: Start, elsewhere: Path, seeded_folder: Path
) -> None:
    folder = elsewhere / "demo"
    shutil.copytree(seeded_folder, folder)
    log = folder / "worker.log"
    log.unlink()
    database = {
        "LEADERBOARD_DATABASE_URL": f"sqlite:///{folder / 'leaderboard.sqlite'}",
        "LEADERBOARD_STORE_URL": str(folder / "store"),
    }
    made = ("user", "token", "participant", "--for", "examples", "--scope", "submit")
    token = run_here(made, {**os.environ, **database}).out
    with start() as demonstration:
        with urllib.request.urlopen(f"{demonstration.address}/api", timeout=10) as answer:
            page = answer.read().decode()
        examples = [unescape(code) for code in re.findall(r"<pre[^>]*><code[^>]*>(.*?)</code></pre>", page, re.DOTALL)]
        assert len(examples) == 3
        pasted = f"{examples[0]}{token.strip()}\n{examples[1]}{examples[2]}"
        shell = subprocess.run(["bash"], input=pasted, cwd=folder, capture_output=True, text=True, timeout=60)
        os.kill(demonstration.process.pid, signal.SIGKILL)
        wait_until(lambda: log.read_text().endswith(" stopped\n"), "the end of the worker", STOP_SECONDS)
        wait_until(lambda: not _answers(demonstration.address), "the end of the site", STOP_SECONDS)
    assert shell.returncode == 0, shell.stderr
    decoder, rest, answers = json.JSONDecoder(), shell.stdout.removeprefix("Token: "), []
    while rest.strip():
        content, end = decoder.raw_decode(rest.lstrip())
        answers.append(content)
        rest = rest.lstrip()[end:]
    account, submission, board = answers
    assert account["name"] == "participant"
    # A worker may have claimed the run before the answer is written.
    assert submission["state"] in {"queued", "scoring", "scored"}
    assert submission["system"]["name"] == "Heron"
    assert board["ranked_by"]["name"] == "nDCG@10"


def _refused(elsewhere: Path, *arguments: str) -> str:
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=elsewhere, env=_environment(elsewhere), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def _run_here(elsewhere: Path, *arguments: str) -> Done:
    """A demonstration that ends by itself, in this process, whose signals it would keep."""
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    try:
        return run_here(["demo", *arguments], _environment(elsewhere), folder=elsewhere)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_port_in_use_is_said_before_anything_is_written(elsewhere: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = _run_here(elsewhere, "--port", str(port))
    assert (done.status, done.out) == (2, "")
    assert done.err == f"can't listen on 127.0.0.1, port {port}: Address already in use; choose another with --port\n"
    assert list(elsewhere.iterdir()) == []


def test_without_its_database_a_demonstration_says_what_to_delete(elsewhere: Path) -> None:
    RunStore(str(elsewhere / "demo" / "store")).identify("of a database that was deleted")
    command = [*COMMAND, "--port", "0", "--dir", "demo"]
    done = subprocess.run(command, cwd=elsewhere, env=_environment(elsewhere), capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "the database and the run store in demo don't belong together, as after one of them was deleted: delete the "
        "folder to start afresh, or name another one with --dir\n"
    )
