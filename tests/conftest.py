"""What every test can use; the fixtures themselves are in `tests/support/`.

`database` (both engines, migrated and empty), `world` (a small campaign on it), `shared_data` (real runs, in
`tests/real/` only), `browser` and `page`.
"""

import os
from pathlib import Path

import hypothesis
import pytest

from tests.support import quick, shared

PLUGINS = "databases", "browser", "stores", "world", "field", "installed", "order"
pytest_plugins = [f"tests.support.{name}" for name in PLUGINS]

quick.keep_files_in_memory()
quick.compile_once()
quick.collect_seldom()

REAL = Path(__file__).parent / "real"


# Where CI is set the examples are the same in every run, so that a change is judged by what it changed. Elsewhere they
# are new ones each time, which is how a test finds more. A deadline would fail tests on a busy machine.
hypothesis.settings.register_profile("developer", deadline=None)
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, database=None, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "developer")


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI") and shared.shared_data() is None:
        raise pytest.UsageError(
            f"CI is set, so tests/real must run, but {shared.shared_folder() / 'data'} is not there; "
            f"put the shared folder beside the repository or name it in {shared.SHARED_VARIABLE}"
        )


def pytest_collection_finish() -> None:
    quick.collect_seldom()  # again: the tests are imported by now


def pytest_report_header() -> str:
    data = shared.shared_data()
    if data is None:
        expected = shared.shared_folder() / "data"
        return f"real data: none at {expected}, so tests/real is NOT collected (set {shared.SHARED_VARIABLE})"
    return f"real data: {data}"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    real = REAL in (collection_path, *collection_path.parents)  # also when the command line names a part of it
    return True if real and shared.shared_data() is None else None


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the real runs and judgments."""
    data = shared.shared_data()
    assert data is not None, f"{shared.shared_folder()} is not there: only tests in tests/real may ask for it"
    return data
