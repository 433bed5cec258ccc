"""How `make test` shares tests out among its processes: what shares something dear together, what takes long first."""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

# Tests that share what is made once: an installed wheel and the demonstration that it sets up; a site with its worker.
TOGETHER = (("tests/demo/", "tests/installed/"),)
# What takes longest, longest first: a long file that is begun last keeps one process busy while the others are idle.
LONG = (
    "tests/experiment/",
    "tests/web/test_access_matrix.py",
    "tests/worker/",
    "tests/demo/",
    "tests/installed/",
    "tests/test_trials.py",
    "tests/real/",
    "tests/browser/",
    "tests/web/",
    "tests/transfer/",
    "tests/test_client.py",
    "tests/formats/",
    "tests/metrics/",
    "tests/submissions/",
    "tests/boards/",
    "tests/cli/",
    "tests/test_support.py",
)


def _place(item: pytest.Item) -> int:
    return next((place for place, start in enumerate(LONG) if item.nodeid.startswith(start)), len(LONG))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_place)


class Sharing(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """By file, so that what a file's tests share (a site, an installed wheel) is made once."""

    def _split_scope(self, nodeid: str) -> str:
        return next((one[0] for one in TOGETHER if nodeid.startswith(one)), nodeid.partition("::")[0])


@pytest.hookimpl(optionalhook=True)  # without xdist there is nothing to share out
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Sharing | None:
    return Sharing(config, log) if config.getoption("dist") == "loadfile" else None
