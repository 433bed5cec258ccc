"""The wheel, an environment that it is installed in, and the demonstration that it sets up: each once a session."""

import datetime as dt
import importlib.metadata as metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import urllib.request
import venv
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa
from packaging.requirements import Requirement

from leaderboard.config import Config
from leaderboard.db import Database
from leaderboard.submissions.models import Submission
from tests.support.processes import Process
from tests.support.shared import REPOSITORY
from tests.support.waiting import wait_until

START_SECONDS = 120.0
STOP_SECONDS = 40.0
FOLDER = "leaderboard-demo"  # unless it is told otherwise
# A demonstration that gets its Ctrl-C while garbage is collected, as soon as some of its runs are there: Python prints
# and drops what is raised there.
STRUCK = """
import gc, os, pathlib, signal, sys
from leaderboard.cli import main

runs = pathlib.Path("leaderboard-demo/store/runs")

def strike(phase, info):
    if sum(1 for _ in runs.glob("*/*")) > 2:
        gc.callbacks.remove(strike)
        os.kill(os.getpid(), signal.SIGINT)

gc.callbacks.append(strike)
sys.argv[1:] = ["demo", *sys.argv[1:]]
main()
"""


def environment_of_a_stranger() -> dict[str, str]:
    """Without PYTHONPATH, which would let the checkout stand in for what the wheel lacks."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def ran(*command: str | os.PathLike[str], cwd: Path | None = None) -> str:
    """What it prints; AssertionError with all of that when it fails."""
    done = subprocess.run(command, cwd=cwd, env=environment_of_a_stranger(), capture_output=True, text=True)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


def other_settings(home: Path) -> dict[str, str]:
    """Those of another installation, which the demonstration must not touch."""
    return {
        "HOME": str(home),
        "LEADERBOARD_DATABASE_URL": "postgresql://127.0.0.1:1/another",
        "LEADERBOARD_STORE_URL": str(home / "another-store"),
    }


def is_running(pid: int) -> bool:
    """Whether there is a process of this id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that is installed elsewhere."""
    folder = tmp_path_factory.mktemp("wheel")
    ran(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, REPOSITORY)
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the programs of an environment that holds the wheel and what a site requires, nothing else."""
    environment = tmp_path_factory.mktemp("installed") / "environment"
    install(wheel, environment, ("site",))
    yield environment / "bin"
    shutil.rmtree(environment)  # pytest would keep its thousands of links for three more sessions


@pytest.fixture(scope="session")
def plain_programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of a plain install, for scoring files."""
    environment: Path = tmp_path_factory.mktemp("plain") / "environment"
    install(wheel, environment, ())
    return environment / "bin"


def install(wheel: Path, environment: Path, extras: Sequence[str]) -> None:
    """Makes an environment with the wheel.

    What it requires is there before (`prepare`); pip, which is given no index, fails where anything of it lacks or is
    too old.
    """
    prepare(wheel, environment, extras)
    our_pip = (sys.executable, "-m", "pip", "--python", environment / "bin" / "python")
    ran(*our_pip, "install", "--quiet", "--no-index", f"{wheel}[{','.join(extras)}]" if extras else wheel)


def prepare(wheel: Path, environment: Path, extras: Sequence[str]) -> None:
    """Makes an environment with what the wheel requires, as links to what `make install` has unpacked and compiled."""
    venv.create(environment, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": environment, "platbase": environment}))
    for package in required(wheel, extras):
        _link(package, packages)


def required(wheel: Path, extras: Sequence[str]) -> list[metadata.Distribution]:
    """What a wheel says that it requires, and what that requires in turn, as the tests' own environment has it."""
    [said] = [path for path in zipfile.Path(wheel).iterdir() if path.name.endswith(".dist-info")]
    found: dict[str, metadata.Distribution] = {}
    wanted, seen = _requirements(metadata.PathDistribution(said), extras), set()
    while wanted:
        requirement = wanted.pop()
        one = requirement.name, *sorted(requirement.extras)
        if one not in seen:
            seen.add(one)
            package = metadata.distribution(requirement.name)
            found[package.name] = package
            wanted += _requirements(package, requirement.extras)
    return list(found.values())


