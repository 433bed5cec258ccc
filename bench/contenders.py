"""What is measured, each as a whole process: `python -m bench.contenders NAME RUN JUDGMENTS`.

Every contender reads both files, computes all of its measures for every query and prints the mean of AP, so that a
test can see that they agree.
"""

import sys
from collections.abc import Callable
from pathlib import Path

__all__ = ["CONTENDERS"]


def ours(run: str, judgments: str) -> float:
    """All of all_trec, with every check of the files: what `leaderboard trec_eval -c -m all_trec` does."""
    from leaderboard.formats import read_judgments, read_run
    from leaderboard.metrics import Setting, parse, parse_all
    from leaderboard.scoring import prepare, score

    judged = prepare(read_judgments(Path(judgments)))
    scored = score(read_run(Path(run)), judged, parse_all("all_trec"), Setting())
    return scored.results[parse("AP")].mean


def pytrec_eval(run: str, judgments: str) -> float:
    """trec_eval's C code: parses both files and computes all measures that it has."""
    import pytrec_eval

    with Path(judgments).open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    with Path(run).open() as file:
        lists = pytrec_eval.parse_run(file)
    values = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures).evaluate(lists)
    return float(sum(each["map"] for each in values.values()) / len(qrels))


def ir_measures(run: str, judgments: str) -> float:
    """ir_measures: reads both files and computes the measures that it shares with trec_eval's all_trec."""
    import ir_measures

    names = "AP RR Rprec Bpref infAP nDCG NumRet NumRel NumQ SetP SetR SetF SetAP"
    cutoffs = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
    shared = [f"{name}@{cutoff}" for name in ("P", "R", "nDCG", "AP") for cutoff in cutoffs]
    recalls = [f"IPrec@{tenth / 10}" for tenth in range(11)]
    success = [f"Success@{cutoff}" for cutoff in (1, 5, 10)]
    measures = [ir_measures.parse_measure(name) for name in [*names.split(), *shared, *recalls, *success]]
    qrels = ir_measures.read_trec_qrels(judgments)  # type: ignore[no-untyped-call]  # it ships no types
    lists = ir_measures.read_trec_run(run)  # type: ignore[no-untyped-call]  # it ships no types
    values = ir_measures.calc_aggregate(measures, qrels, lists)
    return float(values[ir_measures.AP])


CONTENDERS: dict[str, Callable[[str, str], float]] = {
    "ours": ours,
    "pytrec_eval": pytrec_eval,
    "ir_measures": ir_measures,
}

if __name__ == "__main__":
    print(repr(CONTENDERS[sys.argv[1]](*sys.argv[2:])))
