"""The benchmarks on a small load: they run, and the contenders agree. Nothing is timed."""

import gzip
from pathlib import Path

import pytest

from bench.__main__ import bench
from bench.contenders import CONTENDERS
from bench.loads import make_loads
from bench.measuring import measure

ENGINES = ("sqlite",)  # the same is done on the other, with a server of the trials' own: test_big_run.py starts that
FORMS = ("shuffled",)  # below, all contenders read the others too
QUERIES, DEPTH, DOCUMENTS, RUNS = 12, 40, 300, 2


def test_every_table_is_printed(shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (shared_data / "synth" / "make_msmarco.py").exists()
    small = {"queries": QUERIES, "depth": DEPTH, "documents": DOCUMENTS, "runs": RUNS, "boards": (5,)}
    bench(tmp_path, repeat=1, forms=FORMS, engines=ENGINES, judged_each=(10,), imports_each=1, **small)
    printed = capsys.readouterr().out
    for case in ("lines shuffled", "import leaderboard.metrics"):
        assert f"| {case} |" in printed
    assert "lines, warm process |" in printed
    for engine in ENGINES:  # each measure of the board once, whatever the number of runs
        assert f"| {engine}: a worker's processor time beyond, 6 refreshes of measures in " in printed
        assert f"| {engine}: two workers |" in printed
    assert "| 5 systems, 50 queries |" in printed
    assert "| 300 documents, 200 queries |" in printed  # the searchers agreed, or an error says that they don't


@pytest.mark.parametrize("form", ["sorted", "shuffled", "blanks"])
def test_all_contenders_reach_the_same_figures(shared_data: Path, tmp_path: Path, form: str) -> None:
    load = make_loads(tmp_path, shared_data / "synth" / "make_msmarco.py", QUERIES, DEPTH)[form]
    means = [contender(str(load.run), str(load.judgments)) for contender in CONTENDERS.values()]
    assert means == pytest.approx([means[0]] * len(means), abs=1e-12)
    assert means[0] > 0


@pytest.mark.parametrize("run", ["KISTI_EN_RUN.5", "FDUSGInfo_EN_Run.1"])
def test_trec_eval_called_by_the_bench_prints_what_trec_eval_prints(
    shared_data: Path, tmp_path: Path, run: str
) -> None:
    folder = shared_data / "clef-ehealth" / "2015"
    plain = tmp_path / "plain.run"
    plain.write_bytes(gzip.decompress((folder / f"{run}.gz").read_bytes()))
    printed = measure(["-m", "bench.trec_eval", str(folder / "qrels.clef2015.test.graded.txt"), str(plain)]).output
    official = gzip.decompress((folder / f"{run}.trec_eval-9.0.8.txt.gz").read_bytes()).decode()
    assert printed.splitlines() == [line for line in official.splitlines() if line.split()[1] == "all"]
