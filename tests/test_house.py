"""The rules of the house that no tool checks: read CONTRIBUTING.md for the reasons."""

import ast
import dataclasses
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

from leaderboard.web import endpoints
from tests.support.shared import REPOSITORY

LARGEST_KIB = 700

# Written so that this file does not name what it looks for.
FOLDERS = ("home", "opt", "private", "root", "tmp", "Users", "work")
A_PATH_OF_SOMEBODYS_MACHINE = re.compile(rf"(?<![\w.)}}/-])/({'|'.join(FOLDERS)})/\w")
REGISTRIES = (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("deb", "debian", "org"), ("jsdelivr", "net"))
A_REGISTRY = re.compile("|".join(re.escape(".".join(parts)) for parts in REGISTRIES))
UNFINISHED = re.compile("|".join((r"\bTO" + "DO", r"\bFIX" + "ME", r"\bX" + "XX", "NotImplemented" + "Error")))
SKIPPED = re.compile(r"pytest\.(mark\.)?(skip|xfail|importor" + "skip)")
AN_EXCEPTION = re.compile(r"# *(no" + r"qa|type: *ign" + "ore)")
AN_EXPLAINED_EXCEPTION = re.compile(r"# (no" + r"qa: [A-Z]+\d+(, [A-Z]+\d+)*|type: ign" + r"ore\[[\w, -]+\])  # \w")


def _tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=REPOSITORY, check=True, capture_output=True, text=True
    )
    paths = [REPOSITORY / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.exists()]  # one that is deleted but not yet committed is no concern


def _lines_with(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    found = []
    for path in paths:
        content = path.read_bytes()
        if b"\0" in content:
            continue
        found += [
            f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()}"
            for number, line in enumerate(content.decode("utf-8").splitlines(), 1)
            if pattern.search(line)
        ]
    return found


@pytest.mark.parametrize(
    "pattern", [A_PATH_OF_SOMEBODYS_MACHINE, A_REGISTRY, UNFINISHED], ids=["path", "registry", "stub"]
)
def test_no_file_names_a_machine_or_a_registry_or_is_unfinished(pattern: re.Pattern[str]) -> None:
    assert _lines_with(pattern, _tracked()) == []


def test_no_test_is_skipped() -> None:
    assert _lines_with(SKIPPED, _tracked("tests/*.py")) == []


def test_every_exception_to_a_check_names_the_check_and_the_reason() -> None:
    paths = _tracked("*.py")
    explained = set(_lines_with(AN_EXPLAINED_EXCEPTION, paths))
    assert [line for line in _lines_with(AN_EXCEPTION, paths) if line not in explained] == []


def test_no_file_is_large() -> None:
    assert len(_tracked()) > 50
    sizes = {path.relative_to(REPOSITORY): path.stat().st_size for path in _tracked()}
    assert {path: size for path, size in sizes.items() if size > LARGEST_KIB * 1024} == {}


def test_every_decision_has_a_number_of_its_own_in_its_heading_and_in_the_list() -> None:
    folder = REPOSITORY / "docs" / "decisions"
    pages = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    numbers = [path.name[:4] for path in pages]
    assert len(set(numbers)) == len(numbers)
    headings = [path.read_text().partition("\n")[0] for path in pages]
    listed = [
        f"| [{number}]({path.name}) | {heading.removeprefix(f'# {number} ')} |"
        for number, path, heading in zip(numbers, pages, headings, strict=True)
    ]
    assert [line for line in (folder / "README.md").read_text().splitlines() if line.startswith("| [")] == listed


def test_every_module_says_what_it_is_for() -> None:
    modules = _tracked("leaderboard/*.py", "bench/*.py", "scripts/*.py", "trials/*.py")
    silent = [path for path in modules if (text := path.read_text()) and not ast.get_docstring(ast.parse(text))]
    assert [str(path.relative_to(REPOSITORY)) for path in silent] == []


# Folders of tests that are of no room: what is seen in a browser, with real data, of the installed wheel, in whole
# years that several installations live through, and what tests stand on.
OF_NO_ROOM = {"stored", "browser", "experiment", "installed", "real", "support"}


def test_the_tests_lie_as_the_package_does() -> None:
    package, tests = REPOSITORY / "leaderboard", REPOSITORY / "tests"
    rooms = {path.parent.name for path in package.glob("*/__init__.py")}
    assert {path.name for path in tests.iterdir() if any(path.glob("*.py"))} - OF_NO_ROOM <= rooms
    modules = {path.stem for path in package.glob("*.py") if not path.stem.startswith("__")}
    assert {module for module in modules if not (tests / f"test_{module}.py").exists()} == set()


def _recipes() -> dict[str, str]:
    guide = (REPOSITORY / "CONTRIBUTING.md").read_text()
    chapter = guide.partition("\n## Recipes\n")[2].partition("\n## ")[0]
    return dict(part.split("\n", 1) for part in chapter.split("\n### ")[1:])


@pytest.mark.parametrize("recipe", _recipes().values(), ids=_recipes().keys())
def test_a_recipe_names_at_most_five_places_and_each_is_there(recipe: str) -> None:
    assert 1 <= len(re.findall(r"^\d\. ", recipe, re.MULTILINE)) <= 5
    places = re.findall(r"`([\w.]+/[\w./]+)`", recipe)
    assert places
    assert [place for place in places if not (REPOSITORY / place).exists()] == []


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph("leaderboard", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the modules


def test_what_answers_of_the_api_leave_out_and_add_is_of_types_that_they_have() -> None:
    endpoints.make_blueprint()
    endpoints.document()
    modules = [module for name, module in sys.modules.items() if name.startswith("leaderboard.")]
    values = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    kinds = {kind for kind in values if dataclasses.is_dataclass(kind)}
    for changes in (endpoints.LEFT_OUT, endpoints.ADDED, endpoints.UNBOUNDED):
        for name, fields in changes.items():
            own = [{*dir(kind), *kind.__dataclass_fields__} for kind in kinds if kind.__name__ == name]
            assert any(set(fields) <= names for names in own), name
