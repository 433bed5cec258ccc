"""The wheel and an environment that it is installed in, once for all that is tried with them."""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.shared import REPOSITORY


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    ran(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, REPOSITORY)
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the programs of an environment that holds the wheel and what it requires, nothing else."""
    environment = tmp_path_factory.mktemp("installed") / "environment"
    venv.create(environment, symlinks=True)
    our_pip = (sys.executable, "-m", "pip", "--python", environment / "bin" / "python")
    ran(*our_pip, "install", "--quiet", "--no-compile", "--constraint", REPOSITORY / "constraints.txt", wheel)
    yield environment / "bin"
    shutil.rmtree(environment)  # pytest would keep its half a gigabyte for three more sessions


def environment_of_a_stranger() -> dict[str, str]:
    """Without PYTHONPATH, which would let the checkout stand in for what the wheel lacks."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def ran(*command: str | os.PathLike[str], cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=environment_of_a_stranger(), capture_output=True, text=True)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout
