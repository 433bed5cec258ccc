"""The sweep over the threshold, and so the DET curve and MQWV, against F4DE, NIST's scorer of detection, and against
plain counting.

F4DE's figures are what its functions for curves over blocks (`Compute_blocked_DET_points` of DETCurve.pm and what it
calls, `combBlockSetCalc` of MetricFuncs.pm, the formulas of MetricTWV.pm) printed for these runs, a block a query and a
target a relevant document, with ten digits: docs/measures-compared.md.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from leaderboard.formats import read_run
from leaderboard.metrics import Ranking, Setting, parse, sweep
from leaderboard.metrics.curves import MARKS, value_curves
from leaderboard.scoring import join
from tests.real.references import judged_by, text_of

DOCUMENTS, BETA = 51_103, 20.0
PRINTED = 5.1e-11  # half of the last of ten digits, and the rounding of sums in another order
# θ -> P_miss, P_fa, TWV, as printed.
F4DE: Mapping[str, str] = {
    "sheikh_bm25_all": """
        2	0.8096550652	0.0005754951	0.1788350336
        3	0.8096550652	0.0005735360	0.1788742139
        8	0.8143180278	0.0005467543	0.1747468870
        14	0.8261033802	0.0004788063	0.1643204945
        20	0.8382934939	0.0003866971	0.1539725634
        26	0.8632534742	0.0003043923	0.1306586792
        32	0.9038990739	0.0002384151	0.0913326246
        38	0.9347520156	0.0001613329	0.0620213266
        44	0.9572858074	0.0000770703	0.0411727858
        50	0.9963229551	0.0000137164	0.0034027179
    """,
    "BERT": """
        -0.48223814434159634	0.8152756807	0.0013039973	0.1586443728
        -0.48220489829423874	0.8152756807	0.0013007311	0.1587096967
        -0.48205780510381802	0.8351182729	0.0011341584	0.1421985585
        -0.48204677071411206	0.8534417937	0.0009630121	0.1272979652
        -0.48204448108774817	0.8685833675	0.0007911983	0.1155926656
        -0.48204254443529193	0.8837413360	0.0006219799	0.1038190669
        -0.48204058985089476	0.9066577889	0.0004618978	0.0841042552
        -0.4820384327293481	0.9356408110	0.0003050831	0.0582575278
        -0.48203531478323536	0.9680558557	0.0001515565	0.0289130145
        -0.48201933156776017	0.9992156863	0.0000006526	0.0007712608
    """,
}
BEST = {"sheikh_bm25_all": 3.0, "BERT": -0.48220489829423874}  # F4DE's BESTCOMB


@pytest.fixture
def folder(shared_data: Path) -> Path:
    return shared_data / "trec-covid" / "round1"


def ranking_of(folder: Path, run: str) -> Ranking:
    setting = Setting(documents=DOCUMENTS, beta=BETA)
    return join(read_run(folder / f"{run}.gz"), judged_by(folder / "qrels.txt"), setting).ranking


@pytest.mark.parametrize("run", list(F4DE))
def test_the_points_are_f4des_to_the_printed_digit_and_so_is_the_best(folder: Path, run: str) -> None:
    ranking = ranking_of(folder, run)
    points = {theta: point for theta, *point in zip(*sweep(ranking), strict=True)}
    for line in F4DE[run].split("\n")[1:-1]:
        theta, *printed = map(float, line.split())
        assert points[theta] == pytest.approx(printed, abs=PRINTED)
    curves = value_curves(ranking, 1)
    maximum = dict(zip(MARKS, (curves[name].tolist() for name in MARKS), strict=True))["maximum"]
    assert maximum[0] == BEST[run]
    assert maximum[3] == parse("MQWV").evaluate(ranking).mean


def counted(folder: Path, run: str) -> Iterator[tuple[float, float, float]]:
    """θ, P_miss and P_fa, counted line by line for each score of the run."""
    relevant: dict[str, set[str]] = {}
    for line in (folder / "qrels.txt").read_text().splitlines():
        query, _, document, grade = line.split()
        relevant.setdefault(query, set()).update([document] if int(grade) > 0 else [])
    lines = [line.split() for line in text_of(folder / f"{run}.gz").splitlines()]
    listed = [(query, document, float(score)) for query, _, document, _, score, _ in lines if relevant.get(query)]
    counting = [query for query, documents in relevant.items() if documents]
    for theta in sorted({score for *_, score in listed}, reverse=True):
        returned: dict[str, set[str]] = {query: set() for query in counting}
        for query, document, score in listed:
            if score >= theta:
                returned[query].add(document)
        misses = [1 - len(returned[query] & relevant[query]) / len(relevant[query]) for query in counting]
        alarms = [len(returned[query] - relevant[query]) / (DOCUMENTS - len(relevant[query])) for query in counting]
        yield theta, sum(misses) / len(misses), sum(alarms) / len(alarms)


@pytest.mark.parametrize("run", ["sheikh_bm25_all", "T5R3"])
def test_every_point_is_what_plain_counting_gives(folder: Path, run: str) -> None:
    theta, p_miss, p_fa, qwv = sweep(ranking_of(folder, run))
    expected = np.array([*counted(folder, run)])
    assert theta[1:].tolist() == expected[:, 0].tolist()
    assert p_miss[1:] == pytest.approx(expected[:, 1], abs=1e-12)
    assert p_fa[1:] == pytest.approx(expected[:, 2], abs=1e-12)
    assert qwv[1:] == pytest.approx(1 - expected[:, 1] - BETA * expected[:, 2], abs=1e-10)
