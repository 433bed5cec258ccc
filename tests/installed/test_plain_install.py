"""A plain install scores files, and says of everything else which packages it needs."""

import subprocess
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from tests.support.installed import environment_of_a_stranger, ran, required

JUDGMENTS = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 1\n"
RUN = "q1 Q0 d1 1 3.0 tag\nq1 Q0 d2 2 2.0 tag\nq1 Q0 d3 3 1.0 tag\n"
HEADER = "# ir_metadata.start\n# team: Alder\n# ir_metadata.end\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with judgments, two runs and what a baseline is made of."""
    (tmp_path / "qrels").write_text(JUDGMENTS)
    (tmp_path / "a.run").write_text(HEADER + RUN)
    (tmp_path / "b.run").write_text(RUN.replace("tag", "other").replace("1.0", "4.0"))
    (tmp_path / "docs.jsonl").write_text('{"id": "d1", "text": "ships"}\n')
    (tmp_path / "queries.tsv").write_text("q1\tship\n")
    (tmp_path / "values.csv").write_text("query,A,B\n" + "".join(f"q{n},0.{n},0.{9 - n}\n" for n in range(9)))
    return tmp_path


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("score a.run --judgments qrels --measures AP", "0.8333"),  # (1/1 + 2/3) / 2
        ("score a.run --judgments qrels --measures AQWV --beta 20 --documents 1000 --format json", '"AQWV"'),
        ("trec_eval -m map qrels a.run", "0.8333"),
        ("check a.run --queries queries.tsv", "lists for 1 of 1 query"),
        ("curves a.run --judgments qrels --curve recall", "recall"),
        ("agreement a.run b.run", "q1"),
        ("fuse rrf a.run b.run --out fused.run", "fused of 2 runs"),
        ("--help", "Scores run files offline"),
    ],
)
def test_a_plain_install_scores_files(plain_programs: Path, files: Path, command: str, says: str) -> None:
    assert says in ran(plain_programs / "leaderboard", *command.split(), cwd=files)


@pytest.mark.parametrize(
    ("command", "lacking"),
    [
        ("score a.run b.run --judgments qrels --measures AP --compare a.run", "scipy"),
        ("opinion values.csv", "scipy"),
        ("check a.run --document-pattern d[0-9]", "re2"),
        ("baseline bm25 --documents docs.jsonl --queries queries.tsv --out c.run", "stopwords"),
        ("serve", "gunicorn"),
        ("worker", "sqlalchemy"),
        ("db upgrade", "sqlalchemy"),
        ("verify", "sqlalchemy"),
        ("team list", "flask"),
        ("demo", "sqlalchemy"),
    ],
)
def test_what_needs_the_sites_packages_says_so_in_one_line(
    plain_programs: Path, files: Path, command: str, lacking: str
) -> None:
    program = [plain_programs / "leaderboard", *command.split()]
    done = subprocess.run(program, cwd=files, env=environment_of_a_stranger(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    advice = "pip install 'retrieval-leaderboard[site]'"
    assert done.stderr == f"this needs the site's packages ({lacking}): {advice}\n"


def _bytes(packages: list[Distribution]) -> int:
    files = [Path(str(package.locate_file(file))) for package in packages for file in package.files or ()]
    return sum(file.stat().st_size for file in files if file.exists())


def test_a_plain_install_is_a_fifth_of_a_site_at_most(wheel: Path) -> None:
    """A sixth where the README's sizes were measured; how large numpy is depends on the platform."""
    plain = required(wheel, ())
    assert {package.name for package in plain} == {"click", "isal", "msgspec", "numpy"}
    assert 5 * _bytes(plain) <= _bytes(required(wheel, ["site"]))
