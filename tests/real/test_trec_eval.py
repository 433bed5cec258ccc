"""Every value of every run of the shared data, as trec_eval printed it: versions 10 and 9, levels 1 and 2.

Whole outputs are compared, line by line and without a single exception.
"""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from leaderboard.cli.score import score as score_command
from leaderboard.cli.trec_eval import read_request, trec_lines
from leaderboard.formats import Run, read_run
from leaderboard.metrics import Setting
from leaderboard.scoring import score
from tests.real.references import Reference, judged_by, runs, text_of
from tests.support.shared import shared_data as shared_folder

DATA = shared_folder()
RUNS = runs(DATA) if DATA else {}


@pytest.fixture(scope="module")
def compared() -> Iterator[list[int]]:
    """How many values each test compared; their sum is printed at the end."""
    counts: list[int] = []
    yield counts
    print(f"\n{sum(counts):,} values of {len(RUNS)} runs compared with trec_eval's")


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.parent.name}/{run.name.removesuffix('.gz')}")
def test_every_line_equals_trec_evals(run: Path, compared: list[int]) -> None:
    read = read_run(run)
    for reference in RUNS[run]:
        expected = text_of(reference.answer)
        actual = "".join(answer(reference, read))
        if actual != expected:
            differing = sorted(set(expected.splitlines()) ^ set(actual.splitlines()))
            pytest.fail(f"{reference.answer.name}: {len(differing)} lines differ: {differing[:10]}")
        compared.append(expected.count("\n"))


def answer(reference: Reference, run: Run) -> Iterator[str]:
    """What `leaderboard trec_eval -q -c -m all_trec` prints."""
    request = read_request(["all_trec"], reference.compat)
    measures = [printed.measure.at_relevance(reference.level) for printed in request.measures]
    scored = score(run, judged_by(reference.judgments), measures, Setting(compat=reference.compat))
    return trec_lines(scored, run.tag, request, level=reference.level, compat=reference.compat, per_query=True)


@pytest.mark.parametrize(("compat", "level"), [(10, 1), (10, 2), (9, 1)])
def test_the_score_command_prints_trec_evals_file_byte_for_byte(compat: int, level: int) -> None:
    references = [each for run in RUNS for each in RUNS[run] if (each.compat, each.level) == (compat, level)]
    for reference in references[:: len(references) // 4]:
        arguments = [str(reference.run), "--judgments", str(reference.judgments), "-q", "-l", str(level)]
        options = ["--measures", "all_trec", "--format", "trec_eval", "--compat", str(compat)]
        result = CliRunner().invoke(score_command, [*arguments, *options], catch_exceptions=False)
        assert result.stdout == text_of(reference.answer), reference.answer


def test_there_are_references_of_every_kind() -> None:
    found = [reference for references in RUNS.values() for reference in references]
    assert {(reference.compat, reference.level) for reference in found} == {(10, 1), (10, 2), (9, 1)}
    assert len(found) >= 150


@pytest.mark.parametrize("compat", [10, 9])
def test_the_command_equals_the_file_beside_every_run(compat: int, compared: list[int]) -> None:
    """Every other run for one version, the others for the other: above, each is compared for both."""
    names = {"AP": "map", "nDCG@10": "ndcg_cut_10", "RR": "recip_rank", "P@10": "P_10"}
    for run, references in list(RUNS.items())[compat % 2 :: 2]:
        reference = next(each for each in references if (each.compat, each.level) == (compat, 1))
        arguments = [str(run), "--judgments", str(reference.judgments), "--measures", " ".join(names)]
        options = ["--per-query", "--compat", str(compat), "--format", "csv"]
        result = CliRunner().invoke(score_command, [*arguments, *options], catch_exceptions=False)
        actual = {
            (names[name], row["query"]): f"{float(row[name]):.4f}"
            for row in csv.DictReader(io.StringIO(result.stdout))
            for name in names
        }
        expected = {
            (name, query): figure
            for name, query, figure in (line.split() for line in text_of(reference.answer).splitlines())
            if name in names.values()
        }
        # Version 9 prints no line for a query that the run lacks; we say what it counted as.
        silent = {key: figure for key, figure in actual.items() if key not in expected}
        assert {key: actual[key] for key in expected} == expected, run.name
        assert not silent or (compat == 9 and set(silent.values()) == {"0.0000"}), run.name
        compared.append(len(expected))
