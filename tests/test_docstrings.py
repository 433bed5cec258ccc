"""Public functions say what they take and give; in the rooms that other programs may import, with an example that runs.

Public are the functions whose name begins with no underscore and that other modules import; of a room that other
programs may import, those that its package offers; `baselines` offers what its modules do.
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


def _module(path: Path) -> str:
    return ".".join(path.relative_to(REPOSITORY).with_suffix("").parts)


def _imported(paths: list[Path]) -> frozenset[tuple[str, str]]:
    """The names that these modules take, each with the module that it is taken from: by import, or after a dot."""
    taken = set[tuple[str, str]]()
    for path in paths:
        nodes = [*ast.walk(ast.parse(path.read_text()))]
        imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        called = {
            alias.asname or alias.name: (str(node.module), alias.name) for node in imports for alias in node.names
        }
        taken |= {
            (".".join(called[node.value.id]), node.attr)
            for node in nodes
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in called
        } | {*called.values()}
    return frozenset(taken)


PATHS = sorted((REPOSITORY / "leaderboard").rglob("*.py"))


def test_every_public_function_says_what_it_does() -> None:
    imported = _imported(PATHS)
    assert len(imported) > 1000
    assert [
        f"{path.relative_to(REPOSITORY)}:{node.lineno}: {node.name}"
        for path in PATHS
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
        and (_module(path), node.name) in imported
        and not node.decorator_list
        and not ast.get_docstring(node)
    ] == []


@pytest.mark.parametrize("room", WITH_EXAMPLES)
def test_every_public_function_that_other_programs_may_call_shows_an_example(room: str) -> None:
    others = _imported([path for path in PATHS if room not in path.relative_to(REPOSITORY).parts])
    used = {
        name: function
        for module in (_modules(room) if room == "baselines" else [f"leaderboard.{room}"])
        for name, function in inspect.getmembers(importlib.import_module(module), inspect.isfunction)
        if (module, name) in others
    }
    assert used
    assert [name for name, function in used.items() if ">>>" not in (function.__doc__ or "")] == []


@pytest.mark.parametrize("module", [module for room in WITH_EXAMPLES for module in _modules(room)])
def test_examples_give_what_they_show(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module.removesuffix(".__init__"))).failed == 0