def _requirements(package: metadata.Distribution, extras: Iterable[str]) -> list[Requirement]:
    requirements = [Requirement(line) for line in package.requires or ()]
    contexts = [{"extra": extra} for extra in ("", *extras)]
    return [one for one in requirements if not one.marker or any(map(one.marker.evaluate, contexts))]


def _link(package: metadata.Distribution, packages: Path) -> None:
    """Puts every file of an installed package into another environment, but for its programs."""
    for file in package.files or ():
        if ".." not in file.parts:
            link = packages / file
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(str(package.locate_file(file)))


class Demonstration:
    """A demonstration that is up, and its folder."""

    def __init__(self, process: Process, folder: Path) -> None:
        self.process = process
        self.folder = folder
        self.address = process.wait_for_output(r"The site is at (http://\S+)", seconds=START_SECONDS)[1]
        log = folder / "worker.log"
        wait_until(lambda: "waiting for work" in log.read_text(), "the worker is up", START_SECONDS)

    @property
    def worker(self) -> int:
        """The worker's process id, which its name in the log holds."""
        found = re.search(r"worker [^:\s]*:(\d+):", (self.folder / "worker.log").read_text())
        assert found
        return int(found[1])


@dataclass(frozen=True)
class Interrupted:
    """A demonstration that was stopped while it was being set up, started again, and stopped when it was up.

    The first Ctrl-C comes at the worst of moments, see STRUCK. All that is below the second's folder is its home too.
    All runs are scored; what a worker derives for boards when it is idle is not there, or in part.

    said         by the two
    had_sample   whether the first one had come to write the sample run, the last thing of setting up
    had_runs     how many the first one had submitted
    exit_status  of the two
    address, worker  of the second: where it was, its worker's process id
    front, progress, style  of the second: its front page, the page of a campaign's progress, a file beside its pages
    stopped      when that was
    """

    folder: Path
    said: tuple[str, str]
    had_sample: bool
    had_runs: int
    exit_status: tuple[int | None, int | None]
    address: str
    worker: int
    front: str
    progress: str
    style: str
    stopped: dt.datetime

    @property
    def config(self) -> Config:
        """The settings of commands that are to see it."""
        return Config(
            database_url=f"sqlite:///{self.folder / 'leaderboard.sqlite'}", store_url=str(self.folder / "store")
        )


@pytest.fixture(scope="session")
def interrupted(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Interrupted:
    """Set up by the installed wheel. A test that changes anything takes a copy of the folder."""
    home: Path = tmp_path_factory.mktemp("interrupted")
    folder = home / FOLDER
    environment = environment_of_a_stranger() | other_settings(home)
    with Process([programs / "python", "-c", STRUCK, "--port", "0"], cwd=home, env=environment) as process:
        first = process.wait(seconds=START_SECONDS)
        said = process.output
    had_sample = (folder / "sample-run.tsv").exists()
    had_runs = _runs(folder)
    with Process([programs / "leaderboard", "demo", "--port", "0"], cwd=home, env=environment) as process:
        up = Demonstration(process, folder)
        process.wait_for_output("Ctrl-C stops", seconds=10)
        front, progress, style = (
            _page(f"{up.address}{path}") for path in ("/", "/campaigns/harbour/progress", "/static/leaderboard.css")
        )
        worker = up.worker
        assert is_running(worker)
        second = process.terminate(seconds=STOP_SECONDS)
    outputs, ends, stopped = (said, process.output), (first, second), dt.datetime.now(dt.UTC)
    return Interrupted(
        folder, outputs, had_sample, had_runs, ends, up.address, worker, front, progress, style, stopped
    )  # fmt: skip


def _runs(folder: Path) -> int:
    url = f"sqlite:///{folder / 'leaderboard.sqlite'}"
    with closing(Database.connect(url)) as database, database.read() as session:
        return session.scalar(sa.select(sa.func.count(Submission.id))) or 0


def _page(address: str) -> str:
    with urllib.request.urlopen(address, timeout=START_SECONDS) as response:
        body: str = response.read().decode()
        return body
