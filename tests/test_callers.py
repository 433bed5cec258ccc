"""Every service has a caller: what can be done can be done on a page, by a command, or is the worker's own."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

from tests.support.shared import REPOSITORY

PACKAGE = REPOSITORY / "leaderboard"
# What the demonstration's campaigns are made with and a page does otherwise.
OTHERWISE_ON_PAGES = {
    "add_member": "people are invited, or ask to join",
    "create_user": "people register",
    "set_admin": "admins are made on the command line only",
}


def _trees(*rooms: str) -> Iterator[ast.Module]:
    for room in rooms:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            yield _tree(path)


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@functools.cache
def _names(tree: ast.AST) -> frozenset[str]:
    """Every name that is used in it, of a function or of a module's attribute."""
    used: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            used.add(node.id)
        elif isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            used.update(one.name for one in node.names)
    return frozenset(used)


def _services() -> dict[str, str]:
    """The public functions of the services and their modules."""
    found = {}
    for path in sorted((PACKAGE / "services").rglob("*.py")):
        body = _tree(path).body
        listed = {
            name
            for node in body
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
            for name in ast.literal_eval(node.value)
        }
        functions = (node.name for node in body if isinstance(node, ast.FunctionDef) and node.name in listed)
        found |= dict.fromkeys(functions, path.relative_to(PACKAGE).as_posix())
    return found


def _reached(*rooms: str) -> set[str]:
    """Names that the rooms use, and what the functions and classes of these names use in turn."""
    uses: dict[str, set[str]] = {}
    for tree in _trees("services", "transfer"):
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                uses.setdefault(node.name, set()).update(_names(node))
    waiting = {name for tree in _trees(*rooms) for name in _names(tree)}
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        waiting |= uses.get(name, set()) - seen
    return seen


def test_every_service_is_reached_by_a_page_a_command_or_the_worker() -> None:
    services = _services()
    assert len(services) > 100
    # A session's listeners are called by SQLAlchemy, and reach the generations.
    reached = _reached("web", "cli", "worker") | {"is_shown", *_names(_tree(_module("events")))}
    assert {name: module for name, module in services.items() if name not in reached} == {}


def _module(name: str) -> Path:
    return PACKAGE / "services" / f"{name}.py"


def test_what_the_demonstration_is_made_with_is_reached_by_pages_and_by_commands() -> None:
    used = {name for tree in _trees("seeding") for name in _names(tree)} & _services().keys()
    assert {"create_campaign", "create_evaluation", "import_judgments", "submit"} <= used
    by_pages, by_commands = _reached("web"), _reached("cli")
    assert used - by_commands == set()
    assert used - by_pages <= OTHERWISE_ON_PAGES.keys()
