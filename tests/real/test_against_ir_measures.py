"""Every measure of ir_measures on a few real queries; `python -m trials measures` asks it about all runs."""

from pathlib import Path

import pytest

from tests.real.beside_ir_measures import ASKED, compare, load, provided

# Lists of these have many equal scores, grades below 0 and above 1, and fewer than 1,000 documents.
RUNS = {
    "trec-covid/round1/yn-r1-hierarchy.gz": "qrels.txt",
    "trec-dl/2019/bm25base_p.judged.gz": "qrels.txt",
    "clef-ehealth/2015/LIMSI_EN_run.1.gz": "qrels.clef2015.test.graded.txt",
}
QUERIES = 1


def test_every_measure_that_it_provides_is_asked_for() -> None:
    for program, names in provided().items():
        assert {name.split("(")[0].split("@")[0] for name in ASKED[program]} == names, program
    assert set(ASKED) == set(provided())


@pytest.mark.parametrize("program", ASKED)
def test_its_values_are_ours_but_where_scores_are_equal(shared_data: Path, program: str) -> None:
    for run, judgments in RUNS.items():
        files = load(shared_data / run, (shared_data / run).parent / judgments)
        queries = sorted({line.split()[0] for line in files.judgments})[:QUERIES]
        found = compare(files.of_queries(queries), program)
        assert found.unlike == {}
        assert found.values > 0
