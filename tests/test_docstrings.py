"""Docstrings: the examples of the rooms that others may import give what they show."""

import doctest
import importlib

import pytest

from tests.support.shared import REPOSITORY

WITH_EXAMPLES = ("formats", "metrics", "scoring", "statistics")

MODULES = sorted(
    ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")
    for room in WITH_EXAMPLES
    for path in (REPOSITORY / "leaderboard" / room).rglob("*.py")
)


@pytest.mark.parametrize("module", MODULES)
def test_examples_give_what_they_show(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0
