"""Every write has a caller: what can be done can be done on a page, by a command, or is the worker's own."""

import ast
from pathlib import Path

from tests.support.shared import REPOSITORY

PACKAGE = REPOSITORY / "leaderboard"


def _names(path: Path) -> set[str]:
    """Every name that a module uses, of a function or of a module's attribute, but where it defines it."""
    used: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Name):
            used.add(node.id)
        elif isinstance(node, ast.Attribute):
            used.add(node.attr)
    return used


def test_every_public_write_is_used_by_some_module() -> None:
    uses = {path: _names(path) for path in PACKAGE.rglob("*.py")}
    writes = [*PACKAGE.glob("*/writes.py"), *PACKAGE.glob("*/writes/*.py")]
    functions = [
        node for path in writes for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)
    ]
    public = [node for node in functions if not node.name.startswith("_")]
    assert len(public) > 100
    used = set().union(*uses.values())
    assert [node.name for node in public if node.name not in used] == []
