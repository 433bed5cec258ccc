"""Every measure of ir_measures beside ours, on every run of the shared data.

    python -m trials measures --minutes 30 --slow-queries 10

Values must be equal but for what docs/measures-compared.md names. cwl_eval takes a second for each measure and 50
queries; it is asked about the first queries of each run only.
"""

import contextlib
import io
import itertools
import logging
import sys
import time
from pathlib import Path

from tests.real.beside_ir_measures import ASKED, Compared, Files, compare, load, provided
from tests.real.references import runs
from trials.populations import parser, real_runs

__all__ = ["main"]

SLOW = "cwl_eval"


def by_folder(data: Path) -> list[Path]:
    """Every run with judgments, in turns of the folders, so that whichever come first are from all of them."""
    folders = itertools.groupby(sorted(runs(data)), key=lambda run: run.parent)
    turns = itertools.zip_longest(*[list(found) for _, found in folders])
    return [run for turn in turns for run in turn if run is not None]


def assessors_as_subtopics(data: Path) -> list[Files]:
    """The judgments of several assessors of one pool as those of subtopics: each assessor is one. Real lists with real
    disagreement; a document that only some of them judged is judged for some subtopics.
    """
    lines = [
        f"{query} {number} {document} {grade}"
        for number, file in enumerate(sorted((data / "trec-dl/annotator-qrels").glob("*-qrels.txt")), 1)
        for query, _, document, grade in map(str.split, file.read_text().splitlines())
    ]
    found = []
    for run in sorted((data / "trec-dl/2019").glob("*.judged.gz")):
        plain = load(run, data / "trec-dl/2019/qrels.txt")
        queries = {line.split()[0] for line in lines}
        found.append(Files(f"assessors/{run.name}", plain.of_queries(queries).run, lines))
    return found


def main(arguments: list[str] | None = None) -> int:
    options = parser("measures", __doc__)
    options.add_argument("--minutes", type=float, default=600.0, help="begin no further run after so many")
    options.add_argument("--slow-queries", type=int, default=10, help=f"queries of each run that {SLOW} is asked about")
    given = options.parse_args(arguments)
    if (data := real_runs()) is None:
        return 0
    logging.disable(logging.CRITICAL)  # cwl_eval says of each run that it lacks some grade
    missing = {
        program: names - {name.split("(")[0].split("@")[0] for name in ASKED[program]}
        for program, names in provided().items()
    }
    all_runs = by_folder(data)
    results = {program: Compared() for program in ASKED}
    started, done = time.monotonic(), 0
    for run in all_runs:
        if time.monotonic() - started > given.minutes * 60:
            break
        files = load(run, runs(data)[run][0].judgments)
        for program, total in results.items():
            queries = sorted({line.split(maxsplit=1)[0] for line in files.judgments})
            some = files.of_queries(queries[: given.slow_queries]) if program == SLOW else files
            with contextlib.redirect_stderr(io.StringIO()):  # pyndeval says of each run that it has one subtopic
                total.add(compare(some, program))
        done += 1
        print(f"  {files.name}: {sum(each.values for each in results.values()):,} values so far", flush=True)
    for files in assessors_as_subtopics(data):
        results["pyndeval"].add(compare(files, "pyndeval"))
    print(f"\n{done} of {len(all_runs)} runs, {time.monotonic() - started:.0f} s\n")
    heads = ("program", "measures asked for", "values", "largest difference", "differ where scores are equal")
    print(f"| {' | '.join(heads)} | where they are below 0 | 0/0 there |")
    print("|---|---|---|---|---|---|---|")
    for program, total in results.items():
        row = (program, len(ASKED[program]), f"{total.values:,}", f"{total.largest:.1e}", f"{total.tied:,}")
        print(f"| {' | '.join(map(str, row))} | {total.negative:,} | {total.undefined:,} |")
    refused = sorted({pair for total in results.values() for pair in total.refused})
    print(f"\nrefused here: {'; '.join(f'{name} on {run}' for run, name in refused) or 'nothing'}")
    faults = [f"{program}: {sorted(names)} were not asked for" for program, names in missing.items() if names]
    for program, total in results.items():
        for name, found in total.unlike.items():
            where, query, theirs, ours = found[0]
            faults.append(f"{program} {name}: {len(found)} values, as {where} {query}: {theirs!r}, ours {ours!r}")
    for fault in faults:
        print(f"  FAULT {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
