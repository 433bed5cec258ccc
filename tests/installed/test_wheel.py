"""What a stranger gets: the wheel, installed beside what it requires and nothing else, and used from another folder."""

import zipfile
from pathlib import Path

from leaderboard import __version__
from leaderboard.version import commit_of
from tests.support.installed import ran
from tests.support.shared import REPOSITORY

JUDGMENTS = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 1\n"
RUN = "q1 Q0 d1 1 3.0 tag\nq1 Q0 d2 2 2.0 tag\nq1 Q0 d3 3 1.0 tag\n"


def _tracked(folder: str) -> set[str]:
    listed = ran("git", "ls-files", "-z", "--", folder, cwd=REPOSITORY)
    return {name for name in listed.split("\0") if (REPOSITORY / name).is_file()}


def test_the_wheel_carries_every_module_template_migration_seed_document_and_example_of_operating(wheel: Path) -> None:
    inside = {
        f"leaderboard/{name}" for folder in ("templates", "migrations", "seeds", "deploy") for name in _tracked(folder)
    }
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    served = {f"leaderboard/{name}" for name in _tracked("docs") if name.endswith(".md")}
    assert "leaderboard/docs/SECURITY.md" in served
    assert (_tracked("leaderboard") | inside | served | {"leaderboard/COMMIT"}) - names == set()


def test_the_wheel_carries_nothing_outside_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert tops == {"leaderboard", f"{wheel.name.removesuffix('-py3-none-any.whl')}.dist-info"}


def test_the_installed_package_renders_every_document(programs: Path, tmp_path: Path) -> None:
    code = "from leaderboard.web.documents import documents; print(*sorted(documents()))"
    names = {name.removeprefix("docs/").removesuffix(".md") for name in _tracked("docs") if name.endswith(".md")}
    assert set(ran(programs / "python", "-c", code, cwd=tmp_path).split()) == names


def test_the_installed_command_tells_what_it_can_do(programs: Path, tmp_path: Path) -> None:
    assert "score" in ran(programs / "leaderboard", "--help", cwd=tmp_path)


def test_the_installed_command_names_the_commit_that_the_wheel_was_made_of(programs: Path, tmp_path: Path) -> None:
    commit = commit_of(REPOSITORY)
    assert commit
    assert ran(programs / "leaderboard", "--version", cwd=tmp_path) == f"leaderboard {__version__} (commit {commit})\n"


def test_the_installed_command_scores_files_in_another_folder(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "judgments.txt").write_text(JUDGMENTS)
    command = [programs / "leaderboard", "score", "run.txt", "--judgments", "judgments.txt", "--measures", "AP"]
    # Relevant documents at ranks 1 and 3: (1/1 + 2/3) / 2.
    assert "0.8333" in ran(*command, cwd=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"run.txt", "judgments.txt"}
