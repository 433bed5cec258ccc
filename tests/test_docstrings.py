"""Public functions say what they take and give; in the rooms that other programs may import, with an example that runs.

Public are the functions whose name begins with no underscore and that other modules import; of a room that other
programs may import, those that its package offers.
"""

import ast
import doctest
import importlib
import inspect
from pathlib import Path

import pytest

from tests.support.shared import REPOSITORY

WITH_EXAMPLES = ("baselines", "formats", "metrics", "scoring", "statistics")


def _modules(room: str) -> list[str]:
    paths = (REPOSITORY / "leaderboard" / room).rglob("*.py")
    return sorted(".".join(path.relative_to(REPOSITORY).with_suffix("").parts) for path in paths)


def _silent(path: Path, imported: frozenset[str]) -> list[str]:
    """The functions of the module that others import and that have no docstring."""
    return [
        f"{path.relative_to(REPOSITORY)}:{node.lineno}: {node.name}"
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name in imported and not ast.get_docstring(node)
    ]


def _imported(paths: list[Path]) -> frozenset[str]:
    nodes = (node for path in paths for node in ast.walk(ast.parse(path.read_text())))
    return frozenset(alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names)


def test_every_public_function_says_what_it_does() -> None:
    paths = sorted((REPOSITORY / "leaderboard").rglob("*.py"))
    assert [silent for path in paths for silent in _silent(path, _imported(paths))] == []


@pytest.mark.parametrize("room", WITH_EXAMPLES)
def test_every_public_function_that_other_programs_may_call_shows_an_example(room: str) -> None:
    package = importlib.import_module(f"leaderboard.{room}")
    functions = dict(inspect.getmembers(package, inspect.isfunction))
    assert functions
    assert [name for name, function in functions.items() if ">>>" not in (function.__doc__ or "")] == []


@pytest.mark.parametrize("module", [module for room in WITH_EXAMPLES for module in _modules(room)])
def test_examples_give_what_they_show(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module.removesuffix(".__init__"))).failed == 0
