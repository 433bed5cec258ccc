"""What the organisers of the evaluations published, who scored with trec_eval 9."""

import csv
import json
from pathlib import Path

import pytest

from leaderboard.cli.trec_eval import read_request, trec_lines
from leaderboard.formats import read_judgments, read_run
from leaderboard.metrics import Setting, parse_all
from leaderboard.scoring import prepare, score
from tests.real.references import judged_by, references, text_of

PUBLISHED_LIKE_9 = Setting(compat=9)


def runs_in(folder: Path) -> list[Path]:
    """The runs of a folder, without trec_eval's answers beside them."""
    return [file for file in sorted(folder.glob("*.gz")) if ".trec_eval" not in file.name]


@pytest.mark.parametrize("round_", ["round1", "round2"])
def test_trec_covids_leaderboards(shared_data: Path, round_: str) -> None:
    folder = shared_data / "trec-covid" / round_
    measures = parse_all("nDCG@10 P@5 RBP(p=0.5,gain=scaled) Bpref AP")
    with (folder / "leaderboard.csv").open(newline="") as file:
        rows = {row[0]: row[-len(measures) :] for row in csv.reader(file)}
    assert len(runs_in(folder)) >= 9
    for run in runs_in(folder):
        scored = score(read_run(run), judged_by(folder / "qrels.txt"), measures, PUBLISHED_LIKE_9)
        figures = [f"{result.mean:.4f}" for result in scored.results.values()]
        assert figures == rows[run.name.removesuffix(".gz")], run.name


@pytest.mark.parametrize("round_", ["round1", "round2"])
def test_trec_covid_with_its_queries_in_numeric_order(shared_data: Path, round_: str) -> None:
    """trec_eval adds up by id as text ("10" before "2"). The means are those of that order to the last bit."""
    folder = shared_data / "trec-covid" / round_
    judgments = read_judgments(folder / "qrels.txt")
    judged = prepare(judgments, sorted(judgments.queries, key=int))
    compared = 0
    for reference in references(shared_data):
        if reference.run.parent != folder:
            continue
        run = read_run(reference.run)
        request = read_request(["all_trec"], reference.compat)
        measures = [printed.at(reference.level) for printed in request.measures]
        scored = score(run, judged, measures, Setting(compat=reference.compat))
        printed = set(trec_lines(scored, run.tag, request, level=reference.level, compat=reference.compat))
        expected = [line for line in text_of(reference.answer).splitlines(keepends=True) if "\tall\t" in line]
        assert [line for line in expected if line not in printed] == [], reference.answer.name
        usual = score(run, judged_by(folder / "qrels.txt"), measures, Setting(compat=reference.compat))
        assert [each.mean for each in scored.results.values()] == [each.mean for each in usual.results.values()]
        compared += len(expected)
    assert compared > 1000


def test_trec_deep_learning_2019(shared_data: Path) -> None:
    folder = shared_data / "trec-dl" / "2019"
    published = json.loads((folder / "nist_published.json").read_text())
    compared = 0
    for run in runs_in(folder):
        figures = published.get(run.name.removesuffix(".gz").removesuffix(".judged"), {})
        for names, level in ((figures.get("trec_eval", {}), 1), (figures.get("passages-eval", {}), 2)):
            measures = [measure.at_relevance(level) for measure in parse_all(names)]
            scored = score(read_run(run), judged_by(folder / "qrels.txt"), measures, PUBLISHED_LIKE_9)
            means = [round(result.mean, 4) for result in scored.results.values()]
            assert means == list(names.values()), run.name
            compared += len(means)
    assert compared >= 200


@pytest.mark.parametrize("name", ["FDUSGInfo_EN_Run.1", "KISTI_EN_RUN.5", "KUCS_EN_Run.3", "LIMSI_EN_run.1"])
@pytest.mark.parametrize(("ending", "judgments"), [("published", "bin"), ("published.ndcg", "graded")])
def test_clef_ehealth_2015(shared_data: Path, name: str, ending: str, judgments: str) -> None:
    folder = shared_data / "clef-ehealth" / "2015"
    qrels = folder / f"qrels.clef2015.test.{judgments}.txt"
    assert_lines_are_printed(folder / f"{name}.gz", qrels, folder / f"{name}.{ending}.txt.gz", 1)


@pytest.mark.parametrize("name", ["bm25", "bm25_rm3_t5-zs"])
def test_dl_hard(shared_data: Path, name: str) -> None:
    folder = shared_data / "dl-hard"
    assert_lines_are_printed(folder / f"{name}.gz", folder / "qrels.txt", folder / f"{name}.published.eval.gz", 2)


def assert_lines_are_printed(run: Path, judgments: Path, published: Path, level: int) -> None:
    """Every published line is among those that trec_eval 9 prints with all measures."""
    request = read_request(["all_trec"], 9)
    read = read_run(run)
    measures = [printed.measure.at_relevance(level) for printed in request.measures]
    scored = score(read, judged_by(judgments), measures, PUBLISHED_LIKE_9)
    printed = set("".join(trec_lines(scored, read.tag, request, level=level, compat=9, per_query=True)).splitlines())
    expected = text_of(published).splitlines()
    assert len(expected) > 500
    assert [line for line in expected if line not in printed] == []


def test_ir_measures_own_figures(shared_data: Path) -> None:
    folder = shared_data / "ir_measures-ranx"
    expected = json.loads((folder / "EXPECTED.json").read_text())["cwl.qrels+cwl.run"]
    defined = {name: figures for name, figures in expected.items() if name not in NOT_OURS}
    scored = score(read_run(folder / "cwl.run"), judged_by(folder / "cwl.qrels"), parse_all(defined))
    for (name, figures), result in zip(defined.items(), scored.results.values(), strict=True):
        values = dict(zip(scored.queries, result.values.round(4).tolist(), strict=True))
        assert values == figures, name


NOT_OURS = {"SDCG(max_rel=1)@10", "INSQ(T=1)", "INST(T=1)"}  # MEASURES.md does not define them; nor Compat
