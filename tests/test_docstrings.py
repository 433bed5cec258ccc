"""Public functions say what they take and give; in the rooms that other programs may import, with an example that runs.

Public are the functions that a module lists in `__all__`; of a room that other programs may import, those that its
package lists.
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


def _silent(path: Path) -> list[str]:
    """The functions that the module lists and that have no docstring."""
    body = ast.parse(path.read_text()).body
    listed = [
        name
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"
        for name in ast.literal_eval(node.value)
    ]
    return [
        f"{path.relative_to(REPOSITORY)}:{node.lineno}: {node.name}"
        for node in body
        if isinstance(node, ast.FunctionDef) and node.name in listed and not ast.get_docstring(node)
    ]


def test_every_public_function_says_what_it_does() -> None:
    assert [one for path in sorted((REPOSITORY / "leaderboard").rglob("*.py")) for one in _silent(path)] == []


@pytest.mark.parametrize("room", WITH_EXAMPLES)
def test_every_public_function_that_other_programs_may_call_shows_an_example(room: str) -> None:
    package = importlib.import_module(f"leaderboard.{room}")
    functions = {name: getattr(package, name) for name in package.__all__ if inspect.isfunction(getattr(package, name))}
    assert functions
    assert [name for name, function in functions.items() if ">>>" not in (function.__doc__ or "")] == []


@pytest.mark.parametrize("module", [module for room in WITH_EXAMPLES for module in _modules(room)])
def test_examples_give_what_they_show(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module.removesuffix(".__init__"))).failed == 0
