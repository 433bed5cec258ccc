"""A short run read and scored again and again in one warm process: `python -m bench.warm RUN JUDGMENTS`.

Prints the median time of each contender in seconds, ours and pytrec_eval's.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytrec_eval

from leaderboard.formats import read_judgments, read_run
from leaderboard.metrics import Setting, parse_all
from leaderboard.scoring import prepare, score

ROUNDS = 15


def main(run: Path, judgments: Path) -> None:
    judged = prepare(read_judgments(judgments))
    measures = parse_all("all_trec")
    with judgments.open() as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), pytrec_eval.supported_measures)

    def ours() -> None:
        score(read_run(run), judged, measures, Setting())

    def theirs() -> None:
        with run.open() as file:
            evaluator.evaluate(pytrec_eval.parse_run(file))

    times: dict[Callable[[], None], list[float]] = {ours: [], theirs: []}
    for _ in range(ROUNDS):
        for contender, taken in times.items():
            start = time.perf_counter()
            contender()
            taken.append(time.perf_counter() - start)
    print(*[median(taken) for taken in times.values()])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
